"""What a connection runs over before SSH begins: a socket or a ProxyCommand, and what was heard on it first."""

import contextlib
import errno
import os
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import IO, Protocol

from recon.errors import HostNameUnknown, TimedOut, Unreachable
from recon.hosts.exchange import first_line

_FAMILIES = {"inet": socket.AF_INET, "inet6": socket.AF_INET6}
_FIRST_BYTES = 512
_ENDS_WITHIN_S = 1.0


class Wire(Protocol):
    """What paramiko needs of a socket: one, or a channel of another connection."""

    def send(self, data: bytes, /) -> int:
        """Write some of the data."""
        ...

    def recv(self, size: int, /) -> bytes:
        """Read what is there."""
        ...

    def settimeout(self, seconds: float | None, /) -> None:
        """How long both may take."""
        ...

    def close(self) -> None:
        """End it."""
        ...


@dataclass(slots=True)
class Heard:
    """A wire that remembers the first bytes that came: they tell a crowded sshd from something that is none."""

    wire: Wire
    first: bytearray = field(default_factory=bytearray)
    _closed: bool = False
    """paramiko looks at it, as sockets of Python have it."""

    def recv(self, size: int) -> bytes:
        """Read, and remember the beginning."""
        piece = self.wire.recv(size)
        if len(self.first) < _FIRST_BYTES:
            self.first += piece[:_FIRST_BYTES]
        return piece

    def send(self, data: bytes) -> int:
        """Write some of the data."""
        return self.wire.send(data)

    def settimeout(self, seconds: float | None) -> None:
        """How long both may take."""
        self.wire.settimeout(seconds)

    def close(self) -> None:
        """End it."""
        self._closed = True
        self.wire.close()


def connected(
    name: str, host: str, port: int, *, timeout_s: float, family: str, alive_s: float, source: str = ""
) -> socket.socket:
    """A TCP connection.

    Args:
        name: The host as errors call it.
        host: Name or address.
        port: Its port.
        timeout_s: For each of its addresses.
        family: `any`, `inet` or `inet6`.
        source: Address of ours to come from; any where it is empty.
        alive_s: After so long without an acknowledgement the kernel gives up, where it can be told.

    Raises:
        HostNameUnknown: there is no such host.
        Unreachable: there is no way, or nobody listens.
        TimedOut: nothing answered.
    """
    try:
        addresses = socket.getaddrinfo(host, port, _FAMILIES.get(family, socket.AF_UNSPEC), socket.SOCK_STREAM)
    except (socket.gaierror, UnicodeError) as error:
        raise HostNameUnknown(
            f"{name}: there is no host called {host!r}",
            "A typing error, or a name that only a VPN or a jump host knows?",
        ) from error
    failure: OSError | None = None
    for kind, _, _, _, address in addresses:
        try:
            return _dialled(kind, address, source, timeout_s, alive_s)
        except OSError as error:
            failure = error
    assert failure is not None, "getaddrinfo gives one address or raises"
    raise _refused(name, host, port, timeout_s, failure) from failure


def _dialled(kind: int, address: object, source: str, timeout_s: float, alive_s: float) -> socket.socket:
    wire = socket.socket(kind, socket.SOCK_STREAM)
    try:
        wire.settimeout(timeout_s)
        if source:
            wire.bind((source, 0))
        wire.connect(address)  # type: ignore[arg-type]  # whatever getaddrinfo gave
        wire.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if option := getattr(socket, "TCP_USER_TIMEOUT", None):
            wire.setsockopt(socket.IPPROTO_TCP, option, int(alive_s * 1000))
    except BaseException:
        wire.close()
        raise
    return wire


def _refused(name: str, host: str, port: int, timeout_s: float, error: OSError) -> Unreachable:
    where = f"{host} port {port}"
    if isinstance(error, TimeoutError):
        return TimedOut(
            f"{name}: {where} did not answer within {timeout_s:g} s", "A firewall that drops, or a host that is off?"
        )
    if isinstance(error, ConnectionRefusedError):
        return Unreachable(f"{name}: {where} refuses connections", "Is sshd running there, on that port?")
    if error.errno in {errno.EHOSTUNREACH, errno.ENETUNREACH, errno.ENETDOWN, errno.EHOSTDOWN}:
        return Unreachable(f"{name}: no route to {where}", "Is the network or the VPN up?")
    return Unreachable(f"{name}: {where}: {error.strerror or error}")


@dataclass(frozen=True, slots=True)
class Proxy:
    """A running ProxyCommand, and our end of what it carries."""

    command: str
    wire: socket.socket
    child: subprocess.Popen[bytes]
    said: IO[bytes]

    def complaint(self) -> str:
        """How it ended, with the first line that it said on standard error; empty while it runs."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.child.wait(_ENDS_WITHIN_S)
        if self.child.returncode is None:
            return ""
        said = first_line(os.pread(self.said.fileno(), 4096, 0))
        return f"ProxyCommand ended with status {self.child.returncode}" + (f": {said!r}" if said else "")


@contextlib.contextmanager
def proxied(name: str, command: str) -> Iterator[Proxy]:
    """Run a ProxyCommand, and kill it and all that it started on leaving.

    It has a session of its own, so that Ctrl-C does not cut the line before what runs over it has ended; for that it
    has no terminal either, and cannot ask for anything.

    Raises:
        Unreachable: it did not start.
    """
    ours, theirs = socket.socketpair()
    with ours, tempfile.TemporaryFile() as said:
        with theirs:
            try:
                child = subprocess.Popen(
                    ["/bin/sh", "-c", f"exec {command}"],
                    stdin=theirs.fileno(),
                    stdout=theirs.fileno(),
                    stderr=said.fileno(),
                    start_new_session=True,
                )
            except OSError as error:
                raise Unreachable(f"{name}: ProxyCommand did not start: {error.strerror or error}") from error
        try:
            yield Proxy(command, ours, child, said)
        finally:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(child.pid, signal.SIGKILL)
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(_ENDS_WITHIN_S)
