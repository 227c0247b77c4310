"""The model of rounds that differ, beside what was published."""

from statistics import fmean

import pytest

from recon.estimates.dynamic import SETS, curve, predicted
from recon.estimates.identities import rate_of_tau, survival, tau_linear, tau_of_rate
from recon.estimates.trees import Eagle, Heap, Spine
from recon.records.acceptance_length import AcceptanceLength, Basis, Withheld
from tests.estimates import published
from tests.estimates.published import of_chain, survival_of, taus

CURVE = {int(row.budget): row for row in taus("Figure 3", "heap")}
SWEEP = taus("DDTree budget sweep, RTX 3090", "spine+siblings")
CHAINS = survival_of(of_chain(CURVE[16]))


def told(shares: list[float], *budgets: int, family: str = "dflash") -> list[AcceptanceLength]:
    found = predicted(family, shares, budgets)

    assert isinstance(found, list), found
    return found


def withheld(shares: list[float], *budgets: int, family: str = "dflash") -> str:
    found = predicted(family, shares, budgets)

    assert isinstance(found, Withheld)
    assert Basis.DYNAMIC_MODEL is found.basis
    return found.reason


def test_the_curve_of_budgets_is_met_where_nothing_was_fitted() -> None:
    """Figure 3 of DDTree: the sets of parameters were fitted at budgets of 16 and 128, the other five are predicted."""
    found = told(CHAINS, *CURVE)
    off = {each.nodes: each.tau / CURVE[each.nodes].value - 1 for each in found}
    fitted, fresh = ([abs(off[nodes]) for nodes in off if (nodes in {16, 128}) == there] for there in (True, False))

    assert max(fitted) < 0.015
    assert fmean(fresh) < 0.025
    assert max(fresh) < 0.03
    assert all(each.low and each.high and each.low < CURVE[each.nodes].value < each.high for each in found)


def test_builders_of_one_budget_differ() -> None:
    """At 16 nodes best first cuts the chain's unlikely end and gains a tenth, a chain with one sibling a fiftieth."""
    chain = tau_linear(CHAINS, len(CHAINS))
    (heap,) = told(CHAINS, 16)
    (spine,) = (row for row in SWEEP if row.budget == "16")
    before = survival_of(of_chain(spine))
    seeded = predicted("dflash", before, [15, 16], Spine())

    assert isinstance(seeded, list)
    assert of_chain(spine) == pytest.approx(seeded[0].tau, rel=1e-5)
    assert CURVE[16].value / of_chain(CURVE[16]) == pytest.approx(heap.tau / chain, rel=0.005)
    assert 1.022 == pytest.approx(spine.value / of_chain(spine), abs=0.001)
    assert 1.02 < seeded[1].tau / of_chain(spine) < 1.04
    assert ("heap", "spine+siblings") == (heap.builder, seeded[1].builder)


def test_trees_that_begin_with_the_whole_chain_are_met_on_another_model_and_text() -> None:
    """Ten prompts of HumanEval, a quantised hybrid of 27B: nothing was fitted, and of chains only the mean is told."""
    found = predicted("dflash", survival_of(of_chain(SWEEP[0])), [int(row.budget) for row in SWEEP], Spine())

    assert isinstance(found, list)
    assert 7 == len(found)
    assert all((each.low or 9) < row.value < (each.high or 0) for row, each in zip(SWEEP, found, strict=True))
    assert fmean(abs(each.tau / row.value - 1) for row, each in zip(SWEEP, found, strict=True)) < 0.025


def test_of_other_builders_no_interval_is_told() -> None:
    found = predicted("dflash", CHAINS, [16], Eagle(5, 4))

    assert isinstance(found, list)
    assert (None, None) == (found[0].low, found[0].high)
    assert "Nothing was published" in found[0].because


def test_a_larger_budget_never_commits_less() -> None:
    found = curve(CHAINS, range(1, 65), SETS[0], Heap())

    assert sorted(found) == found


def test_rounds_that_are_drawn_are_drawn_again() -> None:
    """The same seed gives the same number, and another one nearly the same."""
    first, again, other = (curve(CHAINS, [16], SETS[0], Heap(), seed) for seed in (0, 0, 1))

    assert first == again
    assert first != other
    assert first == pytest.approx(other, rel=0.01)


@pytest.mark.parametrize("family", ["eagle3", "dflash2", "mtp", ""])
def test_how_rounds_of_another_family_scatter_is_not_known(family: str) -> None:
    assert "of DFlash, first version alone" in withheld(CHAINS, 16, family=family)


@pytest.mark.parametrize(
    ("shares", "why"),
    [
        ([], "chains of 1 to 15 drafts, not of 0"),
        ([0.9] * 16, "chains of 1 to 15 drafts, not of 16"),
        ([0.5, 0.6], "never rise"),
        ([1.5, 0.2], "never rise"),
        ([0.9, -0.1], "never rise"),
        ([float("nan")], "never rise"),
        ([0.011] * 15, "2.14 to 8.02 tokens per pass, not 1.17"),
        ([0.15, 0.02, 0.0], "2.14 to 8.02 tokens per pass, not 1.1"),
        ([0.999] * 15, "2.14 to 8.02 tokens per pass, not 16"),
        ([0.3] + [0.3] * 14, "right at least 43 % of the time, not this"),
    ],
)
def test_chains_that_the_model_does_not_know_get_no_number(shares: list[float], why: str) -> None:
    assert why in withheld(shares, 16)


@pytest.mark.parametrize("budgets", [(), (0,), (16, 1025)])
def test_budgets_that_the_model_does_not_know_get_no_number(budgets: tuple[int, ...]) -> None:
    assert "budgets from 1 to 1024" in withheld(CHAINS, *budgets)


def test_the_published_chains_are_those_that_were_counted() -> None:
    """Sixteen bars; pooled over rounds they give less than the mean over answers of the same run."""
    shares = published.survival()

    assert 15 == len(shares)
    assert 7.605 == pytest.approx(tau_linear(shares, 15), abs=0.001)
    assert 7.789 == pytest.approx(tau_linear(CHAINS, 15))


# Identities


@pytest.mark.parametrize("tau", [1.0, 1.17, 3.0, 7.789, 16.0])
def test_a_rate_and_its_tokens_per_pass_are_each_others_inverse(tau: float) -> None:
    rate = rate_of_tau(tau, 16)

    assert tau == pytest.approx(tau_of_rate(rate, 16))
    assert tau == pytest.approx(tau_linear(survival([rate] * 15), 15))


@pytest.mark.parametrize("tau", [0.99, 16.01, float("nan")])
def test_no_rate_gives_less_than_one_token_or_more_than_a_block(tau: float) -> None:
    with pytest.raises(ValueError, match="do not come from blocks of 16"):
        rate_of_tau(tau, 16)
