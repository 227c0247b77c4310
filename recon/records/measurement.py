"""Measurements: raw samples of one kernel on one probe case, with all that a stranger needs to judge them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Device:
    """The GPU and the software that a measurement was taken on."""

    name: str
    uuid: str
    capability: tuple[int, int]
    """(0, 0) for the interpreter."""
    memory_bytes: int
    l2_bytes: int
    driver: str
    torch: str
    triton: str
    python: str
    cuda: str


@dataclass(frozen=True, slots=True)
class DeviceState:
    """Clocks and limits at one moment, as nvidia-smi prints them; a value it did not give is empty."""

    sm_clock_mhz: str
    memory_clock_mhz: str
    power_w: str
    power_limit_w: str
    temperature_c: str
    throttle_reasons: str
    ecc: str
    mig: str
    other_processes: str
    """Compute processes other than ours, as `pid memory`."""
    ecc_uncorrected: str = ""
    """Errors of memory that could not be corrected, since the driver was loaded."""
    retired_pages_pending: str = ""
    recovery_action: str = ""
    """What the driver wants done about a fault: `None`, or e.g. `Reset`."""
    remapped_rows: str = ""
    """Rows of memory that were replaced, as they were when the measuring process began."""
    xids: str = ""
    """Errors of this GPU in the kernel's log, as `2 of 13, 1 of 79`, or `none`.

    Empty where the log may not be read, and in run files from before it was asked.
    """


@dataclass(frozen=True, slots=True)
class Agreement:
    """Outcome of the check against the reference, on fresh random inputs, before any clock."""

    cases: int
    """Shapes checked."""
    mismatches: int
    detail: str
    """The first disagreement, or how the comparison was made."""


@dataclass(frozen=True, slots=True)
class Floor:
    """The least time that the hardware could take for a probe case."""

    us: float
    bound: str
    """`launch`, `memory` or `arithmetic`."""
    detail: str
    """The formula with its numbers: bytes over measured bandwidth, or the empty launch."""


@dataclass(frozen=True, slots=True)
class Spread:
    """How samples scatter; the interval is the order-statistic interval of the median at 95 %."""

    median_us: float
    low_us: float
    high_us: float
    p10_us: float
    p90_us: float
    samples: int


@dataclass(frozen=True, slots=True)
class Burst:
    """Samples that each followed a rest of the GPU, so that power and heat limited it less."""

    spread: Spread
    samples_us: tuple[float, ...]
    floor: Floor | None
    """By what the floors reached after rests, too."""
    state: DeviceState | None
    """Right after the last sample."""


@dataclass(frozen=True, slots=True)
class Resources:
    """What the compiled kernel uses, as cuobjdump and ptxas print it."""

    arch: str
    """e.g. `sm_120`."""
    registers: int
    shared_bytes: int
    """Dynamic and static shared memory of one block."""
    stack_bytes: int
    spill_store_bytes: int
    spill_load_bytes: int
    shared_limit_bytes: int
    fits: bool
    """Whether one block fits the target's opt-in limit of shared memory."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """One kernel on one probe case."""

    probe: str
    """Question that asked for it, e.g. `linear-vs-tree`."""
    kernel: str
    case: dict[str, int | float | str]
    """Named axes, e.g. {"batch": 1, "nodes": 64, "vocab": 151936, "dtype": "bf16"}."""
    role: str
    """`floor`, `baseline` or `subject`."""
    mode: str
    """`gpu` (timed), `interpret` (checked on the CPU, not timed) or `compile` (built, not run)."""
    agreement: Agreement | None
    """Null where the kernel has nothing to agree with (an empty launch)."""
    spread: Spread | None
    """Null unless the kernel agreed and was timed."""
    samples_us: tuple[float, ...]
    bytes_moved: int
    """Fewest bytes that the case must move through device memory."""
    floor: Floor | None
    resources: tuple[Resources, ...]
    config: dict[str, int | float | str]
    """Block sizes and the like, and how they were chosen."""
    method: str
    """How time was taken, e.g. `cuda graph of 16 calls, 24 rotating inputs`."""
    device: Device | None
    before: DeviceState | None
    after: DeviceState | None
    key: str
    """Digest of payload, device, versions and case: equal keys need not be measured twice."""
    burst: Burst | None = None
    """Null where none was taken."""
    captured: bool = True
    """Whether CUDA graphs were timed; False where the host queued each call, and its time counts."""
