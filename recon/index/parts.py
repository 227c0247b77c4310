"""From an index to what is kept of it: definitions, the edges between them, and everything else with a name."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from recon.index.records import Scope, ScopeKind
from recon.index.roots import root_of
from recon.index.strings import file_of
from recon.index.tables import Ref, Table, is_kernel, is_python
from recon.index.versions import is_graph_kept, version_for
from recon.kept.parts import MODULE, Definition, Edge, Mark, Parts
from recon.kept.store import path_of, write

if TYPE_CHECKING:
    from recon.index.index import Index

_REGISTER = "register"
_QUOTES = frozenset("\"'")
_OF_TORCH = frozenset({"register_parameter", "register_buffer", "register_module"})
"""Names of a module's own tensors: nothing is looked up by them."""


def keep(index: "Index", cache_dir: Path) -> None:
    """Keep what questions about a tree need, unless this version of recon has kept it already.

    Raises:
        OSError, sqlite3.Error: the cache folder cannot be written.
        ValueError: there is more than any tree holds.
    """
    if not is_graph_kept(index.snapshot, cache_dir):
        write(path_of(cache_dir, index.snapshot.digest), parts_of(index))


def parts_of(index: "Index") -> Parts:
    """What is kept of one tree."""
    refs = [ref for table in index.names.tables.values() for ref in table.refs]  # in the order of paths
    numbers = {ref: number for number, ref in enumerate(refs)}
    edges = [
        Edge(numbers[edge.source], numbers[edge.target], edge.line, edge.dispatch, edge.tier)
        for edge in index.graph.edges()
    ]
    operators = tuple(_operators(index))
    told = {(each.path, each.line) for each in operators}
    registered = (each for each in _registrations(index) if (each.path, each.line) not in told)
    marks = dict.fromkeys((*_launches(index), *operators, *registered))
    definitions = [_definition(index, ref, number) for ref, number in numbers.items()]
    return Parts(version_for(index.snapshot), definitions, edges, tuple(marks))


def _definition(index: "Index", ref: Ref, number: int) -> Definition:
    scope = index.names.scope_of(ref)
    kind = scope.kind.value
    if scope.kind is ScopeKind.FUNCTION and is_kernel(scope):
        kind = "kernel"
    symbol = index.names.qualname(ref) if kind != MODULE else "<module>"
    first, line = max(scope.first_line, 1), max(scope.line, 1)
    root = root_of(index, ref) if ref in index.steps.roots else ""
    return Definition(number, kind, file_of(ref.path), line, first, scope.end_line, symbol, root)


def _launches(index: "Index") -> Iterator[Mark]:
    for edge in index.graph.edges():
        if edge.dispatch == "launch":
            target = index.names.scope_of(edge.target)
            what = f"launches the kernel at {file_of(edge.target.path)}:{target.line}, {edge.tier.value}"
            yield _held(index, edge.source, Mark("launch", index.names.qualname(edge.target), "", edge.line, "", what))


def _operators(index: "Index") -> Iterator[Mark]:
    """Each operator where it is registered, wrapped or called, or else in the library that holds it."""
    for each in index.operators:
        name = f"{each.namespace}::{each.name}" if each.namespace else each.name
        what = f"{each.status.value}; {each.schema}" if each.schema else each.status.value
        sites = (*each.registrations, *each.wrappers, *each.calls, *each.fakes)
        if sites:
            yield Mark("op", name, sites[0].path, sites[0].line, sites[0].symbol, what)
        else:
            yield Mark("op", name, next(iter(each.libraries), ""), 0, "", what)
        for site in each.registrations:
            yield Mark("registration", name, site.path, site.line, site.symbol, "registers the operator")


def _registrations(index: "Index") -> Iterator[Mark]:
    """What is entered somewhere under a name: by a call, by a decorator, or as a dotted string."""
    for table in index.names.tables.values():
        if not is_python(table.path):
            continue
        for call in table.outline.calls:
            last = call.callee.rpartition(".")[2]
            if _REGISTER in last.lower() and last not in _OF_TORCH and call.args and call.args[0][:1] in _QUOTES:
                what = f"{call.callee}({', '.join(arg or '...' for arg in call.args[:3])})"
                name = call.args[0].strip("\"'")
                yield _held(index, Ref(table.path, call.scope), Mark("registration", name, "", call.line, "", what))
        for scope in table.scopes:
            yield from _decorated(index, table, scope)
    for edge in index.graph.edges():
        if edge.dispatch == "string":
            what = f"a dotted string names {edge.target.path}"
            yield _held(
                index, edge.source, Mark("registration", index.names.qualname(edge.target), "", edge.line, "", what)
            )


def _decorated(index: "Index", table: Table, scope: Scope) -> Iterator[Mark]:
    for word in scope.decorators:
        if _REGISTER in word.rpartition(".")[2].lower() and scope.name != "_":
            ref = Ref(table.path, scope.id)
            yield _held(
                index,
                ref,
                Mark("registration", index.names.qualname(ref), "", scope.line, "", f"decorated with @{word}"),
            )


def _held(index: "Index", holder: Ref, mark: Mark) -> Mark:
    """A mark with the place of the definition that holds it."""
    return mark._replace(path=file_of(holder.path), symbol=index.names.qualname(holder) or "<module>")
