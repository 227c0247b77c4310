"""Content-addressed blobs and the snapshots that name them, in the user's cache folder.

Two processes may write at once: every file appears by a rename, and its name follows from its bytes, so whoever
comes second writes the same thing again or nothing at all.
"""

import hashlib
import os
import re
import tempfile
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec

from recon.errors import Unreadable
from recon.folders import make_private
from recon.records.source import Snapshot

MAX_BLOB_BYTES = 64 << 20
"""No blob is larger; what claims to be is a damaged or hostile cache file."""

_DIGEST = re.compile(r"[0-9a-f]{32}")
_LEVEL = 1  # sources shrink to a quarter at any level, and the first is four times as fast as the default
_DAY_S = 86_400.0
_STALE_S = 3_600.0
_VERSION = 1
_TEMPORARY = ".new-"
_ZLIB = b"\x78"
_CHECKSUM_BYTES = 4
OUTLINES = "index.sqlite"
"""The file beside the blobs in which outlines are kept; here it is only counted and pruned."""
GRAPHS = "graphs"
"""The folder beside the blobs in which the call graphs of trees are kept; likewise."""


def digest_of(data: bytes) -> str:
    """blake2b-128 of the bytes, in hex: the name of a blob.

    >>> digest_of(b"")
    'cae66941d9efbd404e4d88758ea67670'
    """
    return hashlib.blake2b(data, digest_size=16).hexdigest()


@dataclass(frozen=True, slots=True)
class CacheInfo:
    """What lies in the cache."""

    root: str
    blobs: int
    snapshots: int
    size_bytes: int
    """Of all files, as they lie compressed on the disk."""
    outlines_bytes: int
    """Of those, the file of outlines."""
    graphs: int
    """Call graphs, one a tree."""
    graphs_bytes: int
    oldest_s: float
    """Seconds since the least recently used file was used; 0 where the cache is empty."""


@dataclass(frozen=True, slots=True)
class Pruned:
    """What `BlobStore.prune` took away."""

    files: int
    size_bytes: int


class _Envelope(msgspec.Struct, frozen=True):
    """A snapshot as it lies on the disk, with the key that it was saved under."""

    version: int
    key: str
    snapshot: Snapshot


