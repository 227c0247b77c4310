"""Time, taken so that it can be believed: CUDA graphs of many calls over rotating inputs, between two events.

One event pair round one small kernel reads 9 us for a kernel of 0.75 us, a warm L2 cache halves a time, and an idle GPU
runs at a fifth of its clock; so a graph holds many calls, its inputs together exceed three times L2, and the GPU works
for a while before the first sample. Raw samples leave here, never a mean.
"""

import math
import statistics
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial

import torch

from .card import Card
from .check import poison
from .device import Smi
from .op import Op, Variant, Work, answered_by
from .stream import Graph, Stream
from .wire import REST_S, Axes, State, Timing

GRAPH_CALLS = 8
"""Fewest calls in one graph."""
GRAPH_US = 2000.0
"""A graph of short calls is made this long, so that the 9 us of its replay fall under half a percent."""
TUNE_GRAPH_US = 300.0
MOST_CALLS = 4096
L2_MULTIPLE = 3
WARM_SETS = 16
"""Input sets of a case that finds them in the cache."""
HOST_SETS = 2
"""Likewise of a variant that the host queues: its own time is what counts, and it may be long."""
POINT_SHARE = 1 / 3
"""Of the warming up, for a point of a curve: the points before it kept the GPU at work."""
WARMUP_S = 0.15
TUNE_REPLAYS = 9
QUEUED_S = 0.15
"""Work queued while nvidia-smi is asked, so that it sees the GPU at work."""
MOST_QUEUED = 256
CALIBRATION_CALLS = 512
COMPARED_BYTES = 1 << 30
"""After the clock, outputs are compared again for as many input sets as read so much."""


class TooLarge(Exception):
    """A case needs more device memory than it may take."""


@dataclass(frozen=True, slots=True)
class Queued:
    """Launches that the host queues anew each time: what stands for a graph where none can be captured."""

    replay: Callable[[], None]


@dataclass(frozen=True, slots=True)
class Lane:
    """A captured graph, or what stands for one, with the samples taken of it."""

    variant: Variant
    graph: Graph
    calls: int
    sets: int
    """Input sets that the calls pass over."""
    samples_us: list[float] = field(default_factory=list)
    burst_us: list[float] = field(default_factory=list)


