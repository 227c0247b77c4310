"""How an installed tree differs from what its installer wrote down."""

import base64
import csv
import hashlib
import posixpath
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

import msgspec

from recon.errors import Unreadable
from recon.numbers import number
from recon.ports import Entry, SourceTree
from recon.records.install import Edits, Found
from recon.records.source import Snapshot
from recon.sources.select import Kind, kind_of
from recon.sources.store import BlobStore, digest_of

NOTHING = Edits(0, (), (), ())
"""There was nothing to compare with."""

_ALGORITHMS = ("sha256", "sha384", "sha512")
_MAX_LINES = 1_000_000
_VERSION = 1


@dataclass(frozen=True, slots=True)
class _Recorded:
    """One line of RECORD."""

    algorithm: str
    """'' where the line has no hash that is worth comparing."""
    hash: str
    size_bytes: int | None


def compare_with_record(
    found: Found, tree: SourceTree, *, snapshot: Snapshot | None = None, store: BlobStore | None = None
) -> Edits:
    """Compare the sources of an install with RECORD by hash, and its libraries by size.

    An editable install or a checkout has no RECORD of its files, so nothing is compared. Files that RECORD lists
    outside the package folders (scripts, metadata) and files that are no source (data, `__pycache__`) do not count.

    Args:
        found: The install.
        tree: Its files.
        snapshot: What was captured of the same tree; with `store`, no source is read twice.
        store: Where the snapshot's bytes lie, and what was found of equal trees.
    """
    if not found.dist_info or found.provenance.kind in ("editable", "checkout", "folder"):
        return NOTHING
    record = _record_of(found, tree)
    if not record:
        return NOTHING
    here = {
        entry.path: entry.size_bytes for entry in tree.entries() if isinstance(entry, Entry) and _counts(entry.path)
    }
    captured = {file.path: file.digest for file in snapshot.files} if snapshot and store else {}
    key = _key_of(found, record, here, captured)
    known = _recalled(store, key) if store else None
    if known is not None:
        return known
    left: list[str] = []
    edits = _compared(_recorded(record, found), here, partial(_bytes_of, left, tree, captured, store))
    if store and not left:
        with suppress(Unreadable):  # it costs the next scan some time
            store.save_note(key, msgspec.msgpack.encode(edits))
    return edits


def _compared(
    recorded: Mapping[str, _Recorded],
    here: Mapping[str, int],
    bytes_of: Callable[[list[str]], Iterable[tuple[str, bytes]]],
) -> Edits:
    if not recorded:
        return NOTHING
    both = sorted(recorded.keys() & here.keys())
    sources = [path for path in both if kind_of(path) is Kind.SOURCE and recorded[path].algorithm]
    modified = {path for path in both if _resized(recorded[path], here[path])}
    checked = {path for path in both if recorded[path].size_bytes is not None}
    for path, data in bytes_of(sources):
        checked.add(path)
        if _hash(recorded[path].algorithm, data) != recorded[path].hash:
            modified.add(path)
    return Edits(
        checked=len(checked),
        modified=tuple(sorted(modified)),
        missing=tuple(sorted(recorded.keys() - here.keys())),
        added=tuple(sorted(here.keys() - recorded.keys())),
    )


def _bytes_of(
    left: list[str], tree: SourceTree, captured: Mapping[str, str], store: BlobStore | None, paths: list[str]
) -> Iterator[tuple[str, bytes]]:
    """Bytes of the sources, from the blobs where they lie there, else, noted in `left`, from the tree."""
    for path in paths:
        if store is None or path not in captured:
            left.append(path)
            continue
        try:
            yield path, store.get(captured[path])
        except Unreadable:
            left.append(path)
    for path, data in tree.read(left):
        if isinstance(data, bytes):
            yield path, data


def _key_of(found: Found, record: bytes, here: Mapping[str, int], captured: Mapping[str, str]) -> str:
    """Of all that a comparison rests on."""
    parts = (_VERSION, found.packages, record, sorted(here.items()), sorted(captured.items()))
    return f"edits {digest_of(msgspec.msgpack.encode(parts))}"


def _recalled(store: BlobStore, key: str) -> Edits | None:
    try:
        return msgspec.msgpack.decode(store.load_note(key) or b"", type=Edits)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def _record_of(found: Found, tree: SourceTree) -> bytes:
    """RECORD of an install; empty if it is missing or unreadable."""
    where = posixpath.join(posixpath.basename(found.dist_info.rstrip("/")), "RECORD")
    return next((data for _, data in tree.read([where]) if isinstance(data, bytes)), b"")


def _recorded(record: bytes, found: Found) -> dict[str, _Recorded]:
    """Sources and libraries that RECORD lists below the package folders."""
    tops = {package.partition("/")[0] for package in found.packages}
    lines = _lines(record.decode("utf-8", "replace"))
    return {path: line for path, line in lines if path.partition("/")[0] in tops and _counts(path)}


def _lines(text: str) -> Iterator[tuple[str, _Recorded]]:
    rows = csv.reader(text.splitlines())
    try:
        for place, row in enumerate(rows):
            if place > _MAX_LINES:
                return
            if len(row) < 3:
                continue
            algorithm, _, value = row[1].partition("=")
            size = number(row[2])
            yield posixpath.normpath(row[0]), _Recorded(algorithm if algorithm in _ALGORITHMS else "", value, size)
    except csv.Error:  # what was read up to here still stands
        return


def _counts(path: str) -> bool:
    return kind_of(path) in (Kind.SOURCE, Kind.LIBRARY)


def _resized(line: _Recorded, size_bytes: int) -> bool:
    return line.size_bytes is not None and line.size_bytes != size_bytes


def _hash(algorithm: str, data: bytes) -> str:
    """As RECORD writes it: base64 for URLs, without padding."""
    return base64.urlsafe_b64encode(hashlib.new(algorithm, data).digest()).rstrip(b"=").decode("ascii")
