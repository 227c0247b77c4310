"""The call graph of a tree by names, as PyCG spells them, so that it can be compared with others."""

from types import GeneratorType

from recon.index.graph import Graph
from recon.index.records import ScopeKind
from recon.index.strings import file_of
from recon.index.tables import Ref, is_python
from recon.records.callgraph import CallEdge, CallGraph
from recon.records.path import OUTSIDE
from recon.records.unknown import Unknown

_TYPES: dict[str, tuple[str, type]] = {
    "<str>": ("<**PyStr**>", str),
    "<dict>": ("<**PyDict**>", dict),
    "<list>": ("<**PyList**>", list),
    "<tuple>": ("<**PyTuple**>", tuple),
    "<set>": ("<**PySet**>", set),
    "<int>": ("<**PyNum**>", int),
    "<float>": ("<**PyNum**>", float),
    "<bytes>": ("<**PyBytes**>", bytes),
    "<generator>": ("<**PyGenerator**>", GeneratorType),
}
"""How PyCG spells the types of literals, by how an outline does."""
_CHAIN = "it was not followed to its end; calls may be missing"


def by_names(graph: Graph, unread: tuple[Unknown, ...] = ()) -> CallGraph:
    """The graph by names, with the calls that leave the tree."""
    edges = {
        CallEdge(_caller(graph, source), target, line, OUTSIDE, tier)
        for source, name, line, tier in graph.outside()
        if (target := outside_name(name))
    }
    for edge in graph.edges():
        target = _name(graph, edge.target)
        edges.add(CallEdge(_caller(graph, edge.source), target, edge.line, edge.dispatch, edge.tier))
    nodes = [
        _name(graph, Ref(path, row.id))
        for path, table in graph.names.tables.items()
        for row in table.scopes
        if row.kind is not ScopeKind.CLASS and (row.id or is_python(path))
    ]
    ordered = sorted(edges, key=lambda edge: (edge.source, edge.line, edge.target, edge.dispatch))
    unfollowed = tuple(Unknown("a long chain of names", where, _CHAIN) for where in sorted(graph.names.unfollowed))
    return CallGraph(tuple(sorted(set(nodes))), tuple(ordered), unread, unfollowed)


def _caller(graph: Graph, ref: Ref) -> str:
    """Whose call it is: a class's body is run by what is around it."""
    scopes = graph.names.tables[ref.path].scopes
    scope = ref.scope
    while scopes[scope].kind is ScopeKind.CLASS:
        scope = scopes[scope].parent
    return _name(graph, Ref(ref.path, scope))


def _name(graph: Graph, ref: Ref) -> str:
    table = graph.names.tables[ref.path]
    name = table.qualname(ref.scope)
    module = table.module or file_of(ref.path)
    return f"{module}.{name}" if name else module


def outside_name(text: str) -> str:
    """The name of something outside of the tree; '' for what a builtin type does not have, or what one gave back.

    >>> outside_name("ext.Cls().fun"), outside_name("<str>.join"), outside_name("<str>.join().split")
    ('ext.Cls.fun', '<**PyStr**>.join', '')
    >>> outside_name("<list>.y")
    ''
    """
    root, _, rest = text.partition(".")
    if root in _TYPES:
        spelled, kind = _TYPES[root]
        return f"{spelled}.{rest}" if hasattr(kind, rest) else ""
    return ".".join(part.partition("[")[0] for part in text.replace("()", "").split("."))
