"""Block verification: a draft is judged as a whole, by the last place at which a joint test holds.

Its three parts may lie in one kernel or in several: the running product of quotients held at one, the mass of the
residual that the product scales, and the test of a uniform number against mass / (mass + 1 - product).
"""

from collections.abc import Iterator

from recon.detectors.shapes.algebra import addends, alike, is_number, limited, quotient
from recon.detectors.shapes.flow import View
from recon.detectors.shapes.laid import Definition, Guard, Step, within
from recon.detectors.shapes.residuals import clamped_differences
from recon.detectors.shapes.terms import ORDER, SCANS, arguments, callee, is_constant, names_in
from recon.index.sighting import Sighting
from recon.index.term import Term

_PICKS = frozenset({"max", "argmax", "amax", "nonzero", "argwhere", "topk", "flatnonzero", "maximum"})
"""Reductions that can take the last place at which a vector of tests holds."""
_SUMS = frozenset({"sum", "Sum", "Reduce", "nansum", "atomic_add", "atomicAdd"})


def block_parts(view: View) -> Iterator[Sighting]:
    """The parts of block verification that stand in a function."""
    yield from _products(view)
    yield from _masses(view)
    yield from _last_places(view)


# The running product: p = min(p * target / draft, 1), or log_p = min(log_p + (log_target - log_draft), 0)


def _products(view: View) -> Iterator[Sighting]:
    for name, definitions in view.definitions.items():
        for definition in definitions:
            if definition.step.loops and _is_held_product(view, name, definition):
                note = "a running product of the target's over the draft's probabilities is held at one, token by token"
                yield Sighting("block.product", definition.value.line or definition.step.term.line, note)
                return


def _is_held_product(view: View, name: str, definition: Definition) -> bool:
    loop = definition.step.loops[-1]
    values = [definition.value]
    if any(is_number(definition.value, bound) for bound in (0, 1)):  # `if p > 1: p = 1` below `p *= ratio`
        tests = [guard.test for guard in definition.step.guards if name in names_in(guard.test)]
        if not any(test.op == "compare" and test.text in ORDER for test in tests):
            return False
        bound = float(is_number(definition.value, 1))
        others = [d.value for d in view.definitions[name] if not d.weak and within(d.step, loop)]
        return any(_grows(view, name, other, bound, loop) for other in others)
    return any(
        _grows(view, name, held, bound, loop) for bound in (0, 1) for value in values for held in limited(value, bound)
    )


def _grows(view: View, name: str, value: Term, bound: float, loop: Term) -> bool:
    """Whether a value is the name's last one times a quotient, or plus a difference of logarithms."""
    if value.op == "name" and value.text != name:
        values = [d.value for d in view.definitions.get(value.text, ()) if not d.weak and within(d.step, loop)]
        return any(each.op != "name" and _grows(view, name, each, bound, loop) for each in values)
    operators = ("*", "/") if bound else ("+", "-")
    if value.op != "op" or value.text not in operators or name not in names_in(value):
        return False
    behind = view.behind(value).values()
    if bound:
        return any(quotient(part) is not None for part in behind) or any(
            _is_log_quotient(view, part) for part in behind
        )
    others = [each.term for each in addends(view, value) if each.term.dotted() != name]
    return len(others) > 1 or any(
        part.op == "op" and part.text == "-" and not any(is_constant(side) for side in part.parts)
        for other in others
        for part in view.behind(other, loop).values()
    )


def _is_log_quotient(view: View, part: Term) -> bool:
    """`exp(log_p - log_q)`."""
    return callee(part) in ("exp", "expf", "exp2") and any(
        inner.op == "op" and inner.text == "-" for given in part.parts[1:] for inner in view.behind(given).values()
    )


# The mass of the residual: sum(max(p * target - draft, 0))


def _masses(view: View) -> Iterator[Sighting]:
    for clamp, difference in clamped_differences(view):
        scaled = difference.parts[0]
        for _ in range(3):
            values = [d.value for d in view.definitions.get(scaled.dotted(), ()) if not d.weak]
            if scaled.op != "name" or len(values) != 1:
                break
            scaled = values[0]
        is_scaled = scaled.op == "op" and scaled.text == "*" and not any(is_constant(part) for part in scaled.parts)
        if is_scaled and _is_summed(view, clamp):
            note = "the mass of what the product of the prefix times the target leaves above the draft is summed up"
            yield Sighting("block.mass", clamp.line, note)
            return


