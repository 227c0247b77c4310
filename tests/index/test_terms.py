"""Python and CUDA source of one function as Terms: what it computes, and on which line."""

import ast
from collections.abc import Callable
from textwrap import dedent
from typing import Any

import pytest

from recon.index.cuda_code import Code
from recon.index.cuda_terms import functions
from recon.index.python_terms import MAX_SLICE_BYTES, read_function
from tests.index.spelled import cuda, lines, python, spelled, statements

# Python


@pytest.mark.parametrize(
    ("source", "term"),
    [
        ("a = b.c[i, 2:n]", "(assign a (index (attr:c b) i (slice 2 n (none))))"),
        ("a = b = 1", "(assign a b 1)"),
        ("a += 1", "(assign:+ a 1)"),
        ("a: int = -1", "(assign a -1)"),
        ("a, (b, *c) = x", "(assign (tuple a (tuple b c)) x)"),
        ("f(x, *y, key=1, **z)", "(do (call f x (star:* y) (kw:key 1) (star:** z)))"),
        ("f[grid](x)", "(do (call (index f grid) x))"),
        ("t = a < b <= c", "(assign t (and (compare:< a b) (compare:<= b c)))"),
        ("t = a is not None and b not in c", "(assign t (and (compare:isnot a None) (compare:notin b c)))"),
        ("t = -x + ~y", "(assign t (op:+ (neg x) (not y)))"),
        ("t = +x", "(assign t x)"),
        ("t = x.eq(y) & torch.ne(a, b)", "(assign t (op:& (compare:== x y) (compare:!= a b)))"),
        ("t = x.eq(y, out=z)", "(assign t (call (attr:eq x) y (kw:out z)))"),
        ("t = a if b else c", "(assign t (select b a c))"),
        ("t = [x for x in y if x]", "(assign t (comp x x y (if x)))"),
        ("t = {k: v for a in b for k, v in a}", "(assign t (comp (tuple k v) a b (tuple k v) a))"),
        ("t = {'a': b, **c}", "(assign t (dict 'a' b (none) c))"),
        ("t = lambda x: x", "(assign t (lambda x x))"),
        ("t = (n := f())", "(assign t (bind n (call f)))"),
        ("t = await f()", "(assign t (call f))"),
        ("yield x", "(do (yield x))"),
        ("assert a, 'why'", "(assert a)"),
        ("raise E(x) from y", "(raise (call E x))"),
        ("return", "(return)"),
        ("t = a @ b", "(assign t (op:@ a b))"),
        ("t = a or b or c", "(assign t (or (or a b) c))"),
        ("t = a and (b and c)", "(assign t (and a (and b c)))"),
        ("f(key=1, *y)", "(do (call f (kw:key 1) (star:* y)))"),
        ("t = x[(a, b)]", "(assign t (index x (tuple a b)))"),
        ("t = x[(a), (b)]", "(assign t (index x a b))"),
        ("t = x[(a, b), c]", "(assign t (index x (tuple a b) c))"),
        ("t = x[((a), (b),)]", "(assign t (index x (tuple a b)))"),
        ("t = x[a,]", "(assign t (index x a))"),
        ("t = x[*a, b]", "(assign t (index x a b))"),
        ("t = x[()]", "(assign t (index x (tuple)))"),
        ("t = 0x1F + 1_000 + 1e-5 + 2j", "(assign t (op:+ (op:+ (op:+ 0x1F 1_000) 1e-5) 2j))"),
        ("t = [..., True, None, b'a', r'\\d', 'é']", "(assign t (tuple ... True None b'a' r'\\d' 'é'))"),
        ("t = ['a' 'b', '' '', f'{x}', 'a' f'{x}', '\\'']", "(assign t (tuple '' '' '' '' '\\''))"),
    ],
)
@pytest.mark.parametrize("is_newer", [False, True])
def test_a_python_statement_becomes_a_term(
    source: str, term: str, monkeypatch: pytest.MonkeyPatch, *, is_newer: bool
) -> None:
    """The form that shapes are written for, also where the standard parser refuses a source and libcst reads it."""
    with monkeypatch.context() as patched:
        if is_newer:
            patched.setattr(ast, "parse", _refuse)
        read = python(f"def f():\n    {source}\n")

    assert [term] == statements(read)


