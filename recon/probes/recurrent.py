"""What does a draft tree cost in layers with a recurrent state, and what does it cost to take the accepted path over?

A tree can be walked node by node, as engines do, which keeps a state for each node; or all nodes at once, as a product
with the mask of ancestors, which keeps none and leaves the state behind the accepted path to be recomputed.
"""

from recon.kernels.wire import Axes
from recon.probes.floors import COPY, NOP, READ
from recon.probes.probe import Probe, Subject
from recon.records.model import Model

DELTA = tuple(Subject("delta_matrix", variant) for variant in ("quick", "exact"))
DELTA_STEP = Subject("delta_step", "step")
DELTA_COMMIT = Subject("delta_commit", "walk")
SCATTER = Subject("state_scatter", "scatter")
SSD = Subject("ssd_matrix", "matrix")
SSD_STEP = Subject("ssd_step", "step")
SSD_COMMIT = Subject("ssd_commit", "walk")
CONVOLUTION = Subject("conv_tree", "climb")
CONVOLUTION_COMMIT = Subject("conv_commit", "copy")

DEPTH = 8
"""Most drafts on one path of timed trees."""
ACCEPTED = 3
"""Drafts on timed accepted paths."""
_DELTA: Axes = {"linear_key_heads": 16, "linear_value_heads": 48, "linear_key_dim": 128, "linear_value_dim": 128}
"""A layer of Qwen3.6-27B."""
_MAMBA: Axes = {"mamba_heads": 128, "mamba_head_dim": 64, "mamba_groups": 8, "mamba_state": 128}
"""A layer of Nemotron-H-8B."""
_CONVOLUTION: Axes = {"channels": 10_240, "width": 4}
"""A layer of either."""


def _case(layer: Axes, batch: int, nodes: int, **other: int | str) -> Axes:
    return {"batch": batch, "nodes": nodes, **layer, "depth": DEPTH, "shape": "random", **other}


def delta(batch: int, nodes: int, state: str = "fp32", **other: int | str) -> Axes:
    """A timed case of the gated delta rule."""
    return _case(_DELTA, batch, nodes, state=state, **other)


def mamba(batch: int, nodes: int, state: str = "fp32", **other: int | str) -> Axes:
    """A timed case of Mamba-2."""
    return _case(_MAMBA, batch, nodes, state=state, **other)


def convolution(batch: int, nodes: int, **other: int | str) -> Axes:
    """A timed case of the convolution."""
    return _case(_CONVOLUTION, batch, nodes, **other)


def awkward(batch: int, nodes: int, **other: int | str) -> Axes:
    """A case that is checked and never timed, in the axes of all kernels here; small enough for the interpreter."""
    return {
        "batch": batch,
        "nodes": nodes,
        "linear_key_heads": 1,
        "linear_value_heads": 2,
        "linear_key_dim": 16,
        "linear_value_dim": 16,
        "mamba_heads": 2,
        "mamba_head_dim": 16,
        "mamba_groups": 1,
        "mamba_state": 16,
        "channels": 24,
        "width": 4,
        "state": "fp32",
        "out": "fp32",
        "accepted": 2,
        **other,
    }


def large(batch: int, nodes: int, **other: int | str) -> Axes:
    """Likewise in the shapes of layers."""
    return {**awkward(batch, nodes), **_DELTA, **_MAMBA, **_CONVOLUTION, **other}


GROUPED: dict[str, int | str] = {"linear_key_heads": 2, "linear_value_heads": 4, "mamba_heads": 4, "mamba_groups": 2}
SMALL_CHECKS = (
    awkward(2, 5, shape="forest", state="bf16", out="bf16"),
    awkward(1, 1, values="edge"),
    awkward(1, 7, shape="padded", accepted=-1),
    awkward(1, 5, shape="chain", values="alike", accepted=-1, keep="last", **GROUPED),
    awkward(1, 16, shape="chain", values="strong"),
    awkward(1, 9, depth=3, accepted=3),
)
CHECKS = (
    *SMALL_CHECKS,
    awkward(3, 15, accepted=5),
    large(1, 64, depth=DEPTH, accepted=ACCEPTED),
    large(1, 64, shape="chain", values="alike", accepted=-1),
    large(1, 63, shape="star", values="edge"),
    large(1, 40, shape="chain", values="strong"),
    large(2, 33, shape="forest", values="strong", state="bf16", out="bf16"),
    large(1, 64, shape="padded", state="bf16", out="bf16", depth=DEPTH),
    large(3, 8, depth=3, values="alike", out="bf16"),
)
"""Few types and sizes: each is another kernel to the compiler."""


