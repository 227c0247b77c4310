"""Building a draft tree by choice: each step takes the best nodes by the scores or counts of their paths.

Linking what was chosen (children, siblings, a mask) chooses nothing.
"""

from collections.abc import Iterator
from itertools import islice

from recon.detectors.shapes.algebra import alike
from recon.detectors.shapes.flow import View
from recon.detectors.shapes.laid import Step, Store, within
from recon.detectors.shapes.terms import ORDER, Load, arguments, callee, is_constant, loads, names_in, subject
from recon.index.sighting import Sighting
from recon.index.term import Term

_JOINS = frozenset({"cat", "concat", "concatenate", "hstack", "stack", "vstack"})
_BESTS = frozenset({"max", "argmax", "amax", "topk", "reduce_max", "max_element", "ArgMax"})
_PUSHES = frozenset({"heappush", "push", "emplace", "put", "heappushpop", "heapreplace", "put_nowait"})
_POPS = frozenset({"heappop", "pop", "top", "get", "front", "get_nowait", "popleft"})


def tree_choices(view: View) -> Iterator[Sighting]:
    """Code that chooses the nodes of a draft tree, or links chosen ones."""
    yield from _selections(view)
    yield from _expansions(view)
    for find in (_best_first, _queues, _links):
        yield from islice((found for loop in _loops(view) for found in find(view, loop)), 1)


def _loops(view: View) -> list[Term]:
    return list({id(loop): loop for step in view.steps for loop in step.loops}.values())


# Selection over all levels: topk(cat(scores)) picks from cat(tokens), with the parents beside them


def topks(view: View) -> list[tuple[Term, Step]]:
    """Every call that takes the k best, each with its step."""
    return [
        (term, step)
        for step in view.steps
        for term in step.terms
        if term.op == "call" and callee(term).endswith(("topk", "top_k"))
    ]


def _selections(view: View) -> Iterator[Sighting]:
    joined = [(call, _joined(call)) for call, _ in view.calls(*_JOINS)]
    for top, _ in topks(view) if len(joined) > 1 else ():
        scores = {base for call, base in joined if _given_holds(view, top, call)}
        if not scores:
            continue
        picked = {
            base
            for load, call, base in _picks(view, top, joined)
            if base not in scores and not view.holds(top, call) and load
        }
        parents = {base for _, base in joined} - scores - picked
        if picked and (parents or _is_divided(view, top)):
            note = (
                "the best of all drafted nodes are selected by the scores of their paths, and their tokens and parents "
                "are gathered"
            )
            yield Sighting("build.select", top.line, note)
            return


def _joined(call: Term) -> str:
    """What a concatenation joins, by name."""
    given = [part for part in arguments(call) if part.op != "kw" and part.dotted() not in ("torch", "np", "jnp")]
    return subject(given[0]) or "".join(sorted(names_in(given[0]))) if given else ""


def _given_holds(view: View, call: Term, part: Term) -> bool:
    """Whether a concatenation has a part in what a call works on, its first operand."""
    given = [one for one in arguments(call) if one.op != "kw" and one.dotted() not in ("torch", "np")]
    return bool(given) and view.holds(given[0], part)


def _picks(view: View, top: Term, joined: list[tuple[Term, str]]) -> Iterator[tuple[Load, Term, str]]:
    """Reads by what a top-k chose, from what was joined."""
    for step in view.steps:
        for load in loads(step.term):
            if not any(view.holds(key, top) for key in load.keys):
                continue
            for call, base in joined:
                values = [d.value for d in view.definitions.get(load.base, ()) if not d.weak]
                if any(view.holds(value, call) for value in values) or any(p is call for p in load.term.walk()):
                    yield load, call, base


def _is_divided(view: View, top: Term) -> bool:
    """Whether the places that a top-k gives are divided: place // width is the parent."""
    return any(
        part.op == "op" and part.text in ("//", "/") and view.holds(part.parts[0], top)
        for step in view.steps
        for part in step.terms
    ) or any(view.holds(call, top) for call, _ in view.calls("floor_divide", "div", "divmod"))


# Growth by one level: topk(parent's score * child's score), the tokens gathered, the parents by division


def _expansions(view: View) -> Iterator[Sighting]:
    for top, _ in topks(view):
        given = [one for one in arguments(top) if one.op != "kw" and one.dotted() not in ("torch", "np")]
        if not given or not any(_is_path_score(part) for part in view.behind(given[0]).values()):
            continue
        reads = [load for step in view.steps for load in loads(step.term) if _is_by(view, load, top)]
        scored = view.names_behind(given[0])
        if any(load.base not in scored for load in reads) and _is_divided(view, top) and not _is_wrapped(view, top):
            note = (
                "the next level keeps the best children of all branches by the score of their path, parent's times "
                "child's"
            )
            yield Sighting("build.expand", top.line, note)
            return


