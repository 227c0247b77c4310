"""Plug-ins: objects that other distributions offer under an entry point, read in this one place.

A plug-in that cannot be loaded must not take recon with it: it becomes an Unknown that names its distribution.
`RECON_PLUGINS=off` leaves all of them out.
"""

import os
from collections.abc import Callable, Collection
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import TypeVar

from recon.records.unknown import Unknown

T = TypeVar("T")
DETECTORS = "recon.detectors"
"""The group of detectors."""


@dataclass(frozen=True, slots=True)
class Plugin:
    """An object that a distribution offers."""

    name: str
    """Of the entry point."""
    distribution: str
    """Empty where the entry point belongs to none."""
    value: object
    version: str = ""
    """Of the distribution; empty if unknown."""
    module: str = ""
    """Dotted name of the module that the entry point names."""


def is_offered(group: str) -> bool:
    """Whether anything is offered in a group; nothing is loaded."""
    return bool(_points(group))


def plugins(group: str) -> tuple[Plugin | Unknown, ...]:
    """What is offered in a group, e.g. `recon.formats`, by name; what cannot be loaded is an Unknown."""
    return tuple(map(_loaded, sorted(_points(group), key=lambda point: (point.name, point.value))))


def tried(what: str, where: str, call: Callable[[], T]) -> T | Unknown:
    """Run code of a plug-in; what it raises becomes an Unknown about `what` at `where`."""
    try:
        return call()
    except (Exception, SystemExit) as error:  # noqa: BLE001  # whatever it does wrong, it is its own fault and stays its own
        return Unknown(what, where, f"{type(error).__name__}: {error}")


def _points(group: str) -> Collection[EntryPoint]:
    is_off = os.environ.get("RECON_PLUGINS", "").lower() in ("off", "0", "no")
    return () if is_off else entry_points(group=group)


def _loaded(point: EntryPoint) -> Plugin | Unknown:
    name, version = (point.dist.name, point.dist.version) if point.dist is not None else ("", "")
    where = f"{point.value} of {name or 'an unknown distribution'}"
    return tried(f"plug-in {point.name}", where, lambda: Plugin(point.name, name, point.load(), version, point.module))
