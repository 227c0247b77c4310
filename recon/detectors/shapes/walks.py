"""Walks over a tree of draft tokens: the forms that acceptance of a tree takes in code.

What separates a tree from a chain: the place of the next node is loaded from memory at the current one; a sideways
search ends on a match; a table of paths is reduced by a maximum over paths; parents are compared with a node's index.
Look-alikes that accept nothing compare no drafted token with what the target chose at the very node of the walk:
grammar walks, radix and suffix trees, replays of tokens already accepted.
"""

from collections.abc import Iterator

from recon.detectors.shapes.flow import View
from recon.detectors.shapes.laid import Step, within
from recon.detectors.shapes.objects import object_walks
from recon.detectors.shapes.paths import best_paths
from recon.detectors.shapes.picks import filtered_walks
from recon.detectors.shapes.recursion import recurring_walks
from recon.detectors.shapes.terms import EQUALITY, Load, arguments, bare, bases, callee, loads, names_in
from recon.detectors.shapes.vectors import is_of_tokens, vector_walks
from recon.index.sighting import Sighting
from recon.index.term import Term


def greedy_walks(view: View) -> Iterator[Sighting]:
    """Forms of acceptance of a tree by equality with the target's choice."""
    for loop in view.outermost():
        yield from _link_walks(view, loop)
        yield from _climbs(view, loop)
    for loop in view.all_loops():
        yield from _dictionary_walks(view, loop)
        yield from _parent_scans(view, loop)
    yield from object_walks(view)
    yield from recurring_walks(view)
    yield from filtered_walks(view)
    yield from vector_walks(view)
    yield from best_paths(view)


def _on_walk(view: View, side: Term, loop: Term, nodes: set[str]) -> list[Load]:
    """Loads that yield one side of a comparison from an address that depends on the current node."""
    return [load for load in view.loads_of(side, loop) if any(view.depends(load, node, loop) for node in nodes)]


# Links: cur = child[cur]; while nothing matches: token[cur] == target[last]? else cur = sibling[cur]


def _link_walks(view: View, loop: Term) -> Iterator[Sighting]:
    chased = view.chased(loop)
    nodes = set(chased)
    numbers = {name for name, found in chased.items() for load in found for key in load.keys if name in names_in(key)}
    for compare, step in view.compares() if nodes else ():
        if compare.text not in EQUALITY or not within(step, loop):
            continue
        left, right = (_on_walk(view, side, loop, nodes) for side in compare.parts)
        if not left or not right or bases(left) & bases(right):
            continue
        if any(bare(side).dotted() in numbers for side in compare.parts):
            continue  # a node's own number, as in `check[next] == cur`, is no token
        if any(_takes_slice(load) for load in (*left, *right)) or not _records(view, compare, step, loop, nodes):
            continue
        if not _turns(view, compare, loop, nodes):
            continue
        yield Sighting(
            "walk.links",
            compare.line,
            "a pointer chase compares the drafted token at the current node with the target's choice at the last "
            "accepted node, and moves to a child on a match",
        )
        return


def _turns(view: View, compare: Term, loop: Term, nodes: set[str]) -> bool:
    """Whether a match ends the search among siblings: by leaving it, by a flag, or since it alone moves sideways."""
    if view.flags(compare, loop):
        return True
    for step in view.steps:
        if within(step, loop) and step.term.op in ("break", "return", "continue") and view.guarded_by(step, compare):
            return True
        is_test = step.term.op == "test" and step.term.text == "while" and within(step, loop)
        if is_test and view.holds(step.term, compare, loop):
            return True
    moves = (each for node in nodes for each in view.definitions[node] if within(each.step, loop))
    return any(
        each.value.op != "name" and (view.guarded_by(each.step, compare) or view.holds(each.value, compare))
        for each in moves
    )


def _takes_slice(load: Load) -> bool:
    return any(key.op == "slice" for key in load.keys)


