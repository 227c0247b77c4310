"""Drafting: loops that feed what a model chose back into it, and key lists of a branch's own."""

from collections.abc import Iterator

from recon.detectors.shapes.flow import View
from recon.detectors.shapes.laid import Step, Store, within
from recon.detectors.shapes.masks import DOTS, EXPONENTIALS
from recon.detectors.shapes.terms import Load, callee, is_opaque, loads
from recon.index.sighting import Sighting
from recon.index.term import Term

_CHOICES = frozenset({"argmax", "topk", "multinomial"})


def draft_loops(view: View) -> Iterator[Sighting]:
    """A loop whose every round runs a model on the tokens that were chosen from its last output."""
    for call, step in _method_calls(view):
        if not step.loops:
            continue
        loop = step.loops[-1]
        for argument in call.parts[1:]:
            behind = view.behind(argument, loop)
            if id(call) not in behind:
                continue
            chosen = [part for part in behind.values() if part is not call and _chooses(view, part, loop)]
            if any(view.holds(choice, call, loop) for choice in chosen):
                yield Sighting("loop", call.line, "each round runs the model on what was chosen from its last output")
                return


def _chooses(view: View, term: Term, loop: Term) -> bool:
    """A choice by its name, a function of the tree, or a method of one's own whose results the loop collects."""
    if callee(term) in _CHOICES or is_opaque(term):
        return True
    if term.op != "call" or term.parts[0].op != "attr" or term.parts[0].parts[0].dotted() not in view.params[:1]:
        return False
    return any(within(store.step, loop) and view.holds(store.value, term, loop) for store in view.stores())


def _method_calls(view: View) -> Iterator[tuple[Term, Step]]:
    """Calls of what an object holds: one that was handed in or made here, for a module has no last output."""
    for step in view.steps:
        for term in step.terms:
            if term.op == "call" and term.parts[0].op == "attr" and len(term.parts) > 1:
                root = term.parts[0].dotted().partition(".")[0]
                if not root or root in view.params or root in view.definitions:
                    yield term, step


def branch_keys(view: View) -> Iterator[Sighting]:
    """A kernel that writes, for each branch of a draft, the keys that it may see: the shared prefix, then its own."""
    branches = _program_axes(view)
    if len(branches) < 2 or any(view.calls(*DOTS, *EXPONENTIALS)):
        return  # a kernel that computes with what it reads copies no key list
    stores = [(store, _tables(view, store)) for store in view.stores() if store.step.term.op == "do"]
    for store, tables in stores:
        axes = [axis for axis in branches if _addressed_by(view, store, axis)]
        shared = [(axis, table.base) for table in tables for axis in axes if not _read_by(view, table, axis)]
        for other, others in stores:
            if other is store or other.base != store.base:
                continue
            own = {(axis, table.base) for table in others for axis in axes if _read_by(view, table, axis)}
            if own & set(shared):
                note = "each branch of the draft gets a key list of its own: the shared prefix, then its own entries"
                yield Sighting("branches", other.step.term.line, note)
                return


def _program_axes(view: View) -> list[str]:
    """Names that hold a program's place along one axis of the grid."""
    return [
        name
        for name, definitions in view.definitions.items()
        if any(callee(d.value) == "program_id" for d in definitions if not d.weak)
    ]


def _tables(view: View, store: Store) -> list[Load]:
    """The tables that a stored value was read from."""
    found = [load for source in view.sources(store.value) for load in loads(source, deep=False)]
    return [Load(view.root(load.base), load.keys, load.term) for load in found]


def _addressed_by(view: View, store: Store, axis: str) -> bool:
    """Whether an address holds a product with a name: rows of a matrix by that axis."""
    for key in store.keys:
        for part in view.behind(key).values():
            if part.op == "op" and part.text == "*" and axis in {each.dotted() for each in part.walk()}:
                return True
    return False


def _read_by(view: View, load: Load, axis: str) -> bool:
    return any(axis in view.names_behind(key) for key in load.keys)
