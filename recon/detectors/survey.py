"""One reading of a function for all shapes at once; runs in the worker processes of the index."""

from collections.abc import Iterable

from recon.detectors.api import Shape, Sighting, View
from recon.detectors.registry import shapes
from recon.index.choosing import any_of
from recon.index.reading import Subject


def survey(subject: Subject) -> list[Sighting]:
    """What the shapes see in one function."""
    return seen_by(shapes(), subject)


def seen_by(asked: Iterable[Shape], subject: Subject) -> list[Sighting]:
    """What some shapes see in one function; each is asked only where its features say that it may be there."""
    view = View(subject.body, subject.params)
    return [sighting for shape in asked if any_of(subject.features, shape.wanted) for sighting in shape.find(view)]
