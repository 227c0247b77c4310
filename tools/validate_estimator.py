"""Predicted beside published: every row of tests/estimates/published.csv that a basis of the estimator can predict.

Leaves with 1 if a goal is missed.
"""

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from statistics import fmean

from recon.estimates import dynamic, families
from recon.estimates.identities import rate_of_tau, tau_of_rate
from recon.estimates.trees import Heap, Spine
from recon.records.acceptance_length import AcceptanceLength
from recon.records.estimate import Outlook
from tests.estimates.flips import (
    CONCURRENCY,
    at_concurrency,
    is_wrong,
    on_a6000,
    on_h200,
    pairings,
    speeds_at,
    value,
)
from tests.estimates.published import ROWS, Row, of_chain, survival_of, taus

BLOCKS = {"dflash": 16, "dflash2": 8, "eagle3": 16}


@dataclass(frozen=True)
class Line:
    """One row with what was predicted for it."""

    basis: str
    row: Row
    predicted: float

    @property
    def off(self) -> float:
        """Relative error."""
        return self.predicted / self.row.value - 1


@dataclass(frozen=True)
class Goal:
    """How far predictions may be off."""

    what: str
    off: float
    most: float


def by_law() -> Iterator[Line]:
    """Every tree whose chain, or smaller tree, was published."""
    bases = {row.cell: row.value for row in taus("Table 5", "eagle") if row.budget == "10"}
    for row in ROWS:
        if row.metric != "tau" or row.method == "chain":
            continue
        base = "10" if row.family == "eagle3" else "0"
        if row.budget == base:
            continue
        law = families.law_of(row.family, int(base))
        if law is None or row.method != law.builder:
            continue
        before = bases[row.cell] if row.cell in bases else of_chain(row)
        nodes = families.BEST if row.budget == "best" else int(row.budget)
        found = families.predicted(row.family, before, BLOCKS[row.family], nodes, int(base))
        if isinstance(found, AcceptanceLength):
            yield Line("family law", row, found.tau)


def by_model() -> Iterator[Line]:
    """The curve whose chains were published as a histogram, and one of another builder with its shape."""
    for table, builder in (("Figure 3", Heap()), ("DDTree budget sweep, RTX 3090", Spine())):
        rows = taus(table, builder.name)
        found = dynamic.predicted("dflash", survival_of(of_chain(rows[0])), [int(row.budget) for row in rows], builder)
        assert isinstance(found, list), found
        yield from (Line("dynamic model", row, each.tau) for row, each in zip(rows, found, strict=True))


class Rests(Enum):
    """What a weighed ratio of speeds rests on."""

    CIRCULAR = "circular"
    """Times were taken from the very speeds that come out: a check of the arithmetic, and no prediction."""
    ARITHMETIC = "arithmetic"
    """Tokens and times were published beside the speed."""
    HALF = "tokens only"
    """Tokens are predicted; times were taken from the speeds."""
    CROSSED = "other text"
    """Times are those of another text: what a person has who measured on one and serves another."""


@dataclass(frozen=True)
class Flip:
    """A published ratio of speeds beside the one that is weighed from tokens and times."""

    rests: Rests
    what: str
    published: float
    weighed: Outlook

    @property
    def ratio(self) -> float:
        """The weighed one."""
        return self.weighed.ratio.value if self.weighed.ratio else 0.0

    @property
    def is_wrong(self) -> bool:
        """Whether tree and chain change places."""
        return is_wrong(self.published, self.weighed)