_parse: Callable[..., ast.AST] = ast.parse


def _refuse(source: bytes | str, *args: Any, **options: Any) -> ast.AST:
    """Stands for a parser that is older than the source; literals, which libcst asks it about, are not newer."""
    if source[:3] in (b"def", b"asy"):
        raise SyntaxError
    return _parse(source, *args, **options)


def test_what_carries_no_data_flow_is_left_out() -> None:
    """Docstrings, imports, declarations, and classes within functions."""
    source = """
        def f(x):
            "What it does."
            import os
            global y
            z: int
            class C:
                def m(self):
                    return 1
            pass
            return x
    """

    assert ["(return x)"] == statements(python(source))


def test_what_cannot_run_is_left_out() -> None:
    """What stands behind an exit of its own suite, or below a constant; the `else` of a loop never entered runs."""
    source = """
        def f(x):
            while 0:
                one()
            else:
                two()
            for i in x:
                if i:
                    continue
                    three()
                if i > 1:
                    break
                else:
                    raise E
                four()
            try:
                return x
                five()
            finally:
                six()
            if True:
                return y
            seven()
    """

    assert [
        "(block (do (call two)))",
        "(for i x (block (if i (block (continue)) (block)) (if (compare:> i 1) (block (break)) (block (raise E)))))",
        "(block (return x) (do (call six)))",
        "(block (return y))",
    ] == statements(python(source))


def test_branches_nest_and_other_suites_are_laid_flat() -> None:
    """An elif is an if in the else; the suites of with and try follow one another; a case is a branch of its own."""
    source = """
        def f(x):
            if a:
                one()
            elif b:
                two()
            with open(p) as h, lock:
                three()
            try:
                four()
            except E:
                five()
            finally:
                six()
            match x:
                case 1:
                    seven()
    """

    assert [
        "(if a (block (do (call one))) (block (if b (block (do (call two))) (block))))",
        "(block (assign h (call open p)) (do lock) (do (call three)))",
        "(block (do (call four)) (do (call five)) (do (call six)))",
        "(block (if (compare:== x 1) (block (do (call seven))) (block)))",
    ] == statements(python(source))


def test_the_else_of_a_loop_follows_it() -> None:
    """It runs after the loop; that a break skips it is no question of any shape."""
    source = """
        def f(n):
            for i in n:
                use(i)
            else:
                done()
    """
    term = python(source)

    assert ["(block (for i n (block (do (call use i)))) (do (call done)))"] == statements(term)
    assert [("def", 1), ("for", 2), ("do", 3), ("do", 5)] == lines(term)


LINED = """
    @decorated
    async def f(
        a,
        b=(1,
           2),
    ):
        x = g(
            a,
        )
        if x:
            return (
                b
            )
        async with y as z, w:
            pass
        try:
            x = 1; w = 2
        except* E:
            raise
        while True: break
        class C:
            z = 1
        match x:
            case {"a": q}:
                def inner():
                    '''text
    at column 0'''
                    return q
        return x
"""
LINES = [
    ("def", 12),
    ("assign", 17),
    ("if", 20),
    ("return", 21),
    ("assign", 24),
    ("do", 24),
    ("assign", 27),
    ("assign", 27),
    ("raise", 29),
    ("while", 30),
    ("break", 30),
    ("if", 33),
    ("assign", 33),
    ("def", 35),
    ("return", 38),
    ("return", 39),
]


def test_statements_know_their_lines_in_the_file() -> None:
    """Whatever stands between them: decorators, long signatures, text at the first column, nested functions."""
    source = dedent(LINED).lstrip("\n").replace("@decorated\n", "")

    assert LINES == lines(read_function(source.encode(), 12))


def test_a_method_keeps_its_indentation() -> None:
    """It is not dedented, because a string inside may hold text at the first column."""
    source = '    def f(self):\n        x = """\nat column 0\n"""\n        return x\n'

    assert [("def", 7), ("assign", 8), ("return", 11)] == lines(read_function(source.encode(), 7))


