"""Source trees on this machine's disk."""

import errno
import os
import pwd
import stat
import time
import weakref
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import FileIO
from pathlib import Path

from recon.errors import Unreadable
from recon.ports import Entry
from recon.records.unknown import FOLDER, Unknown, denied
from recon.sources.select import DENIED, MAX_SOURCE_BYTES, SKIPPED_FOLDERS, Kind, fault_of, kind_of, printable

_OPEN = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK  # O_NONBLOCK: a FIFO put there later cannot hold us
_OUTSIDE = "it leads out of the tree"
MAX_METADATA_BYTES = 64 << 20
SETTLED_NS = 2_000_000_000
"""The coarsest clock of a file system, that of FAT, counts in pairs of seconds."""


class FileRange:
    """Bounded reads of an open file. Owns the descriptor and closes it when it goes away.

    Attributes:
        stamp: As of `Entry`, when it was opened.
    """

    def __init__(self, descriptor: int) -> None:
        """Take over an open descriptor."""
        self._descriptor = descriptor
        self._close = weakref.finalize(self, os.close, descriptor)
        state = os.fstat(descriptor)
        self._size = state.st_size
        self.stamp = stamp_of(state)

    @property
    def size_bytes(self) -> int:
        """Length of the file."""
        return self._size

    def read(self, offset: int, length: int) -> bytes:
        """At most `length` bytes from `offset`; fewer at the end of the file.

        Raises:
            Unreadable: the disk failed.
        """
        parts = []
        while length > 0:
            try:
                part = os.pread(self._descriptor, length, offset)
            except OSError as error:
                raise Unreadable(f"reading failed: {error.strerror}") from None
            if not part:
                break
            parts.append(part)
            offset, length = offset + len(part), length - len(part)
        return b"".join(parts)


@dataclass(frozen=True, slots=True)
class LocalTree:
    """The package folders below one folder of this machine; implements `recon.ports.SourceTree`.

    A package folder that is itself a link is followed, as Python follows it. Inside, links that lead out of the
    package folders are reported, and linked folders inside are left out, since their files are read where they lie.
    """

    root: Path
    packages: tuple[str, ...]

    @property
    def location(self) -> str:
        """Folder that holds the packages."""
        return str(self.root)

    def entries(self) -> Iterator[Entry | Unknown]:
        """Every regular file below the package folders, sorted within each folder."""
        homes = self._homes()
        for package in self.packages:
            fault = fault_of(package)
            if fault:
                yield Unknown("package folder", printable(package), fault)
                continue
            yield from self._walk(package, homes)

    def read(self, paths: Sequence[str]) -> Iterator[tuple[str, bytes | Unknown]]:
        """Bytes of the files asked for: below the package folders, or of a distribution's metadata beside them."""
        for path, data, _ in self.stamped(paths):
            yield path, data

    def stamped(self, paths: Sequence[str]) -> Iterator[tuple[str, bytes | Unknown, tuple[int, ...]]]:
        """What `read` gives, each with the stamp that the file had before it was read."""
        door = _Door(self.root, self._homes())
        for path in paths:
            limit = MAX_METADATA_BYTES if kind_of(path) is Kind.METADATA else MAX_SOURCE_BYTES
            try:
                with os.fdopen(door.open(path), "rb", buffering=0) as file:
                    state = os.fstat(file.fileno())
                    stamp = stamp_of(state)
                    data = _read_up_to(file, state.st_size, limit + 1)
            except (Unreadable, OSError) as error:
                yield path, Unknown("source file", printable(path), _why(error)), ()
                continue
            if len(data) > limit:
                yield path, Unknown("source file", printable(path), f"too large: more than {limit} bytes"), ()
            else:
                yield path, data, stamp

    def open_range(self, path: str) -> FileRange:
        """A file for bounded reads.

        Raises:
            Unreadable: it cannot be opened, is not a regular file, or lies outside the tree.
        """
        try:
            return FileRange(_Door(self.root, self._homes()).open(path))
        except (Unreadable, OSError) as error:
            raise Unreadable(f"{printable(path)} cannot be opened: {_why(error)}") from None

    def _homes(self) -> tuple[str, ...]:
        """Where the package folders truly lie."""
        return tuple(os.path.realpath(self.root / package) for package in self.packages if not fault_of(package))

    def _walk(self, package: str, homes: tuple[str, ...]) -> Iterator[Entry | Unknown]:
        folders = [package]
        while folders:
            folder = folders.pop()
            below = []
            try:
                with os.scandir(self.root / folder) as listing:
                    found = sorted(listing, key=lambda item: item.name)
            except OSError as error:
                yield Unknown(FOLDER, printable(folder), _why(error, self.root / folder))
                continue
            for item in found:
                path = f"{folder}/{item.name}"
                try:
                    if item.is_dir(follow_symlinks=False):
                        if item.name not in SKIPPED_FOLDERS:
                            below.append(path)
                        continue
                    state = _state_of(item, homes)
                except (Unreadable, OSError) as error:
                    yield Unknown("file", printable(path), _why(error))
                    continue
                if state is None:
                    continue
                fault = fault_of(path)
                stamp = () if item.is_symlink() else _signs(state)
                yield Unknown("file", printable(path), fault) if fault else Entry(path, state.st_size, stamp)
            folders.extend(reversed(below))


