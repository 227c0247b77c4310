"""What crosses the wire, both ways: a plan as one JSON document, results as JSON lines.

JSON has no types, so units stand in the field names, and what arrives is checked field by field: the other end may be
a stranger's machine.
"""

import hashlib
import json
import math
import types
import typing
from dataclasses import asdict, dataclass, fields, is_dataclass
from pathlib import Path

SCHEMA_VERSION = 1
LINE_LIMIT_BYTES = 8 << 20
"""Longest line that is read; a result holds a few hundred samples."""
INTEGER_LIMIT = 1 << 63
REST_S = 0.12
"""What the GPU rests before each round of bursts."""
ENGINE = "engine."
"""What the variant of an entry begins with that is an engine's function, at the work of the kernel that it names."""
FIND = "auto"
"""As the library of a plan: the one that lies among the packages of that Python."""
PLAN, LOCK = "plan.json", "lock"
"""Files beside the payload, where it travelled: what to do, and whose folder it is."""

Axes = dict[str, int | float | str]
"""Named axes of a probe case, e.g. {"batch": 1, "nodes": 64, "vocab": 151936, "dtype": "bf16"}."""


class WireError(ValueError):
    """A line or a plan is not what this version of the wire says."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One kernel, in one of its variants, on one probe case."""

    id: int
    probe: str
    role: str
    """`floor`, `baseline` or `subject`."""
    kernel: str
    variant: str
    axes: Axes
    subject: int = -1
    """Number of the engine's function, of `Plan.subjects`, that it calls or is timed beside; -1 for none."""


@dataclass(frozen=True, slots=True)
class Check:
    """A shape on which every variant of a kernel is compared with the reference before any clock."""

    kernel: str
    axes: Axes


@dataclass(frozen=True, slots=True)
class Plan:
    """What to do, in order."""

    schema_version: int
    mode: str
    """`gpu`, `interpret` or `compile`."""
    gpu: str
    """UUID or index; empty for the first that is visible."""
    allow_busy: bool
    entries: tuple[Entry, ...]
    checks: tuple[Check, ...]
    archs: tuple[int, ...]
    """Compute capabilities to compile for, times ten: 90, 100, 120."""
    seed: int
    samples: int
    memory_limit_bytes: int
    """Most device memory that tensors of one case may take."""
    memory_fraction: float
    """The same as a share of the memory that is free at the start; the smaller limit holds."""
    deadline_s: float
    """After so many seconds no further entry is begun."""
    device_limit_s: float = 86_400.0
    """Likewise of device time, compilation left out."""
    patience_s: float = 600.0
    """Seconds without a word after which a kernel hangs, and its process is killed."""
    payload: str = ""
    """Digest of the files that the plan was made for; empty where it does not matter."""
    known: tuple[str, ...] = ()
    """Keys of entries that need not be measured again."""
    subjects: tuple[str, ...] = ()
    """Functions of an engine, as JSON; entries name them by their numbers."""
    library: str = ""
    """Path of an engine's library whose kernels are timed beside ours, or `FIND` for one that is looked for there."""
    bursts: int = 0
    """Samples that are taken besides, each after a rest."""


@dataclass(frozen=True, slots=True)
class Device:
    """The GPU and the software, as the target says of itself."""

    name: str
    uuid: str
    capability: tuple[int, int]
    memory_bytes: int
    free_bytes: int
    l2_bytes: int
    multiprocessors: int
    driver: str
    torch: str
    triton: str
    python: str
    cuda: str


