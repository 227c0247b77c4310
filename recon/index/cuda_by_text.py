"""The outline of C++ or CUDA by its text: what functions and classes are called, where they stand, what they call."""

import re
from collections.abc import Iterator

from recon.index.cuda_text import CudaText, Kind, Piece
from recon.index.records import Call, Feature, Import, Outline, Parsed, Scope, ScopeKind

_CALLED = re.compile(rb"([A-Za-z_]\w*+(?:(?:<[^;{}]*>)?\s*+(?:::|\.|->)\s*+~?[A-Za-z_]\w*+)*+)\s*+(?:<[^;{}]*>\s*+)?\Z")
_LONGEST_CALLEE = 80
_HANDED = re.compile(rb"[(,=]\s*+&?\s*+([A-Za-z_]\w*+(?:\s*+::\s*+[A-Za-z_]\w*+)*+)\s*+(?:<[^;{}()]*>\s*+)?(?=[,);])")
_DECLARED = re.compile(rb"(\w++)\s++\Z")
_ANGLED = re.compile(rb"<[^<>]*>")
_INCLUDE = re.compile(rb"#[ \t]*include[ \t]*[<\"]([^>\"\n]*)")
_NO_CALLS = frozenset(
    b"if for while switch return sizeof alignof alignas decltype catch asm static_assert noexcept defined typeid else "
    b"do throw new delete co_return co_await and or not constexpr __attribute__ __declspec __align__ operator".split()
)
_BEFORE_CALLS = frozenset(b"return else do throw case new co_return co_await and or not".split())
_WHY = "no function in it has signs that were asked for: names and calls by its text"


def by_text(data: bytes, text: CudaText) -> Outline:
    """All that the text of a file tells; its functions have no features but that of their language.

    Args:
        data: The file.
        text: The same, read.
    """
    scopes = [_scope(0, -1, ScopeKind.MODULE, "", (1, 1, text.line(len(text.code))))]
    calls: list[Call] = []
    ids = {-1: 0}
    for place, piece in enumerate(text.pieces):
        ids[place] = around = ids[piece.outer]
        if piece.kind in (Kind.CLASS, Kind.FUNCTION):
            ids[place] = len(scopes)
            kind = ScopeKind.CLASS if piece.kind is Kind.CLASS else ScopeKind.FUNCTION
            lines = (text.line(piece.named), text.line(piece.start), text.line(piece.closed))
            scopes.append(_scope(len(scopes), around, kind, piece.name, lines))
        if piece.kind is Kind.FUNCTION:
            calls += _calls(text, piece, ids[place])
    return Outline(Parsed.PASSED, _WHY, tuple(scopes), tuple(calls), tuple(_includes(data)), (), ())


def _includes(data: bytes) -> Iterator[Import]:
    line, begin = 1, 0
    for found in _INCLUDE.finditer(data):
        row = data.rfind(b"\n", 0, found.start()) + 1
        line, begin = line + data.count(b"\n", begin, row), row
        if not data[row : found.start()].strip():  # else it stands in a comment
            yield Import(0, found[1].decode(errors="replace"), "", "", line)


def _scope(scope: int, parent: int, kind: ScopeKind, name: str, lines: tuple[int, int, int]) -> Scope:
    features = Feature.CUDA if scope else Feature(0)
    return Scope(scope, parent, kind, name, *lines, features, (), (), (), "")


def _calls(text: CudaText, piece: Piece, scope: int) -> Iterator[Call]:
    """What a function calls, each name once, and in one row without a name the names that it hands on."""
    body = text.code[piece.opened : piece.closed]
    seen = set[bytes]()
    place = piece.opened
    for before in body.split(b"(")[:-1]:
        place += len(before) + 1
        tail = before[-_LONGEST_CALLEE:]
        found = _CALLED.search(tail)
        if found is None or found[1] in seen or found[1] in _NO_CALLS:
            continue
        declared = _DECLARED.search(tail, 0, found.start())
        if declared is None or declared[1] in _BEFORE_CALLS:  # `T x(a)` declares
            seen.add(found[1])
            yield Call(scope, _spelled(found[1]), text.line(place - 1), 0, (), ())
    if handed := dict.fromkeys(_HANDED.findall(body)):
        yield Call(scope, "", text.line(piece.opened), len(handed), (), tuple(map(_spelled, handed)))


def _spelled(name: bytes) -> str:
    """A name as records spell it: without template arguments, `a.b` for `a->b`."""
    if not name.isalnum():
        count = int(b"<" in name)
        while count:
            name, count = _ANGLED.subn(b"", name)
        name = b"".join(name.replace(b"->", b".").split())
    return name.decode(errors="replace")
