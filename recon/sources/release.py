"""Published releases and wheel files, read without installing them.

`open_release` asks the user's own package indexes, picks one wheel by the rule of `choose`, and reads its sources by
byte range where the server allows, else from the whole wheel in a temporary file without a name. What was read once
is in the store: asking again moves nothing, and asking later for the libraries too moves only the libraries.
No address is kept anywhere; a release is its file name and its sha256.
"""

import hashlib
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from email.parser import BytesParser
from enum import Enum
from pathlib import Path
from typing import IO

import msgspec
from packaging.utils import InvalidWheelFilename, parse_wheel_filename

from recon.errors import NoEngine, NotFound, Unreadable
from recon.folders import make_private
from recon.ports import Progress
from recon.records.install import Engine, Found, Provenance
from recon.records.source import Snapshot
from recon.sources.capture import capture, keep, lacks_libraries, with_libraries, without_libraries
from recon.sources.choose import Wanted, choose, engine_of, wanted_of
from recon.sources.pip_config import PackageIndexes, configuration_mark, package_indexes
from recon.sources.simple import IndexFile, listing_of, local_path
from recon.sources.store import BlobStore
from recon.sources.web import Client, NoRanges
from recon.sources.wheel import NoRoom, RangeFile, WheelTree

MAX_WHEEL_BYTES = 8 << 30
_STEP_BYTES = 1_000_000


class Route(Enum):
    """How the bytes of a release came."""

    CACHE = "cache"
    RANGES = "ranges"
    WHOLE = "whole"
    LOCAL = "local"


@dataclass(frozen=True, slots=True)
class ReleaseRead:
    """A release that was read, and what reading it took."""

    found: Found
    snapshot: Snapshot
    bytes_moved: int
    """Over the network, the index's pages included."""
    requests: int
    route: Route


class _Note(msgspec.Struct, frozen=True):
    """What the store remembers of a release: enough to answer again without a network."""

    file: str
    sha256: str
    key: str
    """Of the snapshot in the store."""
    engine: Engine
    version: str
    packages: tuple[str, ...]
    dist_info: str


