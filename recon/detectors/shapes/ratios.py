"""Rejection sampling along a chain: p(token) against u · q(token)."""

from collections.abc import Iterator

from recon.detectors.shapes.algebra import alike, is_number
from recon.detectors.shapes.chains import moving, stop_of
from recon.detectors.shapes.draws import residual_draws, upward_draws
from recon.detectors.shapes.flow import View
from recon.detectors.shapes.residuals import clamped_differences, is_zeroing
from recon.detectors.shapes.terms import (
    MATHS,
    ORDER,
    RANDOM,
    Load,
    arguments,
    bare,
    callee,
    is_opaque,
    is_own_call,
    is_random,
    loads,
    names_in,
)
from recon.index.sighting import Sighting
from recon.index.term import Term


def stochastic_chains(view: View) -> Iterator[Sighting]:
    """Forms of rejection sampling: p(token) against u · q(token), as a ratio, a product or in logarithms."""
    refused = [sighting.line for sighting in residual_draws(view)]
    for compare, step in view.compares() if not any(upward_draws(view)) else ():
        if compare.text not in ORDER or compare.line in refused:
            continue
        loop = step.loops[-1] if step.loops else None
        operands = [operand for side in compare.parts for operand in view.operands(side, loop)]
        pair = _looked_up_by_one_token(view, operands, loop)
        if not pair or (step.loops and _on_tree(view, step.loops[0], pair)):
            continue
        bases = {load.base for load in pair}
        coins = (operand for operand in operands if _is_coin(view, operand, loop, bases))
        if not _are_weighed(view, compare, loop, bases) or not any(coins):
            continue
        if not stop_of(view, compare, step) and (step.loops or not _share_vector(*pair)):
            continue
        yield Sighting(
            "ratio",
            compare.line,
            "the target's and the draft's probability of the drafted token are set against a random number",
        )
        return


def target_chains(view: View) -> Iterator[Sighting]:
    """Forms in which the target's probability of a drafted token alone is set against a random number."""
    if any(stochastic_chains(view)) or any(residual_draws(view)) or any(upward_draws(view)):
        return
    for compare, step in view.compares():
        loop = step.loops[-1] if step.loops else None
        if compare.text not in ORDER or loop is None or view.chased(step.loops[0]):
            continue
        coins = [any(view.calls_behind(side, RANDOM)) or _is_at_round(view, side, loop) for side in compare.parts]
        for probability, coin in zip(compare.parts, coins[::-1], strict=True):
            if not coin or bare(probability).dotted() in view.counters(loop):  # no random number; a running sum
                continue
            found = [load for load in view.loads_behind(probability, loop) if _is_of_drafted(view, load, loop)]
            refused = {base for load in found for base in (load.base, view.root(load.base))}
            if refused and stop_of(view, compare, step) and _draws_from(view, refused):
                stated = "one_hot" if any(_is_one_hot(view, cut) for _, cut in clamped_differences(view)) else "alone"
                yield Sighting(
                    f"target.{stated}",
                    compare.line,
                    "the target's probability of the drafted token alone is set against a random number",
                )
                return


def _is_at_round(view: View, side: Term, loop: Term) -> bool:
    """Whether a side is a number read at the loop's position, `coins[i]`."""
    rounds = moving(view, loop)
    return any(len(load.keys) == 1 and names_in(load.keys[0]) & rounds for load in view.loads_of(side, loop))


def _is_of_drafted(view: View, load: Load, loop: Term) -> bool:
    """Whether a load is keyed by a token that the loop goes through, or reads at its position."""
    tokens = _tokens(view, loop)
    if not load.keys:
        return False
    last = load.keys[-1]
    read = [token for token in view.loads_behind(last, loop) if token.base != load.base]
    return bool(names_in(last) & tokens) or any(_is_at_round(view, token.term, loop) for token in read)


def _draws_from(view: View, names: set[str]) -> bool:
    """Whether a token is drawn from what is left of a distribution: less the token's own share, or all others'."""
    if any(True for _ in clamped_differences(view)):
        return True
    left = {store.base for store in view.stores() if is_zeroing(store)}
    left = {name for name in left if names & (view.names_behind(Term("name", name)) | {name})}
    return any(left & view.names_behind(part) for call, _ in view.calls("multinomial") for part in arguments(call))


