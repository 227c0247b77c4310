"""Builders: what joins a draft tree, and when."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recon.errors import Usage
from recon.estimates.sequoia import NONE, Sequoia
from recon.estimates.trees import Builder, Eagle, Heap, Spine, Static, static
from tests.estimates.traces import best_prefixes, spine_first

ROWS = [[-0.5, -1.2, -3.0], [-0.4, -1.5, -2.5], [-1.0, -1.1, -1.3]]

rows = st.lists(
    st.lists(st.floats(-8, 0), min_size=3, max_size=3).map(lambda row: sorted(row, reverse=True)),
    min_size=1,
    max_size=4,
)


def paths(builder: Builder, of: list[list[float]], nodes: int = 1000) -> list[tuple[int, ...]]:
    """The nodes that join, each as the ranks that lead there."""
    found: list[tuple[int, ...]] = [()]
    for parent, rank in itertools.islice(builder.order(of), nodes):
        found.append((*found[parent], rank))
    return found[1:]


def worth(of: list[list[float]], path: tuple[int, ...]) -> float:
    return sum(of[depth][rank] for depth, rank in enumerate(path))


def test_best_first_takes_the_likeliest_prefixes() -> None:
    assert best_prefixes(ROWS, 12) == paths(Heap(), ROWS, 12)


def test_the_spine_comes_first_and_is_never_cut() -> None:
    assert spine_first(ROWS, 12) == paths(Spine(), ROWS, 12)


@given(rows)
def test_every_order_is_a_tree_without_doubles(of: list[list[float]]) -> None:
    """With equal log-probabilities too, and until nothing is left."""
    everything = sum(3**depth for depth in range(1, len(of) + 1))
    for builder in (Heap(), Spine(), Eagle(len(of), 3)):
        found = paths(builder, of)

        assert len(found) == len(set(found))
        assert all(path[:-1] in {(), *found[:place]} for place, path in enumerate(found))
        assert isinstance(builder, Eagle) or everything == len(found)


@given(rows, st.integers(1, 30))
def test_no_tree_of_as_many_nodes_is_likelier_than_best_first(of: list[list[float]], nodes: int) -> None:
    sums = [
        sum(2.0 ** worth(of, path) for path in built) for built in (paths(Heap(), of, nodes), best_prefixes(of, nodes))
    ]

    assert sums[0] == pytest.approx(sums[1])


def test_eagle_expands_the_best_of_each_level_and_keeps_the_best_of_all() -> None:
    """Two levels, two nodes expanded of each: the tree that is worked out by hand."""
    found = paths(Eagle(2, 2), ROWS)

    assert [(0,), (0, 0), (1,), (1, 0), (0, 1), (1, 1)] == found
    assert ("eagle(steps=2, topk=2)", 2, 2) == (Eagle(2, 2).name, Eagle(2, 2).width, Eagle(2, 2).depth)


def test_eagle_does_not_expand_below_what_it_dropped() -> None:
    """With one node a level it is a chain, however likely the others are."""
    assert [(0,), (0, 0), (0, 0, 0)] == paths(Eagle(5, 1), ROWS)


# Static trees


@pytest.mark.parametrize("text", ["[[0], [0, 0], [1]]", "[(0,), (0, 0), (1,)]", "[[1],[0,0],[0]]"])
def test_a_static_tree_is_read_as_people_write_it(text: str) -> None:
    tree = static(text)

    assert [(0,), (1,), (0, 0)] == paths(tree, ROWS)
    assert (2, 2) == (tree.width, tree.depth)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "no list of paths"),
        ("[]", "no list of paths"),
        ('{"a": 1}', "no list of paths"),
        ("[[]]", "no list of paths"),
        ("[[0], [true]]", "no list of paths"),
        ("[[0], [-1]]", "no list of paths"),
        ("[[0], [1.0]]", "no list of paths"),
        ("[" * 100_000, "no list of paths"),
        ("[[0], [0]]", "a path twice"),
        ("[[0], [1, 0]]", r"the path \[1, 0\] without \[1\]"),
        ("[[0]" + ", [0]" * 40_000 + "]", "too long"),
    ],
)
def test_what_is_no_tree_is_refused(text: str, what: str) -> None:
    with pytest.raises(Usage, match=what):
        static(text)


# Sequoia

RATES = (0.6, 0.15, 0.2, 0.02)


def tau(tree: Static, rates: tuple[float, ...] = RATES) -> float:
    total = 1.0
    for path in tree.paths:
        passing = 1.0
        for rank in path:
            passing *= rates[rank]
        total += passing
    return total


def trees(nodes: int, deepest: int, widest: int) -> set[frozenset[tuple[int, ...]]]:
    """Every tree in which children are there in the order of their ranks."""
    if nodes == 0:
        return {frozenset()}
    found = set()
    for smaller in trees(nodes - 1, deepest, widest):
        for above in [(), *smaller]:
            rank = sum(len(path) == len(above) + 1 and path[:-1] == above for path in smaller)
            if len(above) < deepest and rank < widest:
                found.add(smaller | {(*above, rank)})
    return found


@pytest.mark.parametrize(("deepest", "widest"), [(3, 3), (2, 4), (6, 2)])
def test_no_tree_beats_that_of_the_dynamic_programme(deepest: int, widest: int) -> None:
    """All trees of up to six drafts are tried; the rates do not fall with the rank, so greed would fail."""
    programme = Sequoia(RATES, 6, deepest=deepest, widest=widest)
    for nodes in range(1, 7):
        tree = programme.tree(nodes)
        best = max(tau(Static("", tuple(each))) for each in trees(nodes, deepest, widest))

        assert nodes == len(tree.paths)
        assert tree.depth <= deepest
        assert tree.width <= widest
        assert tau(tree) == pytest.approx(best)
        assert programme.tau(nodes) == pytest.approx(best)


def test_sequoia_weighs_depth_against_the_time_of_drafting() -> None:
    """Where a level of drafts costs much the best tree is flat, and where a pass costs more by the node it is small."""
    programme = Sequoia((0.7, 0.1, 0.05), 24, deepest=8, widest=3)
    free = programme.best(0.0, lambda _: 1.0)
    slow = programme.best(1.0, lambda _: 1.0)
    dear = programme.best(0.0, lambda nodes: 1.0 + 0.2 * nodes)

    assert (24, 8) == free
    assert slow[1] < 8
    assert dear[0] < 24


def test_a_size_that_depth_and_width_do_not_admit_is_no_tree() -> None:
    programme = Sequoia((0.5, 0.2), 10, deepest=2, widest=2)

    assert programme.tau(6) > programme.tau(5) > 1
    assert NONE == programme.tau(7)
    with pytest.raises(Usage, match="No tree of 7 nodes"):
        programme.tree(7)


@pytest.mark.parametrize("rates", [(), (0.5, 0.6), (-0.1,), (float("nan"),)])
def test_rates_that_are_no_probabilities_are_refused(rates: tuple[float, ...]) -> None:
    with pytest.raises(Usage):
        Sequoia(rates, 4, deepest=2, widest=2)
