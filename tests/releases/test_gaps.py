"""`recon gap` on published releases: every place of a plan is opened in the source, and is what the plan says it is."""

import ast
import os
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

from recon.features.shelf import shelf
from recon.ports import Silent
from recon.records.gap import Gap, Hook
from recon.records.verdict import Standing
from recon.sources.release import open_release
from recon.sources.store import BlobStore
from recon.verdicts.gaps import gap_of
from tests.releases.conftest import Release
from tests.releases.facts import install

pytestmark = pytest.mark.release

FEATURES = shelf(Path("nowhere")).features
RELEASES = [
    "vllm==0.20.1",
    "sglang==0.5.23",
    pytest.param("vllm==0.33.0", marks=pytest.mark.slow),
]
Sources = Callable[[str], str]

# What stands in the function around a place, by the verdict that the place was taken from.
SIGNS = {
    "accept": r"==|!=|>=|<=|prob|logit|accept",
    "attn": r"mask|bias",
    "drafter": r"draft|propos|specul|method|algorithm|eagle|medusa",
    "graph": r"graph|capture",
    "kv": r"accept|computed|slot|seq_len|kv|commit",
    "pos": r"position",
    "state": r"state",
    "tree": r"draft|propos|specul|tree",
}


def sources_of(release: str) -> Sources:
    """Reads files of a release by their path."""
    store = BlobStore(Path(os.environ["RECON_TEST_CACHE"]))
    snapshot = open_release(release, store, Silent(), compiled=True).snapshot
    digests = {file.path: file.digest for file in snapshot.files}
    return cache(lambda path: store.get(digests[path]).decode())


def definitions(text: str) -> Iterator[tuple[str, int, int]]:
    """Functions and classes of a Python source as qualified name, first and last line, the outer ones first."""

    def inside(node: ast.AST, before: str, *, nested: bool) -> Iterator[tuple[str, int, int]]:
        for child in ast.iter_child_nodes(node):
            if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                yield from inside(child, before, nested=nested)
                continue
            is_class = isinstance(child, ast.ClassDef)
            first = min([child.lineno, *(each.lineno for each in child.decorator_list)])
            name = before if nested else f"{before}.{child.name}".lstrip(".")
            yield name, first, child.end_lineno or first
            yield from inside(child, name, nested=nested or not is_class)

    yield from inside(ast.parse(text), "", nested=False)


def around(hook: Hook, text: str) -> str:
    """The source of the function or class of a place; '' where the place does not lie in what it names."""
    lines = text.split("\n")
    if not hook.path.endswith(".py"):
        return (
            "\n".join(lines[max(hook.line - 200, 0) : hook.line + 200]) if hook.symbol.split("::")[-1] in text else ""
        )
    if hook.symbol == "<module>":
        return lines[hook.line - 1]
    for name, first, last in definitions(text):
        if first <= hook.line <= last and name == hook.symbol:
            return "\n".join(lines[first - 1 : last])
    stands = re.match(rf"{re.escape(hook.symbol)}\b", lines[hook.line - 1])  # an assignment at module level
    return lines[hook.line - 1] if stands else ""


def wrong(gap: Gap, sources: Sources) -> list[str]:
    """Places that do not lie where they say, or do not hold what they were named for."""
    found = []
    for step in gap.steps:
        for hook in step.hooks:
            text = around(hook, sources(hook.path))
            sign = SIGNS[hook.source.partition(".")[0]]
            if not text or not re.search(sign, text, re.IGNORECASE):
                found.append(f"{gap.feature} {step.need}: {hook.path}:{hook.line} {hook.symbol} ({hook.source})")
    return found


def incomparable(gap: Gap, sources: Sources) -> list[str]:
    """Places of the linear rule whose line compares nothing."""
    hooks = [hook for step in gap.steps for hook in step.hooks if hook.source == "accept.linear.greedy.evidence"]
    lines = [(hook, sources(hook.path).split("\n")[hook.line - 1]) for hook in hooks]
    return [f"{hook.path}:{hook.line}: {line}" for hook, line in lines if not re.search("==|!=|<|>", line)]


@pytest.mark.parametrize("name", RELEASES)
def test_every_place_of_every_plan_is_where_it_says_it_is(release: Release, name: str) -> None:
    """Inside the function that it names, and of the kind that the need asks for."""
    found, sources = install(release(name)), sources_of(name)
    gaps = [gap_of(feature, found) for feature in FEATURES.values()]

    assert [] == [place for gap in gaps for place in wrong(gap, sources)]
    assert sum(len(step.hooks) for gap in gaps for step in gap.steps) > 0


@pytest.mark.parametrize("name", ["vllm==0.20.1", pytest.param("vllm==0.33.0", marks=pytest.mark.slow)])
def test_a_tree_that_verifies_chains_gets_a_plan_for_ddtree(release: Release, name: str) -> None:
    """From the builder to the walk and on, each step with a place, the walk where chains are compared."""
    gap = gap_of(FEATURES["ddtree"], install(release(name)))
    needs = [step.need for step in gap.steps]

    assert Standing.ABSENT is gap.standing
    assert ["tree", "mask", "positions", "walk", "kv", "state"] == needs
    assert [] == [step.need for step in gap.steps if not step.hooks]
    assert [] == incomparable(gap, sources_of(name))


def test_a_tree_that_verifies_trees_has_ddtrees_needs(release: Release) -> None:
    """Each by itself; that a drafter of blocks feeds them is not claimed."""
    gap = gap_of(FEATURES["ddtree"], install(release("sglang==0.5.23")))
    required = [answer for answer in gap.answers if answer.purpose.value == "required"]

    assert Standing.PRESENT is gap.standing
    assert {Standing.PRESENT} == {answer.standing for answer in required}
    assert "all at once" in [each.what for each in gap.unsure]


def test_a_place_outside_of_its_function_would_be_noticed() -> None:
    """And one in a function that has nothing of the kind."""
    text = """
def outer():
    def inner():
        position = 1
    return inner


class C:
    def m(self): ...
X = 1
"""

    def at(line: int, symbol: str) -> str:
        return around(Hook("a.py", symbol, line, (), "", "", "pos.tree.nearest", ()), text)

    assert "position" in at(4, "outer")
    assert ["", "", ""] == [at(6, "outer"), at(4, "inner"), at(9, "C.n")]
    assert ["    def m(self): ...", "X = 1"] == [at(9, "C.m"), at(10, "X")]
