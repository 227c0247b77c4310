"""What a name can mean, as data."""

from collections.abc import Iterable, Sequence
from enum import IntEnum

from msgspec import Struct
from msgspec.structs import replace

from recon.index.tables import Ref
from recon.records.path import Tier

_MOST_OUTSIDE = 4
"""Different things outside of the tree that a union keeps: they lead nowhere, and chains of calls multiply them."""


class Kind(IntEnum):
    """What a value is; integers, because these are hashed millions of times."""

    DEFINITION = 0
    """A function or class of the tree."""
    INSTANCE = 1
    """An instance of a class of the tree."""
    MODULE = 2
    """A module of the tree."""
    OUTSIDE = 3
    """Something that the tree does not define."""
    CONTAINER = 4
    """A list, dictionary or the like that is written out in the tree."""
    CONSTANT = 5
    """A string or number that is written out in the tree."""


class Value(Struct, frozen=True, gc=False):
    """One thing that a name can mean."""

    kind: Kind
    ref: Ref | None = None
    """The definition, the class of the instance, or the scope that owns the name of a container (-2 - scope of a class
    for an attribute of its objects)."""
    text: str = ""
    """Dotted name of a module, or of a thing outside; type and name of a container, `<dict>table`; a constant."""
    tier: Tier = Tier.CERTAIN
    receiver: Ref | None = None
    """Of a definition that is reached through a class: the class, where a subclass may stand in its place."""
    exact: bool = False
    """Of an instance: it was constructed here, so no subclass stands in its place. Of a function: what its decorators
    were given, so they do not stand in its place."""


def weaker(one: Tier, other: Tier) -> Tier:
    """The less sure of two tiers."""
    if one is Tier.CERTAIN or other is Tier.GUESS:
        return other
    return one


def weakened(values: Iterable[Value], tier: Tier) -> tuple[Value, ...]:
    """The same values, none of them surer than a tier."""
    if tier is Tier.CERTAIN:
        return tuple(values)
    return tuple(
        [replace(value, tier=tier) if weaker(value.tier, tier) is not value.tier else value for value in values]
    )


def together(alternatives: Sequence[tuple[Value, ...]], *, in_turn: bool = False) -> tuple[Value, ...]:
    """The union of alternatives.

    Where they differ, or one is not known, none of them is certain; unless they come in turn, as in a loop. Mere data
    (containers, constants) among them makes nothing less sure, and constants say nothing beside other things.
    """
    if len(alternatives) == 1:
        return alternatives[0]
    found: dict[tuple[Kind, Ref | None, str], Value] = {}
    outside = data = 0
    for values in alternatives:
        for value in values:
            kind = value.kind
            key = (kind, value.ref, value.text)
            before = found.get(key)
            if before is None:
                if kind is Kind.OUTSIDE:
                    outside += 1
                    if outside > _MOST_OUTSIDE:
                        continue
                elif kind >= Kind.CONTAINER:
                    data += 1
                found[key] = value
            elif before != value:
                found[key] = replace(
                    value,
                    tier=weaker(before.tier, value.tier),
                    receiver=before.receiver or value.receiver,
                    exact=before.exact and value.exact,
                )
    union = tuple(found.values())
    return union if in_turn else _settled(union, data, is_known=all(alternatives))


def _settled(union: tuple[Value, ...], data: int, *, is_known: bool) -> tuple[Value, ...]:
    """A union that is no more certain than it can be, `data` of it being containers and constants."""
    if data:
        union = tuple(value for value in union if value.kind is not Kind.CONSTANT) or union
        data = sum(value.kind >= Kind.CONTAINER for value in union)
    return union if is_known and len(union) - data <= 1 else weakened(union, Tier.LIKELY)
