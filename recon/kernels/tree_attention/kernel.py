"""Verification attention of draft trees and chains: two launches, masks in the second alone.

The first attends to contexts, split along their length, and masks nothing; the second attends to the drafts and merges.
Trees and chains differ in the second launch only, where a chain is told by counting and a tree by its masks.
"""

from collections.abc import Callable

import torch

from ..card import Card
from ..op import Op, Variant, Work
from ..wire import Axes
from . import spec
from .builds import builds
from .configs import configs
from .fa3 import cascade, causal, library_of
from .inputs import work_of
from .launch import attend
from .reference import chain_mask, reference

ROW_TOLERANCE = 2e-2
"""Most that a row may differ from the reference, over the row's own length: weights and outputs are rounded to 8 bits.

A node that is seen by mistake, or overlooked, moves a row by more, where the context adds little.
"""
TOLERANCE = 5e-3
"""Likewise of all rows in one."""
AGREED = (
    f"no row off by more than {ROW_TOLERANCE:.0%} of its length, all in one by {TOLERANCE:.1%}; also where contexts add"
    " nothing; outputs poisoned and guarded, launched twice"
)


def compare(work: Work) -> str:
    """Empty where each row of the outputs is close to the reference's, else the one that is farthest off."""
    made = {name: work.inputs[name] for name in ("q", "k", "v", "table", "length", "mask")}
    for name, out in work.outputs.items():
        if name == "chain":
            made["mask"] = chain_mask(out.shape[1], out.device).expand_as(made["mask"])
        wrong = difference(name, out, reference(**made))
        if wrong:
            return wrong
    return ""


def difference(name: str, out: torch.Tensor, want: torch.Tensor) -> str:
    """Empty where each row [..., D] is close to what was wanted."""
    gap, length = (out.float() - want).norm(dim=-1), want.norm(dim=-1)
    far = (gap / length).nan_to_num(nan=float("inf"))
    worst, whole = far.max().item(), (gap.norm() / length.norm()).item()
    if worst <= ROW_TOLERANCE and whole <= TOLERANCE:
        return ""
    place = tuple(int(each) for each in torch.unravel_index(far.argmax(), far.shape))
    return (
        f"{name}{list(place)} is off by {worst:.3g} of what the reference says, at most {ROW_TOLERANCE}; "
        f"all rows in one by {whole:.3g}, at most {TOLERANCE}"
    )


def note(work: Work) -> str:
    """How much of the draft a node sees."""
    bits = (work.inputs["mask"][..., None] >> torch.arange(spec.WORD, device=work.inputs["mask"].device)) & 1
    return f"nodes of the draft that one sees: {bits.sum((-1, -2)).float().mean().item():.2f}"


def _ours(output: str) -> Callable[[Work, Axes], None]:
    def launch(work: Work, config: Axes) -> None:
        attend(work, config, output)

    return launch


def _theirs(_axes: Axes, card: Card) -> tuple[Axes, ...]:
    """The library that is called.

    Raises:
        FileNotFoundError: there is none.
    """
    return ({"library": library_of(card)},)


def _plain(axes: Axes) -> bool:
    """Whether an engine's kernel says that it can do this: no context is empty, nothing is converted."""
    return axes["kv"] == axes["dtype"] and int(axes["context"]) > 0 and axes.get("lengths") != "ragged"


OP = Op(
    work=work_of,
    compare=compare,
    variants={
        "tree": Variant(_ours("tree"), configs, outputs=("tree",), agreed=AGREED),
        "chain": Variant(_ours("chain"), configs, outputs=("chain",), agreed=AGREED),
        "fa3_chain": Variant(causal, _theirs, outputs=("chain",), checked=_plain, agreed=AGREED),
        "fa3_cascade": Variant(cascade, _theirs, outputs=("tree",), checked=_plain, agreed=AGREED),
    },
    bytes_of=spec.bytes_of,
    note=note,
    builds=builds,
    held_bytes_of=spec.held_bytes_of,
)
