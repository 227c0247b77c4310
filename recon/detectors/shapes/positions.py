"""Position ids of a draft tree: a node's place is the length before the tree and its depth, not its index."""

from collections.abc import Iterator

from recon.detectors.shapes.flow import View
from recon.detectors.shapes.laid import Definition, Store, within
from recon.detectors.shapes.terms import Load, arguments, bare, callee, loads, names_in, subject
from recon.index.sighting import Sighting
from recon.index.term import Term

_SPREADS = frozenset({"repeat_interleave", "repeat", "expand", "tile", "broadcast_to", "expand_as"})
_REPEATS = frozenset({"repeat", "repeat_interleave"})
_SUMS = frozenset({"sum", "popc", "count_nonzero", "popcount", "__popc", "__popcll", "bit_count"})


def depth_positions(view: View) -> Iterator[Sighting]:
    """A sum of a length and a node's depth: climbed, counted in a row of ancestors, or taken from its parent's."""
    tables = {store.base for store in view.stores() if _deepens(view, store)}
    for line, value in _written(view, tables):
        for left, right in _sums(view, value):
            for depth, length in ((left, right), (right, left)):
                how = _depth(view, depth, tables)
                if how and _is_length(view, length, depth):
                    yield Sighting("depth", line, f"each node's position is the length before the tree and {how}")
                    return


def _written(view: View, tables: set[str]) -> Iterator[tuple[int, Term]]:
    """Values that are stored; where there is a table of depths also those that are named or given back."""
    for store in view.stores():
        yield store.step.term.line, store.value
    for step in view.steps if tables else ():
        if step.term.op in ("assign", "return") and step.term.parts:
            yield step.term.line, step.term.parts[-1]


def _deepens(view: View, store: Store) -> bool:
    """`depth[i] = depth[parent[i]] + 1`."""
    pairs = [pair for left, right in _sums(view, store.value) for pair in ((left, right), (right, left))]
    return any(one.op == "const" and one.text == "1" and _is_above(view, store, above) for above, one in pairs)


def level_positions(view: View) -> Iterator[Sighting]:
    """A loop over levels in which all nodes of a level get one position, and a model is run on them."""
    for spread, step in view.calls(*_SPREADS):
        for loop in step.loops:
            if loop.op != "for" or not step.loops or spread.parts[0].op != "attr":
                continue
            level = names_in(loop.parts[0])
            raised = [
                part for part in view.behind(spread.parts[0].parts[0], loop).values() if _is_raised(view, part, level)
            ]
            if raised and _is_run(view, raised[0], spread, loop):
                note = "all nodes of a level get the position of their level while the draft grows"
                yield Sighting("level", raised[0].line, note)
                return


def linear_positions(view: View) -> Iterator[Sighting]:
    """Positions counted through: the computed length of each token's request and the token's index in it."""
    sums = [(part.parts, part.line) for step in view.steps for part in step.terms if _is_sum(part)]
    sums += [(call.parts[1:3], call.line) for call, _ in view.calls("add") if len(call.parts) > 2]
    for parts, line in sums:
        lengths = [load for load in loads(parts[0], deep=False) if len(load.keys) == 1]
        repeated = [load for load in lengths if any(view.calls_behind(load.keys[0], _REPEATS))]
        if repeated and not any(view.calls_behind(parts[1], _REPEATS)):
            note = "each token's position is the computed length of its request and its index behind it"
            yield Sighting("linear", line, note)
            return


def _is_sum(term: Term) -> bool:
    return term.op == "op" and term.text == "+"


# Depth of a node


def _sums(view: View, value: Term) -> Iterator[tuple[Term, Term]]:
    """The sums that a value may be, through casts and names."""
    stack, seen = [value], set[int]()
    while stack:
        current = bare(stack.pop())
        if id(current) in seen:
            continue
        seen.add(id(current))
        if current.op == "op" and current.text == "+":
            yield current.parts[0], current.parts[1]
        elif current.op == "op" and current.text == "-" and current.parts[1].op == "const":
            stack.append(current.parts[0])
        elif current.op in ("name", "select", "item"):
            strong = [one.value for one in view.definitions.get(current.dotted(), ()) if not one.weak]
            stack += strong if current.op == "name" else current.parts[1:]
        elif callee(current) == "where":
            stack += current.parts[2:]


