"""Functions that choose by a method of their own: the loop stands in one method, the `argmax` in another.

A drafter's loop runs the model and hands what comes out to a method beside it, which picks the token. Neither function
shows by itself that choices are fed back.
"""

from recon.index.records import Feature, Outline, ScopeKind

FEEDS = Feature(1 << 29)
"""A loop in a method whose class has, below what the method calls of it, an `argmax`. Found in a whole outline."""
_CHOOSES = int(Feature.ARGMAX)
_DEEPEST = 3
"""Methods on the way from the loop to the choice: sampling, its greedy form, a helper."""


def feeding_loops(outline: Outline) -> frozenset[int]:
    """Scopes of the methods with a loop that lead, within their class, to a choice of the best."""
    scopes = outline.scopes
    if not any(int(scope.features) & _CHOOSES for scope in scopes):  # most files; flags are slow to combine
        return frozenset()
    own = {(scope.parent, scope.name): scope for scope in scopes if scope.kind is ScopeKind.FUNCTION}
    classes = {scope.id for scope in scopes if scope.kind is ScopeKind.CLASS}
    methods = {scope.id: scope for scope in own.values() if scope.parent in classes and scope.params}
    below: dict[int, set[int]] = {}
    for call in outline.calls:
        caller = methods.get(call.scope)
        base, _, name = call.callee.rpartition(".")
        if caller and base == caller.params[0].name and (target := own.get((caller.parent, name))):
            below.setdefault(caller.id, set()).add(target.id)
    found = {scope.id for scope in methods.values() if scope.features & Feature.ARGMAX}
    leading: set[int] = set()
    for _ in range(_DEEPEST if found else 0):
        leading |= {scope for scope, targets in below.items() if targets & (found | leading)}
    return frozenset(scope for scope in leading if methods[scope].features & Feature.LOOP)
