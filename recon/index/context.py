"""What one object leaves for another to find: metadata that a builder makes before the pass, and a layer reads in it.

No call leads from the builder to the layer: a forward context carries the metadata. That the two belong together is
said by a third class, whose methods hand out both classes, as the attention backends of engines do.
"""

from collections.abc import Iterator

from recon.index.names import Names
from recon.index.records import Bind, ScopeKind
from recon.index.tables import Ref, Table, is_python


def carried(names: Names) -> Iterator[tuple[Ref, Ref, int]]:
    """Methods that make metadata, each with a method that takes it and the line of the maker."""
    done: set[tuple[Ref, Ref]] = set()
    for table in names.tables.values():
        if is_python(table.path):
            for row in table.scopes:
                if row.kind is ScopeKind.CLASS:
                    kit = handed_out(names, table, row.id)
                    pairs = [(one, other) for one in kit for other in kit if one != other]
                    for pair in pairs:
                        if pair not in done:
                            done.add(pair)
                            yield from _from_one_to_other(names, *pair)


def handed_out(names: Names, table: Table, owner: int) -> tuple[Ref, ...]:
    """Classes that the methods of a class give back, uncalled."""
    found: dict[Ref, None] = {}
    for method in table.scopes_in(owner):
        for entry in table.entries[method.id].get("return", ()):
            if isinstance(entry, Bind) and entry.value.isidentifier():
                found.update((ref, None) for ref in names.resolve(table.path, method.id, entry.value) if ref.scope)
    return tuple(ref for ref in found if names.classes.is_class(ref))


def _from_one_to_other(names: Names, maker: Ref, taker: Ref) -> Iterator[tuple[Ref, Ref, int]]:
    takers = list(_taken(names, taker))
    if not takers:
        return
    for method in _methods(names, maker):
        made = set(_made(names, method))
        line = names.scope_of(method).line
        for target, wanted in takers:
            if wanted in made:
                yield method, target, line


def _methods(names: Names, owner: Ref) -> Iterator[Ref]:
    yield from (Ref(owner.path, row.id) for row in names.tables[owner.path].scopes_in(owner.scope))


def _made(names: Names, method: Ref) -> Iterator[Ref]:
    """Classes of which a method gives back an instance, as its annotation or its body says."""
    row = names.scope_of(method)
    texts = [row.returns] if row.returns else []
    texts += [
        entry.value.removesuffix("()")
        for entry in names.tables[method.path].entries[method.scope].get("return", ())
        if isinstance(entry, Bind) and entry.value.endswith("()")
    ]
    for text in texts:
        yield from names.resolve(method.path, method.scope, text)


def _taken(names: Names, owner: Ref) -> Iterator[tuple[Ref, Ref]]:
    """Methods of a class with each class of the tree that a parameter of theirs is annotated with."""
    for method in _methods(names, owner):
        for param in names.scope_of(method).params:
            for ref in names.resolve(method.path, owner.scope, param.annotation) if param.annotation else ():
                if names.classes.is_class(ref):
                    yield method, ref
