"""`match` as the tests and assignments that it stands for."""

import pytest

from recon.detectors.testing import indexed
from recon.index.python_terms import read_function
from tests.index.spelled import spelled

REST = "(if (compare:>= (call len x) 1) (block (assign b (index x (slice 1 (none) (none)))) (do (call f))) (block))"


def matched(case: str) -> str:
    """What a case of `match x` becomes whose body calls f."""
    lines = case.encode()
    body = read_function(b"def g(x, n):\n    match x:\n        case " + lines + b":\n            f()\n", 1).parts[0]
    return " ".join(map(spelled, body.parts[0].parts))


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        ("None", "(if (compare:is x None) (block (do (call f))) (block))"),
        ("1 | 2", "(if (or (compare:== x 1) (compare:== x 2)) (block (do (call f))) (block))"),
        ("y", "(assign y x) (do (call f))"),
        ("y if y > n", "(assign y x) (if (compare:> y n) (block (do (call f))) (block))"),
        ("[_, *b]", REST),
        (
            "[*_, a]",
            "(if (compare:>= (call len x) 1) (block (assign a (index x -1)) (do (call f))) (block))",
        ),
        (
            "{'k': v}",
            "(if (compare:in 'k' x) (block (assign v (index x 'k')) (do (call f))) (block))",
        ),
        (
            "Node(token=t)",
            "(if (call isinstance x Node) (block (assign t (attr:token x)) (do (call f))) (block))",
        ),
        ("_", "(do (call f))"),
    ],
)
def test_a_case_is_a_test_and_what_it_takes_apart(case: str, expected: str) -> None:
    """Names are assigned before the body, and before the guard that asks for them."""
    assert expected == matched(case)


def test_cases_come_one_after_another() -> None:
    """What follows a case without a test never runs."""
    source = (
        b"def g(x, y):\n    match x, y:\n        case 1, b:\n            f(b)\n        case a, _:\n            h(a)\n"
    )
    body = read_function(source, 1).parts[0]

    assert (
        "(block (block (if (compare:== x 1) (block (assign b y) (do (call f b))) "
        "(block (assign a x) (do (call h a))))))" == spelled(body)
    )


WALK = """
def traverse(table, greedy):
    spot, seen = 0, []
    while True:
        match table[spot].get(greedy[spot]):
            case None:
                return seen
            case onward:
                seen.append(onward)
                spot = onward
"""


def test_a_walk_by_patterns_is_one() -> None:
    """The name in a pattern leads on to the next node."""
    assert ["walk.dictionary"] == [sighting.shape for _, sighting in indexed({"a.py": WALK}).seen("walk")]
