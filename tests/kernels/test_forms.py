"""Which form of a kernel is preferred: a rule that must hold on cards that nobody measured."""

import pytest

from recon.kernels.card import Card
from recon.kernels.forms import prefers_lazy
from recon.kernels.tree_greedy.kernel import COSTS as GREEDY
from recon.kernels.tree_target_only.kernel import COSTS as TARGET_ONLY
from recon.kernels.wire import Axes

H200 = Card(132, 4.8e12)


def case(batch: int, nodes: int, vocab: int = 151_936, depth: int = 8) -> Axes:
    return {"batch": batch, "nodes": nodes, "vocab": vocab, "depth": depth, "dtype": "bf16"}


@pytest.mark.parametrize(
    ("batch", "nodes", "greedy", "target_only"),
    [(1, 8, False, False), (1, 64, False, False), (1, 256, True, True), (16, 64, True, True), (64, 64, True, True)],
)
def test_the_faster_form_on_an_h200_is_preferred(batch: int, nodes: int, greedy: bool, target_only: bool) -> None:
    assert greedy == prefers_lazy(case(batch, nodes), H200, GREEDY)
    assert target_only == prefers_lazy(case(batch, nodes), H200, TARGET_ONLY)


def test_where_memory_is_slow_fewer_rows_pay_sooner() -> None:
    assert not prefers_lazy(case(1, 128), H200, GREEDY)
    assert prefers_lazy(case(1, 128), Card(188, 1.8e12), GREEDY)


def test_a_tree_of_many_levels_pays_later() -> None:
    assert prefers_lazy(case(1, 256, depth=8), H200, GREEDY)
    assert not prefers_lazy(case(1, 256, depth=40), H200, GREEDY)


def test_a_single_node_is_read_at_once() -> None:
    assert not prefers_lazy(case(1, 1), H200, GREEDY)
