"""C++ macros that are handed statements, written so that the grammar reads these as blocks that may run.

`ON_TARGET(sm_80, (while (n--) step();), (return 0;))` is a call to the grammar, which loses the arguments that are no
expressions, and often the function around them. As `if (sm_80) {...} {...}` they are read. A word in capitals before a
block, `UNLESS_CONSTANT { ... }`, hides a condition that nobody knows: the block alone is left, or an `if` where an
`else` follows.
"""

import re
from dataclasses import dataclass, field

_HIDING = re.compile(rb"\n[ \t]++([A-Z_][A-Z0-9_]{2,63}+)(\(|\s{0,80}+\{)")
_TOKEN = re.compile(
    rb'[(){}\[\],;]|"[^"\\\n]*+(?:\\.[^"\\\n]*+)*+"'
    rb"|'(?:[^'\\\n]|\\.[^'\n]{0,8})'|//[^\n]*|/\*[^*]*+(?:\*(?!/)[^*]*+)*+\*/",
    re.DOTALL,
)
_CLOSED_BY = {b"(": b")", b"{": b"}", b"[": b"]"}
_STATEMENT = re.compile(rb"\s*+(?:\{|(?:return|for|while|if|do|try|switch)\b)")
_ELSE = re.compile(rb"(?:\s|//[^\n]*+\n)*+else\b")
_INK = re.compile(rb"\S")
_MOST_BYTES, _MOST_TIMES = 40_000, 8
"""How long the arguments of one macro may be, and how often a file is gone through for macros in macros.

Files come from strangers."""
_BEFORE = 600
"""How far back the end of the statement before is looked for."""


@dataclass(slots=True)
class _Argument:
    """One argument of a macro."""

    start: int
    end: int = 0
    groups: list[int] = field(default_factory=list)
    """Where parentheses open and close in it, those in others left out."""
    is_list: bool = False
    """Whether a semicolon stands in the parentheses, deeper ones left out."""

    def is_block(self, data: bytes) -> bool:
        """Whether it is nothing but statements in parentheses."""
        if len(self.groups) != 2:
            return False
        opened, closed = self.groups
        if data[self.start : opened].strip() or data[closed + 1 : self.end].strip():
            return False
        inside = data[opened + 1 : closed]
        is_list = self.is_list or (b";" in inside and _STATEMENT.match(inside))
        return bool(is_list) and inside.rstrip().endswith((b";", b"}"))


def with_blocks(data: bytes) -> bytes:
    """The same text with such blocks; every byte keeps its place."""
    written, left = bytearray(data), _MOST_TIMES * len(data)
    for found in _HIDING.finditer(data):
        start, opened = found.start(1), found.end(2) - 1
        arguments = _arguments(data, opened) if left > 0 and _may_hold_statements(data, opened) else []
        left -= (arguments[-1].end or opened + _MOST_BYTES) - opened if arguments else 0
        if data[opened : opened + 1] == b"{":
            is_block = any(b";" in data[each.start : each.end] for each in arguments)
            if is_block and _begins_statement(data, start, b"{};"):
                _write_condition(written, start, found.end(1), data, arguments[-1].end)
        else:
            blocks = [each for each in arguments if each.is_block(data)]
            if blocks and _begins_statement(data, start, b"{};):"):
                _write(written, start, arguments, blocks)
    return bytes(written)


def _write_condition(written: bytearray, start: int, end: int, data: bytes, closed: int) -> None:
    """The word as what an `if` asks where an `else` follows behind its block, else nothing."""
    if end - start >= len("if(A)") and _ELSE.match(data, closed + 1):
        written[start:end] = b"if(" + written[start + 3 : end - 1] + b")"
    else:
        _blank(written, start, end)


def _may_hold_statements(data: bytes, opened: int) -> bool:
    """Whether a semicolon comes before the bracket is closed: behind most macros it comes after."""
    end = data.find(b";", opened, opened + _MOST_BYTES)
    opens, closes = (b"{", b"}") if data[opened : opened + 1] == b"{" else (b"(", b")")
    return end > 0 and data.count(opens, opened, end) > data.count(closes, opened, end)


def _arguments(data: bytes, opened: int) -> list[_Argument]:
    """What stands between a bracket and the one that closes it, parted at commas; one without an end if none does."""
    current = _Argument(opened + 1)
    found = [current]
    closers: list[bytes] = []
    for token in _TOKEN.finditer(data, opened, opened + _MOST_BYTES):
        sign, at, depth = token[0], token.start(), len(closers)
        if sign in _CLOSED_BY:
            closers.append(_CLOSED_BY[sign])
            current.groups += [at] * (depth == 1 and sign == b"(")
        elif closers and sign == closers[-1]:
            closers.pop()
            current.groups += [at] * (depth == 2 and sign == b")")
            if depth == 1:
                current.end = at
                return found
        elif sign in (b")", b"}", b"]"):
            break
        elif sign == b";":
            current.is_list = current.is_list or depth == 2
        elif sign == b"," and depth == 1:
            current.end = at
            current = _Argument(at + 1)
            found.append(current)
    return [_Argument(opened + 1)]


def _begins_statement(data: bytes, place: int, ends: bytes) -> bool:
    """Whether a statement may begin at a place: behind the end of another one, a directive, or the word `else`."""
    for row in reversed(data[max(place - _BEFORE, 0) : place].split(b"\n")):
        code = row.partition(b"//")[0].strip()
        if code:
            return code[:1] == b"#" or code[-1:] in ends or code.endswith((b"else", b"*/"))
    return False


def _write(written: bytearray, start: int, arguments: list[_Argument], blocks: list[_Argument]) -> None:
    """The macro as an `if` around its first block, by what stands before it, and the other blocks behind."""
    last = arguments[-1].end
    done = start
    for block in blocks:
        opened, closed = block.groups
        condition = bytes(written[start:opened]).rstrip()
        if done == start and condition.endswith(b","):
            written[start : start + len(condition)] = _as_test(condition)
        else:
            _blank(written, done, opened)
        written[opened], written[closed] = b"{}"
        done = closed + 1
    _blank(written, done, last + 1)


def _as_test(heading: bytes) -> bytes:
    """`NAME(a, b,` as `if  (a, b)`."""
    name, _, rest = heading[:-1].partition(b"(")
    return b"if".ljust(len(name)) + b"(" + rest + b")"


def _blank(written: bytearray, start: int, end: int) -> None:
    written[start:end] = _INK.sub(b" ", bytes(written[start:end]))