def shaped(cases: tuple[Axes, ...], model: Model, tp: int) -> tuple[Axes, ...]:
    """Cases in the shapes of a model; none where it has no such layers."""
    shapes = model.axes(tp)
    made = [{name: shapes.get(name, value) for name, value in axes.items()} for axes in cases]
    return tuple(axes for axes in made if all(axes[name] for name in axes if name in shapes))


def _probe(
    name: str,
    question: str,
    kernels: tuple[Subject, ...],
    cases: tuple[Axes, ...],
    *,
    quick: int,
    baselines: tuple[Subject, ...] = (),
    checked: bool = True,
) -> Probe:
    return Probe(
        name=name,
        question=question,
        kernels=kernels,
        baselines=baselines,
        floors=(NOP, READ, COPY),
        cases=cases,
        quick=quick,
        checks=CHECKS if checked else (),
        interpreted=SMALL_CHECKS if checked else (),
        of_model=lambda model, tp: shaped(cases, model, tp),
    )


RECURRENT = (
    _probe(
        "delta-trees",
        "How long does it take to verify a draft tree through the gated delta rule, all nodes at once or one by one?",
        DELTA,
        (
            delta(1, 64),
            delta(16, 8),
            delta(1, 8),
            delta(1, 9),
            delta(1, 64, "bf16"),
            delta(16, 64),
            delta(16, 64, "bf16"),
        ),
        quick=2,
        baselines=(DELTA_STEP,),
    ),
    _probe(
        "delta-chains",
        "How long does it take to verify a chain so?",
        DELTA,
        (delta(1, 64, shape="chain"), delta(16, 64, shape="chain")),
        quick=1,
        baselines=(DELTA_STEP,),
        checked=False,
    ),
    _probe(
        "delta-chains-kept",
        "How long does it take step by step where no state is kept, or the last one alone?",
        (DELTA_STEP,),
        tuple(delta(batch, 64, shape="chain", keep=keep) for batch in (1, 16) for keep in ("none", "last")),
        quick=0,
        checked=False,
    ),
    _probe(
        "delta-commit",
        "How long does it take to have the state behind the accepted path, recomputed or copied?",
        (DELTA_COMMIT,),
        (
            delta(1, 64, accepted=ACCEPTED),
            delta(1, 64, "bf16", accepted=ACCEPTED),
            delta(16, 64, accepted=ACCEPTED),
        ),
        quick=1,
        baselines=(SCATTER,),
    ),
    _probe(
        "mamba-trees",
        "How long does it take to verify a draft tree through Mamba-2, all nodes at once or one by one?",
        (SSD,),
        (mamba(1, 64), mamba(1, 64, "bf16"), mamba(16, 64)),
        quick=1,
        baselines=(SSD_STEP,),
    ),
    _probe(
        "mamba-commit",
        "How long does it take to recompute the state of Mamba-2 behind the accepted path?",
        (SSD_COMMIT,),
        (mamba(1, 64, accepted=ACCEPTED), mamba(16, 64, accepted=ACCEPTED)),
        quick=1,
    ),
    _probe(
        "tree-convolution",
        "How long does it take to convolve each node with its ancestors?",
        (CONVOLUTION,),
        (convolution(1, 64), convolution(16, 64)),
        quick=1,
    ),
    _probe(
        "convolution-commit",
        "How long does it take to have the window behind the accepted path?",
        (CONVOLUTION_COMMIT,),
        (convolution(1, 64, accepted=ACCEPTED), convolution(16, 64, accepted=ACCEPTED)),
        quick=1,
    ),
)
