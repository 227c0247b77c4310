"""What is known of acceptance, for a person or as JSON."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from recon.estimates.acceptance import Acceptance, Known
    from recon.records.acceptance_length import AcceptanceLength, Gain
    from recon.records.estimate import Estimate
    from recon.report.leading import Leading

CURVE = (8, 16, 32, 64, 128, 256, 512, 1024)
"""Budgets that are told of, where they are known."""
CHAINS = (1, 2, 3, 4, 6, 8, 12)
"""Lengths that are told of, and the longest."""


def tree_of(found: "Acceptance", nodes: int) -> "Known | None":
    """The tree of a budget, or why nothing is said of it; None where the best is asked for and times are to tell."""
    from recon.estimates.families import BEST
    from recon.records.acceptance_length import AcceptanceLength, Basis

    if nodes != BEST:
        return found.tree(nodes)
    known = found.tree(BEST) if found.basis is Basis.FAMILY_LAW else None
    if isinstance(known, AcceptanceLength) or (known is not None and not found.budgets):
        return known
    if not found.budgets:
        return found.tree(CURVE[1])
    return found.tree(found.budgets[0]) if len(found.budgets) == 1 else None


def parts_of(found: "Acceptance", tree: "Known | None") -> dict[str, object]:
    """The parts of the JSON that tell of acceptance."""
    from recon.records.acceptance_length import AcceptanceLength, Withheld

    chains = [known for length in found.lengths if isinstance(known := found.chain(length), AcceptanceLength)]
    withheld = tree if isinstance(tree, Withheld) else None
    return {
        "decision": decision_of(tree),
        "linear": {
            "tau": chains[-1].tau if chains else None,
            "block": chains[-1].nodes + 1 if chains else None,
            "lengths": chains,
        },
        "tree": None if withheld else tree,
        "gain": _gain(found, tree),
        "curve": list(_curve(found)),
        "withheld": withheld,
        "notes": list(found.notes),
    }


def decision_of(tree: "Known | None") -> str:
    """What acceptance alone decides: nothing, except that some drafters are to be mended first."""
    from recon.records.acceptance_length import Withheld
    from recon.records.estimate import Decision

    mend = isinstance(tree, Withheld) and tree.mend
    return str((Decision.FIX_THE_DRAFTER_FIRST if mend else Decision.CANNOT_TELL).value)


def as_json(found: "Acceptance", tree: "Known | None", weighed: "tuple[Estimate, ...]" = ()) -> str:
    """Everything that is known, numbers unrounded; `estimates` is empty where no times were weighed.

    Decision and sentence are those of the first estimate.
    """
    import msgspec

    told = parts_of(found, tree)
    if weighed:
        told["decision"] = weighed[0].decision
    told |= {"sentence": weighed[0].sentence if weighed else None, "estimates": weighed}
    text: str = msgspec.json.format(msgspec.json.encode(told), indent=1).decode()
    return f"{text}\n"


def as_rows(
    found: "Acceptance", tree: "Known | None", weighed: "tuple[Estimate, ...]" = (), first: "Leading | None" = None
) -> str:
    """A sentence, what it rests on, and a row for each chain and tree that is told of."""
    from recon.report.text import visible

    decided = (first.lead, *first.others) if first else ()
    lines = [*decided, *_weighed(weighed, tree), *_said(found, tree, alone=not weighed), *_rows(found), *found.notes]
    return "".join(f"{visible(line)}\n" for line in lines if line)


def _weighed(weighed: "tuple[Estimate, ...]", tree: "Known | None") -> Iterator[str]:
    """What the decisions rest on, each line once; why acceptance gives no number is said below."""
    from recon.records.acceptance_length import Withheld

    yield from dict.fromkeys(f"  {line}" for each in weighed for line in each.because)
    if isinstance(tree, Withheld):
        return
    yield from dict.fromkeys(f"  Not known: {line}" for each in weighed for line in each.missing)


def _said(found: "Acceptance", tree: "Known | None", *, alone: bool) -> Iterator[str]:
    from recon.records.acceptance_length import Withheld
    from recon.report.numbers import significant

    if isinstance(tree, Withheld):
        if alone:  # an estimate begins with the reason
            yield f"{'Fix the drafter first' if tree.mend else 'No number'}: {tree.reason}"
        yield tree.hint
        return
    if tree is None:
        yield "Which budget suits best takes the times of rounds; what trees of some budgets would commit is below."
    else:
        size = f"{tree.nodes} drafts" if tree.nodes else "the best number of drafts"
        gain = _gain(found, tree)
        over = f": {_over(gain)} the chain's {significant(tree.tau / gain.ratio)}" if gain else ""
        yield (
            f"A tree of {size} ({tree.builder}) would commit {significant(tree.tau)} tokens per pass"
            f"{_within(tree.low, tree.high)}{over}."
        )
        yield tree.because
    if alone:
        yield "Whether it pays cannot be told from acceptance alone: a round of a tree takes longer (--model)."


def _rows(found: "Acceptance") -> Iterator[str]:
    from recon.records.acceptance_length import AcceptanceLength
    from recon.report.numbers import significant

    longest = max(found.lengths, default=0)
    for length in found.lengths:
        known = found.chain(length)
        if isinstance(known, AcceptanceLength) and (length in CHAINS or length == longest):
            yield f"  chain of {length:4}  {significant(known.tau):>5}{_within(known.low, known.high)}"
    for known in _curve(found):
        gain = _gain(found, known)
        row = f"  tree  of {known.nodes:4}  {significant(known.tau):>5}{_within(known.low, known.high)}"
        yield f"{row}  {_over(gain)} the longest chain" if gain else row


def _curve(found: "Acceptance") -> "Iterator[AcceptanceLength]":
    from recon.records.acceptance_length import AcceptanceLength

    budgets = found.budgets
    for nodes in [each for each in CURVE if each in budgets] or budgets[-1:]:
        known = found.tree(nodes)
        if isinstance(known, AcceptanceLength):
            yield known


def _gain(found: "Acceptance", tree: "Known | None") -> "Gain | None":
    from recon.records.acceptance_length import AcceptanceLength, Gain

    longest = max(found.lengths, default=0)
    if not longest or not isinstance(tree, AcceptanceLength):
        return None
    gain = found.gain(tree.nodes, longest)
    return gain if isinstance(gain, Gain) else None


def _over(gain: "Gain") -> str:
    from recon.report.numbers import ratio, ratios

    within = f" ({ratios(gain.low, gain.high)})" if gain.low is not None and gain.high is not None else ""
    return f"{ratio(gain.ratio)}{within}"


def _within(low: float | None, high: float | None) -> str:
    from recon.report.numbers import ratios

    return f" ({ratios(low, high)})" if low is not None and high is not None else ""
