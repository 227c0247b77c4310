"""The payload on some machine: shipped, listened to, and what it says made into measurements as it comes."""

import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from recon.errors import GpuBusy, GpuNotAllotted, NoGpu, NoTorch, ReconError, Unreadable
from recon.kernels import wire
from recon.ports import AttendingShell, Progress, Reply, Silent
from recon.probes.complaint import in_a_line
from recon.probes.read import Reading
from recon.probes.ship import payload_digest, script_of
from recon.records.host import Gpu
from recon.records.measurement import Measurement
from recon.records.unknown import REST, Unknown

GRACE_S = 60.0
"""What the payload may take beyond the plan's deadline and the patience with its last kernel."""
SAID_BYTES = 64 << 20
"""Most that the payload may say: a result takes some kilobytes."""
CUT = 141
"""Status of a script that said more, as shells report it."""
FEW, LATELY = 3, 8
"""Entries after which it can be told how long the rest will take, and by how many of the latest."""
_WITHOUT_GPU = "--interpret checks the kernels on a CPU, --compile-only builds them for GPUs that are not here."
_HINTS: dict[str, tuple[type[ReconError], str, str]] = {
    "gpu_busy": (
        GpuBusy,
        "the GPU is not free: ",
        "--allow-busy HOST, with its name, measures all the same: what runs there is disturbed, and times scatter.",
    ),
    "not_allotted": (
        GpuNotAllotted,
        "",
        "Run it inside of a job, e.g. srun --gpus=1 recon probe-kernels; --allow-busy HOST measures past Slurm.",
    ),
    "no_gpu": (NoGpu, "", _WITHOUT_GPU),
    "no_torch": (NoTorch, "", "--python PATH names the Python that has torch and triton."),
    "no_place": (Unreadable, "", "It needs a folder of its own in which programs may run; nothing of it stays there."),
}


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """What a probe learned."""

    measurements: tuple[Measurement, ...]
    gpus: tuple[Gpu, ...]
    unknowns: tuple[Unknown, ...]
    complete: bool = True
    """False when the user stopped it, or the line was cut: what was finished by then is here."""
    stopped: bool = False
    """Whether it was the user."""
    taken_over: int = 0
    """Measurements of an earlier run among these."""
    answers: Mapping[int, str] = field(default_factory=dict)
    """What was learned of functions of an engine, by entry, as JSON."""
    failures: Mapping[int, str] = field(default_factory=dict)
    """Why entries could not be done."""
    seconds: float = 0.0
    """How long the payload worked there; 0 where it did not come to its end."""
    processor_seconds: float = 0.0
    """What it took of the host's processors; likewise."""


def run_plan(
    plan: wire.Plan,
    shell: AttendingShell,
    pythons: Sequence[str],
    *,
    known: Mapping[str, Measurement] | None = None,
    progress: Progress | None = None,
) -> ProbeResult:
    """Carry out a plan.

    Args:
        plan: What to check and time.
        shell: The machine.
        pythons: Paths there, or names on PATH; the first that can be run is taken, and must have torch and triton.
        known: Measurements of an earlier run, by key, that need not be taken again.
        progress: Told of every entry.

    Raises:
        NoTorch: that Python does not have them.
        NoGpu: torch sees no GPU.
        GpuBusy: the GPU is in use, given out by a scheduler to others, or in a mode that is not touched unasked.
        Unreadable: the payload answered with something else than results, or found no place.
        Unreachable: the machine did not answer.

    None of them is raised once anything was learned: that is kept, and the last of the unknowns says what ended it.
    """
    plan = told(plan, known or {})
    told_of = progress or Silent()
    reading = Reading(plan, known or {})
    listener = _Listener(reading, told_of)
    told_of.start(f"kernels: {plan.mode}", len(plan.entries))
    lost: ReconError | None = None
    reply = Reply("", "", 0)
    stopped = False
    try:
        reply = shell.attend(
            script_of(plan, pythons),
            listener,
            timeout_s=plan.deadline_s + plan.patience_s + GRACE_S,
            cap_bytes=SAID_BYTES,
        )
    except KeyboardInterrupt:
        stopped = True
    except ReconError as error:
        lost = error
    told_of.finish()
    trouble = _refusal(reading) or lost
    if trouble is not None and not reading.has_learned:
        raise trouble
    short = _shortfall(reading, reply, trouble, stopped=stopped)
    rest = (Unknown(REST, shell.name, short),) if short else ()
    return ProbeResult(
        reading.measurements(),
        reading.gpus(),
        (*reading.unknowns(), *rest),
        complete=not short,
        stopped=stopped,
        taken_over=len(reading.taken_over),
        answers=reading.behaved,
        failures={each.entry: in_a_line(each.why) for each in reading.failed},
        seconds=reading.done.seconds if reading.done else 0.0,
        processor_seconds=reading.done.processor_seconds if reading.done else 0.0,
    )


