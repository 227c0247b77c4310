"""Acceptance weighed against time: R = (tokens per pass, tree over chain) / (time per round, tree over chain).

The opponent is the best chain, at each time that is not known: a tree that beats a chain of a poor length has shown
nothing. Relative errors of acceptance and of times are independent and add up as squares. A win takes a lower end above
1.03, a loss an upper end below 0.97; what lies between is too close to call. Where the draft's time is not known, all
of this is asked at both ends of its range, and a decision holds only where it is the same at both.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise, product

from recon.estimates.acceptance import Acceptance
from recon.estimates.identities import rate_of_tau, tau_of_rate
from recon.estimates.times import Missing
from recon.records.acceptance_length import AcceptanceLength, Basis, Gain, Withheld
from recon.records.cost import Ground, Quantity, Round
from recon.records.estimate import Decision, Outlook

WIN, LOSE = 1.03, 0.97
"""A lower end above the one wins, an upper end below the other loses."""
SIGMAS = 1.96
"""Half of a 95 % interval in standard errors."""
ONE_RATE = 0.02
"""Standard error of a shorter chain where all drafts are taken to be accepted at one rate: 1.9 % at worst against the
histogram of Figure 4 of DDTree, arXiv 2604.12989."""
WIDE = 1.5
"""An interval whose ends differ by more is no close call: what was measured leaves it open."""
ANY_BUDGET = 16
"""Asked for where no budget is known, since the answer says why."""
NONE = Quantity(0.0, 0.0, 0.0, Ground.GIVEN, "none")


@dataclass(frozen=True, slots=True)
class Side:
    """A chain or a tree: how many tokens a round commits, and how long it takes without what both have in common."""

    drafts: int
    builder: str
    tau: Quantity
    round: Round
    unsure: str = ""
    """Why nothing can be claimed of its tokens; empty where their interval is known."""


@dataclass(frozen=True, slots=True)
class Sides:
    """All chains and trees of which both are known."""

    acceptance: Acceptance
    chains: tuple[Side, ...]
    trees: tuple[Side, ...]

    def sigma(self, tree: Side, chain: Side) -> float:
        """Relative standard error of the tree's tokens over the chain's, from the same requests where it is known."""
        gain = self.acceptance.gain(tree.drafts, chain.drafts) if chain.drafts in self.acceptance.lengths else None
        if isinstance(gain, Gain) and gain.low is not None and gain.high is not None:
            return (gain.high - gain.low) / 2 / SIGMAS / gain.ratio
        return math.hypot(_sigma(tree.tau), _sigma(chain.tau))


@dataclass(frozen=True, slots=True)
class Case:
    """Where it is asked."""

    kernels: str
    batch: int
    context: int
    common: Quantity
    """Microseconds that are added to both rounds."""
    extra: Quantity
    """Microseconds that are added to the tree's alone."""


RoundOf = Callable[[int], Round | Missing]


def sides(acceptance: Acceptance, budgets: Sequence[int], chain: RoundOf, tree: RoundOf) -> Sides | Missing | Withheld:
    """What can be weighed, or why nothing can.

    Args:
        acceptance: Tokens per pass of the drafter.
        budgets: Drafts of the trees that are tried.
        chain: Time of a round by the drafts of its chain.
        tree: The same of trees.
    """
    refused = refusal(acceptance, budgets)
    if refused:
        return refused
    chains, trees = list(_chains(acceptance, chain)), list(_trees(acceptance, budgets, tree))
    found = tuple(tuple(each for each in some if isinstance(each, Side)) for some in (chains, trees))
    for some, known in zip((chains, trees), found, strict=True):
        if not known:
            reasons = [each for each in some if not isinstance(each, Side)]
            plain = (each for each in reasons if not isinstance(each, _Chain))  # says more, where there is one
            return next(plain, None) or next(iter(reasons), Missing("no tokens per pass of any chain are known"))
    return Sides(acceptance, *found)


def refusal(acceptance: Acceptance, budgets: Sequence[int]) -> Withheld | None:
    """Why nothing is said of any tree, whatever the times; None where something is."""
    first = acceptance.tree(budgets[0] if budgets else ANY_BUDGET)
    return first if isinstance(first, Withheld) and (first.mend or not budgets) else None


def _chains(acceptance: Acceptance, round_of: RoundOf) -> Iterator[Side | Missing | Withheld]:
    known = list(acceptance.lengths)
    for drafts in known if len(known) != 1 else range(1, known[0] + 1):
        length = acceptance.chain(drafts if drafts in known else known[0])
        tau = _tau(length) if drafts in known else _shorter(length, drafts)
        made = round_of(drafts)
        if isinstance(length, Withheld):
            yield length
        elif isinstance(tau, Withheld):
            yield tau
        elif isinstance(made, Missing):
            yield made
        else:
            yield Side(drafts, "chain", tau, made, _unsure(length))


class _Chain(Missing):
    """A tree that is a chain, and shows nothing of others."""


