"""Acceptance along a chain of draft tokens: one candidate a position, and nothing after the first refusal."""

from collections.abc import Iterator

from recon.detectors.shapes.flow import Step, Store, View, within
from recon.detectors.shapes.terms import (
    EQUALITY,
    MATHS,
    ORDER,
    SCANS,
    Load,
    arguments,
    bare,
    callee,
    is_opaque,
    is_random,
    loads,
    names_in,
    subject,
)
from recon.index.sighting import Sighting
from recon.index.term import Term

FIRST = frozenset({"min", "argmin", "argmax", "max", "nonzero", "amin", "amax", "index", "minimum"})
"""Reductions that find the first mismatch in a vector of matches."""


def greedy_chains(view: View) -> Iterator[Sighting]:
    """Forms of acceptance of a chain by equality with the target's choice."""
    for compare, step in view.compares():
        if compare.text not in EQUALITY:
            continue
        pair = _two_sequences(view, compare, step)
        if pair is None:
            continue
        stop = _stop(view, compare, step)
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
        is_pair = compare.text in EQUALITY and _two_sequences(view, compare, step) is not None
        if is_pair and _stop(view, compare, step) in ("product", "scan") and _counts(view, compare):
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
    if any(side.op == "const" for side in compare.parts):
        return None
    loop = step.loops[-1] if step.loops else None
    left, right = (_sequence(view, side, loop) for side in compare.parts)
    if not left or not right or left & right or _is_looked_up(view, compare, loop):
        return None
    if loop is not None and view.chased(step.loops[0]):
        chased = view.chased(step.loops[0])
        sides = [load for side in compare.parts for load in view.loads_of(side, loop)]
        if any(view.depends(load, name, step.loops[0]) for load in sides for name in chased):
            return None  # a walk, not a chain
    return left | right


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
    """Sequences that a loop goes through element by element, the side being one: `for a, b in zip(x, y)`."""
    found = view.definitions.get(bare(side).dotted(), ())
    each = [one.value for one in found if one.value.op == "each" and one.step.loops[-1:] == (loop,)]
    return {subject(value.parts[0]) for value in each} - {"", "range"}


def _is_scalar_key(load: Load) -> bool:
    return all(key.op == "const" for key in load.keys)


def moving(view: View, loop: Term) -> set[str]:
    """Names that count a loop's rounds: its target, or a counter that the loop raises."""
    names = {part.dotted() for part in loop.parts[0].walk()} - {""} if loop.op == "for" else set()
    return names | view.counters(loop)


# What ends acceptance


def _stop(view: View, compare: Term, step: Step) -> str:
    """How a mismatch ends acceptance; '' if it does not."""
    for call, _ in view.calls(*SCANS):
        if any(id(compare) in view.matches(part) for part in arguments(call)):
            return "product" if callee(call) == "cumprod" else "scan"
    if step.loops:
        loop = step.loops[-1]
        if _ends_loop(view, compare, loop):
            return "break"
        if _raises_flag(view, compare, step, loop):
            return "flag"
    for call, at in view.calls(*FIRST):
        if at.order >= step.order and any(id(compare) in view.matches(part) for part in arguments(call)):
            return "first"
    return ""


def _ends_loop(view: View, compare: Term, loop: Term) -> bool:
    if loop.op == "while" and view.holds(loop.parts[0], compare, loop):
        return True
    return any(
        step.term.op in ("break", "return") and within(step, loop) and view.guarded_by(step, compare)
        for step in view.steps
    )


def _raises_flag(view: View, compare: Term, step: Step, loop: Term) -> bool:
    """Whether a name set by the comparison keeps later rounds from accepting."""
    flags = {
        name
        for name in view.governed(compare)
        if any(not d.weak and within(d.step, loop) for d in view.definitions[name])
    }
    guards = {name for guard in step.guards for name in view.names_behind(guard.test, loop)}
    if flags & guards:
        return True
    return any(_is_conjunction(view, name, d.value, compare) for name in flags for d in view.definitions[name])


