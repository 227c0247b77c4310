"""Classes of a source tree: their bases, the order of lookup, their subclasses, and what they define."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice

from recon.index.records import Scope, ScopeKind
from recon.index.tables import Ref, Table
from recon.index.values import Kind, Value

_Values = Callable[[str, int, str], tuple[Value, ...]]


class Classes:
    """The hierarchy of the tree, computed as it is asked for."""

    def __init__(self, tables: Mapping[str, Table], values: _Values) -> None:
        self._tables = tables
        self._values = values
        self._bases: dict[Ref, tuple[Value, ...]] = {}
        self._orders: dict[Ref, tuple[Ref, ...]] = {}
        self._circles: dict[Ref, tuple[Ref, ...]] = {}
        self._children: dict[Ref, list[Ref]] | None = None
        self._methods: dict[tuple[Ref, str], tuple[Ref, ...]] = {}
        self._overrides: dict[tuple[Ref, str], tuple[Ref, ...]] = {}

    def settle(self) -> None:
        """Find the bases of all classes, in the order of paths: later answers then do not depend on what is asked."""
        for path, table in self._tables.items():
            for row in table.scopes:
                if row.kind is ScopeKind.CLASS and row.bases:
                    self.bases(Ref(path, row.id))

    def is_class(self, ref: Ref | None) -> bool:
        """Whether a definition is a class."""
        return ref is not None and self._tables[ref.path].scopes[ref.scope].kind is ScopeKind.CLASS

    def bases(self, ref: Ref) -> tuple[Value, ...]:
        """The base classes of a class, those outside the tree too."""
        known = self._bases.get(ref)
        if known is None:
            self._bases[ref] = ()  # while they are looked for, the class has none
            row = self._tables[ref.path].scopes[ref.scope]
            found = [value for base in row.bases for value in self._values(ref.path, row.parent, base)]
            known = self._bases[ref] = tuple(value for value in found if value.ref != ref)
        return known

    def order(self, ref: Ref) -> tuple[Ref, ...]:
        """The class and its bases in the order in which attributes are looked for."""
        known = self._orders.get(ref) or self._circles.get(ref)
        if known is None:
            parents: dict[Ref, tuple[Ref, ...]] = {}
            todo = [ref]
            while todo:
                one = todo.pop()
                if one not in parents and one not in self._orders:
                    bases = [base.ref for base in self.bases(one) if base.kind is Kind.DEFINITION]
                    parents[one] = tuple(base for base in bases if base is not None and self.is_class(base))
                    todo += parents[one]
            known = linearize(parents, ref, self._orders)
            if ref not in self._orders:
                self._circles[ref] = known
        return known

    def outside_bases(self, ref: Ref) -> set[str]:
        """Dotted names of the bases, at any distance, that the tree does not define."""
        return {base.text for one in self.order(ref) for base in self.bases(one) if base.kind is Kind.OUTSIDE}

    def subclasses(self, ref: Ref) -> Iterator[Ref]:
        """All classes of the tree below a class, nearest first."""
        if self._children is None:
            self._children = self._invert()
        seen = {ref}
        row = [ref]
        while row:
            below = [child for one in row for child in self._children.get(one, ())]
            row = [child for child in dict.fromkeys(below) if child not in seen]
            seen.update(row)
            yield from row

    def _invert(self) -> dict[Ref, list[Ref]]:
        children: dict[Ref, list[Ref]] = {}
        for path, table in self._tables.items():
            for row in table.scopes:
                if row.kind is ScopeKind.CLASS and row.bases:
                    child = Ref(path, row.id)
                    for base in self.bases(child):
                        if base.ref is not None:
                            children.setdefault(base.ref, []).append(child)
        return children

    def method(self, ref: Ref, name: str) -> tuple[Ref, ...]:
        """What a class defines under a name, itself or through its bases; several if it is defined in branches."""
        key = (ref, name)
        known = self._methods.get(key)
        if known is None:
            known = ()
            for one in self.order(ref):
                known = self.own(one, name)
                if known:
                    break
            self._methods[key] = known
        return known

    def after(self, ref: Ref, name: str) -> tuple[Ref, ...]:
        """What `super()` finds under a name in a method of a class."""
        for one in islice(self.order(ref), 1, None):
            if found := self.own(one, name):
                return found
        return ()

    def own(self, ref: Ref, name: str) -> tuple[Ref, ...]:
        """What the body of a class defines under a name."""
        table = self._tables[ref.path]
        entries = table.entries[ref.scope].get(name)
        return tuple([table.refs[entry.id] for entry in entries if isinstance(entry, Scope)]) if entries else ()

    def overrides(self, ref: Ref, name: str) -> tuple[Ref, ...]:
        """Definitions of a method in the subclasses of a class, those that stand in another base of one too."""
        key = (ref, name)
        known = self._overrides.get(key)
        if known is None:
            own = self.method(ref, name)
            below = [
                found
                for one in self.subclasses(ref)
                for found in (self.own(one, name) or (self.method(one, name) if self._is_mixed(one) else ()))
                if found not in own
            ]
            known = self._overrides[key] = tuple(dict.fromkeys(below))
        return known

    def _is_mixed(self, ref: Ref) -> bool:
        """Whether a class has several bases, so that one of them can override what another one defines."""
        return len(self.bases(ref)) > 1

    def called(self, ref: Ref) -> str:
        """The method that runs when an instance is called: `__call__`, or `forward` of a torch module."""
        return "__call__" if self.method(ref, "__call__") else "forward"


def linearize(
    parents: Mapping[Ref, tuple[Ref, ...]], start: Ref, known: dict[Ref, tuple[Ref, ...]] | None = None
) -> tuple[Ref, ...]:
    """The order in which Python looks through a class and its bases (C3); depth first where there is none.

    Args:
        parents: The bases of each class whose order is not known.
        start: The class.
        known: Orders found before. What is found is added, unless classes stand below one another in a circle: an order
            then depends on where one begins.
    """
    known = {} if known is None else known
    order: dict[Ref, tuple[Ref, ...]] = {}
    stack = [start]
    is_open: set[Ref] = set()
    is_circular = False
    while stack:
        ref = stack[-1]
        waiting = [base for base in parents.get(ref, ()) if not (base in order or base in known or base in is_open)]
        if waiting and ref not in order:
            is_open.add(ref)
            stack += waiting
            continue
        stack.pop()
        is_open.discard(ref)
        if ref not in order:
            all_bases = parents.get(ref, ())
            bases = [base for base in all_bases if base in order or base in known]
            is_circular = is_circular or len(bases) < len(all_bases)
            order[ref] = (ref, *_merge([order.get(base) or known[base] for base in bases], bases))
    if not is_circular:
        known.update(order)
    return order[start]


def _merge(orders: Sequence[Sequence[Ref]], bases: Sequence[Ref]) -> Sequence[Ref]:
    """The orders of several bases as one, in time that grows with their lengths."""
    if len(orders) == 1:
        return orders[0]
    rows = [*orders, bases]
    heads = [0] * len(rows)
    behind = Counter(ref for row in rows for ref in row[1:])
    merged: dict[Ref, None] = {}
    left = True
    while left:
        ahead = []
        for number, row in enumerate(rows):
            while heads[number] < len(row) and row[heads[number]] in merged:
                heads[number] += 1
                if heads[number] < len(row):
                    behind[row[heads[number]]] -= 1
            ahead += [row[heads[number]]] if heads[number] < len(row) else []
        left = bool(ahead)
        if left:  # a conflict: go on depth first
            merged[next((ref for ref in ahead if not behind[ref]), ahead[0])] = None
    return tuple(merged)
