"""The second pass: functions that the first pass chose, read in full by worker processes and asked for shapes.

The code of a function never leaves its worker; what a shape reports does, and is cached by the bytes it was read from.
"""

import gc
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b

import msgspec

from recon.index.cache import OutlineCache, version_of
from recon.index.cuda_code import Code, Tree
from recon.index.cuda_terms import functions
from recon.index.decoding import utf8
from recon.index.inline import Callee, inlined
from recon.index.libraries import Aliases
from recon.index.macro_bodies import alone
from recon.index.pool import STILL_S, can_fork
from recon.index.python_terms import read_function
from recon.index.records import Feature
from recon.index.sighting import Sighting
from recon.index.term import Term
from recon.ports import Blobs, Progress

READERS = (
    "term",
    "inner",
    "unfold",
    "python_terms",
    "compared",
    "live",
    "patterns",
    "newer_patterns",
    "newer_tree",
    "cuda_callables",
    "cuda_code",
    "cuda_kinds",
    "cuda_spell",
    "spell",
    "cuda_maps",
    "cuda_terms",
    "macro_blocks",
    "macro_bodies",
    "inline",
    "libraries",
    "reading",
    "rescue",
    "sighting",
    "decoding",
    "strings",
    "records",
)
"""Modules whose edits make kept answers stale."""


MAX_CUDA_TERMS = 150_000
"""A larger function of CUDA is named as unread, and nothing that it could hold is called absent. The largest that a
generator unrolled into a release has 75,000 terms, and takes seconds."""

DIED = "its reader died"
"""Why a function is refused whose reader did not live to answer: the next one may."""


@dataclass(frozen=True, slots=True)
class Slice:
    """A function as the first pass found it: enough to cut it out of its file."""

    digest: str
    scope: int
    first_line: int
    """Where what stands before its name begins: decorators, template parameters, the type."""
    line: int
    end_line: int
    params: tuple[str, ...]
    features: Feature
    libraries: Aliases = ()
    """Names that its file has for libraries of arrays."""


@dataclass(frozen=True, slots=True)
class Job:
    """The functions of one blob that are to be read in full."""

    digest: str
    cuda: bool
    slices: tuple[Slice, ...]
    helpers: tuple[tuple[str, Slice], ...]
    """Small functions, in this blob or others, that may stand in the place of their calls: name and slice."""

    @property
    def key(self) -> str:
        """Digest of all bytes that the answer depends on."""
        seed = blake2b(self.digest.encode(), digest_size=16)
        for part in self.slices:
            seed.update(f"{part.scope}:{part.line}:{part.features:d}{part.libraries or ''};".encode())
        for name, part in self.helpers:
            seed.update(f"{name}:{part.digest}:{part.line}{part.libraries or ''};".encode())
        return seed.hexdigest()


@dataclass(frozen=True, slots=True)
class Answer:
    """What the shapes said of one blob."""

    sightings: dict[int, tuple[Sighting, ...]]
    """By scope; functions in which nothing was seen are left out."""
    refused: dict[int, str]
    """Functions that could not be read in full, and why."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A function read in full, for shapes to look at."""

    body: Term
    """Its `def` Term, small helpers inlined."""
    params: tuple[str, ...]
    features: Feature


Ask = Callable[[Subject], Sequence[Sighting]]
"""All shapes at once. A module-level function, so that it can be sent to worker processes."""

_DECODER = msgspec.msgpack.Decoder(Answer)
_FOLLOW_S = 2.0
ROWS_AT_ONCE = 50
"""Answers that are kept in one transaction: alone each would take as long as ten, and a stop loses but these."""


