"""Whom code belongs to: a lambda is a scope of its own, and counted to the function around it."""

from recon.index.records import Outline, ScopeKind


def owner(outline: Outline, scope: int) -> int:
    """The scope that what stands in a scope is counted to: of a lambda the one around it."""
    scopes = outline.scopes
    while scopes[scope].kind is ScopeKind.LAMBDA:
        scope = scopes[scope].parent
    return scope
