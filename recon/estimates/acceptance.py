"""What is known of a drafter's acceptance, in one form whatever it rests on: tokens per pass of chains and of trees.

Who weighs trees against times asks this and nothing else of acceptance: which lengths and budgets are known, how many
tokens per pass, and how much more is that than a chain's. Each answer says what it rests on, or why there is none.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from recon.estimates import dynamic, families, table
from recon.estimates.counts import Counts, withhold
from recon.estimates.identities import tau_of_rate
from recon.estimates.replay import Replay, gain_interval
from recon.estimates.trees import Builder, Heap, Static, most_of, too_small
from recon.records.acceptance_length import AcceptanceLength, Basis, Gain, Withheld

Known = AcceptanceLength | Withheld


class Acceptance(Protocol):
    """Tokens per pass of one drafter on one kind of text."""

    @property
    def basis(self) -> Basis:
        """What its trees rest on."""

    @property
    def lengths(self) -> Sequence[int]:
        """Drafts of the chains that it knows, ascending; empty where it knows of trees alone."""

    @property
    def budgets(self) -> Sequence[int]:
        """Drafts of the trees that it can be asked about, ascending; empty where it can tell of none."""

    @property
    def notes(self) -> Sequence[str]:
        """What one should know before believing it; each a sentence."""

    def chain(self, length: int) -> Known:
        """Tokens per pass of a chain of so many drafts."""

    def tree(self, nodes: int) -> Known:
        """Tokens per pass of a tree of so many drafts."""

    def gain(self, nodes: int, length: int) -> Gain | Withheld:
        """Tokens per pass of a tree over those of a chain."""


def advice(acceptance: Acceptance) -> Withheld | None:
    """The advice to mend the drafter first, whatever the numbers rest on.

    None where its chains get far enough, or where so little is known of them that they might.
    """
    longest = max(acceptance.lengths, default=0)
    return _advised(acceptance.chain(longest), longest) if longest else None


def _advised(known: Known, longest: int) -> Withheld | None:
    if isinstance(known, Withheld) or (known.basis is Basis.REPLAY and known.high is None):
        return None
    at_most = known.tau if known.high is None else known.high
    if not families.broken(min(at_most, longest + 1.0), longest + 1, known.basis):
        return None
    return families.broken(min(known.tau, longest + 1.0), longest + 1, known.basis)


class ByReplay:
    """A trace, replayed."""

    basis = Basis.REPLAY

    def __init__(self, replay: Replay, notes: Sequence[str] = ()) -> None:
        """Look first whether the drafter is one to speak of trees for."""
        self.replay, self.notes = replay, notes
        self.lengths: Sequence[int] = range(1, replay.header.length + 1)
        self._advice = advice(self) if self._misses() else None
        self.budgets: Sequence[int] = () if self._advice else _budgets(replay.builder, replay.most)

    def _misses(self) -> bool:
        """Whether drafts are hardly ever right also where rounds that their text ended are left out."""
        right, wrong = self.replay.drafts()
        block = self.replay.header.length + 1
        return bool(wrong and families.broken(tau_of_rate(right / (right + wrong), block), block, self.basis))

    def chain(self, length: int) -> Known:
        """Of the same requests as the tree's."""
        return self.replay.chain(length)

    def tree(self, nodes: int) -> Known:
        """As `Replay.length`."""
        return self._advice or self.replay.length(nodes)

    def gain(self, nodes: int, length: int) -> Gain | Withheld:
        """Requests are drawn in pairs: what is easy for the tree is easy for the chain."""
        told = _gain(self.tree(nodes), self.chain(length))
        if isinstance(told, Withheld) or told.low is None:
            return told
        low, high = gain_interval(self.replay.rounds(nodes), self.replay.linear_rounds(length))
        return Gain(nodes, length, told.ratio, low, high)


