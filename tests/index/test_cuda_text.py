"""C++ by its text: what lies where."""

from textwrap import dedent

import pytest

from recon.index.cuda_text import CudaText, Kind


def found(source: str) -> list[tuple[str, str, int, int, str]]:
    """Kind, name, line of the name, last line and name of the class around, of all that is no namespace."""
    text = CudaText(dedent(source).encode())
    return [
        (
            each.kind.value,
            each.name,
            text.line(each.named),
            text.line(each.closed),
            text.pieces[each.outer].name if each.outer >= 0 else "",
        )
        for each in text.pieces
        if each.kind is not Kind.SPACE
    ]


def test_functions_and_classes_are_found_where_they_stand() -> None:
    source = """
    namespace a::b {
    template <class T, int N = (1 > 2)>
    struct alignas(16) Walk final : Base<T> {
      enum class E { first, last };
     public:
      CUTLASS_HOST_DEVICE
      Walk(int x, Options o = {}) : a{x}, b(x) {
        if (x) { y(); }
      }
      ~Walk() {}
      template <int K> T operator()(T const& t) const noexcept { return t; }
      operator bool() const { return true; }
      int kept[2] = {1, 2};
    };
    }
    extern "C" {
    __device__ auto next(int const* p) -> decltype(*p) {
      return *p; }
    }
    template <> void Walk<int, 3>::run<true>(int) {}
    """

    assert [
        ("class", "Walk", 4, 15, ""),
        ("other", "", 5, 5, "Walk"),
        ("function", "Walk", 8, 10, "Walk"),
        ("function", "~Walk", 11, 11, "Walk"),
        ("function", "operator()", 12, 12, "Walk"),
        ("function", "operatorbool", 13, 13, "Walk"),
        ("other", "", 14, 14, "Walk"),
        ("function", "next", 18, 19, ""),
        ("function", "Walk::run", 21, 21, ""),
    ] == found(source)


@pytest.mark.parametrize(
    "hidden",
    ["// }", "/* } */", '"}"', "'}'", 'R"x(} ")x"', "#define END }", "#define END \\\n  }", r'"\"}"', "1'000; '}'"],
)
def test_a_brace_that_is_no_code_closes_nothing(hidden: str) -> None:
    source = f"void f() {{\n{hidden}\n;}}\nvoid g() {{}}"

    assert ["f", "g"] == [name for _, name, *_ in found(source)]
    assert [3 + hidden.count("\n"), 4 + hidden.count("\n")] == [end for _, _, _, end, _ in found(source)]


def test_of_branches_that_open_different_braces_one_counts() -> None:
    source = """
    #if A
    void f(int x) {
    #else
    void f(float x) {
    #endif
      if (x) {
    #if B
      } else {
    #endif
      }
    }
    void g() {}
    """

    assert [("f", 12), ("g", 13)] == [(name, end) for _, name, _, end, _ in found(source)]


def test_a_namespace_that_each_branch_closes_is_open_in_the_second() -> None:
    source = """
    namespace n {
    #if A
    void f() {}
    }
    #else
    void f() {}
    void g() {}
    }
    #endif
    void h() {}
    """

    assert ["f", "f", "g", "h"] == [name for _, name, *_ in found(source)]


def test_a_brace_too_many_or_too_few_ends_nothing_but_the_file() -> None:
    assert [("f", 1), ("g", 1)] == [(name, end) for _, name, _, end, _ in found("void f() {} } void g() {")]


def test_offsets_lead_back_into_the_file() -> None:
    data = b'int a = 1; /* x\n y */ void f() { g("text", 1); }  // end'
    text = CudaText(data)
    piece = next(each for each in text.pieces if each.kind is Kind.FUNCTION)

    assert b'{ g("text", 1); }' == data[text.origin(piece.opened) : text.origin(piece.closed) + 1]


def test_a_long_name_in_a_heading_that_is_no_class_is_passed_over() -> None:
    """It was tried in all parts into which it can be cut: of each letter more it took twice as long."""
    source = f"class {'a' * 400} b + c {{ int x; }};\nint f() {{ return 1; }}\n"

    assert ("function", "f", 2, 2, "") in found(source)
