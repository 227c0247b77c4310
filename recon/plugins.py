"""Plug-ins: objects that other distributions offer under an entry point, read in this one place.

A plug-in that cannot be loaded must not take recon with it: it becomes an Unknown that names its distribution.
`RECON_PLUGINS=off` leaves all of them out.
"""

import os
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points

from recon.records.unknown import Unknown


@dataclass(frozen=True, slots=True)
class Plugin:
    """An object that a distribution offers."""

    name: str
    """Of the entry point."""
    distribution: str
    """Empty where the entry point belongs to none."""
    value: object


def plugins(group: str) -> tuple[Plugin | Unknown, ...]:
    """What is offered in a group, e.g. `recon.formats`, by name; what cannot be loaded is an Unknown."""
    if os.environ.get("RECON_PLUGINS", "").lower() in ("off", "0", "no"):
        return ()
    return tuple(map(_loaded, sorted(entry_points(group=group), key=lambda point: (point.name, point.value))))


def _loaded(point: EntryPoint) -> Plugin | Unknown:
    distribution = point.dist.name if point.dist is not None else ""
    try:
        return Plugin(point.name, distribution, point.load())
    except Exception as error:  # noqa: BLE001  # whatever it does wrong, it is its own fault and stays its own
        where = f"{point.value} of {distribution or 'an unknown distribution'}"
        return Unknown(f"plug-in {point.name}", where, f"{type(error).__name__}: {error}")
