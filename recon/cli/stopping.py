"""Being asked to stop: Ctrl-C, a terminal that closes and a polite kill all end a command the same way, saved."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

from recon.ports import Progress

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Stop:
    """Whether somebody asked this process to stop."""

    def __init__(self) -> None:
        self.asked = False
        self._owner = os.getpid()

    def __call__(self, number: int, frame: FrameType | None) -> NoReturn:
        """The handler of signals.

        Raises:
            KeyboardInterrupt: always, in the process that made this.
        """
        del frame
        if os.getpid() != self._owner:  # a child between its birth and its own handlers: it has nothing to save
            os._exit(128 + number)
        self.asked = True
        raise KeyboardInterrupt


class Stoppable:
    """A Progress that raises KeyboardInterrupt where a stop was asked for and got lost.

    A library in C may call Python in the middle of its work and turn what that raises, a stop too, into an error of
    its own or into nothing. Then the next word about progress ends the work.
    """

    def __init__(self, inner: Progress, stop: Stop) -> None:
        self._inner = inner
        self._stop = stop

    def start(self, task: str, total: int | None) -> None:
        """Begin a task."""
        self._check()
        self._inner.start(task, total)

    def advance(self, amount: int = 1, note: str = "") -> None:
        """Say so much more is done."""
        self._check()
        self._inner.advance(amount, note)

    def finish(self, note: str = "") -> None:
        """End the task."""
        self._check()
        self._inner.finish(note)

    def _check(self) -> None:
        if self._stop.asked:
            raise KeyboardInterrupt


@contextmanager
def stoppable(progress: Progress) -> Iterator[Progress]:
    """The progress of work that signals may stop; handlers are put back at the end."""
    stop = Stop()
    before = {number: signal.getsignal(number) for number in SIGNALS}
    for number, handler in before.items():
        if handler is not signal.SIG_IGN:  # under nohup, a closing terminal stops nothing
            signal.signal(number, stop)
    try:
        yield Stoppable(progress, stop)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def unstoppable() -> Iterator[None]:
    """A moment in which signals wait: what was learned is being saved. The first that came is raised at its end."""
    came: list[int] = []

    def wait(number: int, frame: FrameType | None) -> None:
        del frame
        came.append(number)

    # Handlers, not a mask: a mask is one thread's, and any other thread of the process would take the signal.
    before = {number: signal.getsignal(number) for number in SIGNALS}
    waiting = [number for number, handler in before.items() if handler is not signal.SIG_IGN]
    for number in waiting:
        signal.signal(number, wait)
    try:
        yield
    finally:
        for number in waiting:
            signal.signal(number, before[number])
        if came:
            signal.raise_signal(came[0])
