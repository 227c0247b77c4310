"""Masks of bits: a packed array that says, for each query and key, whether the one may see the other."""

from collections.abc import Iterator

from recon.detectors.shapes.algebra import addends, alike, is_number
from recon.detectors.shapes.flow import View
from recon.detectors.shapes.terms import names_in
from recon.index.sighting import Sighting
from recon.index.term import Term


def mask_bits(view: View) -> Iterator[Sighting]:
    """A function that answers by the bit at query * length + key of a packed array.

    Attention whose variants are put together from such functions asks one of them for each score. The sighting's
    detail is the array's name.
    """
    answers = [step.term for step in view.steps if step.term.op == "return"]
    for step in view.steps:
        for term in step.terms:
            looked_up = _bit(term)
            if looked_up is None or not any(view.holds(answer, term) for answer in answers):
                continue
            array, place = looked_up
            if _is_by_row_and_column(view, place):
                note = "a bit of a packed mask, looked up by query and key, decides whether a score counts"
                yield Sighting("bits", term.line, note, view.root(array))
                return


def _bit(term: Term) -> tuple[str, Term] | None:
    """The array and the place of `(array[place / 8] >> (place % 8)) & 1`."""
    if term.op != "op" or term.text != "&" or not is_number(term.parts[1], 1):
        return None
    shifted = term.parts[0]
    if shifted.op != "op" or shifted.text != ">>" or shifted.parts[0].op != "index" or len(shifted.parts[0].parts) != 2:
        return None
    array, key = shifted.parts[0].parts
    whole, rest = _parted(key, "/", ">>"), _parted(shifted.parts[1], "%", "&")
    if whole is None or rest is None or not alike(whole, rest):
        return None
    return array.dotted(), whole


def _parted(term: Term, *signs: str) -> Term | None:
    """What a number of bits is taken from: `x` of `x / 8`, `x >> 3`, `x % 8`, `x & 7`."""
    return term.parts[0] if term.op == "op" and term.text in signs and term.parts[1].op == "const" else None


def _is_by_row_and_column(view: View, place: Term) -> bool:
    """Whether a place is a row times a length, and a column."""
    parts = [each.term for each in addends(view, place)]
    rows = [part for part in parts if part.op == "op" and part.text == "*"]
    columns = [part for part in parts if part.op == "name"]
    return any(not names_in(column) & names_in(row) for row in rows for column in columns)
