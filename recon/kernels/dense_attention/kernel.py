"""What a user has without a kernel of an engine: scaled_dot_product_attention, FlexAttention, and a gather before them.

Keys and values lie dense, head by head; to gather them from pages is a row of its own, and comes on top.
"""

from functools import cache
from typing import Any

import torch
from torch.nn.functional import scaled_dot_product_attention

from ..op import Op, Variant, Work
from ..tree_attention.inputs import work_of as paged_work_of
from ..tree_attention.kernel import AGREED, difference, note
from ..tree_attention.reference import chain_mask, reference
from ..tree_attention.spec import PAGE, WORD
from ..wire import Axes
from . import spec

_PAGED = ("q", "k", "v", "table", "length", "mask")


def work_of(axes: Axes, seed: int, device: torch.device) -> Work:
    """Inputs of the paged kernel, and the same keys and values dense; contexts are of one length."""
    made = paged_work_of(axes, seed, device)
    inputs = {name: made.inputs[name] for name in _PAGED}
    nodes, tokens = int(axes["nodes"]), int(axes["context"]) + int(axes["nodes"])
    token = torch.arange(tokens, device=device)
    slots = inputs["table"][:, token // PAGE].long() * PAGE + token % PAGE
    node = torch.arange(nodes, device=device)
    seen = torch.ones((len(slots), 1, nodes, tokens), dtype=torch.bool, device=device)
    seen[:, 0, :, tokens - nodes :] = (inputs["mask"][:, :, node // WORD] >> (node % WORD) & 1).bool()
    inputs |= {"slots": slots, "seen": seen, "rows": inputs["q"].transpose(1, 2).contiguous()}
    for name in ("k", "v"):
        inputs[f"dense_{name}"] = inputs[name].flatten(0, 1)[slots].transpose(1, 2).contiguous()
    outputs = {
        **made.outputs,
        **{f"gathered_{name}": torch.empty_like(inputs[name].flatten(0, 1)[slots]) for name in ("k", "v")},
    }
    return Work(inputs, outputs, axes=axes)


def compare(work: Work) -> str:
    """First disagreement with the paged kernel's reference, or with the pages that were gathered."""
    paged = {name: work.inputs[name] for name in _PAGED}
    for name, out in work.outputs.items():
        if name.startswith("gathered"):
            want = work.inputs[name.removeprefix("gathered_")].flatten(0, 1)[work.inputs["slots"]]
            if not torch.equal(out, want):
                return f"{name} is not what the reference says"
            continue
        if name == "chain":
            paged["mask"] = chain_mask(out.shape[1], out.device).expand_as(paged["mask"])
        wrong = difference(name, out, reference(**paged))
        if wrong:
            return wrong
    return ""


def sdpa_chain(work: Work, _config: Axes) -> None:
    """Queue a chain by a bias that torch knows as causal, aligned at the end."""
    from torch.nn.attention.bias import causal_lower_right  # noqa: PLC0415  slow to import, and seldom needed

    nodes, tokens = work.inputs["seen"].shape[-2:]
    _write(work, "chain", _sdpa(work, causal_lower_right(nodes, tokens)))


def sdpa_mask(work: Work, _config: Axes) -> None:
    """Queue a tree by a mask of a truth value for each pair."""
    _write(work, "tree", _sdpa(work, work.inputs["seen"]))


def _sdpa(work: Work, mask: torch.Tensor) -> torch.Tensor:
    key, value = work.inputs["dense_k"], work.inputs["dense_v"]
    return scaled_dot_product_attention(work.inputs["rows"], key, value, attn_mask=mask, enable_gqa=True)


def _write(work: Work, name: str, out: torch.Tensor) -> None:
    work.outputs[name].copy_(out.transpose(1, 2))


def flex_tree(work: Work, _config: Axes) -> None:
    """Queue a tree by FlexAttention, compiled, its mask asked for pair by pair where it is not known by blocks."""
    attend, mask = _flex(), _block_mask(work.inputs["seen"])
    out = attend(work.inputs["rows"], work.inputs["dense_k"], work.inputs["dense_v"], block_mask=mask, enable_gqa=True)
    _write(work, "tree", out)


@cache
def _flex() -> Any:
    from torch.nn.attention.flex_attention import flex_attention  # noqa: PLC0415  likewise

    return torch.compile(flex_attention, dynamic=False)


_MASKS: dict[int, tuple[torch.Tensor, Any]] = {}
"""Block masks by the address of what they are made of, and that itself, so that no other comes to lie there."""


def _block_mask(seen: torch.Tensor) -> Any:
    """The mask by blocks, made once for each tensor as an engine would for each step."""
    from torch.nn.attention.flex_attention import create_block_mask  # noqa: PLC0415  likewise

    if seen.data_ptr() not in _MASKS:
        batch, _, nodes, tokens = seen.shape

        def sees(request: torch.Tensor, _head: torch.Tensor, node: torch.Tensor, token: torch.Tensor) -> torch.Tensor:
            return seen[request, 0, node, token]

        made = create_block_mask(sees, batch, None, nodes, tokens, device=str(seen.device))
        _MASKS[seen.data_ptr()] = (seen, made)
    return _MASKS[seen.data_ptr()][1]


def gather(work: Work, _config: Axes) -> None:
    """Queue the gather of pages that must come before, where the cache is paged."""
    slots = work.inputs["slots"]
    for name in ("k", "v"):
        out = work.outputs[f"gathered_{name}"]
        torch.index_select(work.inputs[name].flatten(0, 1), 0, slots.flatten(), out=out.flatten(0, 1))


def _never(_axes: Axes) -> bool:
    """Each shape is compiled anew, which takes many seconds: what was timed is compared, and nothing before."""
    return False


OP = Op(
    work=work_of,
    compare=compare,
    variants={
        "sdpa_chain": Variant(sdpa_chain, outputs=("chain",), agreed=AGREED),
        "sdpa_mask": Variant(sdpa_mask, outputs=("tree",), agreed=AGREED),
        "flex_tree": Variant(flex_tree, outputs=("tree",), checked=_never, captured=False, agreed=AGREED),
        "page_gather": Variant(gather, bytes_of=spec.gathered_bytes_of, outputs=("gathered_k", "gathered_v")),
    },
    bytes_of=spec.bytes_of,
    note=note,
    held_bytes_of=spec.held_bytes_of,
)