def test_lines_come_from_libcst_where_the_standard_parser_knows_no_such_syntax(monkeypatch: pytest.MonkeyPatch) -> None:
    """A source may be newer than this Python; then the slower way gives the same lines."""

    monkeypatch.setattr(ast, "parse", _refuse)
    source = dedent(LINED).lstrip("\n").replace("@decorated\n", "")

    assert LINES == lines(read_function(source.encode(), 12))


def test_a_nested_function_is_part_of_the_outer_one() -> None:
    """And a decorated one too."""
    source = """
        def outer(x):
            @wraps(x)
            def inner(y):
                return y
            return inner
    """

    assert ["(def:inner (block (return y)) y)", "(return inner)"] == statements(python(source))


def test_a_function_is_too_long_for_libcst_alone() -> None:
    """Its time grows with the square of long chains; what the standard parser reads may be of any length."""
    rest = b"#" * MAX_SLICE_BYTES + b"\n"

    assert "(assign x 1)" == spelled(read_function(b"def f():\n    x = 1\n" + rest, 1).parts[0].parts[0])
    with pytest.raises(ValueError, match=f"over the limit of {MAX_SLICE_BYTES}"):
        read_function(b"def f(:\n    x = 1\n" + rest, 1)


@pytest.mark.parametrize(
    ("source", "why"),
    [
        (b"def f(:\n    pass\n", "libcst refuses it: ParserSyntaxError"),
        (b"def f():\n    x = '\xff'\n", "libcst refuses it: UnicodeDecodeError"),
        (b"x = 1\n", "no function in the slice"),
        (b"    x = 1\n", "no function in the slice"),
    ],
)
def test_what_is_no_function_is_refused(source: bytes, why: str) -> None:
    """As a ValueError, which the reader of a tree reports as an unknown."""
    with pytest.raises(ValueError, match=why):
        read_function(source, 1)


def test_long_literals_are_cut() -> None:
    """A shape asks at most for short words; a Term travels between processes."""
    term = python(f"def f():\n    x = '{'a' * 500}'\n    y = f'{{x}}'\n")

    assert ["(assign x '" + "a" * 79 + ")", "(assign y '')"] == statements(term)


# CUDA


@pytest.mark.parametrize(
    ("source", "term"),
    [
        ("int a = 0, *b = out + 1;", "(assign a 0) (assign b (op:+ out 1))"),
        ("float c;", ""),
        ("a[i] = p[i] * 2;", "(assign (index a i) (op:* (index p i) 2))"),
        ("a += p[i];", "(assign:+ a (index p i))"),
        ("i++; --i;", "(assign:+ i 1) (assign:- i 1)"),
        ("*b = a ? -1 : !c;", "(assign b (select a -1 (not c)))"),
        ("x = (float)a + static_cast<int>(b) + int(c);", "(assign x (op:+ (op:+ a b) c))"),
        ("x = __ldg(p + a);", "(assign x (index p a))"),
        ("x = *(p + a * n + b);", "(assign x (index p (op:+ (op:* a n) b)))"),
        ('out << "at " << a[i] << "\\n";', ""),
        ("*(p + a) = *q;", "(assign (index p a) q)"),
        ("ns::f<int>(a);", "(do (call f a))"),
        ("s.x->y = a;", "(assign (attr:y (attr:x s)) a)"),
        ("if (a && b || c) return; else f();", "(if (or (and a b) c) (block (return)) (block (do (call f))))"),
        ("while (a < n) { a = next[a]; }", "(while (compare:< a n) (block (assign a (index next a))))"),
        ("do { f(); } while (a != b);", "(while (compare:!= a b) (block (do (call f))))"),
        ("for (int i = s; i < n; ++i) f(i);", "(for i (call range s n) (block (do (call f i))))"),
        ("for (int i = 0; n > i; i += 2) f(i);", "(for i (call range 0 n) (block (do (call f i))))"),
        (
            "for (int c = a; c != -1; c = next[c]) f(c);",
            "(assign c a) (while (compare:!= c -1) (block (do (call f c)) (assign c (index next c))))",
        ),
        ("for (;;) break;", "(while (none) (block (break)))"),
        ("for (auto x : list) continue;", "(for x list (block (continue)))"),
        (
            "switch (a) { case 1: f(); break; default: g(); }",
            "(if:match a (block (do (call f))) (block)) (if:match a (block (do (call g))) (block))",
        ),
        ("k<<<grid, block, 0, s>>>(a, b);", "(do (call (index k (none)) a b))"),
        ("auto l = [&](int q) { return q; };", "(assign l (lambda (block (return q)) q))"),
        (
            "auto l = [=] __device__ (int q) { f(q); return q; };",
            "(assign l (lambda (block (do (call f q)) (return q)) q)) (block:inner (do (call f q)) (return q))",
        ),
        (
            "e([&] { g([&] { f(); }); });",
            (
                "(do (call e (lambda (block)))) (block:inner (do (call g (lambda (block (do (call f)))))) "
                "(block:inner (do (call f))))"
            ),
        ),
        ("BY_TYPE(t, T, { f(); });", "(do (call BY_TYPE t T (other:compound_statement))) (block:inner (do (call f)))"),
        ("\n#if A\na();\n#elif B\nb();\n#else\nc();\n#endif\n", "(do (call a)) (do (call b)) (do (call c))"),
        ("if (x) {\n#ifdef A\na();\n#endif\n}", "(if x (block (do (call a))) (block))"),
        ("\n#if 0\na();\n#else\nb();\n#endif\n", "(do (call b))"),
        ("return nullptr;", "(return nullptr)"),
    ],
)
def test_a_cuda_statement_becomes_a_term(source: str, term: str) -> None:
    """Casts, references and parentheses vanish: a shape asks what is loaded, not through which type."""
    assert term == " ".join(statements(cuda(f"__global__ void k() {{ {source} }}")))