def answers(
    jobs: Sequence[Job],
    ask: Ask,
    ask_version: str,
    blobs: Blobs,
    cache: OutlineCache,
    *,
    progress: Progress,
    workers: int,
) -> Iterator[tuple[Job, Answer]]:
    """What the shapes say of each blob, in no order; answers of an earlier run come from the cache.

    Args:
        jobs: What to read.
        ask: The shapes.
        ask_version: Digest of the shapes' own sources, so that an edit serves no stale answer.
        blobs: Where the bytes are.
        cache: Where answers are kept.
        progress: Told of each blob.
        workers: Processes to use; 0 reads in this process.
    """
    version = f"{version_of(READERS)}-{ask_version}"
    known = cache.get_blob_records("sightings", version, [job.key for job in jobs])
    progress.start("reading functions", len(jobs))
    fresh: list[Job] = []
    for job in jobs:
        kept = _kept(known.get(job.key))
        if kept is None:
            fresh.append(job)
            continue
        progress.advance()
        yield job, kept
    rows: list[tuple[str, bytes]] = []
    for job, answer, keep in _read_all(fresh, ask, blobs, workers, lambda note: progress.advance(0, note)):
        progress.advance()
        if keep:
            rows.append((job.key, msgspec.msgpack.encode(answer)))
        if len(rows) >= ROWS_AT_ONCE:
            cache.put_blob_records("sightings", version, rows)
            rows.clear()
        yield job, answer
    cache.put_blob_records("sightings", version, rows)
    progress.finish()


def _kept(row: bytes | None) -> Answer | None:
    """An answer of an earlier run; a damaged row is a miss."""
    if not isinstance(row, bytes):  # any value may stand in a damaged table
        return None
    try:
        return _DECODER.decode(row)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def _read_all(
    jobs: list[Job], ask: Ask, blobs: Blobs, workers: int, still: Callable[[str], None]
) -> Iterator[tuple[Job, Answer, bool]]:
    """Read jobs in a pool; those left when a worker dies are read again one by one, so that one file costs itself."""
    if not workers:
        yield from ((job, _DECODER.decode(_answer(job, ask, blobs)), True) for job in jobs)
        return
    if not jobs:
        return
    # Large files first, so that no worker is left alone with one at the end.
    ordered = sorted(jobs, key=lambda job: -sum(part.end_line - part.line for part in job.slices))
    left = dict(enumerate(ordered))
    try:
        for number, answer in _in_pool(left, ask, blobs, workers, still):
            yield left.pop(number), answer, True
    except BrokenProcessPool:
        for number, job in list(left.items()):
            try:
                answer = dict(_in_pool({number: job}, ask, blobs, 1, still))[number]
            except BrokenProcessPool:
                yield job, Answer({}, {part.scope: DIED for part in job.slices}), False
            else:
                yield job, answer, True


def _in_pool(
    jobs: dict[int, Job], ask: Ask, blobs: Blobs, workers: int, still: Callable[[str], None]
) -> Iterator[tuple[int, Answer]]:
    context = multiprocessing.get_context("fork" if can_fork() else "spawn")
    executor = ProcessPoolExecutor(max(1, workers), mp_context=context, initializer=_settle, initargs=(os.getpid(),))
    try:
        futures: dict[Future[bytes], int] = {
            executor.submit(_answer, job, ask, blobs): number for number, job in jobs.items()
        }
        heard_at = time.monotonic()
        while futures:
            try:
                for future in as_completed(tuple(futures), STILL_S):
                    heard_at = time.monotonic()
                    yield futures.pop(future), _DECODER.decode(future.result())
            except TimeoutError:
                if (silent_s := time.monotonic() - heard_at) >= STILL_S:
                    still(f"no word for {silent_s:.0f} s: {len(futures)} files are left")
    finally:
        processes = list((executor._processes or {}).values())  # noqa: SLF001 - no public way to end a busy worker
        executor.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            process.terminate()


def _settle(parent: int) -> None:
    """In a new worker: it ends when it is told to, or when nobody is left to tell it; Ctrl-C is its parent's affair."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for number in (signal.SIGTERM, signal.SIGHUP):  # a fork inherits handlers that save what it does not have
        signal.signal(number, signal.SIG_DFL)
    threading.Thread(target=_follow, args=(parent,), daemon=True).start()
    # Collecting among the millions of nodes of a parse costs a fifth of it and finds nothing.
    gc.freeze()
    gc.disable()


def _follow(parent: int) -> None:
    """End this process when its parent is gone: workers hold each other's pipes, so none would ever see an end."""
    while os.getppid() == parent:
        time.sleep(_FOLLOW_S)
    os._exit(1)


