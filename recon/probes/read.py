"""Wire lines in, measurements out. A check that failed is a measurement without times, and an unknown."""

import hashlib
import json
import statistics
from collections.abc import Iterable
from dataclasses import dataclass, field, fields

from recon.kernels import wire
from recon.probes.plan import BYTES_OF, MATRIX_FLOPS_OF
from recon.probes.spread import spread_of
from recon.records.host import Gpu
from recon.records.measurement import Agreement, Device, DeviceState, Floor, Measurement, Resources
from recon.records.unknown import Unknown


@dataclass(frozen=True, slots=True)
class Ceilings:
    """What the floors measured on this device; zero where one was not measured."""

    launch_us: float = 0.0
    read_bytes_per_s: float = 0.0
    matrix_flops_per_s: float = 0.0


@dataclass(slots=True)
class Reading:
    """What the lines of one run say, in the order in which they come."""

    plan: wire.Plan
    payload: str
    """Digest of the payload's files."""
    hello: wire.Hello | None = None
    refused: wire.Refused | None = None
    done: wire.Done | None = None
    results: list[wire.Result] = field(default_factory=list)
    compiled: list[wire.Compiled] = field(default_factory=list)
    failed: list[wire.Failed] = field(default_factory=list)

    def take(self, line: wire.Line) -> None:
        """Keep a line.

        Raises:
            WireError: it speaks of an entry that the plan does not have.
        """
        match line:
            case wire.Hello():
                self.hello = line
            case wire.Refused():
                self.refused = line
            case wire.Done():
                self.done = line
            case wire.Result():
                self.results.append(line)
            case wire.Compiled():
                self.compiled.append(line)
            case wire.Failed():
                self.failed.append(line)
            case wire.Started():
                pass
        if isinstance(line, wire.Started | wire.Result | wire.Compiled | wire.Failed):
            self.entry(line.entry)

    def entry(self, number: int) -> wire.Entry:
        """The plan's entry of this number.

        Raises:
            WireError: there is none.
        """
        if not 0 <= number < len(self.plan.entries):
            raise wire.WireError(f"a line speaks of entry {number}, the plan has {len(self.plan.entries)}")
        return self.plan.entries[number]

    def gpus(self) -> tuple[Gpu, ...]:
        """The GPU that was measured on."""
        if self.hello is None or self.plan.mode != "gpu":
            return ()
        device = self.hello.device
        index = int(self.plan.gpu) if self.plan.gpu.isdecimal() else 0
        return (Gpu(index, device.uuid, device.name, device.capability, device.memory_bytes, device.driver),)

    def measurements(self) -> tuple[Measurement, ...]:
        """One for each entry that was done, timed or not, or one for each build."""
        ceilings = ceilings_of((self.entry(result.entry), result) for result in self.results)
        return (*(self._measurement(result, ceilings) for result in self.results), *self._builds())

    def unknowns(self) -> tuple[Unknown, ...]:
        """What failed, disagreed, or could not be told for want of a ceiling."""
        unknowns = [
            Unknown(f"{failure.stage} of {name_of(entry)}", _words(entry.axes) or self.plan.mode, failure.why)
            for failure in self.failed
            for entry in (self.entry(failure.entry),)
        ]
        for result in self.results:
            if result.agreement and result.agreement.mismatches:
                entry = self.entry(result.entry)
                why = f"it disagrees with its reference, so it is not timed: {result.agreement.detail}"
                unknowns.append(Unknown(f"time of {name_of(entry)}", _words(entry.axes), why))
        return (*unknowns, *self._ceilings_missed())

    def _ceilings_missed(self) -> tuple[Unknown, ...]:
        timed = [(self.entry(result.entry), result) for result in self.results if result.timing]
        if not any(entry.role != "floor" for entry, _ in timed):
            return ()
        ceilings = ceilings_of(timed)
        missed = [item.name for item in fields(ceilings) if not getattr(ceilings, item.name)]
        missed = [name for name in missed if name != "matrix_flops_per_s"]  # no kernel here multiplies matrices
        why = "without it the least time of a kernel is not known"
        return tuple(Unknown(f"ceiling {name}", "this device", why) for name in missed)

    def _measurement(self, result: wire.Result, ceilings: Ceilings) -> Measurement:
        entry, timing = self.entry(result.entry), result.timing
        timed = timing is not None
        agreement = result.agreement
        config: wire.Axes = {}
        if timing:
            config = {**timing.config, "tried": timing.configs_tried}
        return Measurement(
            probe=entry.probe,
            kernel=name_of(entry),
            case=entry.axes,
            role=entry.role,
            mode=self.plan.mode,
            agreement=Agreement(agreement.cases, agreement.mismatches, agreement.detail) if agreement else None,
            spread=spread_of(timing.samples_us) if timing else None,
            samples_us=timing.samples_us if timing else (),
            bytes_moved=BYTES_OF[entry.kernel](entry.axes) if timed else 0,
            floor=floor_of(entry, ceilings) if timed and entry.role != "floor" else None,
            resources=(),
            config=config,
            method=method_of(timing) if timing else "",
            device=self._device(),
            before=_state(result.before),
            after=_state(result.after),
            key=self._key(name_of(entry), entry.axes, config),
        )

    def _builds(self) -> Iterable[Measurement]:
        builds: dict[str, list[wire.Compiled]] = {}
        for each in self.compiled:
            builds.setdefault(json.dumps([each.entry, each.variant, each.config]), []).append(each)
        for group in builds.values():
            first = group[0]
            entry = self.entry(first.entry)
            name = f"{entry.kernel}.{first.variant}"
            yield Measurement(
                probe=entry.probe,
                kernel=name,
                case={},
                role=entry.role,
                mode=self.plan.mode,
                agreement=None,
                spread=None,
                samples_us=(),
                bytes_moved=0,
                floor=None,
                resources=tuple(_resources(each) for each in group),
                config=first.config,
                method="built by Triton; registers and stack by cuobjdump, spills by a second run of ptxas",
                device=self._device(),
                before=None,
                after=None,
                key=self._key(name, {}, first.config),
            )

    def _device(self) -> Device | None:
        if self.hello is None:
            return None
        said = self.hello.device
        return Device(**{item.name: getattr(said, item.name) for item in fields(Device)})

    def _key(self, name: str, axes: wire.Axes, config: wire.Axes) -> str:
        said = self.hello.device if self.hello else None
        versions = [said.name, said.uuid, said.driver, said.torch, said.triton, said.python, said.cuda] if said else []
        whole = json.dumps([self.payload, self.plan.mode, versions, name, axes, config], sort_keys=True)
        return hashlib.sha256(whole.encode()).hexdigest()


