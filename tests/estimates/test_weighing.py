"""Acceptance against time: the best chain is the opponent, errors add up as squares, and what is unknown is swept."""

import math
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise

import pytest

from recon.estimates.acceptance import ByLaw
from recon.estimates.counts import Counts
from recon.estimates.times import Missing
from recon.estimates.weighing import NONE, ONE_RATE, Case, RoundOf, Sides, crossover, sides, unweighed, weighed
from recon.records.acceptance_length import Withheld
from recon.records.cost import Ground, Quantity, Round
from recon.records.estimate import Decision, Outlook
from tests.estimates.accepted import Table, alone


def rounds(shape: str, us: Mapping[int, float], off: float = 0.0) -> RoundOf:
    def of(drafts: int) -> Round | Missing:
        if drafts not in us:
            return Missing("not timed")
        time = us[drafts]
        return Round(shape, drafts, Quantity(time, time * (1 - off), time * (1 + off), Ground.MEASURED, ""), ())

    return of


def swept(low: float, high: float) -> Quantity:
    return Quantity((low + high) / 2, low, high, Ground.ASSUMED, "the draft")


def weigh(
    table: Table,
    chain: Mapping[int, float],
    tree: Mapping[int, float],
    *,
    common: Quantity = NONE,
    extra: Quantity = NONE,
    off: float = 0.0,
) -> Outlook:
    known = sides(table, table.budgets, rounds("chain", chain, off), rounds("tree", tree, off))
    assert isinstance(known, Sides), known
    return weighed(known, Case("bundled", 1, 1024, common, extra))


def number(quantity: Quantity | None) -> Quantity:
    assert quantity is not None
    return quantity


def ratio(outlook: Outlook) -> Quantity:
    return number(outlook.ratio)


def test_the_ratio_is_tokens_over_time() -> None:
    outlook = weigh(Table(alone(7, 4.0), {32: 6.0}), {7: 1000.0}, {32: 1200.0})

    assert 1.25 == pytest.approx(ratio(outlook).value)
    assert (Decision.WIN, 32, 7) == (outlook.decision, outlook.nodes, outlook.chain)


def test_the_opponent_is_the_best_chain_and_not_the_longest() -> None:
    """A tree that beats the chain of 15 loses to the chain of 4."""
    times, tree = {4: 800.0, 15: 1600.0}, {32: 1650.0}

    assert Decision.WIN == weigh(Table(alone(15, 5.0), {32: 6.0}), times, tree).decision
    assert (Decision.LOSE, 4) == (
        (outlook := weigh(Table({4: 4.0, 15: 5.0}, {32: 6.0}), times, tree)).decision,
        outlook.chain,
    )


def test_the_tree_of_which_most_can_be_promised_is_taken() -> None:
    outlook = weigh(
        Table(alone(7, 4.0), {16: 5.0, 32: 6.0, 64: 6.5}), {7: 1000.0}, {16: 1010.0, 32: 1050.0, 64: 1400.0}
    )

    assert 32 == outlook.nodes


def test_relative_errors_add_up_as_squares() -> None:
    """4 % of acceptance; 3 % of times, since each side errs by up to 2.94 % at 95 %."""
    outlook = weigh(Table(alone(7, 4.0), {32: 6.0}, sigma=0.04), {7: 1000.0}, {32: 1000.0}, off=1.96 * 0.015)
    half = math.log(ratio(outlook).high / ratio(outlook).low) / 2 / 1.96

    assert math.hypot(0.04, 0.03) == pytest.approx(half, rel=0.01)


@pytest.mark.parametrize(
    ("tree_us", "decision"), [(960.0, Decision.WIN), (1000.0, Decision.TOO_CLOSE), (1050.0, Decision.LOSE)]
)
def test_between_the_two_thresholds_it_is_too_close_to_call(tree_us: float, decision: Decision) -> None:
    assert decision == weigh(Table(alone(7, 4.0), {32: 4.0}), {7: 1000.0}, {32: tree_us}).decision


def test_an_interval_that_leaves_everything_open_is_no_close_call() -> None:
    outlook = weigh(Table(alone(7, 4.0), {32: 4.0}), {7: 1000.0}, {32: 1000.0}, off=0.3)

    assert Decision.CANNOT_TELL == outlook.decision
    assert "leaves anything from" in outlook.why


def test_without_an_interval_of_acceptance_nothing_is_claimed() -> None:
    """A trace of few requests gives none."""
    outlook = weigh(Table(alone(7, 4.0), {32: 8.0}, sigma=None), {7: 1000.0}, {32: 1000.0})

    assert Decision.CANNOT_TELL == outlook.decision


