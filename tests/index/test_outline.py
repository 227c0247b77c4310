"""The first pass over Python: its records, and the signs by which functions are chosen."""

import ast
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from recon.index.newer import newer_outline
from recon.index.outline import outline_python, try_python
from recon.index.records import Bind, Call, Feature, Import, Outline, Parsed, Scope, ScopeKind, Text


def outline(source: str) -> Outline:
    return outline_python(dedent(source).encode())


def function(source: str, name: str = "f") -> Scope:
    return next(scope for scope in outline(source).scopes if scope.name == name)


def signs(source: str, name: str = "f") -> Feature:
    return function(source, name).features


def library(module: str) -> bytes:
    """Source of a module of the standard library."""
    return Path(ast.__file__).with_name(f"{module}.py").read_bytes()


def test_scopes_nest_and_know_their_lines() -> None:
    source = """\
    import os

    @register("x")
    @wraps
    class A(Base, mixins.B, Generic[T]):
        def m(self):
            def inner():
                pass
            return inner

    async def g(): ...
    """

    scopes = outline(source).scopes

    assert [
        (0, -1, ScopeKind.MODULE, "", 1, 1, 11),
        (1, 0, ScopeKind.CLASS, "A", 5, 3, 9),
        (2, 1, ScopeKind.FUNCTION, "m", 6, 6, 9),
        (3, 2, ScopeKind.FUNCTION, "inner", 7, 7, 8),
        (4, 0, ScopeKind.FUNCTION, "g", 11, 11, 11),
    ] == [(s.id, s.parent, s.kind, s.name, s.line, s.first_line, s.end_line) for s in scopes]
    assert scopes[1].bases == ("Base", "mixins.B", "Generic")
    assert scopes[1].decorators == ("register", "wraps")


def test_parameters_keep_annotations_defaults_and_stars() -> None:
    source = """\
    def f(a, /, b: "x.Y", c: Optional[Z] = None, *args: int, d: A | None = g(1,
        2), e: A | B = -1, **kwargs) -> list[int]: ...
    """

    params = function(source).params

    assert [
        ("a", "", ""),
        ("b", "x.Y", ""),
        ("c", "Z", "None"),
        ("*args", "int", ""),
        ("d", "A", "g()"),
        ("e", "", "-1"),
        ("**kwargs", "", ""),
    ] == [(p.name, p.annotation, p.default) for p in params]


def test_a_default_that_is_no_name_is_quoted_from_the_source_and_cut() -> None:
    source = f'def f(é="ü", a=[1, 2], b=({"x + " * 40}1)): ...'

    defaults = [param.default for param in function(source).params]

    assert ["'ü'", "[1, 2]", ("x + " * 40)[:60]] == defaults


@pytest.mark.parametrize(
    ("call", "callee"),
    [
        ("f(x)", "f"),
        ("self.sampler.forward(x)", "self.sampler.forward"),
        ("torch.ops._C.f(x)", "torch.ops._C.f"),
        ("super().forward(x)", "super().forward"),
        ("kernel[grid](x)", "kernel[]"),
        ("Cls(1).m(x)", "Cls().m"),
        ("self.layers[i].forward(x)", "self.layers[].forward"),
        ('getattr(self, "run")(x)', "self.run"),
        ("(await a.b()).c(x)", "a.b().c"),
        ('"x".join(y)', "<str>.join"),
        ('"x".join(y).split()', "<str>.join().split"),
        ('d["a"](x)', "d['a']"),
        ('d[0]["b"].c(x)', "d[0]['b'].c"),
        ('d["a key that is a sentence"](x)', "d[]"),
        ("(lambda: x)()", "<lambda2:5>"),
        ("(a or b)(x)", ""),
    ],
)
def test_a_callee_is_spelled_with_its_dots(call: str, callee: str) -> None:
    calls = outline(f"async def f():\n    {call}\n").calls

    assert callee == calls[0].callee


