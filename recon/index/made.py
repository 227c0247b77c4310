"""What a tree makes of its functions without defining anew: wrapped by hand, imported by a string, patched in."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from recon.index.records import Bind, Call
from recon.index.spell import words
from recon.index.tables import Patch, Table
from recon.index.values import Kind, Value, weakened
from recon.records.path import Tier

if TYPE_CHECKING:
    from recon.index.names import Names

_WRAPPERS = words(
    "partial partialmethod jit njit compile script cache lru_cache lru_cache() wraps() autotune() heuristics() vmap "
    "no_grad() inference_mode() checkpoint remote staticmethod classmethod contextmanager update_wrapper"
)
"""Callables from outside the tree that give back, in effect, the function handed to them."""
_IMPORTERS = words(
    "import_module __import__ resolve_obj_by_qualname resolve_obj_by_name import_string import_from_string locate "
    "load_object"
)
"""Functions that give back what a dotted string names."""
_NONE: tuple[Value, ...] = ()
_D, _O, _M = Kind.DEFINITION, Kind.OUTSIDE, Kind.MODULE


def wrapped(names: "Names", table: Table, bind: Bind) -> tuple[Value, ...]:
    """The function inside `partial(f, ...)`, `triton.jit(f)`, or a decorator of the tree applied by hand."""
    callee = bind.value[:-2]
    is_known = callee.rpartition(".")[2] in _WRAPPERS
    call = table.call_at(bind.scope, bind.line, callee)
    if call is None or not call.args or not call.args[0]:
        return _NONE
    if callee.rpartition(".")[2] in _IMPORTERS:
        return imported(names, table, call)
    # Something unknown that is given one function and nothing else most likely hands it back, wrapped.
    is_lone = call.positional == 1 and not call.keywords
    if not is_known and not is_lone and not names.resolve(table.path, bind.scope, callee):
        return _NONE
    inner = [value for value in names.values(table.path, bind.scope, call.args[0], call.line) if value.kind is _D]
    return weakened(inner, Tier.CERTAIN if is_known else Tier.LIKELY)


def imported(names: "Names", table: Table, call: Call) -> tuple[Value, ...]:
    """What a dotted string names that is given to a function which imports."""
    text = call.args[0] if call.args else ""
    if text[:1] != "'" or text[-1:] != "'":
        return _NONE
    name = text[1:-1]
    if name[:1] == ".":
        name = f"{table.package}.{name.lstrip('.')}"
    return weakened(names.absolute(name), Tier.LIKELY)


def patched(names: "Names", modules: Mapping[str, Table]) -> bool:
    """Let `module.f = g` and `Class.f = g` give modules and classes of the tree what they are assigned.

    Returns:
        Whether any does.
    """
    functions = {row.name for table in names.tables.values() for row in table.scopes if row.params or row.line}
    found: list[tuple[Value, str, Patch]] = []
    for table in names.tables.values():
        for bind in table.patches:
            if bind.value.rpartition(".")[2] not in functions:
                continue
            root, _, name = bind.target.partition(".")
            given = names.values(table.path, bind.scope, bind.value, bind.line)
            if any(value.kind is _D for value in given):
                owners = names.values(table.path, bind.scope, root, bind.line)
                found += [(owner, name, Patch(table.path, bind)) for owner in owners]
    for owner, name, entry in found:
        if owner.kind is _M and owner.text in modules:
            modules[owner.text].entries[0].setdefault(name, []).append(entry)
        elif owner.ref is not None and names.classes.is_class(owner.ref):
            names.tables[owner.ref.path].entries[owner.ref.scope].setdefault(name, []).append(entry)
    return bool(found)
