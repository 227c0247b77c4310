"""Forced acceptance along a chain, for benchmarks: what is accepted does not depend on the models."""

from collections.abc import Iterator

from recon.detectors.shapes.chains import moving, raises_flag
from recon.detectors.shapes.flow import View
from recon.detectors.shapes.laid import within
from recon.detectors.shapes.terms import (
    ORDER,
    bare,
    callee,
    is_opaque,
    is_random,
    loads,
    names_in,
)
from recon.index.sighting import Sighting
from recon.index.term import Term


def synthetic_chains(view: View) -> Iterator[Sighting]:
    """Forms of forced acceptance: a rate by position in place of probabilities, or a length given from outside."""
    yield from _rates(view)
    yield from _forced_lengths(view)


def _rates(view: View) -> Iterator[Sighting]:
    for compare, step in view.compares():
        if compare.text not in ORDER or not step.loops:
            continue
        loop = step.loops[-1]
        operands = [view.operands(side, loop) for side in compare.parts]
        if not all(any(_is_number(view, operand, loop) for operand in side) for side in operands):
            continue
        if any(view.loads_behind(key, loop) for load in view.loads_behind(compare, loop) for key in load.keys):
            continue  # something is looked up by token: probabilities
        if any(_is_place(view, side, loop) for side in compare.parts):
            continue  # a place or an id held within its limits
        if raises_flag(view, compare, step, loop) and _chooses_token(view, compare, loop):
            yield Sighting(
                "synthetic.rate",
                compare.line,
                "a drafted token is accepted when a random number lies below a rate given for its position, whatever "
                "the probabilities are",
            )
            return


def _is_number(view: View, operand: Term, loop: Term) -> bool:
    """A draw, or a number loaded at the loop's position; `Int32(0)` is a literal."""
    if is_random(operand) or (is_opaque(operand) and any(map(names_in, operand.parts[1:]))):
        return True
    rounds = moving(view, loop)
    return any(view.depends(load, name, loop) for load in loads(operand, deep=False) for name in rounds)


def _is_place(view: View, side: Term, loop: Term) -> bool:
    """Whether a value has a part in an address of the same loop: it is where something lies, and no rate."""
    name = bare(side).dotted()
    if not name:
        return False
    keys = [key for step in view.steps if within(step, loop) for load in loads(step.term) for key in load.keys]
    keys += [key for store in view.stores() if within(store.step, loop) for key in store.keys]
    return any(name in view.names_behind(key, loop) for key in keys)


def _chooses_token(view: View, compare: Term, loop: Term) -> bool:
    """Whether the outcome picks between two loaded tokens, and the pick is written out."""
    for store in view.stores():
        if not within(store.step, loop):
            continue
        bases = {load.base for load in view.loads_of(store.value, loop)}
        if len(bases) >= 2 and view.names_behind(store.value, loop) & view.governed(compare):
            return True
    return False


def _forced_lengths(view: View) -> Iterator[Sighting]:
    """Rows filled with consecutive places up to a given count, and that count written as the accepted length."""
    lengths = _given_lengths(view)
    if not lengths:
        return
    for term, bound in _filled_prefixes(view):
        named = {part.dotted() for part in bound.walk()} - {""}
        for name in named & set(lengths):
            yield Sighting(
                "synthetic.forced",
                term.line,
                f"the accepted length is written from {name}, which no draft token has a part in, and the accepted "
                "places are filled in up to it",
            )
            return


def _given_lengths(view: View) -> dict[str, Term]:
    """Names from which a length is written (`n - 1` into a tensor) without any load behind it."""
    found: dict[str, Term] = {}
    values = [(store.value, store.step) for store in view.stores()]
    values += [(call.parts[1], step) for call, step in view.calls("fill_") if len(call.parts) > 1]
    for value, _ in values:
        shifted = value.op == "op" and value.text in ("-", "+") and value.parts[1].op == "const"
        name = value.parts[0].dotted() if shifted else ""
        if name and not view.loads_behind(value):
            found[name] = value
    return found


def _filled_prefixes(view: View) -> Iterator[tuple[Term, Term]]:
    """`where(col < n, base + col, -1)` and `x[:, :n] = first + arange(n)`, each with its bound n."""
    for call, _ in view.calls("where"):
        if len(call.parts) == 4 and [part.op for part in call.parts[1:]] == ["compare", "op", "const"]:
            test = call.parts[1]
            if test.text in ("<", "<="):
                yield call, test.parts[1]
    for step in view.steps:
        if step.term.op == "assign" and step.term.parts[0].op == "index":
            bounds = [
                key.parts[1] for key in step.term.parts[0].parts[1:] if key.op == "slice" and key.parts[1].op == "name"
            ]
            ranges = [part for part in step.term.parts[-1].walk() if callee(part) == "arange"]
            if bounds and ranges:
                yield step.term, bounds[0]