@dataclass(slots=True)
class Bench:
    """What all measurements of a run share."""

    stream: Stream
    device: torch.device
    card: Card
    l2_bytes: int
    memory_limit_bytes: int
    samples: int
    smi: Smi
    bursts: int = 0
    """Samples of each variant that follow a rest."""
    compile_s: float = 0.0
    """Time spent in checks and first launches, which compile."""
    replay_overhead_us: float = 0.0

    @contextmanager
    def compiling(self) -> Iterator[None]:
        """Count what happens inside as compilation."""
        begin = time.monotonic()
        try:
            yield
            self.stream.synchronize()
        finally:
            self.compile_s += time.monotonic() - begin

    def works(self, op: Op, axes: Axes, seed: int, names: Iterable[str], most: int = MOST_CALLS) -> list[Work]:
        """Fresh input sets of which each variant reads more than three times L2 in all, or as many as memory holds.

        Raises:
            TooLarge: not even one fits.
        """
        each, read = op.held_by(axes), min(op.moved_by(name, axes) for name in names)
        if each > self.memory_limit_bytes:
            raise TooLarge(f"one input set takes {each} bytes, the limit is {self.memory_limit_bytes}")
        sets = min(L2_MULTIPLE * self.l2_bytes // read + 1, self.memory_limit_bytes // each) if each else 1
        sets = min(sets, most, WARM_SETS if op.in_cache(axes) else MOST_CALLS)
        return [op.work(axes, seed + number, self.device) for number in range(sets)]

    def lane(
        self, variant: Variant, config: Axes, works: list[Work], least_us: float, *, captured: bool = True
    ) -> Lane:
        """A graph that passes over the works, each equally often, and takes `least_us` or longer.

        What a variant of the host does once for few works stands for one.
        """
        if not variant.captured:
            return self.passing(variant, config, works[:HOST_SETS], 1)
        passes = math.ceil(GRAPH_CALLS / len(works))
        lane = self.passing(variant, config, works, passes, captured=captured)
        lane.graph.replay()
        once_us = min(self.stream.replay_us(lane.graph) for _ in range(3))
        wanted = min(math.ceil(passes * least_us / max(once_us, 0.1)), MOST_CALLS // len(works))
        return self.passing(variant, config, works, wanted, captured=captured) if wanted > passes else lane

    def passing(self, variant: Variant, config: Axes, works: list[Work], passes: int, *, captured: bool = True) -> Lane:
        """A graph that passes so often over the works, or what stands for one."""

        def body() -> None:
            for _ in range(passes):
                for work in works:
                    variant.launch(work, config)

        graph = self.stream.capture(body) if variant.captured and captured else Queued(body)
        return Lane(variant, graph, passes * len(works), len(works))

    def can_capture(self, op: Op, chosen: dict[str, tuple[Axes, int]], work: Work) -> bool:
        """Whether code that is not ours can be captured. Where it cannot, nothing that is timed beside it is."""
        return not any(
            self.stream.waits(partial(op.variants[name].launch, work, config))
            for name, (config, _) in chosen.items()
            if op.variants[name].foreign
        )

    def sample(self, lane: Lane) -> None:
        """Time one replay of a lane."""
        lane.samples_us.append(self.stream.replay_us(lane.graph) / lane.calls)

    def burst(self, lanes: list[Lane]) -> State | None:
        """Time replays of lanes after rests, and read the GPU's state at the end; the first of a round has the coolest.

        So lanes take turns in being first.
        """
        for number in range(self.bursts):
            time.sleep(REST_S)
            turn = number % len(lanes)
            for lane in (*lanes[turn:], *lanes[:turn]):
                lane.burst_us.append(self.stream.replay_us(lane.graph) / lane.calls)
        reading = self.smi.read() if self.bursts else None
        return reading.state if reading else None

    def warm(self, lanes: list[Lane], seconds: float, queued_s: float) -> tuple[int, State | None]:
        """Keep the GPU at work for a while; replays of each lane, and the GPU's state as it was at work.

        Work for `queued_s` is queued while the state is asked for.
        """
        begin, rounds = time.monotonic(), 0
        while not rounds or time.monotonic() - begin < seconds:
            for lane in lanes:
                lane.graph.replay()
            self.stream.synchronize()
            rounds += 1
        queued = min(MOST_QUEUED, math.ceil(queued_s * rounds / max(time.monotonic() - begin, 1e-6)))
        for _ in range(queued):
            for lane in lanes:
                lane.graph.replay()
        reading = self.smi.read()  # while the queue is worked off
        self.stream.synchronize()
        return rounds + queued, reading.state if reading else None


@dataclass(frozen=True, slots=True)
class Measured:
    """Timings of several variants on one case, by name, with the state of the GPU at work."""

    timings: dict[str, Timing]
    wrong: dict[str, str]
    """Disagreements with the reference that timed launches left behind; empty strings for none."""
    compared: dict[str, int]
    """Input sets whose outputs were compared with the reference after the clock."""
    before: State | None
    after: State | None
    burst: State | None


def calibrate(bench: Bench, op: Op) -> None:
    """Learn what a replay costs beyond its launches, from graphs of one and of many empty ones."""
    (variant,) = op.variants.values()
    works = bench.works(op, {}, 0, op.variants)
    with bench.compiling():
        variant.launch(works[0], {})
    one = bench.passing(variant, {}, works, 1)
    many = bench.passing(variant, {}, works, CALIBRATION_CALLS)
    bench.warm([many], WARMUP_S, QUEUED_S)
    for lane in (one, many) * bench.samples:
        bench.sample(lane)
    bench.replay_overhead_us = max(0.0, statistics.median(one.samples_us) - statistics.median(many.samples_us))


def tune(bench: Bench, op: Op, name: str, axes: Axes, seed: int) -> tuple[Axes, int]:
    """The fastest configuration on one data set, and how many were tried; samples are taken on another."""
    variant = op.variants[name]
    configs = variant.configs(axes, bench.card)
    works = bench.works(op, axes, seed, (name,), MOST_CALLS if len(configs) > 1 else 1)
    for config in configs:
        with bench.compiling():
            variant.launch(works[0], config)
    if len(configs) == 1:
        return configs[0], 1
    lanes = [bench.lane(variant, config, works, TUNE_GRAPH_US) for config in configs]
    for _ in range(TUNE_REPLAYS):
        for lane in lanes:
            bench.sample(lane)
    medians = [statistics.median(lane.samples_us) for lane in lanes]
    return configs[medians.index(min(medians))], len(configs)


def measure(bench: Bench, op: Op, chosen: dict[str, tuple[Axes, int]], axes: Axes, seed: int) -> Measured:
    """Time variants with the configuration chosen for each, their samples interleaved so that none has a better hour.

    Raises:
        TooLarge: the case does not fit the memory.
    """
    works = bench.works(op, axes, seed, chosen)
    with bench.compiling():
        captured = bench.can_capture(op, chosen, works[0])
    lanes = {
        name: bench.lane(op.variants[name], config, works, GRAPH_US, captured=captured)
        for name, (config, _) in chosen.items()
    }
    share = POINT_SHARE if op.point(axes) else 1.0
    replays, before = bench.warm(list(lanes.values()), share * WARMUP_S, share * QUEUED_S)
    for _ in range(bench.samples):
        for lane in lanes.values():
            bench.sample(lane)
    _, after = bench.warm(list(lanes.values()), 0.0, share * QUEUED_S)
    burst = None if op.point(axes) else bench.burst(list(lanes.values()))
    compared = min(len(works), max(1, COMPARED_BYTES // max(1, op.held_by(axes))))
    wrong, notes, again = {}, {}, {}
    for name, lane in lanes.items():
        # What is not ours may write into buffers that it keeps: then the answers to the latest inputs are there alone.
        mine = works[: lane.sets]
        some = mine[-1:] if lane.variant.foreign else mine[:compared]
        wrong[name], again[name] = _compare_again(bench, op, lane, works, some), len(some)
        notes[name] = (lane.variant.note or op.note)(some[0])  # before another one writes there
    rotated = {name: op.moved_by(name, axes) * lane.sets for name, lane in lanes.items()}
    timings = {
        name: Timing(
            samples_us=tuple(lane.samples_us),
            calls=lane.calls,
            sets=lane.sets,
            rotated_bytes=rotated[name],
            cold=rotated[name] > L2_MULTIPLE * bench.l2_bytes,
            warmup_replays=replays,
            replay_overhead_us=bench.replay_overhead_us,
            captured=not isinstance(lane.graph, Queued),
            config=chosen[name][0],
            configs_tried=chosen[name][1],
            note=notes[name],
            burst_us=tuple(lane.burst_us),
        )
        for name, lane in lanes.items()
    }
    return Measured(timings, wrong, again, before, after, burst)


def _compare_again(bench: Bench, op: Op, lane: Lane, works: list[Work], some: list[Work]) -> str:
    """Empty where one more replay, into poisoned outputs, leaves what the reference says of some of the works."""
    compare = op.compared(lane.variant)
    if compare is None:
        return ""
    for work in works:
        op.reset(work)
        for tensor in work.outputs.values():
            poison(tensor)
    lane.graph.replay()
    bench.stream.synchronize()
    answers = (answered_by(lane.variant, work) for work in some)
    return next((wrong for wrong in map(compare, answers) if wrong), "")
