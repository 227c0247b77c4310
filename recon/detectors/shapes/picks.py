"""Walks that choose the next nodes by a filter: comprehensions, lists of nodes that stand, recursion over children.

Each asks of a child whether its drafted token is what the target chose at the child's own parent, and goes on from the
children that pass. A walk that compares with a text, place by place, as tries and prefix trees do, is none.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from recon.detectors.shapes.flow import View
from recon.detectors.shapes.laid import Step, within
from recon.detectors.shapes.recursion import handed
from recon.detectors.shapes.terms import APPENDS, CASTS, EQUALITY, LOADERS, Load, bare, callee, loads, names_in, subject
from recon.index.sighting import Sighting
from recon.index.term import Term

_LOOK_UPS = frozenset({"call", "index"})
_NOTES = {
    "filter": "the nodes that come next are those children whose token is the target's choice at their parent",
    "recursion": "a child whose token is the target's choice at its parent is gone on from by a call of the function "
    "itself",
}


@dataclass(frozen=True, slots=True, eq=False)
class _Filter:
    """A comprehension, or a loop, by which children are kept."""

    term: Term
    step: Step
    """Of the comprehension, or of the loop's first comparison."""
    clauses: tuple[tuple[Term, Term], ...]
    """What goes through what."""
    compares: tuple[Term, ...]


def filtered_walks(view: View) -> Iterator[Sighting]:
    """Walks by filters that feed themselves: in a loop, or through a call of the function itself."""
    for kept in _filters(view):
        for compare, nodes in _token_tests(view, kept):
            form = _goes_on(view, kept, compare, nodes) or _recurs(view, kept, compare, nodes)
            if form:
                yield Sighting(f"walk.{form}", compare.line, _NOTES[form])
                return


def _filters(view: View) -> Iterator[_Filter]:
    for step in view.steps:
        for term in step.terms:
            if term.op == "comp":
                parts = [part for part in term.parts[1:] if part.op != "if"]
                tests = [test for part in term.parts[1:] if part.op == "if" for test in part.walk()]
                clauses = tuple(zip(parts[::2], parts[1::2], strict=False))
                yield _Filter(term, step, clauses, tuple(test for test in tests if test.op == "compare"))
            elif term.op in _LOOK_UPS and (looked_up := _looked_up(view, term)) is not None:
                yield _Filter(looked_up.parts[0], step, *_asked_by_key(*looked_up.parts))
    for loop in {id(loop): loop for step in view.steps for loop in step.loops if loop.op == "for"}.values():
        inside = [(compare, step) for compare, step in view.compares() if step.loops and step.loops[-1] is loop]
        for _, step in inside[:1]:
            clauses = tuple((each.parts[0], each.parts[1]) for each in step.loops if each.op == "for")
            yield _Filter(loop, step, clauses, tuple(compare for compare, _ in inside))


def _looked_up(view: View, term: Term) -> Term | None:
    """The dictionary made of children, and the key it is asked for: `{c.token: c for c in children[n]}.get(want)`."""
    if callee(term) == "get" and term.parts[0].op == "attr" and len(term.parts) > 1:
        table, key = term.parts[0].parts[0], term.parts[1]
    elif term.op == "index" and len(term.parts) == 2:
        table, key = term.parts
    else:
        return None
    made = [each.value for each in view.definitions.get(table.dotted(), ()) if not each.weak]
    table = made[0] if len(made) == 1 else table
    is_table = table.op == "comp" and table.parts[0].op == "tuple" and len(table.parts[0].parts) == 2
    return Term("pair", "", (table, key), term.line) if is_table and len(table.parts) == 3 else None


def _asked_by_key(table: Term, key: Term) -> tuple[tuple[tuple[Term, Term], ...], tuple[Term, ...]]:
    """What such a dictionary goes through, and the comparison that a look-up in it is."""
    pair, child, children = table.parts
    is_own = pair.parts[1].dotted() == child.dotted()
    return ((child, children),), (Term("compare", "==", (pair.parts[0], key), key.line),) if is_own else ()