def _is_path_score(term: Term) -> bool:
    """`scores[..., None] * child_scores`, or their sum in logarithms: one side spread over the other's children."""
    if term.op == "op" and term.text in ("*", "+"):
        sides = term.parts
    elif callee(term) in ("mul", "add", "multiply"):
        sides = tuple(part for part in arguments(term) if part.op != "kw" and part.dotted() not in ("torch", "np"))
    else:
        return False
    if len(sides) != 2 or any(is_constant(side) for side in sides) or not all(map(names_in, sides)):
        return False
    return any(_is_spread(side) for side in sides)


def _is_spread(side: Term) -> bool:
    """Whether a score is repeated along a new last axis; along a new first one it would be a bias for all rows."""
    if side.op == "index":
        return any(key.op == "const" and key.text == "None" for key in side.parts[2:])
    if callee(side) not in ("unsqueeze", "expand_dims"):
        return callee(side) == "repeat_interleave"
    return not (side.parts[-1].op == "const" and side.parts[-1].text == "0")


def _is_by(view: View, load: Load, top: Term) -> bool:
    return any(key.op != "slice" and view.holds(key, top) for key in load.keys)


def _is_wrapped(view: View, top: Term) -> bool:
    """`place % vocabulary`: a beam search, whose candidates are all tokens of all beams."""
    return any(
        part.op == "op" and part.text == "%" and view.holds(part.parts[0], top)
        for step in view.steps
        for part in step.terms
    ) or any(view.holds(call, top) for call, _ in view.calls("remainder", "fmod", "divmod"))


# Best first in place: score[new] = score[parent] + gain, with the parent found by a maximum over those very scores


def _best_first(view: View, loop: Term) -> Iterator[Sighting]:
    stores = [store for store in view.stores() if within(store.step, loop)]
    counters = _counters(view, loop) if len(stores) > 1 else set[str]()
    tables = {store.base for store in stores if any(counters & names_in(key) for key in store.keys)}
    if len(tables) < 2:  # the scores, and what was chosen
        return
    for best, step in view.calls(*_BESTS):
        scored = _scored_by(view, best, loop) & tables if within(step, loop) else set()
        chosen = view.governed(best) if scored else set()
        for store in view.stores() if scored else ():
            if store.base in scored and within(store.step, loop) and _is_raised_score(view, store, loop, chosen):
                note = (
                    "the best node by the score of its path is added to the tree, again and again, and its own score "
                    "becomes its children's"
                )
                yield Sighting("build.best", best.line, note)
                return


def _counters(view: View, loop: Term) -> set[str]:
    """Names that count a loop's rounds, or that it raises by one."""
    found = {part.dotted() for part in loop.parts[0].walk()} - {""} if loop.op == "for" else set()
    for step in view.steps:
        if within(step, loop):
            found |= {part.parts[0].dotted() for part in step.terms if part.op == "assign" and _is_rise(part)} - {""}
    return found


def _is_rise(term: Term) -> bool:
    """Whether an assignment is `n += 1`, `n++`, `n = n + 1`."""
    if len(term.parts) != 2:
        return False
    target, value = term.parts
    if term.text == "+":
        return is_constant(value)
    return value.op == "op" and value.text == "+" and alike(value.parts[0], target) and is_constant(value.parts[1])


def _scored_by(view: View, call: Term, loop: Term) -> set[str]:
    """Tables whose entries, raised by something, a maximum is taken over."""
    found = set()
    for part in [one for given in arguments(call) for one in view.behind(given, loop).values()]:
        if _is_raise(part):
            for side in part.parts:
                found |= {view.root(load.base) for load in view.loads_of(side, loop)}
    return found


def _is_raised_score(view: View, store: Store, loop: Term, chosen: set[str]) -> bool:
    """Whether what is stored is read from the same table at a place that the maximum chose, and raised."""
    for part in view.behind(store.value, loop).values():
        for side in part.parts if _is_raise(part) else ():
            for load in view.loads_of(side, loop):
                at_choice = any(chosen & view.names_behind(key, loop) for key in load.keys)
                if view.root(load.base) == store.base and at_choice:
                    return True
    return False


# Best first by a queue: take the best open node, give it a number, push its children with its score times theirs


def _queues(view: View, loop: Term) -> Iterator[Sighting]:
    popped = {_queue(call) for call, step in view.calls(*_POPS) if within(step, loop)} - {""}
    if not popped:
        return
    pushed = {_queue(call) for call, _ in view.calls(*_PUSHES)} & popped
    helpers = [(name, body) for name, body in _helpers(view) if any(_pushes(part) & popped for part in body.walk())]
    if not helpers and not (pushed and _multiplies(view, pushed, loop)):
        return
    numbers = _numbers(view, loop)
    for line, given, raises in _pushed(view, pushed, helpers, loop) if numbers else ():
        if raises and numbers & given:
            note = (
                "open nodes are taken from a queue and numbered, and their children are pushed with a score or breadth "
                "made of theirs, up to a number of nodes"
            )
            yield Sighting("build.queue", line, note)
            return


