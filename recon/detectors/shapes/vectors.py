"""Walks in which all nodes of a tree are judged by a few operations: frontiers, filters, products with a mask."""

from collections.abc import Iterator

from recon.detectors.shapes.flow import View
from recon.detectors.shapes.laid import Definition, within
from recon.detectors.shapes.terms import (
    EQUALITY,
    LOGIC,
    MODULES,
    ORDER,
    SIZES,
    arguments,
    bases,
    callee,
    is_opaque,
    is_whole,
    loads,
    names_in,
)
from recon.index.sighting import Sighting
from recon.index.term import Term


def vector_walks(view: View) -> Iterator[Sighting]:
    """Forms in which whole vectors of nodes are judged."""
    for loop in view.outermost():
        yield from _frontiers(view, loop)
        yield from _parent_filters(view, loop)
        yield from _child_slices(view, loop)
    yield from _ancestor_masks(view)
    yield from _ancestor_bits(view)


# Filters: hit = (parent == cur) & (token == target[cur]); cur = hit.nonzero()[0]


def _parent_filters(view: View, loop: Term) -> Iterator[Sighting]:
    asked = {side.dotted() for compare, _ in view.compares() if compare.text == "==" for side in compare.parts} - {""}
    for node in asked:
        for definition in view.definitions.get(node, ()):
            if definition.weak or not within(definition.step, loop):
                continue
            equal = [t for t in view.behind(definition.value, loop).values() if t.op == "compare" and t.text == "=="]
            parents = [t for t in equal if any(side.dotted() == node for side in t.parts)]
            tokens = [t for t in equal if t not in parents and _is_asked_at(view, t, node, loop)]
            tokens = [t for t in tokens if is_of_tokens(view, t)] if parents else []
            if parents and tokens and any(are_joined(t, parents[0], view, tokens[0]) for t in _tests(view, loop)):
                yield Sighting(
                    "walk.parents",
                    tokens[0].line,
                    "of all nodes those are kept whose parent is the current node and whose token is the target's "
                    "choice there; one of them becomes the current node",
                )
                return


def _is_asked_at(view: View, compare: Term, node: str, loop: Term) -> bool:
    """Whether one side alone is read at a node."""
    at_node = [any(view.depends(load, node, loop) for load in view.loads_of(side, loop)) for side in compare.parts]
    return sum(at_node) == 1


def _tests(view: View, loop: Term) -> Iterator[Term]:
    return (term for step in view.steps if within(step, loop) for term in step.terms)


def are_joined(term: Term, compare: Term, view: View, *others: Term) -> bool:
    """Whether a term is a conjunction that comparisons, and more, have a part in."""
    joins = term.op == "and" or (term.op == "op" and term.text in ("&", "*")) or callee(term) == "logical_and"
    return joins and all(id(each) in view.matches(term) for each in (compare, *others))


# Slices: kids = token[first[cur] : first[cur + 1]]; cur = first[cur] + argmax(kids == target[cur])


def _child_slices(view: View, loop: Term) -> Iterator[Sighting]:
    chased = view.chased(loop)
    for compare, step in view.compares() if chased else ():
        if compare.text != "==" or not within(step, loop):
            continue
        sides = [view.loads_of(side, loop) for side in compare.parts]
        sliced = [any(key.op == "slice" for load in side for key in load.keys) for side in sides]
        if sum(sliced) != 1 or bases(sides[0]) & bases(sides[1]):
            continue
        for node in chased:
            moved = any(view.holds(d.value, compare, loop) for d in view.definitions[node] if within(d.step, loop))
            if moved and all(any(view.depends(load, node, loop) for load in side) for side in sides):
                yield Sighting(
                    "walk.slice",
                    compare.line,
                    "the children of the current node are compared all at once with the target's choice there, and the "
                    "one that matches becomes the current node",
                )
                return


# Products with a mask: stands = mask @ ~match == 0, or all(match | ~mask); the deepest node that stands


def _ancestor_masks(view: View) -> Iterator[Sighting]:
    bests = [call for call, _ in view.calls(*_BEST)]
    products = [term for step in view.steps for term in step.terms if _is_product(term)] if bests else []
    unions = view.calls(*_UNITES) if bests else []
    for compare, _ in view.compares() if products or unions else ():
        if compare.text not in EQUALITY or not is_of_tokens(view, compare):
            continue
        stands = [*_of_products(view, compare, products), *_of_unions(view, compare, [call for call, _ in unions])]
        if any(view.holds(best, each) for best in bests for each in stands):
            yield Sighting(
                "walk.lineage",
                compare.line,
                "a node stands where no node on its path, by the rows of a mask, differs from the target's choice at "
                "its parent; the deepest one is taken",
            )
            return


_BEST = ("argmax", "max", "amax", "nonzero", "flatnonzero", "topk")
_PRODUCTS = ("matmul", "bmm", "mm", "mv", "einsum", "dot", "dot_general")


_UNITES = ("all", "any", "sum", "amin", "min", "prod")


def _is_product(term: Term) -> bool:
    return (term.op == "op" and term.text == "@") or callee(term) in _PRODUCTS


