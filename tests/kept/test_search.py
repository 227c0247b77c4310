"""Paths over packed edges, held against all paths of small graphs."""

from array import array
from collections.abc import Iterator

from hypothesis import given
from hypothesis import strategies as st

from recon.kept.parts import Edge
from recon.kept.search import COSTS, Distance, Edges
from recon.kept.store import ARRAYS, TIERS, packed
from recon.records.path import Tier

COUNT = 7
EDGES = st.lists(
    st.builds(
        Edge,
        st.integers(0, COUNT - 1),
        st.integers(0, COUNT - 1),
        st.integers(1, 9),
        st.sampled_from(("call", "launch")),
        st.sampled_from(TIERS),
    ),
    max_size=16,
    unique_by=lambda edge: (edge.source, edge.target, edge.dispatch),
)
SOME = st.frozensets(st.integers(0, COUNT - 1), min_size=1, max_size=2)


def made(edges: list[Edge]) -> Edges:
    words = ("call", "launch")
    arrays = packed(COUNT, edges, words)
    return Edges(**{name: array("I", arrays[name]) for name in ARRAYS}, words=words)


def cost(path: tuple[Edge, ...]) -> int:
    return sum(COSTS[TIERS.index(edge.tier)] for edge in path)


def every_path(
    edges: list[Edge], start: int, starts: frozenset[int], ends: frozenset[int]
) -> Iterator[tuple[Edge, ...]]:
    """All paths without a definition met twice, by the best edge of each pair, found the slow way."""
    best: dict[tuple[int, int], Edge] = {}
    for edge in edges:
        key = (edge.source, edge.target)
        if key not in best or cost((edge,)) < cost((best[key],)):
            best[key] = edge
    todo: list[tuple[int, tuple[Edge, ...]]] = [(start, ())]
    while todo:
        here, path = todo.pop()
        if here in ends:
            yield path
            continue
        met = {start, *(edge.target for edge in path)}
        todo += [
            (target, (*path, edge))
            for (source, target), edge in best.items()
            if source == here and target not in met and target not in starts
        ]


@given(EDGES, SOME, SOME, st.integers(1, 6))
def test_the_best_paths_are_found_in_their_order(
    edges: list[Edge], starts: frozenset[int], ends: frozenset[int], limit: int
) -> None:
    found = made(edges).paths(starts, ends, limit)
    all_paths = [path for start in starts for path in every_path(edges, start, starts, ends)]

    assert sorted(map(cost, all_paths))[:limit] == [cost(path) for path in found]
    assert len(found) == len(
        {tuple(edge.target for edge in path) + (path[:1] or (None,)) for path in found if path}
    ) + (sum(not path for path in found))


@given(EDGES, SOME)
def test_what_is_reached_is_as_far_as_its_best_path(edges: list[Edge], starts: frozenset[int]) -> None:
    packed_edges = made(edges)
    for target, far in packed_edges.reached(starts).items():
        (path,) = packed_edges.paths(starts, {target}, 1) if target not in starts else ((),)
        tiers = [edge.tier for edge in path]

        assert Distance(len(path), tiers.count(Tier.LIKELY), tiers.count(Tier.GUESS)) == far


@given(EDGES, SOME)
def test_reaching_is_reached_seen_from_the_other_end(edges: list[Edge], ends: frozenset[int]) -> None:
    packed_edges = made(edges)
    reaching = [one for one in range(COUNT) if ends & set(packed_edges.reached({one}))]

    assert len(reaching) == packed_edges.reaching(ends)


def test_a_sure_detour_comes_before_a_guess() -> None:
    edges = made(
        [
            Edge(0, 3, 1, "call", Tier.GUESS),
            Edge(0, 1, 2, "call", Tier.CERTAIN),
            Edge(1, 2, 3, "call", Tier.CERTAIN),
            Edge(2, 3, 4, "launch", Tier.CERTAIN),
        ]
    )

    assert [[2, 3, 4], [1]] == [[edge.line for edge in path] for path in edges.paths({0}, {3}, 5)]


def test_edges_are_counted_by_tier() -> None:
    edges = made([Edge(0, 1, 1, "call", Tier.GUESS), Edge(0, 2, 1, "launch", Tier.GUESS)])

    assert {"certain": 0, "likely": 0, "guess": 2} == edges.tiers()


def test_many_ways_round_do_not_take_for_ever() -> None:
    """A ladder has a million ways; five are asked for."""
    rungs = [Edge(n, n + k, 1, "call", Tier.CERTAIN) for n in range(40) for k in (1, 2)]
    arrays = packed(43, rungs, ("call",))
    edges = Edges(**{name: array("I", arrays[name]) for name in ARRAYS}, words=("call",))

    assert [20, 21, 21, 21, 21] == [len(path) for path in edges.paths({0}, {40}, 5)]
