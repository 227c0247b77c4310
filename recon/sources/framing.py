"""What a script of `host_scripts` says, cut at its nonce. Everything before, between and after the frames is noise."""

import zlib
from collections.abc import Callable, Iterator

from recon.errors import Unreadable

_HEAD_BYTES = 1 << 20
"""What may come before the first frame: banners and what profiles print."""
_PIECE_BYTES = 1 << 20


class HostileStream(Unreadable):
    """A host sent what no honest answer holds."""

    kind = "hostile_stream"


def frames(data: bytes, nonce: str) -> Iterator[tuple[str, bytes]]:
    """(words of the head line, body) of each frame that another head line closes."""
    pieces = data.split(f"\n{nonce} ".encode())
    for piece in pieces[1:-1]:
        head, _, body = piece.partition(b"\n")
        yield head.decode("ascii", "replace"), body


class Incoming:
    """Sink of a stream: waits for the first head line, inflates what follows if it says gzip, and hands it on."""

    def __init__(self, nonce: str, taker: Callable[[str], Callable[[bytes], None]], cap_bytes: int) -> None:
        """Prepare.

        Args:
            nonce: Of the script.
            taker: Given the first word of the head line, says who takes the bytes.
            cap_bytes: Ceiling of the inflated bytes.
        """
        self._mark = f"\n{nonce} ".encode()
        self._taker = taker
        self._take: Callable[[bytes], None] | None = None
        self._head = bytearray(b"\n")
        self._inflate: zlib._Decompress | None = None
        self._left = cap_bytes

    def __call__(self, piece: bytes) -> None:
        """Take one piece as it comes.

        Raises:
            HostileStream: it inflates to more than the cap, it is damaged, or no frame begins.
        """
        if self._take is not None:
            self._hand(piece)
            return
        self._head += piece
        start = self._head.find(self._mark)
        end = self._head.find(b"\n", start + len(self._mark)) if start >= 0 else -1
        if end < 0:
            if len(self._head) > _HEAD_BYTES:
                raise HostileStream("the host answers with something else than what it was asked for")
            return
        how, _, packing = self._head[start + len(self._mark) : end].decode("ascii", "replace").partition(" ")
        self._take = self._taker(how)
        self._inflate = zlib.decompressobj(31) if packing == "gzip" else None
        self._hand(bytes(self._head[end + 1 :]))

    def _hand(self, piece: bytes) -> None:
        assert self._take is not None
        if self._inflate is None:
            self._spend(len(piece))
            self._take(piece)
            return
        while piece and not self._inflate.eof:
            try:
                data = self._inflate.decompress(piece, _PIECE_BYTES)
            except zlib.error:
                raise HostileStream("what the host sent is damaged") from None
            self._spend(len(data))
            self._take(data)
            piece = self._inflate.unconsumed_tail

    def _spend(self, amount: int) -> None:
        self._left -= amount
        if self._left < 0:
            raise HostileStream("the host sent more than it listed")
