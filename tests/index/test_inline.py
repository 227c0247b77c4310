"""Small device functions in the place of their calls."""

from collections.abc import Callable
from textwrap import dedent

import pytest

from recon.index.inline import MAX_DEPTH, MAX_GROWN, MAX_TERMS, Callee, inlined
from recon.index.python_terms import read_function
from recon.index.term import Term
from tests.index.spelled import python, spelled, statements


def resolver(**sources: str) -> Callable[[str], Callee | None]:
    """Knows some functions, given by their parameters and bodies: `"a, b: return a + b"`."""
    known = {}
    for name, text in sources.items():
        params, _, body = text.partition(": ")
        source = f"def {name}({params}):\n" + "".join(f"    {line}\n" for line in dedent(body).splitlines())
        names = tuple(part.partition("=")[0].strip() for part in params.split(",") if part)
        read = read_function(source.encode(), 1)
        known[name] = Callee(names, read, name, sum(1 for _ in read.walk()))
    return known.get


def expanded(source: str, **known: str) -> list[str]:
    """The statements of a function once the calls of known functions are replaced."""
    return statements(inlined(python(source), resolver(**known)))


def test_a_call_becomes_what_the_callee_does() -> None:
    """Parameters are bound, locals get names of their own, the result becomes an assignment to one name."""
    found = expanded("def f(p, i):\n    x = load(p, i)\n", load="q, k: at = q + k\nreturn at[0]")

    body = "(assign at·1 (op:+ q·1 k·1)) (assign return·1 (index at·1 0))"

    assert [f"(block (assign q·1 p) (assign k·1 i) (block {body}) (assign x return·1))"] == found


def test_keyword_arguments_are_bound_by_name() -> None:
    """Stars and unknown names bind nothing; what is not handed over stays free."""
    (found,) = expanded("def f():\n    g(1, c=2, z=3, *more)\n", g="a, b, c: use(a, b, c)")

    assert "(assign a·1 1) (assign c·1 2)" in found
    assert "(assign b·1" not in found
    assert "3" not in found


def test_two_calls_share_no_locals() -> None:
    """Or the second would overwrite what the first computed."""
    (found,) = expanded("def f(x):\n    y = g(x) + g(1)\n", g="a: return a * 2")

    assert "(op:+ return·1 return·2)" in found


def test_a_call_within_a_loop_is_replaced_there() -> None:
    """Loops and guards around the call hold for the inlined statements too."""
    found = inlined(
        python("def f(n):\n    for i in n:\n        if i:\n            x = g(i)\n"), resolver(g="a: return a[0]")
    )
    loop = found.parts[0].parts[0]
    branch = loop.parts[2].parts[0]

    assert ("for", "if") == (loop.op, branch.op)
    assert "(block (assign a·1 i) (block (assign return·1 (index a·1 0))) (assign x return·1))" == spelled(
        branch.parts[1].parts[0]
    )


def test_all_lines_are_the_callers() -> None:
    """Evidence points into the function that was asked about."""
    found = inlined(python("def f(x):\n    pass\n    y = g(x)\n"), resolver(g="a: b = a\nc = b\nreturn c"))

    assert {3} == {part.line for part in found.parts[0].parts[0].walk() if part.op in ("assign", "name")}


def test_a_callee_within_a_callee_is_replaced_too() -> None:
    """So a shape split over three helpers is seen whole."""
    (found,) = expanded("def f(x):\n    y = g(x)\n", g="a: return h(a)", h="b: return b[0]")

    assert "(index b·2 0)" in found
    assert "call" not in found


@pytest.mark.parametrize("known", [{"g": "a: return g(a)"}, {"g": "a: return h(a)", "h": "b: return g(b)"}])
def test_recursion_ends(known: dict[str, str]) -> None:
    """At the first call of what is already being replaced."""
    (found,) = expanded("def f(x):\n    y = g(x)\n", **known)

    assert 1 == found.count("(call g")


def test_depth_is_bounded() -> None:
    """A long chain of helpers is no small function."""
    known = {f"g{n}": f"a: return g{n + 1}(a)" for n in range(MAX_DEPTH + 2)}
    (found,) = expanded("def f(x):\n    y = g0(x)\n", **known)

    assert f"(call g{MAX_DEPTH} " in found


def test_a_large_callee_stays_a_call() -> None:
    """Or inlining would multiply the tree."""
    body = "\n".join(f"x{n} = a" for n in range(MAX_TERMS // 3))

    assert ["(assign y (call g x))"] == expanded("def f(x):\n    y = g(x)\n", g=f"a: {body}")


def test_helpers_of_helpers_multiply_no_function() -> None:
    """Where three levels would make a body of millions, fewer are put in: none half, so that no line decides it."""
    calls = MAX_GROWN // 60 // 8
    known = {
        "g": "a: " + "\n".join("h(a)" for _ in range(60)),
        "h": "a: " + "\n".join("k(a)" for _ in range(60)),
        "k": "a: s(a)",
    }
    found = spelled(inlined(python("def f(x):\n" + "    g(x)\n" * calls), resolver(**known)))

    assert "(call g " not in found
    assert 60 * calls == found.count("(call h ")
    assert "(call k " not in found


@pytest.mark.parametrize("call", ["other(x)", "m.g(x)", "g[1](x)", "g"])
def test_what_is_not_a_call_by_its_bare_name_stays(call: str) -> None:
    """Methods, launches, and names that nobody knows."""
    before = python(f"def f(x):\n    y = {call}\n")

    assert spelled(before) == spelled(inlined(before, resolver(g="a: return a")))


def test_a_callee_that_returns_nothing_leaves_its_work() -> None:
    """`return` alone ends it; what it stored stays."""
    (found,) = expanded("def f(p):\n    g(p)\n", g="q: q[0] = 1\nreturn")

    assert "(assign (index q·1 0) 1)" in found
    assert "(do return·1)" in found


def test_locals_of_loops_and_tuples_are_renamed() -> None:
    """Whatever binds a name in the callee."""
    (found,) = expanded("def f(i, a):\n    g(a)\n", g="q: for i in q:\n    a, *b = i\n    use(a, b)")

    assert "(for i·1 q·1" in found
    assert "(call use a·1 b·1)" in found


def test_the_caller_is_left_as_it_was() -> None:
    """Terms are shared between questions."""
    before = python("def f(x):\n    y = g(x)\n")
    text = spelled(before)
    inlined(before, resolver(g="a: return a"))

    assert text == spelled(before)
    assert isinstance(before, Term)
