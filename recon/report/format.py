"""A format: a way to write a view. One file of this package that exports FORMAT adds one."""

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches

import recon.report
from recon.errors import NotFound
from recon.report.view import View


@dataclass(frozen=True, slots=True)
class Format:
    """A way to write a view."""

    name: str
    """What stands before the `=` of `-o NAME=PATH`."""
    media_type: str
    render: Callable[[View], str]


def formats() -> dict[str, Format]:
    """The formats by name: every module of this package that exports FORMAT."""
    found: dict[str, Format] = {}
    for module in pkgutil.iter_modules(recon.report.__path__):
        exported = getattr(importlib.import_module(f"{recon.report.__name__}.{module.name}"), "FORMAT", None)
        if isinstance(exported, Format):
            found[exported.name] = exported
    return found


def format_named(name: str) -> Format:
    """The format of a name.

    Raises:
        NotFound: there is none; the hint names the nearest.
    """
    known = formats()
    if name not in known:
        near = get_close_matches(name, known, n=1)
        hint = f"Did you mean {near[0]}?" if near else f"Formats: {', '.join(sorted(known))}."
        raise NotFound(f"no format {name!r}", hint)
    return known[name]
