"""Wire lines in, measurements out. A check that failed is a measurement without times, and an unknown."""

import json
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace

from recon.kernels import wire
from recon.probes.complaint import in_a_line
from recon.probes.plan import BYTES_OF, MATRIX_FLOPS_OF, bytes_moved, copies, matrix_flops
from recon.probes.spread import spread_of
from recon.records.host import Gpu
from recon.records.measurement import Agreement, Burst, Device, DeviceState, Floor, Measurement, Resources
from recon.records.unknown import Unknown

MOST_SAMPLES = 100_000
LONGEST_US = 3.6e9
MOST_FAILURES = 64
"""Of one entry: each build of it, for each target, may fail once."""
EARLIER = "; taken over from an earlier run of the same payload on the same device"


@dataclass(frozen=True, slots=True)
class Ceilings:
    """What the floors measured on this device; zero where one was not measured."""

    launch_us: float = 0.0
    read_bytes_per_s: float = 0.0
    matrix_flops_per_s: float = 0.0
    copy_bytes_per_s: float = 0.0


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
    _begun: list[int] = field(default_factory=list)
    """Entries as they were begun."""

    @property
    def _answered(self) -> set[int]:
        return {each.entry for each in self.results} | self.taken_over.keys() | self.behaved.keys()

    @property
    def has_learned(self) -> bool:
        """Whether anything was said of a kernel or of a function: a failure, too, is a result."""
        return bool(self._answered or self.compiled or self.failed)

    @property
    def unanswered(self) -> frozenset[int]:
        """Entries of which nothing was said. What is built has no word of its own for its end: the next one's begin.

        What is timed only beside a function of an engine is not timed where that failed.
        """
        every = frozenset(range(len(self.plan.entries)))
        if self.plan.mode == "compile":
            return every - set(self._begun) | (set() if self.done else set(self._begun[-1:]))
        failed = {each.entry for each in self.failed}
        wrong = {each.entry for each in self.results if each.agreement and each.agreement.mismatches}
        beside = {_pair(self.entry(number)) for number in failed | wrong} - {None}
        left = every - self._answered - failed
        return frozenset(number for number in left if _pair(self.entry(number)) not in beside)

    @property
    def answered(self) -> int:
        """How many entries are done."""
        return len(self.plan.entries) - len(self.unanswered)

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
                self._begun.append(line.entry)

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
        if isinstance(line, wire.Result | wire.Known | wire.Behaved) and line.entry in self._answered:
            raise wire.WireError(f"entry {line.entry} was answered twice")
        if isinstance(line, wire.Failed) and sum(each.entry == line.entry for each in self.failed) == MOST_FAILURES:
            raise wire.WireError(f"entry {line.entry} failed more than {MOST_FAILURES} times")
        if isinstance(line, wire.Result) and line.timing is not None:
            _refuse_odd(line.timing.samples_us, self.plan.mode)
            if line.timing.burst_us:
                _refuse_odd(line.timing.burst_us, self.plan.mode)

    def _take_over(self, number: int) -> None:
        """Keep what an earlier run measured; what a damaged one calls by another name is a failure.

        Raises:
            WireError: none did, of this payload on this device.
        """
        entry = self.entry(number)
        measured = self.known.get(self._key(entry))
        if measured is None:
            raise wire.WireError(f"entry {number} is called known, and no earlier run has it")
        if (measured.kernel, measured.case) != (wire.name_of(entry), entry.axes):
            why = f"the saved run that has its key calls it {measured.kernel}: --fresh measures it anew"
            self.failed.append(wire.Failed(number, "plan", why))
            return
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
            _unknown(f"{failure.stage} of {wire.name_of(entry)}", _words(entry.axes) or self.plan.mode, failure.why)
            for failure in self.failed
            for entry in (self.entry(failure.entry),)
        ]
        for result in self.results:
            if result.agreement and result.agreement.mismatches:
                entry = self.entry(result.entry)
                why = f"it disagrees with its reference, so it is not timed: {result.agreement.detail}"
                unknowns.append(_unknown(f"time of {wire.name_of(entry)}", _words(entry.axes), why))
        return (*unknowns, *self._ceilings_missed())

    def _ceilings_missed(self) -> tuple[Unknown, ...]:
        held = [entry for entry, _ in self._timed() if entry.role != "floor"]
        ceilings = self._ceilings()
        needed = {
            "launch_us": bool(held),
            "read_bytes_per_s": any(not copies(entry.kernel, entry.variant) for entry in held),
            "copy_bytes_per_s": any(copies(entry.kernel, entry.variant) for entry in held),
            "matrix_flops_per_s": any(matrix_flops(entry.kernel, entry.variant, entry.axes) for entry in held),
        }
        missed = [name for name, wanted in needed.items() if wanted and not getattr(ceilings, name)]
        why = "without it the least time of a kernel is not known"
        return tuple(Unknown(f"ceiling {name}", "this device", why) for name in missed)

    def _timed(self) -> Iterator[tuple[wire.Entry, Sequence[float]]]:
        """The samples of entries that were timed, now or earlier."""
        yield from ((self.entry(each.entry), each.timing.samples_us) for each in self.results if each.timing)
        yield from ((self.entry(number), each.samples_us) for number, each in self.taken_over.items() if each.spread)

    def _ceilings(self) -> Ceilings:
        return ceilings_of(self._timed())

    def _burst_ceilings(self) -> Ceilings:
        now = ((self.entry(each.entry), each.timing.burst_us) for each in self.results if each.timing)
        before = ((self.entry(number), each.burst.samples_us) for number, each in self.taken_over.items() if each.burst)
        return ceilings_of((*now, *before))

    def _again(self, number: int, ceilings: Ceilings) -> Measurement:
        """What an earlier run measured, against the ceilings that are known now."""
        measured, entry = self.taken_over[number], self.entry(number)
        timed = measured.spread is not None and entry.role != "floor" and measured.captured
        method = f"{measured.method.removesuffix(EARLIER)}{EARLIER}" if measured.method else ""
        return replace(
            measured,
            probe=entry.probe,
            role=entry.role,
            floor=floor_of(entry, ceilings, measured.config) if timed else None,
            method=method,
            burst=replace(measured.burst, floor=floor_of(entry, self._burst_ceilings(), measured.config))
            if timed and measured.burst
            else measured.burst,
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
            floor=floor_of(entry, ceilings, config) if timing and timing.captured and entry.role != "floor" else None,
            resources=(),
            config=config,
            method=method_of(timing) if timing else "",
            device=self._device(),
            before=_state(result.before),
            after=_state(result.after),
            key=self._key(entry),
            captured=timing.captured if timing else True,
            burst=self._burst(entry, timing, config, result.burst) if timing else None,
        )

    def _burst(
        self, entry: wire.Entry, timing: wire.Timing, config: wire.Axes, state: wire.State | None
    ) -> Burst | None:
        if not timing.burst_us:
            return None
        is_bound = timing.captured and entry.role != "floor"
        floor = floor_of(entry, self._burst_ceilings(), config) if is_bound else None
        return Burst(spread_of(timing.burst_us), timing.burst_us, floor, _state(state))

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
        if self.hello is None:
            return ""
        return wire.key_of(self.plan, self.hello.device, wire.name_of(entry), entry.axes, subject=entry.subject)

    def _built_key(self, name: str, config: wire.Axes) -> str:
        return wire.key_of(self.plan, self.hello.device, name, {}, config) if self.hello else ""