def _answer(job: Job, ask: Ask, blobs: Blobs) -> bytes:
    """Read one job, in a worker."""
    sightings: dict[int, tuple[Sighting, ...]] = {}
    refused: dict[int, str] = {}
    resolver = _Resolver(dict(job.helpers), blobs)
    for part in job.slices:
        try:
            is_kernel = bool(part.features & (Feature.JIT | Feature.CUDA))
            body = _cuda_body(part, blobs) if job.cuda else _python_body(part, blobs, () if is_kernel else job.helpers)
            if is_kernel:
                body = inlined(body, resolver, part.params)
            seen = tuple(ask(Subject(body, part.params, part.features)))
        except RecursionError:
            refused[part.scope] = "it nests too deep to be read"
        except ValueError as error:
            refused[part.scope] = str(error) or type(error).__name__
        except Exception as error:  # noqa: BLE001 - code of strangers: no function may end the scan of a tree
            refused[part.scope] = f"reading it ended in {type(error).__name__}"
        else:
            if seen:
                sightings[part.scope] = seen
    return msgspec.msgpack.encode(Answer(sightings, refused))


@dataclass(frozen=True, slots=True)
class _Resolver:
    """Finds the small functions that calls name."""

    helpers: dict[str, Slice]
    blobs: Blobs

    def __call__(self, name: str) -> Callee | None:
        part = self.helpers.get(name)
        if part is None:
            return None
        try:
            body = _body(part, self.blobs, cuda=bool(part.features & Feature.CUDA))
        except ValueError:
            return None
        return Callee(part.params, body, f"{part.digest}:{part.line}", _size(part, self.blobs))


@lru_cache(maxsize=64)
def _lines(digest: str, blobs: Blobs) -> tuple[bytes, ...]:
    return tuple(utf8(blobs.get(digest)).splitlines(keepends=True))


@lru_cache(maxsize=8)
def _cuda_code(digest: str, blobs: Blobs) -> Code:
    return Code(blobs.get(digest))


@lru_cache(maxsize=8)
def _cuda_tree(digest: str, blobs: Blobs) -> Tree:
    return _cuda_code(digest, blobs).tree()


def _least(tree: Tree, line: int) -> tuple[int, int, Term] | None:
    """The innermost function around a line."""
    return min(functions(tree, line), key=lambda found: found[1] - found[0], default=None)


@lru_cache(maxsize=256)
def _body(part: Slice, blobs: Blobs, *, cuda: bool) -> Term:
    if cuda:
        return _cuda_function(part, blobs)
    return _python_body(part, blobs, ())


@lru_cache(maxsize=256)
def _python_body(part: Slice, blobs: Blobs, helpers: tuple[tuple[str, Slice], ...]) -> Term:
    """A function, with what measures for it in the place of its calls."""
    source = b"".join(_lines(part.digest, blobs)[part.line - 1 : part.end_line])
    libraries = {name: short for name, short in part.libraries if name not in part.params}
    others = (each for name, each in helpers if each.scope != part.scope and name.encode() in source)
    return read_function(
        source, part.line, libraries, [(_python_body(each, blobs, ()), each.params) for each in others]
    )


def _cuda_function(part: Slice, blobs: Blobs) -> Term:
    """A function by its own lines; by the whole file where the grammar needs that, or as the only member of a class."""
    code = _cuda_code(part.digest, blobs)
    found = _least(code.tree_between(part.first_line, part.end_line), part.line)
    if found is None or found[1] != part.end_line:
        found = _least(_cuda_tree(part.digest, blobs), part.line)
    if found is None or found[1] != part.end_line:
        member = Code(alone(code.text, part.line, part.end_line))
        found = _least(member.tree(), part.end_line) or found  # the text may take its heading for a line longer
    if found is None:
        raise ValueError("the grammar reads no function there")
    return found[2]


def _cuda_body(part: Slice, blobs: Blobs) -> Term:
    if (terms := _size(part, blobs)) > MAX_CUDA_TERMS:
        raise ValueError(f"a CUDA function of {terms:,} terms is over the limit of {MAX_CUDA_TERMS:,}")
    return _body(part, blobs, cuda=True)


@lru_cache(maxsize=4096)
def _size(part: Slice, blobs: Blobs) -> int:
    return sum(1 for _ in _body(part, blobs, cuda=bool(part.features & Feature.CUDA)).walk())
