"""Acceptance and times as published, ready to be weighed."""

from collections.abc import Iterator, Mapping
from itertools import permutations

from recon.estimates import families
from recon.estimates.times import Missing
from recon.estimates.weighing import NONE, Case, Sides, sides, weighed
from recon.records.acceptance_length import AcceptanceLength
from recon.records.cost import Ground, Quantity, Round
from recon.records.estimate import Outlook
from tests.estimates.accepted import Table, alone
from tests.estimates.published import ROWS, Row


def found(**wanted: str) -> list[Row]:
    return [row for row in ROWS if all(getattr(row, name) == value for name, value in wanted.items())]


def value(**wanted: str) -> float:
    (number,) = {row.value for row in found(**wanted)}
    return number


def made(us: float, drafts: int, shape: str, off: float = 0.0) -> Round:
    given = Quantity(us, us * (1 - off), us * (1 + off), Ground.GIVEN, "published")
    return Round(shape, drafts, given, ())


def weigh(
    accepted: Table, chain_us: Mapping[int, float], tree_us: Mapping[int, float], batch: int = 1, off: float = 0.0
) -> Outlook:
    known = sides(
        accepted,
        accepted.budgets,
        lambda drafts: made(chain_us[drafts], drafts, "chain", off) if drafts in chain_us else Missing("not published"),
        lambda nodes: made(tree_us[nodes], nodes, "tree", off),
    )
    assert isinstance(known, Sides), known
    return weighed(known, Case("given", batch, 0, NONE, NONE))


CONCURRENCY = (1, 4, 8, 16, 32)


def at_concurrency(dataset: str, users: int, off: float = 0.0, times: str = "") -> Outlook:
    """60 drafts against 10. A round takes tau over speed, in rounds without drafts."""
    tau, us = {}, {}
    for nodes in (10, 60):
        row = {"table": "Table 5", "method": "eagle", "budget": str(nodes)}
        tau[nodes] = value(metric="tau", dataset=dataset, **row)
        there = {"dataset": times or dataset, **row}
        us[nodes] = value(metric="tau", **there) / value(metric=f"speedup_vs_AR@c{users}", **there)
    return weigh(Table(alone(10, tau[10]), {60: tau[60]}), {10: us[10]}, {60: us[60]}, users, off)


TEXTS = ("GSM8K", "HumanEval", "Alpaca")
"""Of Table 5."""


def speeds_at(dataset: str, users: int) -> float:
    """Published: the speed of 60 drafts over that of 10."""
    row = {"table": "Table 5", "dataset": dataset, "metric": f"speedup_vs_AR@c{users}"}
    return value(budget="60", **row) / value(budget="10", **row)


def is_wrong(published: float, weighed: Outlook) -> bool:
    """Whether tree and chain change places; of two that are published as equal, whether one is said to be ahead."""
    assert weighed.ratio is not None
    return (weighed.ratio.value > 1) != (published > 1)


def pairings() -> Iterator[tuple[str, str, int, float, Outlook]]:
    """Tokens of each text with the times of each other one, at each concurrency: published, and weighed."""
    for tokens, times in permutations(TEXTS, 2):
        for users in CONCURRENCY:
            yield tokens, times, users, speeds_at(tokens, users), at_concurrency(tokens, users, times=times)


def on_a6000(*budgets: int) -> Outlook:
    rows = {"table": "section 8", "family": "dflash2"}
    names = {"method": "spine+siblings", **rows}
    tau = {nodes: value(budget=str(nodes), metric="tau", **names) for nodes in budgets}
    us = {nodes: 1000 * value(budget=str(nodes), metric="ms_per_step", **names) for nodes in budgets}
    chain = {"method": "chain", "budget": "7", **rows}
    spent = {7: 1000 * value(metric="ms_per_step", **chain)}
    return weigh(Table(alone(7, value(metric="tau", **chain)), tau), spent, us)


def on_h200(*budgets: int, by_law: bool = False) -> Outlook:
    """With the published tokens per pass of trees, or with those that the family's law predicts from the chain's."""

    def row(method: str, nodes: int, metric: str) -> float:
        return value(table="Figure 3", method=method, budget=str(nodes), metric=metric)

    tau = {nodes: row("heap", nodes, "tau") for nodes in budgets}
    us = {nodes: tau[nodes] / row("heap", nodes, "speedup_vs_AR") for nodes in budgets}
    chain = row("chain", 15, "tau")
    spent = {15: chain / row("chain", 15, "speedup_vs_AR")}
    if not by_law:
        return weigh(Table(alone(15, chain), tau), spent, us)
    predicted = {nodes: families.predicted("dflash", chain, 16, nodes) for nodes in budgets}
    told = {nodes: each.tau for nodes, each in predicted.items() if isinstance(each, AcceptanceLength)}
    return weigh(Table(alone(15, chain), told, sigma=families.SCATTER), spent, us)


def on_b200(nodes: int) -> Outlook:
    """Ratios alone were published."""
    gain, longer = (
        value(table="Task 2", metric=metric, budget=str(nodes)) for metric in ("tau_over_chain", "time_over_chain")
    )
    return weigh(Table(alone(15, 1.0), {nodes: gain}), {15: 1000.0}, {nodes: 1000.0 * longer})


def on_a800(context: int) -> Outlook:
    """Two sources: times of CaDDTree's model for Qwen3-8B, tokens of DDTree's Figure 3. Drafts are left out."""
    ms = {int(row.budget): row.value for row in found(table="cost models", dataset=f"context {context}")}
    tau = {nodes: value(table="Figure 3", method="heap", budget=str(nodes), metric="tau") for nodes in ms if nodes}
    chain = value(table="Figure 3", method="chain", metric="tau")
    return weigh(Table(alone(15, chain), tau), {15: ms[16]}, ms)
