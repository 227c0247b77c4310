"""Patterns of `match` as the tests and assignments that they stand for."""

import ast
from collections.abc import Callable, Iterator

from recon.index.term import NONE, Term, name

Read = Callable[[ast.expr], Term]
"""How an expression becomes a Term."""
_NOTHING = Term("block")


def captures(node: ast.Match) -> list[ast.expr]:
    """The names that the patterns of a `match` give to what they meet."""
    found = []
    for case in node.cases:
        for part in ast.walk(case.pattern):
            if isinstance(part, ast.MatchAs | ast.MatchStar) and part.name is not None:
                found.append(part.name)
            elif isinstance(part, ast.MatchMapping) and part.rest is not None:
                found.append(part.rest)
    return [ast.Name(each) for each in found]


def compared(pattern: ast.pattern) -> list[ast.expr]:
    """The values that a pattern compares with."""
    return [part.value for part in ast.walk(pattern) if isinstance(part, ast.MatchValue)]


def written_out(subject: Term, cases: list[tuple[ast.match_case, Term | None, Term]], read: Read, line: int) -> Term:
    """A `match` as a chain of `if`, in which what a case takes apart is assigned before its body.

    Args:
        subject: What is matched.
        cases: Each with its guard and its body, read.
        read: How an expression in a pattern becomes a Term.
        line: Where the `match` stands.
    """
    rest = _NOTHING
    for case, guard, body in reversed(cases):
        told = list(_told(case.pattern, subject, read, line))
        tests = [each for each in told if each.op != "assign"]
        taken = [each for each in told if each.op == "assign"]
        if guard is not None:  # it may ask for what was taken
            rest = _block((*taken, _if([*tests, guard], body, rest, line)), line)
        elif tests:
            rest = _block((_if(tests, _block((*taken, *body.parts), line), rest, line),), line)
        else:
            rest = _block((*taken, *body.parts), line)
    return rest


def _block(parts: tuple[Term, ...], line: int) -> Term:
    return Term("block", "", parts, line)


def _if(tests: list[Term], body: Term, rest: Term, line: int) -> Term:
    first, *others = tests
    for other in others:
        first = Term("and", "", (first, other), line)
    return Term("if", "", (first, body, rest), line)


def _told(pattern: ast.pattern, subject: Term, read: Read, line: int) -> Iterator[Term]:
    """What a pattern asks of a value, and what it assigns."""
    match pattern:
        case ast.MatchValue(value=value):
            yield Term("compare", "==", (subject, read(value)), line)
        case ast.MatchSingleton(value=value):
            yield Term("compare", "is", (subject, Term("const", str(value), (), line)), line)
        case ast.MatchAs() | ast.MatchStar():
            inner = pattern.pattern if isinstance(pattern, ast.MatchAs) else None
            yield from _told(inner, subject, read, line) if inner is not None else ()
            if pattern.name is not None:
                yield Term("assign", "", (name(pattern.name, line), subject), line)
        case ast.MatchOr(patterns=several):
            yield from _any_of(several, subject, read, line)
        case ast.MatchSequence(patterns=parts):
            yield from _parts(parts, subject, read, line)
        case _:
            yield from _fields(pattern, subject, read, line)


def _fields(pattern: ast.pattern, subject: Term, read: Read, line: int) -> Iterator[Term]:
    """Of a mapping or an object what lies under each key, or in each field."""
    match pattern:
        case ast.MatchMapping(keys=keys, patterns=inside):
            for key, each in zip(map(read, keys), inside, strict=True):
                yield Term("compare", "in", (key, subject), line)
                yield from _told(each, Term("index", "", (subject, key), line), read, line)
        case ast.MatchClass(cls=kind, kwd_attrs=fields, kwd_patterns=inside):
            yield Term("call", "", (name("isinstance", line), subject, read(kind)), line)
            for field, each in zip(fields, inside, strict=True):
                yield from _told(each, Term("attr", field, (subject,), line), read, line)


def _any_of(several: list[ast.pattern], subject: Term, read: Read, line: int) -> Iterator[Term]:
    told = [list(_told(each, subject, read, line)) for each in several]
    tests = [test for each in told for test in each if test.op != "assign"]
    if told and all(any(part.op != "assign" for part in each) for each in told):
        yield Term("or", "", tuple(tests), line)
    yield from (part for each in told for part in each if part.op == "assign")


def _parts(parts: list[ast.pattern], subject: Term, read: Read, line: int) -> Iterator[Term]:
    """Of a sequence each part by its place; those behind a starred one are counted from the end."""
    starred = next((at for at, part in enumerate(parts) if isinstance(part, ast.MatchStar)), len(parts))
    is_taken_apart = subject.op == "tuple" and len(subject.parts) == len(parts) and starred == len(parts)
    if not is_taken_apart:
        counted = Term("call", "", (name("len", line), subject), line)
        least = Term("const", str(len(parts) - (starred < len(parts))), (), line)
        yield Term("compare", "==" if starred == len(parts) else ">=", (counted, least), line)
    for at, part in enumerate(parts):
        if is_taken_apart:
            value = subject.parts[at]
        elif at == starred:
            end = Term("const", str(at + 1 - len(parts)), (), line) if at + 1 < len(parts) else NONE
            value = Term("index", "", (subject, Term("slice", "", (_number(at, line), end, NONE), line)), line)
        else:
            value = Term("index", "", (subject, _number(at if at < starred else at - len(parts), line)), line)
        yield from _told(part, value, read, line)


def _number(value: int, line: int) -> Term:
    return Term("const", str(value), (), line)