class _Teller:
    """Says how much has moved, once a megabyte."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._told = 0

    def __call__(self, moved: int) -> None:
        if moved - self._told >= _STEP_BYTES:
            self._told = moved
            self._progress.advance(0, f"{moved // _STEP_BYTES} MB moved")


def open_release(
    requirement: str,
    store: BlobStore,
    progress: Progress,
    *,
    compiled: bool = True,
    indexes: PackageIndexes | None = None,
) -> ReleaseRead:
    """Read a published release.

    Args:
        requirement: `name==version`; without a version, the newest is meant, and the index is asked each time.
        store: Takes the bytes, and knows what was read before.
        progress: Told of each step.
        compiled: False leaves the libraries unread; they are most of a wheel's bytes.
        indexes: Where to look; None for what pip is configured with.

    Raises:
        Usage: the requirement is none.
        NotFound: no index has such a project or version, or it has no wheel for Linux on x86-64.
        Unreachable: an index did not answer, and no other has the release.
        Unreadable: the wheel is damaged, or the store cannot be written.
        NoRoom: the disk cannot hold what has to be unpacked.
    """
    wanted = wanted_of(requirement)
    mark = configuration_mark() if indexes is None else indexes.digest
    remembered = f"release {wanted.project} {wanted.pinned} {mark}"
    known = _recall(store, remembered) if wanted.pinned else None
    if known is not None and (snapshot := _cached(store, known.key, compiled=compiled)) is not None:
        return ReleaseRead(_found(known, "release"), snapshot, 0, 0, Route.CACHE)
    progress.start(f"asking for {wanted}", None)
    indexes = indexes or package_indexes()
    client = Client(indexes, _Teller(progress))
    version, file = _look_up(wanted, indexes, client)
    progress.finish(file.name)
    key = f"wheel {file.name} {file.sha256 or indexes.digest}"
    with _opened(file, client, store, progress) as (tree, route):
        note = _Note(
            file.name, file.sha256, key, engine_of(wanted.project), str(version), _packages(tree), tree.dist_info
        )
        snapshot = _read(tree, key, store, progress, compiled=compiled)
    if wanted.pinned:
        store.save_note(remembered, msgspec.msgpack.encode(note))
    return ReleaseRead(_found(note, "release"), snapshot, client.moved, client.requests, route)


def open_wheel(path: Path, store: BlobStore, progress: Progress, *, compiled: bool = True) -> ReleaseRead:
    """Read a wheel that lies on this machine.

    Args:
        path: The file.
        store: Takes the bytes, and knows what was read before.
        progress: Told of each step.
        compiled: False leaves the libraries unread.

    Raises:
        NotFound: there is no such file.
        NoEngine: it is a wheel without Python packages.
        Unreadable: it is no wheel, or damaged, or the store cannot be written.
        NoRoom: the disk cannot hold what has to be unpacked.
    """
    sha256 = _sha256_of(path)
    key = f"wheel {path.name} {sha256}"
    with _archive_at(path, store, path.name) as tree:
        project, version = _name_of(path.name, tree)
        note = _Note(path.name, sha256, key, engine_of(project), version, _packages(tree), tree.dist_info)
        snapshot = _read(tree, key, store, progress, compiled=compiled)
    return ReleaseRead(_found(note, "wheel"), snapshot, 0, 0, Route.LOCAL)


def _look_up(wanted: Wanted, indexes: PackageIndexes, client: Client) -> tuple[object, IndexFile]:
    """Version and file. That a release does not exist can be said only where every index answered."""
    listing = listing_of(wanted.project, indexes, client)
    try:
        return choose(wanted, listing.files)
    except NotFound:
        if listing.silent is not None:
            raise listing.silent from None
        raise


def _read(tree: WheelTree, key: str, store: BlobStore, progress: Progress, *, compiled: bool) -> Snapshot:
    """The snapshot, from the store as far as it lies there. Sources are kept before the libraries are begun."""
    snapshot = _stored(store, key)
    if snapshot is None:
        snapshot = capture(tree, store, progress, compiled=False)
        store.save_snapshot(key, snapshot)
    if not compiled:
        return without_libraries(snapshot)
    if lacks_libraries(snapshot):
        snapshot = with_libraries(snapshot, tree, progress)
        store.save_snapshot(key, snapshot)
        keep(snapshot, store)
    return snapshot


def _cached(store: BlobStore, key: str, *, compiled: bool) -> Snapshot | None:
    """The snapshot, if all that was asked for lies in the store."""
    snapshot = _stored(store, key)
    if snapshot is None or (compiled and lacks_libraries(snapshot)):
        return None
    return snapshot if compiled else without_libraries(snapshot)


def _stored(store: BlobStore, key: str) -> Snapshot | None:
    """A snapshot whose blobs are all there still."""
    snapshot = store.load_snapshot(key)
    return snapshot if snapshot and all(store.has(file.digest) for file in snapshot.files) else None


def _recall(store: BlobStore, key: str) -> _Note | None:
    data = store.load_note(key)
    try:
        return None if data is None else msgspec.msgpack.decode(data, type=_Note)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


@contextmanager
def _opened(file: IndexFile, client: Client, store: BlobStore, progress: Progress) -> Iterator[tuple[WheelTree, Route]]:
    """The wheel as a tree: by range if the server can, else whole."""
    path = local_path(file.url)
    if path is not None:
        if file.sha256 and _sha256_of(path) != file.sha256:
            raise Unreadable(f"{file.name} is not the file that its index describes")
        with _archive_at(path, store, file.name) as tree:
            yield tree, Route.LOCAL
        return
    try:
        remote = RangeFile(client, file.url, file.size_bytes)
    except NoRanges:
        with _downloaded(file, client, store, progress) as whole, _archive_in(whole, file.name) as archive:
            yield WheelTree(archive, file.name, store.root), Route.WHOLE
        return
    with _archive_in(remote, file.name) as archive:
        yield WheelTree(archive, file.name, _scratch(store), remote.want), Route.RANGES


@contextmanager
def _downloaded(file: IndexFile, client: Client, store: BlobStore, progress: Progress) -> Iterator[IO[bytes]]:
    """The whole wheel in a file without a name, its sha256 checked where the index gave one."""
    progress.start(f"fetching {file.name}", None)
    try:
        whole = tempfile.TemporaryFile(dir=_scratch(store))  # noqa: SIM115 - closed below, apart from its own errors
    except OSError as error:
        raise NoRoom(f"{file.name} could not be kept for reading: {error.strerror}", "free some space") from None
    with whole:
        client.download(file.url, whole, MAX_WHEEL_BYTES)
        progress.finish()
        whole.seek(0)
        if file.sha256 and hashlib.file_digest(whole, "sha256").hexdigest() != file.sha256:
            raise Unreadable(f"{file.name} is not the file that its index describes", "try again later")
        yield whole


@contextmanager
def _archive_at(path: Path, store: BlobStore, name: str) -> Iterator[WheelTree]:
    try:
        file = path.open("rb")
    except OSError as error:
        raise Unreadable(f"{name} cannot be read: {error.strerror}") from None
    with file, _archive_in(file, name) as archive:
        yield WheelTree(archive, name, _scratch(store))


@contextmanager
def _archive_in(file: IO[bytes] | RangeFile, name: str) -> Iterator[zipfile.ZipFile]:
    try:
        archive = zipfile.ZipFile(file)
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError):
        raise Unreadable(f"{name} is not a wheel, or is damaged") from None
    with archive:
        yield archive


def _scratch(store: BlobStore) -> Path:
    """Folder for temporary files: on the cache's disk, since /tmp may be memory."""
    try:
        make_private(store.root)
    except OSError as error:
        raise Unreadable(f"the cache folder {store.root} cannot be made: {error.strerror}") from None
    return store.root


def _packages(tree: WheelTree) -> tuple[str, ...]:
    if not tree.packages:
        raise NoEngine(f"{tree.location} holds no Python package")
    return tree.packages


def _sha256_of(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        raise NotFound(f"there is no file {path}") from None
    except OSError as error:
        raise Unreadable(f"{path} cannot be read: {error.strerror}") from None


def _name_of(file: str, tree: WheelTree) -> tuple[str, str]:
    """Project and version: by the file's name, or by the metadata of a wheel that was renamed.

    Raises:
        Unreadable: neither says.
    """
    try:
        project, version, _, _ = parse_wheel_filename(file)
    except InvalidWheelFilename:
        for _, data in tree.read([f"{tree.dist_info}/METADATA"]):
            if isinstance(data, bytes):
                headers = BytesParser().parsebytes(data, headersonly=True)
                return str(headers.get("Name", "")), str(headers.get("Version", ""))
        raise Unreadable(f"{file} is not a wheel: it holds no metadata") from None
    return project, str(version)


def _found(note: _Note, kind: str) -> Found:
    return Found(
        engine=note.engine,
        version=note.version,
        root=note.file,
        packages=note.packages,
        dist_info=note.dist_info,
        provenance=Provenance(kind=kind, environment="", installer="", origin=note.file, sha256=note.sha256, note=""),
    )
