"""An ssh agent of the tests' own: it holds what it is told to, whatever that is, and can be odd."""

import socket
import threading
from collections.abc import Callable, Iterable
from pathlib import Path

from recon.errors import Unreachable
from recon.hosts.wire import Reader, string

FAILURE, LISTED, SIGNED = b"\x05", b"\x0c", b"\x0e"


class FakeAgent:
    """Answers on a socket until it is closed.

    Attributes:
        asked: Public keys that it was asked to sign with, in order.
    """

    def __init__(
        self, path: Path, held: Iterable[tuple[bytes, str]], sign: Callable[[bytes, bytes, int], bytes]
    ) -> None:
        """Listen on a socket.

        Args:
            path: The socket.
            held: Public keys and comments.
            sign: Makes a signature from a key, data and flags; raises Unreachable to refuse.
        """
        self.asked: list[bytes] = []
        self._held = tuple(held)
        self._sign = sign
        self._door = socket.socket(socket.AF_UNIX)
        self._door.bind(str(path))
        self._door.listen()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop answering."""
        self._door.shutdown(socket.SHUT_RDWR)
        self._door.close()
        self._thread.join(5)

    def _serve(self) -> None:
        while True:
            try:
                caller, _ = self._door.accept()
            except OSError:
                return
            with caller:
                while length := caller.recv(4, socket.MSG_WAITALL):
                    caller.sendall(string(self._answer(caller.recv(int.from_bytes(length), socket.MSG_WAITALL))))

    def _answer(self, question: bytes) -> bytes:
        reader = Reader(question)
        kind = reader.take(1)[0]
        if kind == 11:
            listed = (string(blob) + string(comment.encode()) for blob, comment in self._held)
            return LISTED + len(self._held).to_bytes(4) + b"".join(listed)
        if kind == 13:
            blob, data, flags = reader.string(), reader.string(), reader.number()
            self.asked.append(blob)
            try:
                return SIGNED + string(self._sign(blob, data, flags))
            except Unreachable:
                return FAILURE
        return FAILURE
