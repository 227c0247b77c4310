"""Source trees on another machine, through a Shell: listed there, brought home once, and remembered.

One exec lists every install of a host, or says that nothing has changed since. A second brings the files that are not
known yet, as one stream, and a third says whether they still are what was listed. A fourth brings what names are read
from of the libraries that are not known yet. Nothing is written there and nothing is started but sh and small tools.

A file counts as unchanged while its size and the times of its last change are those that the host listed before.
"""

import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from recon.errors import Unreadable
from recon.ports import ByteRange, Entry, Progress, Shell, Silent
from recon.records.install import Found
from recon.records.source import Library, Snapshot, SourceFile
from recon.records.unknown import LIBRARY, Unknown
from recon.sources.capture import NOT_ASKED, Known, capture, chosen
from recon.sources.fetching import fetch_files
from recon.sources.framing import frames
from recon.sources.host_scripts import Place, listing_script
from recon.sources.listing import MAX_LISTING_BYTES, Listing, read_listing, stamps, unchanged
from recon.sources.remote_ranges import HostLibraries
from recon.sources.select import Kind, kind_of, printable
from recon.sources.store import BlobStore

LISTING_S = 60.0
"""For the listings of one host."""
CHANGED = "it changed while it was read: scan again"
_VERSION = 3


class _Memory(msgspec.Struct, frozen=True):
    """What an earlier look at a tree left in the store."""

    version: int
    listing: bytes
    files: tuple[SourceFile, ...]
    """RECORD among them."""
    libraries: tuple[Library, ...]
    malformed: tuple[Unknown, ...]
    """Libraries that hold nothing to read, however often they are opened."""


_NOTHING = _Memory(_VERSION, b"", (), (), ())


@dataclass(frozen=True, slots=True)
class _Past:
    """What is remembered, and under which key."""

    key: str
    memory: _Memory
    listing: Listing


def look(
    shell: Shell, founds: Sequence[Found], store: BlobStore, *, identity: str = ""
) -> "tuple[RemoteTree | Unreadable, ...]":
    """List the trees of some installs in one exec; in the place of one that cannot be listed stands why.

    Args:
        shell: The machine that holds them.
        founds: Where they lie there.
        store: Where blobs and what is remembered of hosts are kept.
        identity: What tells the machine from others, whatever it says of itself: what is remembered of one must never
            be taken for another.

    Raises:
        Unreachable: the machine did not answer.
    """
    pasts = [_recall(store, identity or shell.name, found) for found in founds]
    places = [_place(found, past.listing.digest) for found, past in zip(founds, pasts, strict=True)]
    listings = _listings(shell, places)
    trees: list[RemoteTree | Unreadable] = []
    for found, past, told in zip(founds, pasts, listings, strict=True):
        try:
            trees.append(RemoteTree(shell, found, store, past, told))
        except Unreadable as error:
            trees.append(error)
    return tuple(trees)


