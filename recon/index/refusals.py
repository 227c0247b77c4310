"""Where a function refuses to go on: errors under tests, assertions, and settings that are changed with a warning.

Read with the standard parser, and only where the bytes of a function hold the words that are looked for: what a test
says is asked here, not how data flows.
"""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec
from msgspec import Struct

from recon.index.cache import OutlineCache, version_of
from recon.index.decoding import utf8
from recon.index.records import Feature, Outline, Scope, ScopeKind
from recon.index.tables import Ref
from recon.ports import Blobs, Progress
from recon.records.source import Snapshot

_REFUSES = (b"raise", b"assert", b".warn")
_ERROR = re.compile(r"(?:Error|Exception|Unsupported\w*)$")
_WARNING = re.compile(r"warn(?:ing)?(?:_once)?$")
_LONGEST_MESSAGE = 200
_LONGEST_TEST = 400
_KIND = "refusals"
_MAKERS = ("refusals", "records", "outline")


class Choice(NamedTuple):
    """A value that a test holds something against."""

    asked: str
    """Identifiers of what is tested, with dots between them."""
    value: str
    """A string, or the last part of a dotted name."""


class Refusal(Struct, frozen=True, array_like=True, gc=False):
    """One place where a function does not do what it was asked."""

    scope: int
    line: int
    """Of the statement, counted from 1."""
    form: str
    """`raise`, `assert`, `override`, or `leftover`: an error for whatever none of several tests in turn knew."""
    tests: tuple[str, ...]
    """What must hold for it, as written, the outermost first."""
    words: tuple[str, ...]
    """Identifiers of the tests, and settings that are changed."""
    taken: tuple[Choice, ...]
    """What it is about: something is one of several."""
    spared: tuple[Choice, ...]
    """What it is not about: by the innermost test, something is none of several."""
    message: str
    """What is said; the parts that are put in as `{name}`."""


_DECODER = msgspec.msgpack.Decoder(tuple[Refusal, ...])


def decoded(row: bytes) -> tuple[Refusal, ...] | None:
    """Refusals from the cache; None for a damaged row."""
    try:
        return _DECODER.decode(row)
    except (msgspec.DecodeError, TypeError, UnicodeDecodeError):
        return None


def refusals_of(source: bytes, scopes: Iterable[Scope], wanted: Sequence[bytes]) -> tuple[Refusal, ...]:
    """The refusals of those functions of a file in whose bytes a word is found.

    Args:
        source: The file, in UTF-8.
        scopes: Its scopes.
        wanted: Words in lower case, one of which must stand in a function for it to be read, in any case.
    """
    if not _holds(source, wanted):
        return ()
    lines = source.splitlines(keepends=True)
    found: list[Refusal] = []
    for scope in scopes:
        if scope.kind is ScopeKind.FUNCTION and not scope.features & Feature.JIT:
            part = b"".join(lines[scope.line - 1 : scope.end_line])
            if _holds(part, wanted):
                found += _of_function(part, scope)
    return tuple(found)


def _holds(part: bytes, wanted: Sequence[bytes]) -> bool:
    """Whether a part of a source refuses something and holds a wanted word; `in` is faster than any pattern."""
    lowered = part.lower()
    return any(word in lowered for word in wanted) and any(word in lowered for word in _REFUSES)


def _of_function(part: bytes, scope: Scope) -> list[Refusal]:
    indented = part[:1] in {b" ", b"\t"}
    try:
        tree = ast.parse((b"if 1:\n" if indented else b"") + part)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    body = tree.body[0].body if indented and isinstance(tree.body[0], ast.If) else tree.body
    function = next((node for node in body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)), None)
    if function is None:
        return []
    offset = scope.line - (2 if indented else 1)
    seen = list(_walk(function.body, ()))
    raised = {word for each in seen if each.form == "raise" for word in _identifiers(each.tests)}
    return [each.refusal(scope.id, offset) for each in seen if each.form != "complaint" or each.holder in raised]


