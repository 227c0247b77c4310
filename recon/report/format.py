"""A format: a way to write a view. One file of this package that exports FORMAT adds one."""

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches

import recon.report
from recon.errors import NotFound
from recon.plugins import Plugin, plugins
from recon.report.view import View


@dataclass(frozen=True, slots=True)
class Format:
    """A way to write a view."""

    name: str
    """What stands before the `=` of `-o NAME=PATH`."""
    media_type: str
    render: Callable[[View], str]


def formats() -> dict[str, Format]:
    """The formats by name: every module of this package that exports FORMAT, then those of plug-ins.

    A plug-in cannot take the name of a format of ours; one that is broken or no Format is left out.
    """
    found: dict[str, Format] = {}
    modules = (importlib.import_module(f"{recon.report.__name__}.{each.name}") for each in _modules())
    offered = (each.value for each in plugins("recon.formats") if isinstance(each, Plugin))
    for value in (*(getattr(module, "FORMAT", None) for module in modules), *offered):
        if isinstance(value, Format):
            found.setdefault(value.name, value)
    return found


def _modules() -> Iterator[pkgutil.ModuleInfo]:
    return pkgutil.iter_modules(recon.report.__path__)


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
