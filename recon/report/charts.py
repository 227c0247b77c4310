"""Measured times as lines of a chart: what is drawn, in which words. The page draws it; the tables hold the numbers."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from recon.records.cost import Quantity
from recon.records.estimate import Estimate
from recon.records.measurement import Measurement
from recon.report.timings import case_words

AXES = ("batch", "context", "tokens", "nodes")
"""What times are drawn against, the likeliest to be asked about first."""
LEAST_POINTS = 3
MOST_LINES = 6


@dataclass(frozen=True, slots=True)
class Line:
    """One kernel, or one kind of round."""

    name: str
    dashed: bool
    """Whether it is of a tree, or else what is compared with a baseline: drawn dashed, with squares."""
    points: tuple[tuple[float, float, float, float], ...]
    """Value of the axis, median in µs, and the ends of its interval; by ascending value."""


@dataclass(frozen=True, slots=True)
class Chart:
    """Times against one axis."""

    device: str
    """Name of the GPU; empty for a chart of an estimate."""
    title: str
    note: str
    """The axes that are held."""
    axis: str
    lines: tuple[Line, ...]


def charts_of(measurements: Iterable[Measurement], estimates: Iterable[Estimate]) -> tuple[Chart, ...]:
    """The rounds of each estimate by batch, then for each GPU and probe the axis with the most points."""
    buckets: dict[tuple[str, str], list[Measurement]] = {}
    for each in measurements:
        if each.mode == "gpu" and each.device and each.spread and each.role != "floor":
            buckets.setdefault((each.device.name, each.probe), []).append(each)
    drawn = [chart for estimate in estimates for chart in _rounds(estimate)]
    for (device, probe), bucket in buckets.items():
        slices = [chart for axis in AXES for chart in _slices(device, probe, axis, bucket)]
        drawn += sorted(slices, key=_size, reverse=True)[:1]  # the sort is stable: of equals, the first axis
    return tuple(drawn)


def _size(chart: Chart) -> tuple[int, int]:
    return max(len(line.points) for line in chart.lines), len(chart.lines)


def _slices(device: str, probe: str, axis: str, bucket: Sequence[Measurement]) -> list[Chart]:
    """Each set of cases that differ in one axis alone, as a chart; those with few points are no lines."""
    held: dict[str, tuple[str, dict[str, list[Measurement]]]] = {}
    for each in bucket:
        if isinstance(each.case.get(axis), int | float):
            rest = {name: value for name, value in each.case.items() if name != axis}
            _, kernels = held.setdefault(str(sorted(rest.items(), key=str)), (case_words(rest), {}))
            kernels.setdefault(each.kernel, []).append(each)
    made = []
    for note, kernels in held.values():
        lines = [
            line for name, some in kernels.items() if len((line := _line(name, axis, some)).points) >= LEAST_POINTS
        ]
        if lines:
            made.append(Chart(device, f"{probe}: time by {axis}", note, axis, tuple(lines[:MOST_LINES])))
    return made


def _line(kernel: str, axis: str, some: Sequence[Measurement]) -> Line:
    points = {
        float(each.case[axis]): (each.spread.median_us, each.spread.low_us, each.spread.high_us)
        for each in some
        if each.spread and float(each.case[axis]) > 0
    }
    return Line(kernel, some[0].role == "subject", tuple((at, *points[at]) for at in sorted(points)))


def _rounds(estimate: Estimate) -> list[Chart]:
    groups: dict[tuple[str, int], dict[str, dict[float, Quantity]]] = {}
    for outlook in estimate.outlooks:
        for round_ in (outlook.chain_round, outlook.tree_round):
            if round_ is not None:
                lines = groups.setdefault((outlook.kernels, outlook.context), {"chain": {}, "tree": {}})
                lines.setdefault(round_.shape, {})[float(outlook.batch)] = round_.us
    made = []
    for (kernels, context), lines in groups.items():
        drawn = tuple(
            Line(
                f"best {shape}",
                shape == "tree",
                tuple((at, us.value, us.low, us.high) for at, us in sorted(some.items())),
            )
            for shape, some in lines.items()
            if len(some) > 1
        )
        if drawn:
            note = f"kernels {kernels}, context {context}, without the draft and the host"
            made.append(Chart("", "A round by batch", note, "batch", drawn))
    return made
