"""Small algebra over Terms: numbers, addends, quotients, limits, whatever the language spells them with."""

from collections.abc import Iterator
from dataclasses import dataclass

from recon.detectors.shapes.flow import View
from recon.detectors.shapes.terms import arguments, callee, is_constant
from recon.index.term import Term

_LOWER = frozenset(
    {"minimum", "min", "fmin", "fminf", "clamp_max", "clamp", "clip", "clamp_", "clamp_max_", "minimum_"}
)
_DIVISIONS = frozenset({"div", "true_divide", "divide", "fdiv", "__fdividef", "div_rn", "__fdiv_rn"})
_DEEPEST = 6
"""Names followed to find the addends of a sum."""


@dataclass(frozen=True, slots=True)
class Addend:
    """One part of a sum."""

    term: Term
    is_added: bool
    """False where it is taken away."""


def is_number(term: Term, value: float) -> bool:
    """Whether a term is a literal of a value: `1`, `1.0f`, `float(1)`, `T(1)`, a tensor filled with it."""
    if term.op == "const":
        try:
            return float(term.text.rstrip("fFlLuU")) == value
        except ValueError:
            return False
    if term.op == "kw":
        return is_number(term.parts[0], value)
    name = callee(term)
    if name in ("ones_like", "ones", "zeros_like", "zeros"):
        return value == float(name.startswith("ones"))
    if name in ("full", "full_like"):
        return len(term.parts) > 2 and is_number(term.parts[2], value)
    is_cast = (
        len(term.parts) == 2 and name not in _LOWER and term.parts[1].op != "kw"
    )  # `float(1)`, not `x.clamp(max=1)`
    return term.op == "call" and is_cast and is_number(term.parts[1], value)


def alike(one: Term, other: Term) -> bool:
    """Whether two terms are spelled alike, wherever they stand."""
    return (
        one.op == other.op
        and one.text == other.text
        and len(one.parts) == len(other.parts)
        and all(alike(left, right) for left, right in zip(one.parts, other.parts, strict=True))
    )


def quotient(term: Term) -> tuple[Term, Term] | None:
    """What is divided by what, if a term is a division."""
    if term.op == "op" and term.text == "/":
        return term.parts[0], term.parts[1]
    if callee(term) in _DIVISIONS:
        given = [part for part in arguments(term) if part.op != "kw" and part.dotted() not in ("torch", "tl", "np")]
        return (given[0], given[1]) if len(given) == 2 else None
    return None


def addends(view: View, term: Term, depth: int = _DEEPEST) -> list[Addend]:
    """The parts of a sum, through names that are set once."""
    if term.op == "op" and term.text in ("+", "-"):
        left, right = (addends(view, part, depth) for part in term.parts)
        flip = term.text == "-"
        return [*left, *(Addend(each.term, each.is_added != flip) for each in right)]
    if term.op == "name" and depth:
        values = [d.value for d in view.definitions.get(term.text, ()) if not d.weak]
        if len(values) == 1 and values[0].op == "op" and values[0].text in ("+", "-"):
            return addends(view, values[0], depth - 1)
    return [Addend(term, is_added=True)]


def limited(term: Term, bound: float) -> Iterator[Term]:
    """What a term holds below a bound: the other part of a `min`, a `clamp`, or a selection that puts the bound."""
    for part in term.walk():
        if callee(part) in _LOWER:
            given = arguments(part)
            others = [each for each in given if not is_constant(each) and each.op != "kw"]
            if any(is_number(each, bound) for each in given if each.op != "kw" or each.text == "max"):
                yield from others
        elif part.op == "select" or (callee(part) == "where" and len(part.parts) == 4):
            test, *branches = part.parts[-3:]
            if test.op == "compare" and any(is_number(side, bound) for side in test.parts):
                chosen = [each for each in branches if not is_number(each, bound)]
                if len(chosen) == 1:
                    yield chosen[0]