def _queue(call: Term) -> str:
    """The queue that a call pushes to or pops from: its receiver, or the first argument of a function of `heapq`."""
    function = call.parts[0]
    if callee(call).startswith("heap"):
        return call.parts[1].dotted() if len(call.parts) > 1 else ""
    return function.parts[0].dotted() if function.op == "attr" else ""


def _multiplies(view: View, queues: set[str], loop: Term) -> bool:
    """Whether one node taken gives several: what is put back once a round (a bin with more load) is no child."""
    taken = [step for call, step in view.calls(*_POPS) if within(step, loop) and _queue(call) in queues]
    given = [step for call, step in view.calls(*_PUSHES) if within(step, loop) and _queue(call) in queues]
    deepest = max((len(step.loops) for step in taken), default=0)
    return len(given) > 1 or any(len(step.loops) > deepest or _holds_loop(step.term) for step in given)


def _holds_loop(term: Term) -> bool:
    return any(part.op == "comp" for part in term.walk())


def _pushes(term: Term) -> set[str]:
    return {_queue(term)} if callee(term) in _PUSHES else set()


def _numbers(view: View, loop: Term) -> set[str]:
    """Names that number the nodes: a counter that ends the loop at a budget, a list's length, and what is set to it."""
    counters = _counters(view, loop)
    counters |= {call.parts[1].dotted() for call, step in view.calls("len") if within(step, loop) and call.parts[1:]}
    compared = [names_in(compare) for compare, step in view.compares() if compare.text in ORDER and within(step, loop)]
    bounded = (counters - {""}) & set().union(*compared)
    if loop.op == "for" and callee(loop.parts[1]) in ("range", "static_range"):
        bounded |= names_in(loop.parts[0])
    set_to = {
        name
        for name, definitions in view.definitions.items()
        for definition in definitions
        if within(definition.step, loop) and bounded & names_in(definition.value)
    }
    return bounded | set_to if bounded else set()


def _pushed(
    view: View, queues: set[str], helpers: list[tuple[str, Term]], loop: Term
) -> Iterator[tuple[int, set[str], bool]]:
    """Of each push in a loop, or in a helper that it calls: the line, names in what is pushed, whether scores join."""
    for call, step in view.calls(*_PUSHES):
        if within(step, loop) and _queue(call) in queues:
            given = [part for part in call.parts[1:] if part.dotted() not in queues]
            raises = any(_is_raise(part) for one in given for part in view.behind(one, loop).values())
            yield call.line, set().union(*map(names_in, given)), raises
    for name, body in helpers:
        raises = any(_is_raise(part) for part in body.walk())
        for call, step in view.calls(name):
            if within(step, loop):
                yield call.line, set().union(*map(names_in, call.parts[1:])), raises


def _helpers(view: View) -> Iterator[tuple[str, Term]]:
    """Functions inside the function, by name."""
    for name, definitions in view.definitions.items():
        for definition in definitions:
            if definition.value.op == "lambda":
                yield name, definition.value
    for term in view.body.walk():
        if term.op == "def" and term is not view.body:
            yield term.text, term


def _is_raise(term: Term) -> bool:
    """A score joined with another: a product, or a sum of logarithms."""
    return (
        term.op == "op"
        and term.text in ("*", "+", "-")
        and not any(is_constant(side) for side in term.parts)
        and all(map(names_in, term.parts))
    )


# Linking a selection: old = child[parent]; child[parent] = i; sibling[i] = old


def _links(view: View, loop: Term) -> Iterator[Sighting]:
    stores = [store for store in view.stores() if within(store.step, loop)]
    for sibling in stores:
        for load in view.loads_of(sibling.value, loop):
            child = view.root(load.base)
            if child == sibling.base or any(key.op == "slice" for key in load.keys):
                continue
            for other in stores:
                node = other.value.dotted()
                is_child = other.base == child and node and _is_at(sibling, node) and not _is_at(other, node)
                if is_child and other is not sibling and _is_same_place(other, load):
                    note = "a given selection of nodes is linked: each becomes its parent's child, or a sibling"
                    yield Sighting("build.links", sibling.step.term.line, note)
                    return


def _is_at(store: Store, name: str) -> bool:
    """Whether a store's address holds a name."""
    return any(name in names_in(key) for key in store.keys)


def _is_same_place(store: Store, load: Load) -> bool:
    """Whether a store writes where a load has read."""
    mine = set().union(*(names_in(key) for key in store.keys)) if store.keys else set()
    other = set().union(*(names_in(key) for key in load.keys)) if load.keys else set()
    return bool(mine & other)