def _budgets(builder: Builder, most: int) -> Sequence[int]:
    """All that were drawn or replayed; of a static tree the whole of it, of which no part was meant to be a tree."""
    largest = most_of(builder)
    if not isinstance(builder, Static):
        return range(1, min(most, largest or most) + 1)
    return (largest,) if largest <= most else ()


class ByModel:
    """What a server counted of chains, and how rounds of the drafter's family differ."""

    basis = Basis.DYNAMIC_MODEL

    def __init__(self, counts: Counts, family: str, most: int, builder: Builder | None = None) -> None:
        """Draw rounds for trees of up to `most` drafts; their number is as good as free."""
        self.counts = counts
        self.notes: Sequence[str] = counts.notes
        self.lengths: Sequence[int] = range(1, counts.length + 1)
        self._built = builder or Heap()
        self._longest = counts.chain(counts.length)
        self._trees = advice(self) or dynamic.predicted(family, counts.survival, range(1, most + 1), builder)

    @property
    def budgets(self) -> Sequence[int]:
        """All that rounds were drawn for."""
        return () if isinstance(self._trees, Withheld) else _budgets(self._built, len(self._trees))

    def chain(self, length: int) -> Known:
        """As it was counted."""
        return self.counts.chain(length)

    def tree(self, nodes: int) -> Known:
        """As the model has it."""
        if isinstance(self._trees, Withheld):
            return self._trees
        if lacks := too_small(self._built, nodes):
            return Withheld(self.basis, lacks, "")
        if not 1 <= nodes <= len(self._trees):
            return Withheld(self.basis, f"Rounds were drawn for trees of up to {len(self._trees)} drafts.", "")
        return _as_sure(self._trees[nodes - 1], self._longest)

    def gain(self, nodes: int, length: int) -> Gain | Withheld:
        """With the scatter of the model alone."""
        return _gain(self.tree(nodes), self.chain(length))


@dataclass(frozen=True, slots=True)
class ByLaw:
    """The mean length of chains, and what a tree added for other drafters of the family."""

    counts: Counts
    """Of the chains, or of the trees of `base` drafts."""
    family: str
    block: int
    base: int = 0
    builder: Builder | None = None
    basis: Basis = Basis.FAMILY_LAW

    @property
    def lengths(self) -> Sequence[int]:
        """Those that were counted; where a person told a mean, the one that it is of."""
        if self.base or self.counts.cut:
            return ()
        return range(1, self.counts.length + 1) if self.counts.reached else (self.block - 1,)

    @property
    def notes(self) -> Sequence[str]:
        """Those of the counts."""
        return self.counts.notes

    @property
    def budgets(self) -> Sequence[int]:
        """Those that the law was taken from."""
        law = families.law_of(self.family, self.base)
        known = sorted(set(law.factors) - {families.BEST}) if law else []
        return [nodes for nodes in known if isinstance(self.tree(nodes), AcceptanceLength)]

    def chain(self, length: int) -> Known:
        """As it was counted or told."""
        if self.base:
            return withhold(f"What was told is of a tree of {self.base} drafts, and not of a chain.")
        return self.counts.chain(length)

    def tree(self, nodes: int) -> Known:
        """As the law has it; BEST for the budget that suits best."""
        if self.counts.cut:
            return Withheld(self.basis, "The server drafted chains of different lengths, and the law is of one.", "")
        found = families.predicted(self.family, self.counts.mean, self.block, nodes, self.base)
        wanted = self.builder.name if self.builder else ""
        known = self.counts.chain(self.counts.length)
        lacks = self.builder and too_small(self.builder, nodes)
        if lacks and not (isinstance(found, Withheld) and found.mend):
            return Withheld(self.basis, lacks, "")
        if isinstance(found, Withheld):
            return self._unsure(found) if found.mend and not _advised(known, self.counts.length) else found
        if not wanted or wanted.startswith(found.builder):
            return _as_sure(found, known)
        return Withheld(
            self.basis, f"The law of this family is of trees built by {found.builder}, not by {wanted}.", ""
        )

    def _unsure(self, found: Withheld) -> Withheld:
        """No advice to mend a drafter of which too few rounds were counted."""
        return replace(
            found,
            reason=f"{self.counts.mean:.3g} tokens per pass are hardly any, but {self.counts.rounds} rounds are too few"
            " to be sure of it.",
            hint="Save what the server counted after more requests.",
            mend=False,
        )

    def gain(self, nodes: int, length: int) -> Gain | Withheld:
        """With the scatter of the law alone."""
        return _gain(self.tree(nodes), self.chain(length))


