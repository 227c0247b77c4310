"""Probes and a limit in, a plan out: what the payload is to do, in order."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from recon.kernels.copy import spec as copy_spec
from recon.kernels.gemm import spec as gemm_spec
from recon.kernels.linear_block import spec as block_spec
from recon.kernels.linear_greedy import spec as linear_spec
from recon.kernels.linear_stochastic import spec as chain_spec
from recon.kernels.nop import spec as nop_spec
from recon.kernels.read import spec as read_spec
from recon.kernels.tree_greedy import spec as tree_spec
from recon.kernels.tree_multi_round import spec as rounds_spec
from recon.kernels.tree_target_only import spec as target_spec
from recon.kernels.wire import SCHEMA_VERSION, Axes, Check, Entry
from recon.kernels.wire import Plan as Plan  # noqa: PLC0414 - named where a plan is asked for
from recon.probes.floors import FLOORS
from recon.probes.linear_vs_tree import IN_TORCH, LINEAR_VS_TREE
from recon.probes.probe import Probe, Subject
from recon.probes.sampling import SAMPLING

SAMPLES = 50
ARCHS = (90, 100, 120)
PROBES = (*FLOORS, LINEAR_VS_TREE, IN_TORCH, *SAMPLING)
"""Floors first: the times that follow are read against them."""

_SPECS = (
    *(nop_spec, read_spec, copy_spec, gemm_spec),
    *(linear_spec, chain_spec, block_spec),
    *(tree_spec, target_spec, rounds_spec),
)
BYTES_OF: dict[str, Callable[[Axes], int]] = {spec.NAME: spec.bytes_of for spec in _SPECS}
MATRIX_FLOPS_OF: dict[str, Callable[[Axes], int]] = {spec.NAME: spec.matrix_flops_of for spec in _SPECS}
VISITED_BYTES_OF: dict[str, Callable[[Axes], int]] = {
    spec.NAME: spec.visited_bytes_of for spec in (tree_spec, target_spec)
}
GPU_ALONE = frozenset(("auto", "compiled_walk"))
"""Variants that the interpreter need not check, or cannot: one of two others, and what torch.compile makes."""


def bytes_moved(kernel: str, variant: str, axes: Axes, config: Axes) -> int:
    """Fewest bytes that a variant must move: of all rows, or of those alone that are visited."""
    if "lazy" in {variant, config.get("form")}:
        return VISITED_BYTES_OF[kernel](axes)
    return BYTES_OF[kernel](axes)


@dataclass(frozen=True, slots=True)
class Level:
    """How much a probe may take of a GPU."""

    name: str
    memory_bytes: int
    memory_fraction: float
    """Of the memory that is free at the start."""
    deadline_s: float
    """Compilation counted."""
    device_limit_s: float
    """Compilation not counted."""


QUICK = Level("quick", 2 << 30, 0.5, 240.0, 60.0)
FULL = Level("full", 1 << 50, 0.5, 1800.0, 1500.0)
PATIENCE_S = 150.0
"""Silence of a kernel on a GPU, its compilation counted, after which it hangs; without one, twice as long."""
LEVELS = {level.name: level for level in (QUICK, FULL)}


def plan_gpu(
    level: Level = QUICK,
    *,
    gpu: str = "",
    allow_busy: bool = False,
    seed: int = 0,
    probes: tuple[Probe, ...] = PROBES,
    shapes: Axes | None = None,
    max_memory_bytes: int = 0,
) -> Plan:
    """What to check and time on a GPU: the variants of a case stand side by side, so that they are timed together.

    Args:
        level: How much of the GPU it may take.
        gpu: Index or UUID; empty for the first that is visible.
        allow_busy: Measure although others use the GPU, or it is in a mode that is not to be touched.
        seed: Of all random inputs.
        probes: The questions.
        shapes: Axes of a model, which take the place of those of the cases.
        max_memory_bytes: Most of its memory, where that is less than the level's; 0 for that.
    """
    memory = min(level.memory_bytes, max_memory_bytes or level.memory_bytes)
    entries = _entries(probes, lambda probe: _cases(probe, replace(level, memory_bytes=memory), shapes or {}))
    return Plan(
        schema_version=SCHEMA_VERSION,
        mode="gpu",
        gpu=gpu,
        allow_busy=allow_busy,
        entries=entries,
        checks=tuple(check for probe in probes for check in _checks(probe, probe.checks)),
        archs=(),
        seed=seed,
        samples=SAMPLES,
        memory_limit_bytes=memory,
        memory_fraction=level.memory_fraction,
        deadline_s=level.deadline_s,
        device_limit_s=level.device_limit_s,
        patience_s=PATIENCE_S,
    )


def plan_interpret(*, seed: int = 0, deadline_s: float = 300.0, probes: tuple[Probe, ...] = PROBES) -> Plan:
    """What to check in the interpreter: every variant of every kernel, on shapes that are small and awkward."""
    checked = tuple(probe for probe in probes if probe.interpreted)
    return Plan(
        schema_version=SCHEMA_VERSION,
        mode="interpret",
        gpu="",
        allow_busy=False,
        entries=_entries(checked, lambda _: ({},), GPU_ALONE),
        checks=tuple(check for probe in checked for check in _checks(probe, probe.interpreted)),
        archs=(),
        seed=seed,
        samples=0,
        memory_limit_bytes=0,
        memory_fraction=0.0,
        deadline_s=deadline_s,
        patience_s=2 * PATIENCE_S,
    )


def plan_compile(archs: tuple[int, ...] = ARCHS, *, deadline_s: float = 900.0) -> Plan:
    """What to build without running it: each kernel of ours once, in all its production configurations."""
    kernels = dict.fromkeys(subject.kernel for probe in PROBES for subject in (*probe.kernels, *probe.baselines))
    names = [kernel for kernel in kernels if kernel != gemm_spec.NAME]  # the vendor's library is not ours to build
    return Plan(
        schema_version=SCHEMA_VERSION,
        mode="compile",
        gpu="",
        allow_busy=False,
        entries=tuple(Entry(number, "compile", "subject", name, "", {}) for number, name in enumerate(names)),
        checks=(),
        archs=archs,
        seed=0,
        samples=0,
        memory_limit_bytes=0,
        memory_fraction=0.0,
        deadline_s=deadline_s,
        patience_s=2 * PATIENCE_S,
    )


def _entries(
    probes: tuple[Probe, ...],
    cases_of: Callable[[Probe], tuple[Axes, ...]],
    without: frozenset[str] = frozenset(),
) -> tuple[Entry, ...]:
    entries: list[Entry] = []
    for probe in probes:
        for axes in cases_of(probe):
            for subject, role in _roles(probe):
                if subject.variant in without:
                    continue
                entries.append(Entry(len(entries), probe.name, role, subject.kernel, subject.variant, axes))
    return tuple(entries)


def _roles(probe: Probe) -> Iterator[tuple[Subject, str]]:
    """Subjects with their roles; the variants of one kernel stand together."""
    wanted = [(subject, "subject" if probe.floors else "floor") for subject in probe.kernels]
    wanted += [(subject, "baseline") for subject in probe.baselines]
    order = list(dict.fromkeys(subject.kernel for subject, _ in wanted))
    yield from sorted(wanted, key=lambda pair: order.index(pair[0].kernel))


def _cases(probe: Probe, level: Level, shapes: Axes) -> tuple[Axes, ...]:
    """Cases of the level that fit its memory limit, each once, in the shapes of a model."""
    cases: list[Axes] = []
    for axes in probe.cases[: probe.quick] if level.name == QUICK.name else probe.cases:
        shaped = {name: shapes.get(name, value) for name, value in axes.items()}
        if shaped not in cases:
            cases.append(shaped)
    kernels = {subject.kernel for subject, _ in _roles(probe)}
    return tuple(axes for axes in cases if max(BYTES_OF[kernel](axes) for kernel in kernels) <= level.memory_bytes)


def _checks(probe: Probe, cases: tuple[Axes, ...]) -> Iterator[Check]:
    for kernel in dict.fromkeys(subject.kernel for subject, _ in _roles(probe)):
        yield from (Check(kernel, axes) for axes in cases)