def test_a_loss_is_claimed_only_where_no_other_size_might_win() -> None:
    trees = {16: 4.0, 32: 4.4}
    known = sides(
        Table(alone(7, 4.0), trees),
        [16, 32],
        rounds("chain", {7: 1000.0}),
        lambda nodes: Round(
            "tree",
            nodes,
            Quantity(1100.0, *((1090.0, 1110.0) if nodes == 16 else (1000.0, 1400.0)), Ground.BETWEEN, ""),
            (),
        ),
    )
    assert isinstance(known, Sides)
    outlook = weighed(known, Case("bundled", 1, 1024, NONE, NONE))

    assert (16, Decision.CANNOT_TELL) == (outlook.nodes, outlook.decision)
    assert "another size" in outlook.why


@pytest.mark.parametrize("common", [0.0, 3_000.0])
def test_where_all_is_a_loss_the_size_of_which_less_is_known_is_the_reason(common: float) -> None:
    """Wide as the interval is and whatever the draft takes, it is not what leaves it open."""
    known = sides(
        Table(alone(7, 4.0), {16: 4.0, 32: 4.4}),
        [16, 32],
        rounds("chain", {7: 1000.0}),
        lambda nodes: Round(
            "tree",
            nodes,
            Quantity(4000.0, *((2000.0, 8000.0) if nodes == 16 else (1000.0, 16_000.0)), Ground.BETWEEN, ""),
            (),
        ),
    )
    assert isinstance(known, Sides)
    outlook = weighed(known, Case("bundled", 1, 1024, swept(0.0, common), NONE))

    assert ratio(outlook).high < 1
    assert "another size" in outlook.why


@pytest.mark.parametrize("tau", [1.0, 4.0])
@pytest.mark.parametrize("tree_us", [10.0, 100_000.0])
def test_without_an_interval_nothing_is_claimed_whatever_the_times(tau: float, tree_us: float) -> None:
    outlook = weigh(Table(alone(7, tau), {32: tau}, sigma=None), {7: 1000.0}, {32: tree_us})

    assert Decision.CANNOT_TELL == outlook.decision
    assert "no interval of the tokens per pass of the tree is known" in outlook.why


def test_a_tree_that_is_a_chain_is_not_weighed_against_chains() -> None:
    known = sides(Table(alone(7, 4.0), {1: 1.9, 2: 2.4}), [1], rounds("chain", {7: 9.0}), rounds("tree", {1: 1.0}))

    assert isinstance(known, Missing)
    assert "a tree of 1 draft (heap) is a chain" == known.why


def test_that_a_tree_is_a_chain_is_no_reason_where_larger_ones_have_another() -> None:
    known = sides(Table(alone(7, 4.0), {1: 1.9, 9: 4.4}), [1, 9], rounds("chain", {7: 9.0}), rounds("tree", {1: 1.0}))

    assert isinstance(known, Missing)
    assert "is a chain" not in known.why


# What is not known is swept


def test_a_decision_that_is_the_same_over_the_range_holds_and_says_for_which() -> None:
    outlook = weigh(Table(alone(7, 4.0), {32: 6.0}), {7: 10_000.0}, {32: 12_000.0}, common=swept(0, 10_000))

    assert (Decision.WIN, "0 to 10 ms of the draft") == (outlook.decision, outlook.holds)
    assert (1.25, 1.5 * 20 / 22) == pytest.approx((ratio(outlook).low, ratio(outlook).high))


def test_a_decision_that_turns_within_the_range_is_none_and_says_where() -> None:
    """1.5 times the tokens at twice the time: even where the draft takes 10 ms more than that."""
    outlook = weigh(Table(alone(7, 4.0), {32: 6.0}), {7: 10_000.0}, {32: 20_000.0}, common=swept(0, 30_000))
    at = weigh(Table(alone(7, 4.0), {32: 6.0}), {7: 10_000.0}, {32: 20_000.0}, common=swept(10_000, 10_000))

    assert Decision.CANNOT_TELL == outlook.decision
    assert "the tree wins where the draft takes more than 10 ms of a round" == outlook.why
    assert 1.0 == pytest.approx(ratio(at).value)


def test_a_known_draft_leaves_no_condition() -> None:
    common = Quantity(4000.0, 4000.0, 4000.0, Ground.GIVEN, "the draft")
    outlook = weigh(Table(alone(7, 4.0), {32: 6.0}), {7: 10_000.0}, {32: 12_000.0}, common=common)

    assert not outlook.holds
    assert 1.5 * 14 / 16 == pytest.approx(ratio(outlook).value)


def test_a_longer_draft_never_moves_the_ratio_away_from_that_of_the_tokens() -> None:
    values = [
        ratio(weigh(Table(alone(7, 4.0), {32: 6.0}), {7: 10_000.0}, {32: 30_000.0}, common=swept(us, us))).value
        for us in (0.0, 5_000.0, 50_000.0, 5e6)
    ]

    assert all(one < other for one, other in pairwise(values))
    assert 1.5 == pytest.approx(values[-1], rel=0.01)


