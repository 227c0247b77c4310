"""How long does it take to move the KV of an accepted path to where the next step looks for it?"""

from recon.kernels.wire import Axes
from recon.probes.floors import COPY, COPY_TORCH, NOP, READ
from recon.probes.probe import Probe, Subject

ROWS = Subject("kv_compact", "rows")
BATCH_TILE = Subject("kv_compact", "batch_tile")
INDEX = Subject("kv_compact", "index")
INDEX_EAGER = Subject("kv_compact", "index_eager")

ACCEPTED = 4
"""Rows moved for each request."""


def case(batch: int, layers: int, kv_heads: int, head_dim: int, **other: str) -> Axes:
    """A timed case; sources and targets are apart, so that a replay does the same again."""
    return {
        "batch": batch,
        "accepted": ACCEPTED,
        "nodes": 16,
        "layers": layers,
        "kv_heads": kv_heads,
        "head_dim": head_dim,
        "dtype": "bf16",
        **other,
    }


def awkward(batch: int, accepted: int, nodes: int, **other: int | str) -> Axes:
    """A case that is checked and never timed."""
    shape: Axes = {"batch": batch, "accepted": accepted, "nodes": nodes, "layers": 2, "kv_heads": 1, "head_dim": 16}
    return {**shape, "dtype": "bf16", **other}


SMALL_CHECKS = (
    awkward(2, 5, 8, moves="forward", page=4, kv_heads=5, head_dim=208),
    awkward(2, 0, 4),
    awkward(3, -1, 9, moves="shuffled", page=2),
    awkward(1, 3, 5, moves="backward", page=4, layout="paired"),
    awkward(2, 4, 4, moves="same"),
    awkward(3, -1, 12, moves="path", dtype="fp8", page=4, layout="paired"),
    awkward(1, 520, 530, moves="path", layers=1, head_dim=8, dtype="fp8"),
    awkward(1, 518, 520, moves="forward", layers=1, head_dim=8, dtype="fp8"),
)
"""The last two hold more rows than a program does."""
CHECKS = (
    *SMALL_CHECKS,
    awkward(5, -1, 64, moves="shuffled", layers=3, kv_heads=4, head_dim=256),
    awkward(3, -1, 64, moves="shuffled", layers=3, kv_heads=8, head_dim=128, layout="paired"),
    awkward(2, 500, 512, moves="shuffled", kv_heads=4, head_dim=128),
    awkward(2, 511, 512, moves="backward", kv_heads=3, head_dim=80),
    awkward(1, 3000, 4096, moves="path", kv_heads=2, head_dim=64),
)

COMPACTION = Probe(
    name="kv-compaction",
    question="How long does it take to move the KV of an accepted path, in all layers?",
    kernels=(ROWS,),
    baselines=(BATCH_TILE,),
    floors=(NOP, READ, COPY, COPY_TORCH),
    cases=(
        case(16, 16, 4, 256),
        case(1, 16, 4, 256),
        case(1, 16, 4, 256, cache="warm"),
        case(1, 32, 8, 128, cache="warm"),
        case(16, 32, 8, 128),
        case(64, 16, 4, 256),
        case(64, 32, 8, 128),
    ),
    quick=1,
    checks=CHECKS,
    interpreted=SMALL_CHECKS,
)
IN_TORCH = Probe(
    name="kv-compaction-in-torch",
    question="How long does that take with what torch offers, layer by layer?",
    kernels=(ROWS,),
    baselines=(INDEX, INDEX_EAGER),
    floors=(NOP, READ, COPY, COPY_TORCH),
    cases=(case(64, 16, 4, 256), case(64, 32, 8, 128)),
    quick=0,
    checks=(),
    interpreted=(),
)
COMPACTIONS = (COMPACTION, IN_TORCH)
