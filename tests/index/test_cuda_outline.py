"""The first pass over CUDA and C++."""

from textwrap import dedent

import pytest

from recon.index.cuda_outline import MOST_BYTES, outline_cuda
from recon.index.records import Feature, Outline, Parsed, Scope, ScopeKind


def outline(source: str) -> Outline:
    return outline_cuda(dedent(source).encode())


def scope(source: str, name: str) -> Scope:
    return next(scope for scope in outline(source).scopes if scope.name == name)


SOURCE = """\
#include "ops/tree.cuh"

template <typename T, int N>
__global__ void __launch_bounds__(128) verify(const T* __restrict__ next, int64_t* out, int n = 3) {
  int cur = 0;
  while (cur != -1) {
    if (out[cur] == next[n]) break;
    cur = next[cur];
  }
}

namespace ns {
class Runner : public Base, Other<int> {
 public:
  Runner(int a) : a_(make<int>(a)) {}
  ~Runner() {}
  static inline float half(float x) { return expf(x) / 2; }
};
void Runner::launch(at::Tensor x) const {
  auto kernel = &verify<float, 4>;
  kernel<<<1, 32, 0, stream>>>(x.data_ptr<float>(), nullptr, -1);
  ns::other<3>(x);
  this->half(1.0f);
}
}

TORCH_LIBRARY_FRAGMENT(ops, m) {
  m.def("verify(Tensor next, Tensor! out) -> ()");
  m.impl("verify", torch::kCUDA, &verify);
}
"""


def test_functions_methods_and_classes_are_scopes() -> None:
    scopes = outline(SOURCE).scopes

    assert [
        ("", ScopeKind.MODULE, -1, 1),
        ("verify", ScopeKind.FUNCTION, 0, 3),
        ("Runner", ScopeKind.CLASS, 0, 13),
        ("Runner", ScopeKind.FUNCTION, 2, 15),
        ("~Runner", ScopeKind.FUNCTION, 2, 16),
        ("half", ScopeKind.FUNCTION, 2, 17),
        ("Runner::launch", ScopeKind.FUNCTION, 0, 19),
        ("TORCH_LIBRARY_FRAGMENT", ScopeKind.FUNCTION, 0, 27),
    ] == [(s.name, s.kind, s.parent, s.first_line) for s in scopes]
    assert (4, 10) == (scopes[1].line, scopes[1].end_line)
    assert ("Base", "Other") == scopes[2].bases


def test_a_kernel_shows_its_specifiers_and_parameters() -> None:
    kernel = scope(SOURCE, "verify")

    assert ("template", "__global__", "__launch_bounds__") == kernel.decorators
    assert [("next", "T", ""), ("out", "int64_t", ""), ("n", "int", "3")] == [
        (param.name, param.annotation, param.default) for param in kernel.params
    ]
    assert "void" == kernel.returns


def test_calls_are_spelled_without_template_arguments() -> None:
    calls = [(call.callee, call.args) for call in outline(SOURCE).calls]

    assert [
        ("make", ("a",)),
        ("expf", ("x",)),
        ("kernel[]", ("x.data_ptr()", "nullptr", "-1")),
        ("x.data_ptr", ()),
        ("ns::other", ("x",)),
        ("this.half", ("1.0f",)),
        ("m.def", ('"verify(Tensor next, Tensor! out) -> ()"'[:40],)),
        ("m.impl", ('"verify"', "torch::kCUDA", "verify")),
    ] == calls


def test_an_alias_of_a_kernel_is_bound() -> None:
    binds = [(bind.target, bind.value) for bind in outline(SOURCE).binds if bind.value]

    assert [("kernel", "verify")] == binds


def test_the_name_of_an_operator_is_kept_of_its_schema() -> None:
    assert ["verify", "verify"] == [text.text for text in outline(SOURCE).texts]


def test_includes_are_imports() -> None:
    assert ["ops/tree.cuh"] == [item.module for item in outline(SOURCE).imports]


SIGNS = [
    ("for (;;) { while (a) {} }", Feature.LOOP | Feature.NESTED_LOOP),
    ("x = a == b;", Feature.COMPARE_EQ),
    ("x = a < 3;", Feature.COMPARE_ORDER),
    ("while (a) { return; }", Feature.BREAK),
    ("x = a[b[i]];", Feature.INDEX_BY_INDEX),
    ("int j = b[i]; x = a[j + 1];", Feature.INDEX_BY_INDEX),
    ("int j = __ldg(b + i); x = *(a + j);", Feature.INDEX_BY_INDEX),
    ("while (ok) { cur = next[cur]; }", Feature.CHASE),
    ("for (int cur = head; cur != -1; cur = next[cur]) {}", Feature.CHASE),
    ("while (node != nullptr) { node = node->next; }", Feature.CHASE),
    ("for (int i = 0; i < n; ++i) { int j = a[i]; cur = *(next + cur); }", Feature.CHASE),
    ("a[i] = 1;", Feature.STORE),
    ("*p = 1;", Feature.STORE),
    ("x = a ? b : c;", Feature.WHERE),
    ("f<3><<<g, b>>>(x);", Feature.LAUNCH),
    ("cudaLaunchKernelEx(&config, kernel, x);", Feature.LAUNCH),
    ("x = a / b;", Feature.DIVIDE),
    ("x = curand_uniform(&state);", Feature.RANDOM),
    ("x = __expf(a);", Feature.EXP),
]


@pytest.mark.parametrize(("body", "sign"), SIGNS)
def test_a_sign_is_seen(body: str, sign: Feature) -> None:
    assert sign | Feature.CUDA in scope(f"void f() {{ {body} }}", "f").features


@pytest.mark.parametrize(
    ("body", "sign"),
    [
        ("x = a == 1;", Feature.COMPARE_EQ),
        ("for (int i = 0; i < n; ++i) { x = a[i]; }", Feature.CHASE),
        ("x = &a;", Feature.INDEX_BY_INDEX),
        ("x = a / 2;", Feature.DIVIDE),
        ("f(x);", Feature.LAUNCH),
    ],
)
def test_a_sign_is_not_seen_where_there_is_none(body: str, sign: Feature) -> None:
    assert sign not in scope(f"void f() {{ {body} }}", "f").features


def test_a_function_that_the_grammar_cannot_read_is_named() -> None:
    source = """\
    void good() { f(1); }
    void bad() { f(2); @@ ]] (( }
    """

    result = outline(source)

    assert Parsed.PARTLY is result.parsed
    assert "the grammar fails inside bad" == result.problem
    assert "good" in [s.name for s in result.scopes]


def test_a_macro_before_a_function_hides_nothing() -> None:
    result = outline("MY_DEVICE void f(int a) { g(a); }\n")

    assert (Parsed.FULL, "") == (result.parsed, result.problem)
    assert ["g"] == [call.callee for call in result.calls]


def test_what_is_no_source_is_unread_with_a_reason() -> None:
    large, binary = outline_cuda(b" " * (MOST_BYTES + 1)), outline_cuda(b"int x;\0")

    assert [Parsed.UNREAD, Parsed.UNREAD] == [large.parsed, binary.parsed]
    assert "too large to parse" in large.problem
    assert "NUL" in binary.problem


def test_deep_nesting_does_no_harm() -> None:
    result = outline_cuda(b"void f() { x = " + b"(" * 5000 + b"1" + b")" * 5000 + b"; g(1); }")

    assert ["g"] == [call.callee for call in result.calls]