def _of_products(view: View, compare: Term, products: list[Term]) -> Iterator[Term]:
    """Tests of a product of a mask with the matches."""
    for term in products:
        sides = [part for part in (term.parts if term.op == "op" else arguments(term)) if part.op != "const"]
        matched = [id(compare) in view.matches(side) for side in sides if side.dotted() not in MODULES]
        if len(matched) > 1 and sum(matched) == 1:
            yield from (test for test, _ in view.compares() if test is not compare and view.holds(test, term))


def _of_unions(view: View, compare: Term, calls: list[Term]) -> Iterator[Term]:
    """`all(match | ~mask)`, and `any(miss & mask)` or a sum of it, where the match is asked at each node's parent."""
    if not _is_linked(view, compare):
        return
    for call in calls:
        for given in arguments(call):
            for term in view.sources(given) if given.op == "name" else (given,):
                parts = term.parts if term.op in ("op", "or", "and") else arguments(term) if term.op == "call" else ()
                joins = term.op in ("or", "and") or (term.op == "op" and term.text in ("|", "&", "*", ">="))
                joins = joins or callee(term) in (*LOGIC, "where", "masked_fill")
                matched = [id(compare) in view.matches(part) for part in parts if part.op != "const"]
                if joins and len(matched) > 1 and sum(matched) == 1:
                    yield call


def _is_linked(view: View, compare: Term) -> bool:
    """Whether one side is read through an index that is itself given or read: at the parents."""
    for side in compare.parts:
        for load in view.loads_of(side)[:1]:
            for key in load.keys:
                is_given = key.op in ("name", "attr") and not _is_counted(view, key) and callee(load.term) != "load"
                if is_given or view.loads_behind(key):
                    return True
    return False


def _is_counted(view: View, key: Term) -> bool:
    """Whether a key counts the rounds of a loop, or the threads of a block."""
    return any(d.value.op == "each" and not loads(d.value) for d in view.definitions.get(key.dotted(), ()))


# Bits: if token[i] == target[parent[i]]: good |= 1 << i; then the deepest node whose path lies in them


def _ancestor_bits(view: View) -> Iterator[Sighting]:
    for compare, step in view.compares():
        if compare.text not in EQUALITY or not step.loops or not is_of_tokens(view, compare):
            continue
        if not _is_linked(view, compare):
            continue
        bits = {
            name
            for name, definitions in view.definitions.items()
            for each in definitions
            if each.value.op == "op" and each.value.text == "|" and name in names_in(each.value)
            if any(part.op == "op" and part.text == "<<" for part in each.value.walk())
            if view.guarded_by(each.step, compare) or view.holds(each.value, compare)
        }
        for test, at in view.compares() if bits else ():
            is_inside = any(
                part.op == "op" and part.text == "&" and bits & names_in(part)
                for part in test.walk()
                if test is not compare
            )
            if is_inside and any(
                view.guarded_by(d.step, test) for ds in view.definitions.values() for d in ds if at.loops
            ):
                yield Sighting(
                    "walk.bits",
                    compare.line,
                    "nodes whose token is the target's choice at their parent are gathered as bits, and the deepest "
                    "node is taken whose path lies within them",
                )
                return


# Frontiers: standing = standing[parent] & (token == target[parent]), or where(... & (parent == i), length + 1, length)


def _frontiers(view: View, loop: Term) -> Iterator[Sighting]:
    for name, definition in _set_or_stored(view):
        if not within(definition.step, loop):
            continue
        value = definition.value
        if definition.weak or any(True for _ in _asked_of(name, value)):
            compare = _stands_by_parent(view, name, definition)
        else:
            compare = _gathers_itself(view, name, value) or _grows_by_parent(view, name, value, loop)
        if compare is not None and _is_reduced(view, name):
            yield Sighting(
                "walk.frontier",
                compare.line,
                "all nodes advance together: a node stands where its parent stands and its token is the target's "
                "choice there; the deepest one is taken",
            )
            return


def _set_or_stored(view: View) -> Iterator[tuple[str, Definition]]:
    """Every definition of a name, and what is stored through pointers that are read as well, as a change of it."""
    for name, definitions in view.definitions.items():
        yield from ((name, definition) for definition in definitions)
    read = {view.root(base) for base in view.read_from}
    for store in view.stores():
        if store.step.term.op == "do" and store.keys and store.base in read:
            yield store.base, Definition(store.value, store.step, weak=True)


def _gathers_itself(view: View, name: str, value: Term) -> Term | None:
    """`v = v[parent] & match`: the equality behind the match, if that is the form."""
    own = [
        load
        for load in loads(value)
        if load.base == name and not all(is_whole(k) or k.op == "slice" for k in load.keys)
    ]
    if not own or not any(part.op in ("and", "op", "call") for part in value.walk()):
        return None
    equalities = [match for match in view.matches(value).values() if match.text == "=="]
    return next((match for match in equalities if is_of_tokens(view, match) and _is_of_two(view, match)), None)


