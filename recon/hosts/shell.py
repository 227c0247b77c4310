"""A machine that is reached by SSH, as a Shell: scripts go one after the other over whatever carries them."""

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import Protocol

from recon.errors import ReconError, Unreachable
from recon.hosts.exchange import STDOUT_CAP_BYTES, Exchange, Line, LineDead, NotStarted
from recon.hosts.exec_script import COMMAND
from recon.hosts.throttle import Crowded, crowded, tried
from recon.ports import Reply


class Carrier(Protocol):
    """A way to start COMMAND on a host."""

    @property
    def identity(self) -> str:
        """As `recon.ports.HostShell.identity`."""
        ...

    def line(self, timeout_s: float) -> AbstractContextManager[Line]:
        """Start it, and end all of it on leaving.

        Raises:
            ReconError: it could not be started.
        """
        ...

    def explained(self, dead: LineDead) -> Unreachable:
        """What is known of why a line died."""
        ...

    def unstarted(self, why: NotStarted) -> ReconError | Crowded:
        """What is known of why no sh was started; Crowded if it is worth trying again."""
        ...

    def abort(self) -> None:
        """Break whatever is waited for; may be called from any thread."""
        ...


@dataclass(frozen=True, slots=True)
class SshShell:
    """A POSIX sh on a host."""

    name: str
    user: str
    """Who is logged in there."""
    transport: str
    """What carries it and, where that is not the usual, why: `openssh: the key is a security key`."""
    carrier: Carrier
    line: str = COMMAND
    """The one command line that is started there; every script is its standard input."""
    notes: tuple[str, ...] = ()
    """What the user should know of the connection."""
    _turn: threading.Lock = field(default_factory=threading.Lock)
    _noises: list[str] = field(default_factory=list)

    @property
    def identity(self) -> str:
        """What the connection proved of the machine, as a digest."""
        return self.carrier.identity

    @property
    def noise(self) -> str:
        """The first line of what was said before the first script, printable and short; '' for none."""
        return next(iter(self._noises), "")

    def run(self, script: str, *, timeout_s: float = 30.0) -> Reply:
        """Run a script and end all that it started when it is over, or late.

        Bytes that are not UTF-8 are kept as surrogates.

        Raises:
            ReconError: the host did not answer, or not in time, or starts no sh.
        """
        heard = bytearray()
        reply = self.stream(script, heard.extend, timeout_s=timeout_s, cap_bytes=STDOUT_CAP_BYTES)
        return replace(reply, stdout=heard.decode("utf-8", "surrogateescape"))

    def stream(self, script: str, sink: Callable[[bytes], None], *, timeout_s: float, cap_bytes: int) -> Reply:
        """Run a script whose standard output goes to `sink` as it comes, and end all that it started.

        Raises:
            ReconError: the host did not answer, or not in time, or starts no sh.
        """
        return self._held(script, sink, timeout_s, cap_bytes, attended=False)

    def attend(self, script: str, sink: Callable[[bytes], None], *, timeout_s: float, cap_bytes: int) -> Reply:
        """As `stream`, for a script that watches the beats of this side on its descriptor 3, and ends by itself.

        Raises:
            ReconError: the host did not answer, or not in time, or starts no sh.
        """
        return self._held(script, sink, timeout_s, cap_bytes, attended=True)

    def _held(
        self, script: str, sink: Callable[[bytes], None], timeout_s: float, cap_bytes: int, *, attended: bool
    ) -> Reply:
        # One at a time: a host may allow a single session (MaxSessions), and a script has the machine's attention.
        with self._turn:
            try:
                return tried(lambda: self._once(script, sink, timeout_s, cap_bytes, attended=attended))
            except Crowded as crowd:
                raise crowded(self.name, crowd) from crowd
            except LineDead as dead:
                raise self.carrier.explained(dead) from dead

    def _once(
        self, script: str, sink: Callable[[bytes], None], timeout_s: float, cap_bytes: int, *, attended: bool
    ) -> Reply:
        try:
            with self.carrier.line(timeout_s) as line:
                exchange = Exchange(self.name, line, sink, cap_bytes, timeout_s, attended=attended)
                reply = exchange.hold(script)
                self._noises.append(exchange.noise)
                return reply
        except NotStarted as why:
            raise self.carrier.unstarted(why) from why

    def abort(self) -> None:
        """Make a script that another thread waits for fail now."""
        self.carrier.abort()
