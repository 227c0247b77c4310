"""Files that no person wrote: long chains and long lists end in seconds, and nothing of them is lost."""

import time
from collections.abc import Iterator

import pytest

from tests.index.trees import edges

_MOST_S = 30.0
"""Of processor time; before there was a bound, each of these took minutes."""


@pytest.fixture(autouse=True)
def _in_time() -> Iterator[None]:
    began = time.process_time()
    yield

    assert time.process_time() - began < _MOST_S


def test_three_thousand_classes_above_one_another_are_looked_through() -> None:
    chain = "".join(f"class C{n}(C{n - 1}):\n def m(self): super().m()\n" for n in range(1, 3000))
    source = f"class C0:\n def m(self): pass\n{chain}C2999().m()\n"

    assert {("a.py:C1499.m", "method", "certain")} == edges({"a.py": source}, "a.py:C1500.m")
    assert ("a.py:C2999.m", "method", "certain") in edges({"a.py": source}, "a.py:")


def test_a_ladder_of_diamonds_is_looked_through() -> None:
    rungs = "".join(
        f"class A{n}(A{n - 1}, B{n - 1}): pass\nclass B{n}(A{n - 1}, B{n - 1}): pass\n" for n in range(1, 300)
    )
    source = f"class A0:\n def m(self): pass\nclass B0: pass\n{rungs}def f(): A299().m()\n"

    assert {("a.py:A299", "construct", "certain"), ("a.py:A0.m", "method", "certain")} == {
        edge for edge in edges({"a.py": source}, "a.py:f") if edge[1] in {"construct", "method"}
    }


def test_elements_of_a_long_list_are_called_many_times() -> None:
    functions = "".join(f"def f{n}(): pass\n" for n in range(300))
    listed = ", ".join(f"f{n}" for n in range(300))
    source = f"{functions}table = [{listed}]\ndef run(i):\n{' table[i]()' + chr(10)}" + " table[i]()\n" * 3000

    called = {target for target, dispatch, _ in edges({"a.py": source}, "a.py:run") if dispatch == "call"}

    assert {f"a.py:f{n}" for n in range(300)} == called


def test_three_thousand_decorators_stand_on_one_function() -> None:
    source = "def d(f): return f\n" + "@d\n" * 3000 + "def g(): pass\ndef h(): g()\n"

    assert {("a.py:g", "call", "certain")} == edges({"a.py": source}, "a.py:h")


def test_a_name_is_bound_and_called_three_thousand_times() -> None:
    source = "def f(): pass\ndef g(): pass\n" + "x = f\nx()\nx = g\n" * 1500 + "x()\n" * 3000

    found = edges({"a.py": source}, "a.py:")

    assert {("a.py:f", "call", "certain"), ("a.py:g", "call", "certain")} == found


def test_what_stands_before_a_name_is_bound_again_is_left_out() -> None:
    source = "def f(): pass\ndef g(): pass\nx = f\nx = g\n" + "x()\n" * 3

    assert {("a.py:g", "call", "certain")} == edges({"a.py": source}, "a.py:")
