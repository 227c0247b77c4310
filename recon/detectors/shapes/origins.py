"""Where values come from: through casts, selections, arithmetic and names to what was loaded, called or given.

Large kernels are asked for the same values thousands of times, so what was found is kept, by identity.
"""

from collections.abc import Mapping, Sequence

from recon.detectors.shapes.laid import Definition, elements, within
from recon.detectors.shapes.terms import BEST, CASTS, MATHS, MODULES, Load, arguments, callee, loads
from recon.index.term import Term

_HANDING = frozenset({"op", "neg", "and", "or", "item", "assign"})  # an assignment inside a value is `out[n++]`
_ENDS = frozenset({"compare", "not", "const", "none"})


class Origins:
    """Questions about the sources of values, over the definitions of one function."""

    def __init__(self, definitions: Mapping[str, Sequence[Definition]]) -> None:
        self._definitions = definitions
        # Each memo keeps the term beside the answer, so that the term's identity is not given away to another one.
        self._sources: dict[tuple[int, int], tuple[Term, list[Term]]] = {}
        self._loads: dict[tuple[int, int], tuple[Term, list[Load]]] = {}

    def sources(self, term: Term, loop: Term | None) -> list[Term]:
        """Where a value itself comes from, through what keeps values."""
        known = self._sources.get((id(term), id(loop)))
        if known is not None:
            return known[1]
        found: list[Term] = []
        seen: set[int] = set()
        stack = [term]
        while stack:
            current = stack.pop()
            if id(current) in seen:
                continue
            seen.add(id(current))
            onward = self.carried_on(current, loop)
            if onward is None:
                found.append(current)
            else:
                stack.extend(onward)
        self._sources[id(term), id(loop)] = term, found
        return found

    def carried_on(self, term: Term, loop: Term | None) -> Sequence[Term] | None:
        """The terms whose values a term hands on; None if it is a source itself."""
        op = term.op
        if op in ("name", "attr"):
            return self._defined(term, loop)
        if op in _HANDING:
            return term.parts
        if op in _ENDS:
            return ()
        if op == "call":
            return _called(term)
        match op:
            case "select":
                return term.parts[1:]
            case "bind":
                return (term.parts[1],)
            case "each":
                return elements(term.parts[0])
        return None

    def _defined(self, term: Term, loop: Term | None) -> list[Term] | None:
        """What a name, or a field that is no entry of a table, is set to."""
        definitions = self._definitions.get(term.dotted())
        if not definitions or loads(term, deep=False):
            return None
        return [one.value for one in definitions if not one.weak and within(one.step, loop)] or None

    def loads(self, term: Term, loop: Term | None) -> list[Load]:
        """The loads that yield a value itself, or the row whose best entry it is: `argmax(logits[i])`."""
        known = self._loads.get((id(term), id(loop)))
        if known is not None:
            return known[1]
        found: list[Load] = []
        for source in self.sources(term, loop):
            found += loads(source, deep=False)
            if callee(source) in BEST:
                rows = [part for part in arguments(source) if part.op not in ("kw", "const")]
                found += [
                    load for row in rows for inner in self.sources(row, loop) for load in loads(inner, deep=False)
                ]
        self._loads[id(term), id(loop)] = term, found
        return found

    def operands(self, term: Term, loop: Term | None) -> list[Term]:
        """What a number is computed from: `sources`, and on through the arguments of plain mathematics."""
        found: dict[int, Term] = {}
        stack = [term]
        seen: set[int] = set()
        while stack:
            for source in self.sources(stack.pop(), loop):
                if id(source) in seen:
                    continue
                seen.add(id(source))
                if callee(source) in MATHS:
                    function = source.parts[0]
                    stack.extend(source.parts[1:])
                    stack.extend([function.parts[0]] if function.op == "attr" else [])
                else:
                    found[id(source)] = source
        return list(found.values())


def _called(term: Term) -> Sequence[Term] | None:
    """What a call hands on: the branches of a `where`, what a cast is applied to."""
    name = callee(term)
    if name == "where" and len(term.parts) == 4:
        return term.parts[2:]
    if name not in CASTS:
        return None
    function = term.parts[0]
    if function.op == "attr" and not _is_module(function.parts[0]):
        return function.parts
    return term.parts[1:2]


def _is_module(term: Term) -> bool:
    return term.op == "name" and term.text in MODULES
