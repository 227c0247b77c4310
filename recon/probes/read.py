"""Wire lines in, measurements out. A check that failed is a measurement without times, and an unknown."""

import json
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace

from recon.kernels import wire
from recon.probes.plan import BYTES_OF, MATRIX_FLOPS_OF, bytes_moved
from recon.probes.spread import spread_of
from recon.records.host import Gpu
from recon.records.measurement import Agreement, Device, DeviceState, Floor, Measurement, Resources
from recon.records.unknown import Unknown

MOST_SAMPLES = 100_000
LONGEST_US = 3.6e9
EARLIER = "; taken over from an earlier run of the same payload on the same device"


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
    known: Mapping[str, Measurement] = field(default_factory=dict)
    """Measurements of an earlier run, by key, that need not be taken again."""
    hello: wire.Hello | None = None
    refused: wire.Refused | None = None
    done: wire.Done | None = None
    results: list[wire.Result] = field(default_factory=list)
    compiled: list[wire.Compiled] = field(default_factory=list)
    failed: list[wire.Failed] = field(default_factory=list)
    behaved: dict[int, str] = field(default_factory=dict)
    """What was learned of functions of an engine, by entry, as JSON."""
    taken_over: dict[int, Measurement] = field(default_factory=dict)
    """Of those, what the payload recognised, by entry."""
    _answered: set[int] = field(default_factory=set)

    def take(self, line: wire.Line) -> None:
        """Keep a line.

        Raises:
            WireError: it speaks of an entry that the plan does not have, comes out of turn, or says what cannot be.
        """
        self._check(line)
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
            case wire.Behaved():
                self.behaved[line.entry] = line.answer
            case wire.Known():
                self._take_over(line.entry)
            case wire.Started():
                pass

    def _check(self, line: wire.Line) -> None:
        """Refuse what no payload of ours says.

        Raises:
            WireError: this is such a line.
        """
        if isinstance(line, wire.Hello) and (self.hello is not None or line.mode != self.plan.mode):
            raise wire.WireError("the device was named twice, or for something else")
        if isinstance(line, wire.Started | wire.Known | wire.Result | wire.Compiled | wire.Failed | wire.Behaved):
            self.entry(line.entry)
            if self.hello is None:
                raise wire.WireError("a result came before the device was named")
        if isinstance(line, wire.Result | wire.Known | wire.Behaved):
            if line.entry in self._answered:
                raise wire.WireError(f"entry {line.entry} was answered twice")
            self._answered.add(line.entry)
        if isinstance(line, wire.Result) and line.timing is not None:
            _refuse_odd(line.timing.samples_us, self.plan.mode)

    def _take_over(self, number: int) -> None:
        """Keep what an earlier run measured.

        Raises:
            WireError: none did, of this payload on this device.
        """
        entry = self.entry(number)
        measured = self.known.get(self._key(entry))
        if measured is None:
            raise wire.WireError(f"entry {number} is called known, and no earlier run has it")
        self.taken_over[number] = measured

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
        """One for each entry that was done, timed or not, in the order of the plan; or one for each build."""
        ceilings = self._ceilings()
        done = {result.entry: self._measurement(result, ceilings) for result in self.results}
        done |= {number: self._again(number, ceilings) for number in self.taken_over}
        return (*(done[number] for number in sorted(done)), *self._builds())

    def unknowns(self) -> tuple[Unknown, ...]:
        """What failed, disagreed, or could not be told for want of a ceiling."""
        unknowns = [
            Unknown(f"{failure.stage} of {wire.name_of(entry)}", _words(entry.axes) or self.plan.mode, failure.why)
            for failure in self.failed
            for entry in (self.entry(failure.entry),)
        ]
        for result in self.results:
            if result.agreement and result.agreement.mismatches:
                entry = self.entry(result.entry)
                why = f"it disagrees with its reference, so it is not timed: {result.agreement.detail}"
                unknowns.append(Unknown(f"time of {wire.name_of(entry)}", _words(entry.axes), why))
        return (*unknowns, *self._ceilings_missed())

    def _ceilings_missed(self) -> tuple[Unknown, ...]:
        if not any(entry.role != "floor" for entry, _ in self._timed()):
            return ()
        ceilings = self._ceilings()
        missed = [item.name for item in fields(ceilings) if not getattr(ceilings, item.name)]
        missed = [name for name in missed if name != "matrix_flops_per_s"]  # no kernel here multiplies matrices
        why = "without it the least time of a kernel is not known"
        return tuple(Unknown(f"ceiling {name}", "this device", why) for name in missed)

    def _timed(self) -> Iterator[tuple[wire.Entry, Sequence[float]]]:
        """The samples of entries that were timed, now or earlier."""
        yield from ((self.entry(each.entry), each.timing.samples_us) for each in self.results if each.timing)
        yield from ((self.entry(number), each.samples_us) for number, each in self.taken_over.items() if each.spread)

    def _ceilings(self) -> Ceilings:
        return ceilings_of(self._timed())

    def _again(self, number: int, ceilings: Ceilings) -> Measurement:
        """What an earlier run measured, against the ceilings that are known now."""
        measured, entry = self.taken_over[number], self.entry(number)
        timed = measured.spread is not None and entry.role != "floor"
        method = f"{measured.method.removesuffix(EARLIER)}{EARLIER}" if measured.method else ""
        return replace(
            measured,
            probe=entry.probe,
            role=entry.role,
            floor=floor_of(entry, ceilings, measured.config) if timed else None,
            method=method,
        )

    def _measurement(self, result: wire.Result, ceilings: Ceilings) -> Measurement:
        entry, timing = self.entry(result.entry), result.timing
        timed = timing is not None
        agreement = result.agreement
        config: wire.Axes = {}
        if timing:
            config = {**timing.config, "tried": timing.configs_tried}
        return Measurement(
            probe=entry.probe,
            kernel=wire.name_of(entry),
            case=entry.axes,
            role=entry.role,
            mode=self.plan.mode,
            agreement=Agreement(agreement.cases, agreement.mismatches, agreement.detail) if agreement else None,
            spread=spread_of(timing.samples_us) if timing else None,
            samples_us=timing.samples_us if timing else (),
            bytes_moved=bytes_moved(entry.kernel, entry.variant, entry.axes, config) if timed else 0,
            floor=floor_of(entry, ceilings, config) if timed and entry.role != "floor" else None,
            resources=(),
            config=config,
            method=method_of(timing) if timing else "",
            device=self._device(),
            before=_state(result.before),
            after=_state(result.after),
            key=self._key(entry),
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
                key=self._built_key(name, first.config),
            )

    def _device(self) -> Device | None:
        if self.hello is None:
            return None
        said = self.hello.device
        return Device(**{item.name: getattr(said, item.name) for item in fields(Device)})

    def _key(self, entry: wire.Entry) -> str:
        return wire.key_of(self.plan, self.hello.device, wire.name_of(entry), entry.axes) if self.hello else ""

    def _built_key(self, name: str, config: wire.Axes) -> str:
        return wire.key_of(self.plan, self.hello.device, name, {}, config) if self.hello else ""


