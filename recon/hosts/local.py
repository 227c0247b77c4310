"""This machine, as a Shell over subprocess."""

import contextlib
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from recon.errors import Unreachable
from recon.ports import Reply

MIB = 1 << 20

KEPT = (
    "CONDA_PREFIX",
    "HOME",
    "LD_LIBRARY_PATH",
    "LOGNAME",
    "PATH",
    "PYENV_ROOT",
    "PYTHONPATH",
    "PYTHONUSERBASE",
    "USER",
    "UV_CACHE_DIR",
    "UV_PYTHON_INSTALL_DIR",
    "UV_TOOL_DIR",
    "VIRTUAL_ENV",
    "XDG_CACHE_HOME",
    "XDG_DATA_HOME",
)
"""Variables that facts ask about or programs need. Everything else stays behind: ENV and BASH_ENV would run code."""

CUT = 141
"""Status of a script that said more than the cap: what a shell reports for a writer whose reader went away."""

_CHUNK = 1 << 16
_TICK_S = 0.1
_PUTS_AWAY_S = 5.0
"""How long a script may take to put away what it has, after its client's end."""
_ATTENDED = "{{\nexec 3<&0 </dev/null\n{}\nexit\n}}\n"
"""One compound command, so that sh has read all of it when it begins: what is left of the stream is the client."""


@dataclass(frozen=True, slots=True)
class LocalShell:
    """A POSIX sh on this machine, in a session of its own: it has no terminal, so nothing in it can prompt."""

    name: str = "localhost"
    program: tuple[str, ...] = ("sh", "-s")
    """Reads the script on its standard input."""
    stdout_cap_bytes: int = 64 * MIB
    """A script that says more is killed; its reply holds what came and the status CUT."""
    stderr_cap_bytes: int = MIB
    """What goes beyond is read and dropped."""
    environment: Mapping[str, str] = field(default_factory=lambda: clean_environment(os.environ))

    def run(self, script: str, *, timeout_s: float = 30.0) -> Reply:
        """Run a script and end all that it started when it is over, or late.

        Bytes that are not UTF-8 are kept as surrogates, so that odd file names survive the way back.

        Raises:
            Unreachable: there is no sh, or the script was not done in time.
        """
        heard = bytearray()
        reply = self.stream(script, heard.extend, timeout_s=timeout_s, cap_bytes=self.stdout_cap_bytes)
        return replace(reply, stdout=_text(heard))

    def stream(self, script: str, sink: Callable[[bytes], None], *, timeout_s: float, cap_bytes: int) -> Reply:
        """Run a script whose standard output goes to `sink` as it comes, and end all that it started.

        Raises:
            Unreachable: there is no sh, or the script was not done in time.
        """
        child = self._started()
        talk = _Talk(child, script, sink, cap_bytes, self.stderr_cap_bytes)
        try:
            over = talk.hold(time.monotonic() + timeout_s)
        finally:
            status = _end(child)
        return self._reply(talk, status, timeout_s, over=over)

    def attend(self, script: str, sink: Callable[[bytes], None], *, timeout_s: float, cap_bytes: int) -> Reply:
        """As `stream`; descriptor 3 of the script ends when this process does, and says nothing before.

        Raises:
            Unreachable: there is no sh, or the script was not done in time.
        """
        child = self._started()
        talk = _Talk(child, _ATTENDED.format(script), sink, cap_bytes, self.stderr_cap_bytes, attended=True)
        try:
            over = talk.hold(time.monotonic() + timeout_s)
        finally:
            _close(child.stdin)  # the end of the stream: it puts away what it has
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(_PUTS_AWAY_S)
            status = _end(child)
        return self._reply(talk, status, timeout_s, over=over)

    def _started(self) -> subprocess.Popen[bytes]:
        try:
            # The context manager of Popen would wait for ever for a child in uninterruptible sleep.
            return subprocess.Popen(
                self.program,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=dict(self.environment),
                start_new_session=True,
            )
        except OSError as error:
            raise Unreachable(
                f"{self.name}: {self.program[0]} did not start: {error.strerror or error}",
                "A POSIX sh must be on PATH.",
            ) from error

    def _reply(self, talk: "_Talk", status: int, timeout_s: float, *, over: bool) -> Reply:
        if not over:
            raise Unreachable(f"{self.name}: no answer within {timeout_s:g} s", "A busy disk or a hanging mount?")
        return Reply("", talk.stderr, CUT if talk.cut else status)


