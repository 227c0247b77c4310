"""Acceptance along a chain of draft tokens: one candidate a position, and nothing after the first refusal."""

from collections.abc import Iterator

from recon.detectors.shapes.flow import View
from recon.detectors.shapes.laid import Step, Store, within
from recon.detectors.shapes.recursion import recurring_chains
from recon.detectors.shapes.spread import is_of_one_row
from recon.detectors.shapes.terms import (
    EQUALITY,
    SCANS,
    Load,
    arguments,
    bare,
    callee,
    is_constant,
    loads,
    names_in,
    subject,
)
from recon.index.sighting import Sighting
from recon.index.term import Term

FIRST = frozenset(
    [
        *("min", "argmin", "argmax", "max", "nonzero", "amin", "amax", "index", "minimum", "flatnonzero", "argwhere"),
        *("__ffs", "__ffsll", "__clz", "__clzll", "ffs", "ctz", "__builtin_ctz"),
    ]
)
"""Reductions that find the first mismatch in a vector of matches."""


def greedy_chains(view: View) -> Iterator[Sighting]:
    """Forms of acceptance of a chain by equality with the target's choice."""
    yield from recurring_chains(view)
    for compare, step in view.compares():
        if compare.text not in EQUALITY:
            continue
        pair = _two_sequences(view, compare, step)
        if pair is None:
            continue
        stop = stop_of(view, compare, step)
        if not stop or not _emits(view, compare, pair, step):
            continue
        yield Sighting(
            f"chain.{stop}",
            compare.line,
            f"each drafted token is compared with the target's choice at its position, {_STOPS[stop]}, and the "
            "target's token is emitted there",
        )
        return


def leading_counts(view: View) -> Iterator[Sighting]:
    """Accepted lengths that are handed back alone: whoever asked takes the tokens."""
    if any(greedy_chains(view)):
        return
    for compare, step in view.compares():
        if compare.text not in EQUALITY or _two_sequences(view, compare, step) is None:
            continue
        stop = stop_of(view, compare, step)
        if (stop in ("product", "scan") and _counts(view, compare)) or (stop and _stores_count(view, compare, step)):
            yield Sighting(
                "leading", compare.line, "leading matches of two token sequences are counted and handed back"
            )
            return


_STOPS = {
    "flag": "a flag ends acceptance at the first mismatch",
    "break": "the loop ends at the first mismatch",
    "product": "a running product keeps only the leading matches",
    "scan": "a scan over the matches keeps only the leading ones",
    "first": "the place of the first mismatch is the accepted length",
}


def _two_sequences(view: View, compare: Term, step: Step) -> set[str] | None:
    """Bases of the two token sequences that a comparison pairs off, position by position."""
    sides = _compared(compare)
    if any(side.op == "const" or _is_computed(view, side) for side in sides):
        return None
    loop = step.loops[-1] if step.loops else None
    left, right = (_sequence(view, side, loop) for side in sides)
    if not left or not right or left & right or _is_looked_up(view, compare, loop) or _is_of_best(view, compare):
        return None
    if loop is not None and view.chased(step.loops[0]):
        chased = view.chased(step.loops[0])
        found = [load for side in compare.parts for load in view.loads_of(side, loop)]
        if any(view.depends(load, name, step.loops[0]) for load in found for name in chased):
            return None  # a walk, not a chain
    return left | right


def _compared(compare: Term) -> tuple[Term, ...]:
    """What a comparison sets side by side: of `(a - b) != 0` a and b."""
    left, right = compare.parts
    is_difference = left.op == "op" and left.text == "-" and right.op == "const" and right.text in ("0", "0.0")
    return left.parts if is_difference else compare.parts


def _is_computed(view: View, side: Term) -> bool:
    """Whether a side is a difference, a product or a quotient of two things: a number, no token."""
    values = [d.value for d in view.definitions.get(bare(side).dotted(), ()) if not d.weak] or [side]
    return all(
        value.op == "op" and value.text in ("-", "*", "/", "//", "%") and not any(map(is_constant, value.parts))
        for value in map(bare, values)
    )


