"""What detectors rest on: fixtures in which the statement that decides is gone are judged otherwise, as declared."""

from collections import Counter
from collections.abc import Callable
from functools import cache

import pytest

from recon.detectors.registry import detectors
from recon.records.verdict import Standing
from tests.detectors.mutants import (
    DATA,
    Change,
    Fixture,
    Mutant,
    changes,
    fixtures,
    judged,
    mutant,
    named,
    parses,
    without,
    without_each,
)

LEAST = 0.95
RANKS = (Standing.ABSENT, Standing.UNKNOWN, Standing.PARTIAL, Standing.PRESENT)
LIST = Fixture("accept.linear.greedy", "list", "one", {"a.py": "def f(a):\n    a.append(1)\n    return a\n"})


@cache
def standing_mutants() -> tuple[list[Mutant], list[Mutant]]:
    """All named mutants, and those whose standing is not what they declare."""
    every = named()
    return every, [each for each in every if judged(each.cut).standing is not each.left]


def test_nearly_all_mutants_are_caught(record_property: Callable[[str, object], None]) -> None:
    """The share counts those that are known to survive."""
    every, stand = standing_mutants()
    share = 1 - len(stand) / len(every)
    record_property("says", f"mutants caught: {len(every) - len(stand)} of {len(every)} = {share:.1%}")

    assert share >= LEAST, [each.id for each in stand]


def test_mutants_that_survive_are_known_by_name() -> None:
    """Each has its reason, and none is listed that is caught by now."""
    _, stand = standing_mutants()

    assert sorted(DATA["survivors"]) == sorted(each.id for each in stand)


def test_a_mutant_leaves_less_than_its_fixture_has() -> None:
    """A declared standing is lower than the one that the whole fixture gets."""
    every, _ = standing_mutants()
    whole = {(each.group, each.name): judged(each).standing for each in fixtures().values()}
    higher = [
        each.id for each in every if RANKS.index(each.left) >= RANKS.index(whole[each.whole.group, each.whole.name])
    ]

    assert [] == higher


def test_each_fixture_has_two_mutants_or_more() -> None:
    """Every case in which something stands, of every detector, and every form in `shapes/`."""
    counts = Counter((each.whole.group, each.whole.name) for each in named())

    assert [] == [key for key in fixtures() if counts[key] < 2]
    assert {detector.capability for detector in detectors()} <= {group for group, _ in counts}


@pytest.mark.slow
def test_every_detector_turns_without_some_statement(record_property: Callable[[str, object], None]) -> None:
    """Each one in the function that speaks first is left out in turn; the shares show what rests on too little."""
    tried, turned = Counter[str](), Counter[str]()
    for fixture in fixtures().values():
        whole = RANKS.index(judged(fixture).standing)
        for each in without_each(fixture):
            tried[fixture.capability] += 1
            turned[fixture.capability] += RANKS.index(judged(each.cut).standing) < whole
    for capability, count in tried.items():
        record_property("says", f"{capability}: {turned[capability]} of {count} statements left out are noticed")
    record_property("says", f"all: {turned.total()} of {tried.total()} statements left out are noticed")

    assert [] == [capability for capability in tried if not turned[capability]]


def test_a_statement_goes_and_a_program_is_left() -> None:
    """In Python something has to stand in its place."""
    cut = mutant(LIST, "output", "a.append(1)").cut

    assert {"a.py": "def f(a):\n    pass\n    return a\n"} == cut.files


def test_a_text_that_stands_nowhere_or_twice_is_no_mutant() -> None:
    """A fixture that was edited is noticed."""
    for text in ("a.pop()", "a"):
        with pytest.raises(AssertionError, match="times"):
            without(LIST, text, "")


def test_what_leaves_no_program_is_no_mutant() -> None:
    """Nothing would be found in it, for the wrong reason."""
    with pytest.raises(AssertionError, match="leaves no program"):
        mutant(LIST, "output", ["a.append(1)", "a.append("])

    assert (True, False) == (parses("a.cu", "void f() { g(); }"), parses("a.cu", "void f() { g(; }"))


def test_changes_are_spelled_in_four_ways() -> None:
    """A statement, a replacement, a replacement with what it leaves, and several."""
    spelled: list[Change] = ["x", ["x", "y"], ["x", "y", "partial"], [["x", "y"], ["z", ""]]]

    expected = [[["x", ""]], [["x", "y"]], [["x", "y", "partial"]], [["x", "y"], ["z", ""]]]
    assert expected == [changes(each) for each in spelled]


def test_each_statement_is_left_out_once() -> None:
    """Those below a test too, in Python and in CUDA C++; what a function only says stays."""
    python = Fixture("accept.tree.greedy", "links", "py", fixtures()["tree/recursion", "first.py"].files)
    cuda = fixtures()["linear/chain_cuda", "first.cu"]

    assert 7 == len({each.kind for each in without_each(python)})
    assert 12 == len({each.kind for each in without_each(cuda)})
    assert all(parses(path, text) for each in without_each(cuda) for path, text in each.cut.files.items())