def _records(view: View, compare: Term, at: Step, loop: Term, nodes: set[str]) -> bool:
    """Whether a match is counted, or the node or token that matched is written out."""
    flags = view.flags(compare, loop)
    inner = view.ended(compare, at, loop)
    for name, definitions in view.definitions.items():
        for definition in definitions:
            value = definition.value
            grows = value.op == "op" and value.text == "+" and value.parts[0].dotted() == name
            if not grows or definition.weak or not within(definition.step, loop):
                continue
            if view.holds(value, compare) or _upon(view, definition.step, compare, flags, inner):
                return True
    for store in view.stores():
        written = {load.base for load in _on_walk(view, store.value, loop, nodes)} or (names_in(store.value) & nodes)
        if not within(store.step, loop) or not written:
            continue
        if _upon(view, store.step, compare, flags, inner):
            return True
        if inner is not None and not within(store.step, inner) and _ends_unfound(view, inner, loop, nodes):
            return True  # each round but the first follows from a match
    return False


def _ends_unfound(view: View, inner: Term, loop: Term, nodes: set[str]) -> bool:
    """Whether a walk is left where the search among the children, its inner loop, comes to their end."""
    return any(
        step.term.op in ("break", "return")
        and within(step, loop)
        and not within(step, inner)
        and step.order > view.last_of(inner)
        and any(names_in(guard.test) & nodes & view.set_in(inner) for guard in step.guards)
        for step in view.steps
    )


def _upon(view: View, step: Step, compare: Term, flags: set[str], inner: Term | None) -> bool:
    """Whether a step follows from a comparison: below its test, below a flag that it sets, or after the search for it.

    Args:
        view: The function.
        step: The step.
        compare: The comparison.
        flags: Names that the comparison sets to true or false.
        inner: The loop that the comparison ends.
    """
    if view.guarded_by(step, compare):
        return True
    if any(flags & view.names_behind(guard.test) for guard in step.guards):
        return True
    return inner is not None and not within(step, inner) and step.order > view.last_of(inner)


# Climbs: stands[i] = token[i] == target[parent[i]]; for each node: while stands[at]: at = parent[at]


def _climbs(view: View, loop: Term) -> Iterator[Sighting]:
    ranked = [part for call, _ in view.calls(*_DEEPEST) for part in arguments(call)]
    if not any(view.set_in(loop) & view.names_behind(part) for part in ranked):
        return
    for node, links in view.chased(loop).items():
        up = {view.root(load.base) for load in links}
        asked = [load for load in _read_at(view, node, loop) if view.root(load.base) not in up]
        flags = bases(asked)
        for base in flags:
            for definition in view.definitions.get(base, ()):
                for compare in view.matches(definition.value).values():
                    if compare.text == "==" and _is_with_parent(view, compare, up):
                        yield Sighting(
                            "walk.climb",
                            compare.line,
                            "each drafted token is compared with the target's choice at its parent; from each node the "
                            "way up is followed while all on it match, and the deepest such node is taken",
                        )
                        return


_DEEPEST = ("argmax", "max", "atomicMax", "atomic_max", "maximum", "amax")


def _read_at(view: View, node: str, loop: Term) -> Iterator[Load]:
    """What is loaded at a node inside a loop, by its plain number."""
    for step in view.steps:
        if within(step, loop):
            yield from (load for load in loads(step.term) if any(key.dotted() == node for key in load.keys))


def _is_with_parent(view: View, compare: Term, up: set[str]) -> bool:
    """Whether one side alone of two tokens is read by way of a parent: of a node's own, or of a vector of them."""
    by_parent = [
        any(
            view.root(key.dotted()) in up or any(view.root(inner.base) in up for inner in view.loads_behind(key))
            for load in view.loads_of(side)
            for key in load.keys
        )
        for side in compare.parts
    ]
    return sum(by_parent) == 1 and is_of_tokens(view, compare)


