"""The law of a family, beside what was published."""

import math
from statistics import fmean

import pytest

from recon.estimates.families import BEST, FAMILIES, WORST, law_of, plain, predicted
from recon.estimates.identities import rate_of_tau, tau_of_rate
from recon.records.acceptance_length import AcceptanceLength, Basis, Withheld
from tests.estimates.published import Row, of_chain, taus

TABLE = taus("Table 1", "heap")


def tau(family: str, chain: float, block: int, nodes: int, base: int = 0) -> float:
    found = predicted(family, chain, block, nodes, base)

    assert isinstance(found, AcceptanceLength), found
    return found.tau


def withheld(family: str, chain: float = 6.0, block: int = 16, nodes: int = 64, base: int = 0) -> Withheld:
    found = predicted(family, chain, block, nodes, base)

    assert isinstance(found, Withheld)
    assert Basis.FAMILY_LAW is found.basis
    return found


def errors(rows: list[Row], nodes: int = BEST) -> list[float]:
    return [tau("dflash", of_chain(row), 16, nodes) / row.value - 1 for row in rows]


def test_the_law_gives_the_trees_of_ddtree_within_five_percent_on_average() -> None:
    """Table 1 at temperature 0: ten datasets, three models."""
    off = errors(TABLE)

    assert 30 == len(off)
    assert fmean(map(abs, off)) < 0.05
    assert max(map(abs, off)) < 0.12
    assert abs(fmean(off)) < 0.02


def test_a_cell_that_the_factor_was_not_taken_from_is_met_within_four_percent() -> None:
    """Each cell is left out once, and predicted with the factor of the others."""
    pairs = [(of_chain(row), row.value) for row in TABLE]
    factors = [(1 - rate_of_tau(tree, 16)) / (1 - rate_of_tau(chain, 16)) for chain, tree in pairs]
    off = []
    for place, (chain, tree) in enumerate(pairs):
        factor = fmean(factors[:place] + factors[place + 1 :])
        off.append(abs(tau_of_rate(1 - factor * (1 - rate_of_tau(chain, 16)), 16) / tree - 1))

    assert 0.567 == pytest.approx(fmean(factors), abs=0.001)
    assert fmean(off) < 0.04


@pytest.mark.parametrize(("table", "count"), [("Figure 3", 7), ("Task 2, reference", 7)])
def test_at_known_budgets_the_law_is_within_its_interval(table: str, count: int) -> None:
    """Figure 3 of DDTree and its authors' code on a B200 are two of the three sources of the factors."""
    rows = taus(table, "heap")
    found = [predicted("dflash", of_chain(row), 16, int(row.budget)) for row in rows]

    assert count == len(rows)
    for row, each in zip(rows, found, strict=True):
        assert isinstance(each, AcceptanceLength)
        assert each.low is not None
        assert each.high is not None
        assert each.low < row.value < each.high
        assert row.value == pytest.approx(each.tau, rel=0.06)


def test_trees_of_eagles_form_came_out_alike_where_they_were_tried() -> None:
    """With 4 children a node, on a B200 in SGLang: three cells of one text, too few to let the law speak of them."""
    rows = taus("Task 2, SGLang", "eagle")

    assert ["16", "32", "64"] == [row.budget for row in rows]
    for row in rows:
        assert row.value == pytest.approx(tau("dflash", of_chain(row), 16, int(row.budget)), rel=0.02)


def test_trees_of_dflash_2_bring_far_less() -> None:
    """The factor of the first version would promise a fifth more than was measured."""
    for row in taus("section 8", "spine+siblings"):
        if int(row.budget) >= 16:
            assert row.value == pytest.approx(tau("dflash2", of_chain(row), 8, int(row.budget)), rel=0.01)

    assert tau("dflash", 3.2, 16, 32) > 1.15 * tau("dflash2", 3.2, 8, 32)