class _Seen:
    """A statement that refuses, with the tests around it: each with whether it holds."""

    def __init__(
        self, form: str, node: ast.stmt, tests: "Tests", message: ast.expr | None, fields: tuple[str, ...] = ()
    ) -> None:
        self.form = form
        self.node = node
        self.tests = tests
        self.message = message
        self.fields = fields
        self.holder = fields[0] if form == "complaint" and fields else ""

    def refusal(self, scope: int, offset: int) -> Refusal:
        taken, _ = _literals(self.tests)
        _, spared = _literals(self.tests[-1:])
        form = "raise" if self.form == "complaint" else self.form
        if form == "raise" and len(self.tests) > 1 and not any(holds for _, holds in self.tests[-2:]):
            form = "leftover"
        fields = () if self.form == "complaint" else self.fields
        return Refusal(
            scope,
            self.node.lineno + offset,
            form,
            tuple(map(_written, self.tests)),
            tuple(dict.fromkeys((*_identifiers(self.tests), *fields))),
            taken,
            spared,
            _text(self.message)[:_LONGEST_MESSAGE],
        )


Test = tuple[ast.expr, bool]
Tests = tuple[Test, ...]


def _walk(body: Sequence[ast.stmt], tests: Tests) -> Iterator[_Seen]:
    yield from _overrides(body, tests)
    for node in body:
        yield from _refusing(node, tests)
        for inner, around in _inside(node, tests):
            yield from _walk(inner, around)


def _refusing(node: ast.stmt, tests: Tests) -> Iterator[_Seen]:
    """What one statement refuses; nothing is refused that is refused always."""
    match node:
        case ast.Assert():
            yield _Seen("assert", node, (*tests, (node.test, False)), node.msg)
        case _ if not tests:
            return
        case ast.Raise(exc=ast.Call(func=func, args=args)) if _ERROR.search(_last(func)):
            yield _Seen("raise", node, tests, args[0] if args else None)
        case ast.Raise(exc=ast.Name(id=name)) if _ERROR.search(name):
            yield _Seen("raise", node, tests, None)
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=holder), attr="append"), args=[said])):
            yield _Seen("complaint", node, tests, said, (holder,))
        case _:
            return


def _inside(node: ast.stmt, tests: Tests) -> Iterator[tuple[Sequence[ast.stmt], Tests]]:
    """The statements in a compound one, each suite with the tests around it; functions inside are read on their own."""
    match node:
        case ast.If():
            yield node.body, (*tests, (node.test, True))
            yield node.orelse, (*tests, (node.test, False))
        case ast.For() | ast.AsyncFor() | ast.While():
            yield (*node.body, *node.orelse), tests
        case ast.With() | ast.AsyncWith():
            yield node.body, tests
        case ast.Try() | ast.TryStar():
            yield (*node.body, *node.orelse, *node.finalbody), tests
        case ast.Match():
            yield from ((case.body, tests) for case in node.cases)
        case _:
            return


def _overrides(body: Sequence[ast.stmt], tests: Tests) -> Iterator[_Seen]:
    """A warning and, beside it, fields that get a constant although the test asked for their value."""
    calls = [node.value for node in body if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)]
    warning = next((call for call in calls if _WARNING.search(_last(call.func))), None)
    if not tests or warning is None:
        return
    asked = set(_identifiers(tests[-1:]))
    for node in body:
        fields = [field for field in _set_by(node) if field in asked]
        if fields:
            yield _Seen("override", node, tests, warning.args[0] if warning.args else None, tuple(fields))


def _set_by(node: ast.stmt) -> Iterator[str]:
    """Fields that a statement sets to a constant: by assignment, or as keywords of a call."""
    match node:
        case ast.Assign(targets=targets, value=ast.Constant() | ast.UnaryOp()):
            fields = (target.attr for target in targets if isinstance(target, ast.Attribute))
            yield from (field for field in fields if not field.startswith("_"))  # a private one is no setting
        case ast.Expr(value=ast.Call(keywords=keywords)):
            yield from (key.arg for key in keywords if key.arg and isinstance(key.value, ast.Constant))
        case _:
            return


def _identifiers(tests: Tests) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for test, _ in tests:
        for node in ast.walk(test):
            if isinstance(node, ast.Name):
                found[node.id] = None
            elif isinstance(node, ast.Attribute):
                found[node.attr] = None
    return tuple(found)


