"""How much longer does it take to accept a draft tree than a draft chain of as many tokens?"""

from recon.kernels.wire import Axes
from recon.probes.floors import NOP, READ
from recon.probes.probe import Probe, Subject

TREE = Subject("tree_greedy", "fused")
LINEAR = Subject("linear_greedy", "fused")
TREE_ARGMAX = Subject("tree_greedy", "argmax_walk")
LINEAR_ARGMAX = Subject("linear_greedy", "argmax_cumprod")

ACCEPTED = 3
"""Accepted drafts planted in timed data."""


def _case(batch: int, nodes: int, vocab: int) -> Axes:
    return {"batch": batch, "nodes": nodes, "vocab": vocab, "dtype": "bf16", "accepted": ACCEPTED}


def _check(batch: int, nodes: int, vocab: int, dtype: str, **other: int | str) -> Axes:
    return {"batch": batch, "nodes": nodes, "vocab": vocab, "dtype": dtype, **other}


CASES = (
    _case(1, 8, 151_936),
    _case(1, 64, 151_936),
    _case(1, 256, 151_936),
    _case(16, 64, 151_936),
    _case(64, 8, 151_936),
    _case(64, 64, 151_936),
    _case(1, 64, 248_320),
    _case(64, 8, 248_320),
    _case(64, 64, 248_320),
)
"""Sizes of the vocabularies of Qwen3 and Qwen3.5; the last takes 2.03 GB for its logits alone."""

SMALL_CHECKS = (
    _check(1, 1, 1, "fp32"),
    _check(2, 1, 7, "bf16"),
    _check(3, 5, 7, "fp32", accepted=2, values="ties"),
    _check(2, 6, 1, "bf16", shape="chain", accepted=-1),
    _check(2, 13, 130, "fp16", accepted=-1, layout="padded"),
    _check(2, 9, 513, "bf16", shape="star", accepted=-1),
    _check(1, 12, 1025, "fp32", shape="chain", accepted=-1, layout="node_major"),
    _check(2, 7, 300, "bf16", accepted=3, values="nan", layout="strided"),
    _check(2, 8, 300, "fp32", accepted=3, values="infinite"),
    _check(2, 8, 300, "fp16", accepted=0, values="zeros"),
    _check(2, 4, 2500, "bf16", accepted=0, values="negative"),
    _check(3, 11, 200, "bf16", accepted=4, shape="padded"),
    _check(2, 8, 2100, "fp16", accepted=0),
)
CHECKS = (
    *SMALL_CHECKS,
    _check(3, 7, 32_003, "bf16", accepted=3),
    _check(1, 64, 32_003, "fp16", accepted=-1, values="ties"),
    _check(2, 33, 4_099, "fp32", accepted=5, values="nan", layout="node_major"),
    _check(5, 17, 1_031, "bf16", accepted=2, values="zeros", layout="padded"),
    _check(2, 65, 10_007, "bf16", accepted=20, shape="padded"),
    _check(1, 256, 2_053, "fp32", shape="chain", accepted=-1),
    _check(1, 256, 2_053, "fp32", shape="star", accepted=1, values="infinite"),
    _check(1, 300, 1_031, "bf16", accepted=9),
    _check(4, 64, 151_936, "bf16", accepted=3, values="ties"),
    _check(1, 8, 248_320, "bf16", accepted=-1, layout="strided"),
)

LINEAR_VS_TREE = Probe(
    name="linear-vs-tree",
    question="How much longer does it take to accept a draft tree than a draft chain of as many tokens?",
    kernels=(TREE,),
    baselines=(LINEAR, TREE_ARGMAX, LINEAR_ARGMAX),
    floors=(NOP, READ),
    cases=CASES,
    quick=8,
    checks=CHECKS,
    interpreted=SMALL_CHECKS,
)
