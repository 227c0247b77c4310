"""Parts that parameters play, read off the flow of values, whatever they are called."""

import re

import pytest

from recon.detectors.roles import parameters_of
from recon.records.cut import Parameter

CHAIN = """
@triton.jit
def kernel(a, b, c, d, e, width):
    r = tl.program_id(0)
    first = tl.load(e + r)
    last = tl.load(e + r + 1)
    bad = False
    for i in range(last - first - 1):
        if not bad:
            w = tl.load(c + first + i)
            tl.store(a + r * width + i, w)
            bad = w != tl.load(d + first + i + 1)
    tl.store(b + r, 1)

def chain(c, d, e, n):
    a = c.new_empty(e.shape[0] - 1, n + 1)
    b = c.new_empty(e.shape[0] - 1)
    kernel[(e.shape[0] - 1,)](a, b, c.contiguous(), d, e, n + 1)
    return a, b
"""
WALK = """
@triton.jit
def kernel(out, count, token, want, down, beside, n):
    r = tl.program_id(0)
    cur = 0
    at = 0
    for _ in range(n):
        cur = tl.load(down + r * n + at)
        want_here = tl.load(want + r * n + at)
        while (cur != -1) & (tl.load(token + r * n + cur) != want_here):
            cur = tl.load(beside + r * n + cur)
        if cur != -1:
            at = cur
    tl.store(out + r, tl.load(want + r * n + at))
    tl.store(count + r, 1)

def walk(out, count, token, want, down, beside):
    n = token.shape[1]
    kernel[(token.shape[0],)](out, count, token, want, down, beside, n)
"""
OBJECT = """
def sample(draft, rows, state, extra=None, *, fast=False):
    if state.greedy and not fast:
        return rows.argmax(dim=-1) == draft
    for key, value in state.seeds.items():
        pass
    batch, width = draft.shape
    return torch.softmax(rows / state.heat, dim=-1)
"""


def roles(text: str, function: str, **annotations: str) -> dict[str, Parameter]:
    return {each.name: each for each in parameters_of(text, function, annotations)}


def test_a_kernels_use_of_its_pointers_tells_what_the_launcher_is_given() -> None:
    found = roles(CHAIN, "chain")

    assert ("draft", "target") == found["c"].roles == found["d"].roles
    assert "starts" == found["e"].roles[0]
    assert "any" == found["n"].kind


def test_links_are_told_apart_by_the_loop_that_follows_them() -> None:
    found = roles(WALK, "walk")

    assert ("child", "sibling") == (found["down"].roles[0], found["beside"].roles[0])
    assert {"draft", "target"} == {*found["token"].roles}
    assert "out" == found["out"].roles[0] == found["count"].roles[0]
    assert 2 == found["token"].least


def test_names_decide_nothing() -> None:
    other = re.sub(r"\b(out|count|token|want|down|beside|walk|kernel|want_here|cur|at)\b", r"zz_\1", WALK)

    before = [(p.kind, p.roles, p.rank) for p in roles(WALK, "walk").values()]
    after = [(p.kind, p.roles, p.rank) for p in roles(other, "zz_walk").values()]

    assert before == after


def test_an_object_is_the_attributes_that_are_asked_of_it() -> None:
    found = roles(OBJECT, "sample", draft="torch.Tensor", rows="torch.Tensor", extra="torch.Tensor | None")

    assert ["draft", "rows", "state.greedy", "state.seeds", "state.heat", "extra", "fast"] == list(found)
    assert "bool" == found["state.greedy"].kind == found["fast"].kind
    assert "mapping" == found["state.seeds"].kind
    assert "target_logits" == found["rows"].roles[0]
    assert "unused" == found["extra"].kind
    assert found["extra"].optional


@pytest.mark.parametrize(
    ("check", "rank"),
    [("assert x.ndim == 2", 2), ("if x.dim() != 3:\n        raise ValueError", 3), ("b, n = x.shape", 2)],
)
def test_what_the_source_demands_of_an_array_is_known(check: str, rank: int) -> None:
    found = roles(f"def f(x, y):\n    {check}\n    return x[0] == y[0]\n", "f", x="torch.Tensor", y="torch.Tensor")

    assert rank == found["x"].rank


SWITCHED = """
def inner(way):
    return 1 if way == "mean" else 2

def outer(x, rows, how="most", plain="no", other=3):
    if how != "most":
        x = x + inner(how)
    return torch.softmax(rows, -1).argmax(-1) == x[0]
"""


def test_texts_that_choose_a_way_are_known_through_calls() -> None:
    found = roles(SWITCHED, "outer", how="str", x="torch.Tensor")

    assert ("str", ("mean", "most")) == (found["how"].kind, found["how"].options)
    assert () == found["plain"].options == found["other"].options


def test_what_a_distribution_is_made_of_is_an_array_without_an_annotation() -> None:
    assert ("tensor", "target_logits") == (
        roles(SWITCHED, "outer")["rows"].kind,
        roles(SWITCHED, "outer")["rows"].roles[0],
    )