def _is_summed(view: View, clamp: Term) -> bool:
    if any(view.holds(call, clamp) for call, _ in view.calls(*_SUMS)):
        return True
    for name, definitions in view.definitions.items():
        for definition in definitions:
            value = definition.value
            grows = value.op == "op" and value.text == "+" and name in names_in(value)
            if grows and definition.step.loops and view.holds(value, clamp):
                return True
    return False


# The test: uniform <= mass / (mass + 1 - product), and the last place at which it holds


def _last_places(view: View) -> Iterator[Sighting]:
    tests = [part for part in view.body.walk() if part.op in ("op", "call") and _is_joint_test(view, part)]
    for compare, step in view.compares() if tests else ():
        if compare.text not in ORDER:
            continue
        joint = [any(view.holds(side, test) for test in tests) for side in compare.parts]
        if sum(joint) != 1 or is_constant(compare.parts[joint.index(False)]):
            continue
        accepts_below = compare.text in (("<", "<=") if joint[1] else (">", ">="))
        if view.decides(compare) and _takes_last(view, compare, step, accepts_below=accepts_below):
            note = (
                "a uniform number is set against mass / (mass + 1 - product), the joint test of the whole prefix, and "
                "the last place at which it holds is accepted"
            )
            yield Sighting("block.last", compare.line, note, _switch(view, step))
            return


def _is_joint_test(view: View, term: Term) -> bool:
    """Whether a term is m / (m + 1 - p)."""
    division = quotient(term)
    if division is None:
        return False
    mass, whole = division
    parts = addends(view, whole)
    added = [each.term for each in parts if each.is_added]
    taken = [each.term for each in parts if not each.is_added]
    has_mass = any(alike(mass, each) for each in added)
    return has_mass and any(is_number(each, 1) for each in added) and any(not is_constant(each) for each in taken)


def _takes_last(view: View, compare: Term, step: Step, *, accepts_below: bool) -> bool:
    """Whether a refusal ends nothing: later places are tested, and a later one that holds wins."""
    for call, _ in view.calls(*SCANS):
        if any(id(compare) in view.matches(part) for part in arguments(call)):
            return False  # a running product of the outcomes keeps the leading ones: the first refusal ends it
    if not step.loops:
        return any(id(compare) in view.matches(part) for call, _ in view.calls(*_PICKS) for part in _given(view, call))
    loop = step.loops[-1]
    for name in view.governed(compare):
        for definition in view.definitions[name]:
            if within(definition.step, loop) and _stays_down(name, definition.value):
                return False
    for later in view.steps:
        if not within(later, loop) or not any(
            _is_refusal(view, guard, compare, accepts_below=accepts_below) for guard in later.guards
        ):
            continue
        if later.term.op in ("break", "return") or _sets_flag(later, step):
            return False
    return True


def _given(view: View, call: Term) -> list[Term]:
    """What a reduction works on, through a selection and a product with places."""
    return [
        part
        for given in arguments(call)
        for part in view.behind(given).values()
        if part.op in ("name", "op", "call", "compare")
    ]


def _stays_down(name: str, value: Term) -> bool:
    """`live = live & (u <= h)`."""
    return any(
        (part.op == "and" or (part.op == "op" and part.text == "&") or callee(part) == "logical_and")
        and name in names_in(part)
        for part in value.walk()
    )


def _is_refusal(view: View, guard: Guard, compare: Term, *, accepts_below: bool) -> bool:
    """Whether a guard lets pass what the comparison refuses."""
    test, holds = guard.test, guard.holds
    while test.op == "not":
        test, holds = test.parts[0], not holds
    return id(compare) in view.matches(test) and holds != accepts_below


def _sets_flag(later: Step, step: Step) -> bool:
    """Whether a step sets a name that keeps the test from being made again."""
    if later.term.op != "assign":
        return False
    guards = {name for guard in step.guards for name in names_in(guard.test)}
    return any(target.dotted() in guards for target in later.term.parts[:-1])


def _switch(view: View, step: Step) -> str:
    """The parameter under which the test stands, if it is one branch of several."""
    for guard in step.guards:
        test = guard.test.parts[0] if guard.test.op == "not" else guard.test
        if test.dotted() in view.params:
            return test.dotted()
    return ""
