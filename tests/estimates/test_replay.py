"""A replayed trace, held against what really happens with a tree."""

import itertools
import json
import math
import random
import time
from collections.abc import Iterable, Iterator
from statistics import fmean

import pytest

from recon.errors import BadTrace
from recon.estimates.replay import Replay, gain_interval, interval, reached
from recon.estimates.trace import Position, read
from recon.estimates.trees import Builder, Eagle, Heap, Spine, Static
from recon.records.acceptance_length import AcceptanceLength, Basis, Withheld
from tests.estimates import chance
from tests.estimates.traces import VOCABULARY, Definition, Text, best_prefixes, simulated, spine_first, text, trace_of

BLOCK, WIDTH = 4, 5


def texts(count: int, length: int, seed: int = 1, *, block: int = BLOCK, width: int = WIDTH) -> list[Text]:
    rng = random.Random(seed)
    return [text(rng, length, block=block, width=width, mood=rng.gauss(0, 0.6)) for _ in range(count)]


def replayed(lines: Iterable[str], builder: Builder | None = None, most: int = 64) -> Replay:
    header, positions = read(lines)
    return Replay(header, positions, builder or Heap(), most)


@pytest.mark.parametrize(
    ("builder", "definition"), [(Heap(), best_prefixes), (Spine(), spine_first)], ids=["heap", "spine"]
)
def test_a_replay_is_what_happens_token_by_token_at_every_budget(builder: Builder, definition: Definition) -> None:
    """Tokens are compared with tokens there; here ranks are looked up, and each tree is built once for all budgets."""
    drawn = texts(2, 30, width=3)
    budgets = range(1, 3 + 9 + 27 + 81 + 1)  # to the tree of all prefixes
    replay = replayed(trace_of(drawn, block=BLOCK, width=3), builder, most=budgets[-1])
    happened = {nodes: [simulated(each, nodes, definition) for each in drawn] for nodes in budgets}

    assert len({rounds for counts in happened.values() for _, rounds in counts}) > 5
    assert happened == {nodes: replay.rounds(nodes) for nodes in budgets}


def test_a_chain_is_the_tree_of_best_tokens() -> None:
    drawn = texts(3, 40)
    replay = replayed(trace_of(drawn, block=BLOCK, width=WIDTH), Spine())
    lengths = range(BLOCK + 1)

    assert [replay.rounds(length) for length in lengths] == [replay.linear_rounds(length) for length in lengths]
    assert [1.0] == [replay.linear_tau(0)]


def test_no_position_accepts_less_under_a_larger_budget() -> None:
    """At each fixed position, that is: rounds begin elsewhere under another budget, and there more may be rejected."""
    drawn = texts(4, 50)
    for builder in (Heap(), Spine(), Eagle(3, 3)):
        replay = replayed(trace_of(drawn, block=BLOCK, width=WIDTH), builder, 40)
        depths = [[depth for request in replay.accepted(nodes) for depth in request] for nodes in range(41)]

        assert any(less != more for less, more in itertools.pairwise(depths))
        assert all(a <= b for less, more in itertools.pairwise(depths) for a, b in zip(less, more, strict=True))


def test_the_order_of_lines_does_not_matter() -> None:
    head, *lines = trace_of(texts(3, 20), block=BLOCK, width=WIDTH)
    shuffled = random.Random(2).sample(lines, len(lines))

    assert replayed([head, *lines]).rounds(16) == replayed([head, *shuffled]).rounds(16)


def test_tokens_per_round_are_pooled_over_rounds_and_not_over_requests() -> None:
    """A long request counts for as many rounds as it has."""
    replay = replayed(trace_of([*texts(1, 60), *texts(1, 5, seed=9)], block=BLOCK, width=WIDTH))
    (first, one), (second, other) = replay.rounds(8)

    assert (first + second) / (one + other) == replay.tau(8)


# Where it refuses


def lines(count: int = 12, length: int = 6, **header: object) -> Iterator[str]:
    """A trace in which the second-best token is always the real one."""
    yield json.dumps({"v": 1, "L": 2, "K": 2, "T": 0.0} | header)
    for request in range(count):
        for place in range(length):
            ranks = [1] * min(2, length - place)
            yield json.dumps({"r": request, "p": place, "rank": ranks, "lp": [[-1.0, -1.5], [-1.0, -2.0]]})


def test_a_tree_that_may_want_more_than_was_kept_is_refused() -> None:
    """With two tokens kept of a position, the third might have been the next node."""
    replay = replayed(lines())
    refused = replay.length(4)

    assert isinstance(replay.length(2), AcceptanceLength)
    assert isinstance(refused, Withheld)
    assert Basis.REPLAY is refused.basis
    assert "may want more than the 2 tokens that the trace kept" in refused.reason


def test_a_trace_that_kept_all_tokens_misses_none() -> None:
    drawn = texts(2, 30, width=VOCABULARY)
    replay = replayed(trace_of(drawn, block=BLOCK, width=VOCABULARY), most=600)

    assert 0 == replay.unseen(600)


