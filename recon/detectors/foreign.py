"""Detectors of other distributions: checked before they are heard, and watched while they work.

The entry-point group is `recon.detectors`; its value is a Detector, a module with a DETECTOR, or a package of such
modules. Whatever one of them does wrong costs its own answer and no other: it is said as an Unknown.
"""

import importlib
import pkgutil
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from hashlib import blake2b
from importlib import resources
from types import ModuleType

from recon.detectors.api import Detector, Evidence, Findings, Index, Shape, Sighting, View
from recon.plugins import DETECTORS, Plugin, plugins, tried
from recon.records.unknown import Unknown

_CAPABILITY = re.compile(r"[a-z][a-z0-9_]*(\.[a-z0-9_]+)+")
_SHAPE = re.compile(r"[a-z][a-z0-9_-]*")
FAILED = "failed:"
"""Before the id of a shape: it failed there. No id of a shape holds a colon."""


@dataclass(frozen=True, slots=True)
class Foreign:
    """A detector that another distribution offers."""

    detector: Detector
    """Its shapes are watched."""
    origin: str
    """The distribution, for messages."""
    module: str
    """What the entry point names; its top-level package is what the detector is made of."""
    version: str


def foreign(known: Mapping[str, Detector]) -> tuple[tuple[Foreign, ...], tuple[Unknown, ...]]:
    """Detectors of other distributions that take nobody's name, and why the others are not heard.

    Args:
        known: Our own, by capability.
    """
    owners = dict.fromkeys(known, "recon itself")
    shapes = {shape.id: shape for detector in known.values() for shape in detector.shapes}
    asked = dict(shapes)
    heard: list[Foreign] = []
    unknowns: list[Unknown] = []
    for found in _offered():
        if isinstance(found, Unknown):
            unknowns.append(found)
            continue
        plugin, value = found
        origin = plugin.distribution or plugin.module
        why = _wrong_with(value, owners, shapes)
        if why or not isinstance(value, Detector):
            unknowns.append(Unknown(f"plug-in {plugin.name}", f"{plugin.module} of {origin}", why))
            continue
        shapes |= {shape.id: shape for shape in value.shapes}
        asked = {**{shape.id: _watched(shape) for shape in value.shapes}, **asked}
        watched = replace(value, shapes=tuple(asked[shape.id] for shape in value.shapes))
        heard.append(Foreign(watched, origin, plugin.module, plugin.version))
        owners[value.capability] = origin
    return tuple(heard), tuple(unknowns)


def _offered() -> Iterator[tuple[Plugin, object] | Unknown]:
    """What the entry points lead to, a package being walked."""
    for plugin in plugins(DETECTORS):
        if isinstance(plugin, Unknown):
            yield plugin
        elif not isinstance(plugin.value, ModuleType):
            yield plugin, plugin.value
        elif hasattr(plugin.value, "DETECTOR") or not hasattr(plugin.value, "__path__"):
            yield plugin, getattr(plugin.value, "DETECTOR", None)
        else:
            for found in pkgutil.iter_modules(plugin.value.__path__):
                name = f"{plugin.value.__name__}.{found.name}"
                where = f"{name} of {plugin.distribution}"
                module = tried(f"plug-in {plugin.name}", where, partial(importlib.import_module, name))
                yield module if isinstance(module, Unknown) else (plugin, getattr(module, "DETECTOR", None))


def _wrong_with(value: object, owners: Mapping[str, str], shapes: Mapping[str, Shape]) -> str:
    """Why a value cannot be heard; empty if it can."""
    if not isinstance(value, Detector):
        return f"it offers a {type(value).__name__}, not a Detector"
    if not isinstance(value.capability, str) or not _CAPABILITY.fullmatch(value.capability):
        return f"{value.capability!r} is no dotted name of a capability"
    if value.capability in owners:
        return f"{value.capability} is judged by {owners[value.capability]}"
    if not (isinstance(value.title, str) and value.title and isinstance(value.page, str) and callable(value.detect)):
        return f"{value.capability} lacks a title, a page or a function"
    for shape in value.shapes:
        if not isinstance(shape, Shape) or not _SHAPE.fullmatch(shape.id):
            return f"{value.capability} asks for {shape!r}, which is no shape with a plain name"
        if shape.id in shapes and shapes[shape.id].find is not shape.find:
            return f"there is another shape {shape.id}"
        if not shape.wanted or not all(shape.wanted):
            return f"shape {shape.id} would have every function read, or none"
    return ""


# While they work


def _watched(shape: Shape) -> Shape:
    """A shape whose failures are sightings of their own."""
    return replace(shape, find=partial(_seen, shape))


def _seen(shape: Shape, view: View) -> Iterator[Sighting]:
    found = tried(shape.id, "", lambda: list(shape.find(view)))
    if isinstance(found, Unknown):
        yield Sighting(f"{FAILED}{shape.id}", 0, found.why)
        return
    yield from (each for each in found if isinstance(each, Sighting))


def detected(detector: Detector, origin: str, index: Index) -> tuple[Findings, tuple[Unknown, ...]]:
    """What a detector of another distribution finds, and what kept it from finding more."""
    where = f"code that the detector of {origin} could not judge"
    found = tried(f"detector {detector.capability}", where, partial(detector.detect, index))
    troubles = [Unknown(detector.capability, where, why) for why in _failures(detector, index)]
    if isinstance(found, Unknown):
        return Findings(), (found, *troubles)
    if not isinstance(found, Findings) or not all(isinstance(e, Evidence) for e in (*found.evidence, *found.nearest)):
        return Findings(), (Unknown(detector.capability, where, "it answers with no Findings of Evidence"), *troubles)
    return found, tuple(troubles)


def _failures(detector: Detector, index: Index) -> Iterator[str]:
    for shape in detector.shapes:
        failed = [(function, sighting) for function, sighting in index.seen(f"{FAILED}{shape.id}")]
        if failed:
            function, sighting = failed[0]
            more = f" and in {len(failed) - 1} more" if len(failed) > 1 else ""
            yield f"shape {shape.id} failed in {function.path}: {function.symbol}{more}: {sighting.note}"


# What they are made of


def digest_of(found: Foreign) -> bytes:
    """Digest of the package that a detector comes from: an edit of it makes earlier answers stale."""
    digest = blake2b(f"{found.origin} {found.version} {found.module}".encode(), digest_size=16)
    for name, content in _sources(found.module):
        digest.update(name.encode() + b"\0" + content + b"\0")
    return digest.digest()


def _sources(module: str) -> Iterator[tuple[str, bytes]]:
    """Python files of the top-level package around a module, or of the module alone."""
    top = importlib.import_module(module.partition(".")[0])
    if not hasattr(top, "__path__"):
        file = getattr(top, "__file__", None)
        if file and file.endswith(".py"):
            with open(file, "rb") as source:  # noqa: PTH123  # a path of Python's own
                yield file.rpartition("/")[2], source.read()
        return
    folders = [("", resources.files(top))]
    while folders:
        before, folder = folders.pop()
        for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
            if entry.is_dir():
                folders.append((f"{before}{entry.name}/", entry))
            elif entry.name.endswith(".py"):
                yield before + entry.name, entry.read_bytes()
