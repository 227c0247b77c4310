"""A process that imports torch once, never touches a GPU, and forks a child for each kernel.

What a child does to itself (a hang, a fault, memory that runs out) ends that child alone: it becomes a `Failed` line of
the entry it was at, and the entries behind that one get a child of their own.
"""

import contextlib
import ctypes
import os
import resource
import selectors
import signal
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby
from pathlib import Path

from .device import Reading, Smi, visible_gpu
from .faults import beyond_programs
from .wire import (
    LINE_LIMIT_BYTES,
    Behaved,
    Compiled,
    Done,
    Entry,
    Failed,
    Hello,
    Known,
    Line,
    Plan,
    Refused,
    Result,
    Started,
    WireError,
    decode,
    encode,
    key_of,
    name_of,
)

LEAVE_S = 15.0
"""What a child may take to end after its last word: it gives back what it had of the GPU."""
REAP_S = 3.0
"""How long one that was killed is waited for: a driver may hold it for ever."""
LEAST_DEVICE_S = 10.0
"""Device time that a kernel gets though it has few cases, as long as there is so much: checks take some, too."""
SETTLE_S = 1.0
"""What a driver may take to forget a process that is over."""
LAST_WORDS_BYTES = 2000
_PR_SET_PDEATHSIG = 1

Carry = Callable[[Plan, Callable[[Line], None]], int]
"""Carries a plan out in this process, and writes lines."""


def write_to(pipe: int, line: Line) -> None:
    """Write a line, whole."""
    left = memoryview(f"{encode(line)}\n".encode())
    while left:
        left = left[os.write(pipe, left) :]


def die_with_parent(parent: int) -> None:
    """Have the kernel kill this process when its parent has ended, where the system can do that."""
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it ended in between
        os._exit(1)


@dataclass(slots=True)
class _Child:
    """A child at work: what it was given, how far it is, and how it ended."""

    pid: int
    pipe: int
    errors: Path
    heard: bytearray = field(default_factory=bytearray)
    hung: bool = False
    odd: str = ""
    """What it said that none of ours says: an engine's code runs in it, and may write or replace what it likes."""

    def lines(self, patience_s: float, job: tuple[Entry, ...] = ()) -> Iterator[Line]:
        """What it says of its job, until it ends, says nothing for too long, or says what none of ours does.

        What it had not finished saying is dropped.
        """
        mine, answered = {entry.id for entry in job}, set[int]()
        with selectors.DefaultSelector() as selector:
            selector.register(self.pipe, selectors.EVENT_READ)
            while True:
                if not selector.select(patience_s):
                    self.hung = True
                    return
                piece = os.read(self.pipe, 1 << 16)
                if not piece:
                    return
                self.heard += piece
                *whole, rest = self.heard.split(b"\n")
                self.heard = rest
                for text in whole:
                    line = self._taken(text, mine, answered)
                    if line is None:
                        return
                    yield line
                if len(rest) > LINE_LIMIT_BYTES:
                    self.odd = f"a line of more than {LINE_LIMIT_BYTES} bytes"
                    return

    def _taken(self, text: bytes | bytearray, mine: set[int], answered: set[int]) -> Line | None:
        """The line that a text is; None where it is none, or speaks of what it was not given."""
        try:
            line = decode(text.decode())
        except (WireError, UnicodeDecodeError) as error:
            self.odd = str(error)
            return None
        number = getattr(line, "entry", None)
        if number is not None and number not in mine:
            self.odd = f"it was not given entry {number}"
        if isinstance(line, Result | Behaved):
            if number in answered:
                self.odd = f"entry {number} was answered twice"
            answered.add(line.entry)
        return None if self.odd else line

    def end(self) -> str | None:
        """Make sure that it is over; how it ended, empty where that was well, None where it does not end."""
        os.close(self.pipe)
        code = None if self.hung or self.odd else self._ended(LEAVE_S)
        if code is None:
            os.kill(self.pid, signal.SIGKILL)
            code, self.hung = self._ended(REAP_S), not self.odd
            return None if code is None else ""
        if code < 0:
            return self._words(_name_of_signal(-code))
        return self._words(f"exit status {code}") if code not in {0, 1, 130} else ""

    def _ended(self, within_s: float) -> int | None:
        """Its exit status, negative for a signal; None where it does not end in time."""
        end = time.monotonic() + within_s
        while time.monotonic() < end:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                return os.waitstatus_to_exitcode(status)
            time.sleep(0.005)
        return None

    def _words(self, how: str) -> str:
        try:
            with self.errors.open("rb") as file:
                file.seek(max(0, file.seek(0, os.SEEK_END) - LAST_WORDS_BYTES))
                said = file.read().decode("utf-8", "replace").strip().splitlines()
        except OSError:
            said = []
        return f"{how}{f': {said[-1]}' if said else ''}"