def _depth(view: View, term: Term, tables: set[str]) -> str:
    """How a term counts a node's ancestors; '' if it does not."""
    if subject(term) in tables:
        return "its depth, one more than its parent's"
    name = bare(term).dotted()
    for definition in view.definitions.get(name, ()) if name else ():
        if not definition.weak and _counts_up(definition, name):
            for loop in definition.step.loops:
                if view.chased(loop) or view.sought(loop):
                    return "its depth, found by climbing from parent to parent"
                if _counts_marks(view, definition, loop):
                    return "its depth, counted in its row of the ancestor mask"
    for source in view.sources(term):
        if callee(source) in _SUMS and _is_over_square(view, source):
            return "its depth, counted in its row of the ancestor mask"
    return ""


def _counts_up(definition: Definition, name: str) -> bool:
    value = definition.value
    return value.op == "op" and value.text == "+" and value.parts[0].dotted() == name and value.parts[1].text == "1"


def _counts_marks(view: View, definition: Definition, loop: Term) -> bool:
    """Whether a loop counts under a test of an entry of a square table."""
    rounds = names_in(loop.parts[0]) if loop.op == "for" else view.set_in(loop)
    tests = [guard.test for guard in definition.step.guards]
    found = [load for test in tests for load in loads(test)]
    return any(_is_square(view, load) and any(rounds & names_in(key) for key in load.keys) for load in found)


def _is_over_square(view: View, call: Term) -> bool:
    """Whether a sum runs along one axis of a square table: nodes by nodes."""
    if not any(_is_axis(part) for part in call.parts[1:]):
        return False
    return any(_is_square(view, load) for part in arguments(call) for load in view.loads_behind(part)) or any(
        _is_square_view(each) for part in arguments(call) for each in view.behind(part).values()
    )


def _is_axis(part: Term) -> bool:
    value = part.parts[0] if part.op == "kw" and part.text in ("axis", "dim") else part
    value = value.parts[0] if value.op == "neg" else value
    return value.op == "const" and value.text.lstrip("-").isdigit()


def _is_square(view: View, load: Load) -> bool:
    """Whether an address is made with a size that is multiplied with itself: so many rows of so many columns."""
    parts = [part for key in load.keys for part in view.behind(key).values()]
    return any(part.op == "op" and part.text == "*" and part.parts[0] == part.parts[1] for part in parts)


def _is_square_view(term: Term) -> bool:
    """`mask.view(b, n, n)`."""
    sizes = term.parts[1:]
    if callee(term) not in ("view", "reshape") or len(sizes) < 2:
        return False
    return bool(names_in(sizes[-1])) and sizes[-1].dotted() == sizes[-2].dotted() != ""


def _is_length(view: View, term: Term, depth: Term) -> bool:
    """Whether a term is given for the request: loaded, or handed over, and no part of the depth."""
    if term.op == "const":
        return False
    own = {id(load.term) for load in view.loads_behind(depth)}
    found = view.loads_of(term)
    if found:
        return all(id(load.term) not in own for load in found)
    return bool(names_in(term) & set(view.params))


def _is_above(view: View, store: Store, term: Term) -> bool:
    """Whether a term is the entry of the written table at a place that was looked up at the node."""
    loop = store.step.loops[-1] if store.step.loops else None
    if any(view.loads_behind(key, loop) for key in store.keys):
        return False  # a counter that is raised somewhere, not a node's own entry
    above = [load for load in view.loads_of(term, loop) if view.root(load.base) == store.base]
    return any(
        view.root(inner.base) != store.base for load in above for key in load.keys for inner in view.loads_of(key, loop)
    )


# Levels


def _is_raised(view: View, term: Term, level: set[str]) -> bool:
    """`positions + level`, or `positions + (level + 1)`, the positions those from before the loop."""
    if term.op != "op" or term.text != "+":
        return False
    for base, step in (term.parts, term.parts[::-1]):
        if names_in(step) & level and base.dotted() and not names_in(base) & level and not view.loads_of(step):
            return base.op in ("name", "attr")
    return False


def _is_run(view: View, raised: Term, spread: Term, loop: Term) -> bool:
    """Whether a model is run in the loop on the positions that were spread over a level."""
    for step in view.steps:
        if within(step, loop):
            for call in step.terms:
                if call.op == "call" and call.parts[0].op in ("attr", "name") and len(call.parts) > 2:
                    behind = [part for part in call.parts[1:] if view.holds(part, raised, loop)]
                    if any(part.op == "kw" or view.holds(part, spread, loop) for part in behind):
                        return True
    return False
