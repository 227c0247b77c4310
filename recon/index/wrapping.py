"""Decorators: what they are given, and what stands in the place of what they decorate."""

from typing import NamedTuple

from recon.index.names import Names
from recon.index.passing import Passing
from recon.index.records import Call, Scope, ScopeKind
from recon.index.tables import Ref, Table
from recon.index.values import Kind, Value


class Step(NamedTuple):
    """One decorator, applied."""

    functions: tuple[Value, ...]
    """What is called with the thing decorated, and before that, what is called to get it."""


class Wrapping:
    """What the decorators of the tree make of functions and classes."""

    def __init__(self, names: Names, passing: Passing) -> None:
        self._names = names
        self._passing = passing
        self._wrappers: dict[Ref, tuple[Value, ...]] = {}

    def of(self, ref: Ref) -> tuple[Value, ...]:
        """The functions that are called in the place of a decorated one; () where it is called itself."""
        known = self._wrappers.get(ref)
        if known is None:
            row = self._names.scope_of(ref)
            if row.decorators:
                self._wrappers[ref] = ()
                self.steps(self._names.tables[ref.path], row)
            known = self._wrappers.setdefault(ref, ())
        return known

    def steps(self, table: Table, row: Scope) -> list[Step]:
        """Apply the decorators of a definition, the innermost first."""
        thing = Value(Kind.DEFINITION, Ref(table.path, row.id), exact=True)
        current: tuple[Value, ...] = (thing,)
        found: list[Step] = []
        for word in reversed(row.decorators):
            functions = self._names.values(table.path, row.parent, word, row.first_line)
            called: tuple[Value, ...] = ()
            if _call_of(table, row, word) is not None:
                called = tuple(v for v in functions if v.kind is Kind.DEFINITION)
                functions = self._names.results_of(called) or tuple(v for v in functions if v.kind is Kind.OUTSIDE)
            found.append(Step(tuple(v for v in functions if v not in called)))
            current = self._applied(functions, current)
        if row.kind is ScopeKind.FUNCTION:
            self._wrappers[thing.ref or Ref("", 0)] = tuple(v for v in current if v.ref != thing.ref)
        return found

    def _applied(self, functions: tuple[Value, ...], given: tuple[Value, ...]) -> tuple[Value, ...]:
        """What decorators give back for what they are given."""
        if any(value.kind is Kind.OUTSIDE for value in functions):
            return given
        found: dict[Value, None] = {}
        for value in functions:
            is_known = value.kind is Kind.DEFINITION and value.ref is not None
            if not is_known or self._names.classes.is_class(value.ref):
                continue
            assert value.ref is not None
            row = self._names.scope_of(value.ref)
            if row.params:
                is_bound = self._names.tables[value.ref.path].is_method(row) and len(row.params) > 1
                first = row.params[int(is_bound)].name
                self._passing.hand((value.ref, first), given)
                found.update(dict.fromkeys(self._given_back(value.ref, row, first, given)))
        return tuple(found) or given

    def _given_back(self, ref: Ref, row: Scope, first: str, given: tuple[Value, ...]) -> list[Value]:
        """What one decorator gives back: what it was given, or a function of its own."""
        table = self._names.tables[ref.path]
        found: list[Value] = []
        for bind in table.entries[ref.scope].get("return", ()):
            text = getattr(bind, "value", "")
            if text == first:
                found += given
                continue
            values = self._names.values(ref.path, ref.scope, text, row.end_line + 1)
            found += [v for v in values if v.kind is Kind.DEFINITION and not self._names.classes.is_class(v.ref)]
        return found


def _call_of(table: Table, row: Scope, word: str) -> Call | None:
    """The call of a decorator that is given arguments."""
    return table.call_between(row.parent, range(row.first_line, row.line + 1), word)
