"""The first pass over C++ and CUDA where it is known what is asked: only what can answer is parsed.

Most C++ of a release is vendored templates without a loop or comparison. Which functions those are, their text tells:
`cuda_signs` never gives fewer signs than the grammar does. A function whose signs are those of no choice is passed over,
unless it is a kernel, launches one or registers an operator: of it the outline has name, place and calls, by its text.
A file in which every function is passed over is not parsed at all.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar

from msgspec.structs import replace

from recon.index.cuda_outline import MOST_BYTES, outline_cuda, read_cuda
from recon.index.cuda_signs import may_have, signs_of
from recon.index.cuda_text import CudaText, Kind, Piece
from recon.index.macro_bodies import alone, as_functions
from recon.index.records import Bind, Call, Feature, Import, Outline, Parsed, Scope, ScopeKind, Text

_BLANK = bytes(byte if byte in b"\n\r" else 32 for byte in range(256))
_REGISTERS = re.compile(rb"(?:\.|->)\s*(?:def|impl|define)\s*\(|(?:EXPORT|REGISTER|_LIBRARY|_MODULE)\w*\s*\(")
_INSIDE = re.compile(rb"\b(?:struct|class|union)\b[^;(){}]*\{")
_IN_FULL = (b"__global__", b"<<<", b"cudaLaunch")
"""A kernel or a launch: such a file is read whole, as is one that registers an operator."""
_WITH_CODE = (Kind.FUNCTION, Kind.OTHER)
_CALLED = re.compile(
    rb"([A-Za-z_]\w*+(?:(?:<[^;{}]*>)?\s*+(?:::|\.|->)\s*+~?[A-Za-z_]\w*+)*+)\s*+(?:<[^;{}]*>\s*+)?\Z"
)
_LONGEST_CALLEE = 120
_HANDED = re.compile(
    rb"[(,=]\s*+&?\s*+([A-Za-z_]\w*+(?:\s*+::\s*+[A-Za-z_]\w*+)*+)\s*+(?:<[^;{}()]*>\s*+)?(?=[,);])"
)
_DECLARED = re.compile(rb"(\w++)\s++\Z")
_TEMPLATE = re.compile(rb"<[^<>]*>")
_INCLUDE = re.compile(rb"^[ \t]*#[ \t]*include[ \t]*[<\"]([^>\"\n]*)", re.MULTILINE)
_NO_CALLS = frozenset(
    b"if for while switch return sizeof alignof alignas decltype catch asm static_assert noexcept defined typeid else do "
    b"throw new delete co_return co_await and or not constexpr __attribute__ __declspec __align__ operator".split()
)
_BEFORE_CALLS = frozenset(b"return else do throw case new co_return co_await and or not".split())
_PASSED = "no function in it has signs that were asked for: names and calls by its text"


class _Row(NamedTuple):
    """A scope of one of two outlines of a file."""

    scope: Scope
    read: bool
    """Whether the grammar found it."""


def _place(row: _Row) -> tuple[int, int]:
    """Where a scope begins; what lies around others comes before them."""
    return row.scope.first_line, -row.scope.end_line


_Placed = TypeVar("_Placed", Bind, Call, Text)


def outline_asked(data: bytes, asked: Sequence[int]) -> Outline:
    """The records of a C++ or CUDA file as far as any function in it may be chosen. Never raises.

    Args:
        data: The file.
        asked: Combinations of features, as bits: any one, whole, chooses a function.
    """
    if len(data) > MOST_BYTES or b"\0" in data:
        return outline_cuda(data)
    data = as_functions(data)
    if any(word in data for word in _IN_FULL) or _REGISTERS.search(data):
        return read_cuda(data)
    text = CudaText(data)
    asking = [piece for piece in text.pieces if piece.kind in _WITH_CODE and _is_asked(text.code, piece, asked)]
    return _merged(data, text, asking) if asking else _by_text(data, text)


def _is_asked(code: bytes, piece: Piece, asked: Sequence[int]) -> bool:
    """Whether a function has to be parsed."""
    body = code[piece.opened : piece.closed]
    if (b"struct" in body or b"class" in body) and _INSIDE.search(body):
        return True  # its members are functions too
    return may_have(body, asked)


def _blanked(data: bytes, spans: Iterable[tuple[int, int]]) -> bytes:
    kept: list[bytes] = []
    begin = 0
    for start, end in spans:
        kept += (data[begin:start], data[start:end].translate(_BLANK))
        begin = end
    return b"".join([*kept, data[begin:]])


def _alone(data: bytes, text: CudaText, loud: Sequence[Piece]) -> bytes:
    """The file with nothing but some functions, and the classes around them."""
    kept = set()
    for piece in loud:
        outer = piece.outer
        while outer >= 0:
            kept.add(outer)
            outer = text.pieces[outer].outer
    spans = [(piece.start, piece.closed + 1) for piece in loud]
    for place in kept:
        piece = text.pieces[place]
        end = min(piece.closed + (2 if piece.kind is Kind.CLASS else 1), len(text.code))
        spans += [(piece.start, piece.opened + 1), (piece.closed, end)]
    begin, left_out = 0, []
    for start, end in sorted(spans):
        left_out.append((begin, text.origin(start)))
        begin = text.origin(end - 1) + 1
    return _blanked(data, [*left_out, (begin, len(data))])


def _merged(data: bytes, text: CudaText, asking: Sequence[Piece]) -> Outline:
    """The outline by text of a file, with what the grammar reads in some of its functions."""
    whole, read = _by_text(data, text), read_cuda(_alone(data, text, asking))
    known = {(scope.kind, scope.end_line): scope.id for scope in read.scopes[1:]}
    rest = [scope for scope in whole.scopes[1:] if (scope.kind, scope.end_line) not in known]
    rows = sorted([*(_Row(scope, True) for scope in read.scopes[1:]), *(_Row(scope, False) for scope in rest)], key=_place)
    new: dict[tuple[bool, int], int]
    new = {(row.read, row.scope.id): place for place, row in enumerate(rows, 1)} | {(True, 0): 0, (False, 0): 0}
    twins: dict[int, int] = {}
    for scope in whole.scopes[1:]:
        if (twin := known.get((scope.kind, scope.end_line))) is not None:
            twins[scope.id] = new[True, twin]
    scopes = [
        replace(
            row.scope,
            id=new[row.read, row.scope.id],
            parent=twins.get(row.scope.parent, 0) if (row.read, row.scope.parent) not in new else new[row.read, row.scope.parent],
        )
        for row in rows
    ]
    calls = [*_moved(read.calls, new, read=True), *_moved(whole.calls, new, read=False)]
    binds, texts = _moved(read.binds, new, read=True), _moved(read.texts, new, read=True)
    joined = Outline(
        read.parsed, read.problem, (whole.scopes[0], *scopes), tuple(calls), whole.imports, tuple(binds), tuple(texts)
    )
    by_end = {scope.end_line: new[False, scope.id] for scope in rest if scope.kind is ScopeKind.FUNCTION}
    for piece in asking:
        if piece.kind is Kind.FUNCTION and (place := by_end.get(text.line(piece.closed))):
            joined = _with_member(joined, place, data, text, piece)
    return joined
def _moved(rows: Iterable[_Placed], new: Mapping[tuple[bool, int], int], *, read: bool) -> Iterator[_Placed]:
    """Records under the new ids of their scopes; those of scopes that both outlines have are taken from the grammar."""
    for row in rows:
        if read or (False, row.scope) in new:
            yield replace(row, scope=new[read, row.scope])


def _with_member(outline: Outline, place: int, data: bytes, text: CudaText, piece: Piece) -> Outline:
    """An outline in which a function that the grammar missed is read alone.

    Where that fails too, it has the signs that its text gives: it is asked for, and then named as unread.
    """
    end = text.line(piece.closed)
    alone_read = read_cuda(alone(data, text.line(piece.named), end))
    found = next((s for s in alone_read.scopes if s.kind is ScopeKind.FUNCTION and s.end_line == end), None)
    scope = outline.scopes[place]
    if found is None:
        scope = replace(scope, features=Feature(signs_of(text.code[piece.opened : piece.closed])))
        calls = outline.calls
    else:
        scope = replace(scope, features=found.features, params=found.params, decorators=found.decorators)
        kept = [call for call in outline.calls if call.scope != place]
        calls = (*kept, *(replace(call, scope=place) for call in alone_read.calls))
    return replace(outline, scopes=(*outline.scopes[:place], scope, *outline.scopes[place + 1 :]), calls=calls)


def _by_text(data: bytes, text: CudaText) -> Outline:
    """The outline of a file in which no function has to be parsed."""
    scopes = [_scope(0, -1, ScopeKind.MODULE, "", (1, 1, text.line(len(text.code))))]
    calls: list[Call] = []
    ids = {-1: 0}
    for place, piece in enumerate(text.pieces):
        around = ids[piece.outer]
        ids[place] = around
        if piece.kind in (Kind.CLASS, Kind.FUNCTION):
            ids[place] = len(scopes)
            kind = ScopeKind.CLASS if piece.kind is Kind.CLASS else ScopeKind.FUNCTION
            lines = (text.line(piece.named), text.line(piece.start), text.line(piece.closed))
            scopes.append(_scope(len(scopes), around, kind, piece.name, lines))
        if piece.kind is Kind.FUNCTION:
            calls += _calls(text, piece, ids[place])
    imports = tuple(
        Import(0, found[1].decode(errors="replace"), "", "", data.count(b"\n", 0, found.start()) + 1)
        for found in _INCLUDE.finditer(data)
    )
    return Outline(Parsed.PASSED, _PASSED, tuple(scopes), tuple(calls), imports, (), ())


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
    count = int(b"<" in name)
    while count:
        name, count = _TEMPLATE.subn(b"", name)
    return b"".join(name.replace(b"->", b".").split()).decode(errors="replace")
