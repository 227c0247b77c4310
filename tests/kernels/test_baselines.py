"""What torch is asked for, on a CPU: before torch.compile sees it, and as it is."""

import dataclasses

import pytest
import torch

from recon.kernels.check import check
from recon.kernels.linear_greedy.baselines import accept
from recon.kernels.linear_greedy.kernel import OP
from recon.kernels.op import Variant, Work
from recon.kernels.wire import Axes
from recon.kernels.work import INTERPRETER, op_of
from recon.probes.attention import awkward
from recon.probes.linear_vs_tree import SMALL_CHECKS
from recon.probes.weights import DENSE, MIXTURE


def as_it_is(work: Work, _config: Axes) -> None:
    accept(work.inputs["logits"], work.inputs["token"], work.outputs["emitted"], work.outputs["accepted"])


def test_a_chain_is_accepted_as_a_whole_as_the_reference_does() -> None:
    agreement = check(OP, Variant(as_it_is), SMALL_CHECKS, seed=2, device=torch.device("cpu"), card=INTERPRETER)

    assert (len(SMALL_CHECKS), 0, "equal") == (agreement.cases, agreement.mismatches, agreement.detail[:5])


DENSE_ATTENTION: tuple[Axes, ...] = (
    awkward(2, 37, 9, (4, 2, 64)),
    awkward(1, 0, 5, (2, 1, 64)),
    awkward(2, 20, 70, (3, 1, 64), shape="padded", values="draft"),
)


@pytest.mark.parametrize(
    ("kernel", "variant", "cases"),
    [
        *(("dense_attention", variant, DENSE_ATTENTION) for variant in ("sdpa_mask", "page_gather")),
        *((kernel, "torch", DENSE.checks[:2]) for kernel in ("gemm", "gemm_fp8")),
        *(("grouped_gemm", variant, MIXTURE.checks[:3]) for variant in ("torch_loop", "torch_grouped")),
    ],
)
def test_ways_of_torch_are_what_the_reference_says(kernel: str, variant: str, cases: tuple[Axes, ...]) -> None:
    op = op_of(kernel)
    agreement = check(op, op.variants[variant], cases, seed=2, device=torch.device("cpu"), card=INTERPRETER)

    assert (len(cases), 0) == (agreement.cases, agreement.mismatches), agreement.detail


def test_a_chain_in_place_of_a_tree_is_no_way_of_torch() -> None:
    op = op_of("dense_attention")

    def chain_as_tree(work: Work, config: Axes) -> None:
        nodes, tokens = (seen := work.inputs["seen"]).shape[-2:]
        chain = torch.ones_like(seen).tril(tokens - nodes)
        op.variants["sdpa_mask"].launch(dataclasses.replace(work, inputs=work.inputs | {"seen": chain}), config)

    wrong = dataclasses.replace(op.variants["sdpa_mask"], launch=chain_as_tree)
    agreement = check(op, wrong, DENSE_ATTENTION[:1], seed=2, device=torch.device("cpu"), card=INTERPRETER)

    assert 1 == agreement.mismatches
