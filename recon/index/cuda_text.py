"""C++ and CUDA by their text alone: where functions and classes begin and end, found without a grammar.

A release carries tens of megabytes of vendored headers, and a parser needs a second for four of them. Comments, strings
and braces are told apart by regular expressions several times as fast, and no more is needed to see what lies where.
"""

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from itertools import accumulate

_HIDDEN = re.compile(
    rb"//[^\\\n]*+(?:\\.[^\\\n]*+)*+|/\*[^*]*+(?:\*(?!/)[^*]*+)*+\*/"
    rb'|R"([^()\\\s]{0,16})\(.*?\)\1"|"[^"\\\n]*+(?:\\.[^"\\\n]*+)*+"'
    rb"|'(?:[^'\\\n]|\\.[^'\n]{0,8})'"
    rb"|#[ \t]*+(?!if|el|en)[^/\\\n]*+(?:(?:\\.|/\*[^*]*+(?:\*(?!/)[^*]*+)*+\*/|/)[^/\\\n]*+)*+",
    re.DOTALL,
)
"""Comments, strings, characters, and directives that are no conditions."""
_MARK = re.compile(rb"[{}]|#[ \t]*+(?:if|el|en)")
_NEXT = re.compile(rb"\s*+(.?)", re.DOTALL)

# A heading is read with its brackets shortened: \1 for (...), \2 for an operator's name, \3 for ->, \4 for <...>.
_DIRECTIVE = re.compile(rb"^[ \t]*#[^\n]*", re.MULTILINE)
_OPERATOR = re.compile(
    rb"\boperator\b\s*+(?:\(\s*\)|\[\s*\]|[-+*/%^&|~!=<>,]{1,3}|(?:new|delete)\b(?:\s*\[\s*\])?|\w[\w:\s*&]*+(?=[(<]))"
)
_ROUND, _ANGLED = re.compile(rb"\([^()]*\)"), re.compile(rb"<[^<>]*>")
_ACCESS = re.compile(rb"\b(?:public|private|protected)\s*:(?!:)")
_SPACE = re.compile(rb"\s*(?:inline\s+)?namespace\b|\s*(?:export|extern)\s*$")
_CLASS = re.compile(
    rb"\b(?:class|struct|union)\b(?:[\s\x01]|\w++(?=\s*[\w\x01]))*?\b(?!final\b)([A-Za-z_]\w*+)[\s\x04]*+(?:final\b\s*+)?(?::|$)"
)
_NAME = re.compile(rb"((?:[A-Za-z_]\w*+[\s\x04]*+::\s*+)*+(?:~\s*+)?(?:[A-Za-z_]\w*+|\x02++))[\s\x04]*+\x01++")
_BEHIND = re.compile(
    rb"\s*(?:$|:(?!:)|\x03|&|\b(?:const|volatile|noexcept|override|final|mutable|requires|try|throw)\b|[A-Z_][A-Z0-9_]*\s*$)"
)
_LEADING = re.compile(rb"(?:\s++|#[^\n]*+)*+")
_NO_NAMES = frozenset(
    b"alignas __align__ __attribute__ __declspec decltype noexcept requires explicit throw __launch_bounds__ "
    b"__cluster_dims__ __maxnreg__ __block_size__ sizeof static_assert defined".split()
)


class Kind(Enum):
    """What a pair of braces holds."""

    SPACE = "space"
    CLASS = "class"
    FUNCTION = "function"
    VALUE = "value"
    """Braces inside of a heading: the default of a parameter, say."""
    OTHER = "other"
    """A list of values, an enumeration, or code under a heading that is not understood."""


@dataclass(slots=True)
class Piece:
    """A pair of braces outside of functions, by offsets."""

    kind: Kind
    outer: int
    """Place among the pieces of the one around it, -1 for none."""
    start: int
    """Where its heading begins."""
    named: int
    """Where its name stands."""
    name: str
    opened: int
    """Its opening brace; of a constructor that sets members up in braces, the last one."""
    closed: int = 0
    """Its closing brace, or the end of the file."""


class CudaText:
    """The code of a file: comments and strings become a space, or the line ends that they hold."""

    def __init__(self, data: bytes) -> None:
        kept: list[bytes] = []
        self._places, self._origins = [0], [0]
        begin = place = 0
        for hidden in _HIDDEN.finditer(data):
            start, end = hidden.span()
            gap = b"\n" * data.count(b"\n", start, end) or b" "
            kept += (data[begin:start], gap)
            place += start - begin + len(gap)
            begin = end
            self._places.append(place)
            self._origins.append(end)
        kept.append(data[begin:])
        self.code = b"".join(kept)
        self.pieces = _Braces(self.code).read()

    @cached_property
    def _rows(self) -> list[int]:
        return list(accumulate((len(row) + 1 for row in self.code.split(b"\n")), initial=-1))[1:-1]

    def line(self, place: int) -> int:
        """The line of a place in the code, counted from 1."""
        return bisect_left(self._rows, place) + 1

    def origin(self, place: int) -> int:
        """The offset in the file of a place in the code that is not hidden."""
        before = bisect_right(self._places, place) - 1
        return self._origins[before] + place - self._places[before]


