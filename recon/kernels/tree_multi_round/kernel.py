"""The Triton claim about the reference: the masses of all rows of target and drafter, then the walk in rounds."""

from ..builds import NODES, VOCAB, build
from ..judge import judge
from ..masses import BLOCK, WARPS, block_lanes, blocks_of, configs
from ..op import Build, Op, Variant, Work
from ..slices import node_lanes
from ..tree_target_only.kernel import all_masses
from ..wire import Axes
from . import spec
from .baselines import eager
from .inputs import work_of
from .reference import APART, reference
from .walk import multi_round_walk


def fused(work: Work, config: Axes) -> None:
    """Queue the masses of all rows, then the walks."""
    all_masses(work, config)
    all_masses(work, config, "draft", "draft_")
    inputs, outputs, scratch = work.inputs, work.outputs, work.scratch
    logits, requests, block = inputs["logits"], int(config["requests"]), int(config["block"])
    batch, nodes, vocab = logits.shape
    multi_round_walk[(-(-batch // requests),)](
        logits,
        inputs["draft"],
        *(inputs[name] for name in ("token", "parent", "coin", "last", "temperature")),
        *(scratch[name] for name in ("tops", "masses", "draft_tops", "draft_masses")),
        *(outputs[name] for name in ("path", "emitted", "accepted")),
        batch,
        nodes,
        vocab,
        blocks_of(vocab, block),
        *logits.stride(),
        *inputs["draft"].stride(),
        REQUESTS=requests,
        NODES=node_lanes(nodes),
        BLOCK=block,
        BLOCKS=int(config["lanes"]),
        APART=apart(work),
        num_warps=WARPS,
    )


def apart(work: Work) -> bool:
    """Whether siblings were drawn without putting back."""
    return work.axes.get("siblings", APART) == APART


def compare(work: Work) -> str:
    """First answer that neither the reference gives nor rounding excuses."""
    return judge(work.outputs, work.inputs, reference(**work.inputs, apart=apart(work)))


def note(work: Work) -> str:
    """What the walk of this data is like."""
    accepted = work.outputs["accepted"].float().mean().item()
    return f"accepted drafts per request: {accepted:.2f}"


def builds() -> tuple[Build, ...]:
    """The walk in the configuration that is chosen for most cases; the masses are built with the target-only kernel."""
    lanes = {"REQUESTS": 1, "NODES": NODES, "BLOCK": BLOCK, "BLOCKS": block_lanes(VOCAB)}
    return (build("fused", multi_round_walk, WARPS, **lanes, APART=1),)


OP = Op(
    work=work_of,
    compare=compare,
    variants={"fused": Variant(fused, configs), "eager": Variant(eager)},
    bytes_of=spec.bytes_of,
    note=note,
    builds=builds,
)
