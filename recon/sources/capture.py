"""From a source tree to blobs and the snapshot that names them."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from recon.errors import Unreadable
from recon.ports import Entry, Progress, SourceTree
from recon.records.source import Library, Snapshot, SourceFile
from recon.records.unknown import LIBRARY, Unknown
from recon.sources.elf import read_library
from recon.sources.select import MAX_FILES, MAX_TOTAL_BYTES, Kind, fault_of, kind_of, printable, refusal
from recon.sources.store import BlobStore

NOT_ASKED = "skipped on request: compiled libraries were not asked for"
"""Why a library is unread when `compiled` is False."""


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of files without reading them in the tree, by path."""

    files: Mapping[str, SourceFile] = field(default_factory=dict)
    """Their bytes lie in the store."""
    libraries: Mapping[str, Library | Unknown] = field(default_factory=dict)


NOTHING_KNOWN = Known()


def capture(
    tree: SourceTree, store: BlobStore, progress: Progress, *, compiled: bool = True, known: Known = NOTHING_KNOWN
) -> Snapshot:
    """Bring the sources of a tree into the store, read its libraries' names, and write the manifest of both.

    The snapshot is kept in the store under its own digest. What cannot be read becomes an Unknown of `unread`.

    Args:
        tree: The files.
        store: Takes the bytes.
        progress: Told of each file.
        compiled: False leaves every library unread, and says so.
        known: Files of the tree that need not be read.

    Raises:
        Unreadable: the store cannot be written.
    """
    sources, libraries, unread = chosen(tree.entries())
    files, failed = _read_sources(tree, sources, store, progress, known.files)
    unread = [*unread, *failed]
    read: list[Library] = []
    if compiled:
        read, failed = _read_libraries(tree, [entry.path for entry in libraries], progress, known.libraries)
        unread += failed
    else:
        unread += [Unknown(LIBRARY, entry.path, NOT_ASKED) for entry in libraries]
    snapshot = Snapshot(
        digest=_digest(files, libraries),
        files=tuple(files),
        libraries=tuple(read),
        unread=tuple(unread),
    )
    keep(snapshot, store)
    return snapshot


def keep(snapshot: Snapshot, store: BlobStore) -> None:
    """Save a snapshot under its own digest, unless what lies there knows more libraries of the same tree.

    Raises:
        Unreadable: the store cannot be written.
    """
    known = store.load_snapshot(snapshot.digest)
    if known != snapshot and (known is None or len(known.libraries) <= len(snapshot.libraries)):
        store.save_snapshot(snapshot.digest, snapshot)


def chosen(entries: Iterable[Entry | Unknown]) -> tuple[list[Entry], list[Entry], list[Unknown]]:
    """Sources and libraries worth reading, each sorted by path, and what is refused.

    A path that appears twice (a zip can do that) is read once.
    """
    sources: dict[str, Entry] = {}
    libraries: dict[str, Entry] = {}
    unread: list[Unknown] = []
    total = 0
    for entry in entries:
        if isinstance(entry, Unknown):
            unread.append(entry)
            continue
        kind = kind_of(entry.path)
        if kind not in (Kind.SOURCE, Kind.LIBRARY):
            if fault_of(entry.path):
                unread.append(Unknown("file", printable(entry.path), fault_of(entry.path)))
            continue
        refused = refusal(entry)
        source = kind is Kind.SOURCE
        if refused is not None:
            unread.append(refused)
        elif len(sources) + len(libraries) >= MAX_FILES or (source and total + entry.size_bytes > MAX_TOTAL_BYTES):
            unread.append(
                Unknown("source tree", entry.path, "the tree holds more than recon reads; the rest is left out")
            )
            break
        elif not source:
            libraries.setdefault(entry.path, entry)
        elif entry.path not in sources:
            sources[entry.path] = entry
            total += entry.size_bytes
    by_path = sorted(sources.values(), key=lambda entry: entry.path)
    return by_path, sorted(libraries.values(), key=lambda entry: entry.path), unread


def with_libraries(snapshot: Snapshot, tree: SourceTree, progress: Progress) -> Snapshot:
    """A snapshot that left its libraries out, with them read from the same tree."""
    wanted = [gap.where for gap in snapshot.unread if gap.why == NOT_ASKED]
    read, failed = _read_libraries(tree, wanted, progress, {})
    kept = [gap for gap in snapshot.unread if gap.why != NOT_ASKED]
    return replace(snapshot, libraries=tuple(read), unread=(*kept, *failed))


def without_libraries(snapshot: Snapshot) -> Snapshot:
    """The snapshot as if no library had been asked for, so that the same question always has the same answer."""
    kept = [gap for gap in snapshot.unread if gap.what != LIBRARY]
    paths = sorted([library.path for library in snapshot.libraries] + _unread_libraries(snapshot))
    return replace(snapshot, libraries=(), unread=(*kept, *(Unknown(LIBRARY, path, NOT_ASKED) for path in paths)))


def lacks_libraries(snapshot: Snapshot) -> bool:
    """Whether libraries were left out of the snapshot on request."""
    return any(gap.why == NOT_ASKED for gap in snapshot.unread)


def _unread_libraries(snapshot: Snapshot) -> list[str]:
    return [gap.where for gap in snapshot.unread if gap.what == LIBRARY]


def _read_sources(
    tree: SourceTree,
    sources: Sequence[Entry],
    store: BlobStore,
    progress: Progress,
    known: Mapping[str, SourceFile],
) -> tuple[list[SourceFile], list[Unknown]]:
    files = [known[entry.path] for entry in sources if entry.path in known]
    unread: list[Unknown] = []
    asked = [entry.path for entry in sources if entry.path not in known]
    waiting = set(asked)
    progress.start("reading sources", len(sources))
    progress.advance(len(files))
    for path, data in tree.read(asked):
        if path not in waiting:  # an answer to a question that was not asked, or one answered twice
            continue
        waiting.discard(path)
        if isinstance(data, Unknown):
            unread.append(data)
        else:
            files.append(SourceFile(path, store.put(data), len(data)))
        progress.advance()
    unread += [Unknown("source file", path, "it was listed and then not delivered") for path in sorted(waiting)]
    progress.finish()
    return sorted(files, key=lambda file: file.path), unread


def _read_libraries(
    tree: SourceTree, paths: Sequence[str], progress: Progress, known: Mapping[str, Library | Unknown]
) -> tuple[list[Library], list[Unknown]]:
    read: list[Library] = []
    unread: list[Unknown] = []
    progress.start("reading compiled libraries", len(paths))
    for path in paths:
        progress.advance(0, path)
        try:
            found = known[path] if path in known else read_library(path, tree.open_range(path))
        except Unreadable as error:
            found = Unknown(LIBRARY, path, error.message)
        if isinstance(found, Library):
            read.append(found)
        else:
            unread.append(found)
        progress.advance()
    progress.finish()
    return read, unread


def _digest(files: Sequence[SourceFile], libraries: Sequence[Entry]) -> str:
    """Of the whole manifest. Libraries count by path and size whether or not they were read."""
    total = hashlib.blake2b(digest_size=16)
    for file in files:
        total.update(f"{file.path}\0{file.digest}\n".encode())
    for entry in libraries:
        total.update(f"{entry.path}\0{entry.size_bytes}\n".encode())
    return total.hexdigest()
