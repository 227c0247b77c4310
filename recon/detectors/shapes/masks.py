"""Attention masks: kernels that take one from their caller, and code that builds one from a draft tree's parents."""

from collections.abc import Iterator

from recon.detectors.shapes.flow import View
from recon.detectors.shapes.laid import Store
from recon.detectors.shapes.terms import CASTS, Load, callee, is_whole, loads, names_in
from recon.index.sighting import Sighting
from recon.index.term import Term

DOTS = frozenset({"dot", "dot_scaled", "matmul", "bmm", "einsum"})
EXPONENTIALS = frozenset({"exp", "exp2", "softmax", "fast_exp", "expf", "exp2f"})


def mask_hooks(view: View) -> Iterator[Sighting]:
    """Attention kernels over a KV cache whose scores take a mask or bias loaded by query and key.

    The sighting's detail is the name of the pointer parameter that the mask comes through.
    """
    scored = [exp for exp, _ in view.calls(*EXPONENTIALS) if _has_dot(view, exp)]
    if not scored or not _reads_paged_keys(view):
        return
    seen: set[str] = set()
    for exp in scored:
        for load in _score_loads(view, exp):
            parameter = view.root(load.base)
            if parameter in seen or not _by_query_and_key(view, load):
                continue
            seen.add(parameter)
            note = f"scores take a mask or bias loaded through {parameter} by query and key before the softmax"
            yield Sighting("hook", load.term.line, note, parameter)


def _has_dot(view: View, term: Term) -> bool:
    return any(view.calls_behind(term, DOTS))


def _reads_paged_keys(view: View) -> bool:
    """Whether an operand of a product is loaded at a place that was itself loaded: a page table, a list of slots."""
    for dot, _ in view.calls(*DOTS):
        for load in (load for part in dot.parts[1:] for load in view.loads_behind(part)):
            if any(inner.base != load.base for key in load.keys for inner in view.loads_behind(key)):
                return True
    return False


def _score_loads(view: View, exp: Term) -> Iterator[Load]:
    """Loads that are added to the scores, or decide where they are cut off."""
    for part in list(view.behind(exp).values()):
        if callee(part) == "where" and len(part.parts) == 4:
            if any(_has_dot(view, branch) for branch in part.parts[2:]):
                yield from _decided_by(view, part.parts[1])
        elif part.op == "op" and part.text == "+":
            for ours, other in (part.parts, part.parts[::-1]):
                if _has_dot(view, ours) and not _has_dot(view, other):
                    yield from _decided_by(view, other)


def _decided_by(view: View, term: Term) -> Iterator[Load]:
    """Loads whose values a condition or an addend is made of, through tests, masks and names."""
    stack, seen = [term], set()
    while stack:
        current = stack.pop()
        if id(current) in seen:
            continue
        seen.add(id(current))
        found = loads(current, deep=False)
        if found and callee(current) == "load":
            yield from found
        elif current.op in ("op", "compare", "not", "and", "or", "select", "neg", "item"):
            stack.extend(current.parts)
        elif callee(current) == "where":
            stack.extend(current.parts[1:])
        elif callee(current) in CASTS and current.parts[0].op == "attr":
            stack.append(current.parts[0].parts[0])
        elif current.op == "name":
            stack.extend(d.value for d in view.definitions.get(current.text, ()))


def _by_query_and_key(view: View, load: Load) -> bool:
    """Whether an address spans two axes: a column of queries and a row of keys."""
    shapes = {_axis(part) for key in load.keys for part in view.behind(key).values() if part.op == "index"}
    return {"column", "row"} <= shapes


def _axis(term: Term) -> str:
    keys = term.parts[1:]
    if len(keys) != 2 or not all(is_whole(key) for key in keys):
        return ""
    return "row" if keys[0].op == "const" else "column" if keys[1].op == "const" else ""


# Building the mask of a tree


def ancestor_masks(view: View) -> Iterator[Sighting]:
    """Code that marks, for each node of a tree, its ancestors in a two-dimensional mask.

    The sighting's detail is the name that holds the mask.
    """
    seen: set[str] = set()
    for store in view.stores():
        if store.base in seen:
            continue
        shape = next((form for form, test in _FORMS.items() if test(view, store)), "")
        if shape:
            seen.add(store.base)
            yield Sighting(f"mask.{shape}", store.step.term.line, _BUILDS[shape], store.base)


