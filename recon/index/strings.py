"""Kernels that Python files hold as strings, each file's as one CUDA file of its own.

A string that looks like CUDA or C++ is compiled at run time: by CuPy, NVRTC, PyCUDA, or an extension built inline. What
stands in such strings is read where it stands: all else of the file is blanked, so that every line keeps its number.
What a format or a sum puts in is a name to the grammar. Where it can be statements, nobody knows what they are.
"""

import ast
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TypeGuard

from recon.errors import Unreadable
from recon.index.decoding import utf8
from recon.ports import Blobs

MARK = "\0strings.cu"
"""Behind the path and the digest of a Python file: the CUDA that its strings hold. No file has a name with a null."""
_TELLING = re.compile(
    rb"__(?:global|device)__|extern\s*\\?\"C\s?\\?\"|\b(?:torch|at)::(?:stable::)?Tensor\b|PYBIND11_MODULE|TORCH_LIBRARY"
)
_BODY = re.compile(rb"\)[^;{}()]*\{")
_LITERAL = re.compile(
    rb"#[^\r\n]*|(?P<prefix>\b[A-Za-z]{1,2})?(?P<quote>\"\"\"|'''|\"|')(?P<body>(?:\\.|(?!(?P=quote)).)*+)(?P=quote)",
    re.DOTALL,
)
_ESCAPE = re.compile(rb"\\(.)", re.DOTALL)
_TO_END_OF_LINE = re.compile(rb"(?://|#)(?:[^\\\n]|\\[^n\n])*+(?P<end>\\n)?")
"""Of a note or a directive, where the end of its line is escaped: behind it, as one line, all would be part of it."""
_FORMAT = re.compile(rb"\{\{|\}\}|\{[^{}\n]*\}")
"""What a format reads: doubled braces, which stand for one, and fields."""
_FIELD = re.compile(
    rb"\$?\{[A-Za-z_]\w*\}|%\([A-Za-z_]\w*\)[sdr]|\$[A-Za-z_]\w*|@[A-Za-z_]\w*@"
    rb"|(?:^[ \t]*|(?<=[(\[,=*+<-])[ \t]?)%[sd]\b",
    re.MULTILINE,
)
"""What other ways of putting something in replace. `v{n}` of C++ itself reads no worse as a name."""
_ALONE = re.compile(
    rb"(?:;|\}[ \t\r]*\n|(?:\)|\belse|\bdo)\s*\{)\s*+(?P<name>[A-Za-z_]\w*+)[ \t]*+(?:;|(?=[\r\n}]|\Z))"
)
"""A name that is a statement, or stands where one begins with nothing behind it in its line."""
_NOTE = re.compile(rb"//[^\n]*")
_LINKAGE = re.compile(rb"extern\s*\"C\s?\"\s*\{")
_DEFINED = re.compile(rb"#[ \t]*define[ \t]+(\w+)")
_KEYWORDS = frozenset(b"else do try return break continue const static inline extern public private default".split())
_LINE_END = re.compile(rb"\r\n|\r|\n")
_NOT_NEWLINE = re.compile(rb"[^\n\r]")
_NOT_WORD = re.compile(rb"[^\w\n]")
_MOST_GAPS = 6
"""Lines with gaps that are told of a file."""


@dataclass(frozen=True, slots=True)
class Strings:
    """What the strings of a Python file hold of CUDA and C++."""

    text: bytes
    """As long as the file, line by line."""
    lines: tuple[int, ...]
    """Where each string begins."""
    gaps: tuple[int, ...]
    """Lines where statements are put in that do not stand there, the first few."""


@dataclass(frozen=True)
class WithStrings:
    """Blobs, and the CUDA in the strings of those that are Python, by their digests with a mark."""

    blobs: Blobs

    def get(self, digest: str) -> bytes:
        """Bytes of a blob, or of what its strings hold.

        Raises:
            Unreadable: there is no such blob, its bytes do not have that digest, or they are no Python here.
        """
        if not digest.endswith(MARK):
            return self.blobs.get(digest)
        try:
            found = cuda_in(self.blobs.get(digest.removesuffix(MARK)))
        except ValueError as error:
            raise Unreadable(str(error)) from error
        return found.text if found is not None else b""


def file_of(path: str) -> str:
    """The file in which a path's source stands."""
    return path.removesuffix(MARK)


def may_hold_cuda(data: bytes) -> bool:
    """Whether a file is worth looking into: nearly none is."""
    return _TELLING.search(data) is not None and _BODY.search(data) is not None


