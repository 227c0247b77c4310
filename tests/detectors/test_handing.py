"""How a value is handed on: from a parameter back to whoever makes it."""

from collections.abc import Mapping

import pytest

from recon.detectors.api import Index
from recon.detectors.handing import Cell, Trail, argument_of, reaches, trail_of
from recon.detectors.testing import indexed
from recon.index.tables import Ref
from tests.index.trees import place, ref_of

KERNEL = """
def attend(q, mask=None):
    return q
"""
DOOR = "from kernel import attend\n\n"


def tree(files: Mapping[str, str]) -> Index:
    """A tree with a kernel that takes a mask."""
    return indexed({"kernel.py": KERNEL, **{path: DOOR + text for path, text in files.items()}})


def trail(index: Index) -> Trail:
    """The trail of the kernel's mask."""
    return trail_of(index, ref_of(index.names, "kernel.py:attend"), "mask")


def spelled(index: Index, found: Mapping[Ref, int]) -> set[str]:
    """Definitions as `path:Qual.name`."""
    return {place(index.names, ref) for ref in found}


@pytest.mark.parametrize("call", ["attend(q)", "attend(q, None)", "attend(q, mask=None)"])
def test_a_parameter_that_everyone_leaves_at_none_is_not_fed(call: str) -> None:
    """It is a door that nobody uses."""
    index = tree({"a.py": f"def run(q):\n    {call}\n"})

    assert (False, {}) == (trail(index).is_fed, trail(index).functions)


@pytest.mark.parametrize("call", ["attend(q, m)", "attend(q, mask=m)", "attend(mask=m, q=q)"])
def test_an_argument_feeds_it(call: str) -> None:
    """By position or by name."""
    index = tree({"a.py": f"def run(q, m):\n    {call}\n"})
    found = trail(index)

    assert found.is_fed
    assert {"a.py:run": 4} == {place(index.names, ref): line for ref, line in found.functions.items()}


def test_the_trail_goes_through_callers_locals_and_fields_to_the_maker() -> None:
    """From the kernel's parameter to the function whose result it is."""
    source = """
def build(paths):
    return paths


class Builder:
    def __init__(self, paths):
        self.bias = build(paths)


class Layer:
    def forward(self, q, meta):
        bias = meta.bias
        self.inner(q, bias)

    def inner(self, q, m):
        attend(q, m)
"""
    index = tree({"a.py": source})
    found = trail(index)

    assert "a.py:build" in spelled(index, found.makers)
    assert ["a.py:Layer.inner", "a.py:Layer.forward", "a.py:Builder.__init__"] == [
        place(index.names, ref) for ref in found.functions
    ]


def test_a_value_may_travel_in_a_record() -> None:
    """As a keyword of the class that holds it."""
    source = """
class Meta:
    bias: object


def build():
    return 1


def prepare():
    made = build()
    return Meta(bias=made)


def run(q, meta):
    attend(q, meta.bias)
"""
    index = tree({"a.py": source})
    found = trail(index)

    assert "a.py:build" in spelled(index, found.makers)
    assert "a.py:prepare" in spelled(index, found.functions)


def test_a_keyword_of_a_plain_call_is_no_field() -> None:
    """Only what makes an object sets its fields."""
    source = """
def build():
    return 1


def log(bias):
    print(bias)


def other():
    log(bias=build())


def run(q, meta):
    attend(q, meta.bias)
"""
    index = tree({"a.py": source})

    assert "a.py:build" not in spelled(index, trail(index).makers)


def test_a_function_may_fill_in_what_it_is_given() -> None:
    """A local handed to a function may be made there."""
    source = """
def fill(out):
    out[0] = 1


def run(q):
    m = [0]
    fill(m)
    attend(q, m)
"""
    index = tree({"a.py": source})

    assert {"a.py:fill"} <= spelled(index, trail(index).makers)


def test_a_trail_in_a_circle_ends() -> None:
    """Functions that hand the value to one another."""
    source = """
def one(q, m):
    attend(q, m)
    two(q, m)


def two(q, m):
    one(q, m)
"""
    index = tree({"a.py": source})

    assert {"a.py:one", "a.py:two"} == spelled(index, trail(index).functions)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        ("o.m(1, b)", "b"),
        ("o.m(x=b)", "b"),
        ("o.m(1)", None),
        ("o.m()", None),
        ("o.m(1, 2, 3)", "2"),
    ],
)
def test_an_argument_of_a_method_is_counted_without_self(call: str, text: str | None) -> None:
    """A bound method's first argument is its second parameter."""
    source = "class C:\n    def m(self, a=0, x=0):\n        pass\n\n\ndef run(o, b):\n    " + call + "\n"
    index = indexed({"a.py": source})
    outline = index.files["a.py"]
    (made,) = (each for each in outline.calls if each.callee == "o.m")
    (scope,) = (each for each in outline.scopes if each.name == "m")

    assert text == argument_of(made, scope, "x")


def test_reaching_is_bounded() -> None:
    """Over a few steps, the function itself being none."""
    chain = "".join(f"def f{n}():\n    f{n + 1}()\n\n\n" for n in range(9)) + "def f9():\n    pass\n"
    index = indexed({"a.py": chain})
    steps = [ref_of(index.names, f"a.py:f{n}") for n in range(10)]
    reached = [reaches(index, steps[0], {step}) for step in steps]

    assert [True] * 4 == reached[:4]
    assert sorted(reached, reverse=True) == reached
    assert not reached[-1]
    assert not reaches(index, steps[1], {steps[0]})


def test_a_trail_can_start_at_a_field_and_tells_where_the_value_lies() -> None:
    """What two trails have in common is how two ends of one buffer are told."""
    source = """
class Cache:
    def __init__(self, kept):
        self.kept = kept


def run(cache):
    attend(cache.q, cache.kept)
"""
    index = tree({"a.py": source})
    run = ref_of(index.names, "a.py:run")
    from_field = trail_of(index, run, "cache.kept")

    assert Cell(None, "kept") in trail(index).cells & from_field.cells
    assert {"a.py:Cache.__init__"} == spelled(index, from_field.functions)
