"""Small source trees written in the tests as strings."""

from textwrap import dedent

from recon.index.graph import Graph
from recon.index.names import Names
from recon.index.pool import outline_of
from recon.index.tables import Ref


def names(files: dict[str, str]) -> Names:
    """The names of a tree given as path to source."""
    return Names({path: outline_of(path, dedent(source).encode()) for path, source in files.items()})


def graph(files: dict[str, str]) -> Graph:
    """The call graph of a tree given as path to source."""
    return Graph(names(files))


def place(tree: Names, ref: Ref) -> str:
    """A definition as `path:Qual.name`."""
    return f"{ref.path}:{tree.qualname(ref)}"


def ref_of(tree: Names, spelled: str) -> Ref:
    """The definition that `path:Qual.name` names."""
    path, _, qualname = spelled.partition(":")
    found = [
        Ref(path, scope.id) for scope in tree.tables[path].scopes if tree.qualname(Ref(path, scope.id)) == qualname
    ]
    return found[-1]


def edges(files: dict[str, str], source: str) -> set[tuple[str, str, str]]:
    """What a definition calls: (target, dispatch, tier)."""
    made = graph(files)
    found = made.edges_from(ref_of(made.names, source))
    return {(place(made.names, edge.target), edge.dispatch, edge.tier.value) for edge in found}