@dataclass(frozen=True, slots=True)
class State:
    """Clocks and limits at one moment, as nvidia-smi prints them; what it did not give is empty."""

    sm_clock_mhz: str = ""
    memory_clock_mhz: str = ""
    power_w: str = ""
    power_limit_w: str = ""
    temperature_c: str = ""
    throttle_reasons: str = ""
    ecc: str = ""
    mig: str = ""
    compute_mode: str = ""
    persistence: str = ""
    memory_used_mib: str = ""
    utilization_percent: str = ""
    other_processes: str = ""
    """Compute processes other than ours, as `pid memory`, separated by `; `."""
    ecc_uncorrected: str = ""
    """Errors of memory that could not be corrected, since the driver was loaded."""
    retired_pages_pending: str = ""
    recovery_action: str = ""
    """What the driver wants done about a fault: `None`, or e.g. `Reset`."""
    remapped_rows: str = ""
    """Rows of memory that were replaced, as they were when the process began."""
    xids: str = ""
    """Errors of this GPU in the kernel's log, by number; `none`, or empty where it may not be read."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """Outcome of the comparison with the reference."""

    cases: int
    mismatches: int
    detail: str


@dataclass(frozen=True, slots=True)
class Timing:
    """Raw samples of one entry, with how they were taken."""

    samples_us: tuple[float, ...]
    """One for each graph replay: its time between two events, over the calls that it holds."""
    captured: bool
    """Whether a graph held the calls; else the host queued each, and its own time is in them."""
    calls: int
    """Kernel calls in one graph, or in what stands for one."""
    sets: int
    """Input sets that the calls rotate over."""
    rotated_bytes: int
    """What those sets make the kernel read and write in all."""
    cold: bool
    """Whether `rotated_bytes` exceeds three times the L2 cache."""
    warmup_replays: int
    replay_overhead_us: float
    """Time of a replayed graph of one empty launch beyond the launch itself; part of every sample, over `calls`."""
    config: Axes
    configs_tried: int
    """Configurations compared on other data than the samples were taken on."""
    note: str
    """What else a reader must know, e.g. the accepted length of the data."""
    burst_us: tuple[float, ...] = ()
    """Samples likewise, each taken after the GPU had rested: power and heat then limit it less."""


@dataclass(frozen=True, slots=True)
class Hello:
    """First line of a run that may go on."""

    schema_version: int
    mode: str
    device: Device
    state: State


@dataclass(frozen=True, slots=True)
class Refused:
    """First and last line of a run that may not go on."""

    why: str
    """`no_torch`, `no_gpu`, `gpu_busy`, `not_allotted`, `no_place` or `bad_plan`."""
    detail: str


@dataclass(frozen=True, slots=True)
class Started:
    """An entry is being worked on."""

    entry: int
    stage: str
    """`check`, `tune`, `measure` or `compile`."""


@dataclass(frozen=True, slots=True)
class Known:
    """The plan says that this entry was measured already, on this device with these versions."""

    entry: int


@dataclass(frozen=True, slots=True)
class Result:
    """An entry is done."""

    entry: int
    agreement: Agreement | None
    timing: Timing | None
    before: State | None
    after: State | None
    burst: State | None = None
    """Right after the last sample that followed a rest."""


@dataclass(frozen=True, slots=True)
class Compiled:
    """A kernel was built for an architecture without being run."""

    entry: int
    variant: str
    """Variant of the kernel that launches it."""
    config: Axes
    """Compile-time constants and warps."""
    arch: str
    target: str
    """As the PTX names it, e.g. `sm_90a`."""
    ptx: str
    registers: int
    static_shared_bytes: int
    dynamic_shared_bytes: int
    stack_bytes: int
    spill_store_bytes: int
    spill_load_bytes: int
    shared_limit_bytes: int
    fits: bool


@dataclass(frozen=True, slots=True)
class Failed:
    """An entry, or a part of it, could not be done; the rest goes on."""

    entry: int
    stage: str
    why: str


@dataclass(frozen=True, slots=True)
class Done:
    """Last line."""

    interrupted: bool
    seconds: float
    device_seconds: float
    """Time spent in measurements; checks and compilation left out."""
    processor_seconds: float = 0.0
    """Of the host's processors, by all processes of the payload; 0 where it was not asked."""


@dataclass(frozen=True, slots=True)
class Behaved:
    """An engine's function was called on crafted requests."""

    entry: int
    answer: str
    """What was learned, as JSON: rules, how the function was called, or why nothing can be said."""


Line = Hello | Refused | Started | Known | Result | Compiled | Failed | Behaved | Done
_LINES: dict[str, type] = {kind.__name__.lower(): kind for kind in typing.get_args(Line)}


def digest_of(folder: Path) -> str:
    """Digest of the payload's files and their names: what a measurement was taken with."""
    whole = hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        whole.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return whole.hexdigest()


def key_of(
    plan: Plan, device: Device, kernel: str, axes: Axes, config: Axes | None = None, *, subject: int = -1
) -> str:
    """What a measurement is known by: equal keys need not be measured twice.

    Args:
        plan: For its payload, its mode, the shapes that the kernel is compared on, and the engine's functions.
        device: The GPU and the software.
        kernel: Kernel and variant, e.g. `tree_greedy.fused`.
        axes: The case.
        config: Where one kernel is built in several configurations, the configuration.
        subject: Number of the engine's function that it is, or is timed beside.
    """
    software = [device.name, device.uuid, device.driver, device.torch, device.triton, device.python, device.cuda]
    checks = [check.axes for check in plan.checks if check.kernel == kernel.partition(".")[0]]
    beside = [plan.subjects[subject]] if 0 <= subject < len(plan.subjects) else []
    whole = json.dumps([plan.payload, plan.mode, software, kernel, axes, config or {}, checks, *beside], sort_keys=True)
    return hashlib.sha256(whole.encode()).hexdigest()