def _is_one_hot(view: View, difference: Term) -> bool:
    """Whether what is taken away is one at a token and zero elsewhere: `p - where(vocabulary == token, 1, 0)`."""
    for part in view.behind(difference.parts[1]).values():
        arms = part.parts[-2:] if part.op == "select" or callee(part) == "where" else ()
        if callee(part) == "one_hot" or (arms and is_number(arms[0], 1) and is_number(arms[1], 0)):
            return True
    return False


def _on_tree(view: View, loop: Term, found: list[Load]) -> bool:
    chased = view.chased(loop)
    return any(view.depends(load, name, loop) for load in found for name in chased)


def _looked_up_by_one_token(view: View, operands: list[Term], loop: Term | None) -> list[Load]:
    """Two probabilities in one comparison: loads from different places, addressed by one and the same token."""
    found = [load for operand in operands for load in loads(operand, deep=False)]
    for position, one in enumerate(found):
        for other in found[position + 1 :]:
            if one.base != other.base and (_share_token(view, one, other, loop) or _share_vector(one, other)):
                return [one, other]
    return []


def _share_token(view: View, one: Load, other: Load, loop: Term | None) -> bool:
    """Whether a token that was itself loaded addresses both: the one at a loop's position, else a vector of them."""
    first, second = ([inner for key in load.keys for inner in view.loads_behind(key, loop)] for load in (one, other))
    rounds = moving(view, loop) if loop is not None else set()
    shared = [set().union(*map(names_in, load.keys)) for load in (one, other)]
    if loop is not None and shared[0] & shared[1] & _tokens(view, loop):
        return True
    for token in first:
        if not any(alike(token.term, each.term) for each in second):
            continue
        is_vector = loop is None and any(True for part in token.keys for _ in view.calls_behind(part, ("arange",)))
        at_position = is_vector or (loop is not None and any(view.depends(token, name, loop) for name in rounds))
        if at_position and token.base not in (one.base, other.base):
            return True
    return False


def _tokens(view: View, loop: Term) -> set[str]:
    """Names of the elements that a loop goes through: `for token in ids`, no numbers of a range."""
    return {name for name, sequence in view.elements_of(loop).items() if sequence.op in ("name", "attr", "index")}


def _share_vector(one: Load, other: Load) -> bool:
    """`p[rows, ids]` and `q[rows, ids]`, or two gathers by the same ids."""
    if len(one.keys) < 2 or len(other.keys) < 2:
        return False
    left, right = (_last_index(load) for load in (one, other))
    names = {part.dotted() for part in left.walk()} - {""}
    return bool(names) and left.op != "slice" and names == {part.dotted() for part in right.walk()} - {""}


def _last_index(load: Load) -> Term:
    """The last index of a load; a loader takes its axis before or after it."""
    named = [key for key in load.keys if key.op not in ("const", "kw")]
    return (named or load.keys)[-1]


def _are_weighed(view: View, compare: Term, loop: Term | None, lookups: set[str]) -> bool:
    """Whether a quotient, a product or a logarithm of the looked-up numbers stands in the comparison."""
    stack, seen = list(compare.parts), set[int]()
    while stack:
        current = stack.pop()
        if id(current) in seen:
            continue
        seen.add(id(current))
        if (current.op == "op" and current.text in ("/", "*")) or callee(current) in _WEIGHING:
            parts = current.parts if current.op == "op" else arguments(current)
            weighed = [load for part in parts for o in view.operands(part, loop) for load in loads(o, deep=False)]
            if callee(current) in _LOGARITHMS or any(load.base in lookups for load in weighed):
                return True
        stack.extend(view.carried_on(current, loop) or (arguments(current) if callee(current) in MATHS else ()))
    return False


_LOGARITHMS = frozenset({"log", "log2", "logf", "log2f", "__logf", "__log2f"})
_WEIGHING = _LOGARITHMS | {"div", "true_divide", "mul", "exp"}


def _is_coin(view: View, operand: Term, loop: Term | None, lookups: set[str]) -> bool:
    """Whether an operand is a random number: a draw, or a number loaded beside the probabilities.

    A name that is one number for all tokens of a loop, or no parameter, is a threshold.
    """
    if operand.op == "name":
        given = view.params if loop is None else {each.dotted() for each in view.elements_of(loop).values()}
        return operand.text in given
    if is_random(operand) or is_opaque(operand) or is_own_call(operand):
        return True
    return any(load.base not in lookups for load in loads(operand, deep=False))