def _trees(acceptance: Acceptance, budgets: Sequence[int], round_of: RoundOf) -> Iterator[Side | Missing | Withheld]:
    longest = max(acceptance.lengths, default=0)
    for nodes in budgets:
        length = acceptance.tree(nodes)
        made = round_of(nodes)
        if isinstance(length, Withheld):
            yield length
        elif _is_chain(length, longest):
            yield _Chain(f"a tree of {nodes} draft{'s' * (nodes > 1)} ({length.builder}) is a chain")
        elif isinstance(made, Missing):
            yield made
        else:
            yield Side(nodes, length.builder, _quantity(length), made, _unsure(length))


def _is_chain(tree: AcceptanceLength, longest: int) -> bool:
    """Whether a tree has no two nodes side by side: against a chain it has then shown nothing of trees."""
    whole = tree.builder.startswith("spine") and tree.nodes <= longest
    return tree.nodes == 1 or whole or tree.builder == "chain" or tree.builder.endswith("topk=1)")


def _unsure(length: AcceptanceLength) -> str:
    """Why nothing is claimed of it; empty where its interval is known, and for what was told."""
    if length.low is not None or length.basis is Basis.COUNTED:
        return ""
    what = "the chain" if length.builder == "chain" else "the tree"
    return f"no interval of the tokens per pass of {what} is known ({length.because.removesuffix('.')})"


def _tau(length: AcceptanceLength | Withheld) -> Quantity | Withheld:
    return length if isinstance(length, Withheld) else _quantity(length)


def _quantity(length: AcceptanceLength) -> Quantity:
    """Its interval; where the basis gives none, a wide one, of which nothing is claimed (see `_unsure`).

    Chains that were counted or told are taken as they are.
    """
    exact = length.basis is Basis.COUNTED
    low = (length.tau if exact else 1.0) if length.low is None else length.low
    high = (length.tau if exact else max(length.tau, 2.0) ** 2) if length.high is None else length.high
    return Quantity(length.tau, low, high, Ground.GIVEN, length.because.removesuffix("."))


def _shorter(length: AcceptanceLength | Withheld, drafts: int) -> Quantity | Withheld:
    """A chain cut short, where only the mean of the whole one is known."""
    if isinstance(length, Withheld):
        return length
    tau = tau_of_rate(rate_of_tau(min(length.tau, length.nodes + 1.0), length.nodes + 1), drafts + 1)
    off = SIGMAS * ONE_RATE
    return Quantity(tau, tau * (1 - off), tau * (1 + off), Ground.ASSUMED, "all drafts accepted at one rate")


@dataclass(frozen=True, slots=True)
class Span:
    """A number and its interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class _Weighed:
    """The best tree against the best chain, at one time of what both have in common."""

    ratio: Span
    gain: float
    """Tokens per pass of the tree over those of the chain."""
    even: Span
    """Tokens per pass of the tree at which both are as fast."""
    spare: Span
    """Microseconds that the tree's round could take more until then."""
    tree: Side
    chain: Side
    most: float = 0.0
    """The upper end of any other tree's ratio."""


def weighed(found: Sides, case: Case) -> Outlook:
    """The tree of which most can be promised over the best chain, with the decision."""
    common, extra = case.common, case.extra
    commons, extras = (dict.fromkeys((each.low, each.high)) for each in (common, extra))
    ends = [_at(found, *each) for each in product(commons, extras)]
    middle = _at(found, common.value, extra.value)
    decided, why = _decided(ends, middle, case)
    grounds = (middle.tree.round.us.ground, middle.chain.round.us.ground, common.ground, extra.ground)
    ground = max(grounds, key=list(Ground).index)
    told = partial(_over, middle, ends, ground)
    return Outlook(
        kernels=case.kernels,
        batch=case.batch,
        context=case.context,
        decision=decided,
        ratio=told(lambda each: each.ratio, "tokens per pass over time per round, the tree's over the chain's"),
        builder=middle.tree.builder,
        nodes=middle.tree.drafts,
        chain=middle.chain.drafts,
        tree_tau=middle.tree.tau,
        chain_tau=middle.chain.tau,
        tree_round=middle.tree.round,
        chain_round=middle.chain.round,
        common_us=common,
        extra_us=extra,
        break_even_tau=told(lambda each: each.even, "the chain's tokens per pass, times how much longer a round takes"),
        spare_us=told(lambda each: each.spare, "what the chain would take for as many tokens, less the tree's round"),
        holds=_holds(common, extra),
        why=why,
    )


def _at(found: Sides, common: float, extra: float) -> _Weighed:
    chain = max(found.chains, key=lambda each: each.tau.value / (each.round.us.value + common))
    every = [_against(found, tree, chain, common, extra, paired=False) for tree in found.trees]
    best = max(every, key=lambda each: each.ratio.low)
    paired = _against(found, best.tree, chain, common, extra, paired=True)
    return replace(
        paired, most=max(each.ratio.high for each in every if each.tree is not best.tree) if len(every) > 1 else 0.0
    )


