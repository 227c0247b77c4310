"""Patterns of `match` that libcst read, as the standard library has them."""

import ast
from collections.abc import Callable

import libcst as cst

Read = Callable[[cst.BaseExpression], ast.expr]
"""How an expression becomes one of `ast`."""


def pattern_of(node: cst.MatchPattern | cst.MatchStar, read: Read) -> ast.pattern:
    """One pattern; a value whose syntax is not known matches anything."""
    match node:
        case cst.MatchValue(value=value):
            return ast.MatchValue(read(value))
        case cst.MatchSingleton(value=value):
            return ast.MatchSingleton({"True": True, "False": False}.get(value.value))
        case cst.MatchAs(pattern=inner, name=bound):
            return ast.MatchAs(pattern_of(inner, read) if inner else None, _name(bound))
        case cst.MatchStar(name=bound):
            return ast.MatchStar(_name(bound))
        case cst.MatchOr(patterns=several):
            return ast.MatchOr([pattern_of(each.pattern, read) for each in several])
        case cst.MatchList(patterns=parts) | cst.MatchTuple(patterns=parts):
            starred = (each.value if isinstance(each, cst.MatchSequenceElement) else each for each in parts)
            return ast.MatchSequence([pattern_of(each, read) for each in starred])
        case cst.MatchMapping(elements=pairs):
            keys = [read(each.key) for each in pairs]
            return ast.MatchMapping(keys, [pattern_of(each.pattern, read) for each in pairs], _name(node.rest))
        case cst.MatchClass(cls=kind, patterns=parts, kwds=named):
            fields = [each.key.value for each in named]
            inside = [pattern_of(each.pattern, read) for each in named]
            return ast.MatchClass(read(kind), [pattern_of(each.value, read) for each in parts], fields, inside)
    return ast.MatchAs(None, None)


def _name(node: cst.Name | None) -> str | None:
    return None if node is None else node.value