def _shortfall(reading: Reading, reply: Reply, trouble: ReconError | None, *, stopped: bool) -> str:
    """Why this is not all that was asked for; empty where it is."""
    left = len(reading.unanswered)
    behind = f"; {left} of {len(reading.plan.entries)} entries were not answered" if left else ""
    if stopped:
        return f"it was stopped{behind}"
    if trouble is not None:
        return f"{trouble.sentence.removesuffix('.')}{behind}"
    if reading.done is None:
        return f"the payload ended early: {_last_words(reply)}{behind}"
    if reading.done.interrupted:
        left_out = [in_a_line(each.why) for each in reading.failed if each.stage == "plan"]
        return f"the payload stopped: {left_out[-1] if left_out else 'it does not say why'}{behind}"
    return f"the payload came to its end{behind}" if behind else ""


def told(plan: wire.Plan, known: Mapping[str, Measurement]) -> wire.Plan:
    """The plan as the payload is told it: for these files, and with what need not be measured again."""
    return replace(plan, payload=payload_digest(), known=tuple(sorted(known)))


def reusable(measurements: Sequence[Measurement]) -> dict[str, Measurement]:
    """Those that another run may take over, by key: they agreed, and nobody else used the GPU meanwhile."""
    return {
        each.key: each
        for each in measurements
        if each.mode in {"gpu", "interpret"}
        and not (each.agreement and each.agreement.mismatches)
        and (each.spread is not None or each.mode == "interpret")
        and not any(state and state.other_processes for state in (each.before, each.after))
    }


def _refusal(reading: Reading) -> ReconError | None:
    """What the payload's refusal is to a user."""
    refused = reading.refused
    if refused is None:
        return None
    kind, before, hint = _HINTS.get(refused.why, (Unreadable, "the payload refused its plan: ", ""))
    return kind(f"{before}{refused.detail}", hint)


def _last_words(reply: Reply) -> str:
    """Why it ended: it said too much, or its exit status with the end of what it wrote to standard error."""
    if reply.status == CUT:
        return f"it said more than {SAID_BYTES} bytes"
    lines = reply.stderr.strip().splitlines()
    return f"exit status {reply.status}; {lines[-1][:400] if lines else 'no message'}"


@dataclass(slots=True)
class _Listener:
    """Takes what the payload says in pieces, and tells of each line."""

    reading: Reading
    progress: Progress
    begun: float = field(default_factory=time.monotonic)
    _rest: bytes = b""
    _done: int = 0
    _lately: deque[float] = field(default_factory=lambda: deque(maxlen=LATELY))
    """When the latest entries were done."""

    def __call__(self, piece: bytes) -> None:
        """Take a piece.

        Raises:
            Unreadable: it holds something else than results.
        """
        *lines, self._rest = (self._rest + piece).split(b"\n")
        if len(self._rest) > wire.LINE_LIMIT_BYTES:
            raise Unreadable(f"the payload said something else than a result: a line of {len(self._rest)} bytes")
        for line in lines:
            self._take(line.decode("utf-8", errors="replace"))

    def _take(self, text: str) -> None:
        try:
            line = wire.decode(text)
            self.reading.take(line)
        except wire.WireError as error:
            raise Unreadable(f"the payload said something else than a result: {error}") from error
        done = self.reading.answered - self._done
        match line:
            case wire.Started():
                self._tell(done, f"{line.stage} {wire.name_of(self.reading.entry(line.entry))}")
            case wire.Result() | wire.Failed() | wire.Known() | wire.Behaved():
                self._tell(done, wire.name_of(self.reading.entry(line.entry)), timed=not isinstance(line, wire.Known))
            case wire.Done() if done:  # the last that was built
                self._tell(done, "")

    def _tell(self, amount: int, note: str, *, timed: bool = True) -> None:
        if amount and timed:
            self._lately.append(time.monotonic())
        self._done += amount
        self.progress.advance(amount, f"{note}{self._left()}")

    def _left(self) -> str:
        """How long the rest will take, if it goes on as it did lately; never longer than the plan allows."""
        if len(self._lately) < FEW:
            return ""
        now, plan = time.monotonic(), self.reading.plan
        pace = (now - self._lately[0]) / (len(self._lately) - 1)
        left = min(pace * (len(plan.entries) - self._done), plan.deadline_s - (now - self.begun))
        return f", {max(0.0, left):.0f} s left"