def by_cost() -> Iterator[Flip]:
    """Trees against chains, or against smaller trees, of which tokens, times and speeds are known."""
    for users in CONCURRENCY:
        what = f"EAGLE-3, 60 against 10, B200, GSM8K, {users} requests"
        yield Flip(Rests.CIRCULAR, what, speeds_at("GSM8K", users), at_concurrency("GSM8K", users))
    for tokens, times, users, published, found in pairings():
        yield Flip(Rests.CROSSED, f"the same, {tokens} with times of {times}, {users} requests", published, found)
    for nodes in (8, 9, 12, 16, 32):
        published = value(table="section 8", metric="tree_over_chain_speed", budget=str(nodes))
        yield Flip(Rests.ARITHMETIC, f"DFlash 2, A6000, CUDA graphs, {nodes} drafts", published, on_a6000(nodes))
    for nodes in (16, 32, 64, 128, 256, 512, 1024):
        row = {"table": "Figure 3", "metric": "speedup_vs_AR"}
        published = value(method="heap", budget=str(nodes), **row) / value(method="chain", **row)
        yield Flip(Rests.CIRCULAR, f"DDTree, H200, eager, {nodes} drafts", published, on_h200(nodes))
        lawful = on_h200(nodes, by_law=True)
        yield Flip(Rests.HALF, f"the same, tokens by the family law, {nodes} drafts", published, lawful)


def left_out(lines: Iterable[Line]) -> float:
    """Mean error where the factor is taken from all cells but the one that is predicted."""
    pairs = [(of_chain(line.row), line.row.value) for line in lines]
    factors = [(1 - rate_of_tau(tree, 16)) / (1 - rate_of_tau(chain, 16)) for chain, tree in pairs]
    off = []
    for place, (chain, tree) in enumerate(pairs):
        factor = fmean(factors[:place] + factors[place + 1 :])
        off.append(abs(tau_of_rate(1 - factor * (1 - rate_of_tau(chain, 16)), 16) / tree - 1))
    return fmean(off)


def main() -> int:
    """Print rows and goals."""
    lines = [*by_law(), *by_model()]
    print("basis          source                              model, dataset                          method")
    for line in lines:
        row = line.row
        where = f"{row.source.rsplit('/', 1)[-1]} {row.table}"
        what = f"{row.model} {row.dataset}"
        print(
            f"{line.basis:14} {where[:35]:35} {what[:39]:39} {row.method} {row.budget:>5}"
            f"  published {row.value:6.3f}  predicted {line.predicted:6.3f}  {100 * line.off:+5.1f} %"
        )
    flips = list(by_cost())
    for flip in flips:
        print(
            f"{flip.rests.value:14} {flip.what:92}  published {flip.published:6.3f}  weighed   {flip.ratio:6.3f}"
            f"  {flip.weighed.decision.value}{'  WRONG SIGN' if flip.is_wrong else ''}"
        )
    table = [line for line in lines if line.row.table == "Table 1"]
    curve = [abs(line.off) for line in lines if line.basis == "dynamic model" and line.row.table == "Figure 3"]
    goals = (
        Goal("family law, Table 1 of DDTree at temperature 0, mean", fmean(abs(line.off) for line in table), 0.05),
        Goal("family law, the same with each cell left out once, mean", left_out(table), 0.04),
        Goal("dynamic model, Figure 3 of DDTree, mean", fmean(curve), 0.025),
        Goal("dynamic model, Figure 3 of DDTree, worst", max(curve), 0.05),
        Goal(
            "tree against chain, times taken from the speeds (circular: the arithmetic), worst",
            max(abs(flip.ratio / flip.published - 1) for flip in flips if flip.rests is Rests.CIRCULAR),
            1e-9,
        ),
        Goal(
            "tree against chain, published times, or tokens by the family law, signs that are wrong",
            fmean(flip.is_wrong for flip in flips if flip.rests in {Rests.ARITHMETIC, Rests.HALF}),
            0.0,
        ),
    )
    for goal in goals:
        met = "met" if goal.off <= goal.most else "MISSED"
        print(f"{met:6} {goal.what}: {100 * goal.off:.1f} %, at most {100 * goal.most:g} %")
    crossed = [flip for flip in flips if flip.rests is Rests.CROSSED]
    print(
        f"told   tree against chain, times of another text, signs that are wrong: {sum(f.is_wrong for f in crossed)} of"
        f" {len(crossed)}; no goal, for times of another text do not carry over"
    )
    return int(any(goal.off > goal.most for goal in goals))


if __name__ == "__main__":
    sys.exit(main())