class RemoteTree:
    """The package folders of one install on another machine; implements `recon.ports.SourceTree`."""

    def __init__(self, shell: Shell, found: Found, store: BlobStore, past: _Past, told: bytes) -> None:
        """Take what the machine told of the tree, and what is remembered of it.

        Raises:
            Unreadable: what it told is no listing.
        """
        self._shell = shell
        self._found = found
        self._store = store
        self._past = past
        self.unchanged = _same(told, past.listing.digest, found)
        """Whether the machine said that the listing is the one that was remembered."""
        self._told = past.memory.listing if self.unchanged else told
        self._listing = past.listing if self.unchanged else _listing(told, found)
        still = _still(past.listing, self._listing)
        memory = past.memory
        self._files = {file.path: file for file in memory.files if file.path in still and store.has(file.digest)}
        self._refused: dict[str, Unknown] = {}
        known = {library.path: library for library in memory.libraries if library.path in still}
        malformed = {gap.where: gap for gap in memory.malformed if gap.where in still}
        self._libraries: dict[str, Library | Unknown] = {**known, **malformed}
        self._sources, compiled, _ = chosen(self.entries())
        unread = [self._listing.files[each.path] for each in compiled if each.path not in self._libraries]
        self._ranges = HostLibraries(shell, found.root, unread)

    @property
    def location(self) -> str:
        """Folder that holds the packages."""
        return self._found.root

    def entries(self) -> Iterator[Entry | Unknown]:
        """What matters of the files below the package folders, sorted within each folder."""
        yield from (item for item in self._listing.order if isinstance(item, Unknown) or not _beside(item.path))

    def read(self, paths: Sequence[str]) -> Iterator[tuple[str, bytes | Unknown]]:
        """Bytes of the files asked for; what is not at home yet is brought.

        Raises:
            Unreachable: the machine did not answer.
        """
        self._bring([path for path in paths if path in self._listing.files], Silent())
        for path in paths:
            if path in self._files:
                yield path, self._store.get(self._files[path].digest)
            else:
                gone = Unknown("source file", printable(path), "No such file or directory")
                yield path, self._refused.get(path, gone)

    def open_range(self, path: str) -> ByteRange:
        """A library for bounded reads; the first one opened brings what is needed of others along.

        Raises:
            Unreadable: it cannot be opened.
            Unreachable: the machine did not answer.
        """
        return self._ranges.open(path)

    def capture(self, progress: Progress, *, compiled: bool = True) -> Snapshot:
        """Bring home what is new, and write the manifest of the whole; what was brought is remembered.

        Raises:
            Unreachable: the machine did not answer.
            Unreadable: the store cannot be written.
        """
        record = [path for path in self._listing.files if _beside(path)]
        self._bring([*record, *(entry.path for entry in self._sources)], progress)
        snapshot = capture(self, self._store, progress, compiled=compiled, known=Known(self._files, self._libraries))
        self._remember(snapshot)
        return snapshot

    def _bring(self, paths: Sequence[str], progress: Progress) -> None:
        """Make `_files` or `_refused` hold each of the paths."""
        missing = [self._listing.files[path] for path in paths if path not in self._files]
        missing = [listed for listed in missing if listed.path not in self._refused]
        if not missing:
            return
        brought = []
        for path, got in fetch_files(self._shell, self._found.root, missing, progress):
            if isinstance(got, Unknown):
                self._refused[path] = got
            else:
                self._files[path] = SourceFile(path, self._store.put(got), len(got))
                brought.append(path)
        for path in self._changed(brought):
            del self._files[path]
            self._refused[path] = Unknown("source file", printable(path), CHANGED)

    def _changed(self, brought: Sequence[str]) -> Sequence[str]:
        """Those of the files that are not as they were listed, now that they are here.

        What came of them may be half old and half new, or lie elsewhere: a folder above may have become a link.
        """
        if not brought:
            return ()
        known = self._listing.digest
        try:
            told = _listings(self._shell, [_place(self._found, known)])[0]
            now = self._listing if _same(told, known, self._found) else _listing(told, self._found)
        except Unreadable:
            return brought
        still = _still(self._listing, now)
        return [path for path in brought if path not in still]

    def _remember(self, snapshot: Snapshot) -> None:
        """Keep what a next look need not bring again."""
        failed = self._ranges.failed
        self._libraries |= {library.path: library for library in snapshot.libraries}
        self._libraries |= {
            gap.where: gap
            for gap in snapshot.unread
            if gap.what == LIBRARY and gap.why != NOT_ASKED and gap.where not in failed
        }
        memory = _Memory(
            _VERSION,
            self._told,
            tuple(self._files.values()),
            tuple(each for each in self._libraries.values() if isinstance(each, Library)),
            tuple(each for each in self._libraries.values() if isinstance(each, Unknown)),
        )
        if memory != self._past.memory:
            self._store.save_note(self._past.key, msgspec.msgpack.encode(memory))


def _key(identity: str, found: Found) -> str:
    return "\0".join(("host", identity, found.root, *found.packages, found.dist_info))


def _recall(store: BlobStore, identity: str, found: Found) -> _Past:
    key = _key(identity, found)
    try:
        memory = msgspec.msgpack.decode(store.load_note(key) or b"", type=_Memory)
        if memory.version == _VERSION:
            return _Past(key, memory, read_listing(memory.listing, found.packages))
    except (msgspec.DecodeError, UnicodeDecodeError, Unreadable):
        pass
    return _Past(key, _NOTHING, Listing("", {}, ()))


def _place(found: Found, known: str) -> Place:
    return Place(found.root, found.packages, _record_of(found), known)


def _listings(shell: Shell, places: Sequence[Place]) -> Sequence[bytes]:
    """What the machine tells of each place; nothing where it stopped before.

    Raises:
        Unreachable: it did not answer.
    """
    nonce = secrets.token_hex(16)
    heard = bytearray(b"\n")
    shell.stream(listing_script(places, nonce), heard.extend, timeout_s=LISTING_S, cap_bytes=MAX_LISTING_BYTES)
    told = dict(frames(bytes(heard), nonce))
    return [told.get(str(number), b"") for number in range(len(places))]


def _record_of(found: Found) -> str:
    """RECORD beside the packages, as the installer left it."""
    folder = found.dist_info.rstrip("/").rpartition("/")[2]
    return f"{folder}/RECORD" if folder else ""


def _beside(path: str) -> bool:
    return kind_of(path) is Kind.METADATA


def _listing(told: bytes, found: Found) -> Listing:
    if not told:
        raise Unreadable(f"{found.root}: the listing of its files was cut off", "Scan again.")
    return read_listing(told, found.packages)


def _same(told: bytes, known: str, found: Found) -> bool:
    """Whether the machine says that the listing is the known one.

    Raises:
        Unreadable: it named another one, or sent one under that very digest.
    """
    try:
        return bool(told) and unchanged(told, known)
    except Unreadable as error:
        raise Unreadable(f"{found.root}: {error.message}") from None


def _still(before: Listing, now: Listing) -> Mapping[str, object]:
    """Paths of the files that are as they were."""
    then = dict(stamps(before))
    return {path: stamp for path, stamp in stamps(now) if then.get(path) == stamp}
