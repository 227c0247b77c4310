"""One script run over a line: written, beaten for, drained on both streams, and never waited for without end."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from recon.errors import LoginShell, TimedOut, Unreachable
from recon.hosts.exec_script import ATTENDED_EVERY_S, BEAT, BEAT_EVERY_S, LOST, LOST_S, Frame, nonce, wrapped
from recon.hosts.local import CUT, MIB
from recon.numbers import number
from recon.ports import Reply

PIECE = 1 << 15
STDOUT_CAP_BYTES = 64 * MIB
STDERR_CAP_BYTES = MIB
STATUS_DIGITS = 3
_TICK_S = 0.05


class LineDead(Exception):
    """What carried a command is gone; says why in a few words."""


class NotStarted(Exception):
    """COMMAND ended, and no sh had begun.

    Attributes:
        said: What was said on both streams instead.
        status: Its exit status, where it is known.
    """

    def __init__(self, said: bytes, status: int | None) -> None:
        """Keep what there is to explain it with."""
        super().__init__(said, status)
        self.said = said
        self.status = status


class Line(Protocol):
    """COMMAND running on a host, as three streams of which none ever blocks."""

    def send(self, piece: memoryview) -> int:
        """Hand over what there is room for; how much that was.

        Raises:
            LineDead: it can carry nothing more.
        """
        ...

    def receive(self) -> tuple[bytes, bytes]:
        """What came on standard output and standard error since; both empty where nothing did.

        Raises:
            LineDead: it can carry nothing more.
        """
        ...

    def wait(self, seconds: float) -> None:
        """Return once something may have come, or after so many seconds."""
        ...

    def over(self) -> bool:
        """Whether both streams have ended and all of them was received."""
        ...

    def status(self) -> int | None:
        """Exit status of COMMAND, where it is known."""
        ...


@dataclass(slots=True)
class Exchange:
    """What is said and heard while one script runs."""

    name: str
    line: Line
    sink: Callable[[bytes], None]
    cap_bytes: int
    timeout_s: float
    clock: Callable[[], float] = time.monotonic
    mark: str = field(default_factory=nonce)
    attended: bool = False
    """Whether the script watches the beats itself."""
    noise: str = ""
    """The first line of what came before the script's own words, once it is over."""
    _room: int = 0
    _stderr: bytearray = field(default_factory=bytearray)
    _cut: bool = False

    def hold(self, script: str) -> Reply:
        """Run the script to its end; the reply's `stdout` is empty, since the sink has it.

        Raises:
            NotStarted: something else answered than sh.
            LineDead: the line died before the script was over.
            TimedOut: it was not over in time.
            Unreachable: the other side heard nothing of this one and ended it.
        """
        out, err = Frame(self.mark), Frame(self.mark)
        unsaid = memoryview(wrapped(script, self.mark, self.timeout_s, attended=self.attended))
        every_s = ATTENDED_EVERY_S if self.attended else BEAT_EVERY_S
        self._room = self.cap_bytes
        ends = self.clock() + self.timeout_s
        beat_at = self.clock() + every_s
        while not (self._cut or (out.status and err.status)):
            now = self.clock()
            if now >= ends:
                raise self._late(out)
            said = self.line.send(unsaid[:PIECE]) if unsaid else 0
            unsaid = unsaid[said:]
            if not unsaid and now >= beat_at:
                self.line.send(memoryview(BEAT))
                beat_at = now + every_s
            ended = self.line.over()  # asked before the last pieces are taken, so that none is missed
            stdout, stderr = self.line.receive()
            self._keep(out.take(stdout), err.take(stderr))
            if not (stdout or stderr) and ended:
                break
            if not (stdout or stderr or said):
                self.line.wait(min(_TICK_S, ends - now))
        self.noise = first_line(bytes(out.noise + b"\n" + err.noise))
        return self._reply(out, err)

    def _keep(self, stdout: bytes, stderr: bytes) -> None:
        self._cut = len(stdout) > self._room
        stdout = stdout[: self._room]
        self._room -= len(stdout)
        if stdout:
            self.sink(stdout)
        self._stderr += stderr[: max(STDERR_CAP_BYTES - len(self._stderr), 0)]

    def _reply(self, out: Frame, err: Frame) -> Reply:
        stderr = self._stderr.decode("utf-8", "surrogateescape")
        if self._cut:
            return Reply("", stderr, CUT)
        if out.status == LOST:
            raise Unreachable(
                f"{self.name}: it heard nothing of us for {LOST_S} s and ended the script",
                "The line is cut or very slow, or this machine slept; try again.",
            )
        if (status := number(out.status, STATUS_DIGITS)) is not None:
            return Reply("", stderr, status)
        if out.begun:
            said = first_line(bytes(self._stderr).rstrip().rpartition(b"\n")[2])
            raise LineDead("the connection ended in the middle of a script" + (f", after {said!r}" if said else ""))
        raise NotStarted(bytes(out.noise + b"\n" + err.noise), self.line.status())

    def _late(self, out: Frame) -> TimedOut:
        waited = f"{self.name}: no answer within {self.timeout_s:g} s"
        if out.begun:
            return TimedOut(waited, "A busy disk or a hanging mount?")
        said = first_line(bytes(out.noise))
        return TimedOut(f"{waited}: no sh was started" + (f", it said {said!r}" if said else ""), SHELL_HINT)


SHELL_HINT = "recon needs an account whose login shell may start /bin/sh. Or run `recon collect` by hand there."
_REFUSALS = {
    "restricted": "the login shell is restricted and may not start /bin/sh",
    "not available": "the account has no login shell",
    "not found": "there is no /bin/sh",
    "no such file": "there is no /bin/sh",
}
_STRANGE = "something else than sh answered: a login shell of its own kind, or a forced command"


def unusable(name: str, why: NotStarted) -> LoginShell:
    """The error for a command line that started no sh, by what was said instead."""
    said = first_line(why.said)
    text = why.said.decode("utf-8", "replace").lower()
    reason = next((reason for word, reason in _REFUSALS.items() if word in text), _STRANGE)
    ended = "" if why.status is None else f" (status {why.status})"
    return LoginShell(f"{name}: {reason}{ended}" + (f": {said!r}" if said else ""), SHELL_HINT)


def first_line(text: bytes, width: int = 120) -> str:
    """The first line that says something, as printable text."""
    lines = (line.strip() for line in text.decode("utf-8", "replace").splitlines())
    line = next((line for line in lines if line), "")
    return "".join(letter if letter.isprintable() else "?" for letter in line)[:width]
