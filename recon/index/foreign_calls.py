"""Calls that leave the tree: what is called lies in another distribution, imported by name or through its module."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from recon.index.records import Call, Import
from recon.index.tables import Ref, is_python

if TYPE_CHECKING:
    from recon.index.index import Index

_ALWAYS_THERE = {"torch", "triton"}
"""Not of the tree, and no place where verification would be defined."""


@dataclass(frozen=True, slots=True)
class ForeignCall:
    """One of them."""

    caller: Ref
    call: Call
    name: str
    """Dotted, from the distribution's own module on."""

    @property
    def last(self) -> str:
        """What is called, without the modules and objects that it belongs to."""
        return self.name.rpartition(".")[2]


def foreign_calls(index: "Index") -> Iterator[ForeignCall]:
    """All of a tree's Python, in the order of files and calls."""
    own = {table.module.partition(".")[0] for table in index.names.tables.values()} | _ALWAYS_THERE
    for path, outline in index.files.items():
        if not is_python(path):
            continue
        imported = {item.alias: item for item in outline.imports if _is_foreign(item, own)}
        if not imported:
            continue
        for call in outline.calls:
            name = _name(call.callee, imported)
            if name:
                yield ForeignCall(Ref(path, call.scope), call, name)


def _is_foreign(item: Import, own: set[str]) -> bool:
    return not item.module.startswith(".") and item.module.partition(".")[0] not in own


def _name(callee: str, imported: Mapping[str, Import]) -> str:
    first, dot, rest = callee.partition(".")
    item = imported.get(first)
    if item is None or "(" in callee or "[" in callee:
        return ""
    whole = f"{item.module}.{item.name}" if item.name else item.module
    return f"{whole}.{rest}" if dot else whole
