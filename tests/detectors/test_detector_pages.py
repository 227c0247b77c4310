"""What every detector owes its reader: a page, words for what it looks for, cases on both sides."""

import ast
import re
import sys
from pathlib import Path

import pytest

from recon.detectors import builtin
from recon.detectors.api import Detector, Shape
from recon.detectors.registry import capabilities, choices, detectors, ours, shapes
from recon.records.verdict import Standing

HEADINGS = ["What it is", "What counts", "Blind spots", "Sources"]
EACH = pytest.mark.parametrize("detector", detectors(), ids=lambda detector: detector.capability)


def file_of(detector: Detector) -> Path:
    """The file of a built-in detector."""
    return Path(builtin.__path__[0]) / f"{detector.capability.replace('.', '_')}.py"


def sections(page: str) -> dict[str, str]:
    """Headings of a page with the indented text below each."""
    parts = re.split(r"^(\S.*)\n(?=    )", page, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_every_file_of_the_package_is_a_detector() -> None:
    """None is overlooked because of its name."""
    files = {path for path in Path(builtin.__path__[0]).glob("*.py") if path.name != "__init__.py"}

    assert files == {file_of(detector) for detector in detectors()}


@EACH
def test_the_page_is_the_docstring_of_the_file(detector: Detector) -> None:
    """`recon explain` prints what stands in the code, and nothing else."""
    assert ast.get_docstring(ast.parse(file_of(detector).read_text()), clean=False) == detector.page


@EACH
def test_a_page_says_what_where_and_what_not(detector: Detector) -> None:
    """Under four headings, none of them empty, in this order."""
    found = sections(detector.page)

    assert HEADINGS == list(found)
    assert [] == [heading for heading, text in found.items() if not text.strip().endswith(".")]


@EACH
def test_a_page_opens_with_the_title(detector: Detector) -> None:
    """One sentence: the words of the lists, with what else people call it."""
    first = detector.page.splitlines()[0]

    assert detector.title == first.removesuffix(".")[: len(detector.title)]
    assert first.endswith(".")


@EACH
def test_a_page_names_the_grades_that_it_gives(detector: Detector) -> None:
    """A reader should know what stands for how much."""
    assert re.search(r"\b(shaped|declared):", sections(detector.page)["What counts"])


@EACH
def test_a_detector_has_cases_on_both_sides(detector: Detector) -> None:
    """A detector that says yes to everything, or no, would pass one-sided ones."""
    standings = {case.standing for case in detector.cases}
    names = [case.name for case in detector.cases]

    assert Standing.ABSENT in standings
    assert {Standing.PRESENT, Standing.PARTIAL} & standings
    assert sorted(set(names)) == sorted(names)


@pytest.mark.parametrize("shape", shapes(), ids=lambda shape: shape.id)
def test_a_shape_says_in_words_what_it_looks_for(shape: Shape) -> None:
    """The words are listed in search records, between commas: they start small and end without a full stop."""
    assert re.fullmatch(r"[a-z0-9][^\n]{20,}[^.\s]", shape.words)


@pytest.mark.parametrize("shape", shapes(), ids=lambda shape: shape.id)
def test_a_shape_is_asked_of_some_functions_only(shape: Shape) -> None:
    """Reading every function in full would take minutes; reading none would find nothing."""
    assert shape.wanted
    assert all(wanted for wanted in shape.wanted)


def test_one_id_is_one_shape() -> None:
    """Sightings are told apart by it."""
    found: dict[str, set[int]] = {}
    for detector in detectors():
        for shape in detector.shapes:
            found.setdefault(shape.id, set()).add(id(shape))

    assert [] == [name for name, objects in found.items() if len(objects) > 1]
    assert sorted(found) == [shape.id for shape in shapes()] == sorted(choices())
    assert len(found) == len({shape.words for shape in shapes()})


def test_capabilities_are_those_of_the_detectors() -> None:
    """In the order of their names."""
    names = [capability.id for capability in capabilities()]

    assert sorted(names) == names
    assert [(each.capability, each.title, each.page) for each in detectors()] == [
        (each.id, each.title, each.help) for each in capabilities()
    ]


@pytest.mark.parametrize("capability", ["made.up", "accept.tree.greedy"])
def test_a_file_that_is_not_named_after_its_capability_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capability: str
) -> None:
    """The name is how a person finds it."""
    (tmp_path / "stray.py").write_text(
        "from recon.detectors.api import Detector, Findings\n"
        f'DETECTOR = Detector("{capability}", "", "", (), lambda index: Findings())\n'
    )
    monkeypatch.setattr(builtin, "__path__", [str(tmp_path)])
    monkeypatch.delitem(sys.modules, "recon.detectors.builtin.stray", raising=False)

    with pytest.raises(ValueError, match=f"stray speaks for {re.escape(capability)}"):
        ours.__wrapped__()