# Dictionaries: while token in children[cur]: cur = children[cur][token]; token = target[cur]


def _dictionary_walks(view: View, loop: Term) -> Iterator[Sighting]:
    for name, found in view.chased(loop).items():
        for load in found:
            pairs = [part for key in load.keys for part in (key.parts if key.op == "tuple" else (key,))]
            keys = [key for key in pairs if key.dotted() != name]
            for key in keys:
                chosen = [other for other in view.loads_of(key, loop) if other.base != load.base]
                is_chosen = any(view.depends(other, name, loop) for other in chosen)
                if is_chosen and _is_child_lookup(view, load, name, loop):
                    yield Sighting(
                        "walk.dictionary",
                        load.term.line,
                        "the next node is looked up in the current node's children by the token that the target chose "
                        "at the current node",
                    )
                    return


def _is_child_lookup(view: View, load: Load, node: str, loop: Term) -> bool:
    """Whether a load goes from a node and a token to a child: two keys, a pair as key, or a table of the node's own."""
    if load.base.startswith(node + "."):
        return True
    own = [each for each in view.definitions.get(load.base, ()) if not each.weak]
    if (
        len(own) == 1 and within(own[0].step, loop) and len(load.keys) == 1
    ):  # `kids = children[node]`, `kids = node.kids`
        value = own[0].value
        return value.dotted().startswith(node + ".") or any(
            found.base == node or any(key.dotted() == node for key in found.keys) for found in loads(value, deep=False)
        )
    if load.base == node and len(load.keys) > 1 and load.keys[0].op == "const":
        return True  # `node["next"][token]`
    keys = load.keys[0].parts if load.keys[0].op == "tuple" else load.keys
    return len(keys) > 1 and any(key.dotted() == node for key in keys) and all(key.op != "slice" for key in keys)


# Parents: for i in nodes: if parent[i] == cur and token[i] == target[cur]: cur = i


def _parent_scans(view: View, loop: Term) -> Iterator[Sighting]:
    if loop.op != "for" or not loop.parts[0].dotted():
        return
    index = loop.parts[0].dotted()
    movers = [name for name in view.definitions if name != index and _takes(view, name, index, loop)]
    compares = [(c, s) for c, s in view.compares() if c.text in EQUALITY and within(s, loop)]
    for node in movers:
        parent_tests = [c for c, _ in compares if _is_parent_test(view, c, index, node, loop)]
        token_tests = [c for c, _ in compares if _is_token_test(view, c, index, node, loop)]
        if parent_tests and token_tests:
            yield Sighting(
                "walk.parents",
                token_tests[0].line,
                "nodes are searched for one whose parent is the current node and whose token is the target's choice "
                "there; it becomes the current node",
            )
            return


def _takes(view: View, name: str, index: str, loop: Term) -> bool:
    """Whether a name is set to the loop's index somewhere in the loop, plainly or by a selection."""
    for definition in view.definitions[name]:
        value = definition.value
        if definition.weak or not within(definition.step, loop):
            continue
        chosen = value.parts[-2:] if value.op == "select" or callee(value) == "where" else (value,)
        if any(part.dotted() == index for part in chosen):
            return True
    return False


def _is_parent_test(view: View, compare: Term, index: str, node: str, loop: Term) -> bool:
    for ours, other in (compare.parts, compare.parts[::-1]):
        keyed = any(view.depends(load, index, loop) for load in view.loads_of(ours, loop))
        if keyed and other.dotted() == node:
            return True
    return False


def _is_token_test(view: View, compare: Term, index: str, node: str, loop: Term) -> bool:
    for ours, other in (compare.parts, compare.parts[::-1]):
        drafted = [load for load in view.loads_of(ours, loop) if view.depends(load, index, loop)]
        chosen = [load for load in view.loads_of(other, loop) if view.depends(load, node, loop)]
        if drafted and chosen and not bases(drafted) & bases(chosen):
            return True
    return False
