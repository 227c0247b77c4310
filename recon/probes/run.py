"""The payload on this machine: found a Python for, copied, run, listened to, and stopped in time."""

import contextlib
import hashlib
import os
import queue
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from recon import kernels
from recon.errors import GpuBusy, NoGpu, NotFound, NoTorch, Unreadable
from recon.kernels import wire
from recon.ports import Progress, Silent
from recon.probes.plan import ARCHS, LEVELS, plan_compile, plan_gpu, plan_interpret
from recon.probes.read import Reading, name_of
from recon.records.host import Gpu
from recon.records.measurement import Measurement
from recon.records.unknown import Unknown

PAYLOAD = Path(kernels.__file__).parent
GRACE_S = 120.0
"""What one entry, its compilation counted, may take beyond the plan's deadline."""
STOP_S = 10.0
"""What the payload may take to say its last words after it was asked to stop."""
ASK_S = 60.0
"""What a Python may take to say whether it has torch."""
_HAS_TORCH = "import importlib.util as u, sys; sys.exit(not (u.find_spec('torch') and u.find_spec('triton')))"
_NOT_PASSED_ON = frozenset(("TRITON_INTERPRET", "PYTHONSAFEPATH"))
_WITHOUT_GPU = "--interpret checks the kernels on a CPU, --compile-only builds them for GPUs that are not here."


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """What a probe learned."""

    measurements: tuple[Measurement, ...]
    gpus: tuple[Gpu, ...]
    unknowns: tuple[Unknown, ...]
    complete: bool = True
    """False when the user stopped it: what was finished by then is here."""


def probe_gpu(
    level: str = "quick",
    *,
    gpu: str = "",
    allow_busy: bool = False,
    python: str = "",
    seed: int = 0,
    progress: Progress | None = None,
) -> ProbeResult:
    """Check and time the kernels on a GPU of this machine.

    Args:
        level: `quick`, at most 2 GiB and a minute of the device, or `full`, at most half of the free memory.
        gpu: Index or UUID; empty for the first that is visible.
        allow_busy: Measure although others use the GPU, or it is in a mode that is not to be touched.
        python: Path or name of the Python that has torch and triton; empty to look for one.
        seed: Of all random inputs.
        progress: Told of every entry.

    Raises:
        NoTorch: no Python with torch and triton is here.
        NotFound: the Python named does not exist.
        NoGpu: torch sees no GPU.
        GpuBusy: the GPU is in use, or in a mode that is not touched unasked.
        Unreadable: the payload answered with something else than results.
    """
    return run_plan(
        plan_gpu(LEVELS[level], gpu=gpu, allow_busy=allow_busy, seed=seed), python=python, progress=progress
    )


def probe_interpret(*, python: str = "", seed: int = 0, progress: Progress | None = None) -> ProbeResult:
    """Check the kernels against their references in Triton's interpreter, on the CPU; nothing is timed.

    Raises:
        NoTorch: no Python with torch and triton is here.
        NotFound: the Python named does not exist.
        Unreadable: the payload answered with something else than results.
    """
    return run_plan(plan_interpret(seed=seed), python=python, progress=progress)


def compile_only(archs: Sequence[int] = ARCHS, *, python: str = "", progress: Progress | None = None) -> ProbeResult:
    """Build the kernels for architectures (90, 100, 120: capability times ten) and say what they would use there.

    Raises:
        NoTorch: no Python with torch and triton is here.
        NotFound: the Python named does not exist.
        Unreadable: the payload answered with something else than results.
    """
    return run_plan(plan_compile(tuple(archs) or ARCHS), python=python, progress=progress)


def run_plan(plan: wire.Plan, *, python: str = "", progress: Progress | None = None) -> ProbeResult:
    """Carry out a plan on this machine; the errors are those of the functions above."""
    told = progress or Silent()
    interpreter = find_python(python)
    reading = Reading(plan, payload_digest())
    told.start(f"kernels: {plan.mode}", len(plan.entries))
    with tempfile.TemporaryDirectory(prefix="recon-probe-") as folder:
        shutil.copytree(PAYLOAD, Path(folder) / "kernels", ignore=shutil.ignore_patterns("__pycache__"))
        with _Child(interpreter, Path(folder), plan) as child:
            interrupted = _listen(child, reading, told)
        last_words = child.last_words()
    told.finish()
    _raise_refusal(reading)
    unknowns = list(reading.unknowns())
    if reading.done is None and not interrupted:
        unknowns.append(Unknown("the rest of the probe", interpreter, f"the payload ended early: {last_words}"))
    complete = not (interrupted or (reading.done is not None and reading.done.interrupted))
    return ProbeResult(reading.measurements(), reading.gpus(), tuple(unknowns), complete)


