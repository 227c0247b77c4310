"""Tar archives from a stranger, taken apart as they come: only regular files that were asked for, nothing unpacked.

Reads ustar, GNU and pax headers, as GNU tar, busybox and bsdtar write them.
"""

import re
from collections.abc import Callable, Mapping

from recon.sources.framing import HostileStream
from recon.sources.select import MAX_FILES, fault_of, printable

_BLOCK = 512
_NAME_BYTES = 8192
_REGULAR, _LONG_NAME, _LONG_LINK, _PAX, _PAX_ALL = b"0", b"L", b"K", b"x", b"g"
_NO_FILES = (b"1", b"2", b"3", b"4", b"5", b"6")
"""Links, devices, folders and pipes: of none of them follow any bytes."""
_NUMBER = re.compile(rb"[0-7]*")
_PAX_LINE = re.compile(rb"(\d{1,6}) ([^=]{1,64})=")


class TarReader:
    """Sink of a stream of archives, one after the other.

    What stands where a file was asked for and is none (a link, a folder with all that is in it, a pipe, a device) is
    left out: the file is then asked for by itself.
    """

    def __init__(self, wanted: Mapping[str, int], take: Callable[[str, bytes], None], *, others: bool = False) -> None:
        """Prepare.

        Args:
            wanted: Path to size of what was asked for.
            take: Given each file that came whole and no larger than its size.
            others: Pass over what was not asked for, as long as it lies in the tree; otherwise it ends the stream.
        """
        self._others = others
        self._wanted = wanted
        self._take = take
        self._buffer = bytearray()
        self._next: Callable[[bytes], None] = self._header
        self._need = _BLOCK
        self._skip = 0
        self._size = 0
        self._path = ""
        self._told: dict[bytes, bytes] = {}
        self._seen: set[str] = set()
        self._headers = 0

    def __call__(self, piece: bytes) -> None:
        """Take one piece as it comes.

        Raises:
            HostileStream: the archive is none, or holds what was not asked for.
        """
        self._buffer += piece
        while True:
            dropped = min(self._skip, len(self._buffer))
            del self._buffer[:dropped]
            self._skip -= dropped
            if self._skip or len(self._buffer) < self._need:
                return
            block = bytes(self._buffer[: self._need])
            del self._buffer[: self._need]
            self._next(block)

    def _header(self, block: bytes) -> None:
        if not any(block):  # the end of one archive; another may follow
            return
        self._headers += 1
        if self._headers > (MAX_FILES if self._others else 3 * len(self._wanted) + 16):
            raise HostileStream("the host's archive holds more files than were asked for")
        if sum(block[:148]) + sum(block[156:]) + 8 * 32 != _number(block[148:156]):
            raise HostileStream("the host's archive is damaged")
        size, kind = _number(block[124:136]), block[156:157]
        if kind in (_LONG_NAME, _LONG_LINK, _PAX, _PAX_ALL):
            if size > _NAME_BYTES:
                raise HostileStream("the host's archive holds a name of an absurd length")
            self._expect(size, self._extra(kind))
            return
        self._member(block, size, kind)

    def _member(self, block: bytes, size: int, kind: bytes) -> None:
        told, self._told = self._told, {}
        name = told.get(b"path", _name(block))
        size = int(told.get(b"size", b"%d" % size) or 0)
        path = name.decode("utf-8", "surrogateescape").removeprefix("./")
        if path not in self._wanted and not fault_of(path.rstrip("/")) and self._is_below_wanted(path):
            self._skip = _padded(size)
            return
        if path not in self._wanted:
            if self._others and not path.startswith("/") and ".." not in path.split("/"):
                self._skip = _padded(size)
                return
            why = fault_of(path) or "it was not asked for"
            raise HostileStream(f"the host sent {printable(path)!r}: {why}")
        if kind in _NO_FILES:
            return
        if kind not in (_REGULAR, b"\0"):
            raise HostileStream(f"the host sent {printable(path)!r}: it is no regular file")
        if path in self._seen:
            raise HostileStream(f"the host sent {printable(path)!r} twice")
        self._seen.add(path)
        if size > self._wanted[path]:  # it grew since it was listed
            self._skip = _padded(size)
            return
        self._path = path
        self._expect(size, self._body)

    def _is_below_wanted(self, path: str) -> bool:
        """Whether a folder stands where a file was asked for, and this is it or lies in it."""
        parts = path.rstrip("/").split("/")
        return any("/".join(parts[:length]) in self._wanted for length in range(1, len(parts) + 1))

    def _expect(self, size: int, taker: Callable[[bytes], None]) -> None:
        self._size = size
        self._need, self._next = _padded(size), taker
        if not size:
            self._again()
            taker(b"")

    def _again(self) -> None:
        self._need, self._next = _BLOCK, self._header

    def _body(self, data: bytes) -> None:
        self._again()
        self._take(self._path, data[: self._size])

    def _extra(self, kind: bytes) -> Callable[[bytes], None]:
        def take(data: bytes) -> None:
            self._again()
            text = data[: self._size]
            if kind == _LONG_NAME:
                self._told[b"path"] = text.partition(b"\0")[0]
            elif kind == _PAX:
                self._told.update(_pax(text))

        return take


def _padded(size: int) -> int:
    return -(-size // _BLOCK) * _BLOCK


def _name(block: bytes) -> bytes:
    name = block[:100].partition(b"\0")[0]
    prefix = block[345:500].partition(b"\0")[0] if block[257:263] == b"ustar\0" else b""
    return prefix + b"/" + name if prefix else name


def _number(digits: bytes) -> int:
    """Octal, or big-endian with the highest bit set where it does not fit."""
    if digits[0] & 0x80:
        return int.from_bytes(digits, "big") & ((1 << (8 * len(digits) - 1)) - 1)
    found = _NUMBER.fullmatch(digits.strip(b" \0"))
    if found is None:
        raise HostileStream("the host's archive is damaged")
    return int(found[0] or b"0", 8)


def _pax(text: bytes) -> dict[bytes, bytes]:
    """Path and size of an extended header; whatever else it says does not count."""
    told = {}
    while found := _PAX_LINE.match(text):
        length = int(found[1])
        if not found.end() < length <= len(text):
            break
        told[found[2]] = text[found.end() : length - 1]
        text = text[length:]
    size = told.get(b"size", b"0")
    if not size.isdigit() or len(size) > 15:
        raise HostileStream("the host's archive is damaged")
    return {key: value for key, value in told.items() if key in (b"path", b"size")}
