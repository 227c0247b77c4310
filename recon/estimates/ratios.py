"""Measured times against each other: a subject over its baseline, of one probe, one case and one GPU."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from recon.records.estimate import Ratio
from recon.records.measurement import Measurement, Spread


def usable(measurement: Measurement) -> Spread | None:
    """The spread that may be compared: timed on a GPU, after the kernel agreed, with an interval around its median."""
    if measurement.mode != "gpu" or measurement.device is None or disagrees(measurement):
        return None
    spread = measurement.spread
    return spread if spread is not None and 0 < spread.low_us <= spread.median_us <= spread.high_us else None


def place_of(case: Mapping[str, object], axes: Sequence[str]) -> tuple[int, ...] | None:
    """Where a case lies along axes that count something; None where one is lacking, or counts in no whole number.

    >>> place_of({"m": 64, "dtype": "bf16"}, ["m"]), place_of({"m": "64"}, ["m"])
    ((64,), None)
    """
    found = tuple(value for value in map(case.get, axes) if type(value) is int and value >= 0)
    return found if len(found) == len(axes) else None


def disagrees(measurement: Measurement) -> bool:
    """Whether the kernel gave another answer than its reference."""
    return measurement.agreement is not None and measurement.agreement.mismatches > 0


def ratios_of(measurements: Iterable[Measurement]) -> tuple[Ratio, ...]:
    """Each subject over its fastest opponent that shares its probe, its case and its GPU.

    Opponents are baselines of another kernel, which do the same for a chain or in another form (see `is_chain`), and
    the chain of the same kernel. A kernel's other variants, `tree_greedy.fused` and `tree_greedy.argmax_walk`, are
    none. The interval takes the far ends of both intervals, so it is wider than either alone would make it.
    """
    groups: defaultdict[tuple[object, ...], list[tuple[Measurement, Spread]]] = defaultdict(list)
    for measurement in measurements:
        spread = usable(measurement)
        if spread is not None and measurement.device is not None:
            case = tuple(sorted(measurement.case.items()))
            # What was captured and what Python queued are times of different things.
            key = (measurement.probe, case, measurement.device.uuid, measurement.device.name, measurement.captured)
            groups[key].append((measurement, spread))
    found: list[Ratio] = []
    for group in groups.values():
        for subject, time in group:
            if subject.role != "subject":
                continue
            opponents = [
                (each, base) for each, base in group if each.role == "baseline" and opposes(each.kernel, subject.kernel)
            ]
            if opponents:
                baseline, base = min(opponents, key=lambda pair: pair[1].median_us)
                found.append(_ratio(subject, time, baseline, base))
    return tuple(found)


def opposes(baseline: str, subject: str) -> bool:
    """Whether a baseline is another kernel than the subject, or its chain.

    >>> opposes("linear_greedy.fused", "tree_greedy.fused"), opposes("tree_greedy.eager", "tree_greedy.fused")
    (True, False)
    >>> opposes("tree_attention.chain", "tree_attention.tree")
    True
    """
    return family_of(baseline) != family_of(subject) or baseline.partition(".")[2] == "chain"


def is_chain(kernel: str) -> bool:
    """Whether a baseline does for a chain what its subject does for a tree.

    >>> is_chain("linear_greedy.fused"), is_chain("tree_attention.chain"), is_chain("delta_step.step")
    (True, True, False)
    """
    family, _, variant = kernel.partition(".")
    return family.startswith("linear") or variant == "chain"


def family_of(kernel: str) -> str:
    """The kernel without its variant.

    >>> family_of("tree_greedy.fused")
    'tree_greedy'
    """
    return kernel.partition(".")[0]


def _ratio(subject: Measurement, time: Spread, baseline: Measurement, base: Spread) -> Ratio:
    return Ratio(
        probe=subject.probe,
        case=subject.case,
        baseline=baseline.kernel,
        subject=subject.kernel,
        device=subject.device.name if subject.device else "",
        ratio=time.median_us / base.median_us,
        low=time.low_us / base.high_us,
        high=time.high_us / base.low_us,
    )
