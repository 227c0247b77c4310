"""Compiled libraries on a host: the pieces that names are read from, never the whole.

The host itself looks up in the section headers which pieces these are, so that one exec serves many libraries. What a
reader wants besides (a library whose section headers were stripped) is brought by an exec of its own.
"""

import secrets
from collections.abc import Callable, Iterable, Sequence

from recon.errors import Unreadable
from recon.numbers import number
from recon.ports import Shell
from recon.sources.elf import TOO_LARGE
from recon.sources.fetching import STATES, patience
from recon.sources.framing import HostileStream, Incoming, frames
from recon.sources.host_scripts import extents_script, ranges_script
from recon.sources.listing import Listed
from recon.sources.select import printable

TOGETHER = 32
"""Libraries of which one exec brings pieces."""
PIECES_BYTES = 256 << 20
"""Of one exec; the pieces of the libraries of the largest release known are a sixth of it."""
AHEAD_BYTES = 256 << 10
"""What is read beyond a piece that nobody foresaw."""

Extent = tuple[int, bytes]


class HostLibraries:
    """The libraries of one tree that are to be read."""

    def __init__(self, shell: Shell, root: str, listed: Sequence[Listed]) -> None:
        """Remember where they lie; nothing is asked yet."""
        self._shell = shell
        self._root = root
        self._listed = {each.path: each for each in listed}
        self._waiting = [each.path for each in listed]
        self._here: dict[str, list[Extent] | str] = {}
        self.failed: set[str] = set()
        """Those that could not be opened: another try may succeed."""

    def open(self, path: str) -> "HostRange":
        """A library, with what is foreseen of it at home.

        Raises:
            Unreadable: it is none of them, or the host cannot open it.
            Unreachable: the host did not answer.
        """
        if path not in self._listed:
            raise Unreadable(f"{printable(path)} cannot be opened: No such file or directory")
        if path not in self._here:
            start = self._waiting.index(path) if path in self._waiting else 0
            group = self._waiting[start : start + TOGETHER] or [path]
            self._bring_all(group)
            self._waiting = [each for each in self._waiting if each not in group]
        extents = self._here.pop(path, [])
        if extents == TOO_LARGE:  # and will be: that is remembered
            raise Unreadable(TOO_LARGE)
        if isinstance(extents, str):
            self.failed.add(path)
            raise Unreadable(f"{printable(path)} cannot be opened: {extents}")
        listed = self._listed[path]
        return HostRange(listed.size_bytes, extents, lambda offset, length: self._range(path, offset, length))

    def _bring_all(self, paths: Sequence[str]) -> None:
        """Together, and each by itself where they are more than one exec may send: one of them spoils no other."""
        try:
            self._bring(paths)
        except HostileStream as error:
            if len(paths) == 1:
                self._here[paths[0]] = error.message
                return
            for path in paths:
                self._bring_all([path])

    def _bring(self, paths: Sequence[str]) -> None:
        nonce = secrets.token_hex(16)
        targets = [self._listed[path].target for path in paths]
        for path in paths:
            self._here[path] = []
        for place, extent in self._stream(extents_script(self._root, targets, nonce), nonce, PIECES_BYTES):
            if place < len(paths):
                here = self._here[paths[place]]
                if isinstance(extent, str):
                    self._here[paths[place]] = extent
                elif isinstance(here, list):
                    here.append(extent)

    def _range(self, path: str, offset: int, length: int) -> list[Extent]:
        """Pieces that hold a range, and what lies behind it."""
        nonce = secrets.token_hex(16)
        listed = self._listed[path]
        wanted = min(max(length, AHEAD_BYTES), listed.size_bytes - offset)
        script = ranges_script(self._root, listed.target, [(offset, wanted)], nonce)
        pieces = []
        for _, extent in self._stream(script, nonce, wanted + (1 << 20)):
            if isinstance(extent, str):
                self.failed.add(path)
                raise Unreadable(f"{printable(path)} cannot be read: {extent}")
            pieces.append(extent)
        return pieces

    def _stream(self, script: str, nonce: str, cap: int) -> Iterable[tuple[int, Extent | str]]:
        heard = bytearray()

        def taker(_: str) -> Callable[[bytes], None]:
            return heard.extend

        self._shell.stream(script, Incoming(nonce, taker, cap), timeout_s=patience(cap // 8), cap_bytes=cap)
        for head, body in frames(bytes(heard), nonce):
            place, _, what = head.partition(" ")
            if (at := number(place)) is not None:
                offset = number(what)
                yield at, (offset, body) if offset is not None else STATES.get(what, "it could not be read")


class HostRange:
    """Bounded reads of a file on a host: from what is at home, else from there. Implements `recon.ports.ByteRange`."""

    def __init__(self, size_bytes: int, extents: list[Extent], bring: Callable[[int, int], list[Extent]]) -> None:
        """Take the pieces that are at home, and the way to bring others."""
        self._size = size_bytes
        self._extents = extents
        self._bring = bring

    @property
    def size_bytes(self) -> int:
        """Length of the file, as it was listed."""
        return self._size

    def read(self, offset: int, length: int) -> bytes:
        """At most `length` bytes from `offset`; fewer at the end of the file.

        Raises:
            Unreadable: the file cannot be read any more.
            Unreachable: the host did not answer.
        """
        length = min(length, self._size - offset)
        if length <= 0:
            return b""
        if (data := self._held(offset, length)) is None:
            self._extents += self._bring(offset, length)
            data = self._held(offset, length)
        if data is None:
            raise Unreadable("the host sent less of it than it lists")
        return data

    def _held(self, offset: int, length: int) -> bytes | None:
        for start, data in self._extents:
            if start <= offset and offset + length <= start + len(data):
                return data[offset - start : offset - start + length]
        return None