def _is_of_best(view: View, compare: Term) -> bool:
    """Whether many rows are held against one, and the row that agrees longest is sought: a choice among answers."""
    return is_of_one_row(view, compare) and any(
        callee(term) in SCANS and view.holds(term, compare)
        for best, _ in view.calls("argmax", "topk", "argsort", "sort")
        for term in view.behind(best).values()
    )


def _is_looked_up(view: View, compare: Term, loop: Term | None) -> bool:
    """Whether one side is looked up by the other, `end[token] == token`, not read at the same position."""
    for ours, theirs in (compare.parts, compare.parts[::-1]):
        name = bare(ours).dotted()
        keys = [key for load in view.loads_of(theirs, loop) for key in load.keys]
        if _gone_through(view, ours, loop) and any(name in names_in(key) for key in keys):
            return True
    return False


def _sequence(view: View, side: Term, loop: Term | None) -> set[str]:
    """Where the tokens on one side come from: loads that move with the loop, or whole vectors outside of one."""
    if loop is None:
        found = {load.base for load in view.loads_of(side, None) if not _is_scalar_key(load)}
        names = {source.dotted() for source in view.sources(side) if source.op == "name"}
        return found | {name for name in names if name in view.params}
    rounds = moving(view, loop)
    loaded = {load.base for load in view.loads_of(side, loop) if any(view.depends(load, name, loop) for name in rounds)}
    return loaded | _gone_through(view, side, loop)


def _gone_through(view: View, side: Term, loop: Term | None) -> set[str]:
    """Sequences that a loop goes through element by element, the side being one: `for a, b in zip(x, y)`, `next(x)`."""
    found = view.definitions.get(bare(side).dotted(), ())
    each = [one.value for one in found if one.value.op == "each" and one.step.loops and one.step.loops[-1] is loop]
    given = [part for one in found if within(one.step, loop) for part in _drawn(view, one.value)] if loop else []
    return {subject(value) for value in (*(value.parts[0] for value in each), *given)} - {"", "range"}


def _drawn(view: View, value: Term) -> tuple[Term, ...]:
    """What `next` takes the next element of: `it = iter(x)`, `next(it)`."""
    if callee(value) != "next" or len(value.parts) != 2:
        return ()
    made = [each.value for each in view.definitions.get(value.parts[1].dotted(), ())]
    return made[0].parts[1:] if len(made) == 1 and callee(made[0]) == "iter" and len(made[0].parts) == 2 else ()


def _is_scalar_key(load: Load) -> bool:
    return all(key.op == "const" for key in load.keys)


def moving(view: View, loop: Term) -> set[str]:
    """Names that count a loop's rounds: its target, or a counter that the loop raises."""
    names = {part.dotted() for part in loop.parts[0].walk()} - {""} if loop.op == "for" else set()
    return names | view.counters(loop)


# What ends acceptance


def stop_of(view: View, compare: Term, step: Step) -> str:
    """How a mismatch ends acceptance; '' if it does not."""
    for call, _ in view.calls(*SCANS):
        if any(id(compare) in view.matches(part) and leads(view, call, part, compare) for part in arguments(call)):
            return "product" if callee(call) == "cumprod" else "scan"
    if step.loops:
        loop = step.loops[-1]
        if _ends_loop(view, compare, loop):
            return "break"
        if raises_flag(view, compare, step, loop):
            return "flag"
    return "first" if _is_first_sought(view, compare, step) else ""


def _is_first_sought(view: View, compare: Term, step: Step) -> bool:
    """Whether the place of the first mismatch is found: in a vector, by a ballot of threads, by a generator."""
    for call, at in view.calls(*FIRST, "where"):
        is_place = callee(call) != "where" or len(call.parts) == 2  # `where(wrong)[0]`
        if is_place and at.order >= step.order and any(id(compare) in view.matches(part) for part in arguments(call)):
            return True
    if any(view.guarded_by(at, compare) for _, at in view.calls("atomicMin", "atomic_min")):
        return True
    for call, _ in view.calls("next"):  # `next((i for i, (a, b) in enumerate(zip(x, y)) if a != b), len(x))`
        filters = [part for given in call.parts[1:2] if given.op == "comp" for part in given.parts if part.op == "if"]
        if compare.text == "!=" and any(each.parts[0] is compare for each in filters):
            return True
    return False