def _literals(tests: Tests) -> tuple[tuple[Choice, ...], tuple[Choice, ...]]:
    """Values that the tests take, and those that they spare."""
    taken: dict[Choice, None] = {}
    spared: dict[Choice, None] = {}
    stack = list(reversed(tests))
    while stack:
        node, holds = stack.pop()
        match node:
            case ast.UnaryOp(op=ast.Not(), operand=inner):
                stack.append((inner, not holds))
            case ast.BoolOp():
                stack += [(value, holds) for value in node.values]
            case ast.Compare(left=left, ops=[ast.Eq() | ast.In()], comparators=[other]):
                (taken if holds else spared).update(dict.fromkeys(_choices(left, other)))
            case ast.Compare(left=left, ops=[ast.NotEq() | ast.NotIn()], comparators=[other]):
                (spared if holds else taken).update(dict.fromkeys(_choices(left, other)))
            case _:
                continue
    return tuple(taken), tuple(spared)


def _choices(asked: ast.expr, node: ast.expr) -> Iterator[Choice]:
    match node:
        case ast.Constant(value=str(text)):
            yield Choice(".".join(_identifiers(((asked, True),))), text)
        case ast.Attribute(attr=name):
            yield Choice(".".join(_identifiers(((asked, True),))), name)
        case ast.Tuple(elts=elements) | ast.List(elts=elements) | ast.Set(elts=elements):
            for element in elements:
                yield from _choices(asked, element)


def _written(test: Test) -> str:
    node, holds = test
    text = " ".join(ast.unparse(node).split())[:_LONGEST_TEST]
    return text if holds else f"not ({text})"


def _text(node: ast.expr | None) -> str:
    """The words of a message, however they are put together."""
    match node:
        case ast.Constant(value=str(text)):
            return " ".join(text.split())
        case ast.JoinedStr(values=values):
            return " ".join("".join(map(_piece, values)).split())
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return f"{_text(left)} {_text(right)}".strip()
        case ast.BinOp(left=left, op=ast.Mod()):
            return _text(left)
        case ast.Call(func=ast.Attribute(value=value)):
            return _text(value)
        case _:
            return ""


def _piece(node: ast.expr) -> str:
    """A part of an f-string."""
    match node:
        case ast.Constant(value=value):
            return str(value)
        case ast.FormattedValue(value=value):
            return f"{{{_last(value) or '...'}}}"
        case _:
            return ""


def _last(node: ast.expr) -> str:
    """The last part of a dotted name."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""


def read_refusals(
    files: Mapping[str, Outline],
    snapshot: Snapshot,
    wanted: Sequence[bytes],
    *,
    blobs: Blobs,
    cache: OutlineCache,
    progress: Progress,
) -> dict[Ref, tuple[Refusal, ...]]:
    """The refusals of a tree, by function; those of blobs that were asked before come from the cache.

    Args:
        files: Outlines by path; other files of the snapshot are left out.
        snapshot: Which blob lies at which path.
        wanted: Words in lower case, one of which must stand in a function for it to be read, in any case.
        blobs: Where the bytes are.
        cache: Where answers are kept.
        progress: Told of each file.
    """
    version = f"{version_of(_MAKERS)}-{b' '.join(wanted).hex()}"
    chosen = [file for file in snapshot.files if file.path in files]
    known = cache.get_blob_records(_KIND, version, dict.fromkeys(file.digest for file in chosen))
    fresh: dict[str, bytes] = {}
    found: dict[Ref, tuple[Refusal, ...]] = {}
    progress.start("reading gates", len(chosen))
    for file in chosen:
        refusals = decoded(known[file.digest]) if file.digest in known else None
        if refusals is None:
            refusals = refusals_of(utf8(blobs.get(file.digest)), files[file.path].scopes, wanted)
            fresh[file.digest] = known[file.digest] = msgspec.msgpack.encode(refusals)
        for each in refusals:
            ref = Ref(file.path, each.scope)
            found[ref] = (*found.get(ref, ()), each)
        progress.advance()
    cache.put_blob_records(_KIND, version, fresh.items())
    progress.finish()
    return found
