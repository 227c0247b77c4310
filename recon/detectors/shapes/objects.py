"""Walks over nodes that are objects: `kid = node.first`, `kid = kid.next`, and the tokens are their fields."""

from collections.abc import Iterator

from recon.detectors.shapes.flow import View
from recon.detectors.shapes.laid import within
from recon.detectors.shapes.terms import EQUALITY, bare, names_in
from recon.index.sighting import Sighting
from recon.index.term import Term


def object_walks(view: View) -> Iterator[Sighting]:
    """Walks along fields that lead from object to object, to the one whose token was chosen at the node above."""
    for loop in view.outermost():
        above = _nodes_above(view, loop)
        for compare, step in view.compares() if above else ():
            if compare.text not in EQUALITY or not within(step, loop):
                continue
            for ours, theirs in (compare.parts, compare.parts[::-1]):
                kid = _owner(ours)
                node = next((node for node in above.get(kid, ()) if _is_asked_at(view, theirs, node)), "")
                if node and _ends(view, compare, loop) and _is_kept(view, loop, {kid, node}):
                    yield Sighting(
                        "walk.objects",
                        compare.line,
                        "from a node its children are gone through by fields that name the next one, up to the one "
                        "whose token is the target's choice at the node, which becomes the current node",
                    )
                    return


def _nodes_above(view: View, loop: Term) -> dict[str, set[str]]:
    """Names that a loop sends sideways, `kid = kid.next`, each with the nodes whose children it goes through.

    Those are the ones that it starts from, `kid = node.first`, and becomes in the end, `node = kid`.
    """
    fields = {
        (name, owner)
        for name, definitions in view.definitions.items()
        for each in definitions
        if not each.weak and within(each.step, loop) and (owner := _owner(each.value))
    }
    found: dict[str, set[str]] = {}
    for kid, node in fields:
        becomes = (each for each in view.definitions.get(node, ()) if within(each.step, loop) and not each.weak)
        if kid != node and (kid, kid) in fields and any(each.value.dotted() == kid for each in becomes):
            found.setdefault(kid, set()).add(node)
    return found


def _owner(term: Term) -> str:
    """The object whose field a term is: `node` of `node.first`."""
    inner = bare(term)
    is_field = inner.op == "attr" and inner.parts[0].op == "name" and inner.parts[0].text != "self"
    return inner.parts[0].text if is_field else ""


def _is_asked_at(view: View, side: Term, node: str) -> bool:
    """Whether a side is read at a node, by its number: `chosen[node.row]`."""
    return any(node in names_in(key) for load in view.loads_of(side) for key in load.keys)


def _ends(view: View, compare: Term, loop: Term) -> bool:
    """Whether a match ends the search among the children."""
    return any(
        (step.term.op in ("break", "return") and view.guarded_by(step, compare))
        or (step.term.op == "test" and step.term.text == "while" and view.holds(step.term, compare))
        for step in view.steps
        if within(step, loop)
    ) or bool(view.flags(compare, loop))


def _is_kept(view: View, loop: Term, nodes: set[str]) -> bool:
    """Whether what the walk comes to is written out, counted by its node, or given back."""
    written = (store.value for store in view.stores() if within(store.step, loop))
    given = (step.term for step in view.steps if step.term.op == "return")
    return any(nodes & names_in(value) for value in (*written, *given)) or bool(view.counters(loop))