class _Braces:
    """One walk over the braces of a file.

    Where the branches of an `#if` open different braces, those of the first one count: the rest closes them once.
    """

    def __init__(self, code: bytes) -> None:
        self.code = code
        self.pieces: list[Piece] = []
        self.around: list[int] = []
        """Spaces and classes that are open."""
        self.inside: Piece | None = None
        """A function, or other braces, that are open."""
        self.depth = 0
        self.begin = 0
        """Behind the last brace outside of functions."""
        self.conditions: list[tuple[int, list[int], int]] = []
        self.skipped = 0
        """Open conditions, where a branch is passed over; else 0."""

    def read(self) -> list[Piece]:
        """All pieces in the order of their headings."""
        for mark in _MARK.finditer(self.code):
            sign = mark[0]
            if len(sign) > 1:
                self.condition(sign[-2:])
            elif self.skipped:
                continue
            elif sign == b"{":
                self.open(mark.start())
            else:
                self.close(mark.start())
        for piece in [self.pieces[place] for place in self.around] + ([self.inside] if self.inside else []):
            piece.closed = len(self.code)
        return self.pieces

    def condition(self, sign: bytes) -> None:
        """Read `#if`, `#else` or `#endif`."""
        if sign == b"if":
            self.conditions.append((self.depth, self.around.copy(), len(self.pieces) if self.inside else -1))
            self.skipped += bool(self.skipped)
        elif not self.conditions:
            return
        elif sign == b"en":
            self.conditions.pop()
            self.skipped -= bool(self.skipped)
        elif not self.skipped:
            depth, around, inside = self.conditions[-1]
            if self.inside is None and inside < 0 and len(self.around) <= len(around):
                self.around = around.copy()  # what a branch closed, the next one closes too
            else:
                same = self.inside is not None and inside == len(self.pieces) and depth == self.depth
                self.skipped = int(not same)

    def open(self, at: int) -> None:
        """Read an opening brace."""
        if self.inside is not None:
            self.depth += 1
            if self.depth == 1:
                self.inside.opened = at
            return
        piece = _headed(self.code, self.begin, at)
        piece.outer = self.around[-1] if self.around else -1
        self.pieces.append(piece)
        if piece.kind in (Kind.SPACE, Kind.CLASS):
            self.around.append(len(self.pieces) - 1)
            self.begin = at + 1
        else:
            self.inside, self.depth = piece, 1

    def close(self, at: int) -> None:
        """Read a closing brace; one too many closes nothing."""
        if self.inside is None:
            if self.around:
                self.pieces[self.around.pop()].closed = at
            self.begin = at + 1
            return
        self.depth -= 1
        follows = _NEXT.match(self.code, at + 1)
        if self.depth > 0 or (self.inside.kind is Kind.FUNCTION and follows and follows[1] in (b",", b"{")):
            return  # `Pair() : a{1}, b{2} {`: the body is still to come
        self.inside.closed = at
        if self.inside.kind is Kind.VALUE:
            self.pieces.pop()
        else:
            self.begin = at + 1
        self.inside, self.depth = None, 0


def _headed(code: bytes, begin: int, at: int) -> Piece:
    """The piece that a brace opens, by the text before it."""
    text = head = code[begin:at]
    if b"#" in head:
        head = _DIRECTIVE.sub(b"", head)
    if b"operator" in head:
        head = _OPERATOR.sub(b"\2", head)
    head = head.replace(b"->", b"\3")
    for pattern, short in ((_ROUND, b"\1"), (_ANGLED, b"\4")):
        count = 1
        while count:
            head, count = pattern.subn(short, head)
    if b"(" in head:
        return Piece(Kind.VALUE, -1, begin, begin, "", at)
    head = _ACCESS.split(head[head.rfind(b";") + 1 :])[-1].strip()
    kind, word = _announced(head)
    start, named, name = _placed(text, word)
    return Piece(kind, -1, begin + start, begin + named, name, at)


def _announced(head: bytes) -> tuple[Kind, bytes]:
    """What a heading announces, and its name as it stands there."""
    if _SPACE.match(head):
        return Kind.SPACE, b""
    if b"=" not in head and b"\1" in head:
        for found in _NAME.finditer(head):
            if found[1] not in _NO_NAMES and _BEHIND.match(head, found.end()):
                return Kind.FUNCTION, found[1]
    named = None if head.startswith(b"enum") else _CLASS.search(head)
    if named:
        return Kind.CLASS, named[1]
    return Kind.OTHER, b""


def _placed(text: bytes, word: bytes) -> tuple[int, int, str]:
    """Where a heading and its name stand in the text before a brace, and the name."""
    behind = max(text.rfind(b";") + 1, max((found.end() for found in _ACCESS.finditer(text)), default=0))
    leading = _LEADING.match(text, behind)
    start = leading.end() if leading else behind
    if b"\2" in word:
        operator = _OPERATOR.search(text)
        name = word.replace(b"\2", b"".join(operator[0].split()) if operator else b"operator")
        named = operator.start() if operator else start
    else:
        name, named = word, _first_of(text, word.rpartition(b"::")[2].strip(b" ~\n\t\r\4"), start)
    return start, named, b"".join(name.replace(b"\4", b"").split()).decode(errors="replace")


def _first_of(text: bytes, word: bytes, start: int) -> int:
    """Where a word stands before a bracket, or at all."""
    for behind in (b"(", b" (", b"<", b""):
        place = text.find(word + behind, start)
        if place >= 0:
            return place
    return start