def test_calls_keep_scope_line_and_arguments() -> None:
    source = """\
    class A:
        @deco(1)
        def m(self, x=default()):
            return [g(x, None, "a", -1, *rest, y=self.z, **more) for _ in x]
    """

    calls = outline(source).calls

    assert (
        Call(1, "deco", 2, 1, (), ("1",)),
        Call(1, "default", 3, 0, (), ()),
        Call(2, "g", 4, 5, ("y", "**"), ("x", "None", "'a'", "-1", "*rest", "self.z", "more")),
    ) == calls


def test_a_long_string_argument_is_cut_and_shows_it() -> None:
    calls = outline(f"f({'x' * 100!r})").calls

    assert ("'" + "x" * 39,) == calls[0].args


def test_a_literal_with_more_digits_than_python_prints_does_no_harm() -> None:
    result = outline(f"f(0x{'f' * 5000})")

    assert Parsed.FULL is result.parsed
    assert ("",) == result.calls[0].args


def test_imports_bind_names_where_they_stand() -> None:
    source = """\
    import a.b
    import a.b as c
    from ..d import e as f, g
    def h():
        from x import *
    """

    assert (
        Import(0, "a.b", "", "a", 1),
        Import(0, "a.b", "", "c", 2),
        Import(0, "..d", "e", "f", 3),
        Import(0, "..d", "g", "g", 3),
        Import(1, "x", "*", "*", 5),
    ) == outline(source).imports


def test_assignments_bind_types_aliases_and_entries() -> None:
    source = """\
    class A:
        field: Base
        items: list[Item]
        def m(self, ps: dict[str, P]):
            self.x = Cls(1)
            self.y: Kind = make()
            a, b = f, g.h
            c = f if a else g
            D = {"k": f, "l": g}
            D["m"] = h
            for layer in self.layers: pass
            for i, p in enumerate(ps): pass
            with open_it() as w: pass
            if (n := Cls()): pass
            self.l = ModuleList([Layer(i) for i in range(3)])
            none = None
    """

    found = [(bind.target, bind.value, bind.annotation) for bind in outline(source).binds]

    assert [
        ("field", "", "Base"),
        ("items[]", "", "Item"),
        ("ps[]", "", "P"),
        ("self.x", "Cls()", ""),
        ("self.y", "", "Kind"),
        ("self.y", "make()", ""),
        ("a", "f", ""),
        ("b", "g.h", ""),
        ("c", "f", ""),
        ("c", "g", ""),
        ("D", "<dict>", ""),
        ("D['k']", "f", ""),
        ("D['l']", "g", ""),
        ("D['m']", "h", ""),
        ("layer", "self.layers[*]", ""),
        ("p", "ps[*]", ""),
        ("with", "open_it()", ""),
        ("w", "open_it()", ""),
        ("n", "Cls()", ""),
        ("i", "range()[*]", ""),
        ("self.l", "ModuleList()", ""),
        ("self.l[]", "Layer()", ""),
    ] == found


def test_a_global_is_bound_in_the_module() -> None:
    source = """\
    def f():
        global runner
        runner = Runner()
    """

    assert (Bind(0, "runner", "Runner()", "", 3, around=-1),) == outline(source).binds


def test_strings_that_could_name_something_are_kept_with_their_role() -> None:
    source = '''\
    """A docstring.is.not"""
    D = {"key": "value", "far": "pkg.mod.Class"}
    if x == "compared" or y in ("one", "two"): pass
    f("argument", "a sentence is not", choices=["c"], to="pkg.mod:Class")
    D["sub"]
    def g(m: Literal["lit"]): ...
    match z:
        case "matched": pass
    '''

    assert (
        Text(0, "key", "key", 2),
        Text(0, "far", "key", 2),
        Text(0, "value", "value", 2),
        Text(0, "pkg.mod.Class", "dotted", 2),
        Text(0, "compared", "compare", 3),
        Text(0, "one", "compare", 3),
        Text(0, "two", "compare", 3),
        Text(0, "argument", "argument", 4),
        Text(0, "c", "argument", 4),
        Text(0, "pkg.mod:Class", "dotted", 4),
        Text(0, "sub", "key", 5),
        Text(1, "lit", "value", 6),
        Text(0, "matched", "compare", 8),
    ) == outline(source).texts


