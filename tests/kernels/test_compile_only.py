"""Kernels built for GPUs that are not here."""

import dataclasses

import pytest

from recon.kernels import archs, compile_only, wire, work
from recon.kernels.op import Build, Op
from recon.kernels.read.kernel import OP as READ
from recon.kernels.read.kernel import read
from recon.kernels.tree_greedy.kernel import OP as TREE
from recon.probes.plan import plan_compile
from tests.kernels.here import here

KERNELS = tuple(entry.kernel for entry in plan_compile().entries)
ENTRY = wire.Entry(0, "compile", "subject", "read", "", {})
TYPES = {"x_ptr": "*i32", "sums_ptr": "*i32", "size": "i32", "chunk": "i32"}


def reading(block: int, warps: int) -> Build:
    return Build("triton", read, TYPES, {"BLOCK": block}, frozenset(("size", "chunk")), warps)


def op_with(*builds: Build) -> Op:
    return dataclasses.replace(READ, builds=lambda: builds)


def test_a_build_says_what_it_uses() -> None:
    (built,) = compile_only.compile_all(ENTRY, op_with(reading(1024, 4)), (90,))

    assert isinstance(built, wire.Compiled)
    assert ("sm_90", "sm_90a", "triton") == (built.arch, built.target, built.variant)
    assert {"BLOCK": 1024, "warps": 4} == built.config
    assert 8 < built.registers < 128
    assert (0, 0, 232_448, True) == (
        built.spill_store_bytes,
        built.spill_load_bytes,
        built.shared_limit_bytes,
        built.fits,
    )


def test_spills_are_seen() -> None:
    (built,) = compile_only.compile_all(ENTRY, op_with(reading(8192, 1)), (90,))

    assert isinstance(built, wire.Compiled)
    assert built.stack_bytes > 0
    assert built.spill_store_bytes > 0 < built.spill_load_bytes


def test_what_exceeds_the_shared_memory_of_a_block_does_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(archs.SHARED_LIMIT_BYTES, 90, 8)
    (built,) = compile_only.compile_all(ENTRY, op_with(reading(1024, 4)), (90,))

    assert isinstance(built, wire.Compiled)
    assert not built.fits


def test_a_build_that_fails_does_not_stop_the_others() -> None:
    broken = dataclasses.replace(reading(1000, 4), constants={"BLOCK": 1000})  # no power of two
    lines = list(compile_only.compile_all(ENTRY, op_with(broken, reading(1024, 4)), (90,)))

    assert [wire.Failed, wire.Compiled] == [type(line) for line in lines]
    assert isinstance(lines[0], wire.Failed)
    assert "sm_90 read BLOCK=1000" in lines[0].why


def test_an_unknown_architecture_is_a_failure_and_not_the_end() -> None:
    (failed,) = compile_only.compile_all(ENTRY, op_with(reading(1024, 4)), (61,))

    assert isinstance(failed, wire.Failed)


@pytest.mark.parametrize("lanes", [64])
def test_logits_are_loaded_sixteen_bytes_at_a_time(lanes: int) -> None:
    build = next(each for each in TREE.builds() if each.constants.get("NODES") == lanes)
    kernel = compile_only.built(build, 90)

    assert "ld.global.v4.b32" in kernel.asm["ptx"]


ON_ALL = frozenset(("tree_greedy", "tree_target_only", "tree_attention"))
"""Kernels whose builds are made for servers' cards as well in each run."""


def largest(op: Op) -> Op:
    """The kernel with one build for each of its functions and choices of architectures: the one with the most lanes."""
    chosen: dict[tuple[str, tuple[int, ...]], Build] = {}
    for build in sorted(
        op.builds(), key=lambda each: [each.constants.get(name, 0) for name in ("NODES", "BLOCK", "DIM")]
    ):
        chosen[build.function.__name__, build.archs] = build
    return dataclasses.replace(op, builds=lambda: tuple(chosen.values()))


def test_the_largest_build_of_every_function_fits_without_spills() -> None:
    """All of them where a block has the least shared memory, and those of trees for servers' cards as well."""
    archs = {name: (90, 100, 120) if name in ON_ALL else (120,) for name in KERNELS}
    lines = [
        line
        for name, wanted in archs.items()
        for line in compile_only.compile_all(ENTRY, largest(work.op_of(name)), wanted)
    ]
    builds = [line for line in lines if isinstance(line, wire.Compiled)]

    assert [] == [line.why for line in lines if isinstance(line, wire.Failed)]
    assert {"sm_90", "sm_100", "sm_120"} == {build.arch for build in builds}
    assert 25 < len(builds) <= 60
    assert [] == [build for build in builds if not build.fits or build.spill_store_bytes or build.spill_load_bytes]


@pytest.mark.slow
def test_every_kernel_fits_every_architecture_without_spills() -> None:
    result = here(plan_compile((90, 100, 120)))
    resources = [(each.kernel, found) for each in result.measurements for found in each.resources]

    assert () == result.unknowns
    assert {"sm_90", "sm_100", "sm_120"} == {found.arch for _, found in resources}
    assert {
        *("nop.triton", "read.triton", "copy.triton", "linear_greedy.fused", "linear_stochastic.fused"),
        *("linear_block.fused", "tree_greedy.fused", "tree_greedy.lazy", "tree_target_only.fused"),
        *("tree_target_only.lazy", "tree_multi_round.fused"),
    } <= {name for name, _ in resources}
    for name, found in resources:
        assert found.fits, name
    spilled = {
        (each.kernel, each.config["BLOCK"]): found.spill_store_bytes
        for each in result.measurements
        for found in each.resources
        if found.spill_store_bytes or found.spill_load_bytes
    }

    assert [("delta_matrix.quick", 128)] == list(spilled), "what spills all the same, and why, is in a decision"
    assert max(spilled.values()) < 256