def clean_environment(inherited: Mapping[str, str]) -> dict[str, str]:
    """The few variables that a script sees, in the C locale."""
    kept = {name: inherited[name] for name in KEPT if name in inherited}
    return {"PATH": os.defpath, **kept, "LC_ALL": "C"}


class _Talk:
    """One exchange: the script goes in while both streams are drained, so that no side can block the other."""

    def __init__(
        self,
        child: subprocess.Popen[bytes],
        script: str,
        sink: Callable[[bytes], None],
        stdout_cap: int,
        stderr_cap: int,
        *,
        attended: bool = False,
    ) -> None:
        assert child.stdin is not None
        assert child.stdout is not None
        assert child.stderr is not None
        self.cut = False
        self._child = child
        self._attended = attended
        self._script = memoryview(script.encode("utf-8", "surrogateescape"))
        self._stdin, self._stdout, self._stderr = child.stdin, child.stdout, child.stderr
        self._complaints = bytearray()
        self._sinks = {self._stdout: sink, self._stderr: self._complaints.extend}
        self._room = {self._stdout: stdout_cap, self._stderr: stderr_cap}

    @property
    def stderr(self) -> str:
        return _text(self._complaints)

    def hold(self, deadline: float) -> bool:
        """Talk until the child is done or said too much; False if the deadline came first."""
        os.set_blocking(self._stdin.fileno(), False)
        with selectors.DefaultSelector() as selector:
            selector.register(self._stdin, selectors.EVENT_WRITE)
            selector.register(self._stdout, selectors.EVENT_READ)
            selector.register(self._stderr, selectors.EVENT_READ)
            while not self.cut and set(self._sinks) & {key.fileobj for key in selector.get_map().values()}:
                left = deadline - time.monotonic()
                if left <= 0:
                    return False
                ready = selector.select(min(left, _TICK_S))
                for key, _ in ready:
                    self._serve(selector, key.fileobj)
                # A process left in the background can hold the streams open long after the script is over.
                if not ready and self._child.poll() is not None:
                    return True
        return self.cut or self._wait(deadline)

    def _serve(self, selector: selectors.BaseSelector, stream: object) -> None:
        """Move the bytes that one stream is ready for; forget the stream when it is over."""
        if stream is self._stdin:
            if not self._say():
                selector.unregister(self._stdin)
                if not self._attended:
                    _close(self._stdin)
            return
        source = self._stdout if stream is self._stdout else self._stderr
        chunk = os.read(source.fileno(), _CHUNK)
        if not chunk:
            selector.unregister(source)
        room = self._room[source]
        self.cut = self.cut or (source is self._stdout and len(chunk) > room)
        self._room[source] -= len(chunk[:room])
        if chunk[:room]:
            self._sinks[source](chunk[:room])

    def _say(self) -> bool:
        """Write more of the script; False when all is written or nobody listens."""
        try:
            written = os.write(self._stdin.fileno(), self._script[:_CHUNK])
        except BlockingIOError:
            return True
        except BrokenPipeError:
            return False
        self._script = self._script[written:]
        return bool(self._script)

    def _wait(self, deadline: float) -> bool:
        try:
            self._child.wait(max(deadline - time.monotonic(), 0))
        except subprocess.TimeoutExpired:
            return False
        return True


def _end(child: subprocess.Popen[bytes]) -> int:
    """Kill whatever is left of the child's group, and say how the child ended."""
    with contextlib.suppress(ProcessLookupError, PermissionError):  # macOS says PermissionError for zombies
        os.killpg(child.pid, signal.SIGKILL)
    for stream in (child.stdin, child.stdout, child.stderr):
        _close(stream)
    try:
        status = child.wait(1)
    except subprocess.TimeoutExpired:  # uninterruptible, as a hanging driver makes it: it is not waited for
        return -signal.SIGKILL
    return status if status >= 0 else 128 - status


def _text(heard: bytearray) -> str:
    """What was heard; bytes that are not UTF-8 are kept as surrogates."""
    return heard.decode("utf-8", "surrogateescape")


def _close(stream: object) -> None:
    """Close a pipe; what could not be flushed into it is lost on purpose."""
    with contextlib.suppress(OSError):
        getattr(stream, "close", lambda: None)()
