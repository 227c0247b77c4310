"""A plan, carried out: on a GPU, in Triton's interpreter, or by the compiler. A failure is a line, not the end."""

import gc
import importlib
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby

import torch
import triton

from . import bench as benches
from .allotted import objection as slurm_objects
from .card import Card, card_of
from .check import check
from .device import (
    HIDDEN,
    Reading,
    Smi,
    describe_cpu,
    describe_gpu,
    objections,
    objections_without_smi,
    uuid_of,
    visible_gpu,
)
from .op import Op
from .stream import Cuda
from .wire import (
    ENGINE,
    SCHEMA_VERSION,
    Agreement,
    Axes,
    Behaved,
    Done,
    Entry,
    Failed,
    Hello,
    Line,
    Plan,
    Refused,
    Result,
    Started,
    State,
)

Write = Callable[[Line], None]
TUNING_SEED, TIMING_SEED = 1_000_003, 2_000_003
"""Added to the plan's seed, so that configurations are chosen on other data than they are timed on."""
INTERPRETER_SINCE = (3, 3)
BEHAVIOUR = "behaviour"
"""Role of an entry that calls a function of an engine."""
SETTLE_S = 1.5
INTERPRETER = Card(multiprocessors=1, bytes_per_s=1e9)
LARGEST_L2_BYTES = 128 << 20
"""Taken for the L2 cache where torch does not know its size: as large as any so far."""
KERNELS = frozenset(
    (
        *("delta_matrix", "delta_step", "delta_commit", "state_scatter"),
        *("ssd_matrix", "ssd_step", "ssd_commit", "conv_tree", "conv_commit"),
        *("nop", "read", "copy", "gemm"),
        *("linear_greedy", "linear_stochastic", "linear_block"),
        *("tree_greedy", "tree_target_only", "tree_multi_round"),
        *("kv_compact", "tree_best_first", "tree_topk", "gemm_fp8", "grouped_gemm"),
        *("tree_attention", "dense_attention"),
    )
)


def op_of(kernel: str) -> Op:
    """What the folder of a kernel exports.

    Raises:
        KeyError: there is no such kernel.
    """
    if kernel not in KERNELS:
        raise KeyError(kernel)
    op: Op = importlib.import_module(f".{kernel}.kernel", __package__).OP
    return op


def op_for(plan: Plan, entry: Entry, device: torch.device) -> Op:
    """The kernel of an entry, with the engine's function that it is timed beside where there is one.

    Raises:
        Exception: whatever loading that function raises.
    """
    op = op_of(entry.kernel)
    if entry.subject < 0:
        return op
    from .behaviour.timed import beside  # noqa: PLC0415  most plans have none

    return beside(op, plan.subjects[entry.subject], device)


def _checked_as(entry: Entry) -> tuple[object, ...]:
    """What shares one comparison with the reference: a variant on all cases, beside an engine's function on each."""
    return (entry.kernel, entry.variant, *((entry.subject, *sorted(entry.axes.items())) if entry.subject >= 0 else ()))


def in_interpreter(plan: Plan, write: Write) -> int:
    """Check every entry on the CPU, nothing timed; the exit code."""
    begin = time.monotonic()
    write(Hello(SCHEMA_VERSION, plan.mode, describe_cpu(), State()))
    device, too_old = torch.device("cpu"), _too_old(triton.__version__)
    interrupted = False
    try:
        for entry in _until(plan, begin, write):
            write(Started(entry.id, "check"))
            if too_old:
                write(Failed(entry.id, "check", too_old))
                continue
            if entry.role == BEHAVIOUR:
                write(_behaved(plan, entry, device))
                continue
            try:
                begun = Started(entry.id, "check")
                agreement = _agreement(plan, entry, device, INTERPRETER, partial(write, begun))
            except Exception as error:  # noqa: BLE001  a kernel may raise anything; the others go on
                write(Failed(entry.id, "check", _words(error)))
            else:
                write(Result(entry.id, agreement, None, None, None))
    except KeyboardInterrupt:
        interrupted = True
    write(Done(interrupted, time.monotonic() - begin, 0.0))
    return 130 if interrupted else 0


def _too_old(version: str) -> str:
    """Why the interpreter of a version of Triton cannot judge a kernel; empty if it can.

    That of 3.1 left the output of a plain copy unwritten on current torch (seen), so it would accuse every kernel.
    """
    numbers = tuple(int(word) for word in version.split(".")[:2] if word.isdecimal())
    return "" if numbers >= INTERPRETER_SINCE else f"the interpreter of Triton {version} is too old to judge by"


