"""How much longer does it take to accept a draft tree than a draft chain of as many tokens?"""

from recon.kernels.wire import Axes
from recon.probes.floors import NOP, READ
from recon.probes.probe import Probe, Subject

TREE = Subject("tree_greedy", "fused")
TREE_LAZY = Subject("tree_greedy", "lazy")
TREE_AUTO = Subject("tree_greedy", "auto")
LINEAR = Subject("linear_greedy", "fused")
TREE_ARGMAX = Subject("tree_greedy", "argmax_walk")
TREE_COMPILED = Subject("tree_greedy", "compiled_walk")
TREE_EAGER = Subject("tree_greedy", "eager")
LINEAR_ARGMAX = Subject("linear_greedy", "argmax_cumprod")
LINEAR_COMPILED = Subject("linear_greedy", "compiled")

ACCEPTED = 3
"""Accepted drafts planted in most timed data."""
DEPTH = 8
"""Longest path of timed trees: so many levels are launched for where rows are read level by level."""


def case(batch: int, nodes: int, vocab: int = 151_936, accepted: int = ACCEPTED) -> Axes:
    """A timed case."""
    return {
        "batch": batch,
        "nodes": nodes,
        "vocab": vocab,
        "dtype": "bf16",
        "accepted": accepted,
        "depth": DEPTH,
    }


def awkward(batch: int, nodes: int, vocab: int, dtype: str, **other: int | str) -> Axes:
    """A case that is checked and never timed."""
    return {"batch": batch, "nodes": nodes, "vocab": vocab, "dtype": dtype, **other}


CASES = (
    case(1, 8),
    case(1, 64),
    case(1, 256),
    case(16, 64),
    case(64, 8),
    case(64, 64),
    case(1, 64, 248_320),
    case(64, 8, 248_320),
    case(1, 64, accepted=0),
    case(64, 64, accepted=0),
    case(1, 64, accepted=8),
    case(64, 64, accepted=8),
    case(64, 64, 248_320),
)
"""Sizes of the vocabularies of Qwen3 and Qwen3.5; the last takes 2.03 GB for its logits alone."""

SMALL_CHECKS = (
    awkward(1, 1, 1, "fp32"),
    awkward(2, 1, 7, "bf16"),
    awkward(3, 5, 7, "fp32", accepted=2, values="ties"),
    awkward(2, 6, 1, "bf16", shape="chain", accepted=-1),
    awkward(2, 13, 130, "fp16", accepted=-1, layout="padded"),
    awkward(2, 9, 513, "bf16", shape="star", accepted=-1),
    awkward(1, 12, 1025, "fp32", shape="chain", accepted=-1, layout="node_major"),
    awkward(2, 7, 300, "bf16", accepted=3, values="nan", layout="strided"),
    awkward(2, 8, 300, "fp32", accepted=3, values="infinite"),
    awkward(2, 8, 300, "fp16", accepted=0, values="zeros"),
    awkward(2, 4, 2500, "bf16", accepted=0, values="negative"),
    awkward(3, 11, 200, "bf16", accepted=4, shape="padded"),
    awkward(2, 8, 2100, "fp16", accepted=0),
)
CHECKS = (
    *SMALL_CHECKS,
    awkward(3, 7, 32_003, "bf16", accepted=3),
    awkward(1, 64, 32_003, "fp16", accepted=-1, values="ties"),
    awkward(2, 33, 4_099, "fp32", accepted=5, values="nan", layout="node_major"),
    awkward(5, 17, 1_031, "bf16", accepted=2, values="zeros", layout="padded"),
    awkward(2, 65, 10_007, "bf16", accepted=20, shape="padded"),
    awkward(1, 256, 2_053, "fp32", shape="chain", accepted=-1),
    awkward(1, 256, 2_053, "fp32", shape="star", accepted=1, values="infinite"),
    awkward(1, 300, 1_031, "bf16", accepted=9),
    awkward(4, 64, 151_936, "bf16", accepted=3, values="ties"),
    awkward(1, 8, 248_320, "bf16", accepted=-1, layout="strided"),
)

LINEAR_VS_TREE = Probe(
    name="linear-vs-tree",
    question="How much longer does it take to accept a draft tree than a draft chain of as many tokens?",
    kernels=(TREE, TREE_LAZY, TREE_AUTO),
    baselines=(LINEAR, TREE_ARGMAX, LINEAR_ARGMAX),
    floors=(NOP, READ),
    cases=CASES,
    quick=6,
    checks=CHECKS,
    interpreted=SMALL_CHECKS,
)
IN_TORCH = Probe(
    name="trees-in-torch",
    question="How long does it take to accept a draft tree with what torch offers?",
    kernels=(TREE_AUTO,),
    baselines=(TREE_COMPILED, TREE_EAGER),
    floors=(NOP, READ),
    cases=(case(1, 64), case(64, 8)),
    quick=0,
    checks=(),
    interpreted=(),
)
CHAINS_IN_TORCH = Probe(
    name="chains-in-torch",
    question="How long does it take to accept a draft chain with what torch offers?",
    kernels=(LINEAR,),
    baselines=(LINEAR_ARGMAX, LINEAR_COMPILED),
    floors=(NOP, READ),
    cases=(case(1, 8), case(64, 8)),
    quick=0,
    checks=(),
    interpreted=(),
)
