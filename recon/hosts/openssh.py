"""Scripts over the system's ssh: for what paramiko cannot do. One ssh each, or all through a master of ours.

The configuration is the user's own, with a few settings in front of it: nothing is forwarded, no local command runs,
host keys are taken as strictly as with paramiko, and no master is left behind. A master that the user has is made use
of. One of our own is only started where ssh may have to ask something, so that it asks once.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from recon.errors import ReconError, TimedOut, Unreachable
from recon.hosts.complaints import read
from recon.hosts.effective import Effective
from recon.hosts.exchange import Line, LineDead, NotStarted, unusable
from recon.hosts.exec_script import COMMAND
from recon.hosts.identity import known_keys, proven
from recon.hosts.process_line import ProcessLine
from recon.hosts.throttle import Crowded, crowded, seat, tried

ALIVE_EVERY_S = 15
ALIVE_MOST = 4
PERSON_S = 120.0
FAILED = 255
"""Status of an ssh that did not get as far as the command."""
_ENDS_WITHIN_S = 1.0
_ESCORT = """\
exec 3<&0
"$@" </dev/null 3<&- & master=$!
{ cat; kill "$master"; } <&3 >/dev/null 2>&1 &
exec 3<&-
wait "$master"
"""
"""Runs a master for as long as somebody holds its standard input: a client that was killed leaves none behind."""


def program() -> str | None:
    """The system's ssh, if there is one."""
    return shutil.which("ssh")


@dataclass(frozen=True, slots=True)
class OpensshCarrier:
    """An ssh for each script."""

    name: str
    route: Sequence[Effective]
    words: Sequence[str]
    """ssh and its options, up to the host."""
    config: Path | None = None
    """As `ssh -F`."""
    _running: set[subprocess.Popen[bytes]] = field(default_factory=set)

    @property
    def identity(self) -> str:
        """The name and the keys by which ssh trusts the host; it does not say which one of them that was."""
        host = self.route[-1]
        return proven(host, known_keys(host))

    @contextlib.contextmanager
    def line(self, timeout_s: float) -> Iterator[Line]:
        """Start an ssh; it and what it started are killed on leaving, which ends what runs over there."""
        first = self.route[0]
        with contextlib.ExitStack() as shaking:
            shaking.enter_context(seat(first.hostname, first.port, timeout_s))
            # Whatever must be asked was asked by the master: an ssh that does not find it must not ask again.
            words = [self.words[0], "-o", "BatchMode=yes", *self.words[1:]]
            child = _started([*words, "--", self.route[-1].target.host, COMMAND])
            self._running.add(child)
            try:
                with ProcessLine(child, shaking.close).watched() as line:
                    yield line
                    line.await_end(_ENDS_WITHIN_S)
            finally:
                self._running.discard(child)
                _ended(child)

    def explained(self, dead: LineDead) -> Unreachable:
        """What ssh would not say."""
        return Unreachable(f"{self.name}: {dead}", "Did the host restart, or a firewall drop the connection?")

    def unstarted(self, why: NotStarted) -> ReconError | Crowded:
        """What ssh complained of; or else it is the login shell."""
        if why.status == FAILED:
            return read(self.name, self.route, why.said, self.config)
        return unusable(self.name, why)

    def abort(self) -> None:
        """Kill what runs."""
        for child in tuple(self._running):
            _kill(child)


@contextlib.contextmanager
def carried(
    name: str,
    route: Sequence[Effective],
    *,
    config: Path | None,
    accept_new: bool,
    connect_timeout_s: float,
    asks: bool,
) -> Iterator[OpensshCarrier]:
    """A way to a host by the system's ssh; what it started is gone on leaving.

    Args:
        name: The host as the user calls it.
        route: The hosts on the way, for what errors say.
        config: As `ssh -F`.
        accept_new: Whether the key of a host of which none is known may be added.
        connect_timeout_s: For the connection.
        asks: Whether ssh may ask on the terminal: then it does so now, and once.

    Raises:
        ReconError: there is no ssh, or it could not log in where it may ask.
    """
    ssh = program()
    if ssh is None:
        raise Unreachable(f"{name}: there is no ssh program on this machine", "Install OpenSSH's client.")
    host = route[-1]
    words = [ssh, *_options(host, config, accept_new=accept_new, connect_timeout_s=connect_timeout_s, asks=asks)]
    with contextlib.ExitStack() as stack:
        if asks:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="recon-")))  # mode 0700
            words += ["-S", str(folder / "master")]
            tried_master = lambda: stack.enter_context(_master(name, route, words, folder / "master", config))  # noqa: E731
            try:
                tried(tried_master)
            except Crowded as crowd:
                raise crowded(name, crowd) from crowd
        carrier = OpensshCarrier(name, route, words, config)
        stack.callback(carrier.abort)
        yield carrier