def payload_digest() -> str:
    """Digest of the payload's files and their names."""
    whole = hashlib.sha256()
    for path in sorted(PAYLOAD.rglob("*.py")):
        whole.update(path.relative_to(PAYLOAD).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return whole.hexdigest()


def find_python(wanted: str = "") -> str:
    """A Python that has torch and triton: the one wanted, this one, or one on PATH.

    Raises:
        NotFound: the one wanted does not exist.
        NoTorch: none has both.
    """
    if wanted:
        found = shutil.which(wanted)
        if found is None:
            raise NotFound(f"there is no Python {wanted!r}", "--python takes a path, or a name on PATH.")
        candidates = [found]
    else:
        places: dict[tuple[Path, Path], str] = {}
        for each in filter(None, (sys.executable, shutil.which("python3"), shutil.which("python"))):
            places.setdefault(_place(each), each)
        candidates = list(places.values())
    for candidate in candidates:
        if _has_torch(candidate):
            return candidate
    raise NoTorch(
        f"no torch and triton in {', '.join(candidates)}",
        "--python PATH names the Python of an environment with torch and triton, such as the engine's.",
    )


def _place(python: str) -> tuple[Path, Path]:
    """What tells one Python from another: where it lies and what it is; environments share what their links lead to."""
    path = Path(python)
    return path.parent.resolve(), path.resolve()


def _has_torch(python: str) -> bool:
    try:
        asked = subprocess.run([python, "-c", _HAS_TORCH], capture_output=True, timeout=ASK_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return asked.returncode == 0


def _raise_refusal(reading: Reading) -> None:
    refused = reading.refused
    if refused is None:
        return
    match refused.why:
        case "gpu_busy":
            raise GpuBusy(
                f"the GPU is not free: {refused.detail}", "--allow-busy measures all the same; times then scatter."
            )
        case "no_gpu":
            raise NoGpu(refused.detail, _WITHOUT_GPU)
        case "no_torch":
            raise NoTorch(refused.detail, "--python PATH names the Python that has torch and triton.")
        case _:
            raise Unreadable(f"the payload refused its plan: {refused.detail}")


def _listen(child: "_Child", reading: Reading, told: Progress) -> bool:
    """Take lines until there are no more; whether the user stopped it."""
    try:
        for line in child.lines():
            _take(line, reading, told)
    except KeyboardInterrupt:
        child.stop()
        with contextlib.suppress(KeyboardInterrupt):
            for line in child.lines():
                _take(line, reading, told)
        return True
    return False


def _take(text: str, reading: Reading, told: Progress) -> None:
    try:
        line = wire.decode(text)
        reading.take(line)
    except wire.WireError as error:
        raise Unreadable(f"the payload said something else than a result: {error}") from error
    match line:
        case wire.Started():
            entry = reading.entry(line.entry)
            before = int(line.stage == "compile" and line.entry > 0)  # what is built ends with the start of the next
            told.advance(before, f"{line.stage} {name_of(entry)}")
        case wire.Result() | wire.Failed():
            told.advance(1, name_of(reading.entry(line.entry)))


class _Child:
    """The payload as a process of its own group, so that Ctrl-C reaches it through us alone."""

    def __init__(self, python: str, folder: Path, plan: wire.Plan) -> None:
        self._deadline = time.monotonic() + plan.deadline_s + GRACE_S
        self._errors = folder / "errors.txt"
        self._late = self._ended = False
        environment = {name: value for name, value in os.environ.items() if name not in _NOT_PASSED_ON}
        environment |= {
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONIOENCODING": "utf-8",
            "TRITON_CACHE_DIR": str(folder / "cache"),
            "CUDA_CACHE_PATH": str(folder / "cuda"),
        }
        with self._errors.open("wb") as errors:
            self._process = subprocess.Popen(
                [python, "-m", "kernels"],
                cwd=folder,
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                start_new_session=True,
            )
        self._queue: queue.Queue[bytes] = queue.Queue()
        threading.Thread(target=self._write, args=(wire.encode_plan(plan).encode(),), daemon=True).start()
        threading.Thread(target=self._read, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._ended:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(STOP_S)  # its own exit status, where it has one
        self._signal(signal.SIGKILL)  # the group: what the payload started ends with it
        self._process.wait()

    def _write(self, plan: bytes) -> None:
        assert self._process.stdin
        with contextlib.suppress(OSError), self._process.stdin as pipe:
            pipe.write(plan)

    def _read(self) -> None:
        assert self._process.stdout
        with self._process.stdout as pipe:
            while line := pipe.readline(wire.LINE_LIMIT_BYTES):
                self._queue.put(line)
        self._queue.put(b"")

    def lines(self) -> Iterator[str]:
        """Lines until the payload ends, or the deadline is over."""
        while True:
            try:
                line = self._queue.get(timeout=max(0.0, self._deadline - time.monotonic()))
            except queue.Empty:
                self._late = True
                return
            if not line:
                self._ended = True
                return
            yield line.decode("utf-8", errors="replace").rstrip("\n")

    def stop(self) -> None:
        """Ask the payload to end; soon nobody listens any more."""
        self._deadline = time.monotonic() + STOP_S
        self._signal(signal.SIGINT)

    def last_words(self) -> str:
        """Why it ended: the deadline, or its exit status with the end of what it wrote to standard error."""
        if self._late:
            return "its time was over"
        with self._errors.open("rb") as errors:
            errors.seek(max(0, errors.seek(0, os.SEEK_END) - 2000))
            lines = errors.read().decode("utf-8", errors="replace").strip().splitlines()
        return f"exit status {self._process.returncode}; {lines[-1] if lines else 'no message'}"

    def _signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)