def _against(found: Sides, tree: Side, chain: Side, common: float, extra: float, *, paired: bool) -> _Weighed:
    gain = tree.tau.value / chain.tau.value
    one, other = chain.round.us, tree.round.us
    whole = Span(one.value + common, one.low + common, one.high + common)
    longer = Span(*(each + common + extra for each in (other.value, other.low, other.high)))
    times = math.log(whole.high / longer.low * longer.high / whole.low) / 2 / SIGMAS
    accepted = found.sigma(tree, chain) if paired else math.hypot(_sigma(tree.tau), _sigma(chain.tau))
    ratio, off = gain * whole.value / longer.value, math.exp(SIGMAS * math.hypot(accepted, times))
    tau, more = chain.tau, math.exp(SIGMAS * accepted)
    return _Weighed(
        ratio=Span(ratio, ratio / off, ratio * off),
        gain=gain,
        even=Span(
            tau.value * longer.value / whole.value,
            tau.low * longer.low / whole.high,
            tau.high * longer.high / whole.low,
        ),
        spare=Span(
            gain * whole.value - longer.value,
            gain / more * whole.low - longer.high,
            gain * more * whole.high - longer.low,
        ),
        tree=tree,
        chain=chain,
    )


def _over(
    middle: _Weighed, ends: Sequence[_Weighed], ground: Ground, of: Callable[[_Weighed], Span], source: str
) -> Quantity:
    """A number in the middle of what is not known, with an interval that holds at all of its ends."""
    spans = [of(each) for each in ends]
    return Quantity(of(middle).value, min(each.low for each in spans), max(each.high for each in spans), ground, source)


def _decided(ends: Sequence[_Weighed], middle: _Weighed, case: Case) -> tuple[Decision, str]:
    """The decision, and what stands in its way where there is none."""
    unsure = next((each.unsure for at in ends for each in (at.tree, at.chain) if each.unsure), "")
    if unsure:
        return Decision.CANNOT_TELL, unsure
    decisions = {_decision(each) for each in ends}
    most = max(each.most for each in ends)
    if max(each.ratio.high for each in ends) < LOSE <= most:
        return Decision.CANNOT_TELL, f"a tree of another size, of which less is known, might give {most:.2f}x"
    if len(decisions) > 1:
        return Decision.CANNOT_TELL, _turns(middle, case.common, case.extra)
    (decided,) = decisions
    if decided is not Decision.TOO_CLOSE:
        return decided, ""
    low, high = min(each.ratio.low for each in ends), max(each.ratio.high for each in ends)
    if high > WIDE * low:
        return Decision.CANNOT_TELL, f"what is known leaves anything from {low:.2f}x to {high:.2f}x"
    return decided, ""


def _decision(at: _Weighed) -> Decision:
    if at.ratio.low > WIN:
        return Decision.WIN
    return Decision.LOSE if max(at.ratio.high, at.most) < LOSE else Decision.TOO_CLOSE


def _sigma(tau: Quantity) -> float:
    """Relative standard error."""
    return (tau.high - tau.low) / 2 / SIGMAS / tau.value


def _holds(common: Quantity, extra: Quantity) -> str:
    ranges = [
        f"{each.low / 1000:.3g} to {each.high / 1000:.3g} ms of {each.source}"
        for each in (common, extra)
        if each.low != each.high
    ]
    return " and ".join(ranges)


def _turns(middle: _Weighed, common: Quantity, extra: Quantity) -> str:
    """Where within the range of what is not known the sign turns, if it does."""
    gain = middle.gain
    tree, chain = middle.tree.round.us.value + extra.value, middle.chain.round.us.value
    turning = (tree - gain * chain) / (gain - 1) if gain != 1 else math.inf
    if common.low < turning < common.high:
        side = "more" if gain > 1 else "less"
        return f"the tree wins where {common.source} takes {side} than {turning / 1000:.3g} ms of a round"
    return "what is not known decides"


def unweighed(case: Case, why: Missing | Withheld) -> Outlook:
    """No number, and the reason."""
    mend = isinstance(why, Withheld) and why.mend
    return Outlook(
        kernels=case.kernels,
        batch=case.batch,
        context=case.context,
        decision=Decision.FIX_THE_DRAFTER_FIRST if mend else Decision.CANNOT_TELL,
        ratio=None,
        builder="",
        nodes=0,
        chain=0,
        tree_tau=None,
        chain_tau=None,
        tree_round=None,
        chain_round=None,
        common_us=case.common,
        extra_us=case.extra,
        break_even_tau=None,
        spare_us=None,
        holds="",
        why=why.reason if isinstance(why, Withheld) else why.why,
    )


def crossover(outlooks: Sequence[Outlook]) -> tuple[int, int] | None:
    """The batches between which the sign turns, of outlooks with the same kernels; None where it does not."""
    ratios = ((each.batch, each.ratio) for each in outlooks)
    known = sorted((batch, ratio.value) for batch, ratio in ratios if ratio and ratio.ground is not Ground.BOUND)
    pairs = pairwise(known)
    return next(((one, other) for (one, first), (other, second) in pairs if (first > 1) != (second > 1)), None)
