"""Functions that go on by a call of themselves: they have no loop, and yet do something again and again."""

from recon.index.records import Feature, Outline, ScopeKind

RECURS = Feature(1 << 28)
"""Calls itself, without a loop, and compares two things. Found in a whole outline."""
_COMPARES, _LOOPS = int(Feature.COMPARE_EQ), int(Feature.LOOP)


def recurring(outline: Outline) -> frozenset[int]:
    """Scopes of the functions that compare and call themselves, of those that have no loop."""
    names = {
        scope.id: scope.name
        for scope in outline.scopes
        if scope.kind is ScopeKind.FUNCTION and int(scope.features) & (_COMPARES | _LOOPS) == _COMPARES
    }
    if not names:
        return frozenset()
    return frozenset(c.scope for c in outline.calls if names.get(c.scope) == c.callee.rpartition(".")[2] != "")
