"""The detectors, found by walking their package, and those of other distributions: no list to keep."""

import importlib
import pkgutil
from functools import cache
from hashlib import blake2b
from importlib import resources

from recon.detectors import builtin
from recon.detectors.api import Detector, Feature, Findings, Index, Shape
from recon.detectors.foreign import Foreign, detected, digest_of, foreign
from recon.records.unknown import Unknown
from recon.records.verdict import Capability


@cache
def detectors() -> tuple[Detector, ...]:
    """All detectors, sorted by capability: ours, and those of other distributions that take no name of ours."""
    everything = (*ours(), *(each.detector for each in _heard()[0]))
    return tuple(sorted(everything, key=lambda detector: detector.capability))


@cache
def ours() -> tuple[Detector, ...]:
    """The detectors of this distribution, sorted by capability.

    Raises:
        ValueError: two files speak for one capability, or a file is not named after its own.
    """
    found: dict[str, Detector] = {}
    for module in pkgutil.iter_modules(builtin.__path__):
        detector = importlib.import_module(f"{builtin.__name__}.{module.name}").DETECTOR
        if detector.capability in found or detector.capability.replace(".", "_") != module.name:
            raise ValueError(f"{module.name} speaks for {detector.capability}")
        found[detector.capability] = detector
    return tuple(found[capability] for capability in sorted(found))


@cache
def _heard() -> tuple[tuple[Foreign, ...], tuple[Unknown, ...]]:
    return foreign({detector.capability: detector for detector in ours()})


def unheard() -> tuple[Unknown, ...]:
    """Detectors of other distributions that are broken, or speak for what another speaks for."""
    return _heard()[1]


def findings_of(detector: Detector, index: Index) -> tuple[Findings, tuple[Unknown, ...]]:
    """What a detector finds; with one of another distribution, also what kept it from finding more."""
    for each in _heard()[0]:
        if each.detector is detector:
            return detected(detector, each.origin, index)
    return detector.detect(index), ()


@cache
def shapes() -> tuple[Shape, ...]:
    """All shapes that the detectors ask for, each once."""
    found = {shape.id: shape for detector in detectors() for shape in detector.shapes}
    return tuple(found[key] for key in sorted(found))


def choices() -> dict[str, tuple[Feature, ...]]:
    """By shape, the combinations of features that make a function worth reading in full."""
    return {shape.id: shape.wanted for shape in shapes()}


def capabilities() -> tuple[Capability, ...]:
    """The capabilities that can be judged, with their pages."""
    return tuple(Capability(each.capability, each.title, each.page) for each in detectors())


@cache
def shapes_version() -> str:
    """Digest of the sources of all shapes and of what each is asked of: an edit makes earlier answers stale.

    Of other distributions that offer a detector, the whole package counts.
    """
    digest = blake2b(repr(sorted(choices().items())).encode(), digest_size=8)
    folder = resources.files("recon.detectors.shapes")
    for file in sorted(folder.iterdir(), key=lambda file: file.name):
        if file.name.endswith(".py"):
            digest.update(file.name.encode() + file.read_bytes())
    for each in _heard()[0]:
        digest.update(digest_of(each))
    return digest.hexdigest()
