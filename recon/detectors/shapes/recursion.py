"""Acceptance by a function that calls itself, with no loop: on the rest of a chain, or on a child of a node."""

from collections.abc import Iterator

from recon.detectors.shapes.flow import View
from recon.detectors.shapes.laid import Step
from recon.detectors.shapes.terms import EQUALITY, Load, bare, bases, names_in
from recon.index.sighting import Sighting
from recon.index.term import Term


def recurring_chains(view: View) -> Iterator[Sighting]:
    """Two sequences compared at their heads, or at one place; where they match, the function goes on behind.

    Where they differ the target's token is given back: what two sequences share from the start is none.
    """
    calls = _calls_of_itself(view)
    for compare, _ in view.compares() if calls else ():
        pair = _heads(view, compare) if compare.text in EQUALITY else None
        if pair is None:
            continue
        if any(_passes(view, step, call, compare) and _goes_on(view, call, pair) for call, step in calls) and any(
            _reads(view, given, pair) for given in _given_otherwise(view, compare, [call for call, _ in calls])
        ):
            yield Sighting(
                "chain.recursion",
                compare.line,
                "the next drafted token is compared with the target's choice; on a match the function goes on behind "
                "it by a call of itself, else the target's token is emitted",
            )
            return


def recurring_walks(view: View) -> Iterator[Sighting]:
    """A node and one of its children as parameters: one that matches becomes the node, else its sibling is tried."""
    calls = _calls_of_itself(view)
    for compare, _ in view.compares() if len(calls) > 1 else ():
        if compare.text not in EQUALITY:
            continue
        left, right = (_asked_at(view, side) for side in compare.parts)
        pairs = ((node, kid) for node in left | right for kid in left | right if (node in left) != (kid in left))
        for node, kid in pairs:
            down = [c for c, step in calls if _passes(view, step, c, compare) and _is_name(view, c, node, kid)]
            aside = [c for c, _ in calls if _is_name(view, c, node, node) and _leads_on(view, c, kid)]
            if down and aside:
                yield Sighting(
                    "walk.recursion",
                    compare.line,
                    "a child whose token is the target's choice at its parent is gone on from by a call of the "
                    "function itself, and its sibling is tried by another one where it is not",
                )
                return


def handed(view: View, call: Term, parameter: str) -> Term | None:
    """What a call of the function itself hands to one of its parameters."""
    named = {part.text: part.parts[0] for part in call.parts[1:] if part.op == "kw"}
    if parameter in named:
        return named[parameter]
    names = [name for name in view.params if name not in ("self", "cls")]
    positional = [part for part in call.parts[1:] if part.op != "kw"]
    place = names.index(parameter) if parameter in names else len(positional)
    return positional[place] if place < len(positional) else None


def _calls_of_itself(view: View) -> list[tuple[Term, Step]]:
    return view.calls(view.body.text) if view.body.op == "def" and view.body.text else []


def _passes(view: View, step: Step, call: Term, compare: Term) -> bool:
    """Whether a call runs only where two tokens match."""
    holds = compare.text == "=="
    if any(guard.holds is holds and view.holds(guard.test, compare) for guard in step.guards):
        return True
    arms = (part.parts[1 if holds else 2] for part in _selections(view, step, compare))
    return any(inner is call for arm in arms for inner in arm.walk())


def _selections(view: View, step: Step, compare: Term) -> Iterator[Term]:
    """Values of a step that a comparison chooses, `a if x == y else b`."""
    return (part for part in step.terms if part.op == "select" and view.holds(part.parts[0], compare))


# Chains


def _heads(view: View, compare: Term) -> tuple[Load, Load] | None:
    """The two elements compared, read from different parameters: both the first ones, or both at one parameter."""
    for one in view.loads_of(compare.parts[0]):
        for other in view.loads_of(compare.parts[1]):
            if one.base == other.base or not {one.base, other.base} <= set(view.params):
                continue
            place, its = (_place(load) for load in (one, other))
            if place == its and (place == "0" or place in view.params):
                return one, other
    return None


def _place(load: Load) -> str:
    key = load.keys[0] if len(load.keys) == 1 else load.term
    return key.text if key.op == "const" else key.dotted()


def _goes_on(view: View, call: Term, pair: tuple[Load, Load]) -> bool:
    """Whether a call is handed what lies behind both heads: `a[1:]` and `b[1:]`, or the next place."""
    place = _place(pair[0])
    if place != "0":
        given = handed(view, call, place)
        return given is not None and given.op == "op" and given.text == "+" and given.parts[0].dotted() == place
    rests = [handed(view, call, load.base) for load in pair]
    return all(
        rest is not None and any(found.base == load.base and _is_rest(found) for found in view.loads_of(rest))
        for rest, load in zip(rests, pair, strict=True)
    )


def _is_rest(load: Load) -> bool:
    key = load.keys[0]
    return key.op == "slice" and key.parts[0].op == "const" and key.parts[0].text == "1" and key.parts[1].op == "none"


def _given_otherwise(view: View, compare: Term, calls: list[Term]) -> Iterator[Term]:
    """What the function gives back, hands out or appends where two tokens do not match, or whether they do or not."""
    holds = compare.text == "=="
    given = [(step.term, step) for step in view.steps if step.term.op == "return" or _is_yielded(step.term)]
    given += [(store.value, store.step) for store in view.stores()]
    for value, step in given:
        if any(guard.holds is holds and view.holds(guard.test, compare) for guard in step.guards):
            continue
        arms = [part.parts[2 if holds else 1] for part in _selections(view, step, compare)]
        for term in arms or [value]:
            if not any(inner is call for inner in term.walk() for call in calls):
                yield term


def _is_yielded(term: Term) -> bool:
    return term.op == "do" and term.parts[0].op == "yield"


def _reads(view: View, given: Term, pair: tuple[Load, Load]) -> bool:
    """Whether the head of one of two sequences is given back."""
    place = _place(pair[0])
    return any(load.base in bases(pair) and _place(load) == place for load in view.loads_behind(given))


# Walks


def _asked_at(view: View, side: Term) -> set[str]:
    """The parameters at which a token is read, `token[kid]`, or whose field it is."""
    inner = bare(side)
    owners = {inner.parts[0].dotted()} if inner.op == "attr" else set()
    return (owners | {name for load in view.loads_of(side) for key in load.keys for name in names_in(key)}) & set(
        view.params
    )


def _is_name(view: View, call: Term, parameter: str, name: str) -> bool:
    given = handed(view, call, parameter)
    return given is not None and given.dotted() == name


def _leads_on(view: View, call: Term, kid: str) -> bool:
    """Whether a child's place is given to what is found by the child: `next[kid]`, `kid.next`."""
    given = handed(view, call, kid)
    return given is not None and given.dotted() != kid and kid in names_in(given)
