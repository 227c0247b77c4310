"""A tree's tokens per pass as a person tells them, beside whatever is known of chains."""

from collections.abc import Sequence
from dataclasses import dataclass

from recon.estimates.acceptance import Acceptance, Known
from recon.records.acceptance_length import AcceptanceLength, Basis, Gain, Withheld


@dataclass(frozen=True, slots=True)
class Supplied:
    """One tree of which a person tells how far it gets; of others nothing is said."""

    known: Acceptance
    """Of chains."""
    nodes: int
    tau: float
    builder: str
    basis: Basis = Basis.COUNTED

    @property
    def lengths(self) -> Sequence[int]:
        """Those of the chains that are known."""
        return self.known.lengths

    @property
    def budgets(self) -> Sequence[int]:
        """The one that was told of; none where the drafter is to be mended."""
        return (self.nodes,) if isinstance(self.tree(self.nodes), AcceptanceLength) else ()

    @property
    def notes(self) -> Sequence[str]:
        """As those of the chains."""
        return self.known.notes

    def chain(self, length: int) -> Known:
        """As it is known."""
        return self.known.chain(length)

    def tree(self, nodes: int) -> Known:
        """As told, unless the drafter is hardly ever accepted."""
        asked = self.known.tree(nodes)
        if isinstance(asked, Withheld) and asked.mend:
            return asked
        if nodes != self.nodes:
            return Withheld(self.basis, f"A tree of {self.nodes} drafts was told of, not of {nodes}.", "")
        return AcceptanceLength(self.basis, self.builder, nodes, self.tau, None, None, "As told.")

    def gain(self, nodes: int, length: int) -> Gain | Withheld:
        """The tree's over the chain's, as told."""
        tree, chain = self.tree(nodes), self.chain(length)
        if isinstance(tree, Withheld):
            return tree
        return chain if isinstance(chain, Withheld) else Gain(nodes, length, tree.tau / chain.tau, None, None)
