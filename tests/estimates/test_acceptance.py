"""What is known of acceptance, in one form whatever it rests on."""

import random

import pytest

from recon.estimates.acceptance import Acceptance, ByLaw, ByModel, ByReplay, ByTable, advice
from recon.estimates.counts import Counts, of_histograms
from recon.estimates.families import BEST
from recon.estimates.replay import Replay
from recon.estimates.table import Table
from recon.estimates.trace import read
from recon.estimates.trees import Builder, Eagle, Heap, Static
from recon.records.acceptance_length import AcceptanceLength, Basis, Gain, Withheld
from tests.estimates.published import survival_of, taus
from tests.estimates.traces import text, trace_of

MEAN = Counts("as told", 15, 0, (), 6.57)


def replayed(most: int = 16, mood: float = 0.8, builder: Builder | None = None) -> ByReplay:
    rng = random.Random(3)
    texts = [text(rng, 30, block=4, width=9, mood=mood) for _ in range(12)]
    header, positions = read(trace_of(texts, block=4, width=9))
    return ByReplay(Replay(header, positions, builder or Heap(), most))


def chains(tau: float = 7.0) -> Counts:
    reached = tuple(round(100_000 * share) for share in survival_of(tau))
    return Counts("counters", 15, 100_000, reached, 1 + sum(reached) / 100_000)


def known(told: AcceptanceLength | Withheld) -> AcceptanceLength:
    assert isinstance(told, AcceptanceLength), told
    return told


@pytest.mark.parametrize(
    ("found", "basis"),
    [
        (replayed(), Basis.REPLAY),
        (ByModel(chains(), "dflash", 16), Basis.DYNAMIC_MODEL),
        (ByLaw(MEAN, "dflash", 16), Basis.FAMILY_LAW),
    ],
    ids=["replay", "model", "law"],
)
def test_a_gain_is_the_tree_over_the_chain_and_lies_in_its_interval(found: Acceptance, basis: Basis) -> None:
    tree, chain = known(found.tree(16)), known(found.chain(found.lengths[-1]))
    gain = found.gain(16, found.lengths[-1])

    assert basis is found.basis is tree.basis
    assert isinstance(gain, Gain)
    assert tree.tau / chain.tau == pytest.approx(gain.ratio)
    assert gain.low is not None
    assert gain.high is not None
    assert gain.low < gain.ratio < gain.high


RATES = Table(((0.6, 0.2), (0.5, 0.2)), None)
SMALL = Static("static(tree.json)", ((0,), (1,), (0, 0)))


@pytest.mark.parametrize(
    ("found", "most"),
    [
        (replayed(64, builder=SMALL), 3),
        (replayed(64, builder=Eagle(2, 2)), 6),
        (ByModel(chains(), "dflash", 64, Eagle(3, 2)), 10),
        (ByModel(chains(), "dflash", 64, SMALL), 3),
        (ByLaw(MEAN, "dflash", 16, builder=SMALL), 3),
        (ByLaw(Counts("as told", 5, 0, (), 3.0), "eagle3", 6, 10, Eagle(1, 10)), 10),
        (ByTable(RATES, 64, SMALL), 3),
    ],
)
def test_a_tree_larger_than_its_builder_makes_is_refused(found: Acceptance, most: int) -> None:
    """Its tokens would be weighed against the round of a larger one."""
    told = found.tree(most + 1)

    assert isinstance(told, Withheld)
    assert f"makes trees of up to {most} drafts, not of {most + 1}." in told.reason
    assert most >= max(found.budgets, default=0)


def test_a_table_tells_of_as_many_paths_of_a_static_tree_as_are_asked_for() -> None:
    found = ByTable(RATES, 64, SMALL)
    whole, part = known(found.tree(3)), known(found.tree(2))

    assert (3, 2) == (whole.nodes, part.nodes)
    assert part.tau < whole.tau


def test_a_gain_from_pairs_of_requests_is_surer_than_one_of_its_sides() -> None:
    found = replayed()
    gain, tree = found.gain(16, 4), known(found.tree(16))

    assert isinstance(gain, Gain)
    assert gain.low is not None
    assert tree.low is not None
    assert gain.low / gain.ratio > tree.low / tree.tau


