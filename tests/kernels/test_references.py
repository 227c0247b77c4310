"""The definitions themselves: held against other ways to say the same, on a CPU."""

import math
import random

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from recon.kernels.choice import choose
from recon.kernels.linear_greedy.reference import reference as linear
from recon.kernels.tree_greedy.reference import reference as tree
from recon.kernels.trees import draft
from recon.kernels.wire import Axes

CPU = torch.device("cpu")
SPECIAL = (0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan)


def logits_that_choose(targets: list[list[int]], vocab: int) -> torch.Tensor:
    """float32 [B, N, V] whose rows choose the targets."""
    logits = torch.zeros((len(targets), len(targets[0]), vocab))
    for request, row in enumerate(targets):
        for node, target in enumerate(row):
            logits[request, node, target] = 1.0
    return logits


@st.composite
def trees(draw: st.DrawFn) -> tuple[list[int], list[int], list[int], int]:
    """Target, token and parent of each node, and the size of the vocabulary; siblings may hold equal tokens."""
    nodes, vocab = draw(st.integers(1, 12)), draw(st.integers(1, 4))
    token = st.integers(0, vocab - 1)
    parents = [-1] + [draw(st.integers(-1, node - 1)) for node in range(1, nodes)]
    return draw(st.lists(token, min_size=nodes, max_size=nodes)), [draw(token) for _ in parents], parents, vocab


def longest_standing_path(target: list[int], token: list[int], parent: list[int]) -> list[int]:
    """Nodes that stand, judged from each node upwards instead of from the root downwards."""

    def route(node: int) -> list[int] | None:
        """Nodes from the root to this one if every step is what the target chose and no elder twin takes it."""
        if node == 0:
            return [0]
        above = parent[node]
        twins = [other for other in range(1, node) if parent[other] == above and token[other] == token[node]]
        before = route(above) if above >= 0 and not twins and token[node] == target[above] else None
        return None if before is None else [*before, node]

    return max((path for path in map(route, range(len(parent))) if path), key=len)


@given(trees())
def test_a_walk_from_the_root_finds_the_longest_path_that_stands(
    case: tuple[list[int], list[int], list[int], int],
) -> None:
    target, token, parent, vocab = case
    expected = longest_standing_path(target, token, parent)
    logits = logits_that_choose([target], vocab)
    got = tree(logits, torch.tensor([token]), torch.tensor([parent], dtype=torch.int32))

    padding = [-1] * (len(parent) - len(expected))
    assert [expected + padding] == got["path"].tolist()
    assert [[target[node] for node in expected] + padding] == got["emitted"].tolist()
    assert [len(expected) - 1] == got["accepted"].tolist()


@given(st.integers(1, 9), st.integers(1, 3), st.randoms(use_true_random=False))
def test_a_chain_is_a_tree_with_one_branch(nodes: int, vocab: int, rng: random.Random) -> None:
    target = [[rng.randrange(vocab) for _ in range(nodes)] for _ in range(3)]
    token = torch.tensor([[rng.randrange(vocab) for _ in range(nodes)] for _ in range(3)])
    parent = torch.arange(-1, nodes - 1, dtype=torch.int32).expand(3, nodes)
    logits = logits_that_choose(target, vocab)
    as_tree = tree(logits, token, parent)
    as_chain = linear(logits, token)

    assert torch.equal(as_tree["emitted"], as_chain["emitted"])
    assert torch.equal(as_tree["accepted"], as_chain["accepted"])


@given(st.lists(st.sampled_from(SPECIAL), min_size=1, max_size=9), st.sampled_from([torch.float32, torch.bfloat16]))
def test_a_choice_is_what_torch_argmax_documents(values: list[float], dtype: torch.dtype) -> None:
    logits = torch.tensor([[values]], dtype=dtype)
    nans = [index for index, value in enumerate(values) if math.isnan(value)]
    expected = nans[0] if nans else values.index(max(values))

    assert expected == choose(logits).item()
    assert expected == logits.argmax(-1).item()


@pytest.mark.parametrize(
    ("shape", "nodes", "accepted", "expected"),
    [
        pytest.param("random", 1, 0, 0, id="a single node"),
        pytest.param("chain", 9, -1, 8, id="a chain, all accepted"),
        pytest.param("chain", 9, 0, 0, id="a chain, all rejected"),
        pytest.param("star", 9, -1, 1, id="a star"),
        pytest.param("random", 40, 0, 0, id="a tree, all rejected"),
        pytest.param("random", 40, 5, 5, id="a tree, five accepted"),
        pytest.param("padded", 40, 7, 7, id="a tree with padding"),
    ],
)
def test_a_planted_path_is_what_the_reference_accepts(shape: str, nodes: int, accepted: int, expected: int) -> None:
    axes: Axes = {"batch": 3, "nodes": nodes, "vocab": 97, "dtype": "bf16", "shape": shape, "accepted": accepted}
    got = tree(**draft(axes, 7, CPU))

    assert [expected] * 3 == got["accepted"].tolist()
    assert torch.equal((got["path"] >= 0).sum(1), torch.full((3,), expected + 1))


def test_padding_is_never_visited() -> None:
    token = torch.tensor([[5, 6, 6]])
    parent = torch.tensor([[-1, -1, 0]], dtype=torch.int32)
    logits = logits_that_choose([[6, 0, 0]], 8)

    assert [[0, 2, -1]] == tree(logits, token, parent)["path"].tolist()
