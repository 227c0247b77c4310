"""How far long work is, on standard error: nothing within the first second, nothing that moves off a terminal."""

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeAlias

from recon.cli.session import ProgressMode, Session, write
from recon.ports import Progress, Silent

if TYPE_CHECKING:
    from rich.progress import Progress as Bars
    from rich.progress import TaskID

PATIENCE_S = 1.0
"""Work that ends within this time is not spoken of."""
EVERY_S = 15.0
"""Seconds between two plain lines of one task."""

Clock: TypeAlias = Callable[[], float]


@contextmanager
def progress_of(session: Session, clock: Clock = time.monotonic) -> Iterator[Progress]:
    """The progress that the session asks for, ended when the work is."""
    mode = session.progress
    if session.quiet or mode is ProgressMode.NONE:
        yield Silent()
    elif mode is ProgressMode.JSON:
        yield Lines(clock, as_json=True)
    elif mode is ProgressMode.PLAIN or not sys.stderr.isatty():
        yield Lines(clock)
    else:
        live = Live(clock)
        try:
            yield live
        finally:
            live.stop()


class Lines:
    """Progress as lines: one where a task has run for a while, then every few seconds, then one at its end."""

    def __init__(self, clock: Clock, *, as_json: bool = False) -> None:
        self._clock = clock
        self._as_json = as_json
        self._begun = clock()
        self._task = ""
        self._total: int | None = None
        self._done = 0
        self._said = self._begun - EVERY_S
        self._spoken = False

    def start(self, task: str, total: int | None) -> None:
        """Begin a task."""
        self._task, self._total, self._done, self._spoken = task, total, 0, False
        self._speak("", force=False)

    def advance(self, amount: int = 1, note: str = "") -> None:
        """Say so much more is done, if it is time to speak."""
        self._done += amount
        self._speak(note, force=False)

    def finish(self, note: str = "") -> None:
        """End the task; a task that was spoken of gets a last line."""
        if self._task and (self._spoken or note):
            self._speak(note or "done", force=True)
        self._task = ""

    def _speak(self, note: str, *, force: bool) -> None:
        now = self._clock()
        if now - self._begun < PATIENCE_S or (not force and now - self._said < EVERY_S):
            return
        self._said, self._spoken = now, True
        if self._as_json:
            event = {"task": self._task, "done": self._done, "total": self._total, "note": note}
            write(sys.stderr, json.dumps(event) + "\n")
            return
        of = f" of {self._total:,}" if self._total is not None else ""
        amount = f": {self._done:,}{of}" if self._done or of else ""
        write(sys.stderr, f"{_plain(self._task)}{amount}{f' ({_plain(note)})' if note else ''}\n")


class Live:
    """Progress as one moving line of a terminal."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._begun = clock()
        self._bars: Bars | None = None
        self._id = 0
        self._task = ""
        self._total: int | None = None
        self._done = 0

    def start(self, task: str, total: int | None) -> None:
        """Begin a task."""
        self._task, self._total, self._done = task, total, 0
        if self._bars is not None:
            self._bars.remove_task(self._task_id())
            self._id = int(self._bars.add_task(_plain(task), total=total, note=""))

    def advance(self, amount: int = 1, note: str = "") -> None:
        """Move the line, once there is one."""
        self._done += amount
        if self._bars is None and self._clock() - self._begun >= PATIENCE_S:
            self._show()
        if self._bars is not None:
            self._bars.update(self._task_id(), completed=self._done, note=_plain(note))

    def finish(self, note: str = "") -> None:
        """End the task; the line stays for the next one."""
        if self._bars is not None:
            self._bars.update(self._task_id(), completed=self._done, note=_plain(note))

    def stop(self) -> None:
        """Take the line away."""
        if self._bars is not None:
            self._bars.stop()

    def _show(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
        from rich.progress import Progress as Bars

        self._bars = Bars(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("{task.fields[note]}", markup=False),
            console=Console(stderr=True, highlight=False, emoji=False),
            transient=True,
        )
        self._id = int(self._bars.add_task(_plain(self._task), total=self._total, completed=self._done, note=""))
        self._bars.start()

    def _task_id(self) -> "TaskID":
        from rich.progress import TaskID

        return TaskID(self._id)


def _plain(text: str) -> str:
    from recon.report.text import clipped, visible

    return clipped(visible(text), 80)
