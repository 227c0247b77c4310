"""Source that the standard parser refuses, or that is hard on a parser: every answer is an outline that says so."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from recon.index import rescue as rescue_module
from recon.index.outline import MOST_BYTES, outline_python
from recon.index.records import Outline, Parsed, ScopeKind
from recon.index.rescue import bracket_depth, outline_by_lines, rescue

NEEDS_312 = Parsed.FULL if sys.version_info >= (3, 12) else Parsed.NEWER
NEEDS_314 = Parsed.FULL if sys.version_info >= (3, 14) else Parsed.NEWER

NEWER = {
    "quotes reused in an f-string (PEP 701)": (b"def f():\n    return f'{g(a['b'])}'\n", NEEDS_312),
    "type parameters (PEP 695)": (b"def f[T: int](x: T) -> T:\n    return g(x)\n", NEEDS_312),
    "generic class and type alias (PEP 695)": (b"type A[T] = list[T]\nclass f[T](B):\n    x = g(1)\n", NEEDS_312),
    "except without brackets (PEP 758)": (b"def f():\n    try: g(1)\n    except A, B: pass\n", NEEDS_314),
    "template string (PEP 750)": (b"def f():\n    return t'{g(a)}'\n", NEEDS_314),
}
PLAIN = {
    "star in an index (PEP 646)": b"def f():\n    g(a[*b])\n",
    "latin-1 with a cookie": b"# coding: latin-1\ndef f():\n    g('\xe9')\n",
    "byte order mark": b"\xef\xbb\xbfdef f():\n    g(1)\n",
    "carriage returns and newlines": b"def f():\r\n    g(1)\r\n",
    "carriage returns only": b"def f():\r    g(1)\r",
    "form feed": b"\x0cdef f():\n    g('\x0c')\n",
    "no newline at the end": b"def f():\n    g(1)",
    "an invalid escape": b"def f():\n    g('\\d')\n",
}
BY_LINES = {
    "Python 2": b"def f():\n    print 'x'\n",
    "latin-1 without a cookie": b"def f():\n    g('\xe9')\n",
    "a bad cookie": b"# coding: no-such-thing\ndef f():\n    g(1)\n",
    "5,000 nested brackets": b"def f():\n    pass\nx = " + b"(" * 5000 + b")" * 5000,
    "torn in the middle": b"def f():\n    g(1)\ndef h(\n",
}
UNREAD = {
    "UTF-16": "def f():\n    g(1)\n".encode("utf-16"),
    "a NUL byte": b"def f():\n    g(1)\0\n",
    "a compiled file": b"\xa7\r\r\n\0\0\0\0def f",
}


def names(outline: Outline) -> list[str]:
    return [scope.name for scope in outline.scopes]


@pytest.mark.parametrize(("data", "parsed"), NEWER.values(), ids=NEWER)
def test_newer_syntax_is_read_whole(data: bytes, parsed: Parsed) -> None:
    outline = outline_python(data)

    assert parsed is outline.parsed
    assert bool(outline.problem) is (parsed is Parsed.NEWER)
    assert ["", "f"] == names(outline)
    assert ["g"] == [call.callee for call in outline.calls]
    assert [1] == [call.scope for call in outline.calls]


@pytest.mark.parametrize("data", PLAIN.values(), ids=PLAIN)
def test_odd_but_valid_source_is_read_whole(data: bytes) -> None:
    outline = outline_python(data)

    assert (Parsed.FULL, "") == (outline.parsed, outline.problem)
    assert ["", "f"] == names(outline)
    assert ["g"] == [call.callee for call in outline.calls]


def test_an_empty_file_has_a_module_and_nothing_else() -> None:
    outline = outline_python(b"")

    assert Parsed.FULL is outline.parsed
    assert [""] == names(outline)


@pytest.mark.parametrize("data", BY_LINES.values(), ids=BY_LINES)
def test_what_no_parser_reads_is_outlined_by_lines(data: bytes) -> None:
    outline = outline_python(data)

    assert Parsed.PARTLY is outline.parsed
    assert outline.problem.endswith("; outlined by lines")
    assert ["", "f"] == names(outline)[:2]


@pytest.mark.parametrize("data", UNREAD.values(), ids=UNREAD)
def test_what_is_no_source_is_unread_with_a_reason(data: bytes) -> None:
    outline = outline_python(data)

    assert Parsed.UNREAD is outline.parsed
    assert outline.problem
    assert [""] == names(outline)


@pytest.mark.parametrize(
    "data",
    [
        b"def f(): pass\nx = a" + b" + a" * 50_000,
        b"def f(): pass\nx = a" + b".b()" * 3_000,
        b"def f(): pass\nif a: pass\n" + b"elif a: pass\n" * 3_000,
    ],
    ids=["50,000 terms", "3,000 calls in a chain", "3,000 elif"],
)
def test_depth_beyond_the_recursion_limit_is_said_not_raised(data: bytes) -> None:
    """At Python's own limit the parser may give up; libcst then is too slow and is stopped."""
    with short_limit():
        outline = outline_python(data)

    assert outline.parsed in {Parsed.FULL, Parsed.NEWER, Parsed.PARTLY}
    assert "f" in names(outline)


