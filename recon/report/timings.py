"""Measurements arranged for reading: by GPU, those of another model apart, and what was only built or only checked."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

from recon.records.estimate import Estimate, Knee, Ratio
from recon.records.host import Host
from recon.records.measurement import Agreement, Burst, Measurement
from recon.report.curves import Curve, curve_of, lies_on
from recon.report.numbers import counted, microseconds, ratio, ratios, size, times

Case: TypeAlias = Mapping[str, int | float | str]

GRAPH, QUEUED = "graph", "queued"
_MODES = ("gpu", "interpret", "compile")


@dataclass(frozen=True, slots=True)
class Timing:
    """One kernel on one probe case, in words."""

    probe: str
    kernel: str
    case: str
    role: str
    check: str
    """What the comparison with the reference said."""
    agreed: str
    """In how many cases it agreed; a dash where there was nothing to compare, or it did not."""
    disagrees: bool
    median: str
    """Empty unless the kernel agreed and was timed."""
    interval: str
    over_floor: str
    """Times the floor; empty where there is no floor."""
    floor: str
    burst: str
    """Median after rests, with its ratio to the floor that bursts reached; empty where none was taken."""
    over_baseline: str
    """Times its baseline, with the interval; empty for a baseline."""
    way: str
    """`graph`, or `queued` where Python queued each call and its time counts; empty where nothing was timed."""
    method: str
    on_curve: bool
    """Whether it is a point of one of the curves."""

    @property
    def told(self) -> str:
        """The median, with the way in which it was taken where that is not the usual one."""
        return f"{self.median}, {self.way}" if self.way == QUEUED else self.median


@dataclass(frozen=True, slots=True)
class Built:
    """One kernel compiled for one target, in words."""

    kernel: str
    case: str
    """With the choices that it was built with."""
    arch: str
    registers: str
    shared: str
    spills: str
    fits: bool


@dataclass(frozen=True, slots=True)
class TimingGroup:
    """Measurements that belong under one heading."""

    heading: str
    device: str
    """Name of the GPU that these were timed on; empty where nothing was."""
    note: str
    apart: bool
    """Whether these are of another GPU model than the host's, and stay out of the decision."""
    timings: tuple[Timing, ...]
    built: tuple[Built, ...]
    curves: tuple[Curve, ...]


@dataclass(frozen=True, slots=True)
class _Known:
    """What estimates say of measurements."""

    ratios: Sequence[Ratio]
    knees: Sequence[Knee]


def groups_of(
    measurements: Iterable[Measurement], estimates: Sequence[Estimate], hosts: Collection[Host]
) -> tuple[TimingGroup, ...]:
    """The measurements under their headings: this host's GPUs first, then other GPUs, the interpreter, the compiler.

    Args:
        measurements: All of them.
        estimates: Where the ratios and the knees are.
        hosts: The hosts of the engines that were scanned; empty where none was, and then no GPU is another one.
    """
    buckets: dict[tuple[int, str, str], list[Measurement]] = {}
    for each in measurements:
        name = each.device.name if each.device and each.mode == "gpu" else ""
        apart = each.mode == "gpu" and bool(hosts) and not any(host.counts(name) for host in hosts)
        mode = _MODES.index(each.mode) if each.mode in _MODES else len(_MODES)
        buckets.setdefault((mode + apart if not mode else mode + 1, each.mode, name), []).append(each)
    ratios = [each for estimate in estimates for each in estimate.ratios]
    knees = list(
        {
            (each.kernel, each.probe, str(each.case), each.device): each for one in estimates for each in one.knees
        }.values()
    )
    known = _Known(ratios, knees)
    return tuple(
        _group(mode, name, order == 1, bucket, known) for (order, mode, name), bucket in sorted(buckets.items())
    )


def ratios_words(measured: Sequence[Ratio]) -> tuple[str, ...]:
    """Measured ratios as sentences: one for each pair of kernels on a GPU, from its least to its greatest."""
    pairs: dict[tuple[str, str, str], list[Ratio]] = {}
    for each in measured:
        pairs.setdefault((each.device, each.subject, each.baseline), []).append(each)
    return tuple(_pair_words(*pair, sorted(some, key=lambda each: each.ratio)) for pair, some in pairs.items())


def _pair_words(device: str, subject: str, baseline: str, some: Sequence[Ratio]) -> str:
    ends = some if len(some) < 2 else (some[0], some[-1])
    said = [f"{ratio(each.ratio)} ({ratios(each.low, each.high)}) the time at {case_words(each.case)}" for each in ends]
    return f"On {device}, {subject} against {baseline}: {' up to '.join(said)}."


def case_words(case: Case, besides: Case = MappingProxyType({})) -> str:
    """Named axes as people read them, `batch 1, nodes 64, dtype bf16`, without those that are said elsewhere."""
    return ", ".join(f"{name} {value}" for name, value in case.items() if name not in besides)