def in_compiler(plan: Plan, write: Write) -> int:
    """Build every entry for every architecture; the exit code."""
    from .compile_only import compile_all  # noqa: PLC0415  older versions of Triton lack what it needs

    begin = time.monotonic()
    write(Hello(SCHEMA_VERSION, plan.mode, describe_cpu(), State()))
    interrupted = False
    try:
        for entry in _until(plan, begin, write):
            write(Started(entry.id, "compile"))
            for line in compile_all(entry, op_of(entry.kernel), plan.archs):
                write(line)
    except KeyboardInterrupt:
        interrupted = True
    write(Done(interrupted, time.monotonic() - begin, 0.0))
    return 130 if interrupted else 0


def on_gpu(plan: Plan, write: Write) -> int:
    """Check and time every entry on one GPU; the exit code."""
    begin = time.monotonic()
    visible = visible_gpu()
    if not plan.gpu and visible in HIDDEN:
        write(Refused("no_gpu", f"CUDA_VISIBLE_DEVICES is {os.environ['CUDA_VISIBLE_DEVICES']!r}"))
        return 1
    if not plan.allow_busy and (reason := slurm_objects(plan.gpu, os.environ, uuid_of)):
        write(Refused("not_allotted", reason))
        return 1
    smi = Smi(plan.gpu or visible)
    reading = smi.read() if plan.allow_busy else _settled(smi)
    if not plan.allow_busy and (reasons := _objections(smi, reading)):
        write(Refused("gpu_busy", "; ".join(reasons)))
        return 1
    os.environ["CUDA_VISIBLE_DEVICES"] = reading.uuid if reading else smi.gpu
    if not torch.cuda.is_available():
        asked = f" that is GPU {plan.gpu}" if plan.gpu else ""
        seen = f"torch {torch.__version__} sees no CUDA device{asked}"
        write(Refused("no_gpu", "; ".join(filter(None, (seen, smi.silent or smi.complaint)))))
        return 1
    device = describe_gpu(reading)
    if not plan.allow_busy and reading is None and (reasons := objections_without_smi(device)):
        write(Refused("gpu_busy", "; ".join(reasons)))
        return 1
    write(Hello(SCHEMA_VERSION, plan.mode, device, reading.state if reading else State()))
    if plan.entries and plan.entries[0].role == BEHAVIOUR:
        return _behaviours(plan, write, begin)
    limit = int(min(plan.memory_limit_bytes, plan.memory_fraction * device.free_bytes))
    bench = benches.Bench(
        Cuda(),
        torch.device("cuda", 0),
        card_of(device.multiprocessors, plan.library),
        device.l2_bytes or LARGEST_L2_BYTES,
        limit,
        plan.samples,
        smi,
        plan.bursts,
    )
    gc.collect()
    gc.freeze()  # each graph capture collects garbage: what was imported need not be looked at again
    return _Session(plan, write, bench, begin).run()


def _behaviours(plan: Plan, write: Write, begin: float) -> int:
    """Call engines' functions on crafted requests, on the GPU; the exit code."""
    interrupted = False
    try:
        for entry in _until(plan, begin, write):
            write(Started(entry.id, "check"))
            write(_behaved(plan, entry, torch.device("cuda", 0)))
    except KeyboardInterrupt:
        interrupted = True
    seconds = time.monotonic() - begin
    write(Done(interrupted, seconds, seconds))
    return 130 if interrupted else 0


def _behaved(plan: Plan, entry: Entry, device: torch.device) -> Behaved:
    from .behaviour.check import answer  # noqa: PLC0415  most plans have none

    return Behaved(entry.id, answer(plan.subjects[entry.subject], device))


def _settled(smi: Smi) -> Reading | None:
    """The GPU as nvidia-smi sees it; once more if it was busy, since it tells of the last second."""
    reading = smi.read()
    if reading and reading.state.utilization_percent not in {"", "0"}:
        time.sleep(SETTLE_S)
        reading = smi.read() or reading
    return reading


def _objections(smi: Smi, reading: Reading | None) -> list[str]:
    if reading:
        return objections(reading)
    return [smi.silent] if smi.hung else []


