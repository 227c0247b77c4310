"""Macros whose last argument is a body, as the grammar can read them."""

import pytest

from recon.index.cuda_outline import outline_cuda
from recon.index.macro_bodies import as_functions
from recon.index.records import Parsed

MEMBER = b"""
struct S {
  KEEP(params, row, column, {
    if (row < column) { return false; }
    return true;
  })
  int after() { return 1; }
};
"""


def test_a_body_becomes_a_functions() -> None:
    """Every byte keeps its place, so that lines are the file's own."""
    read = as_functions(MEMBER)
    outline = outline_cuda(MEMBER)

    assert (len(MEMBER), MEMBER.count(b"\n")) == (len(read), read.count(b"\n"))
    assert b"KEEP(params, row, column) {" in read
    assert Parsed.FULL is outline.parsed
    assert [("S", 2), ("KEEP", 3), ("after", 7)] == [(scope.name, scope.line) for scope in outline.scopes[1:]]


@pytest.mark.parametrize(
    "source",
    [
        b"void f() {\n  DISPATCH(type, T, {\n    g<T>();\n  });\n}\n",
        b"  KEEP(a, b, {\n",
        b"  KEEP(a, f(b), {\n  })\n",
        b"  keep(a, b, {\n  })\n",
        b"  KEEP(a, b, {\n  }, c)\n",
        b"",
    ],
    ids=["a statement", "no end", "a call among its arguments", "no macro by its name", "more behind", "nothing"],
)
def test_all_else_stays(source: bytes) -> None:
    """Statements of functions above all: there the grammar reads what is in them."""
    assert source == as_functions(source)