def _token_tests(view: View, kept: _Filter) -> Iterator[tuple[Term, set[str]]]:
    """Equalities of a child's token and what was chosen at its parent, each with the names that the parents come from.

    `token[c] == chosen[n]` for a c out of `children[n]`, or `token[c] == chosen[parent[c]]` beside a test of
    `parent[c]`.
    """
    for compare in kept.compares:
        if compare.text not in EQUALITY:
            continue
        for target, iterable in kept.clauses:
            child = target.dotted()
            for ours, theirs in (compare.parts, compare.parts[::-1]) if child else ():
                drafted = {load.base for load in _loads(view, ours) if _is_at(load, child)}
                chosen = [load for load in view.loads_of(theirs) if load.base not in drafted]
                nodes = _parents(view, kept, compare, chosen, (child, iterable)) if drafted else set()
                if nodes:
                    yield compare, nodes


def _loads(view: View, side: Term) -> list[Load]:
    """The loads that yield one side; a field of an object is read as a table of it would be."""
    fields = [source for source in view.sources(side) if source.op == "attr" and source.parts[0].op == "name"]
    return [*view.loads_of(side), *(Load(f".{field.text}", field.parts, field) for field in fields)]


def _parents(view: View, kept: _Filter, compare: Term, chosen: list[Load], clause: tuple[str, Term]) -> set[str]:
    """Names that the parents come from, at which a side of a comparison was chosen."""
    child, iterable = clause
    nodes: set[str] = set()
    above = {key.dotted() for load in _listed(iterable) for key in map(bare, load.keys)} - {"", child}
    for load in chosen:
        for key in map(_owner, map(bare, load.keys)):
            if key.dotted() in above:
                nodes |= {key.dotted(), *_drawn_from(kept, key.dotted())}
            links = [link for link in view.loads_of(key) if _is_at(link, child)]
            if key.dotted() in _sources_of(kept, child):
                nodes.add(key.dotted())
            nodes |= {name for link in links for name in _tested(view, kept, compare, link, child)}
    return nodes


def _sources_of(kept: _Filter, child: str) -> set[str]:
    """Names that a field of an element is held against: `edge.source == at`."""
    fields = (
        (ours, theirs)
        for compare in kept.compares
        for ours, theirs in (compare.parts, compare.parts[::-1])
        if compare.text == "==" and ours.op == "attr"
    )
    return {theirs.dotted() for ours, theirs in fields if ours.parts[0].dotted() == child} - {""}


def _listed(iterable: Term) -> list[Load]:
    """The loads that children are listed by: `children[n]`, sorted, numbered or not."""
    inner = bare(iterable)
    if callee(inner) in ("list", "sorted", "reversed", "tuple", "set", "iter", "values", *CASTS):
        inner = inner.parts[-1] if len(inner.parts) > 1 else inner.parts[0].parts[0]
    if inner.op == "attr" and inner.parts[0].op == "name":  # `node.children`
        return [Load(f".{inner.text}", inner.parts, inner)]
    if inner.op == "call" and callee(inner) not in (
        "range",
        "zip",
        "enumerate",
        "get",
        *LOADERS,
    ):  # `tree.children(node)`
        return [Load(subject(inner.parts[0]), inner.parts[1:], inner)]
    return loads(inner, deep=False)


def _owner(key: Term) -> Term:
    """The object whose number a key is: `node` of `node.index`."""
    return key.parts[0] if key.op == "attr" and key.parts[0].op == "name" and key.parts[0].text != "self" else key


def _drawn_from(kept: _Filter, node: str) -> set[str]:
    return {name for target, iterable in kept.clauses if target.dotted() == node for name in names_in(iterable)}


