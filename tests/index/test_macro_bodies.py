"""Macros whose last argument is a body, as the grammar can read them."""

import pytest

from recon.index.cuda_outline import outline_cuda
from recon.index.macro_bodies import as_functions
from recon.index.records import Feature, Parsed, ScopeKind

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


MADE = rb"""#define COPY(NAME, T) \
  template <int N> __global__ void NAME##_kernel(const T* from, T* to) { \
    for (int i = 0; i < N; ++i) to[i] = from[i]; \
  }
COPY(copy_int, int)
void after() {}
"""


def test_a_kernel_that_a_macro_makes_is_read_under_the_name_it_has_there() -> None:
    """Its code is no directive."""
    read = as_functions(MADE)
    scopes = [scope for scope in outline_cuda(MADE).scopes if scope.kind is ScopeKind.FUNCTION]

    assert (len(MADE), MADE.count(b"\n")) == (len(read), read.count(b"\n"))
    assert [("NAME___kernel", 2, 4), ("after", 6, 6)] == [(scope.name, scope.line, scope.end_line) for scope in scopes]
    assert Feature.LOOP | Feature.STORE in scopes[0].features


@pytest.mark.parametrize(
    "define",
    [
        b"#define INLINE(x) __device__ __forceinline__ x\n",
        b"#define OPEN(NAME) __global__ void NAME() {\n",
        b"#define DECLARE(NAME) __global__ void NAME(int);\n",
        b"#define RUN(x) do { x; } while (0)  // __device__\n",
        b"#define TABLE(NAME) __device__ int NAME[] = {1, 2}\n",
    ],
)
def test_a_macro_that_makes_no_whole_kernel_stays(define: bytes) -> None:
    assert define == as_functions(define)


def test_a_loop_that_a_macro_spells_is_written_out_where_it_is_used() -> None:
    source = b"#define EACH(c, p) for (int c = first[p]; c >= 0; c = next[c])\nvoid f() { EACH(kid, at) { g(kid); } }\n"

    assert b"{ for (int kid = first[at]; kid >= 0; kid = next[kid]) { g(kid); } }" in as_functions(source)
    assert source.count(b"\n") == as_functions(source).count(b"\n")
