"""The ssh agent: which keys it holds, and signatures by them. Own words on its socket, since it may hang or be odd."""

import socket
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from recon.errors import Unreachable
from recon.hosts.wire import Malformed, Reader, string

_LIST, _LISTED = 11, 12
_SIGN, _SIGNED = 13, 14
_LARGEST = 256 << 10
"""What OpenSSH reads at most."""
_LIST_S = 5.0
_SIGN_S = 60.0
"""An agent may ask its user first, or wait for a touch."""


@dataclass(frozen=True, slots=True)
class Held:
    """A public key, or a certificate, of which the agent has the private key."""

    blob: bytes
    comment: str


class Agent(Protocol):
    """Holds keys and signs with them."""

    def held(self) -> Sequence[Held]:
        """What it holds, in its own order.

        Raises:
            Unreachable: it does not answer, or not as an agent does.
        """
        ...

    def sign(self, blob: bytes, data: bytes, flags: int) -> bytes:
        """A signature, with its algorithm before it.

        Args:
            blob: One of those that it holds.
            data: What to sign.
            flags: For RSA, 2 for SHA-256 and 4 for SHA-512.

        Raises:
            Unreachable: it does not answer, or refuses.
        """
        ...


@dataclass(frozen=True, slots=True)
class SocketAgent:
    """The agent behind a socket. Each question is a connection of its own."""

    path: Path

    def held(self) -> Sequence[Held]:
        """What it holds.

        Raises:
            Unreachable: it does not answer, or not as an agent does.
        """
        reader = self._ask(bytes([_LIST]), _LISTED, _LIST_S)
        try:
            found = [Held(reader.string(), reader.text()) for _ in range(reader.number())]
            reader.end()
        except Malformed as error:
            raise self._odd(str(error)) from error
        return found

    def sign(self, blob: bytes, data: bytes, flags: int) -> bytes:
        """A signature.

        Raises:
            Unreachable: it does not answer, or refuses.
        """
        reader = self._ask(bytes([_SIGN]) + string(blob) + string(data) + flags.to_bytes(4), _SIGNED, _SIGN_S)
        try:
            return reader.string()
        except Malformed as error:
            raise self._odd(str(error)) from error

    def _ask(self, question: bytes, wanted: int, seconds: float) -> Reader:
        """The agent's answer, after its type."""
        try:
            with closing(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)) as door:
                door.settimeout(seconds)
                door.connect(str(self.path))
                door.sendall(string(question))
                answer = _exactly(door, int.from_bytes(_exactly(door, 4)))
        except (OSError, Malformed) as error:
            raise Unreachable(
                f"the ssh agent at {self.path} does not answer: {getattr(error, 'strerror', '') or error}",
                "Is it running? ssh-add -l asks it too.",
            ) from error
        reader = Reader(answer)
        if reader.take(1)[0] != wanted:
            raise self._odd("it refuses")
        return reader

    def _odd(self, what: str) -> Unreachable:
        return Unreachable(f"the ssh agent at {self.path}: {what}", "Is it locked? ssh-add -l asks it too.")


def _exactly(door: socket.socket, length: int) -> bytes:
    if not 0 < length <= _LARGEST:
        raise Malformed(f"an answer of {length} bytes")
    got = bytearray()
    while len(got) < length:
        part = door.recv(length - len(got))
        if not part:
            raise Malformed("it hung up")
        got += part
    return bytes(got)
