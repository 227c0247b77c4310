"""C++ of which only what can be chosen is parsed."""

from pathlib import Path
from textwrap import dedent

import pytest

from recon.detectors.registry import choices
from recon.index.choosing import masks_of
from recon.index.cuda_outline import outline_cuda
from recon.index.cuda_signs import may_have, signs_of
from recon.index.cuda_text import CudaText, Kind
from recon.index.cuda_triage import outline_asked
from recon.index.records import Feature, Outline, Parsed, ScopeKind
from tests.index.test_cuda_outline import SIGNS

ASKED = masks_of(choices())
SHAPES = sorted((Path(__file__).parent.parent / "detectors" / "shapes").rglob("*.cu"))
QUIET = """
    template <class T>
    struct Pair {
      CUTLASS_DEVICE Pair(T a) : first(a) {}
      T get() const { return first; }
      void hand(T* p) { ns::run<T, 3>(&verify<T>, p->data()); Guard g(p); }
    };
"""
LOUD = """
    struct Walk {
      int step(const int* next, int cur) {
        while (cur != -1) { if (out[cur] == next[cur]) break; cur = next[cur]; }
        return cur;
      }
    };
"""


def asked(source: str) -> Outline:
    return outline_asked(dedent(source).encode(), ASKED)


@pytest.mark.parametrize(
    "body",
    [body for body, _ in SIGNS]
    + [
        "(**this).x[0] = *reinterpret_cast<T*>(p);",
        "if (ok) *(f({k, n})) = 1;",
        "x = (float)*p / (float)*q;",
        "return a.b == -c;",
        "x = a<b>::c < (d);",
        "x = (m[i / 8] >> (i % 8)) & 1u;",
        "do { x /= y; } while (k);",
        "for (; a && b;) { b = b - 1; }",
        "*p++ >>= 2;",
        "p[0] <<= 1; a->b[i].c = 3;",
        "CUTLASS_PRAGMA_UNROLL\nfor (int i = 0; i < 3; ++i) x = y;",
    ],
)
def test_the_text_gives_every_sign_that_the_grammar_gives(body: str) -> None:
    """All but those that choose nothing: how a loop is left, and launches, whose files are read whole."""
    known = outline_cuda(f"void f() {{ {body} }}".encode()).scopes[1].features & ~(Feature.BREAK | Feature.LAUNCH)

    assert known == known & signs_of(f"{{ {body} }}".encode())


def test_what_is_dear_to_find_is_sought_where_it_can_decide() -> None:
    """The quick answer is that of all signs."""
    bodies = [f"{{ {body} }}".encode() for body, _ in SIGNS]
    masks = [int(Feature.LOOP | Feature.CHASE), int(Feature.STORE | Feature.COMPARE_EQ), int(Feature.INDEX_BY_INDEX)]

    assert [any(signs_of(body) & mask == mask for mask in masks) for body in bodies] == [
        may_have(body, masks) for body in bodies
    ]


@pytest.mark.parametrize("path", SHAPES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_the_text_of_a_real_kernel_gives_every_sign(path: Path) -> None:
    data = path.read_bytes()
    text = CudaText(data)
    signs = {
        text.line(each.closed): signs_of(text.code[each.opened : each.closed])
        for each in text.pieces
        if each.kind is Kind.FUNCTION
    }
    known = {
        scope.end_line: scope.features & ~(Feature.BREAK | Feature.LAUNCH)
        for scope in outline_cuda(data).scopes
        if scope.kind is ScopeKind.FUNCTION
    }

    assert known == {end: features & signs.get(end, 0) for end, features in known.items()}


def test_a_file_in_which_nothing_can_be_chosen_is_not_parsed() -> None:
    """It still says what is called what, and who calls whom."""
    outline = asked(QUIET)

    assert Parsed.PASSED is outline.parsed
    assert [("Pair", 0, 3), ("Pair", 1, 4), ("get", 1, 5), ("hand", 1, 6)] == [
        (scope.name, scope.parent, scope.line) for scope in outline.scopes[1:]
    ]
    assert [(4, "ns::run", 6), (4, "p.data", 6), (4, "", 6)] == [
        (call.scope, call.callee, call.line) for call in outline.calls
    ]
    assert ("verify", "p") == outline.calls[-1].args


def test_includes_are_kept_with_their_lines() -> None:
    source = '#include <a.h>\n// #include "no.h"\n\n  # include "b/c.cuh"\nint f() { return 1; }\n'

    assert [("a.h", 1), ("b/c.cuh", 4)] == [(each.module, each.line) for each in asked(source).imports]


def test_a_function_that_can_be_chosen_is_as_the_grammar_reads_it() -> None:
    """Beside others that are passed over."""
    outline, whole = asked(QUIET + LOUD), outline_cuda(dedent(QUIET + LOUD).encode())

    assert [(s.name, s.line, s.end_line, s.parent) for s in whole.scopes] == [
        (s.name, s.line, s.end_line, s.parent) for s in outline.scopes
    ]
    assert whole.scopes[-1] == outline.scopes[-1]
    assert {"ns::run", "p.data", ""} == {call.callee for call in outline.calls if call.scope == 4}


@pytest.mark.parametrize(
    "source",
    [
        "__global__ void k(int* p) { p[0] = 1; }",
        "void f() { k<<<1, 2>>>(3); }",
        "void f() { LaunchKernel(1, 2)(k, 3); }",
        'void f(Module& m) { m.def("f", &f); }',
        "TVM_FFI_DLL_EXPORT_TYPED_FUNC(f, g);",
        'TORCH_LIBRARY(ns, m) { m.impl("f", g); }',
    ],
)
def test_a_file_with_a_kernel_a_launch_or_a_registration_is_read_whole(source: str) -> None:
    whole = dedent(QUIET) + source

    assert outline_cuda(whole.encode()) == outline_asked(whole.encode(), ASKED)


def test_a_constructor_that_the_grammar_loses_behind_a_macro_is_read_alone() -> None:
    source = """
    template <class T>
    struct Walk {
      HOST_DEVICE
      Walk(int const* next, int n) : a(n), b(n) {
        for (int i = 0; i < n; ++i) { out[i] = next[n] == i; }
      }
    };
    """
    scope = next(each for each in asked(source).scopes if each.kind is ScopeKind.FUNCTION)

    assert ("Walk", 5, 7) == (scope.name, scope.line, scope.end_line)
    assert Feature.LOOP | Feature.STORE | Feature.COMPARE_EQ in scope.features


def test_what_is_too_large_or_no_source_is_named() -> None:
    assert Parsed.UNREAD is outline_asked(b"\0", ASKED).parsed