def _pair(entry: wire.Entry) -> tuple[object, ...] | None:
    """What an engine's function shares with the kernel that it is timed beside; None of any other entry."""
    return (entry.subject, *sorted(entry.axes.items())) if entry.subject >= 0 else None


def ceilings_of(timed: Iterable[tuple[wire.Entry, Sequence[float]]]) -> Ceilings:
    """The shortest launch and the highest rates that the floors reached, by their samples."""
    launches, reads, copies, rates = [], [], [], []
    for entry, samples_us in timed:
        if entry.role != "floor" or not samples_us:
            continue
        median_us = statistics.median(samples_us)
        if entry.kernel == "nop":
            launches.append(median_us)
        elif entry.kernel == "read":
            reads.append(BYTES_OF["read"](entry.axes) / median_us * 1e6)
        elif entry.kernel == "copy":
            copies.append(BYTES_OF["copy"](entry.axes) / median_us * 1e6)
        elif entry.kernel == "gemm":
            rates.append(MATRIX_FLOPS_OF["gemm"](entry.axes) / median_us * 1e6)
    fastest = (max(found, default=0.0) for found in (reads, rates, copies))
    return Ceilings(min(launches, default=0.0), *fastest)


def floor_of(entry: wire.Entry, ceilings: Ceilings, config: wire.Axes) -> Floor | None:
    """The least time for a case: the largest of launch, bytes and operations; None where none can be told."""
    moved = bytes_moved(entry.kernel, entry.variant, entry.axes, config)
    flops = matrix_flops(entry.kernel, entry.variant, entry.axes)
    floors = []
    if ceilings.launch_us:
        floors.append(Floor(ceilings.launch_us, "launch", "one empty launch inside a CUDA graph, measured here"))
    copied = copies(entry.kernel, entry.variant)
    rate = ceilings.copy_bytes_per_s if copied else ceilings.read_bytes_per_s
    if rate:
        kind = "bandwidth of a copy" if copied else "read-only bandwidth"
        detail = f"{moved} bytes over {rate / 1e12:.3f} TB/s, the {kind} measured here"
        floors.append(Floor(moved / rate * 1e6, "memory", detail))
    if flops and ceilings.matrix_flops_per_s:
        rate = ceilings.matrix_flops_per_s
        detail = f"{flops} operations over {rate / 1e12:.1f} TFLOP/s, the bf16 matrix rate measured here"
        floors.append(Floor(flops / rate * 1e6, "arithmetic", detail))
    return max(floors, key=lambda floor: floor.us, default=None)


def method_of(timing: wire.Timing) -> str:
    """How the samples were taken, in a sentence or two."""
    cold = "more than" if timing.cold else "NOT more than"
    calls = f"{timing.calls} calls over {timing.sets} input sets, {timing.rotated_bytes} bytes in all"
    rounds = f"timed by events after {timing.warmup_replays} to warm up"
    text = (
        f"CUDA graph of {calls} ({cold} three times L2), {len(timing.samples_us)} replays {rounds}; each sample holds"
    )
    text += f" 1/{timing.calls} of a replay's own {timing.replay_overhead_us:.2f} us"
    if not timing.captured:
        text = f"NOT a graph: {calls} ({cold} three times L2), queued one by one, what the host does and waits for"
        text += f" counted, {len(timing.samples_us)} rounds {rounds}"
    if timing.configs_tried > 1:
        text += f"; configuration chosen among {timing.configs_tried} on other data"
    if timing.burst_us:
        text += f"; {len(timing.burst_us)} more replays after rests of {wire.REST_S:.2f} s"
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


def _unknown(what: str, where: str, said: str) -> Unknown:
    """What a program said, of which people get a line."""
    why = in_a_line(said)
    return Unknown(what, where, why, "" if said.strip() == why else said)


def _words(axes: wire.Axes) -> str:
    return " ".join(f"{name}={value}" for name, value in axes.items())