class ByTable:
    """How often each rank was right at each depth: of static trees alone, the best of a budget unless one is named."""

    basis = Basis.STATIC_TABLE

    def __init__(self, rates: table.Table, most: int, builder: Builder | None = None) -> None:
        """Find the likeliest paths once: the tree of a budget is the first so many of them."""
        self.rates, self.builder = rates, builder
        self.notes: Sequence[str] = ()
        self.lengths: Sequence[int] = range(1, len(rates.spine) + 1)
        self._advice = advice(self)
        self._best = table.best_static(rates, most) if builder is None else None
        built = len(self._best.paths) if self._best else most
        trees = range(1, built + 1) if self._best else _budgets(builder or Heap(), most)
        self.budgets: Sequence[int] = [] if self._advice else [each for each in trees if _is_known(self.tree(each))]

    def chain(self, length: int) -> Known:
        """Of the best tokens alone."""
        if not 0 <= length <= len(self.rates.spine):
            return Withheld(self.basis, f"The table knows {len(self.rates.spine)} depths, not {length}.", "")
        if not length:
            return withhold("A chain without drafts accepts none.")
        return table.length(self.rates, Static("chain", tuple((0,) * depth for depth in range(1, length + 1))))

    def tree(self, nodes: int) -> Known:
        """As `table.length`."""
        if self._advice:
            return self._advice
        if self._best is None:
            return self._built(nodes)
        if not 1 <= nodes <= len(self._best.paths):
            return Withheld(self.basis, f"The table gives trees of up to {len(self._best.paths)} drafts.", "")
        return table.length(self.rates, Static(f"best static({nodes})", self._best.paths[:nodes]))

    def _built(self, nodes: int) -> Known:
        """Of the builder that is named: of a static tree the first so many paths."""
        builder = self.builder or Heap()
        if lacks := too_small(builder, nodes):
            return Withheld(self.basis, lacks, "")
        if isinstance(builder, Static) and nodes:
            builder = replace(builder, paths=builder.paths[:nodes])
        return table.length(self.rates, builder)

    def gain(self, nodes: int, length: int) -> Gain | Withheld:
        """Without an interval: a table does not say how many rounds it was counted in."""
        return _gain(self.tree(nodes), self.chain(length))


def _as_sure(tree: AcceptanceLength, chain: Known) -> Known:
    """What follows from counts of chains is no surer than they are: their error is added to its own, as squares."""
    if isinstance(chain, Withheld):
        return chain
    if None in (tree.low, tree.high, chain.low, chain.high):
        return tree
    halves = ((each.high - each.low) / 2 / each.tau for each in (tree, chain))  # type: ignore[operator]
    off = math.hypot(*halves)
    most = max(tree.high or 0.0, chain.nodes + 1.0)
    return replace(tree, low=max(1.0, tree.tau * (1 - off)), high=min(tree.tau * (1 + off), most))


def _is_known(known: Known) -> bool:
    return isinstance(known, AcceptanceLength)


def _gain(tree: Known, chain: Known) -> Gain | Withheld:
    if isinstance(tree, Withheld):
        return tree
    if isinstance(chain, Withheld):
        return chain
    low, high = (None if end is None else end / chain.tau for end in (tree.low, tree.high))
    return Gain(tree.nodes, chain.nodes, tree.tau / chain.tau, low, high)
