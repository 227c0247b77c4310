"""What files call the libraries of arrays, found over the modules of the tree that hand such a name on.

Engines that run without triton too import it in one module, and `tl` from there everywhere else.
"""

from collections.abc import Iterator, Mapping
from functools import cached_property

from recon.index.libraries import SHORT, Aliases, library
from recon.index.names import Names
from recon.index.records import Import
from recon.index.tables import is_python
from recon.index.values import Kind


class LibraryAliases:
    """The aliases of each file.

    Args:
        names: The definitions of the tree.
    """

    def __init__(self, names: Names) -> None:
        self._names = names
        self._known: dict[str, Aliases] = {}

    def of(self, path: str) -> Aliases:
        """The aliases in a file, sorted."""
        if path not in self._known:
            self._known[path] = tuple(sorted(set(self._find(path)))) if is_python(path) else ()
        return self._known[path]

    def _find(self, path: str) -> Iterator[tuple[str, str]]:
        for item in self._names.tables[path].outline.imports:
            short = library(item) or self._handed_on(path, item)
            if short and short != item.alias:
                yield item.alias, short

    def _handed_on(self, path: str, item: Import) -> str:
        """The library that another module of the tree binds under the name that is imported."""
        if item.name not in self._unusual:
            return ""
        values = self._names.values(path, item.scope, item.alias)
        return next((SHORT[v.text] for v in values if v.kind is Kind.OUTSIDE and v.text in SHORT), "")

    @cached_property
    def _unusual(self) -> Mapping[str, None]:
        """The names by which the tree's files call a library and most do not."""
        found: dict[str, None] = {}
        for path, table in self._names.tables.items():
            for item in table.outline.imports if is_python(path) else ():
                short = library(item)
                if short and short != item.alias:
                    found[item.alias] = None
        return found