def ceilings_of(timed: Iterable[tuple[wire.Entry, Sequence[float]]]) -> Ceilings:
    """The shortest launch and the highest rates that the floors reached, by their samples."""
    launches, reads, rates = [], [], []
    for entry, samples_us in timed:
        if entry.role != "floor" or not samples_us:
            continue
        median_us = statistics.median(samples_us)
        if entry.kernel == "nop":
            launches.append(median_us)
        elif entry.kernel == "read":
            reads.append(BYTES_OF["read"](entry.axes) / median_us * 1e6)
        elif entry.kernel == "gemm":
            rates.append(MATRIX_FLOPS_OF["gemm"](entry.axes) / median_us * 1e6)
    return Ceilings(min(launches, default=0.0), max(reads, default=0.0), max(rates, default=0.0))


def floor_of(entry: wire.Entry, ceilings: Ceilings, config: wire.Axes) -> Floor | None:
    """The least time for a case: the largest of launch, bytes and operations; None where no ceiling was measured."""
    moved = bytes_moved(entry.kernel, entry.variant, entry.axes, config)
    flops = MATRIX_FLOPS_OF[entry.kernel](entry.axes)
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


def _refuse_odd(samples_us: Sequence[float], mode: str) -> None:
    """Refuse what cannot be times.

    Raises:
        WireError: they cannot.
    """
    if mode != "gpu":
        raise wire.WireError(f"times were taken in the mode {mode}")
    if not 0 < len(samples_us) <= MOST_SAMPLES or not all(0 < each < LONGEST_US for each in samples_us):
        raise wire.WireError("the samples of a kernel are no times")


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
