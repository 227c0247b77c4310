"""Functions that measure what another one takes the best of: `max(paths, key=lambda path: agreed(path, chosen))`.

What is counted stands in one function and that the most is taken in another; only together are they a choice of paths.
"""

from recon.index.inline import LONGEST_HELPER
from recon.index.owners import owner
from recon.index.records import Feature, Outline, Scope, ScopeKind
from recon.index.spell import words

MEASURES = Feature(1 << 27)
"""Takes the best of something by a function beside it that compares. Found in a whole outline."""
_RANKS = words("max min sorted argmax topk sort argsort")
_COMPARES, _REPEATS = int(Feature.COMPARE_EQ), int(Feature.LOOP | Feature.SCAN)


def measured(outline: Outline) -> dict[int, tuple[Scope, ...]]:
    """By the scope of a function that takes the best of something, the functions beside it that it measures with."""
    own: dict[str, list[Scope]] = {}
    for scope in outline.scopes:
        bits = int(scope.features)
        if scope.kind is ScopeKind.FUNCTION and bits & _COMPARES and bits & _REPEATS and scope.parent == 0:
            own.setdefault(scope.name, []).append(scope)
    alone = {name: found[0] for name, found in own.items() if len(found) == 1 and _is_short(found[0])}
    if not alone:
        return {}
    ranking = {owner(outline, c.scope) for c in outline.calls if c.callee.rpartition(".")[2] in _RANKS}
    found: dict[int, dict[str, Scope]] = {}
    for call in outline.calls:
        helper = alone.get(call.callee)
        around = owner(outline, call.scope) if helper is not None else 0
        if helper is not None and around in ranking and around != helper.id:
            found.setdefault(around, {})[helper.name] = helper
    return {around: tuple(helpers.values()) for around, helpers in found.items() if around}


def _is_short(scope: Scope) -> bool:
    return scope.end_line - scope.line < LONGEST_HELPER
