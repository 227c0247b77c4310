"""Inner functions where they are called, and loops that a library runs as loops."""

import pytest

from recon.index.unfold import MAX_GROWN
from tests.index.spelled import python, statements


def written(*lines: str) -> list[str]:
    """The statements of a function of these lines, read and unfolded."""
    return statements(python("def f(a, b):\n" + "".join(f"    {line}\n" for line in lines)))


@pytest.mark.parametrize(
    ("lines", "terms"),
    [
        (
            ("def g(x):", "    y = x + 1", "    return y * b", "c = g(a)"),
            ["(block (assign y·1 (op:+ a 1)) (assign c (op:* y·1 b)))"],
        ),
        (
            ("g = lambda x: x == b", "c = g(a)"),
            ["(assign g (lambda (compare:== x b) x))", "(assign c (compare:== a b))"],
        ),
        (
            ("c = max(a, key=lambda x: x[b])",),
            [
                "(block (assign value·3 -1) (for each·1 a (block (if (compare:> (index each·1 b) value·3)",
                "(block (assign value·3 (index each·1 b)) (assign best·2 each·1)) (block)))) (assign c best·2))",
            ],
        ),
        (("c = a.at[b].set(1)",), ["(block (assign (index a b) 1) (assign c a))"]),
        (
            ("n = fori_loop(0, b, lambda i, s: s + a[i], 0)",),
            [
                "(block (assign state·1 0)",
                "(for round·2 (call range 0 b) (block (assign state·1 (op:+ state·1 (index a round·2)))))",
                "(assign n state·1))",
            ],
        ),
        (
            ("n, m = while_loop(lambda s: s[0] < b, lambda s: (s[1], s[0]), (0, 1))",),
            [
                "(block (assign (tuple state·1·0 state·1·1) (tuple 0 1))",
                "(while (compare:< state·1·0 b)",
                "(block (assign (tuple state·1·0 state·1·1) (tuple state·1·1 state·1·0))))",
                "(assign (tuple n m) (tuple state·1·0 state·1·1)))",
            ],
        ),
        (
            ("c = cond(a, lambda x: x, lambda x: -x, b)",),
            ["(block (if a (block (assign chosen·1 b)) (block (assign chosen·1 (neg b)))) (assign c chosen·1))"],
        ),
    ],
)
def test_what_is_called_stands_where_it_is_called(lines: tuple[str, ...], terms: list[str]) -> None:
    """Its parameters are what was given; what it sets has names of its own."""
    found = written(*lines)

    assert " ".join(terms) == " ".join(term for term in found)


def test_a_return_in_a_loop_ends_the_loop() -> None:
    """So that what a mismatch ends is still seen to end there."""
    (found,) = written(
        "def g(x):", "    for i in x:", "        if i != b:", "            return i", "    return 0", "c = g(a)"
    )

    assert "(if (compare:!= i·1 b) (block (block (assign return·2 i·1) (break))) (block))" in found


def test_what_follows_a_return_hangs_on_its_test() -> None:
    """An early return becomes the one arm of a test, what follows the other."""
    (found,) = written("def g(x):", "    if x:", "        return 1", "    return 2", "c = g(a)")

    assert "(if a (block (assign return·2 1)) (block (assign return·2 2)))" in found


def test_names_that_an_inner_function_declares_another_s_stay() -> None:
    """What it counts there is what is read outside."""
    *_, found = written("n = 0", "def g():", "    nonlocal n", "    n += 1", "    return n", "c = g()")

    assert "(assign:+ n 1)" in found


@pytest.mark.parametrize(
    "lines",
    [
        ("def g(x):", "    return g(x)", "c = g(a)"),
        ("g = lambda x: x", "g = lambda x: -x", "c = g(a)"),
        ("c = max(a, key=b)",),
        ("c = while_loop(a, b, 0)",),
    ],
)
def test_what_cannot_be_told_stays_a_call(lines: tuple[str, ...]) -> None:
    """Recursion, a name with two meanings, functions from elsewhere."""
    assert "(call" in written(*lines)[-1]


def test_functions_that_would_grow_beyond_reading_stay_as_they_are() -> None:
    """A hundred calls of a long function are a hundred times its length."""
    long = [f"    x = x + {number}" for number in range(MAX_GROWN // 100)]
    calls = [f"c = g({number})" for number in range(60)]

    assert "(assign c (call g 59))" == written("def g(x):", *long, "    return x", *calls)[-1]


def test_what_is_called_for_its_effects_stays_where_it_is() -> None:
    """It is no part of a value, and a return of it would seem to end what calls it."""
    inner, called = written("def g(x):", "    for i in x:", "        if i != b:", "            return", "g(a)")

    assert inner.startswith("(def:g")
    assert "(do (call g a))" == called
