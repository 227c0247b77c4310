"""How long does it take to build a draft tree on the device, where engines do it on the host?"""

from recon.kernels.wire import Axes
from recon.probes.floors import NOP, READ
from recon.probes.probe import Probe, Subject

BEST_FIRST = Subject("tree_best_first", "expand")
HEAP = Subject("tree_best_first", "host_heap")
TOPK = Subject("tree_topk", "steps")
TOPK_TORCH = Subject("tree_topk", "torch")
TOPK_HOST = Subject("tree_topk", "host")


def block(batch: int, nodes: int, depth: int = 15, ranks: int = 32, **other: str) -> Axes:
    """A tree from a block drafter that fills so many positions at once."""
    return {"batch": batch, "nodes": nodes, "depth": depth, "ranks": ranks, **other}


def beam(batch: int, nodes: int, steps: int = 6, topk: int = 8, **other: str) -> Axes:
    """A tree from a drafter that goes on from the best prefixes, step by step."""
    return {"batch": batch, "nodes": nodes, "steps": steps, "topk": topk, **other}


SMALL_BLOCKS = (
    block(2, 9, 3, 4, values="raw"),
    block(1, 7, 2, 1),
    block(1, 1, 1, 1),
    block(2, 12, 3, 3, values="ties"),
    block(1, 35, 4, 3),
    block(2, 12, 5, 4, values="certain"),
)
BLOCKS = (
    *SMALL_BLOCKS,
    block(3, 64, values="ties"),
    block(2, 256, ranks=64, values="raw"),
    block(2, 65, 7, 2),
    block(2, 300, 15, 16),
    block(2, 1000, 31, 256),
)
SMALL_BEAMS = (
    beam(2, 9, 3, 3, values="raw"),
    beam(1, 40, 2, 4),
    beam(2, 6, 4, 1, values="certain"),
    beam(3, 20, 3, 3, values="ties"),
    beam(1, 1, 1, 2),
)
BEAMS = (
    *SMALL_BEAMS,
    beam(3, 64, values="ties"),
    beam(2, 60, 8, 10, values="raw"),
    beam(2, 33, 5, 4),
    beam(1, 300, 12, 10),
)

BEST_FIRST_TREES = Probe(
    name="best-first-trees",
    question="How long does it take to expand a draft tree best prefix first, under a node budget?",
    kernels=(BEST_FIRST,),
    baselines=(HEAP,),
    floors=(NOP, READ),
    cases=(block(1, 64), block(1, 16), block(1, 256), block(64, 64)),
    quick=1,
    checks=BLOCKS,
    interpreted=SMALL_BLOCKS,
)
TOPK_TREES = Probe(
    name="top-k-trees",
    question="How long does it take to select a draft tree from the best prefixes of each step?",
    kernels=(TOPK,),
    baselines=(TOPK_TORCH, TOPK_HOST),
    floors=(NOP, READ),
    cases=(beam(1, 64), beam(1, 16, 4, 4), beam(64, 64)),
    quick=1,
    checks=BEAMS,
    interpreted=SMALL_BEAMS,
)
TREE_BUILDING = (BEST_FIRST_TREES, TOPK_TREES)
