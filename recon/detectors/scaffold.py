"""The files of a new detector: a page, a shape, a detector and cases that fail until it is written."""

import re
from dataclasses import dataclass

from recon.errors import Usage

NAME = re.compile(r"[a-z][a-z0-9_]*(\.[a-z0-9_]+)+")


@dataclass(frozen=True, slots=True)
class Draft:
    """A detector that is still to be written."""

    module: str
    """Name of its module, e.g. `my_thing`."""
    detector: str
    """Source of the module."""
    tests: str
    """Source of a test of its cases."""
    project: str
    """A pyproject.toml that offers it to recon once it is installed."""


def draft(capability: str) -> Draft:
    """The files for a capability.

    Raises:
        Usage: the name is no dotted name in small letters.
    """
    if not NAME.fullmatch(capability):
        raise Usage(
            f"{capability!r} is no name of a capability",
            "Two words or more in small letters with dots between them, e.g. accept.tree.greedy or my.thing.",
        )
    module = capability.replace(".", "_")
    words = re.split(r"[._]", capability)
    title = " ".join(words).capitalize()
    names = {
        "CAPABILITY": capability,
        "TITLE": title,
        "SHAPE": module.replace("_", "-"),
        "IMPORTS": "\n".join(sorted((f"from {module} import DETECTOR", *_IMPORTS))),
    }
    project = _filled(_PROJECT, {"MODULE": module, "NAME": module.replace("_", "-")})
    return Draft(module, _filled(_DETECTOR, names), _filled(_TESTS, names), project)


def _filled(template: str, names: dict[str, str]) -> str:
    return re.sub(r"<([A-Z]+)>", lambda found: names[found[1]], template)


_IMPORTS = (
    "from recon.detectors.api import Case",
    "from recon.detectors.testing import findings_in",
    "from recon.records.verdict import Searched",
    "from recon.verdicts.judge import judge",
)
_PROJECT = """\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "<NAME>"
version = "1"
dependencies = ["recon-llm"]

[project.entry-points."recon.detectors"]
<MODULE> = "<MODULE>:DETECTOR"

[tool.hatch.build]
include = ["<MODULE>.py"]
"""
_DETECTOR = '''"""<TITLE>.

What it is
    Say in two or three sentences what an engine does that has it, and what for.

What counts
    shaped: say which form the code has, whatever its names are, and what looks like it without being it.

Blind spots
    Say what is not seen.

Sources
    Name the paper or the reference code.
"""

from collections.abc import Iterator

from recon.detectors.api import Case, Detector, Feature, Findings, Index, Shape, Sighting, Standing, View
from recon.detectors.places import reach_of, seen


def find(view: View) -> Iterator[Sighting]:
    """The places in one function where the form is seen."""
    for comparison, _ in view.compares():
        if is_it(view):
            yield Sighting(SHAPE.id, comparison.line, "say in a clause what was seen here")


def is_it(view: View) -> bool:
    """Whether the function has the form; ask the view what its values are made of."""
    return not view.steps


SHAPE = Shape(
    "<SHAPE>",
    "say in words which form of code is looked for",
    (Feature.LOOP | Feature.COMPARE_EQ,),  # only functions with all of these are read in full
    find,
)


def detect(index: Index) -> Findings:
    """The functions that have the form, those that a runner reaches first."""
    places = seen(index, SHAPE.id)
    return Findings(evidence=tuple(places), reach=reach_of(places))


_HAS_IT = """
def accept(draft, target):
    for i in range(len(draft)):
        if draft[i] != target[i]:
            return i
    return len(draft)
"""
_LOOKS_LIKE_IT = """
def count(draft, word):
    return sum(1 for each in draft if each == word)
"""

CASES = (
    Case("write what has it here", {"a.py": _HAS_IT}, Standing.PRESENT),
    Case("write what only looks like it here", {"a.py": _LOOKS_LIKE_IT}, Standing.ABSENT),
)
DETECTOR = Detector("<CAPABILITY>", "<TITLE>", __doc__, (SHAPE,), detect, CASES)
'''
_TESTS = '''"""Every case of the detector, judged as a tree on a disk is."""

import pytest

<IMPORTS>


@pytest.mark.parametrize("case", DETECTOR.cases, ids=lambda case: case.name)
def test_a_case_gets_its_standing(case: Case) -> None:
    """Everything in a case is read, so that what is not seen is absent."""
    searched = Searched(len(case.files), 1, 1, 1, 0, (), ())
    verdict = judge(DETECTOR.capability, DETECTOR.title, findings_in(DETECTOR, case), searched)

    assert case.standing is verdict.standing, verdict.reason
'''
