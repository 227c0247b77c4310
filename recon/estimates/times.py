"""Measured times, asked for at a case: as measured, or enclosed by measured ones, and never beyond them.

Times over tokens are staircases: tiles, graphs and limits of kernels make steps. Nothing is fitted to them. Between two
measured numbers of tokens the step may lie anywhere, so the interval reaches from the lower time to the upper one.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from recon.estimates.ratios import place_of, usable
from recon.records.cost import Ground, Quantity
from recon.records.measurement import Measurement, Spread

Case = Mapping[str, object]
"""Axes that a case must have just so; None where it must not have one."""
Place = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Missing:
    """Why there is no time, in one phrase."""

    why: str


class Times:
    """The measurements of one GPU model by kernel."""

    def __init__(self, measurements: Iterable[Measurement]) -> None:
        """Take those that agreed with their reference and were timed; of two of one case the first."""
        self._kernels: defaultdict[str, list[tuple[Measurement, Spread]]] = defaultdict(list)
        self._found: dict[tuple[object, ...], dict[Place, Spread]] = {}
        self.gpu = ""
        self.memory_bytes = 0
        for each in measurements:
            spread = usable(each)
            if spread is None or each.device is None or (self.gpu and each.device.name != self.gpu):
                continue
            self.gpu, self.memory_bytes = each.device.name, each.device.memory_bytes
            self._kernels[each.kernel].append((each, spread))

    def __bool__(self) -> bool:
        """Whether there is any time at all."""
        return bool(self._kernels)

    @property
    def launch_us(self) -> float:
        """The least that any launch takes: an empty one; 0 where none was timed."""
        return min((spread.low_us for _, spread in self._kernels.get("nop.triton", ())), default=0.0)

    def read_us(self, amount: int) -> float:
        """The least in which so many bytes can be read, by what was reached; 0 where that was not measured."""
        reached = ((each.bytes_moved, spread.low_us) for each, spread in self._kernels.get("read.triton", ()))
        rate = max((moved / us for moved, us in reached), default=0.0)
        return amount / rate if rate else 0.0

    def kernels(self, beginning: str) -> list[str]:
        """Names of the kernels that begin so."""
        return [name for name in self._kernels if name.startswith(beginning)]

    def fastest(
        self, kernels: Sequence[str], fixed: Case, at: Mapping[str, int], least_us: float = 0
    ) -> Quantity | Missing:
        """The time of the kernel that takes the least there, or why none is known.

        Args:
            kernels: Names of kernels that do the same.
            fixed: Axes that a case must have just so.
            at: Axes that count something: a time rises with each of them.
            least_us: What the hardware takes at least, where no smaller case was measured.
        """
        found = [self.time(kernel, fixed, at, least_us) for kernel in kernels]
        times = [each for each in found if isinstance(each, Quantity)]
        if times:
            return min(times, key=lambda each: each.value)
        reasons = [each.why for each in found if isinstance(each, Missing)]
        return Missing(next((why for why in reasons if not why.endswith("in these shapes")), reasons[0]))

    def time(self, kernel: str, fixed: Case, at: Mapping[str, int], least_us: float = 0) -> Quantity | Missing:
        """The time of one kernel, as `fastest`."""
        names, place = tuple(at), tuple(at.values())
        points = self._points(kernel, fixed, names)
        if not points:
            return Missing(f"{kernel} was not timed in these shapes")
        if place in points:
            return _measured(points[place], f"{kernel} at {_words(names, place)}")
        return _along(kernel, names, place, points) or _enclosed(kernel, names, place, points, least_us)

    def _points(self, kernel: str, fixed: Case, names: tuple[str, ...]) -> Mapping[Place, Spread]:
        """Where along some axes a kernel was timed, all else as it must be; looked for once."""
        key = (kernel, tuple(sorted(fixed.items())), names)
        known = self._found.get(key)
        if known is None:
            known = self._found[key] = {}
            for measurement, spread in self._kernels.get(kernel, ()):
                case = measurement.case
                place = place_of(case, names)
                if place is not None and all(case.get(name) == value for name, value in fixed.items()):
                    known.setdefault(place, spread)
        return known


def _measured(spread: Spread, source: str) -> Quantity:
    return Quantity(spread.median_us, spread.low_us, spread.high_us, Ground.MEASURED, source)


def _along(kernel: str, names: Sequence[str], place: Place, points: Mapping[Place, Spread]) -> Quantity | None:
    """Between two neighbours that differ from the place in one axis alone, where there are such."""
    best: Quantity | None = None
    for axis in range(len(place)):
        line = {
            each[axis]: each for each in points if each[:axis] == place[:axis] and each[axis + 1 :] == place[axis + 1 :]
        }
        below = max((value for value in line if value < place[axis]), default=None)
        above = min((value for value in line if value > place[axis]), default=None)
        if below is None or above is None:
            continue
        one, other = points[line[below]], points[line[above]]
        part = (place[axis] - below) / (above - below)
        found = Quantity(
            one.median_us + part * (other.median_us - one.median_us),
            min(one.low_us, other.low_us),
            max(one.high_us, other.high_us),
            Ground.BETWEEN,
            f"{kernel} between {below} and {above} {names[axis]}",
        )
        if best is None or found.high - found.low < best.high - best.low:
            best = found
    return best


def _enclosed(
    kernel: str, names: Sequence[str], place: Place, points: Mapping[Place, Spread], least_us: float
) -> Quantity | Missing:
    """Not less than any smaller case, nor more than any larger one."""
    larger = [each for each in points if all(a >= b for a, b in zip(each, place, strict=True))]
    smaller = [each for each in points if all(a <= b for a, b in zip(each, place, strict=True))]
    if not larger:
        wanted, most = _words(names, place), _furthest(points)
        if all(a >= b for a, b in zip(most, place, strict=True)):  # each far enough, in a case of its own
            return Missing(f"{kernel} was timed in no case that has at least {wanted} together")
        return Missing(f"{kernel} was timed up to {_words(names, most)}, not at {wanted}")
    if not smaller and not least_us:
        return Missing(f"{kernel} was timed from {_least(names, points)}, not at {_words(names, place)}")
    above = min(larger, key=lambda each: points[each].high_us)
    high = points[above].high_us
    low = min(max([least_us, *(points[each].low_us for each in smaller)]), high)
    words = f"{kernel} below {_words(names, above)}"
    return Quantity((low + high) / 2, low, high, Ground.BETWEEN, words)


def _furthest(points: Iterable[Place]) -> Place:
    """The largest value of each axis, whatever the others were."""
    return tuple(map(max, zip(*points, strict=True)))


def _least(names: Sequence[str], points: Iterable[Place]) -> str:
    return _words(names, tuple(map(min, zip(*points, strict=True))))


def _words(names: Sequence[str], place: Place) -> str:
    return ", ".join(f"{name} {value}" for name, value in zip(names, place, strict=True))


def added(amounts: Iterable[tuple[float, Quantity]], source: str) -> Quantity:
    """The sum of quantities, each so many times; ends of intervals are added, as if all erred alike."""
    taken = [(times, each) for times, each in amounts if times]
    order = list(Ground)
    return Quantity(
        sum(times * each.value for times, each in taken),
        sum(times * each.low for times, each in taken),
        sum(times * each.high for times, each in taken),
        max((each.ground for _, each in taken), key=order.index, default=Ground.MEASURED),
        source,
    )
