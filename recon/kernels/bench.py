"""Time, taken so that it can be believed: CUDA graphs of many calls over rotating inputs, between two events.

One event pair round one small kernel reads 9 us for a kernel of 0.75 us, a warm L2 cache halves a time, and an idle GPU
runs at a fifth of its clock; so a graph holds many calls, its inputs together exceed three times L2, and the GPU works
for a while before the first sample. Raw samples leave here, never a mean.
"""

import math
import statistics
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import torch

from .card import Card
from .check import poison
from .device import Smi
from .op import Op, Variant, Work
from .stream import Graph, Stream
from .wire import Axes, State, Timing

GRAPH_CALLS = 8
"""Fewest calls in one graph."""
GRAPH_US = 2000.0
"""A graph of short calls is made this long, so that the 9 us of its replay fall under half a percent."""
TUNE_GRAPH_US = 300.0
MOST_CALLS = 4096
L2_MULTIPLE = 3
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
class Lane:
    """A captured graph with the samples taken of it."""

    graph: Graph
    calls: int
    samples_us: list[float] = field(default_factory=list)


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

    def works(self, op: Op, axes: Axes, seed: int, names: Iterable[str]) -> list[Work]:
        """Fresh input sets of which each variant reads more than three times L2 in all, or as many as memory holds.

        Raises:
            TooLarge: not even one fits.
        """
        each, read = op.bytes_of(axes), min(op.moved_by(name, axes) for name in names)
        if each > self.memory_limit_bytes:
            raise TooLarge(f"one input set takes {each} bytes, the limit is {self.memory_limit_bytes}")
        sets = min(L2_MULTIPLE * self.l2_bytes // read + 1, self.memory_limit_bytes // each) if each else 1
        return [op.work(axes, seed + number, self.device) for number in range(sets)]

    def lane(self, variant: Variant, config: Axes, works: list[Work], least_us: float) -> Lane:
        """A graph that passes over the works, each equally often, and takes `least_us` or longer."""
        passes = math.ceil(GRAPH_CALLS / len(works))
        lane = self.captured(variant, config, works, passes)
        lane.graph.replay()
        once_us = min(self.stream.replay_us(lane.graph) for _ in range(3))
        wanted = min(math.ceil(passes * least_us / max(once_us, 0.1)), MOST_CALLS // len(works))
        return self.captured(variant, config, works, wanted) if wanted > passes else lane

    def captured(self, variant: Variant, config: Axes, works: list[Work], passes: int) -> Lane:
        """A graph that passes so often over the works."""

        def body() -> None:
            for _ in range(passes):
                for work in works:
                    variant.launch(work, config)

        return Lane(self.stream.capture(body), passes * len(works))

    def sample(self, lane: Lane) -> None:
        """Time one replay of a lane."""
        lane.samples_us.append(self.stream.replay_us(lane.graph) / lane.calls)

    def warm(self, lanes: list[Lane], seconds: float) -> tuple[int, State | None]:
        """Keep the GPU at work for a while; replays of each lane, and the GPU's state as it was at work."""
        begin, rounds = time.monotonic(), 0
        while not rounds or time.monotonic() - begin < seconds:
            for lane in lanes:
                lane.graph.replay()
            self.stream.synchronize()
            rounds += 1
        queued = min(MOST_QUEUED, math.ceil(QUEUED_S * rounds / max(time.monotonic() - begin, 1e-6)))
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
    compared: int
    """Input sets whose outputs were compared with the reference after the clock."""
    before: State | None
    after: State | None


def calibrate(bench: Bench, op: Op) -> None:
    """Learn what a replay costs beyond its launches, from graphs of one and of many empty ones."""
    (variant,) = op.variants.values()
    works = bench.works(op, {}, 0, op.variants)
    with bench.compiling():
        variant.launch(works[0], {})
    one = bench.captured(variant, {}, works, 1)
    many = bench.captured(variant, {}, works, CALIBRATION_CALLS)
    bench.warm([many], WARMUP_S)
    for lane in (one, many) * bench.samples:
        bench.sample(lane)
    bench.replay_overhead_us = max(0.0, statistics.median(one.samples_us) - statistics.median(many.samples_us))


def tune(bench: Bench, op: Op, name: str, axes: Axes, seed: int) -> tuple[Axes, int]:
    """The fastest configuration on one data set, and how many were tried; samples are taken on another."""
    variant = op.variants[name]
    configs = variant.configs(axes, bench.card)
    works = bench.works(op, axes, seed, (name,))
    lanes = []
    for config in configs:
        with bench.compiling():
            variant.launch(works[0], config)
        lanes.append(bench.lane(variant, config, works, TUNE_GRAPH_US))
    if len(lanes) == 1:
        return configs[0], 1
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
    lanes = {name: bench.lane(op.variants[name], config, works, GRAPH_US) for name, (config, _) in chosen.items()}
    replays, before = bench.warm(list(lanes.values()), WARMUP_S)
    for _ in range(bench.samples):
        for lane in lanes.values():
            bench.sample(lane)
    _, after = bench.warm(list(lanes.values()), 0.0)
    some = works[: max(1, COMPARED_BYTES // max(1, op.bytes_of(axes)))]
    wrong = {name: _compare_again(bench, op, lane, works, some) for name, lane in lanes.items()}
    rotated = {name: op.moved_by(name, axes) * len(works) for name in lanes}
    timings = {
        name: Timing(
            samples_us=tuple(lane.samples_us),
            calls=lane.calls,
            sets=len(works),
            rotated_bytes=rotated[name],
            cold=rotated[name] > L2_MULTIPLE * bench.l2_bytes,
            warmup_replays=replays,
            replay_overhead_us=bench.replay_overhead_us,
            config=chosen[name][0],
            configs_tried=chosen[name][1],
            note=op.note(works[0]),
        )
        for name, lane in lanes.items()
    }
    return Measured(timings, wrong, len(some), before, after)


def _compare_again(bench: Bench, op: Op, lane: Lane, works: list[Work], some: list[Work]) -> str:
    """Empty where one more replay, into poisoned outputs, leaves what the reference says."""
    if op.compare is None:
        return ""
    for work in works:
        for tensor in work.outputs.values():
            poison(tensor)
    lane.graph.replay()
    bench.stream.synchronize()
    return next((wrong for wrong in map(op.compare, some) if wrong), "")
