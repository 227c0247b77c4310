"""FlashAttention-3 as an engine has it compiled: a chain in one call, and a tree as a cascade of two and a merge.

The cascade is what engines do that have no mask: the context without one, then each node with a page table of its own
that holds nothing but what it sees, then both merged. The library is loaded by its path; nothing else of the engine is.
"""

import sys
from functools import cache
from pathlib import Path
from typing import Any

import torch

from ..card import Card
from ..op import Work
from ..wire import FIND, Axes
from .tail import merge_two

NAMESPACE = "_vllm_fa3_C"
_GIVEN: dict[str, object] = {
    "window_size_left": -1,
    "window_size_right": -1,
    "softcap": 0.0,
    "is_rotary_interleaved": True,
    "num_splits": 0,
    "sm_margin": 0,
    "cp_world_size": 1,
    "cp_rank": 0,
}
"""Arguments of the operator that mean the same in every call; what may be left out is."""


def library_of(card: Card) -> str:
    """Path of the library that may be called.

    Raises:
        FileNotFoundError: there is none.
    """
    if card.library != FIND:
        found = [card.library] if Path(card.library).is_file() else []
    else:
        found = [str(each) for folder in sys.path for each in Path(folder).glob(f"*/*/{NAMESPACE}*.so")]
    if not found:
        raise FileNotFoundError(f"no library {NAMESPACE} of an engine is here")
    return found[0]


@cache
def _operator(library: str) -> Any:
    """The forward operator, loaded once in a process."""
    torch.ops.load_library(library)
    return getattr(torch.ops, NAMESPACE).fwd.default


def _forward(config: Axes, **wanted: object) -> tuple[torch.Tensor, torch.Tensor]:
    """Outputs [tokens, H, D] and natural logarithms of masses [H, tokens], by the names of the operator's arguments."""
    operator = _operator(str(config["library"]))
    values = {argument.name: (_GIVEN | wanted).get(argument.name) for argument in operator._schema.arguments}  # noqa: SLF001
    out, log, *_ = operator(**values)
    return out, log


def _of_contexts(work: Work, config: Axes, lengths: torch.Tensor, **other: object) -> tuple[torch.Tensor, torch.Tensor]:
    """Attention of all nodes to the first tokens of their requests."""
    q, table = work.inputs["q"], work.inputs["table"]
    batch, nodes, heads, dim = q.shape
    return _forward(
        config,
        q=q.view(batch * nodes, heads, dim),
        k=work.inputs["k"],
        v=work.inputs["v"],
        cu_seqlens_q=work.inputs["starts"],
        seqused_k=lengths,
        max_seqlen_q=nodes,
        max_seqlen_k=table.shape[1] * work.inputs["k"].shape[1],
        page_table=table,
        softmax_scale=dim**-0.5,
        **other,
    )


def causal(work: Work, config: Axes) -> None:
    """Queue a chain: the context and the draft in one call."""
    out = work.outputs["chain"]
    _of_contexts(work, config, work.inputs["ends"], out=out.flatten(0, 1), is_causal=True)


def cascade(work: Work, config: Axes) -> None:
    """Queue a tree: contexts, then each node's own tokens as a sequence of pages of one token, then the merge."""
    q, out, dim = work.inputs["q"], work.outputs["tree"], work.inputs["q"].shape[-1]
    batch, nodes, heads, _ = q.shape
    before, before_log = _of_contexts(work, config, work.inputs["length"], is_causal=False)
    own, own_log = _forward(
        config,
        q=q.view(batch * nodes, heads, dim),
        k=work.inputs["k"].flatten(0, 1)[:, None],
        v=work.inputs["v"].flatten(0, 1)[:, None],
        cu_seqlens_q=work.inputs["each"],
        seqused_k=work.inputs["seen"],
        max_seqlen_q=1,
        max_seqlen_k=nodes,
        page_table=work.inputs["slots"],
        softmax_scale=dim**-0.5,
        is_causal=False,
    )
    merge_two[(batch * nodes, heads)](before, before_log, own, own_log, out, batch * nodes, DIM=dim, num_warps=1)
