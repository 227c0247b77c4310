"""A small tree in memory, judged as a large one on disk is: for the cases of detectors, built in or not."""

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from pathlib import Path

from recon.detectors.api import Case, Detector, Index, Shape
from recon.detectors.gates import WANTED, asked_paths
from recon.detectors.registry import shapes, shapes_version
from recon.detectors.survey import seen_by
from recon.errors import Unreadable
from recon.index.index import index_of, open_cache
from recon.ports import Silent
from recon.records.findings import Findings
from recon.records.source import Library, Snapshot, SourceFile


@dataclass(frozen=True)
class MemoryBlobs:
    """Blobs in memory."""

    files: Mapping[str, bytes]

    def __hash__(self) -> int:
        """By content, so that workers may keep what they read."""
        return hash(tuple(sorted(self.files)))

    def get(self, digest: str) -> bytes:
        """Bytes of a blob."""
        if digest not in self.files:
            raise Unreadable(f"no blob {digest}")
        return self.files[digest]


def indexed(files: Mapping[str, str], libraries: tuple[Library, ...] = (), more: tuple[Shape, ...] = ()) -> Index:
    """The index of a small tree, refusals and all registered shapes asked, and more that are not."""
    asked = {shape.id: shape for shape in (*shapes(), *more)}
    wanted = {shape.id: shape.wanted for shape in asked.values()}
    blobs = {blake2b(text.encode(), digest_size=16).hexdigest(): text.encode() for text in files.values()}
    sources = tuple(
        SourceFile(path, blake2b(text.encode(), digest_size=16).hexdigest(), len(text.encode()))
        for path, text in sorted(files.items())
    )
    snapshot = Snapshot("", sources, libraries, ())
    with tempfile.TemporaryDirectory() as folder, open_cache(Path(folder) / "cache.db") as cache:
        store = MemoryBlobs(blobs)
        index = index_of(snapshot, store, cache, Silent(), 0)
        ask = partial(seen_by, asked.values())
        index.ask(ask, shapes_version(), wanted, store, cache, progress=Silent(), workers=0)
        index.ask_refusals(WANTED, asked_paths(index), store, cache, Silent())
    return index


def findings_in(detector: Detector, case: Case) -> Findings:
    """What a detector finds in a case."""
    return detector.detect(indexed(case.files, case.libraries, detector.shapes))
