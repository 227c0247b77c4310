"""How an installed tree differs from what its installer wrote down."""

import base64
import csv
import hashlib
import posixpath
from collections.abc import Iterator
from dataclasses import dataclass

from recon.errors import Unreadable
from recon.numbers import number
from recon.ports import Blobs, Entry, SourceTree
from recon.records.install import Edits, Found
from recon.records.source import Snapshot
from recon.sources.select import Kind, kind_of

NOTHING = Edits(0, (), (), ())
"""There was nothing to compare with."""

_ALGORITHMS = ("sha256", "sha384", "sha512")
_MAX_LINES = 1_000_000


@dataclass(frozen=True, slots=True)
class _Recorded:
    """One line of RECORD."""

    algorithm: str
    """'' where the line has no hash that is worth comparing."""
    hash: str
    size_bytes: int | None


def compare_with_record(
    found: Found, tree: SourceTree, *, snapshot: Snapshot | None = None, blobs: Blobs | None = None
) -> Edits:
    """Compare the sources of an install with RECORD by hash, and its libraries by size.

    An editable install or a checkout has no RECORD of its files, so nothing is compared. Files that RECORD lists
    outside the package folders (scripts, metadata) and files that are no source (data, `__pycache__`) do not count.

    Args:
        found: The install.
        tree: Its files.
        snapshot: What was captured of the same tree; with `blobs`, no source is read twice.
        blobs: Where the snapshot's bytes lie.
    """
    if not found.dist_info or found.provenance.kind in ("editable", "checkout", "folder"):
        return NOTHING
    recorded = _record_of(found, tree)
    if not recorded:
        return NOTHING
    here = {
        entry.path: entry.size_bytes for entry in tree.entries() if isinstance(entry, Entry) and _counts(entry.path)
    }
    both = sorted(recorded.keys() & here.keys())
    sources = [path for path in both if kind_of(path) is Kind.SOURCE and recorded[path].algorithm]
    modified = {path for path in both if _resized(recorded[path], here[path])}
    checked = {path for path in both if recorded[path].size_bytes is not None}
    for path, data in _bytes_of(sources, tree, snapshot, blobs):
        checked.add(path)
        if _hash(recorded[path].algorithm, data) != recorded[path].hash:
            modified.add(path)
    return Edits(
        checked=len(checked),
        modified=tuple(sorted(modified)),
        missing=tuple(sorted(recorded.keys() - here.keys())),
        added=tuple(sorted(here.keys() - recorded.keys())),
    )


def _record_of(found: Found, tree: SourceTree) -> dict[str, _Recorded]:
    """Sources and libraries that RECORD lists below the package folders; empty if it is missing or unreadable."""
    where = posixpath.join(posixpath.basename(found.dist_info.rstrip("/")), "RECORD")
    for _, data in tree.read([where]):
        if isinstance(data, bytes):
            lines = _lines(data.decode("utf-8", "replace"))
            tops = {package.partition("/")[0] for package in found.packages}
            return {path: line for path, line in lines if path.partition("/")[0] in tops and _counts(path)}
    return {}


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


def _bytes_of(
    paths: list[str], tree: SourceTree, snapshot: Snapshot | None, blobs: Blobs | None
) -> Iterator[tuple[str, bytes]]:
    """Bytes of the sources, from the blobs where they lie there; what cannot be read is left out."""
    captured = {file.path: file.digest for file in snapshot.files} if snapshot and blobs else {}
    left = []
    for path in paths:
        if blobs is None or path not in captured:
            left.append(path)
            continue
        try:
            yield path, blobs.get(captured[path])
        except Unreadable:
            left.append(path)
    for path, data in tree.read(left):
        if isinstance(data, bytes):
            yield path, data
