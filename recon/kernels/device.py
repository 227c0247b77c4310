"""What the target says of itself. nvidia-smi may hang for good, so it is asked with a deadline and then let go."""

import contextlib
import os
import platform
import select
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from .faults import kernel_log, words, xids_of
from .processes import ROOT, running
from .wire import Device, State

QUERY_DEADLINE_S = 10.0
MOST_SAID = 1 << 20
"""Bytes: it says some hundred."""
LONGEST_WORDS = 300
REAP_S = 1.0
"""How long one that was killed is waited for: it may sleep in the kernel for ever."""
MEMORY_IN_USE_SHARE = 0.01
"""A GPU with a larger share of its memory in use is somebody's."""

CONTEXT_BYTES = 1 << 30
"""More than a CUDA context of our own takes."""

_FIELDS = {
    "uuid": ("uuid",),
    "driver": ("driver_version",),
    "sm_clock_mhz": ("clocks.sm",),
    "memory_clock_mhz": ("clocks.mem",),
    "power_w": ("power.draw",),
    "power_limit_w": ("power.limit",),
    "temperature_c": ("temperature.gpu",),
    "throttle_reasons": ("clocks_event_reasons.active", "clocks_throttle_reasons.active"),
    "ecc": ("ecc.mode.current",),
    "mig": ("mig.mode.current",),
    "compute_mode": ("compute_mode",),
    "persistence": ("persistence_mode",),
    "memory_used_mib": ("memory.used",),
    "memory_total_mib": ("memory.total",),
    "utilization_percent": ("utilization.gpu",),
    "bus": ("pci.bus_id",),
    "ecc_uncorrected": ("ecc.errors.uncorrected.volatile.total",),
    "retired_pages_pending": ("retired_pages.pending",),
    "recovery_action": ("gpu_recovery_action",),
}
"""Our name of a reading, and nvidia-smi's names of it, the newest first."""
_REMAPPED = ("correctable", "uncorrectable", "pending", "failure")
_STATE = tuple(State.__dataclass_fields__)
HIDDEN = frozenset(("", "-1", "NoDevFiles"))
"""What CUDA_VISIBLE_DEVICES is where all GPUs are hidden; the last is Slurm's word for it."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One GPU as nvidia-smi sees it."""

    uuid: str
    driver: str
    memory_total_mib: float
    state: State
    xids: tuple[int, ...] | None = None
    """Errors that the driver reported, the oldest first; None where they may not be read."""


def visible_gpu() -> str:
    """The GPU that CUDA would take first, by index or UUID; one of HIDDEN where all are hidden."""
    return os.environ.get("CUDA_VISIBLE_DEVICES", "0").split(",")[0].strip()


