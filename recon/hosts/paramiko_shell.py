"""Scripts over paramiko: one channel each on a connection that stays, with a pulse on every hop."""

import contextlib
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import paramiko

from recon.errors import LoginShell, Unreachable
from recon.hosts.exchange import SHELL_HINT, Line, LineDead, NotStarted, unusable
from recon.hosts.exec_script import COMMAND
from recon.hosts.watch import Pulse, within

OPENS_WITHIN_S = 20.0
_PIECE = 1 << 18
_REFUSALS = 6
_CLOSES_WITHIN_S = 1.0
_NAP_S = 0.05
_SPARE_S = 2.0
"""What a blocked write gets beyond a script's own deadline before its connection is broken."""


@dataclass(frozen=True, slots=True)
class Hop:
    """A host on the way: its connection, and whether it still answers."""

    name: str
    """As errors call it: `gpu1`, or `gpu1: jump host bastion`."""
    transport: paramiko.Transport
    pulse: Pulse


@dataclass(frozen=True, slots=True)
class ParamikoCarrier:
    """Channels of the last of several connections, each inside the one before."""

    name: str
    hops: Sequence[Hop]
    identity: str
    """Of the last one."""

    @contextlib.contextmanager
    def line(self, timeout_s: float) -> Iterator[Line]:
        """Open a channel and start COMMAND in it; it is closed on leaving, which ends what runs over there.

        Raises:
            Unreachable: no channel was opened.
        """
        channel = self._opened(min(timeout_s, OPENS_WITHIN_S))
        try:
            with within(timeout_s + _SPARE_S, self.abort), ChannelLine(channel).watched() as line:
                yield line
                # An answer that is whole: sh ends by itself, and the host has its session back before the next one.
                line.await_end(_CLOSES_WITHIN_S)
        except TimeoutError as error:
            raise LineDead("nothing could be written to it") from error
        finally:
            channel.close()

    def explained(self, dead: LineDead) -> Unreachable:
        """Who fell silent first, of the hosts on the way and the host itself."""
        for hop in self.hops:
            if hop.pulse.silent():
                return Unreachable(
                    f"{hop.name}: no sign of life for {hop.pulse.limit_s:g} s",
                    "The line is cut, or the host hangs. ServerAliveInterval and its CountMax say how long to wait.",
                )
        for hop in self.hops[:-1]:
            if not hop.transport.is_active():
                return Unreachable(f"{hop.name} ended the connection")
        return Unreachable(f"{self.name}: {dead}", "Did the host restart, or a firewall drop the connection?")

    def unstarted(self, why: NotStarted) -> LoginShell:
        """We are logged in: it is the login shell."""
        return unusable(self.name, why)

    def abort(self) -> None:
        """Break every connection, the last one first."""
        for hop in reversed(self.hops):
            hop.pulse.stop()
            hop.transport.close()

    def _opened(self, timeout_s: float) -> paramiko.Channel:
        transport = self.hops[-1].transport
        for refusals in range(_REFUSALS):
            try:
                with within(timeout_s, self.abort):
                    channel = transport.open_session(timeout=timeout_s)
                    channel.exec_command(COMMAND)
            except paramiko.ChannelException as error:
                if refusals == _REFUSALS - 1:
                    raise Unreachable(
                        f"{self.name}: it opens no session: {error.text}",
                        "Its MaxSessions may be 0, or the account may have no more processes.",
                    ) from error
                time.sleep(0.05 * 2**refusals)  # the one before may not be closed over there yet
            except TimeoutError as error:
                raise self.explained(LineDead(f"no session was opened within {timeout_s:g} s")) from error
            except (paramiko.SSHException, EOFError, OSError) as error:
                if transport.is_active():
                    raise LoginShell(f"{self.name}: it lets us in and runs no command: {error}", SHELL_HINT) from error
                raise self.explained(LineDead("the connection has ended")) from error
            else:
                return channel
        raise AssertionError("the last refusal is raised")


class ChannelLine:
    """A channel as three streams."""

    def __init__(self, channel: paramiko.Channel) -> None:
        channel.setblocking(0)
        self._channel = channel
        self._came = threading.Event()

    @contextlib.contextmanager
    def watched(self) -> Iterator["ChannelLine"]:
        """Have the channel say when something came.

        By an event, not by `fileno()`: the pipe behind that is closed by whoever ends the channel, at times twice, and
        the second close then takes a descriptor that meanwhile is somebody else's: another connection's socket.
        """
        for buffer in (self._channel.in_buffer, self._channel.in_stderr_buffer):
            buffer.set_event(self._came)
        yield self

    def send(self, piece: memoryview) -> int:
        """Hand over what the window has room for; what a closed channel is told is lost, as with a closed pipe."""
        try:
            return int(self._channel.send(piece.tobytes()))
        except TimeoutError:
            return 0
        except (OSError, EOFError, paramiko.SSHException):
            return len(piece)

    def receive(self) -> tuple[bytes, bytes]:
        """What came on both streams since."""
        channel = self._channel
        stdout = channel.recv(_PIECE) if channel.recv_ready() else b""
        stderr = channel.recv_stderr(_PIECE) if channel.recv_stderr_ready() else b""
        if not (stdout or stderr) and not channel.get_transport().is_active():
            raise LineDead("the connection has ended")
        return stdout, stderr

    def wait(self, seconds: float) -> None:
        """Return once something may have come, or after so many seconds."""
        if not (self._channel.recv_ready() or self._channel.recv_stderr_ready()):
            self._came.wait(min(seconds, _NAP_S))  # reading one stream to its end unsets what the other had set

    def over(self) -> bool:
        """Whether the host sends nothing more and all was taken."""
        channel = self._channel
        ended = channel.closed or channel.eof_received
        return ended and not (channel.recv_ready() or channel.recv_stderr_ready())

    def status(self) -> int | None:
        """Exit status of COMMAND; None where it is not known, after a little while."""
        self.await_end(_CLOSES_WITHIN_S)
        return self._channel.recv_exit_status() if self._channel.exit_status_ready() else None

    def await_end(self, seconds: float) -> None:
        """Wait until the other side has closed the channel, or for so many seconds."""
        end = time.monotonic() + seconds
        while not self._channel.closed and self._channel.get_transport().is_active() and time.monotonic() < end:
            self._channel.status_event.wait(0.005)
            time.sleep(0.002)