def _tested(view: View, kept: _Filter, token: Term, link: Load, child: str) -> Iterator[str]:
    """Names that a child's parent is compared with, or sought in."""
    for compare in kept.compares:
        if compare is token:
            continue
        for ours, theirs in (compare.parts, compare.parts[::-1]) if compare.text in ("in", *EQUALITY) else ():
            if any(load.base == link.base and _is_at(load, child) for load in view.loads_of(ours)):
                yield from names_in(theirs)


def _is_at(load: Load, name: str) -> bool:
    """Whether a name is itself a part of an address, not only behind one."""
    return any(bare(key).dotted() == name for key in load.keys)


# What becomes of the children that pass


def _goes_on(view: View, kept: _Filter, compare: Term, nodes: set[str]) -> str:
    """Whether the parents of the next round are the children that passed, and something is kept of them."""
    lists = {
        store.base
        for store in view.stores()
        if _is_growth(store.step.term) and within(store.step, kept.term) and view.guarded_by(store.step, compare)
    }
    passing = {
        name
        for name, definitions in view.definitions.items()
        for d in definitions
        if {d.value.dotted(), _owner(d.value).dotted()} & _targets(kept)
        and within(d.step, kept.term)
        and view.guarded_by(d.step, compare)
    }
    for loop in kept.step.loops:
        for node in nodes:
            for each in view.definitions.get(node, ()):
                if each.weak or not within(each.step, loop) or each.value.op == "each":
                    continue
                grown = (lists | passing) & view.names_behind(each.value, loop) - {node}
                passed = kept.term.op == "comp" and view.holds(each.value, kept.term, loop)
                passed = passed or (node in passing and within(each.step, kept.term) and loop is not kept.term)
                if (grown or passed) and _is_kept(view, kept, compare, node):
                    return "filter"
    return ""


def _targets(kept: _Filter) -> set[str]:
    return {name for target, _ in kept.clauses for name in names_in(target)}


def _is_growth(term: Term) -> bool:
    """Whether a statement appends to something."""
    return term.op == "do" and callee(term.parts[0]) in APPENDS


def _is_kept(view: View, kept: _Filter, compare: Term, node: str) -> bool:
    """Whether more than the next node is made of the match, or the node is what the function gives back."""
    if view.governed(compare) - _targets(kept) - {node}:
        return True
    written = [s.value for s in view.stores() if s.step.loops and s.step.loops == kept.step.loops]
    if kept.term.op == "comp" and any(node in view.names_behind(value) for value in written):
        return True
    return any(node in names_in(step.term) for step in view.steps if step.term.op == "return")


def _recurs(view: View, kept: _Filter, compare: Term, nodes: set[str]) -> str:
    """Whether the function calls itself for a child that passed, with the child where the parent was given."""
    children = {name for target, _ in kept.clauses for name in names_in(target)}
    for call, step in view.calls(view.body.text) if view.body.op == "def" and view.body.text else ():
        is_inside = kept.term.op == "comp" and any(inner is call for inner in kept.term.walk())
        is_fed = kept.term.op == "comp" and view.holds(call, kept.term)
        if not is_inside and not is_fed and not view.guarded_by(step, compare):
            continue
        is_yielded = step.term.op == "do" and step.term.parts[0].op == "yield"
        used = (
            is_yielded
            or step.term.op in ("return", "assign")
            or any(view.guarded_by(s.step, compare) for s in view.stores())
        )
        given = (handed(view, call, node) for node in nodes & set(view.params))
        if used and any(_is_child(view, kept, each.dotted(), children) for each in given if each is not None):
            return "recursion"
    return ""


def _is_child(view: View, kept: _Filter, given: str, children: set[str]) -> bool:
    """Whether a name is a child that passed: the filter's own, or taken from what it kept."""
    if given in children:
        return True
    values = [each.value for each in view.definitions.get(given, ()) if not each.weak]
    return kept.term.op == "comp" and any(view.holds(value, kept.term) for value in values)
