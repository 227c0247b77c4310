"""Acceptance as a table: tokens per pass by drafts, with a relative error."""

from collections.abc import Mapping
from dataclasses import dataclass

from recon.records.acceptance_length import AcceptanceLength, Basis, Gain, Withheld


@dataclass(frozen=True)
class Table:
    """Tokens per pass that somebody measured; a standard error of trees, relative."""

    chains: Mapping[int, float]
    trees: Mapping[int, float]
    sigma: float | None = 0.0
    """None where no interval is known."""
    basis: Basis = Basis.REPLAY
    notes: tuple[str, ...] = ()

    @property
    def lengths(self) -> list[int]:
        return [*self.chains]

    @property
    def budgets(self) -> list[int]:
        return [*self.trees]

    def chain(self, length: int) -> AcceptanceLength | Withheld:
        if length not in self.chains:
            return Withheld(self.basis, "Not published.", "")
        tau = self.chains[length]
        return AcceptanceLength(self.basis, "chain", length, tau, tau, tau, "Published.")

    def tree(self, nodes: int) -> AcceptanceLength | Withheld:
        if nodes not in self.trees:
            return Withheld(self.basis, "Not published.", "")
        tau = self.trees[nodes]
        off = None if self.sigma is None else 1.96 * self.sigma * tau
        low, high = (None, None) if off is None else (tau - off, tau + off)
        return AcceptanceLength(self.basis, "heap", nodes, tau, low, high, "Published.")

    def gain(self, nodes: int, length: int) -> Gain | Withheld:
        return Withheld(self.basis, "Not published.", "")


def alone(drafts: int, tau: float) -> dict[int, float]:
    """A chain that is asked at no other length than its own."""
    return {drafts: tau, -1: tau}
