"""Wheels as source trees: on the disk, or far away and read by range, never unpacked.

A zip is untrusted. Names are refused by the rules of `select`, no member is inflated beyond the size it declares, and
a declared size beyond reason is refused. A library goes through an unnamed temporary file, one at a time, so that
nothing is left behind however the process ends.
"""

import lzma
import os
import shutil
import stat
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import attrgetter
from pathlib import Path
from typing import IO

from recon.errors import Exit, ReconError, Unreachable, Unreadable
from recon.ports import Entry
from recon.records.unknown import Unknown
from recon.sources.local import MAX_METADATA_BYTES, FileRange
from recon.sources.select import MAX_SOURCE_BYTES, Kind, fault_of, kind_of, printable
from recon.sources.web import Client, NoRanges

MAX_LIBRARY_BYTES = 8 << 30
"""Inflated; the largest library of a known release is a ninth of it."""

_MAX_RATIO = 100  # GPU code shrinks to a third; only a bomb shrinks to a hundredth
_RATIO_FROM_BYTES = 64 << 20
_CHUNK_BYTES = 1 << 20
_WINDOW_BYTES = 32 << 20
_AHEAD_BYTES = 64 << 10
_GAP_BYTES = 512 << 10  # a request costs as much time as half a megabyte on a common line
_MAX_DIRECTORY_BYTES = 64 << 20
_SPARE_BYTES = 256 << 20
_SCHEMES = ("purelib", "platlib")
_DAMAGED = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    RuntimeError,
    NotImplementedError,
    ValueError,
    OSError,
)


class NoRoom(ReconError):
    """The disk cannot hold what has to be unpacked for a moment."""

    kind = "no_room"
    exit = Exit.INCOMPLETE


class RangeFile:
    """A remote file as the file object that zipfile wants: it reads by range, and ahead where it was told to."""

    def __init__(self, client: Client, url: str, size_bytes: int | None) -> None:
        """Open by reading the tail, where a zip keeps its directory.

        Raises:
            NoRanges: the server sends whole files only.
            Unreachable: no answer.
        """
        self._client = client
        self._url = url
        tail = min(_AHEAD_BYTES, size_bytes or _AHEAD_BYTES)
        start = size_bytes - tail if size_bytes else -tail
        self._window, self._size = client.range(url, start, size_bytes or 0)
        self._start = self._size - len(self._window)
        self._at = 0
        self._wanted = (0, 0)

    def want(self, start: int, end: int) -> None:
        """Announce that the bytes from `start` to `end` will be read in order."""
        self._wanted = (start, end)

    def seekable(self) -> bool:
        """Always."""
        return True

    def tell(self) -> int:
        """Where the next read begins."""
        return self._at

    def seek(self, offset: int, whence: int = 0) -> int:
        """Move, as files do."""
        self._at = max(0, offset + (0, self._at, self._size)[whence])
        return self._at

    def read(self, amount: int = -1) -> bytes:
        """So many bytes, fewer only at the end.

        Raises:
            Unreachable: no answer.
            Unreadable: more than a zip's directory can need is asked for at once.
        """
        end = self._size if amount < 0 else min(self._at + amount, self._size)
        if end - self._at > _MAX_DIRECTORY_BYTES:
            raise Unreadable("its directory is larger than recon reads")
        if end <= self._at:
            return b""
        if self._at < self._start or end > self._start + len(self._window):
            self._load(end)
        data = self._window[self._at - self._start : end - self._start]
        self._at = end
        return data

    def _load(self, end: int) -> None:
        """Make the window hold the bytes from here to `end`, and what was announced beyond."""
        first, last = self._wanted
        inside = first <= self._at < last
        stop = max(end, min(last, self._at + _WINDOW_BYTES) if inside else self._at + _AHEAD_BYTES)
        stop = min(stop, self._size)
        have = self._window[self._at - self._start :] if self._start <= self._at else b""
        try:
            more, _ = self._client.range(self._url, self._at + len(have), stop)
        except NoRanges:
            raise Unreachable("the package index stopped answering in ranges", "try again later") from None
        self._window, self._start = have + more, self._at
        if len(self._window) < end - self._at:
            raise Unreachable("the package index sent less than it was asked for", "try again later")


@dataclass(frozen=True, slots=True)
class _Span:
    start: int
    end: int
    members: tuple[zipfile.ZipInfo, ...]


