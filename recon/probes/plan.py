"""Probes and a limit in, a plan out: what the payload is to do, in order."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from recon.kernels.archs import SHARED_LIMIT_BYTES
from recon.kernels.conv_commit import spec as conv_commit_spec
from recon.kernels.conv_tree import spec as conv_spec
from recon.kernels.copy import spec as copy_spec
from recon.kernels.delta_commit import spec as delta_commit_spec
from recon.kernels.delta_matrix import spec as delta_spec
from recon.kernels.delta_step import spec as delta_step_spec
from recon.kernels.dense_attention import spec as dense_spec
from recon.kernels.gemm import spec as gemm_spec
from recon.kernels.gemm_fp8 import spec as fp8_spec
from recon.kernels.grouped_gemm import spec as grouped_spec
from recon.kernels.kv_compact import spec as compact_spec
from recon.kernels.linear_block import spec as block_spec
from recon.kernels.linear_greedy import spec as linear_spec
from recon.kernels.linear_stochastic import spec as chain_spec
from recon.kernels.nop import spec as nop_spec
from recon.kernels.read import spec as read_spec
from recon.kernels.ssd_commit import spec as ssd_commit_spec
from recon.kernels.ssd_matrix import spec as ssd_spec
from recon.kernels.ssd_step import spec as ssd_step_spec
from recon.kernels.state_scatter import spec as scatter_spec
from recon.kernels.tree_attention import spec as attention_spec
from recon.kernels.tree_best_first import spec as best_first_spec
from recon.kernels.tree_greedy import spec as tree_spec
from recon.kernels.tree_multi_round import spec as rounds_spec
from recon.kernels.tree_target_only import spec as target_spec
from recon.kernels.tree_topk import spec as topk_spec
from recon.kernels.wire import FIND, SCHEMA_VERSION, Axes, Check, Entry
from recon.kernels.wire import Plan as Plan  # noqa: PLC0414 - named where a plan is asked for
from recon.probes.attention import ATTENTIONS, GATHER
from recon.probes.compaction import COMPACTIONS
from recon.probes.floors import FLOORS
from recon.probes.linear_vs_tree import CHAINS_IN_TORCH, IN_TORCH, LINEAR_VS_TREE
from recon.probes.probe import Probe, Subject
from recon.probes.recurrent import RECURRENT
from recon.probes.sampling import SAMPLING
from recon.probes.tree_building import TREE_BUILDING
from recon.probes.weights import WEIGHTS
from recon.records.model import Model

SAMPLES = 50
BURSTS = {"quick": 3, "full": 7}
"""Samples of each kernel that follow a rest, by level."""
ARCHS = (90, 100, 120)
"""What is built for where nothing else is said."""
KNOWN_ARCHS = tuple(SHARED_LIMIT_BYTES)
"""Those whose limits are known, so that it can be told what fits."""
LIBRARY_THERE = FIND
"""As the library of an engine: the one that is looked for where the kernels run."""
GROUPS: dict[str, tuple[Probe, ...]] = {
    "acceptance": (LINEAR_VS_TREE, IN_TORCH, CHAINS_IN_TORCH, *SAMPLING),
    "caches": (*COMPACTIONS, *TREE_BUILDING),
    "recurrent": RECURRENT,
    "weights": WEIGHTS,
    "attention": ATTENTIONS,
}
"""Probes by what they are about, for who measures one thing at a time."""
PROBES = (*FLOORS, *(probe for group in GROUPS.values() for probe in group))
"""Floors first: the times that follow are read against them."""

_SPECS = (
    *(nop_spec, read_spec, copy_spec, gemm_spec),
    *(linear_spec, chain_spec, block_spec),
    *(tree_spec, target_spec, rounds_spec),
    *(compact_spec, best_first_spec, topk_spec),
    *(fp8_spec, grouped_spec),
    *(attention_spec, dense_spec),
    *(delta_spec, delta_step_spec, delta_commit_spec, scatter_spec),
    *(ssd_spec, ssd_step_spec, ssd_commit_spec, conv_spec, conv_commit_spec),
)
BYTES_OF: dict[str, Callable[[Axes], int]] = {spec.NAME: spec.bytes_of for spec in _SPECS}
MATRIX_FLOPS_OF: dict[str, Callable[[Axes], int]] = {spec.NAME: spec.matrix_flops_of for spec in _SPECS}
HELD_BYTES_OF: dict[str, Callable[[Axes], int]] = {
    spec.NAME: spec.held_bytes_of
    for spec in (
        *(compact_spec, grouped_spec, attention_spec, dense_spec),
        *(delta_commit_spec, scatter_spec, ssd_commit_spec, conv_commit_spec),
    )
}
COPYING_KERNELS = frozenset(
    spec.NAME for spec in (compact_spec, delta_commit_spec, scatter_spec, ssd_commit_spec, conv_spec, conv_commit_spec)
)
"""Those that write as much as they read, in each variant."""
VISITED_BYTES_OF: dict[str, Callable[[Axes], int]] = {
    spec.NAME: spec.visited_bytes_of for spec in (tree_spec, target_spec)
}
VENDORS = frozenset((gemm_spec.NAME, fp8_spec.NAME, dense_spec.NAME))
"""Kernels of other libraries, which are not ours to build."""
OF_ENGINES = frozenset(("fa3_chain", "fa3_cascade"))
"""Variants that call the library of an engine."""
GPU_ALONE = OF_ENGINES | {
    *("auto", "compiled", "compiled_walk", "torch_grouped"),
    *("sdpa_chain", "sdpa_mask", "flex_tree", GATHER.variant),
}
"""Variants that the interpreter need not check, or cannot: one of two others, and what a CPU does in another way."""


def copies(kernel: str, variant: str) -> bool:
    """Whether a variant writes as much as it reads: then its bytes are held against the bandwidth of a copy."""
    return kernel in COPYING_KERNELS or variant == GATHER.variant


def matrix_flops(kernel: str, variant: str, axes: Axes) -> int:
    """Fewest operations of matrix units that a variant needs: a gather needs none of those that it is for."""
    return 0 if variant == GATHER.variant else MATRIX_FLOPS_OF[kernel](axes)


def bytes_moved(kernel: str, variant: str, axes: Axes, config: Axes) -> int:
    """Fewest bytes that a variant must move: of all rows, or of those alone that are visited."""
    if "lazy" in {variant, config.get("form")}:
        return VISITED_BYTES_OF[kernel](axes)
    if variant == GATHER.variant:
        return dense_spec.gathered_bytes_of(axes)
    return BYTES_OF[kernel](axes)


def held_bytes(kernel: str, axes: Axes) -> int:
    """Device memory that one input set of a case takes."""
    return HELD_BYTES_OF.get(kernel, BYTES_OF[kernel])(axes)


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
WITHOUT_GPU_S = 900.0
"""Seconds after which no kernel is begun where no GPU is held: enough for all of them on few cores that others use."""
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
    model: Model | None = None,
    tp: int = 1,
    max_memory_bytes: int = 0,
    library: str = "",
) -> Plan:
    """What to check and time on a GPU: the variants of a case stand side by side, so that they are timed together.

    Args:
        level: How much of the GPU it may take.
        gpu: Index or UUID; empty for the first that is visible.
        allow_busy: Measure although others use the GPU, or it is in a mode that is not to be touched.
        seed: Of all random inputs.
        probes: The questions.
        model: The model whose shapes take the place of those of the cases.
        tp: GPUs that share it.
        max_memory_bytes: Most of its memory, where that is less than the level's; 0 for that.
        library: An engine's library that is timed beside ours: its path, or `wire.FIND`; empty for none.

    Raises:
        Usage: the model cannot be divided so.
    """
    memory = min(level.memory_bytes, max_memory_bytes or level.memory_bytes)
    without = frozenset() if library else OF_ENGINES
    entries = _entries(probes, lambda probe: _cases(probe, replace(level, memory_bytes=memory), model, tp), without)
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
        library=library,
        bursts=BURSTS[level.name],
    )


def plan_interpret(*, seed: int = 0, deadline_s: float = WITHOUT_GPU_S, probes: tuple[Probe, ...] = PROBES) -> Plan:
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


def plan_compile(archs: tuple[int, ...] = ARCHS, *, deadline_s: float = WITHOUT_GPU_S) -> Plan:
    """What to build without running it: each kernel of ours once, in all its production configurations."""
    kernels = dict.fromkeys(subject.kernel for probe in PROBES for subject in (*probe.kernels, *probe.baselines))
    names = [kernel for kernel in kernels if kernel not in VENDORS]
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


def left_out(level: Level = QUICK, *, model: Model | None = None, tp: int = 1, max_memory_bytes: int = 0) -> int:
    """How many cases are in no plan of a level, since one set of their inputs takes more memory than is allowed.

    Raises:
        Usage: the model cannot be divided so.
    """
    memory = min(level.memory_bytes, max_memory_bytes or level.memory_bytes)
    within, without = replace(level, memory_bytes=memory), replace(level, memory_bytes=FULL.memory_bytes)
    return sum(len(_cases(probe, without, model, tp)) - len(_cases(probe, within, model, tp)) for probe in PROBES)


def _cases(probe: Probe, level: Level, model: Model | None, tp: int) -> tuple[Axes, ...]:
    """Cases of the level that fit its memory limit, each once, in the shapes of a model."""
    cases = probe.cases
    if model:
        shapes = model.axes(tp)
        shaped = (({name: shapes.get(name, value) for name, value in axes.items()}) for axes in cases)
        cases = probe.of_model(model, tp) if probe.of_model else tuple(shaped)
    wanted: list[Axes] = []
    for axes in cases[: probe.quick] if level.name == QUICK.name else cases:
        if axes not in wanted:
            wanted.append(axes)
    kernels = {subject.kernel for subject, _ in _roles(probe)}
    return tuple(axes for axes in wanted if max(held_bytes(kernel, axes) for kernel in kernels) <= level.memory_bytes)


def _checks(probe: Probe, cases: tuple[Axes, ...]) -> Iterator[Check]:
    for kernel in dict.fromkeys(subject.kernel for subject, _ in _roles(probe)):
        yield from (Check(kernel, axes) for axes in cases)