def test_a_member_that_is_compared_with_counts_as_a_string() -> None:
    source = "ok = x == Algo.EAGLE or x in (Algo.NGRAM, other.name)\n"

    assert [("EAGLE", "member"), ("NGRAM", "member")] == [(text.text, text.role) for text in outline(source).texts]


def test_a_choice_from_a_table_is_one_of_its_values() -> None:
    source = 'x = {"a": A, "b": m.B}[key]\n'

    assert (Bind(0, "x", "A", "", 1), Bind(0, "x", "m.B", "", 1)) == outline(source).binds


def test_a_table_of_a_module_is_known_by_its_name() -> None:
    """Also where it holds no names."""
    source = 'MODELS = {"a": ("b", "c")}\ndef f():\n    local = {"a": "b"}\n'

    assert (Bind(0, "MODELS", "<dict>", "", 1), Bind(1, "local", "<dict>", "", 3)) == outline(source).binds


CHASES = {
    "index": "cur = 0\n    while ok:\n        cur = nxt[cur]",
    "load": "cur = 0\n    for i in range(n):\n        cur = tl.load(base + cur)",
    "end": "cur = 0\n    while cur != -1:\n        cur = step(cur)",
    "end through another name": "while cur >= 0:\n        a = step(cur)\n        cur = a",
    "linked nodes": "while node is not None:\n        node = node.parent",
    "dict walk": "for tok in toks:\n        cur = child[cur][tok]",
    "dict get": "for tok in toks:\n        cur = child.get((cur, tok))",
    "item": "for tok in toks:\n        cur = int(child[cur, 0].item())",
    "gather": "for i in range(n):\n        cur = torch.gather(nxt, 1, cur)",
    "two names": "for i in range(n):\n        a = b + 1\n        b = nxt[a]",
    "tuple": "for i in range(n):\n        cur, d = nxt[cur], d + 1",
}
NO_CHASES = {
    "counter": "for i in range(n):\n        x = a[i]",
    "counting down": "while i >= 0:\n        i -= 1",
    "outside a loop": "cur = nxt[cur]",
    "no name": "for i in range(n):\n        a[i] = b[i]",
    "bare while": "while q:\n        x = q.pop()",
}


@pytest.mark.parametrize("body", CHASES.values(), ids=CHASES)
def test_a_chase_is_seen(body: str) -> None:
    assert Feature.CHASE in signs(f"def f():\n    {body}\n")


@pytest.mark.parametrize("body", NO_CHASES.values(), ids=NO_CHASES)
def test_what_only_looks_like_a_chase_is_not(body: str) -> None:
    assert Feature.CHASE not in signs(f"def f():\n    {body}\n")


SIGNS = [
    ("for a in b: pass", Feature.LOOP),
    ("for a in b:\n        while c: pass", Feature.NESTED_LOOP),
    ("a == b", Feature.COMPARE_EQ),
    ("torch.eq(a, b)", Feature.COMPARE_EQ),
    ("a <= 1", Feature.COMPARE_ORDER),
    ("for a in b:\n        return 1", Feature.BREAK),
    ("while a:\n        break", Feature.BREAK),
    ("a[b[i]]", Feature.INDEX_BY_INDEX),
    ("j = b[i]\n    a[j + 1] = 0", Feature.INDEX_BY_INDEX),
    ("j = tl.load(p + i)\n    tl.store(q + j, 1)", Feature.INDEX_BY_INDEX),
    ("a.cumprod(dim=1)", Feature.SCAN),
    ("tl.associative_scan(a, 0, add)", Feature.SCAN),
    ("a.argmax(-1)", Feature.ARGMAX),
    ("v, i = a.max(dim=-1)", Feature.ARGMAX),
    ("tl.max(a, axis=0, return_indices=True)", Feature.ARGMAX),
    ("torch.rand(3)", Feature.RANDOM),
    ("q.exponential_()", Feature.RANDOM),
    ("a.softmax(-1)", Feature.EXP),
    ("a @ b", Feature.DOT),
    ("tl.dot(a, b)", Feature.DOT),
    ("a[i] = 1", Feature.STORE),
    ("tl.store(p, v)", Feature.STORE),
    ("tl.load(p)", Feature.LOAD),
    ("torch.where(a, b, c)", Feature.WHERE),
    ("kernel[(1,)](a)", Feature.LAUNCH),
    ("tl.sum(a)", Feature.REDUCE),
    ("a.sum(dim=-1)", Feature.REDUCE),
    ("torch.any(a, 1)", Feature.REDUCE),
    ("a / b", Feature.DIVIDE),
    ("a /= b", Feature.DIVIDE),
]


