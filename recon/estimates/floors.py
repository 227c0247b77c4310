"""The least that a round could take, and what follows from that alone.

A card in production is not there to be measured. What its data sheet says bounds a round from below: weights, caches
and states are read at least once, and multiplied at no more than its rate. A tree's round takes longer than the chain's
by at least what their floors differ, so a bound on the chain's bounds the ratio from above; from below nothing does.
"""

import math
from collections.abc import Iterator

from recon.estimates.cards import Card
from recon.estimates.memory import BYTES, kv_layer_bytes, layers_of, state_bytes
from recon.estimates.rounds import Setting
from recon.estimates.times import added
from recon.estimates.weighing import LOSE, SIGMAS, Case, Side, Sides
from recon.records.cost import Ground, Part, Quantity, Round
from recon.records.estimate import Decision, Outlook
from recon.records.model import Weight

SLACK = 2.0
"""A chain's round takes at most so many times its floor, where nobody told what it takes."""


def floor_round(setting: Setting, card: Card, drafts: int, shape: str, *, kept: bool) -> Round:
    """The least that a round with so many drafts takes on a card.

    Args:
        setting: What is run.
        card: Where.
        drafts: Of the chain, or of the tree; the root not counted.
        shape: `chain` or `tree`.
        kept: Whether recurrent layers write a state for each token, or one alone.
    """
    parts = tuple(Part(name, _bound(us, name)) for name, us in _parts(setting, card, drafts + 1, kept=kept))
    return Round(shape, drafts, added(((1.0, part.us) for part in parts), "the sum of the floors"), parts)


def _bound(us: float, name: str) -> Quantity:
    return Quantity(us, us, us, Ground.BOUND, f"{name} at the rates of the data sheet")


def _parts(setting: Setting, card: Card, tokens: int, *, kept: bool) -> Iterator[tuple[str, float]]:
    model, tp = setting.model, setting.tp
    counts = layers_of(model)
    yield "weights", sum(counts[each.name] * _weight_us(each, setting, card, tokens) for each in model.weights(tp))
    axes, layer = model.axes(tp), kv_layer_bytes(model, setting.kv, tp)
    held = sum(layers * (seen + tokens) * layer for layers, seen in model.spans(setting.context, 1))
    met = sum(layers * seen for layers, seen in model.spans(setting.context, tokens))
    products = 4 * tokens * met * int(axes["heads"]) * model.head_dim
    yield "attention", setting.batch * max(held / card.bytes_per_us, products / card.flops_per_us)
    if model.linear_layers:
        states = 1 + (tokens if kept else 1)  # read once, written for each token or once
        yield "recurrent state", setting.batch * states * state_bytes(model, setting.state, tp) / card.bytes_per_us


def _weight_us(weight: Weight, setting: Setting, card: Card, tokens: int) -> float:
    """Read once, experts as far as an even routing meets them; or multiplied at the card's rate, whichever is more."""
    rows = setting.batch * tokens
    held, used = 1.0, 1
    if weight.experts:
        used = setting.model.active_experts
        held = weight.experts * (1 - (1 - used / weight.experts) ** rows)
    width = BYTES["bf16" if weight.name == "lm_head" else setting.weights]
    read = held * weight.outputs * weight.inputs * width / card.bytes_per_us
    rate = card.flops_per_us * (2 / width)  # fp8 is multiplied at twice the rate at most
    return max(read, 2 * rows * used * weight.outputs * weight.inputs / rate)


def bounded(found: Sides, case: Case, chain_us: float = 0.0) -> Outlook:
    """What floors alone say: a loss, or that it is open, with the bounds.

    Args:
        found: Chains and trees with their floors.
        case: Where it is asked; what it adds to both rounds counts at its upper end.
        chain_us: What a round of the chain takes in all, if it is known; 0 if not.
    """
    chain, best = (
        max(some, key=lambda each: each.tau.value / (each.round.us.value + case.common.value))
        for some in (found.chains, found.trees)
    )
    gain = best.tau.value / chain.tau.value
    floor = gain * (chain.round.us.value + case.common.value) / (best.round.us.value + case.common.value)
    most = max(_most(found, tree, case, chain_us) for tree in found.trees)
    unsure = best.unsure or chain.unsure
    lost = most < LOSE and not unsure
    more = math.exp(SIGMAS * found.sigma(best, chain))
    return Outlook(
        kernels=case.kernels,
        batch=case.batch,
        context=case.context,
        decision=Decision.LOSE if lost else Decision.CANNOT_TELL,
        ratio=Quantity(min(floor, most), 0.0, most, Ground.BOUND, "floors alone; from below nothing bounds it"),
        builder=best.builder,
        nodes=best.drafts,
        chain=chain.drafts,
        tree_tau=best.tau,
        chain_tau=chain.tau,
        tree_round=best.round,
        chain_round=chain.round,
        common_us=case.common,
        extra_us=case.extra,
        break_even_tau=None,
        spare_us=None,
        holds=_holds(case, chain_us),
        why=""
        if lost
        else unsure
        or f"a tree that took no longer than the chain would give {gain:.2f}x, one at its floor {floor:.2f}x; its round"
        f" may take at most {gain:.2f} times the chain's"
        + f" ({gain / more:.2f} to {gain * more:.2f})" * (more > 1),
    )


def _holds(case: Case, chain_us: float) -> str:
    if chain_us:
        return ""
    most = f"up to {case.common.high / 1000:.3g} ms of {case.common.source}"
    return f"chains of up to {SLACK:g} times their floor and {most}"


def _most(found: Sides, tree: Side, case: Case, chain_us: float) -> float:
    """The most that the ratio can be, whatever the chain: the best chain is no worse than any other."""

    def against(chain: Side) -> float:
        longest = chain_us or SLACK * chain.round.us.value + case.common.high
        more = max(0.0, tree.round.us.value - chain.round.us.value) + case.extra.low
        return tree.tau.high / chain.tau.low * longest / (longest + more)

    return min(map(against, found.chains))