def leads(view: View, call: Term, part: Term, compare: Term) -> bool:
    """Whether a scan tells the leading matches from the rest, not the places before some token turns up."""
    is_match = (compare.text == "==") != view.negates(part, compare)
    if callee(call) != "cumsum" or not is_match:
        return is_match or callee(call) in ("cumsum", "cummax")
    return any(  # matches counted up so far, against the places so far
        term.text == "=="
        and any(view.holds(side, call) for side in term.parts)
        and all(s.op != "const" for s in term.parts)
        for term, _ in view.compares()
    )


def _ends_loop(view: View, compare: Term, loop: Term) -> bool:
    if loop.op == "while" and view.holds(loop.parts[0], compare, loop):
        return True
    return any(
        step.term.op in ("break", "return") and within(step, loop) and view.guarded_by(step, compare)
        for step in view.steps
    )


def raises_flag(view: View, compare: Term, step: Step, loop: Term) -> bool:
    """Whether a name set by the comparison keeps later rounds from accepting."""
    flags = {
        name
        for name in view.governed(compare)
        if any(not d.weak and within(d.step, loop) for d in view.definitions[name])
    }
    guards = {name for guard in step.guards for name in view.names_behind(guard.test, loop)}
    if step.term.op == "test":  # `if live and a[i] == b[i]: ... else: live = False`
        guards |= {name for name in names_in(step.term) if _is_switch(view, name, loop)}
    if flags & guards:
        return True
    return any(_is_conjunction(view, name, d.value, compare, loop) for name in flags for d in view.definitions[name])


def _is_switch(view: View, name: str, loop: Term) -> bool:
    """Whether a loop sets a name to nothing but true or false."""
    values = [d.value for d in view.definitions.get(name, ()) if within(d.step, loop)]
    return bool(values) and all(value.op == "const" for value in values)


def _is_conjunction(view: View, name: str, value: Term, compare: Term, loop: Term) -> bool:
    """`live = live & match`: the flag stays down once it is down."""
    if not view.holds(value, compare):
        return False
    for part in value.walk():
        joins = part.op in ("and", "or") or (part.op == "op" and part.text in ("&", "|", "*"))
        joins = joins or callee(part) in ("logical_and", "logical_or", "minimum", "where")
        others = [arm for arm in part.parts if joins and all(inner is not compare for inner in arm.walk())]
        if any(name in view.names_behind(arm, loop) for arm in others):
            return True
    return False


# What is emitted


def _emits(view: View, compare: Term, bases: set[str], step: Step) -> bool:
    """Whether one of the compared sequences is written out, or read at the place where acceptance ended."""
    governed = view.governed(compare)
    compared = view.behind(compare)
    for other in view.steps:
        for load in loads(other.term):
            if (
                load.base in bases
                and id(load.term) not in compared
                and any(_is_place(key, governed) for key in load.keys)
            ):
                return True
    if any(_writes(view, store, bases, governed, compare) for store in (*view.stores(), *_yielded(view))):
        return True
    if not step.loops and any(_selects(call, bases, governed) for call, _ in view.calls("where")):
        return True
    return not step.loops and _counts(view, compare, bases)


def _yielded(view: View) -> Iterator[Store]:
    """What a generator hands out, as it would be appended."""
    for step in view.steps:
        if step.term.op == "do" and step.term.parts[0].op == "yield":
            yield Store("", (), step.term.parts[0].parts[0], step)


def _is_place(key: Term, governed: set[str]) -> bool:
    """Whether a key is made of the accepted length itself: `n`, or `: n + 1`, which takes the next token too."""
    if key.op == "slice":
        end = key.parts[1]
        goes_on = end.op == "op" and end.text == "+" and any(part.op == "const" for part in end.parts)
        return goes_on and bool(governed & names_in(end))
    return bool(governed & names_in(key))