def name_of(entry: Entry) -> str:
    """Kernel and variant, e.g. `tree_greedy.fused`; of an engine's function the place alone."""
    if entry.variant.startswith(ENGINE):
        return entry.variant
    return f"{entry.kernel}.{entry.variant}" if entry.variant else entry.kernel


def encode(line: Line) -> str:
    """One JSON line, without the line break."""
    return json.dumps({"kind": type(line).__name__.lower(), **asdict(line)}, allow_nan=False, separators=(",", ":"))


def decode(text: str) -> Line:
    """The record of one JSON line.

    Raises:
        WireError: the line is too long, not JSON, of an unknown kind, or a field has another type than the wire says.
    """
    data = _document(text)
    kind = _LINES.get(str(data.pop("kind", "")))
    if kind is None:
        raise WireError(f"unknown kind of line: {text[:80]}")
    line: Line = _build(kind, data, kind.__name__)
    return line


def encode_plan(plan: Plan) -> str:
    """The plan as a JSON document."""
    return json.dumps(asdict(plan), allow_nan=False)


def decode_plan(text: str) -> Plan:
    """The plan of a JSON document.

    Raises:
        WireError: it is not a plan of this schema version.
    """
    data = _document(text)
    if data.get("schema_version") != SCHEMA_VERSION:
        raise WireError(f"plan has schema version {data.get('schema_version')!r}, this payload reads {SCHEMA_VERSION}")
    plan: Plan = _build(Plan, data, "Plan")
    return plan


def _document(text: str) -> dict[str, object]:
    if len(text) > LINE_LIMIT_BYTES:
        raise WireError(f"{len(text)} characters in one document, more than {LINE_LIMIT_BYTES}")
    try:
        data = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise WireError(f"not JSON: {error}") from error
    if not isinstance(data, dict):
        raise WireError(f"not an object: {text[:80]}")
    return data


def _refuse(constant: str) -> object:
    raise WireError(f"{constant} is no number")


def _build(kind: typing.Any, data: object, where: str) -> typing.Any:
    """A record of the type from plain JSON values; unknown keys are refused as missing ones are."""
    if not isinstance(data, dict):
        raise WireError(f"{where}: expected an object")
    hints = typing.get_type_hints(kind)
    if set(data) != {field.name for field in fields(kind)}:
        raise WireError(f"{where}: fields {sorted(map(str, data))} are not those of {kind.__name__}")
    return kind(**{name: _value(hints[name], value, f"{where}.{name}") for name, value in data.items()})


def _value(hint: typing.Any, value: object, where: str) -> object:
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is tuple:
        if not isinstance(value, list):
            raise WireError(f"{where}: expected a list")
        if arguments[-1] is not Ellipsis and len(value) != len(arguments):
            raise WireError(f"{where}: expected {len(arguments)} items")
        return tuple(_value(arguments[0], item, where) for item in value)
    if origin is dict:
        if not isinstance(value, dict):
            raise WireError(f"{where}: expected an object")
        return {str(key): _value(arguments[1], item, f"{where}.{key}") for key, item in value.items()}
    if origin is types.UnionType:
        return _one_of(arguments, value, where)
    if is_dataclass(hint):
        return _build(hint, value, where)
    if hint is float and type(value) is int and abs(value) < INTEGER_LIMIT:
        return float(value)
    if type(value) is not hint:
        raise WireError(f"{where}: expected {hint.__name__}, got {type(value).__name__}")
    return _bounded(value, where)


def _bounded(value: object, where: str) -> object:
    """The value, if every program can hold it: numbers of machines, and text that can be written."""
    if isinstance(value, int) and not -INTEGER_LIMIT <= value < INTEGER_LIMIT:
        raise WireError(f"{where}: the number is too large")
    if isinstance(value, float) and not math.isfinite(value):
        raise WireError(f"{where}: the number is not finite")
    if isinstance(value, str) and any("\ud800" <= letter <= "\udfff" for letter in value):
        raise WireError(f"{where}: the text holds half of a letter")
    return value


def _one_of(options: tuple[typing.Any, ...], value: object, where: str) -> object:
    if value is None and type(None) in options:
        return None
    for option in options:
        if is_dataclass(option):
            return _build(option, value, where)
        if type(value) is option:
            return _bounded(value, where)
    raise WireError(f"{where}: {type(value).__name__} is none of the types allowed")
