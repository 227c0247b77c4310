"""The first pass over C++ and CUDA where it is known what is asked: only what can answer is parsed.

Most C++ of a release is vendored templates without a loop or comparison. Which functions those are, their text tells:
`cuda_signs` never gives fewer signs than the grammar does. A function that no choice can choose is passed over: the
outline has its name, its place and its calls, by its text. A file in which all are passed over is not parsed at all.
One that holds a kernel, a launch or the registration of an operator is read whole.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar

from msgspec.structs import replace

from recon.index.cuda_by_text import by_text
from recon.index.cuda_outline import MOST_BYTES, outline_cuda, read_cuda
from recon.index.cuda_signs import may_have, signs_of
from recon.index.cuda_text import CudaText, Kind, Piece
from recon.index.macro_bodies import alone, as_functions
from recon.index.records import Bind, Call, Feature, Outline, Scope, ScopeKind, Text

_IN_FULL = (b"__global__", b"<<<")
_REGISTERING = (b".def", b">def", b".impl", b">impl", b"EXPORT", b"REGISTER", b"_LIBRARY", b"_MODULE")
_REGISTERS = re.compile(rb"(?:\.|->)(?:def|impl|define)\s*\(|(?:EXPORT|REGISTER|_LIBRARY|_MODULE)\w*\s*\(")
"""Sought where one of its words stands: to look for a word alone takes a tenth of the time."""
_LAUNCHES = re.compile(rb"[lL]aunch\w*\s*(?:<[^;{}()]*>\s*)?\(")
"""What a kernel is handed to; its other arguments are told apart by the grammar alone."""
_INSIDE = re.compile(rb"\b(?:struct|class|union)\b[^;(){}]*\{")
_WITH_CODE = (Kind.FUNCTION, Kind.OTHER)
_Row = TypeVar("_Row", Bind, Call, Text)


def outline_asked(data: bytes, asked: Sequence[int]) -> Outline:
    """The records of a C++ or CUDA file as far as any function in it may be chosen. Never raises.

    Args:
        data: The file.
        asked: Combinations of features, as bits: any one, whole, chooses a function.
    """
    if len(data) > MOST_BYTES or b"\0" in data:
        return outline_cuda(data)
    data = as_functions(data)
    if _holds(data, _IN_FULL) or (_holds(data, _REGISTERING) and _REGISTERS.search(data)):
        return read_cuda(data)
    text = CudaText(data)
    if b"aunch" in text.code and _LAUNCHES.search(text.code):
        return read_cuda(data)
    whole = by_text(data, text)
    asking = [piece for piece in text.pieces if piece.kind in _WITH_CODE and _is_asked(text.code, piece, asked)]
    if not asking:
        return whole
    joined = _joined(whole, read_cuda(_alone(data, text, asking)))
    missed = {scope.end_line: scope.id for scope in joined.scopes if scope.kind is ScopeKind.FUNCTION}
    for piece in asking:
        scope = missed.get(text.line(piece.closed))
        if piece.kind is Kind.FUNCTION and scope is not None and joined.scopes[scope].features == Feature.CUDA:
            joined = _with_member(joined, joined.scopes[scope], data, text.code[piece.opened : piece.closed])
    return joined


def _holds(data: bytes, words: Iterable[bytes]) -> bool:
    return any(word in data for word in words)


def _is_asked(code: bytes, piece: Piece, asked: Sequence[int]) -> bool:
    """Whether a function has to be parsed."""
    body = code[piece.opened : piece.closed]
    if (b"struct" in body or b"class" in body) and _INSIDE.search(body):
        return True  # its members are functions too
    return may_have(body, asked)


def _alone(data: bytes, text: CudaText, asking: Sequence[Piece]) -> bytes:
    """The file with nothing but some functions, and the classes around them; lines keep their numbers."""
    around = set[int]()
    for piece in asking:
        outer = piece.outer
        while outer >= 0:
            around.add(outer)
            outer = text.pieces[outer].outer
    spans = [(piece.start, piece.closed + 1) for piece in asking]
    for place in around:
        piece = text.pieces[place]
        end = min(piece.closed + (2 if piece.kind is Kind.CLASS else 1), len(text.code))  # `};`
        spans += [(piece.start, piece.opened + 1), (piece.closed, end)]
    kept: list[bytes] = []
    begin = 0
    for start, end in sorted(spans):
        first, last = text.origin(start), text.origin(end - 1) + 1
        kept += (b"\n" * data.count(b"\n", begin, first), data[first:last])
        begin = last
    return b"".join(kept)


class _From(NamedTuple):
    """A scope of one of two outlines of a file."""

    read: bool
    """Whether the grammar found it."""
    scope: Scope

    def place(self) -> tuple[int, int]:
        """Where it begins; what lies around others comes before them."""
        return self.scope.first_line, -self.scope.end_line


def _joined(whole: Outline, read: Outline) -> Outline:
    """The outline by text of a file, with what the grammar read of it in the place of what is the same."""
    known = {(scope.kind, scope.end_line): scope.id for scope in read.scopes[1:]}
    rows = [_From(read=True, scope=scope) for scope in read.scopes[1:]]
    rows += [_From(read=False, scope=each) for each in whole.scopes[1:] if (each.kind, each.end_line) not in known]
    rows.sort(key=_From.place)
    read_ids, own_ids = {0: 0}, {0: 0}
    for place, row in enumerate(rows, 1):
        (read_ids if row.read else own_ids)[row.scope.id] = place
    parents = own_ids | {
        scope.id: read_ids[known[scope.kind, scope.end_line]] for scope in whole.scopes if scope.id not in own_ids
    }
    scopes = [whole.scopes[0]]
    for place, row in enumerate(rows, 1):
        parent = (read_ids if row.read else parents)[row.scope.parent]
        scopes.append(replace(row.scope, id=place, parent=parent))
    calls = (*_moved(read.calls, read_ids), *_moved(whole.calls, own_ids))
    binds, texts = tuple(_moved(read.binds, read_ids)), tuple(_moved(read.texts, read_ids))
    return Outline(read.parsed, read.problem, tuple(scopes), calls, whole.imports, binds, texts)


def _moved(rows: Iterable[_Row], ids: Mapping[int, int]) -> Iterator[_Row]:
    """Records of the scopes that were taken, under their new ids."""
    return (replace(row, scope=ids[row.scope]) for row in rows if row.scope in ids)


def _with_member(outline: Outline, scope: Scope, data: bytes, body: bytes) -> Outline:
    """An outline in which a function that the grammar missed is read alone.

    Where that fails too, it has the signs that its text gives: it is asked for, and then named as unread.
    """
    read = read_cuda(alone(data, scope.line, scope.end_line))
    found = next((s for s in read.scopes if s.kind is ScopeKind.FUNCTION and s.end_line == scope.end_line), None)
    calls = outline.calls
    if found is None:
        row = replace(scope, features=Feature(signs_of(body)))
    else:
        row = replace(scope, features=found.features, params=found.params, decorators=found.decorators)
        calls = (
            *(call for call in calls if call.scope != scope.id),
            *(replace(call, scope=scope.id) for call in read.calls),
        )
    return replace(outline, scopes=(*outline.scopes[: scope.id], row, *outline.scopes[scope.id + 1 :]), calls=calls)
