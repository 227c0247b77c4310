"""Acceptance and times as published, weighed: the signs that others measured come out, and where they turn."""

import pytest

from recon.estimates.weighing import NONE, crossover
from recon.records.estimate import Decision
from tests.estimates.flips import (
    CONCURRENCY,
    at_concurrency,
    is_wrong,
    on_a800,
    on_a6000,
    on_b200,
    on_h200,
    pairings,
    value,
)

# EAGLE-3 on a B200: DFlash, Table 5


def test_sixty_drafts_against_ten_turn_between_four_and_eight_requests() -> None:
    """Llama-3.1-8B, GSM8K: 1.19, 1.07, 0.93, 0.75 and 0.60 times the speed."""
    outlooks = [at_concurrency("GSM8K", users) for users in CONCURRENCY]
    ratios = [each.ratio.value for each in outlooks if each.ratio]

    assert (4, 8) == crossover(outlooks)
    assert [1.19, 1.07, 0.93, 0.75, 0.60] == pytest.approx(ratios, abs=0.005)
    assert [Decision.WIN] * 2 + [Decision.LOSE] * 3 == [each.decision for each in outlooks]


def test_a_turn_is_predicted_from_the_times_of_another_text() -> None:
    """Rounds as long as on Alpaca, tokens of GSM8K: 1.20, 1.07, 0.85, 0.72 and 0.55, as far as one decimal goes."""
    outlooks = [at_concurrency("GSM8K", users, times="Alpaca") for users in CONCURRENCY]

    assert (4, 8) == crossover(outlooks)
    assert [1.20, 1.07, 0.85, 0.72, 0.55] == pytest.approx(
        [each.ratio.value for each in outlooks if each.ratio], abs=0.006
    )


def test_times_of_another_text_may_turn_it_elsewhere() -> None:
    """The pairing above is the best of six: wherever HumanEval comes in, with times or with tokens, it turns wrong."""
    wrong = [(tokens, times, users) for tokens, times, users, published, at in pairings() if is_wrong(published, at)]

    assert [
        ("GSM8K", "HumanEval", 4),
        ("HumanEval", "GSM8K", 1),
        ("HumanEval", "GSM8K", 4),
        ("HumanEval", "Alpaca", 1),
        ("HumanEval", "Alpaca", 4),
        ("Alpaca", "HumanEval", 4),
    ] == wrong


def test_on_another_text_the_turn_comes_earlier() -> None:
    """HumanEval: equal at one request, slower from four on."""
    ratios = [(at_concurrency("HumanEval", users).ratio or NONE).value for users in CONCURRENCY]

    assert 1 == pytest.approx(ratios[0])
    assert all(ratio < 0.9 for ratio in ratios[1:])


def test_speeds_with_one_decimal_leave_the_turn_too_close_to_call() -> None:
    """1.6 over 1.5 is anything from 1.00 to 1.14: rounding alone takes the claim away at four requests."""
    outlooks = [at_concurrency("GSM8K", users, off=0.033) for users in CONCURRENCY]

    assert [Decision.WIN, Decision.TOO_CLOSE, Decision.TOO_CLOSE, Decision.LOSE, Decision.LOSE] == [
        each.decision for each in outlooks
    ]


# DFlash 2 on an A6000 with CUDA graphs: vllm-ddtree, section 8


@pytest.mark.parametrize("nodes", [8, 9, 12, 16, 32])
def test_with_cuda_graphs_on_an_a6000_every_tree_loses_by_what_was_measured(nodes: int) -> None:
    outlook = on_a6000(nodes)
    measured = value(table="section 8", metric="tree_over_chain_speed", budget=str(nodes))

    assert Decision.LOSE == outlook.decision
    assert outlook.ratio is not None
    assert measured == pytest.approx(outlook.ratio.value, abs=0.006)


def test_the_best_of_them_still_loses_and_would_have_to_accept_more() -> None:
    """32 drafts at 72.53 ms against 43.35 ms: from 5.35 tokens per pass on, not 3.28."""
    best, largest = on_a6000(8, 9, 12, 16, 32), on_a6000(32)

    assert (9, Decision.LOSE) == (best.nodes, best.decision)
    assert largest.break_even_tau is not None
    assert largest.spare_us is not None
    assert 3.2 * 72.53 / 43.35 == pytest.approx(largest.break_even_tau.value)
    assert (3.282 / 3.2 * 43.35 - 72.53) * 1000 == pytest.approx(largest.spare_us.value)


# DFlash on an H200 in eager mode: DDTree, Figure 3


def test_in_eager_mode_on_an_h200_the_tree_wins_at_the_published_budget() -> None:
    """7.518 over 5.562 times the speed without drafts, at 512."""
    outlook = on_h200(16, 32, 64, 128, 256, 512, 1024)

    assert (512, Decision.WIN) == (outlook.nodes, outlook.decision)
    assert outlook.ratio is not None
    assert 7.518 / 5.562 == pytest.approx(outlook.ratio.value, abs=1e-3)


def test_with_the_laws_tokens_the_tree_wins_there_too_at_nearly_that_ratio() -> None:
    """What the family's law makes of the chain alone, with its interval around what was measured."""
    outlook = on_h200(16, 32, 64, 128, 256, 512, 1024, by_law=True)
    assert outlook.ratio is not None

    assert Decision.WIN == outlook.decision
    assert 7.518 / 5.562 == pytest.approx(outlook.ratio.value, rel=0.03)
    assert outlook.ratio.low < 7.518 / 5.562 < outlook.ratio.high


# A tree beside a chain in SGLang on a B200


@pytest.mark.parametrize("nodes", [16, 32, 64])
def test_trees_that_accept_more_and_take_longer_still_lose_on_a_b200(nodes: int) -> None:
    outlook = on_b200(nodes)
    ratios = [value(table="Task 2", metric=f"{what}_over_chain", budget=str(nodes)) for what in ("tau", "time")]

    assert Decision.LOSE == outlook.decision
    assert outlook.ratio is not None
    assert ratios[0] / ratios[1] == pytest.approx(outlook.ratio.value)


# A measured curve of an A800 with the published acceptance: the best budget moves with the context


@pytest.mark.parametrize(("context", "best", "ratio"), [(2000, 128, 1.26), (8000, 64, 1.17)])
def test_the_best_budget_falls_with_the_context(context: int, best: int, ratio: float) -> None:
    outlook = on_a800(context)

    assert best == outlook.nodes
    assert outlook.ratio is not None
    assert ratio == pytest.approx(outlook.ratio.value, abs=0.005)
