"""Building a draft tree by a template: a fixed list of paths, or of widths, along which every step drafts."""

from collections.abc import Iterator

from recon.detectors.shapes.building import topks
from recon.detectors.shapes.flow import View
from recon.detectors.shapes.terms import arguments, callee, loads
from recon.index.sighting import Sighting
from recon.index.term import Term


def tree_templates(view: View) -> Iterator[Sighting]:
    """Code that lays out a fixed tree, or drafts along one."""
    yield from _levels(view)
    yield from _fixed_widths(view)


def _levels(view: View) -> Iterator[Sighting]:
    """`count[len(path) - 1] += 1` over the paths, with neighbouring counts joined or the paths' prefixes taken."""
    for store in view.stores():
        if not store.step.loops or store.step.term.op != "assign" or store.step.term.text != "+":
            continue
        loop = store.step.loops[-1]
        for key in store.keys:
            path = _measured(view, key, loop)
            if path and (_joins_levels(view, store.base) or _cuts_prefix(view)):
                note = "a fixed list of paths is laid out: its nodes are counted level by level"
                yield Sighting("template.levels", store.step.term.line, note)
                return


def _measured(view: View, key: Term, loop: Term) -> str:
    """The element of a loop whose length a key is made of."""
    elements = {part.dotted() for part in loop.parts[0].walk()} - {""} if loop.op == "for" else set()
    for part in view.behind(key, loop).values():
        if callee(part) == "len" and len(part.parts) == 2 and part.parts[1].dotted() in elements:
            return part.parts[1].dotted()
    return ""


def _joins_levels(view: View, counts: str) -> bool:
    """`counts[level] // counts[level - 1]`, `ends[-1] + counts[level]`: a level's width follows from the one before."""
    for step in view.steps:
        for part in step.terms:
            if step.loops and part.op == "op" and part.text in ("//", "/", "+"):
                found = [load for side in part.parts for load in loads(side, deep=False)]
                if len(found) == 2 and any(load.base == counts for load in found):
                    return True
    return False


def _cuts_prefix(view: View) -> bool:
    """`path[:-1]`, the parent of a path."""
    for step in view.steps:
        for part in step.terms:
            if part.op == "index" and len(part.parts) == 2 and part.parts[1].op == "slice":
                low, high, _ = part.parts[1].parts
                if low.op == "none" and high.op in ("const", "neg", "op") and step.loops:
                    return True
    return False


def _fixed_widths(view: View) -> Iterator[Sighting]:
    """A loop that drafts, with as many children a parent as a table says for the level."""
    for top, step in topks(view):
        if not step.loops:
            continue
        loop = step.loops[-1]
        counts = [part for part in top.parts[1:] if part.op != "kw" or part.text == "k"]
        for count in counts[1:] if top.parts[0].op == "attr" and _is_torch(top) else counts[:2]:
            width = count.parts[0] if count.op == "kw" else count
            if _is_by_level(view, width, loop) and _runs_model(view, top, loop):
                note = "each level is expanded by as many children a parent as a fixed table says"
                yield Sighting("template.widths", top.line, note)
                return


def _is_torch(term: Term) -> bool:
    return term.parts[0].parts[0].dotted() in ("torch", "jnp", "np")


def _is_by_level(view: View, width: Term, loop: Term) -> bool:
    """Whether a number of children is an element of a table, by the loop's level."""
    target = {part.dotted() for part in loop.parts[0].walk()} - {""} if loop.op == "for" else set()
    if width.dotted() in target and loop.op == "for":
        return callee(loop.parts[1]) not in ("range", "arange")
    return any(target & view.names_behind(key, loop) for load in view.loads_of(width, loop) for key in load.keys)


def _runs_model(view: View, top: Term, loop: Term) -> bool:
    """Whether what is ranked comes from a call in the loop that was given what an earlier round chose."""
    given = [part for part in arguments(top) if part.op != "kw"]
    for part in [one for each in given for one in view.behind(each, loop).values()]:
        if part.op == "call" and part.parts[0].op == "attr" and len(part.parts) > 1 and view.holds(part, top, loop):
            return True
    return False