class Smi:
    """nvidia-smi on one GPU; after it once did not answer in time it is not asked again."""

    def __init__(self, gpu: str) -> None:
        """Ask about the GPU of this UUID or index."""
        self.gpu = gpu
        self.silent = ""
        self.complaint = ""
        """What it said instead of readings, e.g. that it cannot reach the driver, or knows no such GPU."""
        self.hung = False
        self._columns = {name: list(names) for name, names in _FIELDS.items()}
        self._remapped: str | None = None

    def read(self) -> Reading | None:
        """The GPU now; None where nvidia-smi is missing, silent, or knows no such GPU."""
        while not self.silent:
            asked = [(name, names[0]) for name, names in self._columns.items() if names]
            reply = self._ask(f"--query-gpu={','.join(column for _, column in asked)}")
            unknown = next((pair for pair in asked if f'"{pair[1]}" is not a valid field' in reply), None)
            if unknown:
                self._columns[unknown[0]].remove(unknown[1])
                continue
            lines = reply.splitlines()
            values = [value.strip() for value in lines[0].split(",")] if lines else []
            if len(values) != len(asked):
                self.complaint = f"nvidia-smi: {first_line(reply)}"
                return None
            return self._reading(dict(zip((name for name, _ in asked), map(_plain, values), strict=True)))
        return None

    def _reading(self, values: dict[str, str]) -> Reading:
        uuid = values.get("uuid", "")
        xids = xids_of(kernel_log(), values.get("bus", ""))
        if self._remapped is None:
            self._remapped = self._rows_remapped()
        state = State(
            **{name: values[name] for name in _STATE if name in values},
            other_processes=self._others(uuid),
            remapped_rows=self._remapped,
            xids=words(xids),
        )
        return Reading(uuid, values.get("driver", ""), _number(values.get("memory_total_mib", "")), state, xids)

    def _rows_remapped(self) -> str:
        """Rows of memory that were replaced, asked for once; empty where this GPU or driver tells nothing of them."""
        reply = self._ask(f"--query-remapped-rows={','.join(f'remapped_rows.{name}' for name in _REMAPPED)}")
        values = [_plain(value.strip()) for value in reply.strip().split(",")]
        if len(values) != len(_REMAPPED) or not all(values):
            return ""
        return ", ".join(f"{value} {name}" for name, value in zip(_REMAPPED, values, strict=True))

    def _others(self, uuid: str) -> str:
        reply = self._ask("--query-compute-apps=gpu_uuid,pid,used_memory")
        rows = [[cell.strip() for cell in line.split(",")] for line in reply.splitlines()]
        mine = str(os.getpid())
        return "; ".join(f"{row[1]} {row[2]}" for row in rows if len(row) == 3 and row[0] == uuid and row[1] != mine)

    def _ask(self, query: str) -> str:
        """Reply to one query; empty, and silent from now on, where none came."""
        command = ["nvidia-smi", "-i", self.gpu, query, "--format=csv,noheader,nounits"]
        try:
            child = subprocess.Popen(
                command,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError as error:
            self.silent = f"nvidia-smi: {error.strerror}"
            return ""
        said = said_by(child, QUERY_DEADLINE_S)
        if said is None:
            self.hung = True
            self.silent = f"nvidia-smi did not answer in {QUERY_DEADLINE_S:.0f} s"
            return ""
        return said.decode("utf-8", "replace")


def said_by(child: subprocess.Popen[bytes], within_s: float) -> bytes | None:
    """What a process says until it ends, or has said more than MOST_SAID bytes; None where it does neither in time."""
    assert child.stdout
    end, said, ended = time.monotonic() + within_s, b"", False
    with child.stdout as stream:
        while (
            not ended
            and len(said) <= MOST_SAID
            and select.select([stream], [], [], max(0.0, end - time.monotonic()))[0]
        ):
            piece = os.read(stream.fileno(), MOST_SAID)
            said, ended = said + piece, not piece
    if ended:
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(max(0.0, end - time.monotonic()))
            return said
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        os.killpg(child.pid, signal.SIGKILL)
        child.wait(REAP_S)
    return said if len(said) > MOST_SAID else None


def first_line(text: str) -> str:
    """The first line that says something, bounded."""
    return next((line.strip() for line in text.splitlines() if line.strip()), "it says nothing")[:LONGEST_WORDS]


def uuid_of(gpu: str) -> str:
    """UUID of the GPU of this index or UUID; empty where nvidia-smi does not know it."""
    reading = Smi(gpu).read()
    return reading.uuid if reading else ""


def _plain(value: str) -> str:
    """A value of nvidia-smi's; empty for `[N/A]`, `[Not Supported]` and their like."""
    return "" if value.startswith("[") else value


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0


def objections(reading: Reading) -> list[str]:
    """Why this GPU should not be measured on unasked; empty where nothing speaks against it."""
    state, reasons = reading.state, []
    if state.other_processes:
        reasons.append(f"compute processes are running on it (pid, MiB): {state.other_processes}")
    used = _number(state.memory_used_mib)
    if reading.memory_total_mib and used > MEMORY_IN_USE_SHARE * reading.memory_total_mib:
        reasons.append(f"{used:.0f} of {reading.memory_total_mib:.0f} MiB are in use")
    if _number(state.utilization_percent) > 0:
        reasons.append(f"it is {state.utilization_percent} % busy")
    if state.compute_mode not in {"", "Default"}:
        reasons.append(f"its compute mode is {state.compute_mode}")
    if state.mig == "Enabled":
        reasons.append("MIG is enabled")
    if mps_alive():
        reasons.append("an MPS server is running")
    return reasons


def objections_without_smi(device: Device) -> list[str]:
    """Likewise where nvidia-smi says nothing: what torch can tell, its own context allowed for."""
    reasons, used = [], device.memory_bytes - device.free_bytes
    if used > CONTEXT_BYTES + MEMORY_IN_USE_SHARE * device.memory_bytes:
        reasons.append(f"{used} of {device.memory_bytes} bytes are in use")
    if "MIG" in device.name.split():
        reasons.append("it is a MIG slice")
    if mps_alive():
        reasons.append("an MPS server is running")
    return reasons


def mps_alive(root: Path = ROOT) -> bool:
    """Whether a process of NVIDIA's multi-process service is running."""
    return any(name.startswith("nvidia-cuda-mps") for name in running(root))


def describe_gpu(reading: Reading | None) -> Device:
    """The current CUDA device, through torch, with what nvidia-smi added."""
    import torch  # noqa: PLC0415  the interpreter must be chosen before this is imported
    import triton  # noqa: PLC0415

    properties = torch.cuda.get_device_properties(0)
    uuid = f"GPU-{properties.uuid}" if hasattr(properties, "uuid") else ""
    return Device(
        name=properties.name,
        uuid=(reading.uuid if reading else "") or uuid,
        capability=(properties.major, properties.minor),
        memory_bytes=properties.total_memory,
        free_bytes=torch.cuda.mem_get_info(0)[0],
        l2_bytes=getattr(properties, "L2_cache_size", 0),
        multiprocessors=properties.multi_processor_count,
        driver=reading.driver if reading else "",
        torch=torch.__version__,
        triton=triton.__version__,
        python=platform.python_version(),
        cuda=torch.version.cuda or "",
    )


def describe_cpu() -> Device:
    """The interpreter, or a compiler without a device: no GPU, capability (0, 0)."""
    import torch  # noqa: PLC0415
    import triton  # noqa: PLC0415

    return Device(
        name=platform.machine(),
        uuid="",
        capability=(0, 0),
        memory_bytes=0,
        free_bytes=0,
        l2_bytes=0,
        multiprocessors=1,
        driver="",
        torch=torch.__version__,
        triton=triton.__version__,
        python=platform.python_version(),
        cuda=torch.version.cuda or "",
    )