@pytest.mark.parametrize("builder", [Heap(), Spine()], ids=["heap", "spine"])
def test_up_to_where_a_tree_might_miss_tokens_it_is_that_of_all_tokens(builder: Builder) -> None:
    """Three of eight tokens kept: until the bound, trees of what was kept are trees of everything."""
    rng, cuts, wrong, late = random.Random(8), [], [], []
    for _ in range(200):
        rows = [sorted((rng.gauss(0, 2) for _ in range(8)), reverse=True) for _ in range(3)]
        rows = [[each - math.log(sum(map(math.exp, row))) for each in row] for row in rows]
        short = [row[:3] for row in rows]
        cut = reached(Position(0, 0, (-1, -1, -1), short), builder, 40, 3).cut
        whole, kept = (list(itertools.islice(builder.order(each), 40)) for each in (rows, short))
        first = next((node for node, (a, b) in enumerate(zip(whole, kept, strict=False), 1) if a != b), 41)
        cuts.append(cut)
        wrong += [first] if first < cut else []
        late += [first - cut] if first <= len(kept) else []

    assert [] == wrong
    assert 150 < sum(cut <= 40 for cut in cuts)
    assert fmean(late) < 3  # and it is no loose bound


@pytest.mark.parametrize(
    "builder", [Eagle(2, 3), Eagle(3, 2), Static("wide", ((2,),)), Static("deep", ((0,), (0, 0), (0, 0, 0)))]
)
def test_a_builder_that_wants_more_than_was_kept_is_refused(builder: Builder) -> None:
    refused = replayed(lines(), builder).length(3)

    assert isinstance(refused, Withheld)
    assert "the trace kept 2 and 2" in refused.reason


def test_rows_that_were_made_for_the_best_tokens_tell_of_chains_alone() -> None:
    """A drafter that drafts token after token would have said something else below another token."""
    replay = replayed(lines(conditional=True))
    refused = replay.length(2)

    assert isinstance(refused, Withheld)
    assert "what lies below others is not in it" in refused.reason
    assert isinstance(replay.chain(2), AcceptanceLength)


def test_a_budget_beyond_the_replay_is_refused() -> None:
    assert isinstance(replayed(lines(), most=2).length(3), Withheld)
    assert isinstance(replayed(lines(), most=2).chain(3), Withheld)


def test_few_requests_give_a_number_without_an_interval() -> None:
    few, many = (replayed(lines(count)).length(2) for count in (9, 10))

    assert isinstance(few, AcceptanceLength)
    assert isinstance(many, AcceptanceLength)
    assert (None, None) == (few.low, few.high)
    assert "give no interval" in few.because
    assert None not in {many.low, many.high}


def test_a_trace_with_a_stride_has_no_rounds() -> None:
    with pytest.raises(BadTrace, match="distance of 4"):
        replayed(lines(stride=4))


def test_a_trace_with_a_gap_names_it() -> None:
    head, *rest = lines(1, 6)

    with pytest.raises(BadTrace, match="Position 3 of request 0 is missing"):
        replayed([head, *rest[:3], *rest[4:]])


def test_a_trace_that_says_a_position_twice_is_none() -> None:
    head, *rest = lines(1, 6)

    with pytest.raises(BadTrace, match="Position 2 of request 0 is in the trace twice"):
        replayed([head, *rest, rest[2]])


def test_ranks_end_only_where_the_text_does() -> None:
    head, *rest = lines(1, 6)
    short = {**json.loads(rest[2]), "rank": [1]}

    with pytest.raises(BadTrace, match="Position 2 of request 0 has 1 ranks, and its text goes on"):
        replayed([head, *rest[:2], json.dumps(short), *rest[3:]])


def test_a_header_alone_is_no_trace() -> None:
    with pytest.raises(BadTrace, match="no positions"):
        replayed(lines(0))


# Chance


def test_an_interval_is_that_of_ratios_of_sums() -> None:
    """Equal requests leave nothing to chance."""
    assert (2.5, 2.5) == interval([(10, 4)] * 12)
    assert (2.0, 2.0) == gain_interval([(10, 4)] * 12, [(10, 8)] * 12)


def test_a_gain_pairs_the_requests() -> None:
    """What is easy for the tree is easy for the chain; apart, their ratio would seem to scatter."""
    chain = [(100, 20 + each) for each in range(30)]
    tree = [(100, rounds // 2) for _, rounds in chain]
    low, high = gain_interval(tree, chain)

    assert 1.9 < low < high < 2.2


def test_intervals_hold_what_an_engine_does_that_draws() -> None:
    """Above temperature 0: an engine walks its trees and draws at each node; traces are of other texts of that target.

    30 requests of 40 tokens in each trace, of three kinds; the truth is pooled over 6,000 requests in the engine.
    """
    kinds, nodes, length = chance.styles(), 8, 40
    rng = random.Random(5)
    rounds = [chance.served(kinds[each % 3], rng, length, nodes) for each in range(6000)]
    truth = length * len(rounds) / sum(rounds)
    held, found = 0, []
    for seed in range(200):
        drawn = random.Random(seed)
        requests = [drawn.choice(kinds) for _ in range(30)]
        told = Replay(chance.HEADER, chance.positions(requests, drawn, length), Heap(), nodes).length(nodes)
        assert isinstance(told, AcceptanceLength)
        assert told.low
        assert told.high
        held += told.low <= truth <= told.high
        found.append(told.tau)

    assert 180 <= held < 200
    assert truth == pytest.approx(fmean(found), rel=0.02)


@pytest.mark.slow
def test_twenty_thousand_positions_take_seconds() -> None:
    """Over all budgets to 256, blocks of 15 drafts, all 16 tokens of the vocabulary kept."""
    head, *rest = trace_of(texts(5, 100, block=15, width=16), block=15, width=16)
    many = [head]
    for copy in range(1, 41):  # in front of the number of the request
        many += [line.replace('{"r": ', f'{{"r": {copy}', 1) for line in rest]
    began = time.process_time()
    replay = replayed(many, most=256)
    taus = [replay.tau(nodes) for nodes in range(1, 257)]
    took = time.process_time() - began

    assert 20_001 == len(many)
    assert taus[-1] > taus[0]
    assert took < 30
