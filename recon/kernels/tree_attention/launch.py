"""How the launches of verification attention are queued: contexts first, then drafts with what is merged."""

import math

import triton

from ..op import Work
from ..wire import Axes
from .split import attend_contexts
from .tail import attend_drafts

LEAST_BATCH = 64
"""Lanes for requests; few sizes, so that few kernels are compiled."""
REGISTERS = 168
"""Of a thread when a program for Hopper starts: twelve warps may have so many; then those that multiply take more."""
LOG2_E = 1.4426950408889634


def attend(work: Work, config: Axes, output: str) -> None:
    """Queue both launches, into the output `tree` or `chain`."""
    (contexts_on_hopper if config.get("form") == "hopper" else contexts)(work, config)
    drafts(work, config, output)


def _shapes(work: Work) -> tuple[int, ...]:
    batch, nodes, heads, dim = work.inputs["q"].shape
    kv_heads = work.inputs["k"].shape[2]
    return batch, nodes, heads // kv_heads, kv_heads, dim


def contexts(work: Work, config: Axes) -> None:
    """Queue the first launch."""
    batch, nodes, group, kv_heads, dim = _shapes(work)
    table = work.inputs["table"]
    attend_contexts[(int(config["programs"]),)](
        work.inputs["q"],
        work.inputs["k"],
        work.inputs["v"],
        table,
        work.inputs["length"],
        work.scratch["part"],
        work.scratch["log"],
        batch,
        nodes,
        group,
        kv_heads,
        table.stride(0),
        LOG2_E / math.sqrt(dim),
        DIM=dim,
        ROWS=int(config["rows"]),
        BLOCK=int(config["block"]),
        STAGES=int(config["stages"]),
        num_warps=int(config["warps"]),
    )


def contexts_on_hopper(work: Work, config: Axes) -> None:
    """Queue the first launch as it is written for Hopper."""
    from .hopper import attend_contexts_hopper, boxes_of  # noqa: PLC0415  what it is written in is younger than Triton's rest

    batch, nodes, group, kv_heads, dim = _shapes(work)
    table, rows = work.inputs["table"], int(config["rows"])
    attend_contexts_hopper[(int(config["programs"]),)](
        boxes_of(work.inputs["k"]),
        boxes_of(work.inputs["v"]),
        work.inputs["q"],
        table,
        work.inputs["length"],
        work.scratch["part"],
        work.scratch["log"],
        batch,
        nodes,
        group,
        kv_heads,
        table.stride(0),
        LOG2_E / math.sqrt(dim),
        DIM=dim,
        ROWS=rows,
        BLOCK=int(config["block"]),
        STAGES=int(config["stages"]),
        num_warps=rows // 16,
        maxnreg=REGISTERS,
    )


def drafts(work: Work, config: Axes, output: str) -> None:
    """Queue the second launch."""
    batch, nodes, group, kv_heads, dim = _shapes(work)
    table, mask = work.inputs["table"], work.inputs["bits"]
    some, wide = int(config["some"]), int(config["wide"])
    attend_drafts[(batch, kv_heads * triton.cdiv(group * nodes, some), dim // wide)](
        work.inputs["q"],
        work.inputs["k"],
        work.inputs["v"],
        table,
        work.inputs["length"],
        mask,
        work.outputs[output],
        work.scratch["part"],
        work.scratch["log"],
        batch,
        nodes,
        group,
        kv_heads,
        table.stride(0),
        mask.shape[-1],
        int(config["programs"]),
        int(config["rows"]),
        int(config["block"]),
        int(output == "tree"),
        LOG2_E / math.sqrt(dim),
        1.0,
        DIM=dim,
        SOME=some,
        WIDE=wide,
        CHUNK=int(config["chunk"]),
        PARTS=int(config["parts"]),
        BATCH=max(LEAST_BATCH, triton.next_power_of_2(batch)),
        num_warps=int(config["draft_warps"]),
    )