def _processor_s() -> float:
    """Processor time of this process, and of its children that are over."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def _others(reading: Reading | None) -> str:
    return reading.state.other_processes if reading else ""


def _job_of(entry: Entry) -> tuple[str, int]:
    """What a child is for: one kernel, or one function of an engine with the kernel that it is timed beside."""
    return entry.kernel, entry.subject


def _name_of_signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


@dataclass(slots=True)
class Server:
    """One plan, carried out by children."""

    plan: Plan
    pipe: int
    """Where lines go; children have others."""
    carry: Carry
    folder: Path
    """For what children say on standard error."""
    begin: float = field(default_factory=time.monotonic)
    device_s: float = 0.0
    children: int = 0
    hello: Hello | None = None
    smi: Smi = field(init=False)
    """Asked whether somebody else came, between two children; it needs no GPU of ours."""
    before: Reading | None = None
    """The GPU before anything was done on it."""

    def __post_init__(self) -> None:
        """Ask about the GPU that children will take."""
        self.smi = Smi(self.plan.gpu or visible_gpu())

    def write(self, line: Line) -> None:
        """Say something to the keeper."""
        write_to(self.pipe, line)

    def run(self) -> int:
        """Introduce the device, then work through the kernels; the exit code."""
        refused = self._introduce()
        if refused:
            self.write(refused)
            return 1
        lost = ""
        todo = self._todo()
        while todo and not lost:
            job = todo.popleft()
            left = self.plan.deadline_s - (time.monotonic() - self.begin)
            lost = self._taken_away()
            if lost or left <= 0:
                todo.appendleft(job)
                break
            again, lost = self._do(job, left, sum(map(len, todo)))
            todo.extendleft(reversed(again))
        why = lost or f"left out: {self.plan.deadline_s:.0f} s were over"
        for entry in (each for job in todo for each in job):
            self.write(Failed(entry.id, "plan", why))
        self.write(Done(bool(lost), time.monotonic() - self.begin, self.device_s, _processor_s()))
        return 0

    def _introduce(self) -> Refused | None:
        """Say what there is to run on, as a child sees it; why that is nothing, where it is."""
        said: list[Line] = []
        child = self._forked(replace(self.plan, entries=()))
        said.extend(child.lines(self.plan.patience_s))
        how = child.end()
        for line in said:
            if isinstance(line, Hello):
                self.hello = line
                self.write(line)
                return None
            if isinstance(line, Refused):
                return line
        silent = f"it said nothing for {self.plan.patience_s:.0f} s" if child.hung or how is None else how
        why = silent if not child.odd else self._why(child, "")
        return Refused("no_gpu" if self.plan.mode == "gpu" else "no_torch", f"starting there failed: {why}")

    def _todo(self) -> deque[tuple[Entry, ...]]:
        """What is left to do, kernel by kernel in the order of the plan."""
        assert self.hello is not None
        known, left = frozenset(self.plan.known), []
        for entry in self.plan.entries:
            if key_of(self.plan, self.hello.device, name_of(entry), entry.axes, subject=entry.subject) in known:
                self.write(Known(entry.id))
            else:
                left.append(entry)
        order = list(dict.fromkeys(map(_job_of, left)))
        left.sort(key=lambda entry: order.index(_job_of(entry)))  # stable: cases stay as they are
        return deque(tuple(group) for _, group in groupby(left, key=_job_of))

    def _taken_away(self) -> str:
        """Why nothing more may be begun on the GPU; asked between two children, when none of ours is on it."""
        if self.plan.mode != "gpu" or self.smi.silent:
            return ""
        reading = self.smi.read()
        self.before = self.before or reading
        if self.before and reading and (faults := beyond_programs(self.before.xids, reading.xids)):
            return f"the driver reported faults of the GPU meanwhile: Xid {', '.join(map(str, faults))}"
        if self.plan.allow_busy or not _others(reading):
            return ""
        time.sleep(SETTLE_S)
        others = _others(self.smi.read())
        return f"somebody else began to use the GPU (pid, MiB): {others}" if others else ""

    def _do(self, job: tuple[Entry, ...], left_s: float, behind: int) -> tuple[list[tuple[Entry, ...]], str]:
        """Have a child do a job; what is to be done again, in turn, and why nothing more can be."""
        child = self._forked(
            replace(self.plan, entries=job, deadline_s=left_s, device_limit_s=self._share(job, behind), allow_busy=True)
        )
        finished: set[int] = set()
        begun: dict[int, str] = {}  # entries that are not finished, with the stage that each is at; the latest is last
        last: Done | Refused | None = None
        for line in child.lines(self.plan.patience_s, job):
            match line:
                case Started():
                    begun.pop(line.entry, None)
                    begun[line.entry] = line.stage
                case Result() | Failed() | Behaved():
                    finished.add(line.entry)
                    begun.pop(line.entry, None)
                case Done() | Refused():
                    last = line
                    break
            if isinstance(line, Started | Result | Failed | Compiled | Behaved):
                self.write(line)
        how = child.end()
        unfinished = [entry for entry in job if entry.id not in finished]
        if how is None:
            return [tuple(unfinished)], "a process that was killed does not end: the driver or the device hangs"
        if isinstance(last, Refused):
            return [tuple(unfinished)], last.detail
        if last is None:
            return self._after(unfinished, begun, self._why(child, how)), ""
        self.device_s += last.device_seconds
        # One that was interrupted has said what failed, and lost its device: the rest gets a new one.
        return [tuple(unfinished)] if last.interrupted and finished and unfinished else [], ""

    def _share(self, job: tuple[Entry, ...], behind: int) -> float:
        """Device time of a kernel, by its entries: what it leaves goes to those behind it."""
        left = max(0.0, self.plan.device_limit_s - self.device_s)
        return min(left, max(LEAST_DEVICE_S, left * len(job) / (len(job) + behind)))

    def _why(self, child: _Child, how: str) -> str:
        if child.odd:
            return f"it said something else than a result: {child.odd}"[:LAST_WORDS_BYTES]
        if child.hung:
            return f"it hangs: no word for {self.plan.patience_s:.0f} s, so it was killed"
        return f"its process ended by {how}" if how else "its process ended early"

    def _after(self, unfinished: list[Entry], begun: dict[int, str], why: str) -> list[tuple[Entry, ...]]:
        """What to do again after a child died: all but the culprit. Where several were timed together, each alone."""
        latest = next(reversed(begun), unfinished[0].id if unfinished else -1)
        stage = begun.get(latest, "start")
        together = [entry for entry in unfinished if begun.get(entry.id) == "measure" == stage]
        if len(together) > 1:
            rest = [entry for entry in unfinished if entry not in together]
            return [*((entry,) for entry in together), *((tuple(rest),) if rest else ())]
        rest = [entry for entry in unfinished if entry.id != latest]
        if unfinished:
            self.write(Failed(latest, stage, why))
        return [tuple(rest)] if rest else []

    def _forked(self, plan: Plan) -> _Child:
        """A child that carries a plan out."""
        self.children += 1
        errors = self.folder / f"errors-{self.children}.txt"
        read, write = os.pipe()
        parent = os.getpid()
        pid = os.fork()
        if pid == 0:
            os.close(read)
            os.close(self.pipe)
            _child(self.carry, plan, write, errors, parent)
        os.close(write)
        return _Child(pid, read, errors)


def _child(carry: Carry, plan: Plan, pipe: int, errors: Path, parent: int) -> None:
    """The life of a child: it never returns."""
    status = 70
    try:
        die_with_parent(parent)
        try:
            said = os.open(errors, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        except OSError:  # a disk without room: then its words go where the server's do
            said = 2
        os.dup2(said, 1)
        os.dup2(said, 2)
        status = carry(plan, partial(write_to, pipe))
    except BaseException as error:  # noqa: BLE001  whatever it is, this process must not go on as its parent
        with contextlib.suppress(Exception):
            print(f"{type(error).__name__}: {error}"[:LAST_WORDS_BYTES], file=sys.stderr, flush=True)  # noqa: T201
    finally:
        os._exit(status)
