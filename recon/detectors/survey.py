"""One reading of a function for all shapes at once; runs in the worker processes of the index."""

from collections.abc import Iterable
from dataclasses import replace
from functools import cache

from recon.detectors.api import Feature, Shape, Sighting, View
from recon.detectors.registry import shapes
from recon.index.choosing import any_of
from recon.index.reading import Subject


def survey(subject: Subject) -> list[Sighting]:
    """What the shapes see in one function."""
    return _seen(_asked(int(subject.features)), subject)


def seen_by(asked: Iterable[Shape], subject: Subject) -> list[Sighting]:
    """What some shapes see in one function; each is asked only where its features say that it may be there."""
    return _seen((shape for shape in asked if any_of(subject.features, shape.wanted)), subject)


@cache
def _asked(bits: int) -> tuple[Shape, ...]:
    """The shapes that a set of features says may be there; a tree has few sets, so each is asked for once."""
    return tuple(shape for shape in shapes() if any_of(Feature(bits), shape.wanted))


def _seen(asked: Iterable[Shape], subject: Subject) -> list[Sighting]:
    view = View(subject.body, subject.params)
    found = [sighting for shape in asked for sighting in shape.find(view)]
    return [replace(each, flags=_flags_above(view, each.line)) for each in found]


def _flags_above(view: View, line: int) -> tuple[str, ...]:
    """The parameters, and names of the module, whose tests stand above a line; with a `!` where they must not hold."""
    at = next((step for step in view.steps if step.term.line == line), None)
    found = []
    for guard in at.guards if at is not None else ():
        test, holds = (guard.test.parts[0], not guard.holds) if guard.test.op == "not" else (guard.test, guard.holds)
        if test.op == "name" and (test.text in view.params or test.text not in view.definitions):
            found.append(test.text if holds else f"!{test.text}")
    return tuple(found)