@pytest.mark.parametrize("word", [b"-", b"not ", b"lambda: "], ids=["minus", "not", "lambda"])
def test_what_nests_too_deep_for_the_parser_costs_no_wait(word: bytes) -> None:
    """A tree may hold thousands of such files; libcst would take its whole time for each."""
    begun = time.monotonic()
    outline = outline_python(b"def f(): pass\nx = " + word * 30_000 + b"1\n")

    assert (Parsed.PARTLY, ["", "f"]) == (outline.parsed, names(outline))
    assert time.monotonic() - begun < rescue_module.WALL_LIMIT_S / 4


def test_a_large_literal_is_read() -> None:
    outline = outline_python(b"x = [" + b"1, " * 300_000 + b"]\ndef f(): pass\n")

    assert Parsed.FULL is outline.parsed
    assert ["", "f"] == names(outline)


def test_a_file_too_large_to_parse_is_outlined_by_lines() -> None:
    outline = outline_python(b"def f(): pass\n" + b"#" * MOST_BYTES)

    assert Parsed.PARTLY is outline.parsed
    assert "too large to parse" in outline.problem
    assert ["", "f"] == names(outline)


@contextmanager
def short_limit(limit_s: float = 1.0) -> Iterator[None]:
    """Give libcst little time."""
    before = rescue_module.rescue.__defaults__
    rescue_module.rescue.__defaults__ = (limit_s,)
    try:
        yield
    finally:
        rescue_module.rescue.__defaults__ = before


def test_libcst_is_stopped_at_the_wall_limit() -> None:
    """A chain of binary operators takes libcst time that grows with the square of its length."""
    data = b"def f(): pass\nx = a" + b" + a" * 30_000 + b"\nprint 'x'\n"
    started = time.monotonic()

    outline = rescue(data, "asked for", 1.5)

    assert "libcst was stopped after 1.5 s" in outline.problem
    assert ["", "f"] == names(outline)
    assert time.monotonic() - started < 10


def test_a_libcst_that_dies_by_a_signal_is_a_result(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rescue_module, "_CHILD", "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)")

    outline = rescue(b"def f(): pass\n", "asked for")

    assert "asked for; libcst was ended by signal 11; outlined by lines" == outline.problem
    assert ["", "f"] == names(outline)


def test_a_libcst_that_answers_nonsense_is_a_result(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rescue_module, "_CHILD", "import sys; print('?'); sys.exit('out of order')")

    outline = rescue(b"def f(): pass\n", "asked for")

    assert "asked for; libcst failed: out of order; outlined by lines" == outline.problem


def test_without_a_python_to_run_lines_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "")

    assert "no Python to run libcst in" in rescue(b"def f(): pass\n", "asked for").problem


def test_brackets_in_strings_and_comments_do_not_count() -> None:
    data = b"f(a[1], '(((((', {2}) # ((((\n" + b'"[[[[["\n'

    assert 2 == bracket_depth(data)
    assert 5000 == bracket_depth(b"[" * 5000)


def test_lines_give_nesting_and_extent() -> None:
    source = b"""\
class A:

    def m(self,
          x):
        # def not_this
        return 'x'

    class B: pass
async  def g():
\tdef h():
\t\tpass

x = 1
"""

    scopes = outline_by_lines(source, "asked for").scopes

    assert [
        ("", ScopeKind.MODULE, -1, 1, 14),
        ("A", ScopeKind.CLASS, 0, 1, 8),
        ("m", ScopeKind.FUNCTION, 1, 3, 6),
        ("B", ScopeKind.CLASS, 1, 8, 8),
        ("g", ScopeKind.FUNCTION, 0, 9, 11),
        ("h", ScopeKind.FUNCTION, 4, 10, 11),
    ] == [(s.name, s.kind, s.parent, s.line, s.end_line) for s in scopes]