@pytest.mark.parametrize(
    ("test", "term"),
    [
        ("a < b || c >= d", "(or (compare:< a b) (compare:>= c d))"),
        ("a < b || c == e || f >= d", "(or (or (compare:< a b) (compare:== c e)) (compare:>= f d))"),
        ("i < lens[b] && j >= 0", "(and (compare:< i (index lens b)) (compare:>= j 0))"),
        ("a < b && c > d", "(and (compare:< a b) (compare:> c d))"),
    ],
)
def test_a_comparison_is_no_template(test: str, term: str) -> None:
    """`a < b || c >= d` reads like an assignment to the template `a<b || c>`, and the grammar takes it for one."""
    source = f"__device__ void f() {{ x();\n if ({test}) return; }}"
    found = cuda(source)

    assert ["(do (call x))", f"(if {term} (block (return)) (block))"] == statements(found)
    assert {2} == {part.line for part in found.parts[0].parts[1].parts[0].walk()}


def test_every_definition_of_a_cuda_file_is_given_with_its_lines() -> None:
    """Templates, namespaces and methods."""
    source = b"""namespace n {
template <int N>
__global__ void k(int* p) {
  p[0] = N;
}
struct S {
  __device__ int m() const { return v; }
};
int S::w(int a) {
  return a;
}
}
"""
    found = [(first, last, term.text) for first, last, term in functions(Code(source).tree())]

    assert [(3, 5, "k"), (7, 7, "m"), (9, 11, "w")] == found


def test_broken_cuda_gives_what_can_be_read() -> None:
    """The grammar knows no macros; functions beside one are read all the same."""
    source = b"#define X(\nDISPATCH(T, [&] { f( })\n__global__ void k(int* p) { p[0] = 1; }\n"
    found = {term.text: statements(term) for _, _, term in functions(Code(source).tree())}

    assert ["(assign (index p 0) 1)"] == found.get("k")


@pytest.mark.parametrize("data", [b"", b"\0" * 100, b"\xff\xfe{}", b"void f() {", b"}" * 1000, b"(" * 5000])
def test_no_bytes_are_too_strange_for_the_cuda_reader(data: bytes) -> None:
    """Whatever a file holds, reading it ends in Terms or in nothing."""
    assert all("def" == term.op for _, _, term in functions(Code(data).tree()))


def test_lambdas_within_lambdas_take_no_longer_than_their_text() -> None:
    source = "h();"
    for _ in range(40):
        source = f"auto f = [&] {{ x(); {source} return [&] {{ return y; }}; }};"
    body = next(functions(Code(f"int k() {{ {source} }}".encode()).tree()))[2]

    assert sum(1 for _ in body.walk()) < 2_000
