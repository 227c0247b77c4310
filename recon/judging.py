"""From a tree to its answers, where no equal tree was given any: all that reads source and asks detectors.

Snapshot ─index─▶ Index ─detectors─▶ Findings ─verdicts─▶ Verdict
"""

import gc
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from recon.detectors.calls import paths_of
from recon.detectors.gates import WANTED, asked_paths, gates_of
from recon.detectors.members import settled
from recon.detectors.registry import capabilities, choices, detectors, findings_of, shapes_version
from recon.detectors.survey import survey
from recon.errors import Unreadable
from recon.index.choosing import masks_of
from recon.index.graph import Graph
from recon.index.index import Index, index_of, open_cache
from recon.index.names import Names
from recon.index.parts import keep
from recon.index.pycg import by_names
from recon.index.reading import DIED
from recon.index.tables import paused_gc
from recon.ports import Progress
from recon.records.callgraph import CallGraph
from recon.records.install import Excerpt
from recon.records.run import Searched as RunSearched
from recon.records.source import Snapshot
from recon.records.unknown import CACHE, PARTLY, Unknown
from recon.records.verdict import Searched, Verdict
from recon.runs.judged import Judged
from recon.sources.capture import capture
from recon.sources.local import LocalTree
from recon.sources.store import OUTLINES, BlobStore
from recon.targets import Settings, Source
from recon.verdicts.judge import judge

FEW_FILES = 200
"""A folder with no more files is read faster in one process, without a cache."""
EXCERPT_LINES = 6
EXCERPT_COLUMNS = 400
MOST_NEAREST = 8
"""Nearest misses kept for each verdict."""


def judged(source: Source, settings: Settings, progress: Progress, notes: list[Unknown]) -> tuple[Judged, bool]:
    """Index one tree and judge it.

    Args:
        source: The tree.
        settings: Where the caches are, and how many processes read.
        progress: Told of each file and of each detector.
        notes: What goes wrong with the caches is added.

    Returns:
        The answers, and whether an equal tree would be given the same ones.
    """
    with _left_behind():
        store = source.blobs
        with open_cache(settings.cache_dir / OUTLINES) as cache:
            index = index_of(source.snapshot, store, cache, progress, settings.workers, asked=masks_of(choices()))
            index.ask(survey, shapes_version(), choices(), store, cache, progress=progress, workers=settings.workers)
            index.ask_refusals(WANTED, asked_paths(index), store, cache, progress)
            notes += cache.notes
        verdicts = verdicts_of(index, progress)
        paths = tuple(path for verdict in verdicts for path in paths_of(index, verdict))
        notes += kept(index, settings.cache_dir)
        excerpts, is_whole = excerpts_of(verdicts, source.snapshot, store)
        unread = tuple(each for each in index.unread if each.what != PARTLY)
        answers = Judged(verdicts, paths, excerpts, _searched(index, unread), unread, capabilities())
        return answers, is_whole and DIED not in index.refused.values()


@contextmanager
def _left_behind() -> Iterator[None]:
    """Leave what is made for one tree to the next tree, or to the end of the process, which frees it as a whole.

    An index is millions of objects in cycles: to look through them for garbage takes as long as half the detectors, and
    the interpreter would do it again when it ends.
    """
    if gc.get_freeze_count():  # of the tree before this one nothing is needed any more
        gc.unfreeze()
        gc.collect()
    with paused_gc():
        try:
            yield
        finally:
            gc.freeze()


def _searched(index: Index, unread: tuple[Unknown, ...]) -> RunSearched:
    counts = index.counts
    return RunSearched(
        install="",
        python_files=counts.python_files,
        cuda_files=counts.cuda_files,
        functions=counts.functions,
        classes=counts.classes,
        kernels=counts.kernels,
        libraries=counts.libraries,
        unread=len(unread),
        seconds=0.0,
    )


def kept(index: Index, cache_dir: Path) -> tuple[Unknown, ...]:
    """Keep what later questions about a tree need; why that was not possible, which costs no verdict."""
    try:
        keep(index, cache_dir)
    except (OSError, sqlite3.Error, ValueError) as error:
        return (Unknown(CACHE, str(cache_dir), f"the graph for `recon find` and `recon paths` is not kept: {error}"),)
    return ()


def verdicts_of(index: Index, progress: Progress) -> tuple[Verdict, ...]:
    """The verdict of every detector on one tree."""
    progress.start("judging", len(detectors()))
    verdicts = []
    for detector in detectors():
        counts = index.counts
        findings, troubles = findings_of(detector, index)
        searched = Searched(
            files=counts.python_files + counts.cuda_files,
            functions=counts.functions,
            kernels=counts.kernels,
            examined=index.examined_for(shape.id for shape in detector.shapes),
            libraries=counts.libraries,
            shapes=tuple(shape.words for shape in detector.shapes),
            unread=(*index.unread, *troubles),
        )
        verdict = settled(index, judge(detector.capability, detector.title, findings, searched), findings.evidence)
        gates = verdict.gates or (gates_of(index, verdict.capability, verdict.evidence) if verdict.evidence else ())
        verdicts.append(replace(verdict, nearest=verdict.nearest[:MOST_NEAREST], gates=gates))
        progress.advance(note=detector.capability)
    progress.finish()
    return tuple(verdicts)


def excerpts_of(
    verdicts: tuple[Verdict, ...], snapshot: Snapshot, store: BlobStore
) -> tuple[tuple[Excerpt, ...], bool]:
    """A few lines of source around each place, each place once; and whether the lines of every place were there."""
    digests = {file.path: file.digest for file in snapshot.files}
    places = {(each.path, each.line) for verdict in verdicts for each in (*verdict.evidence, *verdict.nearest)}
    asked = sorted((path, line) for path, line in places if path in digests)
    found = []
    for path, line in asked:
        try:
            lines = store.get(digests[path]).splitlines()  # of bytes: text would also be cut at form feeds
        except Unreadable:  # the cache lost it since it was read; the place stands, its lines are not shown
            continue
        first = max(1, line - 2)
        shown = [each.decode("utf-8", "replace") for each in lines[first - 1 : first - 1 + EXCERPT_LINES]]
        found.append(Excerpt(path, first, "\n".join(text[:EXCERPT_COLUMNS] for text in shown)))
    return tuple(found), len(found) == len(asked)


def callgraph(folder: Path, settings: Settings, progress: Progress) -> CallGraph:
    """Who calls whom in a folder of Python, as a scan sees it.

    Args:
        folder: It holds the modules and packages: their names are counted from it.
        settings: Where the caches are, and how many processes read.
        progress: Told of each file.
    """
    whole = folder.resolve()
    store = BlobStore(settings.cache_dir)
    snapshot = capture(LocalTree(whole.parent, (whole.name,)), store, progress, compiled=False)
    workers = settings.workers if len(snapshot.files) > FEW_FILES else 0
    with open_cache(settings.cache_dir / OUTLINES) as cache:
        index = index_of(snapshot, store, cache, progress, workers)
    inside = {path.partition("/")[2]: outline for path, outline in index.files.items()}
    return by_names(Graph(Names(inside)), index.unread)