class WheelTree:
    """The packages of a wheel; implements `recon.ports.SourceTree`.

    Attributes:
        packages: Top-level folders that hold Python.
        dist_info: The metadata's folder; '' if there is none.
    """

    def __init__(
        self, archive: zipfile.ZipFile, name: str, scratch: Path, want: Callable[[int, int], None] = lambda _, __: None
    ) -> None:
        """Look at the directory of an open archive.

        Args:
            archive: The wheel.
            name: Its file name.
            scratch: Folder for unnamed temporary files.
            want: Told which bytes of the archive will be read next.
        """
        self._archive = archive
        self._name = name
        self._scratch = scratch
        self._want = want
        self._members: dict[str, zipfile.ZipInfo] = {}
        self._refused: list[Unknown] = []
        for info in archive.infolist():
            if not info.is_dir():
                self._admit(info)
        tops = {path.partition("/")[0] for path in self._members if "/" in path and path.endswith(".py")}
        self.packages = tuple(sorted(top for top in tops if not top.endswith((".dist-info", ".data"))))
        marks = (
            path.partition("/")[0] for path in self._members if path.count("/") == 1 and path.endswith("/METADATA")
        )
        self.dist_info = next((folder for folder in sorted(marks) if folder.endswith(".dist-info")), "")

    @property
    def location(self) -> str:
        """File name of the wheel."""
        return self._name

    def entries(self) -> Iterator[Entry | Unknown]:
        """Every file below the packages, and each member whose name or kind is refused."""
        yield from self._refused
        packages = set(self.packages)
        for path, info in self._members.items():
            if path.partition("/")[0] in packages:
                yield Entry(path, info.file_size)

    def read(self, paths: Sequence[str]) -> Iterator[tuple[str, bytes | Unknown]]:
        """Bytes of the members asked for, in the order in which they lie in the archive.

        Raises:
            Unreachable: the wheel is far away and its index stopped answering.
        """
        asked: dict[int, str] = {}
        for path in paths:
            info = self._members.get(path)
            if info is None:
                yield path, Unknown("source file", printable(path), "the wheel holds no such file")
            else:
                asked[info.header_offset] = path
        for span in self._spans([self._members[path] for path in asked.values()]):
            self._want(span.start, span.end)
            for info in span.members:
                path = asked[info.header_offset]
                yield path, self._bytes_of(path, info)

    def open_range(self, path: str) -> FileRange:
        """A member for bounded reads, inflated into a temporary file that has no name.

        Raises:
            Unreadable: there is no such member, it is damaged, or its size is beyond reason.
            NoRoom: the disk cannot hold it.
            Unreachable: the wheel is far away and its index stopped answering.
        """
        info = self._members.get(path)
        if info is None:
            raise Unreadable(f"the wheel holds no {printable(path)}")
        _check_size(info)
        self._check_room(info)
        (span,) = self._spans([info])
        self._want(span.start, span.end)
        try:
            with tempfile.TemporaryFile(dir=self._scratch) as file:
                self._inflate(info, file)
                file.flush()
                return FileRange(os.dup(file.fileno()))
        except OSError as error:
            raise NoRoom(f"{path} could not be unpacked: {error.strerror}", "leave compiled libraries out") from None

    def _admit(self, info: zipfile.ZipInfo) -> None:
        """Take a member by the path that it would be installed at, or remember why not."""
        path = _installed_path(info.orig_filename)
        kind = stat.S_IFMT(info.external_attr >> 16)
        fault = fault_of(path)
        if not fault and kind not in (0, stat.S_IFREG):
            fault = "it is no regular file"
        if fault:
            self._refused.append(Unknown("file", printable(path), fault))
        else:
            self._members.setdefault(path, info)

    def _bytes_of(self, path: str, info: zipfile.ZipInfo) -> bytes | Unknown:
        limit = MAX_METADATA_BYTES if kind_of(path) is Kind.METADATA else MAX_SOURCE_BYTES
        if info.file_size > limit:
            return Unknown("source file", path, f"too large: {info.file_size} bytes, more than {limit}")
        try:
            with self._archive.open(info) as member:
                return member.read(info.file_size + 1)  # one more, so that the end is seen and the checksum compared
        except _DAMAGED:
            return Unknown("source file", path, "its part of the wheel is damaged")

    def _inflate(self, info: zipfile.ZipInfo, file: IO[bytes]) -> None:
        try:
            member = self._archive.open(info)
        except _DAMAGED:
            raise Unreadable("its part of the wheel is damaged") from None
        with member:
            while True:
                try:
                    piece = member.read(_CHUNK_BYTES)
                except _DAMAGED:
                    raise Unreadable("its part of the wheel is damaged") from None
                if not piece:
                    return
                file.write(piece)

    def _check_room(self, info: zipfile.ZipInfo) -> None:
        free = shutil.disk_usage(self._scratch).free
        if free < info.file_size + _SPARE_BYTES:
            raise NoRoom(
                f"{info.filename} needs {info.file_size >> 20} MiB to be unpacked, and {free >> 20} MiB are free",
                "free some space, or leave compiled libraries out",
            )

    def _spans(self, members: Iterable[zipfile.ZipInfo]) -> Iterator[_Span]:
        """Stretches of the archive that hold the members, close ones joined, so that few requests bring many."""
        starts = sorted({info.header_offset for info in self._archive.infolist()} | {self._archive.start_dir})
        ends = dict(pairwise(starts))
        span: _Span | None = None
        for info in sorted(members, key=attrgetter("header_offset")):
            end = ends.get(info.header_offset, info.header_offset)
            if span is not None and info.header_offset - span.end <= _GAP_BYTES:
                span = _Span(span.start, max(span.end, end), (*span.members, info))
                continue
            if span is not None:
                yield span
            span = _Span(info.header_offset, end, (info,))
        if span is not None:
            yield span


def _installed_path(name: str) -> str:
    """Where an installer would put a member: the library folders of `.data` go beside the packages.

    >>> _installed_path("vllm-1.data/purelib/vllm/a.py"), _installed_path("vllm/a.py")
    ('vllm/a.py', 'vllm/a.py')
    """
    top, _, rest = name.partition("/")
    scheme, _, inner = rest.partition("/")
    return inner if top.endswith(".data") and scheme in _SCHEMES and inner else name


def _check_size(info: zipfile.ZipInfo) -> None:
    if info.file_size > MAX_LIBRARY_BYTES:
        raise Unreadable(f"too large: {info.file_size} bytes, more than {MAX_LIBRARY_BYTES}")
    if info.file_size > _RATIO_FROM_BYTES and info.file_size > _MAX_RATIO * max(1, info.compress_size):
        raise Unreadable(f"{info.compress_size} bytes claim to hold {info.file_size}")
