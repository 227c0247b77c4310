"""Definitions of trees and of compaction, held against other ways to say the same, on a CPU."""

import itertools
from collections.abc import Iterable

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from recon.kernels.building import bits_of, rounded
from recon.kernels.kv_compact.reference import reference as compact
from recon.kernels.tree_best_first.reference import reference as best_first
from recon.kernels.tree_topk.reference import reference as topk
from recon.kernels.work import KERNELS, op_of
from recon.probes.plan import HELD_BYTES_OF

SEEDS = st.integers(0, 10_000)


def log_probs(seed: int, *shape: int) -> torch.Tensor:
    """float32, the best first; ties are as good as impossible."""
    logits = torch.randn(shape, generator=torch.Generator().manual_seed(seed)) * 2
    return logits.log_softmax(-1).sort(-1, descending=True).values


def routes(parents: list[int], labels: list[int]) -> list[tuple[int, ...]]:
    """Labels from the root to each node."""
    made: list[tuple[int, ...]] = [()]
    for node, parent in enumerate(parents[1:], start=1):
        made.append((*made[parent], labels[node]))
    return made


def test_bits_of_ancestors_are_those_of_the_chain_upwards() -> None:
    parents = [-1, *(max(0, node - 3) for node in range(1, 70)), -1]
    words = bits_of(parents)
    for node in range(len(parents) - 1):
        above = [node]
        while above[-1]:
            above.append(parents[above[-1]])

        assert set(above) == {bit for bit in range(96) if words[node][bit // 32] >> bit % 32 & 1}
    assert [0, 0, 1 << 6] == words[-1]


@settings(max_examples=25, deadline=None)
@given(SEEDS, st.integers(1, 4), st.integers(1, 4), st.integers(1, 30))
def test_best_first_nodes_are_the_likeliest_prefixes_of_all(seed: int, depth: int, ranks: int, nodes: int) -> None:
    logprob = log_probs(seed, 1, depth, ranks)
    tree = {name: values[0].tolist() for name, values in best_first(logprob, nodes).items()}
    worth: dict[tuple[int, ...], float] = {(): 0.0}
    for length in range(1, depth + 1):
        for prefix in itertools.product(range(ranks), repeat=length):
            worth[prefix] = rounded(worth[prefix[:-1]] + logprob[0, length - 1, prefix[-1]].item())
    expected = sorted(worth, key=lambda prefix: (-worth[prefix], len(prefix), prefix))[:nodes]
    real = len(expected)

    assert expected == routes(tree["parent"][:real], tree["rank"][:real])
    assert [worth[prefix] for prefix in expected] == tree["score"][:real]
    assert [len(prefix) for prefix in expected] == tree["depth"][:real]
    assert [-1] * (nodes - real) == tree["parent"][real:]


@settings(max_examples=25, deadline=None)
@given(SEEDS, st.integers(1, 4), st.integers(1, 4), st.integers(1, 30))
def test_top_k_nodes_are_the_best_candidates_and_hold_what_they_begin_with(
    seed: int, steps: int, width: int, nodes: int
) -> None:
    tree = {name: values[0].tolist() for name, values in topk(log_probs(seed, 1, steps, width, width), nodes).items()}
    real = min(nodes, 1 + width + (steps - 1) * width * width)
    parents, depths = tree["parent"][:real], tree["depth"][:real]

    assert sorted(tree["candidate"][1:real]) == tree["candidate"][1:real]
    assert all(0 <= parent < node for node, parent in enumerate(parents) if node)
    assert [0, *(1 + depths[parent] for parent in parents[1:])] == depths
    assert bits_of(tree["parent"]) == tree["ancestors"]
    assert [-1] * (nodes - real) == tree["parent"][real:]


def test_top_k_of_one_is_a_chain() -> None:
    tree = topk(log_probs(3, 2, 5, 1, 1), 4)

    assert [[-1, 0, 1, 2]] * 2 == tree["parent"].tolist()


@given(st.permutations(range(12)), st.permutations(range(12)), st.integers(0, 12))
def test_compaction_moves_all_rows_at_once(source: Iterable[int], target: Iterable[int], count: int) -> None:
    sources, targets = list(source), list(target)
    before = torch.arange(24).view(2, 3, 4, 1) * 7  # two buffers of three pages
    expected = before.clone().view(2, 12)
    for here, there in list(zip(sources, targets, strict=True))[:count]:
        expected[:, there] = before.view(2, 12)[:, here]
    after = before.clone()
    compact(list(after), torch.tensor([sources]), torch.tensor([targets]), torch.tensor([count]))

    assert torch.equal(expected, after.view(2, 12))


@pytest.mark.parametrize("kernel", sorted(KERNELS))
def test_what_an_input_set_holds_is_known_where_there_is_no_torch(kernel: str) -> None:
    op = op_of(kernel)

    assert (op.held_bytes_of is not None) == (kernel in HELD_BYTES_OF)