def _stands_by_parent(view: View, name: str, definition: Definition) -> Term | None:
    """`v[i] = v[parent[i]] & match[i]`: the equality behind the match, one side of which is read at the parent too."""
    value, tests = definition.value, [guard.test for guard in definition.step.guards if guard.holds]
    keys = [
        key
        for part in (value, *tests)
        for load in (loads(part) if definition.step.term.op != "do" else view.loads_behind(part))
        if name in (load.base, view.root(load.base))
        for key in load.keys
        if key.op not in ("const", "slice")
    ]
    keys += [key for part in (value, *tests) for key in _asked_of(name, part)]
    links = {load.base for key in keys for load in view.loads_behind(key)} - {name}
    made = value.walk() if definition.step.term.op != "do" else view.behind(value).values()
    joins = any(part.op in ("and", "op", "select") or callee(part) in LOGIC for part in made)
    if not links or not (joins or tests):
        return None
    behind = [term for part in (value, *tests) for term in view.behind(part).values()]
    for compare in behind:
        is_equality = compare.op == "compare" and compare.text == "=="
        if is_equality and is_of_tokens(view, compare) and _is_of_two(view, compare):
            at_parent = [
                any(links & view.names_behind(key) for load in view.loads_of(side) for key in load.keys)
                for side in compare.parts
            ]
            if sum(at_parent) == 1:
                return compare
    return None


def _asked_of(name: str, term: Term) -> Iterator[Term]:
    """What is sought in a set of nodes: `parent in standing`."""
    return (
        part.parts[0]
        for part in term.walk()
        if part.op == "compare" and part.text == "in" and part.parts[1].dotted() == name
    )


def _is_of_two(view: View, compare: Term) -> bool:
    """Whether two things are set side by side, the drafted and the chosen: not one at two places."""
    left, right = (bases(view.loads_of(side)) for side in compare.parts)
    return not left & right


def _grows_by_parent(view: View, name: str, value: Term, loop: Term) -> Term | None:
    """`v = where((token == chosen) & (parent == i), v + 1, v)`: the equality of tokens, if that is the form."""
    selects = [t for t in value.walk() if t.op == "select" or (callee(t) == "where" and len(t.parts) == 4)]
    index = loop.parts[0].dotted() if loop.op == "for" else ""
    if not selects or not index:
        return None
    test = selects[0].parts[-3]
    if name not in {part.dotted() for branch in selects[0].parts[-2:] for part in branch.walk()}:
        return None
    equalities = [part for part in view.behind(test, loop).values() if part.op == "compare" and part.text == "=="]
    parents = [c for c in equalities if any(side.dotted() == index for side in c.parts)]
    tokens = [c for c in equalities if c not in parents and any(_loads_at(view, c, index, loop))]
    return tokens[0] if parents and tokens else None


def _loads_at(view: View, compare: Term, index: str, loop: Term) -> Iterator[bool]:
    """Whether each side of a comparison is loaded at an address that depends on an index."""
    for side in compare.parts:
        yield any(view.depends(load, index, loop) for load in view.loads_behind(side, loop))


_REDUCES = ("max", "argmax", "amax", "sum", "any", "atomicMax", "atomic_max", "reduce", "Reduce", "__reduce_max_sync")


def _is_reduced(view: View, name: str) -> bool:
    if any(name in view.names_behind(call) for call, _ in view.calls(*_REDUCES)):
        return True
    for _, at in view.calls("atomicMax", "atomic_max"):  # `if (v[i]) atomicMax(leaf, i)`
        if any(name in bases(loads(guard.test)) for guard in at.guards):
            return True
    for test, step in view.compares():  # `if (v[i] > best) { best = v[i]; leaf = i; }`
        if test.text in ORDER and step.loops and name in bases(loads(test)):
            index = names_in(step.loops[-1].parts[0]) if step.loops[-1].op == "for" else set()
            kept = [d for ds in view.definitions.values() for d in ds if view.guarded_by(d.step, test)]
            if any(d.value.dotted() in index for d in kept if not d.weak):
                return True
    return False


_ENDLESS = (".inf", ".nan")
"""How numbers end that are no tokens: no float is, nor is one negated."""


def is_of_tokens(view: View, compare: Term) -> bool:
    """Whether both sides of an equality are read from somewhere, or given: neither is made up in place."""
    if names_in(compare.parts[0]) == names_in(compare.parts[1]) or _is_of_extreme(view, compare):
        return False  # `x != x` asks for NaN
    if any(side.op == "neg" or side.dotted().endswith(_ENDLESS) for side in compare.parts):
        return False
    if any(source.dotted().endswith(SIZES) for side in compare.parts for source in view.sources(side)):
        return False
    return all(
        any(loads(source, deep=False) or source.dotted() for source in view.sources(side))
        or any(callee(source) in ("argmax", "squeeze") or is_opaque(source) for source in view.sources(side))
        for side in compare.parts
    )


def _is_of_extreme(view: View, compare: Term) -> bool:
    """Whether one side is the largest or least of the other: `scores == max(scores)` finds a place, and no match."""
    for ours, theirs in (compare.parts, compare.parts[::-1]):
        for source in view.sources(ours):
            if callee(source) in ("max", "min", "amax", "amin") and names_in(theirs) & view.names_behind(source):
                return True
    return False
