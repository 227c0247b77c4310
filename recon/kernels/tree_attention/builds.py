"""Builds of verification attention for GPUs that are not here, in the configurations that are used there."""

from collections.abc import Iterator
from typing import Any

from ..card import HOPPER, Card
from ..op import Build
from ..wire import Axes
from .configs import SERVERS_SHARED_BYTES, configs
from .launch import LEAST_BATCH, REGISTERS
from .split import attend_contexts
from .tail import attend_drafts, merge_two

_TYPES = {
    **dict.fromkeys(("q_ptr", "k_ptr", "v_ptr", "out_ptr", "first_ptr", "second_ptr"), "*bf16"),
    **dict.fromkeys(("table_ptr", "length_ptr", "mask_ptr"), "*i32"),
    **dict.fromkeys(("part_ptr", "log_ptr", "first_log_ptr", "second_log_ptr"), "*fp32"),
    **dict.fromkeys(("scale", "v_scale"), "fp32"),
    **dict.fromkeys(
        ("k_desc", "v_desc"),
        "tensordesc<bf16[16, 64],NVMMASharedLayout(swizzle_byte_width=128, element_bitwidth=16, rank=2,"
        " transposed=False, fp4_padded=False, cga_layout=[])>",
    ),
}
"""By the names of arguments; all others are int32."""
_CARDS = {
    90: Card(132, 4e12, SERVERS_SHARED_BYTES, HOPPER),
    100: Card(148, 7e12, SERVERS_SHARED_BYTES, (10, 0)),
    120: Card(188, 1.7e12, capability=(12, 0)),
}
_CASES: tuple[Axes, ...] = tuple(
    {
        "batch": batch,
        "nodes": nodes,
        "heads": heads,
        "kv_heads": kv_heads,
        "head_dim": dim,
        "dtype": "bf16",
        "kv": "bf16",
    }
    for batch, nodes in ((1, 8), (1, 64), (64, 64))
    for heads, kv_heads, dim in ((24, 4, 256), (32, 8, 128), (32, 8, 64))
)


def builds() -> tuple[Build, ...]:
    """What the cases that are timed would launch, each once: equal ones of several architectures together."""
    wanted: list[tuple[Build, list[int]]] = []
    for arch, card in _CARDS.items():
        for axes in _CASES:
            for build in (each for config in configs(axes, card) for each in _launched(axes, config)):
                archs = next((archs for known, archs in wanted if known == build), None)
                if archs is None:
                    wanted.append((build, [arch]))
                elif arch not in archs:
                    archs.append(arch)
    return tuple(
        Build(
            each.variant,
            each.function,
            each.types,
            each.constants,
            each.divisible,
            each.warps,
            each.options,
            tuple(archs),
        )
        for each, archs in wanted
    )


def _launched(axes: Axes, config: Axes) -> Iterator[Build]:
    """Both launches in a configuration, and the merge of the cascade."""
    sizes = {"DIM": int(axes["head_dim"]), "ROWS": int(config["rows"]), "BLOCK": int(config["block"])}
    first = {**sizes, "STAGES": int(config["stages"])}
    if config["form"] == "hopper":
        from .hopper import attend_contexts_hopper  # noqa: PLC0415  what it is written in is younger than Triton's rest

        yield _build("tree", attend_contexts_hopper, first, int(config["warps"]), {"maxnreg": REGISTERS})
    else:
        yield _build("tree", attend_contexts, first, int(config["warps"]))
    second = {name.upper(): int(config[name]) for name in ("some", "wide", "chunk", "parts")}
    yield _build(
        "tree",
        attend_drafts,
        {"DIM": int(axes["head_dim"]), **second, "BATCH": LEAST_BATCH},
        int(config["draft_warps"]),
    )
    yield _build("fa3_cascade", merge_two, {"DIM": int(axes["head_dim"])}, 1)


def _build(
    variant: str, function: Any, constants: dict[str, int], warps: int, options: dict[str, int] | None = None
) -> Build:
    types = {name: _TYPES.get(name, "i32") for name in function.arg_names if name not in constants}
    return Build(variant, function, types, constants, frozenset(), warps, options or {})