def _options(
    host: Effective, config: Path | None, *, accept_new: bool, connect_timeout_s: float, asks: bool
) -> Iterator[str]:
    yield from ("-F", str(config)) if config else ()
    yield from ("-l", host.target.user) if host.target.user else ()
    yield from ("-p", str(host.target.port)) if host.target.port else ()
    yield "-T"
    settings = {
        "BatchMode": "no" if asks else "yes",
        "ClearAllForwardings": "yes",
        "ConnectionAttempts": "1",
        "ConnectTimeout": f"{host.connect_timeout_s or connect_timeout_s:.0f}",
        "ControlMaster": "no",
        "EscapeChar": "none",
        "ForwardAgent": "no",
        "ForwardX11": "no",
        "LogLevel": "ERROR",
        "NumberOfPasswordPrompts": "1",
        "PermitLocalCommand": "no",
        "RemoteCommand": "none",
        "StrictHostKeyChecking": "accept-new" if accept_new and host.user_known_hosts_files else "yes",
        "UpdateHostKeys": "no",
    }
    if not host.server_alive_interval_s:
        settings |= {"ServerAliveInterval": str(ALIVE_EVERY_S), "ServerAliveCountMax": str(ALIVE_MOST)}
    for keyword, value in settings.items():
        yield from ("-o", f"{keyword}={value}")


@contextlib.contextmanager
def _master(
    name: str, route: Sequence[Effective], words: Sequence[str], socket: Path, config: Path | None
) -> Iterator[None]:
    """An ssh that logs in, asking what it must on the terminal, and stays for the others."""
    with contextlib.ExitStack() as stack:
        said = stack.enter_context(tempfile.TemporaryFile())
        with seat(route[0].hostname, route[0].port, PERSON_S):
            # It stays in our session: elsewhere it would have no terminal to ask on.
            child = subprocess.Popen(
                # ssh heeds what it reads first: -M stands before the other settings.
                ["/bin/sh", "-c", _ESCORT, "sh", words[0], "-M", "-N", *words[1:], "--", route[-1].target.host],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=said,
            )
            stack.callback(_dismissed, child)
            end = time.monotonic() + PERSON_S
            while not socket.exists():
                if child.poll() is not None:
                    raise read(name, route, _all(said), config)
                if time.monotonic() > end:
                    raise TimedOut(f"{name}: ssh has not logged in within {PERSON_S:g} s")
                time.sleep(0.02)
        yield


def _all(said: IO[bytes]) -> bytes:
    return os.pread(said.fileno(), 1 << 16, 0)


def _dismissed(child: subprocess.Popen[bytes]) -> None:
    """End a master by letting go of its escort."""
    assert child.stdin is not None
    child.stdin.close()
    try:
        child.wait(_ENDS_WITHIN_S)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()


def _started(words: Sequence[str]) -> subprocess.Popen[bytes]:
    """An ssh in a session of its own: Ctrl-C reaches us alone, and what it starts can be ended with it."""
    return subprocess.Popen(
        words,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "LC_ALL": "C"},
        start_new_session=True,
    )


def _ended(child: subprocess.Popen[bytes]) -> None:
    _kill(child)
    for stream in (child.stdin, child.stdout, child.stderr):
        with contextlib.suppress(OSError):
            if stream:
                stream.close()
    with contextlib.suppress(subprocess.TimeoutExpired):
        child.wait(_ENDS_WITHIN_S)


def _kill(child: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)