def shared_axes(cases: Sequence[Case]) -> Case:
    """The axes that have one value wherever they are named, and are named in several cases, or in all that there are.

    Probes of copies name other axes than probes of acceptance, so an axis need not be in every case.
    """
    distinct = [case for number, case in enumerate(cases) if case not in cases[:number]]
    least = min(2, len(distinct)) if len(cases) > 1 else 2
    found: dict[str, list[int | float | str]] = {}
    for case in distinct:
        for name, value in case.items():
            found.setdefault(name, []).append(value)
    return {name: said[0] for name, said in found.items() if len(said) >= least and len(set(said)) == 1}


def _group(mode: str, name: str, apart: bool, bucket: Sequence[Measurement], known: _Known) -> TimingGroup:
    match mode:
        case "gpu" if apart:
            heading = f"{name}: another GPU model than this host's"
            note = "Shown apart. None of these times enters the decision."
        case "gpu":
            heading, note = name, _device_note(bucket) + _by_the_host(bucket)
        case "interpret":
            heading = "Checked by the interpreter, on the CPU"
            note = "The kernels gave the answers of their references, or not. Nothing was timed."
        case "compile":
            heading = "Compiled, not run"
            note = "What each kernel needs on each target. Nothing was timed."
        case _:
            heading, note = mode, ""
    shared = shared_axes([each.case for each in bucket])
    return TimingGroup(
        heading=heading,
        device=name,
        note=f"{note} {_wherever(shared, bucket)}: {case_words(shared)}." if shared else note,
        apart=apart,
        timings=tuple(_timing(each, shared, known) for each in bucket if mode != "compile"),
        built=tuple(
            Built(
                kernel=each.kernel,
                case=case_words({**each.case, **each.config}, shared),
                arch=used.arch,
                registers=str(used.registers),
                shared=f"{size(used.shared_bytes)} of {size(used.shared_limit_bytes)}",
                spills=size(spilled) if (spilled := used.spill_store_bytes + used.spill_load_bytes) else "none",
                fits=used.fits,
            )
            for each in bucket
            for used in each.resources
        ),
        curves=tuple(
            curve_of(knee, case_words(knee.case, shared))
            for knee in known.knees
            if mode == "gpu" and any(lies_on(each, knee) for each in bucket)
        ),
    )


def _by_the_host(bucket: Sequence[Measurement]) -> str:
    """Which of these the host had a hand in: their times are not those of a graph."""
    names = dict.fromkeys(each.kernel for each in bucket if not each.captured)
    return f" Not from a graph, so with the host's own time: {', '.join(names)}." if names else ""


def _wherever(shared: Case, bucket: Sequence[Measurement]) -> str:
    everywhere = all(shared.keys() <= each.case.keys() for each in bucket)
    return "Every case" if everywhere else "Where a case has them"


def _device_note(bucket: Sequence[Measurement]) -> str:
    device = bucket[0].device
    if device is None:
        return ""
    versions = f"driver {device.driver}, CUDA {device.cuda}, torch {device.torch}, triton {device.triton}"
    return f"{size(device.memory_bytes)}, {versions}. Medians with the 95 % interval of the median."


def _timing(each: Measurement, shared: Case, known: _Known) -> Timing:
    spread = each.spread
    device = each.device.name if each.device else ""
    against = [
        measured
        for measured in known.ratios
        if (measured.probe, measured.subject, measured.case, measured.device)
        == (each.probe, each.kernel, each.case, device)
    ]
    over = f"{ratio(against[0].ratio)} ({ratios(against[0].low, against[0].high)})" if against else ""
    floor = each.floor
    return Timing(
        probe=each.probe,
        kernel=each.kernel,
        case=case_words(each.case, shared),
        role=each.role,
        check=check_words(each.agreement),
        agreed=counted(each.agreement.cases, "case") if each.agreement and not each.agreement.mismatches else "-",
        disagrees=each.agreement is not None and each.agreement.mismatches > 0,
        median=microseconds(spread.median_us) if spread else "",
        interval=times(spread.low_us, spread.high_us) if spread else "",
        over_floor=ratio(spread.median_us / floor.us) if spread and floor and floor.us > 0 else "",
        floor=f"{microseconds(floor.us)}, {floor.bound}: {floor.detail}" if floor else "",
        burst=_burst_words(each.burst) if each.burst else "",
        over_baseline=over if each.role == "subject" else "",
        way=(GRAPH if each.captured else QUEUED) if spread else "",
        method=each.method,
        on_curve=any(lies_on(each, knee) for knee in known.knees),
    )


def _burst_words(burst: Burst) -> str:
    floor = burst.floor
    over = f", {ratio(burst.spread.median_us / floor.us)} the floor" if floor and floor.us > 0 else ""
    return f"after rests {microseconds(burst.spread.median_us)}{over}"


def check_words(agreement: Agreement | None) -> str:
    """What the comparison with the reference said."""
    if agreement is None:
        return "nothing to compare"
    if agreement.mismatches:
        return f"disagrees in {agreement.mismatches} of {counted(agreement.cases, 'case')}: {agreement.detail}"
    return f"agrees in {counted(agreement.cases, 'case')}"
