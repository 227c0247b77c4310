"""Test data that the kernels are judged by: what it promises must hold."""

from collections import Counter

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from recon.kernels.trees import DEEPEST, draft
from recon.kernels.wire import Axes

CPU = torch.device("cpu")


@given(
    st.integers(1, 20),
    st.sampled_from([1, 2, 3, 50]),
    st.sampled_from(["random", "chain", "star", "padded"]),
    st.sampled_from([DEEPEST, 0, 1, 4, 30]),
    st.integers(0, 5),
)
def test_parents_come_first_and_siblings_differ(nodes: int, vocab: int, shape: str, accepted: int, seed: int) -> None:
    axes: Axes = {"batch": 2, "nodes": nodes, "vocab": vocab, "dtype": "fp32", "shape": shape, "accepted": accepted}
    made = draft(axes, seed, CPU)
    parents, tokens = made["parent"].tolist(), made["token"].tolist()

    assert (2, nodes, vocab) == made["logits"].shape
    for parent, token in zip(parents, tokens, strict=True):
        assert -1 == parent[0]
        assert all(above < node for node, above in enumerate(parent))
        assert all(0 <= each < vocab for each in token)
        families = Counter((above, each) for above, each in zip(parent[1:], token[1:], strict=True) if above >= 0)
        assert all(count == 1 for count in families.values())


def test_equal_seeds_make_equal_data_and_others_do_not() -> None:
    axes: Axes = {"batch": 2, "nodes": 9, "vocab": 33, "dtype": "bf16", "accepted": 3}
    one, same, other = draft(axes, 1, CPU), draft(axes, 1, CPU), draft(axes, 2, CPU)

    assert all(torch.equal(one[name], same[name]) for name in one)
    assert not torch.equal(one["logits"], other["logits"])
    assert not torch.equal(one["token"], other["token"])


@pytest.mark.parametrize("layout", ["contiguous", "padded", "node_major", "strided"])
def test_layouts_differ_in_memory_alone(layout: str) -> None:
    axes: Axes = {"batch": 2, "nodes": 3, "vocab": 16, "dtype": "fp16", "accepted": 1, "layout": layout}
    logits = draft(axes, 0, CPU)["logits"]
    strides = {"contiguous": (48, 16, 1), "padded": (57, 19, 1), "node_major": (16, 32, 1), "strided": (96, 32, 2)}

    assert (2, 3, 16) == logits.shape
    assert strides[layout] == logits.stride()


@pytest.mark.parametrize(
    ("values", "holds"),
    [
        ("nan", lambda logits: logits.isnan().any()),
        ("infinite", lambda logits: (logits == float("inf")).any() and (logits == -float("inf")).all(-1).any()),
        ("zeros", lambda logits: ((logits.amax(-1) == 0) & (logits == 0).sum(-1).gt(1)).any()),
        ("negative", lambda logits: (logits <= 0).all(-1).any()),
        ("ties", lambda logits: (logits == logits.round()).all()),
    ],
)
def test_awkward_values_are_there(values: str, holds: object) -> None:
    axes: Axes = {"batch": 3, "nodes": 8, "vocab": 40, "dtype": "fp32", "accepted": 2, "values": values}

    assert holds(draft(axes, 3, CPU)["logits"])  # type: ignore[operator]