class _Door:
    """Opens files of a tree, and nothing beside it. Remembers where folders truly lie."""

    def __init__(self, root: Path, homes: tuple[str, ...]) -> None:
        self._root = root
        self._homes = homes
        self._folders: dict[str, str] = {}

    def open(self, path: str) -> int:
        """Descriptor of a regular file.

        Raises:
            Unreadable: the name is hostile, or it is no regular file, or it lies outside.
            OSError: it cannot be opened.
        """
        fault = fault_of(path)
        if fault:
            raise Unreadable(fault)
        folder, _, name = path.rpartition("/")
        real = f"{self._real_folder(folder)}/{name}"
        homes = self._homes
        if kind_of(path) is Kind.METADATA:
            homes = (*homes, self._real_folder(folder))
        try:
            descriptor = _open_regular(real, homes)
        except OSError as error:
            if error.errno != errno.ELOOP:
                raise
            descriptor = _open_regular(os.path.realpath(real), homes)  # a link, good as long as it stays inside
        return descriptor

    def _real_folder(self, folder: str) -> str:
        if folder not in self._folders:
            self._folders[folder] = os.path.realpath(self._root / folder)
        return self._folders[folder]


def _open_regular(real: str, homes: tuple[str, ...]) -> int:
    if not _inside(real, homes):
        raise Unreadable(_OUTSIDE)
    descriptor = os.open(real, _OPEN)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise Unreadable("it is not a regular file")
    return descriptor


def _read_up_to(file: FileIO, size_bytes: int, limit: int) -> bytes:
    """The whole file, or its first `limit` bytes; it is mostly as long as was said."""
    data = file.read(min(size_bytes + 1, limit))
    while len(data) < limit and (more := file.read(limit - len(data))):
        data += more
    return data


def _state_of(item: os.DirEntry[str], homes: tuple[str, ...]) -> os.stat_result | None:
    """Of a regular file, or of the file that a link inside the tree leads to; None for anything else.

    Raises:
        Unreadable: a link that matters leads out of the tree.
        OSError: it cannot be looked at.
    """
    if not item.is_symlink():
        state = item.stat(follow_symlinks=False)
        return state if stat.S_ISREG(state.st_mode) else None
    real = os.path.realpath(item.path)
    state = Path(real).stat()
    if not _inside(real, homes):
        matters = stat.S_ISDIR(state.st_mode) or kind_of(item.name) is not Kind.OTHER
        if matters:
            raise Unreadable(_OUTSIDE)
        return None
    return state if stat.S_ISREG(state.st_mode) else None


def _signs(state: os.stat_result) -> tuple[int, ...]:
    return state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns


def stamp_of(state: os.stat_result) -> tuple[int, ...]:
    """The stamp of a file that is about to be read; empty where it was changed just now.

    Clocks of file systems are coarse: what is changed again within the same tick has the same times, so that times are
    believed only when they lie `SETTLED_NS` back.
    """
    is_settled = max(state.st_mtime_ns, state.st_ctime_ns) + SETTLED_NS <= time.time_ns()
    return _signs(state) if is_settled else ()


def _inside(real: str, homes: tuple[str, ...]) -> bool:
    return any(real == home or real.startswith(home + os.sep) for home in homes)


def _why(error: Exception, folder: Path | None = None) -> str:
    if isinstance(error, Unreadable):
        return error.message
    if isinstance(error, OSError) and error.errno == errno.ELOOP:
        return "it is a link that leads nowhere"
    if isinstance(error, OSError) and error.errno == errno.EACCES:
        return denied(_owner(folder)) if folder else DENIED
    return error.strerror if isinstance(error, OSError) and error.strerror else str(error)


def _owner(folder: Path) -> str:
    """The name of a folder's owner, or the number where nobody has it; '' where it cannot be looked at."""
    try:
        number = folder.stat().st_uid
    except OSError:
        return ""
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return f"with the number {number}"