def test_what_a_tree_alone_waits_for_counts_against_it() -> None:
    outlook = weigh(Table(alone(7, 4.0), {32: 6.0}), {7: 10_000.0}, {32: 10_000.0}, extra=swept(5_000, 5_000))

    assert 1.0 == pytest.approx(ratio(outlook).value)


def test_the_opponent_is_the_best_chain_at_each_end_of_the_range() -> None:
    """A dear draft is shared by more tokens: the longer chain is better then."""
    table = Table({2: 2.5, 15: 5.0}, {32: 6.0})
    cheap, dear = (
        weigh(table, {2: 1_000.0, 15: 4_000.0}, {32: 4_000.0}, common=swept(us, us)).chain for us in (0.0, 50_000.0)
    )

    assert (2, 15) == (cheap, dear)


# What would turn it


def test_at_the_break_even_tokens_the_ratio_is_one() -> None:
    first = weigh(Table(alone(7, 4.0), {32: 6.0}), {7: 1000.0}, {32: 1200.0}, common=swept(300, 300))
    second = weigh(
        Table(alone(7, 4.0), {32: number(first.break_even_tau).value}),
        {7: 1000.0},
        {32: 1200.0},
        common=swept(300, 300),
    )

    assert 1.0 == pytest.approx(ratio(second).value)


def test_after_the_spare_time_the_ratio_is_one() -> None:
    first = weigh(Table(alone(7, 4.0), {32: 6.0}), {7: 1000.0}, {32: 1200.0})
    second = weigh(Table(alone(7, 4.0), {32: 6.0}), {7: 1000.0}, {32: 1200.0 + number(first.spare_us).value})

    assert 1.0 == pytest.approx(ratio(second).value)


def test_what_would_turn_it_has_an_interval_too() -> None:
    """4 tokens, 1200 over 1000 microseconds, each off by 1 %."""
    outlook = weigh(Table(alone(7, 4.0), {32: 6.0}), {7: 1000.0}, {32: 1200.0}, off=0.01)
    even, spare = number(outlook.break_even_tau), number(outlook.spare_us)

    assert (4.8, 4.8 * 0.99 / 1.01, 4.8 * 1.01 / 0.99) == pytest.approx((even.value, even.low, even.high))
    assert (300, 1.5 * 990 - 1212, 1.5 * 1010 - 1188) == pytest.approx((spare.value, spare.low, spare.high))


def test_a_crossover_lies_between_two_batches() -> None:
    made = [weigh(Table(alone(7, 4.0), {32: 6.0}), {7: 1000.0}, {32: us}) for us in (1200.0, 1400.0, 1600.0, 1700.0)]
    by_batch = [
        unweighed(Case("bundled", batch, 0, NONE, NONE), Missing("")) if batch == 64 else replace(outlook, batch=batch)
        for batch, outlook in zip((1, 4, 8, 64), made, strict=True)
    ]

    assert (4, 8) == crossover(by_batch)
    assert crossover(by_batch[:2]) is None


# Acceptance


def law(tau: float) -> ByLaw:
    return ByLaw(Counts("as told", 15, 0, (), tau), "dflash", 16)


def test_from_a_told_mean_shorter_chains_are_weighed_too() -> None:
    flat = rounds("chain", dict.fromkeys(range(1, 16), 1000.0) | {3: 400.0})
    known = sides(law(5.0), [32], flat, rounds("tree", {32: 1000.0}))
    assert isinstance(known, Sides)
    by_drafts = {each.drafts: each.tau for each in known.chains}

    assert list(range(1, 16)) == list(by_drafts)
    assert 5.0 == pytest.approx(by_drafts[15].value)
    assert 1.96 * ONE_RATE == pytest.approx(by_drafts[3].high / by_drafts[3].value - 1)
    assert 3 == weighed(known, Case("bundled", 1, 0, NONE, NONE)).chain


def test_a_drafter_that_is_to_be_mended_gets_no_tree_whatever_the_times() -> None:
    """The story of 1.1 %."""
    known = sides(law(1.17), [32], rounds("chain", {15: 1000.0}), rounds("tree", {32: 1.0}))
    assert isinstance(known, Withheld)
    outlook = unweighed(Case("bundled", 1, 0, NONE, NONE), known)

    assert (Decision.FIX_THE_DRAFTER_FIRST, None, 0) == (outlook.decision, outlook.ratio, outlook.nodes)


def test_what_was_not_timed_is_named() -> None:
    known = sides(law(5.0), [32], rounds("chain", {15: 1000.0}), rounds("tree", {}))

    assert Missing("not timed") == known