def test_a_larger_tree_of_eagle_3_is_told_from_a_smaller_one() -> None:
    """Table 5 of DFlash: trees of 10 and of 60."""
    small, large = (
        {row.cell: row.value for row in taus("Table 5", "eagle") if row.budget == budget} for budget in ("10", "60")
    )

    assert 3 == len(small)
    for cell, value in small.items():
        assert large[cell] == pytest.approx(tau("eagle3", value, 16, 60, base=10), rel=0.02)


@pytest.mark.parametrize("family", ["mtp", "medusa", "dflash3", "no-such-drafter"])
def test_an_unknown_family_gets_no_number(family: str) -> None:
    found = withheld(family)

    assert "No figures are published" in found.reason
    assert "A trace" in found.hint


def test_without_a_family_there_is_no_law() -> None:
    assert "No family of the drafter is named" in withheld("").reason


def test_a_drafter_that_is_hardly_ever_accepted_is_not_told_to_grow_a_tree() -> None:
    """1.1 % of 15 drafts: something is broken, and a law of working drafters says nothing about it."""
    for family in ("dflash", "eagle3", "nobody's"):
        found = withheld(family, chain=1 + 0.011 * 15)

        assert "hardly ever accepted" in found.reason
        assert "mended first" in found.hint
        assert found.mend


def test_the_law_of_dflash_reaches_as_far_as_the_published_chains() -> None:
    """Of both temperatures; trees were published at temperature 1 too, and are not among the rows."""
    chains = [row.value for row in taus("Table 1", "chain")]
    law = law_of("dflash")

    assert 60 == len(chains)
    assert law is not None
    assert (law.low, law.high) == (min(chains), max(chains)) == (WORST, 8.02)


def test_a_drafter_that_is_merely_worse_than_those_published_is_not_called_broken() -> None:
    """Half as far as the worst published chain is the line; shorter blocks are held to the same rate."""
    for chain, block, mend in ((1.56, 16, True), (1.58, 16, False), (1.35, 2, True), (1.38, 2, False)):
        found = withheld("nobody's", chain=chain, block=block)

        assert mend == found.mend


@pytest.mark.parametrize("chain", [0.5, 1.0, 2.1, 8.1, 16.0, 40.0, math.nan, math.inf, -math.inf])
def test_outside_the_range_that_it_was_taken_from_the_law_says_nothing(chain: float) -> None:
    assert isinstance(predicted("dflash", chain, 16, 64), Withheld)


def test_a_law_says_nothing_of_other_blocks_budgets_or_bases() -> None:
    assert "blocks of 16 tokens, not of 8" in withheld("dflash", block=8).reason
    assert "budgets from 16 to 1024 and the best one are known, not 8" in withheld("dflash", nodes=8).reason
    assert "not 4000" in withheld("dflash", nodes=4000).reason
    assert "not which is best" in withheld("dflash2", chain=3.2, block=8, nodes=BEST).reason
    assert "a budget of 60 is known, not 30" in withheld("eagle3", chain=3.0, nodes=30, base=16).reason
    assert "starts from a tree of 16 or a tree of 10, not from a chain" in withheld("eagle3", chain=3.0).reason


def test_between_two_budgets_the_factor_lies_between_theirs() -> None:
    curve = [tau("dflash", 6.0, 16, nodes) for nodes in range(16, 1025, 8)]

    assert sorted(curve) == curve
    assert len(set(curve)) == len(curve)


@pytest.mark.parametrize("name", ["dflash", "DFlash", "DFlash-v1", "dflash_v1"])
def test_a_family_is_known_however_it_is_spelled(name: str) -> None:
    assert "dflash" == plain(name)


def test_a_tree_never_promises_more_than_its_block() -> None:
    for family in FAMILIES:
        for nodes in family.factors:
            found = predicted(family.name, family.high, family.block, nodes, family.base)

            assert isinstance(found, AcceptanceLength)
            assert found.high is not None
            assert family.high < found.tau < found.high <= family.block
