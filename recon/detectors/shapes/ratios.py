"""Rejection sampling along a chain: p(token) against u · q(token)."""

from collections.abc import Iterator

from recon.detectors.shapes.algebra import alike
from recon.detectors.shapes.chains import moving, stop_of
from recon.detectors.shapes.draws import upward_draws
from recon.detectors.shapes.flow import View
from recon.detectors.shapes.terms import (
    MATHS,
    ORDER,
    Load,
    arguments,
    callee,
    is_opaque,
    is_random,
    loads,
)
from recon.index.sighting import Sighting
from recon.index.term import Term


def stochastic_chains(view: View) -> Iterator[Sighting]:
    """Forms of rejection sampling: p(token) against u · q(token), as a ratio, a product or in logarithms."""
    for compare, step in view.compares() if not any(upward_draws(view)) else ():
        if compare.text not in ORDER:
            continue
        loop = step.loops[-1] if step.loops else None
        operands = [operand for side in compare.parts for operand in view.operands(side, loop)]
        pair = _looked_up_by_one_token(view, operands, loop)
        if not pair or (step.loops and _on_tree(view, step.loops[0], pair)):
            continue
        bases = {load.base for load in pair}
        if not _are_weighed(view, compare, loop, bases) or not any(_is_coin(operand, bases) for operand in operands):
            continue
        if not stop_of(view, compare, step) and (step.loops or not _share_vector(*pair)):
            continue
        yield Sighting(
            "ratio",
            compare.line,
            "the target's and the draft's probability of the drafted token are set against a random number",
        )
        return


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
    for token in first:
        if not any(alike(token.term, each.term) for each in second):
            continue
        is_vector = loop is None and any(True for part in token.keys for _ in view.calls_behind(part, ("arange",)))
        at_position = is_vector or (loop is not None and any(view.depends(token, name, loop) for name in rounds))
        if at_position and token.base not in (one.base, other.base):
            return True
    return False


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


def _is_coin(operand: Term, lookups: set[str]) -> bool:
    """Whether an operand is a random number: a draw, or a number loaded beside the probabilities."""
    if is_random(operand) or is_opaque(operand) or operand.op == "name":
        return True
    return any(load.base not in lookups for load in loads(operand, deep=False))
