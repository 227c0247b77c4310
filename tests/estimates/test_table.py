"""Static tables: exact where they may be, silent where they may not."""

import math
import random

import pytest

from recon.estimates.replay import Replay
from recon.estimates.table import Table, best_static, counted, length
from recon.estimates.trace import Header, Position
from recon.estimates.trees import Eagle, Heap, Spine, Static
from recon.records.acceptance_length import AcceptanceLength, Basis, Withheld
from tests.estimates.published import ROWS

Rates = tuple[tuple[float, ...], ...]
SPINE: Rates = ((0.6, 0.2, 0.1), (0.5, 0.2, 0.1), (0.4, 0.2, 0.1))
OFF: Rates = ((0.0, 0.0, 0.0), (0.3, 0.2, 0.1), (0.2, 0.2, 0.1))
LOGPROBS = [[-0.5, -1.6, -2.3], [-0.7, -1.6, -2.3], [-0.9, -1.6, -2.3]]
HEADER = Header("", "", 3, 3, 0.0, 1.0, 1, "")
TREE = Static("by hand", ((0,), (1,), (0, 0), (0, 1), (1, 0), (0, 0, 0), (1, 0, 0)))


def independent(count: int, each: int, off: Rates) -> list[Position]:
    """Positions whose ranks are drawn from the table alone, round by round the same."""
    rng = random.Random(4)
    found = []
    for place in range(count * each):
        ranks: list[int] = []
        rates = SPINE
        for depth in range(3):
            ranks.append(rng.choices([0, 1, 2, -1], [*rates[depth], 1 - sum(rates[depth])])[0])
            rates = rates if ranks[-1] == 0 else off
        found.append(Position(place // each, place % each, tuple(ranks), LOGPROBS))
    return found


def tau(table: Table, tree: Static) -> float:
    found = length(table, tree)

    assert isinstance(found, AcceptanceLength)
    return found.tau


def test_the_closed_form_is_a_sum_over_nodes() -> None:
    by_hand = 1 + 0.6 + 0.2 + 0.6 * 0.5 + 0.6 * 0.2 + 0.2 * 0.3 + 0.6 * 0.5 * 0.4 + 0.2 * 0.3 * 0.2

    assert tau(Table(SPINE, OFF), TREE) == pytest.approx(by_hand)


@pytest.mark.parametrize("off", [SPINE, OFF], ids=["independent", "worse after a sibling"])
def test_where_rounds_are_alike_a_replay_gives_the_closed_form(off: Rates) -> None:
    """Within what chance does to 10,000 rounds; the last round of a request is cut, so requests are long."""
    replay = Replay(HEADER, independent(10, 2000, off), TREE, 7)

    assert tau(Table(SPINE, off), TREE) == pytest.approx(replay.tau(7), rel=0.01)


def test_where_rounds_are_alike_the_table_is_found_again() -> None:
    table = counted(independent(10, 1000, OFF), 3, 3)

    assert table.off is not None
    for depth in range(3):
        assert SPINE[depth] == pytest.approx(table.spine[depth], abs=0.02)
        assert depth == 0 or OFF[depth] == pytest.approx(table.off[depth], abs=0.03)


def test_where_rounds_differ_a_table_misses_what_best_first_does() -> None:
    """In every other round the drafter is sure and right, in the rest lost: the table sees neither."""
    rng, positions = random.Random(3), []
    sure, lost = ([[math.log(each) for each in row]] * 3 for row in ([0.97, 0.01, 0.01], [0.26, 0.25, 0.24]))
    for place in range(4000):
        rows, rates = (sure, (0.97, 0.01, 0.01)) if rng.random() < 0.5 else (lost, (0.26, 0.25, 0.24))
        ranks = tuple(rng.choices([0, 1, 2, -1], [*rates, 1 - sum(rates)])[0] for _ in range(3))
        positions.append(Position(place // 1000, place % 1000, ranks, rows))
    table = counted(positions, 3, 3)
    happened = Replay(HEADER, positions, Heap(), 3).tau(3)

    assert happened > 1.04 * tau(table, best_static(table, 3))


@pytest.mark.parametrize("builder", [Heap(), Spine(), Eagle(3, 2)])
def test_a_tree_that_is_built_anew_gets_no_number_from_a_table(builder: Heap | Spine | Eagle) -> None:
    found = length(Table(SPINE, OFF), builder)

    assert isinstance(found, Withheld)
    assert Basis.STATIC_TABLE is found.basis
    assert "another tree every round" in found.reason


def test_nodes_below_siblings_need_rates_of_their_own() -> None:
    found = length(Table(SPINE, None), TREE)

    assert isinstance(found, Withheld)
    assert "below siblings" in found.reason
    assert 1.8 == pytest.approx(tau(Table(SPINE, None), Static("flat", ((0,), (1,)))))


def test_a_tree_larger_than_the_table_gets_no_number() -> None:
    found = length(Table(SPINE, OFF), Static("deep", ((0,), (0, 0), (0, 0, 0), (0, 0, 0, 0))))

    assert isinstance(found, Withheld)
    assert "4 deep and 1 wide; the table knows 3 depths and 3 ranks" in found.reason


def test_the_best_static_tree_is_the_likeliest_paths() -> None:
    tree = best_static(Table(SPINE, OFF), 6)

    assert ((0,), (0, 0), (1,), (0, 1), (0, 0, 0), (2,)) == tree.paths
    assert all(not any(path[:-1]) for path in best_static(Table(SPINE, None), 20).paths)


@pytest.mark.parametrize("off", [SPINE, OFF, None], ids=["independent", "worse after a sibling", "not counted"])
def test_a_larger_static_tree_never_commits_less(off: Rates | None) -> None:
    table = Table(SPINE, off)
    taus = [tau(table, best_static(table, nodes)) for nodes in range(1, 30)]

    assert sorted(taus) == taus
    assert taus[0] < taus[-1]


def test_a_published_vector_of_ranks_makes_a_tree() -> None:
    """Sequoia's, where one token in fourteen is none of the 16 best; the same at all depths."""
    rates = tuple(row.value for row in ROWS if row.metric.startswith("rate_of_rank_"))
    table = Table((rates,) * 8, (rates,) * 8)
    taus = [tau(table, best_static(table, nodes)) for nodes in (8, 64)]

    assert 16 == len(rates)
    assert 1 / (1 - rates[0]) - 0.05 < taus[0] < taus[1] < 9