def test_of_a_tree_alone_no_chain_is_known() -> None:
    """What was told is of EAGLE-3's tree of 10: GSM8K, published at 60 as 4.55."""
    (base,) = (row for row in taus("Table 5", "eagle") if (row.dataset, row.budget) == ("GSM8K", "10"))
    found = ByLaw(Counts("as told", 15, 0, (), base.value), "eagle3", 16, base=10)

    assert 4.55 == pytest.approx(known(found.tree(60)).tau, rel=0.04)
    assert ([], [60]) == (list(found.lengths), list(found.budgets))
    assert isinstance(found.gain(60, 15), Withheld)


@pytest.mark.parametrize(
    "found",
    [
        replayed(mood=-9.0),
        ByModel(of_histograms("by hand", [[880, 90, 20, 10]], 15), "dflash", 16),
        ByLaw(Counts("as told", 15, 0, (), 1.17), "dflash", 16),
        ByLaw(Counts("as told", 15, 0, (), 1.17), "nobody's", 16),
    ],
    ids=["replay", "model", "law", "unknown"],
)
def test_a_drafter_that_is_hardly_ever_accepted_is_never_told_to_grow_a_tree(found: Acceptance) -> None:
    """Whatever is known of it, and though a replay could tell what a tree would add."""
    asked = [found.tree(16), found.gain(16, found.lengths[-1])]

    assert advice(found) is not None
    assert not found.budgets
    assert all(isinstance(each, Withheld) and each.mend for each in asked)
    assert isinstance(found.chain(found.lengths[-1]), AcceptanceLength)


def test_only_the_whole_of_a_static_tree_is_a_tree() -> None:
    found = replayed(builder=Static("by hand", ((0,), (1,), (0, 0))))

    assert [3] == list(found.budgets)
    assert not replayed(most=2, builder=Static("by hand", ((0,), (1,), (0, 0)))).budgets


def test_a_law_is_of_one_builder() -> None:
    told = ByLaw(MEAN, "dflash", 16, builder=Eagle(5, 8)).tree(64)

    assert isinstance(told, Withheld)
    assert "trees built by heap, not by eagle" in told.reason
    assert isinstance(ByLaw(MEAN, "dflash", 16, builder=Heap()).tree(BEST), AcceptanceLength)


def test_chains_of_different_lengths_are_of_no_law() -> None:
    mixed = ByLaw(Counts("counters", 0, 100, (), 3.0, cut=True), "dflash", 16)

    assert isinstance(mixed.tree(64), Withheld)
    assert isinstance(mixed.chain(15), Withheld)


def test_the_model_is_asked_within_what_was_drawn() -> None:
    found = ByModel(chains(), "dflash", 16)

    assert [*range(1, 17)] == list(found.budgets)
    assert isinstance(found.tree(17), Withheld)
    assert isinstance(found.tree(0), Withheld)


# Counts


def test_counts_of_chains_give_every_shorter_chain() -> None:
    """By hand: rounds that accept 0, 1, 1, 3 drafts, ten times; cut at 2 they accept 0, 1, 1, 2."""
    counts = of_histograms("by hand", [[10, 20, 0, 10]], 3)

    assert (30, 10, 10) == counts.reached
    assert [1.0, 1.75, 2.0, 2.25] == [known(counts.chain(length)).tau for length in range(4)]
    assert isinstance(counts.chain(4), Withheld)


def width(told: AcceptanceLength | Withheld) -> float:
    low, high = known(told).low, known(told).high
    assert low is not None
    assert high is not None
    assert low < known(told).tau < high
    return high - low


def test_requests_that_differ_make_the_interval_wider_than_their_rounds_do() -> None:
    """In five requests all is accepted, in five nothing is."""
    apart = of_histograms("by hand", [[0, 0, 20]] * 5 + [[20, 0, 0]] * 5, 2)
    together = of_histograms("by hand", [[100, 0, 100]], 2)

    assert (apart.reached, apart.mean) == (together.reached, together.mean)
    assert width(apart.chain(2)) > 2 * width(together.chain(2))


def test_requests_that_are_all_alike_are_no_surer_than_their_rounds() -> None:
    alike = of_histograms("by hand", [[2, 2]] * 10, 1)

    assert width(of_histograms("by hand", [[20, 20]], 1).chain(1)) == width(alike.chain(1))


