"""What a name can mean, as data."""

from collections.abc import Iterable, Sequence
from enum import IntEnum
from typing import NamedTuple

from recon.index.tables import Ref
from recon.records.path import Tier


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


class Value(NamedTuple):
    """One thing that a name can mean."""

    kind: Kind
    ref: Ref | None = None
    """The definition, or the class of the instance."""
    text: str = ""
    """Dotted name of a module, or of a thing outside."""
    tier: Tier = Tier.CERTAIN
    receiver: Ref | None = None
    """Of a definition that is reached through a class: the class, where a subclass may stand in its place."""
    exact: bool = False
    """Of an instance: it was constructed here, so no subclass stands in its place."""


def weaker(one: Tier, other: Tier) -> Tier:
    """The less sure of two tiers."""
    if one is Tier.CERTAIN or other is Tier.GUESS:
        return other
    return one


def weakened(values: Iterable[Value], tier: Tier) -> tuple[Value, ...]:
    """The same values, none of them surer than a tier."""
    if tier is Tier.CERTAIN:
        return tuple(values)
    return tuple(value._replace(tier=tier) if weaker(value.tier, tier) is not value.tier else value for value in values)


def together(alternatives: Sequence[tuple[Value, ...]]) -> tuple[Value, ...]:
    """The union of alternatives: where they differ, or one is not known, none of them is certain."""
    if len(alternatives) == 1:
        return alternatives[0]
    found: dict[tuple[Kind, Ref | None, str], Value] = {}
    for values in alternatives:
        for value in values:
            key = (value.kind, value.ref, value.text)
            before = found.setdefault(key, value)
            if before != value:
                found[key] = value._replace(
                    tier=weaker(before.tier, value.tier),
                    receiver=before.receiver or value.receiver,
                    exact=before.exact and value.exact,
                )
    union = tuple(found.values())
    return weakened(union, Tier.LIKELY) if len(union) > 1 or not all(alternatives) else union
