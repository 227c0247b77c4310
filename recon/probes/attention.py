"""How much longer does the target's attention take for a draft tree than for a chain, over a paged cache?"""

from recon.kernels.wire import Axes
from recon.probes.floors import COPY, GEMM, NOP, READ
from recon.probes.probe import Probe, Subject

TREE = Subject("tree_attention", "tree")
CHAIN = Subject("tree_attention", "chain")
FA3 = (Subject("tree_attention", "fa3_chain"), Subject("tree_attention", "fa3_cascade"))
DENSE_TREE, DENSE_CHAIN, GATHER, FLEX = (
    Subject("dense_attention", variant) for variant in ("sdpa_mask", "sdpa_chain", "page_gather", "flex_tree")
)
DEPTH = 8
"""Longest path of timed trees."""
WIDE, NARROW, SMALL = (24, 4, 256), (32, 8, 128), (32, 8, 64)
"""Query heads, key heads and head size of models of several kinds."""


def case(batch: int, context: int, nodes: int, heads: tuple[int, int, int], kv: str = "bf16") -> Axes:
    """A timed case: contexts of one length, a tree of its own for each request."""
    return {
        "batch": batch,
        "context": context,
        "nodes": nodes,
        "heads": heads[0],
        "kv_heads": heads[1],
        "head_dim": heads[2],
        "dtype": "bf16",
        "kv": kv,
        "depth": DEPTH,
    }


def awkward(batch: int, context: int, nodes: int, heads: tuple[int, int, int], **other: int | str) -> Axes:
    """A case that is checked and never timed; `values="draft"` sets the values of contexts to zero."""
    made = {**case(batch, context, nodes, heads), **other}
    return {name: value for name, value in made.items() if name != "depth"}


TINY = (2, 1, 64)
SMALL_CHECKS = (
    awkward(2, 130, 8, (1, 1, 64), dtype="fp16", kv="fp16"),
    awkward(2, 1, 9, TINY, dtype="fp16", kv="fp16", shape="chain"),
    awkward(1, 0, 1, (1, 1, 64), dtype="fp16", kv="fp16"),
    awkward(3, 150, 9, (4, 2, 64), dtype="fp16", kv="fp16", lengths="ragged", values="draft", shape="padded"),
    awkward(1, 64, 33, (1, 1, 64), dtype="fp16", kv="fp16", values="draft"),
    awkward(2, 130, 5, (3, 1, 64), dtype="fp16", kv="fp8", lengths="ragged", shape="star"),
    awkward(1, 448, 70, (1, 1, 64), dtype="fp16", kv="fp16", shape="padded"),
)
"""In fp16, since the interpreter multiplies no bf16."""
CHECKS = (
    *(awkward(1, length, 1, heads) for length, heads in ((0, WIDE), (1, NARROW), (31, SMALL))),
    awkward(3, 3000, 33, WIDE, lengths="ragged", values="draft"),
    awkward(4, 1, 65, WIDE, lengths="ragged", shape="star"),
    awkward(2, 2047, 8, WIDE, values="draft"),
    awkward(5, 1000, 8, NARROW, lengths="ragged"),
    awkward(2, 700, 256, NARROW, values="draft"),
    awkward(1, 513, 200, NARROW, shape="chain", values="draft"),
    awkward(3, 2049, 64, NARROW, values="draft", shape="padded", lengths="ragged"),
    awkward(3, 900, 40, SMALL, lengths="ragged", values="draft"),
    awkward(2, 1100, 8, NARROW, dtype="fp16", kv="fp16"),
    awkward(2, 1500, 64, NARROW, kv="fp8", values="draft"),
    awkward(3, 800, 8, WIDE, kv="fp8", lengths="ragged"),
)

ATTENTION = Probe(
    name="attention",
    question="How much longer does the target's attention take for a draft tree than for a chain?",
    kernels=(TREE,),
    baselines=(CHAIN, *FA3),
    floors=(NOP, READ, GEMM),
    cases=(
        case(1, 32_768, 8, WIDE),
        case(1, 32_768, 64, WIDE),
        case(1, 32_768, 64, NARROW),
        case(8, 8_192, 8, WIDE),
        case(8, 8_192, 64, WIDE),
        case(1, 131_072, 64, WIDE),
        case(1, 1_024, 64, WIDE),
        case(1, 32_768, 8, NARROW),
        case(1, 32_768, 64, SMALL),
        case(1, 32_768, 256, WIDE),
        case(64, 2_048, 8, NARROW),
        case(64, 1_024, 64, NARROW),
        case(1, 131_072, 8, WIDE),
    ),
    quick=2,
    checks=CHECKS,
    interpreted=SMALL_CHECKS,
)
IN_FP8 = Probe(
    name="attention-over-fp8",
    question="What does it take where the cache holds fp8?",
    kernels=(TREE,),
    baselines=(CHAIN,),
    floors=(NOP, READ, GEMM),
    cases=(case(1, 32_768, 8, WIDE, "fp8"), case(1, 32_768, 64, NARROW, "fp8"), case(8, 8_192, 8, WIDE, "fp8")),
    quick=0,
    checks=(),
    interpreted=(),
)
IN_TORCH = Probe(
    name="attention-in-torch",
    question="What does a draft tree take with what torch offers, which knows no pages?",
    kernels=(DENSE_TREE,),
    baselines=(DENSE_CHAIN, GATHER),
    floors=(NOP, READ, COPY, GEMM),
    cases=(case(1, 32_768, 8, WIDE), case(1, 32_768, 64, NARROW), case(1, 32_768, 64, WIDE), case(8, 8_192, 64, WIDE)),
    quick=1,
    checks=tuple(each for each in CHECKS if each["kv"] == each["dtype"] and "lengths" not in each),
    interpreted=(),
)
IN_FLEX = Probe(
    name="attention-in-flex",
    question="What does FlexAttention take for a draft tree, compiled?",
    kernels=(FLEX,),
    baselines=(),
    floors=(NOP, READ, GEMM),
    cases=(case(1, 8_192, 64, WIDE),),
    quick=0,
    checks=(),
    interpreted=(),
)
ATTENTIONS = (ATTENTION, IN_FP8, IN_TORCH, IN_FLEX)
