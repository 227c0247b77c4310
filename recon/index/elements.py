"""What containers hold: elements of lists and dictionaries, by key where it is written out, and of objects in loops."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from recon.index.records import Bind
from recon.index.tables import Entry, Ref, Table, split_key
from recon.index.values import Kind, Value, together, weakened

if TYPE_CHECKING:
    from recon.index.names import Names

_EACH = frozenset({"", "*"})
"""Keys of a subscript that is not written out, and of what a loop takes."""
_NONE: tuple[Value, ...] = ()
_D, _I, _C = Kind.DEFINITION, Kind.INSTANCE, Kind.CONTAINER


class Elements:
    """Answers what stands in a subscript, for the names of a tree."""

    def __init__(self, names: "Names") -> None:
        self._names = names

    def element(self, owner: Ref, base: str, key: str, exact: list[tuple[Value, ...]]) -> tuple[Value, ...]:
        """What a container holds under a key, with what is already known of exactly that key.

        The owner is the scope of its name, or -2 - class for an attribute.
        """
        found = list(exact)
        path, scope = owner
        bare = base.partition("@")[0]
        if not exact or key in _EACH:
            known = self._keys(owner, bare)
            wanted = known if key in _EACH else [f"{bare}[]"] if f"{bare}[]" in known else []
            found += [self._names.ask((path, scope, each)) for each in wanted if each != f"{bare}[{key}]"]
        whole, part = split_key(bare)
        if not found and part is not None and ":" in part and key.isdigit():
            return self._names.ask((path, scope, f"{whole}[{int(part.partition(':')[0]) + int(key)}]"))
        values = self._names.ask((path, scope, base))
        found.append(self.subscripted([v for v in values if ":" in key or not _is_own(v, owner, bare)], key))
        return together([each for each in found if each] or [_NONE], in_turn=key == "*")

    def _keys(self, owner: Ref, name: str) -> Sequence[str]:
        """What is known of a container's entries, by their full names; of an attribute in all classes of its object."""
        path, scope = owner
        if scope >= 0:
            return self._names.tables[path].keys.get((scope, name), ())
        found: dict[str, None] = {}
        for one in self._names.classes.order(Ref(path, -2 - scope)):
            keys = self._names.tables[one.path].keys
            found.update(dict.fromkeys((*keys.get((-2 - one.scope, name), ()), *keys.get((one.scope, name), ()))))
        return tuple(found)

    def subscripted(self, values: Iterable[Value], key: str) -> tuple[Value, ...]:
        """A subscript of a definition (a generic class, a kernel with its grid) is that definition."""
        found: list[Value] = []
        for value in values:
            if value.kind is _D:
                found.append(value)
            elif value.kind is _C and value.ref is not None:
                kind, _, name = value.text.partition(">")
                if ":" in key:
                    found.append(replace(value, text=f"{kind}>{name}[{key}]"))
                elif name:
                    found += weakened(self._names.ask((*value.ref, f"{name}[{key}]")), value.tier)
            elif value.kind is _I and value.ref is not None:
                found += self._items(value.ref, key)
        return tuple(found)

    def _items(self, ref: Ref, key: str) -> tuple[Value, ...]:
        """What an object gives under a key, or to a loop."""
        if key != "*":
            return self._names.results_of(Value(_D, one) for one in self._names.classes.method(ref, "__getitem__"))
        classes, results_of = self._names.classes, self._names.results_of
        iterators = results_of(Value(_D, one, receiver=ref) for one in classes.method(ref, "__iter__"))
        found = [self.subscripted([value for value in iterators if value.kind is _C], "*")]
        steps = [classes.method(each.ref, "__next__") for each in iterators if each.kind is _I and each.ref is not None]
        found += [results_of(Value(_D, one) for one in step) for step in steps]
        return together([each for each in found if each])


def seen_from(table: Table, home: int, root: str, line: int) -> str:
    """A name with the entries of it that can be seen from a line of its scope, or from outside of it."""
    bits = table.reaching(home, root, line)
    if bits:
        return f"{root}@{bits:x}"
    if root[-1:] == "]" and root not in table.entries[home]:
        base, bracket, rest = root.partition("[")
        if bits := table.reaching(home, base, line):
            return f"{base}@{bits:x}{bracket}{rest}"
    return root


def chosen_of(entries: Sequence[Entry], bits: int) -> Sequence[Entry]:
    """The entries of a name that bits stand for; all of them for 0."""
    if not bits:
        return entries
    found = []
    while bits:
        lowest = bits & -bits
        found.append(entries[lowest.bit_length() - 1])
        bits ^= lowest
    return found


def container_of(table: Table, bind: Bind) -> Value:
    """The container that an assignment of a literal makes."""
    root, dot, name = bind.target.partition(".")
    owner = table.class_of_self(bind.scope, root) if dot else None
    if owner is not None:
        return Value(_C, Ref(table.path, -2 - owner), bind.value + name)
    return Value(_C, Ref(table.path, bind.scope), bind.value + bind.target)


def _is_own(value: Value, owner: Ref, name: str) -> bool:
    return value.kind is _C and value.ref == owner and value.text.partition(">")[2] == name
