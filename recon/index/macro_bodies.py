"""C++ macros whose last argument is a body, or that make kernels, written so that the grammar reads a function.

`MASK(params, row, column, { return true; })` at the level of declarations defines a member: the macro's name stands for
its heading. The grammar sees a call that cannot be there and loses the body, with it what decides a score or a mask.
To the grammar `#define WALK(NAME, T) __global__ void NAME(...) {...}` is a directive and no code at all.
"""

import re
from itertools import islice

from recon.index.macro_blocks import with_blocks

_HEAD = re.compile(rb"^[ \t]*[A-Z][A-Z0-9_]{2,63}\([\w \t,]{1,400}(,)\s{0,80}(\{)", re.MULTILINE)
_BRACE = re.compile(rb"[{}]")
_MACROS = re.compile(rb"^\s*(?:[A-Z_][A-Z0-9_]+\s+)+(?=\S)")
_DEFINE = re.compile(
    rb"^[ \t]*#[ \t]*define[ \t]+\w+\([\w \t,.]{0,400}\)(?P<body>[^\\\n]*+(?:\\(?:\r?\n|.)[^\\\n]*+)*+)", re.MULTILINE
)
_KERNEL = re.compile(rb"[^{};#]*?\b__(?:global|device)__\b[^{};=]*\)[^{};=()]*\{")
_LOOP = re.compile(
    rb"^[ \t]*#[ \t]*define[ \t]+(\w+)\(([\w \t,]{1,200})\)[ \t]+"
    rb"(for[ \t]*\([^\\\n{};]{0,80};[^\\\n{};]{0,80};[^\\\n{};]{0,80}\))[ \t]*$",
    re.MULTILINE,
)
_MOST_LOOPS, _MOST_USES = 20, 200
"""Files come from strangers: what is written out must not grow without end."""
_WORD = re.compile(rb"\w+")
_TAIL = re.compile(rb"\s{0,80}(\))[ \t]*$", re.MULTILINE)


def as_functions(data: bytes) -> bytes:
    """The same text with such macros as functions, and what macros hide of statements written out; lines stay.

    A macro that ends in `});` is a statement, and stays what it is.
    """
    if b"__global__" in data or b"__device__" in data:
        data = _DEFINE.sub(_as_kernel, data)
    if b") for" in data:
        for loop in islice(_LOOP.finditer(data), _MOST_LOOPS):
            data = _with_loops(data, loop)
    data = with_blocks(data)
    found = bytearray()
    done = 0
    for head in _HEAD.finditer(data):
        if head.start() < done:
            continue
        end = _end_of_block(data, head.start(2))
        tail = _TAIL.match(data, end) if end else None
        if tail is None:
            continue
        found += data[done : head.start(1)] + b")" + data[head.end(1) : tail.start(1)] + b" "
        done = tail.end(1)
    return bytes(found) + data[done:] if done else data


def _as_kernel(define: re.Match[bytes]) -> bytes:
    """The function that a macro makes, by the names of the macro's parameters; other macros stay as they are."""
    whole, body = define[0], define["body"]
    plain = body.replace(b"##", b"__").replace(b"\\\n", b" \n").replace(b"\\\r\n", b" \r\n")
    if not _KERNEL.match(plain) or plain.count(b"{") != plain.count(b"}"):
        return whole
    return b" " * (len(whole) - len(body)) + plain


def _with_loops(data: bytes, define: re.Match[bytes]) -> bytes:
    """The same where blocks behind `EACH(c, p)` stand under the loop that the macro spells."""
    name, listed, heading = define.groups()
    names = [word.strip() for word in listed.split(b",")]

    def written(use: re.Match[bytes]) -> bytes:
        given = dict(zip(names, (part.strip() for part in use[1].split(b",")), strict=False))
        return _WORD.sub(lambda word: given.get(word[0], word[0]), heading) if len(given) == len(names) else use[0]

    return re.sub(rb"\b" + name + rb"\(([^(){};\n]{1,80})\)(?=\s{0,80}\{)", written, data, count=_MOST_USES)


def _end_of_block(data: bytes, start: int) -> int:
    """Just behind the brace that closes the one at a place; 0 where none does."""
    depth = 0
    for brace in _BRACE.finditer(data, start):
        depth += 1 if brace[0] == b"{" else -1
        if not depth:
            return brace.end()
    return 0


def alone(data: bytes, line: int, end_line: int) -> bytes:
    """One function as the only member of a class, for a grammar that an unknown macro around it led astray.

    Args:
        data: The file.
        line: Where the function's name and parameters begin, counted from 1.
        end_line: Where it ends.

    Returns:
        Text in which every line keeps its number.
    """
    rows = data.split(b"\n", end_line)[line - 1 : end_line]
    heading = _MACROS.sub(lambda found: b" " * len(found[0]), rows[0])
    body = b"\n".join([heading, *rows[1:]])
    end = body.rfind(b"}") + 1
    return b"\n" * max(line - 2, 0) + b"struct _ {" + b"\n" * (line > 1) + (body[:end] or body) + b"};\n"
