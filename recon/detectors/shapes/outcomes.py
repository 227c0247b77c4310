"""Comparisons by outcome: which of them a mask, a count or a selection is made of, and whether it was turned round."""

from collections.abc import Mapping, Sequence

from recon.detectors.shapes.laid import Definition
from recon.detectors.shapes.terms import CASTS, JOINS, LOGIC, MATHS, MODULES, arguments, callee, is_whole
from recon.index.term import Term


class Outcomes:
    """Questions about the comparisons behind values, over the definitions of one function."""

    def __init__(self, definitions: Mapping[str, Sequence[Definition]]) -> None:
        self._definitions = definitions
        self._matches: dict[int, tuple[Term, dict[int, Term]]] = {}  # with the term, so that its identity stays its own

    def matches(self, term: Term) -> dict[int, Term]:
        """The comparisons whose outcome a mask, a count or a selection is made of, through casts and logic only."""
        known = self._matches.get(id(term))
        if known is not None:
            return known[1]
        found: dict[int, Term] = {}
        stack, seen = [term], set[int]()
        while stack:
            current = stack.pop()
            if id(current) in seen:
                continue
            seen.add(id(current))
            if current.op == "compare":
                found[id(current)] = current
            stack.extend(self._logic_of(current))
        self._matches[id(term)] = term, found
        return found

    def negates(self, term: Term, match: Term) -> bool:
        """Whether the outcome of a comparison enters a value turned round: `~match`, `1 - match`, `match == 0`."""
        stack, seen = [(term, False)], set[int]()
        while stack:
            current, turned = stack.pop()
            if current is match:
                return turned
            if id(current) not in seen:
                seen.add(id(current))
                stack.extend((part, turned != _turns(current)) for part in self._logic_of(current))
        return False

    def _logic_of(self, term: Term) -> list[Term]:
        if term.op == "compare" and all(part.op != "const" for part in term.parts):
            return []  # its outcome is new; only `match != 0` hands an outcome on
        if term.op in ("op", "not", "neg", "and", "or", "select", "item", "bind", "compare", "kw"):
            return list(term.parts)
        if term.op == "comp":
            return [term.parts[0]]
        if term.op == "index" and (callee(term.parts[0]) or all(map(is_whole, term.parts[1:]))):
            return [term.parts[0]]
        if term.op in ("name", "attr") and term.dotted() in self._definitions:
            return [d.value for d in self._definitions[term.dotted()] if not d.weak]
        name = callee(term)
        if name == "where" or name in MATHS or name in LOGIC:
            return list(term.parts[1:]) + ([term.parts[0].parts[0]] if term.parts[0].op == "attr" else [])
        if name in JOINS:
            given = [part for part in arguments(term) if part.op in ("tuple", "name", "call", "attr")]
            return [each for part in given for each in (part.parts if part.op == "tuple" else (part,))]
        if name in CASTS:
            receiver = term.parts[0].parts[0] if term.parts[0].op == "attr" else None
            is_method = receiver is not None and receiver.dotted() not in MODULES
            return [receiver] if is_method and receiver is not None else list(term.parts[1:2])
        return []


def _turns(term: Term) -> bool:
    """Whether what a value is made of enters it turned round."""
    match term.op:
        case "not":
            return True
        case "op":
            return term.text == "-" and term.parts[0].op == "const"
        case "compare":
            ends = [part.text for part in term.parts if part.op == "const"]
            return (term.text, *ends) in (("==", "0"), ("<", "1"), ("==", "False"), ("<=", "0"))
        case "select":
            return term.parts[1].op == "const" and term.parts[1].text in ("0", "False")
        case "call":
            return callee(term) in ("logical_not", "bitwise_not")
    return False
