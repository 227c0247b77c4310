"""Which functions are worth reading in full: those that have all features of a combination."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache

from recon.index.capturing import CAPTURES, captures
from recon.index.feeding import FEEDS, feeding_loops
from recon.index.measures import MEASURES
from recon.index.records import Feature, Outline, Scope, ScopeKind
from recon.index.recurring import RECURS, recurring


def any_of(features: Feature, combinations: Iterable[Feature]) -> bool:
    """Whether a function has all features of one of the combinations."""
    bits = int(features)  # flags are ten times as slow to combine as numbers
    return any(bits & mask == mask for mask in map(int, combinations))


def choosers(choices: Mapping[str, Iterable[Feature]]) -> Callable[[Feature], tuple[str, ...]]:
    """From the features of a function to the choices that choose it; a tree has few sets of features, so each once."""
    masks = {name: tuple(map(int, combinations)) for name, combinations in choices.items()}

    @cache
    def of_bits(bits: int) -> tuple[str, ...]:
        return tuple(name for name, wanted in masks.items() if any(bits & mask == mask for mask in wanted))

    return lambda features: of_bits(int(features))


def masks_of(choices: Mapping[str, Iterable[Feature]]) -> tuple[int, ...]:
    """All combinations of some choices, as numbers, the smallest first."""
    return tuple(sorted({int(mask) for wanted in choices.values() for mask in wanted}))


def with_inner(scopes: Sequence[Scope]) -> dict[int, Feature]:
    """The features of functions that hold functions, together with those of what they hold."""
    found: dict[int, Feature] = {}
    for scope in reversed(scopes):  # what is inside stands behind what it is in
        around = scopes[scope.parent] if scope.parent > 0 else None
        if around is not None and scope.kind is around.kind is ScopeKind.FUNCTION:
            own = found.get(scope.id, scope.features)
            found[around.id] = found.get(around.id, around.features) | own
    return found


def of_file(outline: Outline, measuring: Iterable[int]) -> dict[int, Feature]:
    """Signs of functions that only their whole Python file shows, by their scopes.

    Args:
        outline: The file.
        measuring: The functions that take the best of something by another one, as `measured` tells.
    """
    found = {scope.id: CAPTURES for scope in outline.scopes} if captures(outline) else {}
    for sign, scopes in ((FEEDS, feeding_loops(outline)), (RECURS, recurring(outline)), (MEASURES, measuring)):
        found |= {scope: found.get(scope, sign) | sign for scope in scopes}
    return found
