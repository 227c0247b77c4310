"""A source tree of this machine that was looked at before: what has not changed since is not read again.

As build tools and git do it, a file counts as unchanged while device, inode, size and both times are those that it had
when it was read. A file that was changed within two seconds before is not remembered at all, and neither is a link.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import msgspec

from recon.errors import Unreadable
from recon.ports import ByteRange, Entry, Progress
from recon.records.source import Library, Snapshot, SourceFile
from recon.records.unknown import Unknown
from recon.sources.capture import Known, capture
from recon.sources.local import LocalTree
from recon.sources.store import BlobStore

_VERSION = 1
Stamp = tuple[int, ...]


class _File(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A source whose bytes lie in the store."""

    stamp: Stamp
    file: SourceFile
    packed_bytes: int
    """Length of its blob as it lies in the store: what a full disk cut off has another."""


class _Compiled(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What was read of a library."""

    stamp: Stamp
    library: Library


class _Memory(msgspec.Struct, frozen=True, array_like=True):
    """What an earlier look at a tree left in the store."""

    version: int
    files: dict[str, _File]
    libraries: dict[str, _Compiled]


@dataclass(eq=False, slots=True)
class RememberedTree:
    """A tree of this machine, with what is known of it; implements `recon.ports.SourceTree`.

    Its files are listed once, when they are first asked for.
    """

    tree: LocalTree
    store: BlobStore
    _entries: tuple[Entry | Unknown, ...] | None = None
    _stamps: dict[str, Stamp] = field(default_factory=dict)
    """Of the files that were read now."""

    @property
    def location(self) -> str:
        """Folder that holds the packages."""
        return self.tree.location

    def entries(self) -> Iterator[Entry | Unknown]:
        """Every regular file below the package folders, sorted within each folder."""
        if self._entries is None:
            self._entries = tuple(self.tree.entries())
        yield from self._entries

    def read(self, paths: Sequence[str]) -> Iterator[tuple[str, bytes | Unknown]]:
        """Bytes of the files asked for."""
        for path, data, stamp in self.tree.stamped(paths):
            self._stamps[path] = stamp
            yield path, data

    def open_range(self, path: str) -> ByteRange:
        """A file for bounded reads.

        Raises:
            Unreadable: it cannot be opened, is not a regular file, or lies outside the tree.
        """
        opened = self.tree.open_range(path)
        self._stamps[path] = opened.stamp
        return opened

    def capture(self, progress: Progress, *, compiled: bool) -> Snapshot:
        """Read what is new, and write the manifest of the whole; what was read is remembered.

        Raises:
            Unreadable: the store cannot be written.
        """
        key = "\0".join(("local", self.location, *self.tree.packages))
        memory = _recalled(self.store, key)
        now = {entry.path: entry.stamp for entry in self.entries() if isinstance(entry, Entry) and entry.stamp}
        files = {path: each for path, each in memory.files.items() if self._is_unchanged(now.get(path), each)}
        libraries = {path: each for path, each in memory.libraries.items() if now.get(path) == each.stamp}
        known = Known(
            {path: each.file for path, each in files.items()}, {path: each.library for path, each in libraries.items()}
        )
        snapshot = capture(self, self.store, progress, compiled=compiled, known=known)
        files |= {file.path: made for file in snapshot.files if (made := self._file(file))}
        read = ((self._stamps.get(library.path), library) for library in snapshot.libraries)
        libraries |= {library.path: _Compiled(stamp, library) for stamp, library in read if stamp}
        if memory != (learned := _Memory(_VERSION, files, libraries)):
            with suppress(Unreadable):  # a cache of others may be read all the same; it costs the next look some time
                self.store.save_note(key, msgspec.msgpack.encode(learned))
        return snapshot

    def _is_unchanged(self, stamp: Stamp | None, known: _File) -> bool:
        return stamp == known.stamp and self.store.packed_bytes(known.file.digest) == known.packed_bytes

    def _file(self, file: SourceFile) -> _File | None:
        """What is remembered of a file that was read now."""
        stamp = self._stamps.get(file.path)
        packed = self.store.packed_bytes(file.digest) if stamp else None
        return _File(stamp, file, packed) if stamp and packed is not None else None


def _recalled(store: BlobStore, key: str) -> _Memory:
    try:
        memory = msgspec.msgpack.decode(store.load_note(key) or b"", type=_Memory)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return _Memory(_VERSION, {}, {})
    return memory if memory.version == _VERSION else _Memory(_VERSION, {}, {})
