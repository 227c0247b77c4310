"""The pipes of a local process as a line."""

import contextlib
import os
import selectors
import subprocess
from collections.abc import Callable, Iterator
from typing import IO

_PIECE = 1 << 18


class ProcessLine:
    """A running ssh as three streams."""

    def __init__(self, child: subprocess.Popen[bytes], answered: Callable[[], object]) -> None:
        """Take over the pipes of a child; `answered` is called when the first byte is here."""
        assert child.stdin is not None
        assert child.stdout is not None
        assert child.stderr is not None
        self._child, self._answered = child, answered
        self._stdin, self._stdout, self._stderr = child.stdin, child.stdout, child.stderr
        self._open: set[IO[bytes]] = {self._stdout, self._stderr}
        self._selector = selectors.DefaultSelector()

    @contextlib.contextmanager
    def watched(self) -> Iterator["ProcessLine"]:
        """Have the pipes say when something came."""
        with self._selector:
            for stream in (self._stdin, self._stdout, self._stderr):
                os.set_blocking(stream.fileno(), False)
            for stream in self._open:
                self._selector.register(stream, selectors.EVENT_READ)
            yield self

    def send(self, piece: memoryview) -> int:
        """Write what there is room for; what nobody reads is lost, as with every closed pipe."""
        try:
            return os.write(self._stdin.fileno(), piece)
        except BlockingIOError:
            return 0
        except BrokenPipeError:
            return len(piece)

    def receive(self) -> tuple[bytes, bytes]:
        """What came on both streams since."""
        stdout, stderr = self._read(self._stdout), self._read(self._stderr)
        if stdout:
            self._answered()
        return stdout, stderr

    def wait(self, seconds: float) -> None:
        """Return once something may have come, or after so many seconds."""
        if self._open:
            self._selector.select(seconds)

    def over(self) -> bool:
        """Whether both streams have ended."""
        return not self._open

    def status(self) -> int | None:
        """Exit status; None where it does not end soon."""
        self.await_end(1.0)
        return self._child.returncode

    def await_end(self, seconds: float) -> None:
        """Wait until it has ended, or for so many seconds."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._child.wait(seconds)

    def _read(self, stream: IO[bytes]) -> bytes:
        if stream not in self._open:
            return b""
        try:
            piece = os.read(stream.fileno(), _PIECE)
        except BlockingIOError:
            return b""
        if not piece:
            self._open.discard(stream)
            self._selector.unregister(stream)
        return piece