def test_the_interval_of_counted_rounds_holds_the_truth_nearly_always() -> None:
    """40 rounds of a drafter that is right 3 times in 4, drawn 400 times."""
    truth, held = 1 + sum(0.75**depth for depth in range(1, 16)), 0
    for seed in range(400):
        rng, histogram = random.Random(seed), [0] * 16
        for _ in range(40):
            histogram[next((depth for depth in range(15) if rng.random() > 0.75), 15)] += 1
        told = known(of_histograms("drawn", [histogram], 15).chain(15))
        held += (told.low or 0.0) <= truth <= (told.high or 0.0)

    assert 0.93 * 400 <= held


def test_the_interval_of_counts_narrows_with_their_number() -> None:
    few, many = (of_histograms("by hand", [[10 * times, 20 * times, 10 * times]], 2) for times in (1, 100))

    assert 0.1 == pytest.approx(width(many.chain(2)) / width(few.chain(2)), rel=0.1)


def counted(rounds: int) -> Counts:
    """So many rounds of chains of 7 tokens."""
    reached = tuple(round(rounds * share) for share in survival_of(7.0))
    return Counts("counters", 15, rounds, reached, 1 + sum(reached) / rounds)


@pytest.mark.parametrize("basis", [Basis.DYNAMIC_MODEL, Basis.FAMILY_LAW])
def test_what_follows_from_few_rounds_is_no_surer_than_they_are(basis: Basis) -> None:
    widths = []
    for rounds in (60, 100_000):
        counts = counted(rounds)
        found = ByModel(counts, "dflash", 32) if basis is Basis.DYNAMIC_MODEL else ByLaw(counts, "dflash", 16)
        gain = found.gain(32, 15)
        assert isinstance(gain, Gain)
        assert gain.low is not None
        widths.append((width(found.tree(32)) / known(found.tree(32)).tau, 1 - gain.low / gain.ratio))

    assert all(few > 1.5 * many for few, many in zip(*widths, strict=True))


@pytest.mark.parametrize("histogram", [[1], [0, 1, 1, 1], [29]])
@pytest.mark.parametrize("family", ["dflash", "nobody's"])
def test_a_handful_of_rounds_tells_nothing_of_chains_trees_or_the_drafter(histogram: list[int], family: str) -> None:
    counts = of_histograms("by hand", [histogram], 15)

    for found in (ByModel(counts, family, 16), ByLaw(counts, family, 16)):
        assert advice(found) is None
        assert isinstance(found.chain(15), Withheld)
        assert isinstance(told := found.tree(16), Withheld)
        assert not told.mend


def test_a_drafter_of_which_too_few_rounds_were_counted_is_not_said_to_be_broken() -> None:
    """30 rounds that accept nothing: it might accept 15 drafts in one of ten."""
    few, many = (ByLaw(of_histograms("by hand", [[rounds]], 15), "dflash", 16) for rounds in (30, 3000))
    told = few.tree(64)

    assert isinstance(told, Withheld)
    assert "30 rounds are too few to be sure" in told.reason
    assert (None, False) == (advice(few), told.mend)
    assert advice(many) is not None


def short_texts(requests: int, right: bool) -> ByReplay:
    """Texts of one token, whose one draft is right or not."""
    lines = ['{"v": 1, "L": 3, "K": 2, "T": 0}']
    rank = 0 if right else 1
    lines += [f'{{"r": {number}, "p": 0, "rank": [{rank}], "lp": [[-0.1, -3]]}}' for number in range(requests)]
    header, positions = read(lines)
    return ByReplay(Replay(header, positions, Heap(), 4))


def test_texts_that_end_with_a_right_draft_are_no_reason_to_mend_the_drafter() -> None:
    """Whatever their number: a round commits what is left of a text, which is one token."""
    assert advice(short_texts(100, right=True)) is not None  # as tokens alone would have it
    assert short_texts(100, right=True).budgets
    assert not short_texts(100, right=False).budgets


def test_a_trace_of_few_rounds_gives_no_interval_however_many_its_requests() -> None:
    few, many = (known(short_texts(requests, right=False).chain(3)) for requests in (29, 30))

    assert (None, 1.0) == (few.low, many.low)


def test_a_trace_of_a_position_is_no_reason_to_mend_the_drafter() -> None:
    assert short_texts(1, right=False).budgets
    assert known(short_texts(1, right=False).tree(2)).low is None
