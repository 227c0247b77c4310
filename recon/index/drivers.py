"""Who drives the work in a tree whose classes bear no word for their role: told by what it does alone.

An engine's step runs over and over, in a loop that no count ends, and the model and most of what the shapes saw lie
below it. Loops farther out lead there too: they serve requests, or start the process in which the step runs. So of the
loops that lead to most of it the innermost counts. A library of kernels runs no model in a loop, and has no driver.
"""

from collections.abc import Collection, Iterable, Iterator

from recon.index.edge import Edge
from recon.index.graph import Graph
from recon.index.names import Names
from recon.index.records import Feature, ScopeKind
from recon.index.tables import Ref, is_python
from recon.records.path import Tier

_SHARE = 2
"""A loop counts that leads to more than one of so many parts of what the best one leads to."""
_MODULE = "nn.Module"
_FORWARD = "forward"


def drivers(names: Names, graph: Graph, landmarks: Collection[Ref]) -> Iterator[Ref]:
    """The functions that drive a tree, in the order of files and lines.

    Args:
        names: The definitions of the tree.
        graph: Who calls whom.
        landmarks: Functions in which a shape was seen.
    """
    reached = {ref: below(graph, [ref]) for ref in _endless(names)}
    worth = {
        ref: sum(one in landmarks for one in found)
        for ref, found in reached.items()
        if any(_is_forward(names, one) for one in found)
    }
    most = max(worth.values(), default=0)
    best = [ref for ref, landmarks_below in worth.items() if landmarks_below * _SHARE > most]
    for ref in best:
        if not any(other in reached[ref] and ref not in reached[other] for other in best if other != ref):
            yield ref


def owner_of(names: Names, ref: Ref) -> Ref | None:
    """The class around a definition."""
    scope = names.tables[ref.path].class_around(ref.scope)
    return None if scope is None else Ref(ref.path, scope)


def below(graph: Graph, refs: Iterable[Ref]) -> set[Ref]:
    """Some definitions and all that they lead to without a guess."""
    seen = set(refs)
    todo = list(seen)
    while todo:
        for edge in _sure(graph.edges_from(todo.pop())):
            if edge.target not in seen:
                seen.add(edge.target)
                todo.append(edge.target)
    return seen


def _endless(names: Names) -> Iterator[Ref]:
    for table in names.tables.values():
        if is_python(table.path):
            for row in table.scopes:
                if row.kind is ScopeKind.FUNCTION and row.features & Feature.ENDLESS and not row.features & Feature.JIT:
                    yield Ref(table.path, row.id)


def _is_forward(names: Names, ref: Ref) -> bool:
    """Whether a definition is what a torch module does when it is called."""
    if names.scope_of(ref).name != _FORWARD:
        return False
    owner = owner_of(names, ref)
    return owner is not None and any(base.endswith(_MODULE) for base in names.classes.outside_bases(owner))


def _sure(edges: Iterable[Edge]) -> Iterator[Edge]:
    return (edge for edge in edges if edge.tier is not Tier.GUESS)