@dataclass(frozen=True, slots=True)
class BlobStore:
    """Blobs, snapshots and small notes below one folder. Can be pickled; implements `recon.ports.Blobs`."""

    root: Path

    def put(self, data: bytes) -> str:
        """Keep the bytes and return their digest; nothing is written where they lie already, whole.

        Raises:
            Unreadable: the cache folder cannot be written.
        """
        digest = digest_of(data)
        path = self._blob(digest)
        if not _holds(path, data):  # what lies there may be damaged, and this is when it can be mended
            self._write(path, zlib.compress(data, _LEVEL))
        return digest

    def get(self, digest: str) -> bytes:
        """Bytes of a blob. A damaged one is removed, so that the next capture brings it again.

        Raises:
            Unreadable: there is no such blob, or its bytes do not have that digest.
        """
        if not _DIGEST.fullmatch(digest):
            raise Unreadable(f"{digest[:64]!r} is not a digest")
        path = self._blob(digest)
        try:
            packed = path.read_bytes()
        except OSError as error:
            raise Unreadable(f"blob {digest} is not in the cache: {error.strerror}", "scan the install again") from None
        data = _unpacked(packed)
        if data is None or digest_of(data) != digest:
            with suppress(OSError):
                path.unlink()
            raise Unreadable(f"blob {digest} was damaged and has been removed", "scan the install again")
        _touch(path)
        return data

    def has(self, digest: str) -> bool:
        """Whether the blob lies here; its bytes are checked when they are read."""
        return _DIGEST.fullmatch(digest) is not None and self._blob(digest).is_file()

    def packed_bytes(self, digest: str) -> int | None:
        """Length of the blob as it lies here, None where it does not."""
        try:
            return os.stat(f"{self.root}/blobs/{digest[:2]}/{digest[2:]}").st_size  # noqa: PTH116 - of thousands
        except OSError:
            return None

    def save_snapshot(self, key: str, snapshot: Snapshot) -> None:
        """Keep a snapshot under a key: its own digest, or what names the release that it was read from.

        Raises:
            Unreadable: the cache folder cannot be written.
        """
        self._write(
            self._keyed("snapshots", key), zlib.compress(msgspec.msgpack.encode(_Envelope(_VERSION, key, snapshot)))
        )

    def load_snapshot(self, key: str) -> Snapshot | None:
        """The snapshot saved under the key; None if there is none, or if it is damaged (then it is removed)."""
        path = self._keyed("snapshots", key)
        data = self._load(path)
        if data is None:
            return None
        try:
            envelope = msgspec.msgpack.decode(data, type=_Envelope)
        except (msgspec.DecodeError, UnicodeDecodeError):
            envelope = None
        if envelope is None or envelope.version != _VERSION or envelope.key != key:
            with suppress(OSError):
                path.unlink()
            return None
        return envelope.snapshot

    def save_note(self, key: str, data: bytes) -> None:
        """Keep a few bytes under a key, e.g. which file a release was.

        Raises:
            Unreadable: the cache folder cannot be written.
        """
        self._write(self._keyed("notes", key), zlib.compress(data))

    def load_note(self, key: str) -> bytes | None:
        """The bytes saved under the key, or None."""
        return self._load(self._keyed("notes", key))

    def info(self) -> CacheInfo:
        """Count what lies in the cache."""
        now = time.time()
        files = list(self._files())
        return CacheInfo(
            root=str(self.root),
            blobs=sum(folder == "blobs" for folder, _, _ in files),
            snapshots=sum(folder == "snapshots" for folder, _, _ in files),
            size_bytes=sum(state.st_size for _, _, state in files),
            outlines_bytes=sum(state.st_size for folder, _, state in files if folder == OUTLINES),
            graphs=sum(folder == GRAPHS for folder, _, _ in files),
            graphs_bytes=sum(state.st_size for folder, _, state in files if folder == GRAPHS),
            oldest_s=max((now - state.st_mtime for _, _, state in files), default=0.0),
        )

    def prune(self, *, older_than_s: float | None = None, keep_bytes: int | None = None) -> Pruned:
        """Remove what was not used for so long, then the least recently used until no more than `keep_bytes` stay.

        Leftovers of killed processes go in any case. Use is known to a day, which saves a write per read.
        """
        now = time.time()
        files = sorted(self._files(leftovers=True), key=lambda file: file[2].st_mtime)
        left = sum(state.st_size for _, _, state in files)
        gone = freed = 0
        for _, path, state in files:
            age = now - state.st_mtime
            stale = path.name.startswith(_TEMPORARY) and age > _STALE_S
            old = older_than_s is not None and age > older_than_s
            if not (stale or old or (keep_bytes is not None and left > keep_bytes)):
                continue
            with suppress(OSError):  # another process may have pruned it already
                path.unlink()
                if path.name == OUTLINES:
                    for suffix in ("-wal", "-shm"):
                        path.with_name(f"{OUTLINES}{suffix}").unlink(missing_ok=True)
                gone, freed, left = gone + 1, freed + state.st_size, left - state.st_size
        return Pruned(gone, freed)

    def _blob(self, digest: str) -> Path:
        return self.root / f"blobs/{digest[:2]}/{digest[2:]}"

    def _keyed(self, folder: str, key: str) -> Path:
        return self.root / folder / digest_of(key.encode("utf-8", "surrogatepass"))

    def _load(self, path: Path) -> bytes | None:
        try:
            packed = path.read_bytes()
        except OSError:
            return None
        _touch(path)
        return _unpacked(packed)

    def _write(self, path: Path, packed: bytes) -> None:
        try:
            _write_atomically(path, packed)
        except OSError as error:
            raise Unreadable(
                f"the cache folder {self.root} cannot be written: {error.strerror}",
                "Free some space, or set RECON_CACHE_DIR to a folder that you may write.",
            ) from None

    def _files(self, *, leftovers: bool = False) -> Iterator[tuple[str, Path, os.stat_result]]:
        below = {folder: self._below(folder) for folder in ("blobs", "snapshots", "notes", GRAPHS)}
        own = [self.root / OUTLINES, self.root / f"{OUTLINES}.corrupt"]
        for folder, paths in {**below, OUTLINES: own}.items():
            for path in paths:
                if path.name.startswith(_TEMPORARY) and not leftovers:
                    continue
                with suppress(OSError):
                    if path.is_file() and not path.is_symlink():
                        yield folder, path, path.stat()

    def _below(self, folder: str) -> list[Path]:
        """Everything below a folder that may be looked at, links to folders not followed."""
        walk = os.walk(self.root / folder)
        return sorted(Path(inside, name) for inside, _, names in walk for name in names)


@contextmanager
def passing_store() -> Iterator[BlobStore]:
    """A store for sources that may not be kept: its folder, which nobody else may read, is removed at the end."""
    with tempfile.TemporaryDirectory(prefix="recon-", ignore_cleanup_errors=True) as folder:
        yield BlobStore(Path(folder))


def _unpacked(packed: bytes) -> bytes | None:
    """Inflate at most MAX_BLOB_BYTES; None where the bytes are damaged or inflate to more."""
    inflate = zlib.decompressobj()
    try:
        data = inflate.decompress(packed, MAX_BLOB_BYTES)
    except zlib.error:
        return None
    return data if inflate.eof else None


def _holds(path: Path, data: bytes) -> bool:
    """Whether a blob begins and ends as that of these bytes does: a third of the time of inflating it.

    That finds what a full disk or a killed machine leaves; flipped bits in the middle are found by `get`.
    """
    if not _touch(path):
        return False
    try:
        with path.open("rb") as file:
            start = file.read(1)
            file.seek(-_CHECKSUM_BYTES, os.SEEK_END)
            end = file.read()
    except OSError:
        return False
    return start == _ZLIB and int.from_bytes(end, "big") == zlib.adler32(data)


def _touch(path: Path) -> bool:
    """Say that a file was used, once a day; False where there is none."""
    try:
        if time.time() - path.stat().st_mtime > _DAY_S:
            os.utime(path)
    except FileNotFoundError:
        return False
    except OSError:  # a cache that others own is read all the same
        return os.access(path, os.R_OK)
    return True


def _write_atomically(path: Path, packed: bytes) -> None:
    make_private(path.parent)
    handle, temporary = tempfile.mkstemp(prefix=_TEMPORARY, dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(packed)
        Path(temporary).replace(path)
    except BaseException:  # Ctrl-C too leaves nothing behind
        with suppress(OSError):
            Path(temporary).unlink()
        raise
