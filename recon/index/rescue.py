"""What to do with Python that the standard parser refuses: ask libcst, else outline by lines, and always say so."""

import json
import os
import re
import subprocess
import sys

import msgspec

from recon.index.records import Feature, Outline, Parsed, Scope, ScopeKind

WALL_LIMIT_S = 20.0
DEEPEST_BRACKETS = 200
"""libcst ends its process by a signal somewhere above this depth; no source written by people comes near."""
_MOST_BYTES = 1_000_000
_CHILD = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from recon.index.newer import main; main()"
_NOT_CODE = re.compile(rb"#[^\r\n]*|'[^'\\\r\n]*'|\"[^\"\\\r\n]*\"")
_OPENERS, _CLOSERS = b"([{", b")]}"
_DEFINITION = re.compile(r"^([ \t]*)(async[ \t]+def|def|class)[ \t]+([^\W\d]\w*)")
_ANY_LINE = re.compile(r"^([ \t]*)\S")
_ROW = re.compile(r"\r\n|\r|\n")
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


def rescue(data: bytes, why: str, limit_s: float = WALL_LIMIT_S) -> Outline:
    """The records of a file that the standard parser refused for the reason `why`. Never raises."""
    if data.startswith(_UTF16):
        return unread(f"UTF-16, which Python does not read as source ({why})")
    if b"\0" in data:
        return unread(f"holds NUL bytes, so it is no Python source ({why})")
    if len(data) > _MOST_BYTES:
        return outline_by_lines(data, f"{why}; {len(data)} bytes: too large for libcst")
    if (depth := bracket_depth(data)) > DEEPEST_BRACKETS:
        return outline_by_lines(data, f"{why}; brackets nest {depth} deep: too deep for libcst")
    answer = _ask_libcst(data, limit_s)
    return answer if isinstance(answer, Outline) else outline_by_lines(data, f"{why}; {answer}")


def unread(why: str) -> Outline:
    """An outline that knows nothing but why."""
    return Outline(Parsed.UNREAD, why, (_module(1),), (), (), (), ())


def bracket_depth(data: bytes) -> int:
    """How deep brackets nest, comments and strings on one line left out; cheap, and never too small by much."""
    deepest = depth = 0
    for byte in _NOT_CODE.sub(b"", data):
        if byte in _OPENERS:
            depth += 1
            deepest = max(deepest, depth)
        elif byte in _CLOSERS:
            depth = max(depth - 1, 0)
    return deepest


def _ask_libcst(data: bytes, limit_s: float) -> Outline | str:
    """Read a file in a process that may be killed; the reason where that gave no outline."""
    if not sys.executable:
        return "no Python to run libcst in"
    folders = [os.path.abspath(folder) for folder in sys.path]  # noqa: PTH100  # '' is the current folder here
    command = [sys.executable, "-I", "-X", "utf8", "-c", _CHILD, json.dumps(folders)]
    try:
        child = subprocess.run(command, input=data, capture_output=True, timeout=limit_s, check=False)
    except subprocess.TimeoutExpired:
        return f"libcst was stopped after {limit_s:g} s"
    except OSError as error:
        return f"libcst could not be started: {error}"
    if child.returncode < 0:
        return f"libcst was ended by signal {-child.returncode}"
    try:
        return msgspec.msgpack.decode(child.stdout, type=Outline | str)
    except msgspec.DecodeError:
        last = child.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        return f"libcst failed: {last[:200]}"


def outline_by_lines(data: bytes, why: str) -> Outline:
    """Functions and classes by their `def` and `class` lines; nothing of what they do."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    rows = _ROW.split(text)
    scopes = [_module(len(rows))]
    indents = [-1]  # of the open scopes
    opened = [0]
    for number, row in enumerate(rows, 1):
        line = _ANY_LINE.match(row)
        if line is None or row.lstrip().startswith("#"):
            continue
        indent = len(line[1].expandtabs())
        definition = _DEFINITION.match(row)
        while len(opened) > 1 and indents[-1] >= indent:
            opened.pop()
            indents.pop()
        for scope in opened[1:]:
            scopes[scope] = msgspec.structs.replace(scopes[scope], end_line=number)
        if definition is not None:
            kind = ScopeKind.CLASS if definition[2] == "class" else ScopeKind.FUNCTION
            scopes.append(_scope(len(scopes), opened[-1], kind, definition[3], number))
            opened.append(len(scopes) - 1)
            indents.append(indent)
    return Outline(Parsed.PARTLY, f"{why}; outlined by lines", tuple(scopes), (), (), (), ())


def _module(last: int) -> Scope:
    return _scope(0, -1, ScopeKind.MODULE, "", 1, last=last)


def _scope(scope: int, parent: int, kind: ScopeKind, name: str, line: int, *, last: int = 0) -> Scope:
    return Scope(scope, parent, kind, name, line, line, last or line, Feature(0), (), (), (), "")
