"""Compiled operators by the arguments of their schemas."""

import pytest

from recon.detectors.compiled import (
    Compiled,
    builds_tree,
    compiled,
    draws_along_chain,
    draws_along_tree,
    of_schema,
    walks_tree,
)
from recon.detectors.testing import indexed
from recon.records.evidence import Grade
from recon.records.source import Library
from recon.records.unknown import PACKAGE, Unknown

JUDGES = {"walk": walks_tree, "draw": draws_along_tree, "chain": draws_along_chain, "build": builds_tree}
WALK = "walk(Tensor! accepted, Tensor candidates, Tensor first_child, Tensor next_sibling, Tensor target_ids) -> ()"
CALL = """
def walk(accepted, candidates, first_child, next_sibling, target_ids):
    torch.ops.k.walk(accepted, candidates, first_child, next_sibling, target_ids)
"""


def found(source: str, *libraries: Library) -> Compiled:
    """What the operators of a tree say about a walk over a tree."""
    return compiled(indexed({"k/a.py": source}, libraries), walks_tree, frozenset({"walk"}))


def library(*schemas: str, symbols: tuple[str, ...] = ()) -> Library:
    """A compiled library of which only names are known."""
    return Library("k/ops.abi3.so", 1, symbols, schemas, ())


@pytest.mark.parametrize(
    ("schema", "kinds"),
    [
        (WALK, {"walk"}),
        ("f(Tensor draft_token_ids, Tensor parents, Tensor target_argmax) -> (Tensor, Tensor)", {"walk"}),
        ("f(Tensor! n, Tensor candidates, Tensor sibling, Tensor coins, Tensor target_probs) -> ()", {"draw"}),
        ("f(Tensor draft_probs, Tensor draft_token_ids, Tensor target_probs, bool det) -> Tensor", {"chain"}),
        (
            "f(Tensor parent_list, Tensor selected_index, Tensor! tree_mask, Tensor! positions, int topk) -> ()",
            {"build"},
        ),
        ("f(Tensor tree_mask, Tensor! positions, Tensor! next_token, Tensor! next_sibling) -> ()", {"build"}),
        ("f(Tensor draft_token_ids, Tensor target_argmax) -> Tensor", set()),
        ("rope(Tensor! qkv, Tensor positions, Tensor? cache, bool skip_index_branch) -> ()", set()),
        ("radix(Tensor tokens, Tensor children, Tensor siblings) -> Tensor", set()),
        ("f(Tensor q, Tensor k, Tensor v, Tensor? custom_mask, Tensor positions) -> Tensor", set()),
        ("grammar(Tensor! bitmask, Tensor candidates, Tensor next_sibling) -> ()", set()),
    ],
)
def test_arguments_tell_the_algorithm(schema: str, kinds: set[str]) -> None:
    """Several of them together; one word tells nothing."""
    assert kinds == {name for name, judge in JUDGES.items() if judge(of_schema(schema))}


def test_the_call_is_shaped_and_the_library_declared() -> None:
    """A schema that is called makes present; the library shows where it lies."""
    places = found(CALL, library(WALK)).places

    assert [("k/a.py", "walk", 2, Grade.SHAPED), ("k/ops.abi3.so", "walk", 1, Grade.DECLARED)] == [
        (each.path, each.symbol, each.line, each.grade) for each in places
    ]


def test_a_wrapper_without_its_operator_is_a_near_miss_and_the_reason() -> None:
    """Presence of a wrapper is not presence of the operator."""
    said = found(CALL, library("sort(Tensor! x) -> ()"))

    assert ((), [Grade.NAMED]) == (said.places, [each.grade for each in said.nearest])
    assert (
        "Nothing can be called that does this: walk calls torch.ops.k.walk, which nothing in this build defines."
        == said.reason
    )


def test_a_symbol_that_nothing_calls_is_a_near_miss() -> None:
    """Nor is a symbol an operator."""
    said = found("", library(symbols=("_Z9tree_walkN2at6TensorE", "_Z4sortN2at6TensorE")))

    assert ["tree_walk"] == [each.symbol for each in said.nearest]
    assert "tree_walk is exported as a function, with neither a schema nor a caller." in said.reason


def test_an_operator_that_may_be_registered_unseen_keeps_the_answer_open() -> None:
    """The library exports a function of its name."""
    said = found(CALL, library(symbols=("_Z4walkN2at6TensorES0_",)))

    assert (Unknown("operator", "torch.ops.k.walk", "its registration was not read"),) == said.unread


def test_an_operator_of_another_distribution_keeps_the_answer_open() -> None:
    """Its call is declared; a companion may settle it."""
    said = found(CALL.replace("ops.k", "ops.other"))

    assert (Unknown(PACKAGE, "other.walk", "it was not scanned"),) == said.unread
    assert [(Grade.DECLARED, "calls other.walk, which another distribution defines")] == [
        (each.grade, each.note) for each in said.nearest
    ]
