"""The Triton claim about the reference: a chain is a tree with one branch, walked on the masses of all its rows.

With the drafter's logits it is the walk in rounds, of which a chain has one a node; without them the target-only walk.
"""

from ..builds import NODES, VOCAB, build
from ..judge import judge
from ..masses import BLOCK, WARPS, block_lanes, configs
from ..op import Build, Op, Variant, Work
from ..tree_multi_round.kernel import rounds
from ..tree_multi_round.walk import multi_round_walk
from ..tree_target_only.kernel import all_masses, walk
from ..wire import Axes
from . import spec
from .baselines import eager
from .inputs import work_of
from .reference import reference


def fused(work: Work, config: Axes) -> None:
    """Queue the masses of all rows, then the walks."""
    if "draft" in work.inputs:
        rounds(work, config, chain=True)
        return
    all_masses(work, config)
    walk(work, config, parent=work.scratch["parent"], path=work.scratch["path"])


def compare(work: Work) -> str:
    """First answer that neither the reference gives nor rounding excuses."""
    return judge(work.outputs, work.inputs, reference(**work.inputs))


def note(work: Work) -> str:
    """What the walk of this data is like."""
    accepted = work.outputs["accepted"].float().mean().item()
    return f"accepted drafts per request: {accepted:.2f}"


def builds() -> tuple[Build, ...]:
    """The walk of a chain with the drafter's logits; without them it is the target-only kernel's."""
    lanes = {"REQUESTS": 1, "NODES": NODES, "BLOCK": BLOCK, "BLOCKS": block_lanes(VOCAB)}
    return (build("fused", multi_round_walk, WARPS, **lanes, APART=0, CHAIN=1),)


OP = Op(
    work=work_of,
    compare=compare,
    variants={"fused": Variant(fused, configs), "eager": Variant(eager)},
    bytes_of=spec.bytes_of,
    note=note,
    builds=builds,
)