def name_of(entry: wire.Entry) -> str:
    """Kernel and variant, e.g. `tree_greedy.fused`."""
    return f"{entry.kernel}.{entry.variant}" if entry.variant else entry.kernel


def ceilings_of(results: Iterable[tuple[wire.Entry, wire.Result]]) -> Ceilings:
    """The shortest launch and the highest rates that the floors reached."""
    launches, reads, rates = [], [], []
    for entry, result in results:
        if result.timing is None or entry.role != "floor":
            continue
        median_us = statistics.median(result.timing.samples_us)
        if entry.kernel == "nop":
            launches.append(median_us)
        elif entry.kernel == "read":
            reads.append(BYTES_OF["read"](entry.axes) / median_us * 1e6)
        elif entry.kernel == "gemm":
            rates.append(MATRIX_FLOPS_OF["gemm"](entry.axes) / median_us * 1e6)
    return Ceilings(min(launches, default=0.0), max(reads, default=0.0), max(rates, default=0.0))


def floor_of(entry: wire.Entry, ceilings: Ceilings) -> Floor | None:
    """The least time for a case: the largest of launch, bytes and operations; None where no ceiling was measured."""
    moved, flops = BYTES_OF[entry.kernel](entry.axes), MATRIX_FLOPS_OF[entry.kernel](entry.axes)
    floors = []
    if ceilings.launch_us:
        floors.append(Floor(ceilings.launch_us, "launch", "one empty launch inside a CUDA graph, measured here"))
    if ceilings.read_bytes_per_s:
        rate = ceilings.read_bytes_per_s
        detail = f"{moved} bytes over {rate / 1e12:.3f} TB/s, the read-only bandwidth measured here"
        floors.append(Floor(moved / rate * 1e6, "memory", detail))
    if flops and ceilings.matrix_flops_per_s:
        rate = ceilings.matrix_flops_per_s
        detail = f"{flops} operations over {rate / 1e12:.1f} TFLOP/s, the bf16 matrix rate measured here"
        floors.append(Floor(flops / rate * 1e6, "arithmetic", detail))
    return max(floors, key=lambda floor: floor.us, default=None)


def method_of(timing: wire.Timing) -> str:
    """How the samples were taken, in a sentence or two."""
    cold = "more than" if timing.cold else "NOT more than"
    text = (
        f"CUDA graph of {timing.calls} calls over {timing.sets} input sets, {timing.rotated_bytes} bytes in all"
        f" ({cold} three times L2), {len(timing.samples_us)} replays timed by events after {timing.warmup_replays} to"
        f" warm up; each sample holds 1/{timing.calls} of a replay's own {timing.replay_overhead_us:.2f} us"
    )
    if timing.configs_tried > 1:
        text += f"; configuration chosen among {timing.configs_tried} on other data"
    return f"{text}; {timing.note}" if timing.note else text


def _state(state: wire.State | None) -> DeviceState | None:
    if state is None:
        return None
    return DeviceState(**{item.name: getattr(state, item.name) for item in fields(DeviceState)})


def _resources(built: wire.Compiled) -> Resources:
    return Resources(
        arch=built.arch,
        registers=built.registers,
        shared_bytes=built.static_shared_bytes + built.dynamic_shared_bytes,
        stack_bytes=built.stack_bytes,
        spill_store_bytes=built.spill_store_bytes,
        spill_load_bytes=built.spill_load_bytes,
        shared_limit_bytes=built.shared_limit_bytes,
        fits=built.fits,
    )


def _words(axes: wire.Axes) -> str:
    return " ".join(f"{name}={value}" for name, value in axes.items())
