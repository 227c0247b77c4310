"""Captured steps: how many tokens a request has in them, in which mode they run, and what stands in for drafts."""

from collections.abc import Iterator

from recon.detectors.shapes.flow import View
from recon.detectors.shapes.laid import Step
from recon.detectors.shapes.terms import callee, names_in
from recon.index.sighting import Sighting
from recon.index.spell import words
from recon.index.term import Term

_DRAFTS = words("spec speculative speculation draft drafts drafted lookahead")
_COUNTS = words("num n len length tokens steps count size width k")
_SAMPLED = words("sampled new bonus")
_HANDED_ON = words("int max min")
_VERIFY = words("verify verification verifying")
_PRODUCTS = ("*", "//", "%")
_MOST_FIELDS = 40


def captured_steps(view: View) -> Iterator[Sighting]:
    """All that one function of a file that captures graphs says of the steps in them."""
    yield from _widths(view)
    yield from _modes(view)
    yield from _uses(view)


def _widths(view: View) -> Iterator[Sighting]:
    """A field or local set to the number of drafted tokens and those that are sampled anyway, mostly one."""
    for name, definitions in view.definitions.items():
        for definition in definitions:
            is_width = not definition.weak and any(_is_one_more(view, part) for part in _choices(definition.value))
            if is_width and ("." in name or _is_used(view, name, definition.step)):
                note = "sets the tokens of each request to one more than are drafted"
                yield Sighting("capture.width", definition.value.line, note, name)
                break


def _is_used(view: View, name: str, at: Step) -> bool:
    """Whether a local is spelled anywhere but where it is set."""
    return any(name in names_in(step.term) for step in view.steps if step is not at)


def _choices(term: Term) -> Iterator[Term]:
    """The values that a name may get: both branches of a selection, the arguments of a cast or of a maximum."""
    if term.op == "select" or (term.op == "call" and callee(term) in _HANDED_ON):
        parts = term.parts[1:]
    else:
        yield term
        return
    for part in parts:
        yield from _choices(part)


def _is_one_more(view: View, term: Term) -> bool:
    if term.op != "op" or term.text != "+" or len(term.parts) != 2:
        return False
    sampled = [part for part in term.parts if _is_sampled(part)]
    rest = [part for part in term.parts if not _is_sampled(part)]
    return len(sampled) == len(rest) == 1 and _counts_drafts(view, rest[0])


def _is_sampled(term: Term) -> bool:
    """Whether a term is the number of tokens that a step yields without any draft: one, as a rule."""
    parts = words_of(term.dotted().rpartition(".")[2])
    return (term.op == "const" and term.text == "1") or not (_SAMPLED.isdisjoint(parts) or _COUNTS.isdisjoint(parts))


def _counts_drafts(view: View, term: Term) -> bool:
    """Whether a plain number is, or is read from, a count of drafted tokens."""
    return any(_is_count(source.dotted()) for source in (term, *view.sources(term)))


def _is_count(dotted: str) -> bool:
    parts = words_of(dotted.rpartition(".")[2])
    return not _DRAFTS.isdisjoint(parts) and not _COUNTS.isdisjoint(parts)


def _modes(view: View) -> Iterator[Sighting]:
    """A field set to the mode of a verification, or a stand-in for a verification's input that is made."""
    for name, definitions in view.definitions.items():
        for definition in definitions:
            dotted = definition.value.dotted()
            if "." in name and "." in dotted and not _VERIFY.isdisjoint(words_of(dotted.rpartition(".")[2])):
                yield Sighting("capture.mode", definition.value.line, "makes the captured step a verification", name)
                return
            if _is_made(definition.value) and not _VERIFY.isdisjoint(words_of(callee(definition.value))):
                note = "puts a verification's input in the place of drafts"
                yield Sighting("capture.input", definition.value.line, note, name)
                return


def _is_made(term: Term) -> bool:
    return callee(term)[:1].isupper()


def _uses(view: View) -> Iterator[Sighting]:
    """Fields by which sizes are computed or chosen."""
    fields: dict[str, int] = {}
    for step in view.steps:
        for term in step.terms:
            for part in _sizing(term):
                dotted = part.dotted()
                if dotted.startswith("self.") and dotted.count(".") == 1:
                    fields.setdefault(dotted, term.line)
    for name, line in list(fields.items())[:_MOST_FIELDS]:
        yield Sighting("capture.use", line, "computes a size with it", name)


def _sizing(term: Term) -> tuple[Term, ...]:
    """The parts of a term that a size is made of."""
    if term.op == "op" and term.text in _PRODUCTS:
        return term.parts
    if term.op == "select":
        return term.parts[1:]
    if term.op == "call":
        return tuple(part.parts[0] if part.op == "kw" else part for part in term.parts[1:])
    return term.parts[-1:] if term.op == "assign" else ()


def words_of(name: str) -> frozenset[str]:
    """The words of a name, of `CamelCase` and of `snake_case` alike, in lower case."""
    spaced = "".join(f"_{letter.lower()}" if letter.isupper() and not name.isupper() else letter for letter in name)
    return frozenset(spaced.lower().split("_"))