_BUILDS = {
    "climb": "for each node the walk goes up from parent to parent and marks every ancestor in a mask",
    "prefix": "for each path of the tree its prefixes are looked up and marked as ancestors in a mask",
    "inherit": "each node's row of a mask is taken over from its parent's row",
}


def _climbs(view: View, store: Store) -> bool:
    """A store of a constant at (node, ancestor), the ancestor found by following parents."""
    if not store.step.loops or not _is_mark(view, store) or any(key.op == "slice" for key in store.keys):
        return False
    if any(callee(part).startswith("atomic") for part in store.step.terms):
        return False  # a count, not a mark
    for loop in store.step.loops:
        chased = view.chased(loop)
        climbers = {name for name, found in chased.items() if all(load.base != store.base for load in found)}
        climbers |= view.sought(loop)
        if not any(climbers & {part.dotted() for part in key.walk()} for key in store.keys):
            continue
        if _has_node_axis(view, store, loop, view.set_in(loop)):
            return True
    return False


def _is_mark(view: View, store: Store) -> bool:
    values = view.sources(store.value)
    marks = [part for part in (*values, store.value) if part.op == "const"]
    strong = [d.value for d in view.definitions.get(store.value.dotted(), ())] if store.value.dotted() else []
    return bool(marks) or any(value.op == "const" for value in strong)


def _has_node_axis(view: View, store: Store, loop: Term, moving: set[str]) -> bool:
    """Whether a store is also addressed by the node whose ancestors are sought: it stays put while the loop climbs."""
    if len(store.keys) > 1:
        return any(names_in(key) and not moving & view.names_behind(key, loop) for key in store.keys)
    return any(
        part.op == "op" and part.text == "*" and names_in(part) and not moving & view.names_behind(part, loop)
        for key in store.keys
        for part in view.behind(key).values()
    )


def _looks_prefixes_up(view: View, store: Store) -> bool:
    if len(store.keys) < 2 or not _is_mark(view, store) or not store.step.loops:
        return False
    if any(key.op == "slice" for key in store.keys):
        return False
    for key in store.keys:
        for part in view.behind(key).values():
            lookup = callee(part) in ("index", "get") or part.op == "index"
            if lookup and any(_is_prefix(view, inner) for inner in _arguments(part)):
                return True
    return False


def _arguments(term: Term) -> list[Term]:
    return list(term.parts[1:])


def _is_prefix(view: View, term: Term) -> bool:
    """`path[:n]` with an n that moves."""
    for part in view.behind(term).values():
        if part.op == "index" and len(part.parts) == 2 and part.parts[1].op == "slice":
            low, high, _ = part.parts[1].parts
            if low.op == "none" and high.op in ("op", "name"):
                return True
    return False


def _inherits(view: View, store: Store) -> bool:
    """`mask[i] = mask[parent[i]]`, plainly or or-ed with the node itself."""
    if not store.step.loops or not store.keys or not _marks_itself(view, store):
        return False
    loop = store.step.loops[-1]
    nodes = view.names_behind(store.keys[0], loop)
    for load in view.loads_behind(store.value):
        if load.base != store.base and view.root(load.base) != store.base:
            continue
        parents = [inner for key in load.keys for inner in view.loads_behind(key, loop) if inner.base != load.base]
        if any(nodes & {name for key in parent.keys for name in view.names_behind(key, loop)} for parent in parents):
            return True
    return False


def _marks_itself(view: View, store: Store) -> bool:
    """Whether the node's own place is marked too: `mask[i, i] = 1`, or a row of an identity."""
    for other in view.stores():
        if other.base != store.base or len(other.keys) != 2:
            continue
        place = other.keys[0].dotted()
        if place and place == other.keys[1].dotted() and _is_mark(view, other):
            return True
    return any(view.calls_behind(store.value, ("eye",)))


_FORMS = {"climb": _climbs, "prefix": _looks_prefixes_up, "inherit": _inherits}