@dataclass(slots=True)
class _Session:
    """One plan on one GPU."""

    plan: Plan
    write: Write
    bench: benches.Bench
    begin: float
    ready: float = field(default_factory=time.monotonic)
    """When the device was."""
    agreements: dict[tuple[object, ...], Agreement] = field(default_factory=dict)
    """By what `_checked_as` says."""

    def run(self) -> int:
        """Work through the groups of entries that share a kernel and a case; the exit code."""
        interrupted = False
        try:
            benches.calibrate(self.bench, op_of("nop"))
            entries = _until(self.plan, self.begin, self.write, lambda: self.device_s)
            for _, group in groupby(entries, key=lambda entry: (entry.kernel, sorted(entry.axes.items()))):
                self.group(list(group))
        except KeyboardInterrupt:
            interrupted = True
        self.write(Done(interrupted, time.monotonic() - self.begin, self.device_s))
        return 130 if interrupted else 0

    @property
    def device_s(self) -> float:
        """Time spent in measurements; checks, compilation and the start of the device left out."""
        return time.monotonic() - self.ready - self.bench.compile_s

    def group(self, entries: list[Entry]) -> None:
        """Check, tune and time the variants of one kernel on one case."""
        try:
            op = op_for(self.plan, entries[0], self.bench.device)
        except Exception as error:  # noqa: BLE001  an engine's code may raise anything where it is loaded
            self.failed(entries[0], "check", error)
            return
        chosen: dict[str, tuple[Axes, int]] = {}
        sound: list[Entry] = []
        for entry in entries:
            config = self.config_for(op, entry)
            if config:
                chosen[entry.variant] = config
                sound.append(entry)
        self.bench.stream.free()
        if sound and not any(each.variant.startswith(ENGINE) and each not in sound for each in entries):
            self.measure(op, sound, chosen)
        self.bench.stream.free()

    def config_for(self, op: Op, entry: Entry) -> tuple[Axes, int] | None:
        """The configuration to time a variant with, and how many were tried; None if it is not to be timed."""
        try:
            if not self.agrees(entry):
                return None
            self.write(Started(entry.id, "tune"))
            return benches.tune(self.bench, op, entry.variant, entry.axes, self.plan.seed + TUNING_SEED)
        except Exception as error:  # noqa: BLE001  a kernel may raise anything; the others go on
            self.failed(entry, "tune", error)
            return None

    def agrees(self, entry: Entry) -> bool:
        """Whether the variant agrees with its reference; one that does not is reported and not timed."""
        key = _checked_as(entry)
        if key not in self.agreements:
            begun = Started(entry.id, "check")
            self.write(begun)
            with self.bench.compiling():  # nearly all of it: each shape is another kernel to the compiler
                self.agreements[key] = _agreement(
                    self.plan, entry, self.bench.device, self.bench.card, lambda: self.write(begun)
                )
        agreement = self.agreements[key]
        if agreement.mismatches:
            self.write(Result(entry.id, agreement, None, None, None))
        return not agreement.mismatches

    def measure(self, op: Op, entries: list[Entry], chosen: dict[str, tuple[Axes, int]]) -> None:
        """Time the variants together, and report each."""
        for entry in entries:
            self.write(Started(entry.id, "measure"))
        try:
            measured = benches.measure(self.bench, op, chosen, entries[0].axes, self.plan.seed + TIMING_SEED)
        except Exception as error:  # noqa: BLE001  likewise
            for entry in entries:
                self.failed(entry, "measure", error)
            return
        for entry in entries:
            name = entry.variant
            agreement, wrong = self.agreements[_checked_as(entry)], measured.wrong[name]
            cases = agreement.cases + measured.compared[name]
            detail = f"after the clock: {wrong}" if wrong else agreement.detail
            self.write(
                Result(
                    entry.id,
                    Agreement(cases, int(bool(wrong)), detail) if op.compare else None,
                    None if wrong else measured.timings[name],
                    measured.before,
                    measured.after,
                    measured.burst,
                )
            )

    def failed(self, entry: Entry, stage: str, error: Exception) -> None:
        """Report a failure.

        Raises:
            KeyboardInterrupt: the device does not work any more, so that going on would only repeat the failure.
        """
        self.write(Failed(entry.id, stage, _words(error)))
        try:
            self.bench.stream.synchronize()
        except Exception as broken:
            self.write(Failed(entry.id, stage, f"the device is lost to this process: {_words(broken)}"))
            raise KeyboardInterrupt from broken


def _agreement(plan: Plan, entry: Entry, device: torch.device, card: Card, tell: Callable[[], None]) -> Agreement:
    op = op_for(plan, entry, device)
    cases = tuple(each.axes for each in plan.checks if each.kernel == entry.kernel)
    if entry.subject >= 0:  # an engine's function need not take shapes that are awkward
        cases = (entry.axes,)
    return check(op, op.variants[entry.variant], cases, seed=plan.seed, device=device, card=card, tell=tell)


def _until(plan: Plan, begin: float, write: Write, device_s: Callable[[], float] = lambda: 0.0) -> Iterator[Entry]:
    """Entries, until the time is over; those left over are said to have been left out."""
    for entry in plan.entries:
        if time.monotonic() - begin > plan.deadline_s:
            write(Failed(entry.id, "plan", f"left out: {plan.deadline_s:.0f} s were over"))
        elif device_s() > plan.device_limit_s:
            write(Failed(entry.id, "plan", f"left out: its {plan.device_limit_s:.1f} s of the device time were over"))
        else:
            yield entry


def _words(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:2000]