def _is_conjunction(view: View, name: str, value: Term, compare: Term) -> bool:
    """`live = live & match`: the flag stays down once it is down."""
    if not view.holds(value, compare):
        return False
    for part in value.walk():
        joins = part.op in ("and", "or") or (part.op == "op" and part.text in ("&", "|", "*"))
        joins = joins or callee(part) in ("logical_and", "logical_or", "minimum", "where")
        if joins and name in {inner.dotted() for inner in part.walk()}:
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
    if any(_writes(view, store, bases, governed, compare) for store in view.stores()):
        return True
    return not step.loops and _counts(view, compare, bases)


def _is_place(key: Term, governed: set[str]) -> bool:
    """Whether a key is made of the accepted length itself: `n`, or `: n + 1`, which takes the next token too."""
    if key.op == "slice":
        end = key.parts[1]
        goes_on = end.op == "op" and end.text == "+" and any(part.op == "const" for part in end.parts)
        return goes_on and bool(governed & names_in(end))
    return bool(governed & names_in(key))


def _writes(view: View, store: Store, bases: set[str], governed: set[str], compare: Term) -> bool:
    loop = store.step.loops[-1] if store.step.loops else None
    written = {load.base for load in view.loads_of(store.value, loop)} | _gone_through(view, store.value, loop)
    if not written & bases:
        return False
    guards = {name for guard in store.step.guards for name in view.names_behind(guard.test)}
    if guards & governed or view.guarded_by(store.step, compare):
        return True
    return loop is not None and not store.keys and _ends_on_mismatch(view, compare, loop)


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
        if test is compare and holds is (compare.text == "!="):
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


def _is_count(view: View, source: Term, compare: Term) -> bool:
    """`match.cumprod(1).sum(1)`."""
    if callee(source) not in ("sum", "count_nonzero"):
        return False
    scans = [scan for scan in view.calls_behind(source, SCANS) if any(part.op != "kw" for part in arguments(scan))]
    return any(id(compare) in view.matches(part) for scan in scans for part in arguments(scan))


# Stochastic acceptance


def stochastic_chains(view: View) -> Iterator[Sighting]:
    """Forms of rejection sampling: p(token) against u · q(token), as a ratio, a product or in logarithms."""
    for compare, step in view.compares():
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
        if not _stop(view, compare, step) and (step.loops or not _share_vector(*pair)):
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
    first, second = (
        {id(inner.term): inner for key in load.keys for inner in view.loads_behind(key, loop)} for load in (one, other)
    )
    rounds = moving(view, loop) if loop is not None else set()
    for key in first.keys() & second.keys():
        token = first[key]
        is_vector = loop is None and any(True for part in token.keys for _ in view.calls_behind(part, ("arange",)))
        at_position = is_vector or (loop is not None and any(view.depends(token, name, loop) for name in rounds))
        if at_position and token.base not in (one.base, other.base):
            return True
    return False


def _share_vector(one: Load, other: Load) -> bool:
    """`p[rows, ids]` and `q[rows, ids]`, or two gathers by the same ids."""
    if len(one.keys) < 2 or len(other.keys) < 2:
        return False
    left, right = one.keys[-1], other.keys[-1]
    names = {part.dotted() for part in left.walk()} - {""}
    return bool(names) and left.op != "slice" and names == {part.dotted() for part in right.walk()} - {""}


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


_LOGARITHMS = frozenset({"log", "log2", "logf"})
_WEIGHING = frozenset({"log", "log2", "logf", "div", "true_divide", "mul", "exp"})


def _is_coin(operand: Term, lookups: set[str]) -> bool:
    """Whether an operand is a random number: a draw, or a number loaded beside the probabilities."""
    if is_random(operand) or is_opaque(operand) or operand.op == "name":
        return True
    return any(load.base not in lookups for load in loads(operand, deep=False))


# Synthetic acceptance


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
        if _raises_flag(view, compare, step, loop) and _chooses_token(view, compare, loop):
            yield Sighting(
                "synthetic.rate",
                compare.line,
                "a drafted token is accepted when a random number lies below a rate given for its position, whatever "
                "the probabilities are",
            )
            return


def _is_number(view: View, operand: Term, loop: Term) -> bool:
    """A draw, or a number loaded at the loop's position."""
    if is_random(operand) or is_opaque(operand):
        return True
    rounds = moving(view, loop)
    return any(view.depends(load, name, loop) for load in loads(operand, deep=False) for name in rounds)


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
