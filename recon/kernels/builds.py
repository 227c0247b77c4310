"""Builds of the stochastic kernels for GPUs that are not here, in the configurations that are used."""

from typing import Any

from .op import Build

POINTERS = {
    "logits_ptr": "*bf16",
    "draft_ptr": "*bf16",
    "token_ptr": "*i64",
    "parent_ptr": "*i32",
    "path_ptr": "*i32",
    "here_ptr": "*i32",
    "emitted_ptr": "*i64",
    "accepted_ptr": "*i32",
    "slices_ptr": "*i64",
    "stands_ptr": "*i32",
}
"""Types of pointers by name; all others point to fp32. Other arguments are int32."""
ALIGNED = frozenset(("vocab", "chunk", "stride_b", "stride_n", "draft_b", "draft_n"))
NODES = 64
"""Lanes for nodes that the table is made for."""
VOCAB = 151_936


def build(variant: str, function: Any, warps: int, **constants: int) -> Build:
    """One build of a Triton function, types by the names of its arguments; vocabularies lie contiguous."""
    constants |= {name: 1 for name in ("stride_v", "draft_v") if name in function.arg_names}
    types = {
        name: POINTERS.get(name, "*fp32" if name.endswith("_ptr") else "i32")
        for name in function.arg_names
        if name not in constants
    }
    return Build(variant, function, types, constants, ALIGNED & set(types), warps)
