"""What lies behind a value: the names, loads and terms that may have a part in it, by way of definitions.

Worked out by name and kept by name, since large kernels are asked thousands of times: a name's closure inside a loop is
found once, and a value's is the union over the names that it spells.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Protocol

from recon.detectors.shapes.terms import Load, loads, names_in
from recon.index.term import Term


class Defined(Protocol):
    """One way in which a name gets a value."""

    @property
    def value(self) -> Term:
        """The value."""
        ...

    @property
    def loops(self) -> Sequence[Term]:
        """Enclosing loops, outermost first."""
        ...


class Behind:
    """Closures over the definitions of one function."""

    def __init__(self, definitions: Mapping[str, Sequence[Defined]]) -> None:
        self._definitions = definitions
        self._spelled: dict[int, tuple[Term, frozenset[str]]] = {}
        self._inside: dict[int, tuple[Term, dict[int, Term]]] = {}
        self._valued: dict[tuple[str, int], list[Term]] = {}
        self._onward: dict[tuple[str, int], frozenset[str]] = {}
        self._closed: dict[tuple[str, int], frozenset[str]] = {}
        self._led: dict[tuple[int, int], tuple[Term, frozenset[str]]] = {}
        self._used_by: dict[int, dict[str, set[str]]] = {}
        self._loads: dict[int, tuple[Term, list[Load]]] = {}
        self._read: dict[tuple[int, int], tuple[Term, list[Load]]] = {}
        self._named: dict[tuple[str, int], dict[int, Load]] = {}

    def names(self, term: Term, loop: Term | None) -> set[str]:
        """Dotted names that may have a part in a value."""
        found: set[str] = set()
        for name in self._names_in(term):
            if name not in found:
                found |= self._closure(name, loop)
        return found

    def values(self, term: Term, loop: Term | None) -> Iterator[Term]:
        """The term itself and the values of all definitions behind it."""
        yield term
        for name in self.names(term, loop):
            yield from self._values(name, loop)

    def loads(self, term: Term, loop: Term | None) -> list[Load]:
        """Loads that may have a part in a value."""
        known = self._read.get((id(term), id(loop)))
        if known is None:
            found = {id(load.term): load for load in self._loads_in(term)}
            for name in self.names(term, loop):
                found.update(self._loads_at(name, loop))
            known = self._read[id(term), id(loop)] = term, list(found.values())
        return known[1]

    def holds(self, term: Term, part: Term, loop: Term | None) -> bool:
        """Whether one term may have a part in another's value."""
        if id(part) in self._parts(term):
            return True
        return not self._leading_to(part, loop).isdisjoint(self._names_in(term))

    def _leading_to(self, part: Term, loop: Term | None) -> frozenset[str]:
        """The names that a term may have a part in: found backwards once, not forwards for each name."""
        key = (id(part), id(loop))
        known = self._led.get(key)
        if known is None:
            holders = {
                name
                for name, definition in self._holders.get(id(part), ())
                if loop is None or any(outer is loop for outer in definition.loops)
            }
            users = self._users(loop) if holders else {}
            stack = list(holders)
            while stack:
                fresh = users.get(stack.pop(), set()) - holders
                holders |= fresh
                stack += fresh
            known = self._led[key] = part, frozenset(holders)
        return known[1]

    def _users(self, loop: Term | None) -> dict[str, set[str]]:
        """For each name those that are defined with it, inside a loop if one is given."""
        known = self._used_by.get(id(loop))
        if known is None:
            known = self._used_by[id(loop)] = {}
            for name, value in self._set_in.get(id(loop), ()):
                for other in self._names_in(value):
                    known.setdefault(other, set()).add(name)
        return known

    @cached_property
    def _set_in(self) -> dict[int, list[tuple[str, Term]]]:
        """All definitions by the identity of each loop around them, and under that of None."""
        found: dict[int, list[tuple[str, Term]]] = {}
        for name, definitions in self._definitions.items():
            for definition in definitions:
                for loop in (None, *definition.loops):
                    found.setdefault(id(loop), []).append((name, definition.value))
        return found

    @cached_property
    def _holders(self) -> dict[int, list[tuple[str, Defined]]]:
        """The definitions in whose values a term stands, by the term's identity: few, where closures are large."""
        found: dict[int, list[tuple[str, Defined]]] = {}
        for name, definitions in self._definitions.items():
            for definition in definitions:
                for part in self._parts(definition.value):
                    found.setdefault(part, []).append((name, definition))
        return found

    def terms(self, term: Term, loop: Term | None) -> dict[int, Term]:
        """All terms that may have a part in a value, by identity."""
        found: dict[int, Term] = {}
        for value in self.values(term, loop):
            if id(value) not in found:
                found.update(self._parts(value))
        return found

    def _values(self, name: str, loop: Term | None) -> list[Term]:
        known = self._valued.get((name, id(loop)))
        if known is None:
            definitions = self._definitions.get(name, ())
            known = [d.value for d in definitions if loop is None or any(outer is loop for outer in d.loops)]
            self._valued[name, id(loop)] = known
        return known

    def _loads_at(self, name: str, loop: Term | None) -> dict[int, Load]:
        """The loads in the values of a name."""
        known = self._named.get((name, id(loop)))
        if known is None:
            known = {id(load.term): load for value in self._values(name, loop) for load in self._loads_in(value)}
            self._named[name, id(loop)] = known
        return known

    def _closure(self, name: str, loop: Term | None) -> frozenset[str]:
        key = (name, id(loop))
        known = self._closed.get(key)
        if known is not None:
            return known
        seen = {name}
        stack = [name]
        while stack:
            for other in self._next(stack.pop(), loop):
                if other not in seen:
                    seen.add(other)
                    stack.append(other)
        found = self._closed[key] = frozenset(seen)
        return found

    def _next(self, name: str, loop: Term | None) -> frozenset[str]:
        key = (name, id(loop))
        known = self._onward.get(key)
        if known is None:
            known = frozenset().union(*(self._names_in(value) for value in self._values(name, loop)))
            self._onward[key] = known
        return known

    # Each memo keeps the term beside the answer, so that the term's identity is not given away to another one.

    def _names_in(self, term: Term) -> frozenset[str]:
        known = self._spelled.get(id(term))
        if known is None:
            known = self._spelled[id(term)] = (term, frozenset(names_in(term)))
        return known[1]

    def _parts(self, term: Term) -> dict[int, Term]:
        """A term and all below it, by identity."""
        known = self._inside.get(id(term))
        if known is None:
            walked = term.walk()
            known = self._inside[id(term)] = (term, dict(zip(map(id, walked), walked, strict=True)))
        return known[1]

    def _loads_in(self, term: Term) -> list[Load]:
        known = self._loads.get(id(term))
        if known is None:
            known = self._loads[id(term)] = (term, loads(term))
        return known[1]
