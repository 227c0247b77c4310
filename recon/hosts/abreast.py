"""Several hosts side by side: each is talked to in a thread of its own, and what they give is taken up in one."""

import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar

from recon.errors import Fault, ReconError
from recon.ports import Progress

T = TypeVar("T")
MOST = 16
"""Hosts talked to at a time."""
LEAVING_S = 2.0
"""How long threads that were told to stop are waited for, all of them together."""


@dataclass(frozen=True, slots=True)
class Job(Generic[T]):
    """What is done with one host."""

    name: str
    work: Callable[[Progress], Iterator[T]]
    """Runs in a thread; it ends soon once its progress raises."""
    abort: Callable[[], None] = lambda: None
    """Called from another thread: makes whatever the work waits for fail."""
    summary: Callable[[], str] = lambda: "all is here"
    """Asked when the work is done: how complete what it gave is."""


class Stopped(BaseException):
    """The work of a thread is not wanted any more."""


@dataclass(frozen=True, slots=True)
class _Told(Generic[T]):
    """One message of a thread: what it gave, how far it is, how it failed; `over` is its last."""

    name: str
    given: T | None = None
    step: Callable[["_Board"], None] | None = None
    failed: Exception | None = None
    over: bool = False


_Queue: TypeAlias = queue.SimpleQueue[_Told[T]]


def abreast(
    jobs: Sequence[Job[T]], progress: Progress, most: int = MOST
) -> Generator[tuple[str, T | ReconError], None, None]:
    """What the jobs give, as it comes, with the name of the job; an error of one ends that one alone.

    An error that nobody foresaw is a Fault, and ends its own job alone as well. Nobody waits for a thread that does not
    stop: it dies with the process.
    """
    told: _Queue[T] = queue.SimpleQueue()
    stop = threading.Event()
    threads = _started(deque(jobs), told, stop, min(most, len(jobs)))
    try:
        yield from _taken(told, _Board(progress, alone=len(jobs) == 1), len(jobs))
    finally:
        stop.set()
        for job in jobs:
            job.abort()
        ends = time.monotonic() + LEAVING_S
        for thread in threads:
            thread.join(max(0.0, ends - time.monotonic()))


def _started(waiting: deque[Job[T]], told: _Queue[T], stop: threading.Event, number: int) -> list[threading.Thread]:
    """Threads that serve the jobs that wait."""

    def serve() -> None:
        while not stop.is_set():
            try:
                job = waiting.popleft()
            except IndexError:
                return
            _serve(job, told, stop)

    threads = [threading.Thread(target=serve, daemon=True) for _ in range(number)]
    for thread in threads:
        thread.start()
    return threads


def _taken(told: _Queue[T], board: "_Board", left: int) -> Iterator[tuple[str, T | ReconError]]:
    """What so many jobs tell, until each said its last word."""
    while left:
        message = told.get()
        left -= message.over
        if message.step is not None:
            message.step(board)
        if message.given is not None:
            yield message.name, message.given
            board.leave()
        if message.failed is not None:
            failed = message.failed
            yield message.name, failed if isinstance(failed, ReconError) else Fault.of(failed)


def _serve(job: Job[T], told: _Queue[T], stop: threading.Event) -> None:
    failed = None
    try:
        for given in job.work(_Relay(job.name, told, stop)):
            told.put(_Told(job.name, given=given))
            if stop.is_set():
                return
    except Stopped:
        return
    except Exception as error:  # noqa: BLE001 - it is given where the jobs are waited for
        failed = error
    how = "failed" if failed else job.summary()
    told.put(_Told(job.name, step=lambda board: board.end(job.name, how), failed=failed, over=True))


class _Relay(Generic[T]):
    """The progress of one job, told to the thread that waits."""

    def __init__(self, name: str, told: _Queue[T], stop: threading.Event) -> None:
        self._name = name
        self._told = told
        self._stop = stop

    def start(self, task: str, total: int | None) -> None:
        """Begin a task."""
        self._tell(lambda board: board.start(self._name, task, total))

    def advance(self, amount: int = 1, note: str = "") -> None:
        """Say so much more is done."""
        self._tell(lambda board: board.advance(self._name, amount, note))

    def finish(self, note: str = "") -> None:
        """End the task."""
        self._tell(lambda board: board.finish(self._name, note))

    def _tell(self, step: Callable[["_Board"], None]) -> None:
        if self._stop.is_set():
            raise Stopped
        self._told.put(_Told(self._name, step=step))


class _Board:
    """One progress for several jobs: the task that began last is shown, until it ends or another begins."""

    def __init__(self, progress: Progress, *, alone: bool) -> None:
        self._progress = progress
        self._alone = alone
        self._shown = ""

    def start(self, name: str, task: str, total: int | None) -> None:
        self._shown = name
        self._progress.start(f"{name}: {task}", total)

    def advance(self, name: str, amount: int, note: str) -> None:
        if name == self._shown:
            self._progress.advance(amount, note)
        else:
            self._progress.advance(0)  # a stop that was asked for is heard of here

    def finish(self, name: str, note: str) -> None:
        if name == self._shown:
            self._progress.finish(note)

    def end(self, name: str, how: str) -> None:
        if not self._alone:
            self._progress.start(name, None)
            self._progress.finish(how)
            self._shown = ""

    def leave(self) -> None:
        """Others speak of their own work meanwhile: no task of ours is shown any more."""
        self._shown = ""