def cuda_in(data: bytes) -> Strings | None:
    """What the strings of a Python file hold of CUDA and C++; None where they hold none.

    Raises:
        ValueError: it is no Python that this parser reads.
    """
    source = utf8(data)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an invalid escape is not our business
            tree = ast.parse(source.decode())
    except (SyntaxError, RecursionError, MemoryError) as error:
        raise ValueError(f"its strings hold CUDA, and were not read: {type(error).__name__}") from error
    spans = _Spans(source)
    kept = bytearray(_blank(source))
    lines: list[int] = []
    gaps = dict[int, None]()
    done = 0
    for node in _strings(tree):
        begin, end = spans.of(node)
        if begin < done:  # a part of a sum that is kept as a whole
            continue
        written = _written(node, source, spans)
        if _TELLING.search(written) and _BODY.search(written):
            done = end
            lines.append(node.lineno)
            kept[begin:end] = written
            some = islice(_gaps(written), _MOST_GAPS - len(gaps))  # their lines are counted from the first
            gaps.update((node.lineno + written.count(b"\n", 0, place), None) for place in some)
    return Strings(bytes(kept), tuple(lines), tuple(gaps)) if lines else None


class _Spans:
    """Where nodes stand in a source in UTF-8."""

    def __init__(self, source: bytes) -> None:
        self._starts = [0, *(found.end() for found in _LINE_END.finditer(source))]

    def of(self, node: ast.expr) -> tuple[int, int]:
        """The first byte of an expression, and the one behind it."""
        last, end = node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
        return self._starts[node.lineno - 1] + node.col_offset, self._starts[last - 1] + end


def _written(node: ast.expr, source: bytes, spans: _Spans) -> bytes:
    """What a string, or a sum with strings in it, holds; every byte in its place."""
    begin, end = spans.of(node)
    found = bytearray(_blank(source[begin:end]))
    for leaf in _leaves(node):
        first, last = spans.of(leaf)
        piece = source[first:last]
        found[first - begin : last - begin] = _content(piece) if _is_text(leaf) else _named(piece)
    return bytes(found)


def _strings(tree: ast.Module) -> Iterator[ast.expr]:
    """Strings, sums in which they stand, and what is in these; no documentation, which is code of no one."""
    stack: list[ast.AST] = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue
        if _is_sum(node):
            leaves = _leaves(node)
            if any(map(_is_text, leaves)):
                yield node
            stack += (leaf for leaf in reversed(leaves) if not _is_text(leaf))
        elif _is_text(node):
            yield node
        else:
            stack += reversed(list(ast.iter_child_nodes(node)))


def _is_text(node: ast.AST) -> TypeGuard[ast.JoinedStr | ast.Constant]:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str | bytes))


def _is_sum(node: ast.AST) -> TypeGuard[ast.BinOp]:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add)


def _leaves(node: ast.expr) -> list[ast.expr]:
    """The parts of a sum, from left to right."""
    found: list[ast.expr] = []
    stack = [node]
    while stack:
        one = stack.pop()
        if _is_sum(one):
            stack += (one.right, one.left)
        else:
            found.append(one)
    return found


def _content(literals: bytes) -> bytes:
    """What string literals in a row hold; every byte in its place, quotes and what is put in written as C++ may be."""
    found = bytearray(_blank(literals))
    done = 0
    while literal := _LITERAL.search(literals, done):
        done = literal.end()
        if not literal["quote"]:  # a note between two rows
            continue
        body = literal["body"]
        prefix = (literal["prefix"] or b"").lower()
        if b"r" not in prefix:
            if len(literal["quote"]) == 1:
                body = _TO_END_OF_LINE.sub(lambda note: b" " * len(note[0]) if note["end"] else note[0], body)
            body = _ESCAPE.sub(_unescaped, body)
        found[literal.start("body") : literal.end("body")] = _filled(body, is_f=b"f" in prefix)
    return bytes(found)


def _unescaped(escape: re.Match[bytes]) -> bytes:
    char = escape[1]
    return b" " + char if char in (b"\\", b'"', b"'", b"\n") else b"  "


def _filled(body: bytes, *, is_f: bool) -> bytes:
    """A text with names where something is put in, and single braces where a format has them doubled."""
    rest = _FORMAT.sub(b"", body)
    if is_f or (b"{{" in body and b"{" not in rest and b"}" not in rest):
        return _FORMAT.sub(_formatted, body)
    return _FIELD.sub(lambda field: _named(field[0]), body)


def _formatted(part: re.Match[bytes]) -> bytes:
    return b" " + part[0][:1] if part[0] in (b"{{", b"}}") else _named(part[0])


def _named(text: bytes) -> bytes:
    """A name of the same length and lines."""
    return _NOT_WORD.sub(b"_", text)


def _gaps(text: bytes) -> Iterator[int]:
    """Places inside of braces where a name stands alone: statements are put in there, or the text ends too early."""
    text = _NOTE.sub(lambda note: b" " * len(note[0]), text)
    macros = frozenset(_DEFINED.findall(text))
    depth = done = 0
    for found in _ALONE.finditer(text):
        place = found.start("name")
        depth += text.count(b"{", done, place) - text.count(b"}", done, place)
        done = place
        if depth > 0 and found["name"] not in _KEYWORDS and found["name"] not in macros:
            yield place
    if text.count(b"{") - len(_LINKAGE.findall(text)) > text.count(b"}"):  # what opens that, `#if` may leave out
        yield len(text) - 1


def _blank(text: bytes) -> bytes:
    return _NOT_NEWLINE.sub(b" ", text)
