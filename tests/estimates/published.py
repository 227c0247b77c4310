"""What was published, each row with its source."""

import csv
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Row:
    """One figure."""

    source: str
    table: str
    family: str
    model: str
    dataset: str
    temperature: str
    method: str
    budget: str
    """Drafts: of a chain, or in a tree; `best` where the source does not say which."""
    metric: str
    value: float

    @property
    def cell(self) -> tuple[str, ...]:
        """What was run, whatever with."""
        return (self.source, self.family, self.model, self.dataset, self.temperature)


with (Path(__file__).parent / "published.csv").open(newline="") as file:
    ROWS = [Row(**{**row, "value": float(row["value"])}) for row in csv.DictReader(file)]  # type: ignore[arg-type]


def taus(table: str, method: str) -> list[Row]:
    """Tokens per pass of one method in one table."""
    return [row for row in ROWS if (row.table, row.method, row.metric) == (table, method, "tau")]


def of_chain(row: Row) -> float:
    """Tokens per pass of the chain that a tree's row is to be compared with."""
    (found,) = {
        each.value
        for each in ROWS
        if each.cell == row.cell and each.table == row.table and (each.method, each.metric) == ("chain", "tau")
    }
    return found


def survival() -> list[float]:
    """Of the one histogram of chains that was published: the share of rounds that accept at least 1, 2, ... drafts."""
    shares = [row.value for row in ROWS if row.metric.startswith("percent_of_rounds_of_")]
    return [sum(shares[drafts:]) / sum(shares) for drafts in range(1, len(shares))]


def survival_of(tau: float) -> list[float]:
    """That histogram's shares, raised to the power at which chains commit so many tokens per pass.

    The histogram is of all rounds together, the curve of the same run a mean over answers: 7.605 against 7.789 tokens.
    """
    shares, low, high = survival(), 0.1, 10.0
    for _ in range(60):
        power = (low + high) / 2
        low, high = (power, high) if 1 + sum(share**power for share in shares) > tau else (low, power)
    return [share**low for share in shares]