def _selects(call: Term, bases: set[str], governed: set[str]) -> bool:
    """`where(arange <= n, target, pad)`."""
    if len(call.parts) != 4:
        return False
    chosen = {name for part in call.parts[2:] for name in names_in(part)}
    return bool(chosen & bases) and bool(governed & names_in(call.parts[1]))


def _writes(view: View, store: Store, bases: set[str], governed: set[str], compare: Term) -> bool:
    loop = store.step.loops[-1] if store.step.loops else None
    written = {load.base for load in view.loads_of(store.value, loop)} | _gone_through(view, store.value, loop)
    if not written & bases:
        return False
    tests = [guard.test for guard in store.step.guards]
    tests += [part for part in store.step.terms if part.op == "kw"]  # the mask of a store
    tests += [part.parts[0] for part in store.value.walk() if part.op == "select"]
    guards = {name for test in tests for name in view.names_behind(test)}
    if guards & governed or view.guarded_by(store.step, compare):
        return True
    if loop is None or not _ends_on_mismatch(view, compare, loop):
        return False
    return not store.keys or any(moving(view, loop) & names_in(key) for key in store.keys)


def _ends_on_mismatch(view: View, compare: Term, loop: Term) -> bool:
    """Whether a loop is left where a token differs, and for no other outcome of the comparison.

    What the loop appends before is then the leading matches and the token that stands in the place of the first other.
    """
    for step in view.steps:
        refuses = step.term.op == "return" and step.term.parts and step.term.parts[0].op == "const"
        if step.term.op not in ("break", "return") or refuses or step.loops[-1:] != (loop,) or not step.guards:
            continue
        test, holds = step.guards[-1].test, step.guards[-1].holds
        while test.op == "not":
            test, holds = test.parts[0], not holds
        arms = [test]
        while holds and arms[-1].op == "or":  # `if i == n or a[i] != b[i]: break`
            arms += arms.pop().parts[::-1]
            if any(arm is compare for arm in arms):
                arms = [compare]
        if arms[-1] is compare and holds is (compare.text == "!="):
            return True
    return False


def _counts(view: View, compare: Term, beside: set[str] | None = None) -> bool:
    """Whether the number of leading matches is given back, as it is; with `beside`, together with such a sequence."""
    for step in view.steps:
        if step.term.op != "return" or not step.term.parts:
            continue
        given = step.term.parts[0].parts if step.term.parts[0].op == "tuple" else step.term.parts
        sums = [part for part in given if any(_is_count(view, source, compare) for source in view.sources(part))]
        if sums and (beside is None or any(subject(part) in beside for part in given if part not in sums)):
            return True
    return False


def _stores_count(view: View, compare: Term, step: Step) -> bool:
    """Whether a kernel writes the number of leading matches, one for each of its blocks."""
    blocks = any(view.calls("program_id")) or any(_BLOCK in names_in(each.term) for each in view.steps)
    counters = view.counters(step.loops[-1]) if step.loops else frozenset()
    for store in view.stores() if blocks else ():
        if step.loops and within(store.step, step.loops[-1]):
            continue
        sources = view.sources(store.value)
        if bare(store.value).dotted() in counters or any(_is_first_place(view, each, compare) for each in sources):
            return True
    return False


_BLOCK = "blockIdx.x"


def _is_first_place(view: View, source: Term, compare: Term) -> bool:
    """`min(where(match, n, place))`: nothing but what is compared has been read for it."""
    read = {id(load.term) for load in view.loads_behind(compare)}
    return callee(source) in FIRST and any(
        id(compare) in view.matches(part) and {id(load.term) for load in view.loads_behind(part)} <= read
        for part in arguments(source)
    )


def _is_count(view: View, source: Term, compare: Term) -> bool:
    """`match.cumprod(1).sum(1)`."""
    if callee(source) not in ("sum", "count_nonzero"):
        return False
    scans = [scan for scan in view.calls_behind(source, SCANS) if any(part.op != "kw" for part in arguments(scan))]
    return any(id(compare) in view.matches(part) for scan in scans for part in arguments(scan))