@pytest.mark.parametrize(("body", "sign"), SIGNS)
def test_a_sign_is_seen(body: str, sign: Feature) -> None:
    assert sign in signs(f"def f():\n    {body}\n")


@pytest.mark.parametrize(
    ("body", "sign"),
    [
        ("a == 1", Feature.COMPARE_EQ),
        ("a[b.shape[0]]", Feature.INDEX_BY_INDEX),
        ("json.load(f)", Feature.LOAD),
        ("self.store(p, v)", Feature.STORE),
        ("list[int](a)", Feature.LAUNCH),
        ("sum(a)", Feature.REDUCE),
        ("a / 2", Feature.DIVIDE),
        ("a if b else c", Feature.WHERE),
        ("return 1", Feature.BREAK),
    ],
)
def test_a_sign_is_not_seen_where_there_is_none(body: str, sign: Feature) -> None:
    assert sign not in signs(f"def f():\n    {body}\n")


def test_a_nested_function_keeps_its_signs_for_itself() -> None:
    source = """\
    def f():
        def g():
            for a in b:
                if a == c: break
        return g
    """

    assert Feature(0) == signs(source)
    assert Feature.LOOP | Feature.COMPARE_EQ | Feature.BREAK == signs(source, "g")


@pytest.mark.parametrize(
    "decorators",
    [
        "@triton.jit",
        "@jit",
        "@triton.autotune(configs=[])\n@triton.jit(do_not_specialize=[])",
        "@gluon.jit",
        "@my_jit()",
    ],
)
def test_a_kernel_is_known_by_its_decorator(decorators: str) -> None:
    assert Feature.JIT in signs(f"{decorators}\ndef f(): pass\n")


def test_a_conditional_in_a_kernel_chooses_between_tensors() -> None:
    assert Feature.WHERE in signs("@triton.jit\ndef f():\n    x = a if b else c\n")


def test_depth_does_not_end_the_walk() -> None:
    """The parser itself recurses, so its limit is raised; the walk has no limit."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(20_000)
    try:
        long = try_python(b"x = a" + b" + a" * 5000 + b"\ny = a" + b".b()" * 3000)
        elifs = try_python(b"if a: pass\n" + b"elif f(a): pass\n" * 3000)
    finally:
        sys.setrecursionlimit(limit)

    assert isinstance(long, Outline)
    assert isinstance(elifs, Outline)
    assert 3000 == len(long.calls)
    assert 3000 == len(elifs.calls)


def test_every_call_is_recorded() -> None:
    """Against the walk of the standard library; calls in annotations are none."""
    for module in ("ast", "argparse", "dataclasses", "typing", "inspect"):
        data = library(module)
        expected = sorted(node.lineno for node in ast.walk(ast.parse(data)) if isinstance(node, ast.Call))

        result = outline_python(data)

        assert expected == sorted(call.line for call in result.calls)


@pytest.mark.parametrize("module", ["ast", "dataclasses", "inspect", "typing", "enum", "shutil"])
def test_both_parsers_give_the_same_records(module: str) -> None:
    """What libcst reads is brought to the same tree, down to lines, signs and defaults."""
    data = library(module)

    plain, newer = outline_python(data), newer_outline(data)

    assert Parsed.NEWER is newer.parsed
    for one, other in zip(plain.calls, newer.calls, strict=True):
        assert one == other
    assert plain.scopes == newer.scopes
    assert plain.imports == newer.imports
    assert plain.binds == newer.binds
    assert plain.texts == newer.texts
    assert plain.branches == newer.branches
