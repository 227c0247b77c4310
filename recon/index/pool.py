"""Outlines of many files, by processes that may die: a file that ends its reader costs only itself."""

import gc
import multiprocessing
import os
import signal
import sys
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import blake2b
from multiprocessing import connection
from multiprocessing.connection import Connection
from multiprocessing.context import ForkProcess, SpawnProcess
from pathlib import Path, PurePosixPath
from typing import Self

import msgspec

from recon.errors import Unreadable
from recon.index.cache import OutlineCache
from recon.index.cuda_triage import outline_asked
from recon.index.inside import with_strings
from recon.index.outline import outline_cuda, outline_python
from recon.index.records import Outline
from recon.index.rescue import unread
from recon.ports import Blobs, Progress
from recon.records.source import SourceFile

PYTHON = frozenset({".py", ".pyi"})
CUDA = frozenset({".cu", ".cuh", ".h", ".hpp", ".hh", ".cc", ".cpp", ".cxx", ".inl"})
_MOST_WORKERS = 8
_CHUNKS_A_WORKER = 16
STILL_S = 10.0
"""Readers that say nothing for so long are spoken of: they have a long file, or a machine that is busy."""
_RECURSION = 20_000
_MOST_DEATHS = 20
"""Readers that end one after the other, none of them having read anything: then it is not the files."""


Asked = tuple[int, ...] | None


class _Answer(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What a reader says of one file."""

    digest: str
    outline: msgspec.Raw
    keep: bool
    """Whether the outline follows from the bytes alone, so that it may be cached."""


_Chunk = list[SourceFile]
_ANSWERS = msgspec.msgpack.Decoder(list[_Answer])
_OUTLINES = msgspec.msgpack.Decoder(Outline)


def outlines(
    files: Sequence[SourceFile],
    blobs: Blobs,
    cache: OutlineCache,
    progress: Progress,
    workers: int = 0,
    *,
    asked: Asked = None,
) -> Generator[tuple[str, Outline], None, None]:
    """Yield the outline of each distinct blob, in no order; those in the cache come first.

    Args:
        files: What to outline. The ending of the path tells the language; equal blobs are read once.
        blobs: Where their bytes are.
        cache: Asked first, and told of what is new.
        progress: Told of each file.
        workers: Processes to read with; 0 for one a CPU, eight at most.
        asked: As of `outline_of`.
    """
    wanted = {file.digest: file for file in reversed(files)}
    keys = {digest: _key(file, asked) for digest, file in wanted.items()}
    kept = cache.get_many(keys.values())
    known = {digest: kept[key] for digest, key in keys.items() if key in kept}
    missing = [file for digest, file in wanted.items() if digest not in known]
    with _Pool(blobs, min(workers or _cpus(), _MOST_WORKERS), asked) as pool:
        pool.begin(missing)  # before `progress`, which may start a thread, and threads forbid to fork
        progress.start("reading sources", len(wanted))
        progress.advance(len(known))
        yield from known.items()
        for answers in pool.answers(lambda note: progress.advance(0, note)):
            cache.put_many((keys[answer.digest], bytes(answer.outline)) for answer in answers if answer.keep)
            progress.advance(len(answers))
            for answer in answers:
                yield answer.digest, _OUTLINES.decode(answer.outline)
        progress.finish()


def at_work(chunks: Sequence[Sequence[SourceFile]], seconds: float) -> str:
    """What readers are at that have said nothing for so long: how many files, and the largest."""
    files = [file for chunk in chunks for file in chunk]
    largest = max(files, key=lambda file: file.size_bytes)
    readers = f"{len(chunks)} process{'es' * (len(chunks) > 1)} at {len(files)} file{'s' * (len(files) > 1)}"
    return f"no word for {seconds:.0f} s: {readers}, {largest.path} the largest"


def _key(file: SourceFile, asked: Asked) -> str:
    """What an outline is kept under: of C++ it depends on what is asked."""
    if asked is None or PurePosixPath(file.path).suffix.lower() not in CUDA:
        return file.digest
    return f"{file.digest}-{blake2b(repr(asked).encode(), digest_size=8).hexdigest()}"


def _cpus() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def can_fork() -> bool:
    """Whether a fork is safe here: on Linux, in a process that has one thread."""
    if sys.platform != "linux" or threading.active_count() > 1:
        return False
    try:
        return len(list(Path("/proc/self/task").iterdir())) == 1  # threads of libraries count too
    except OSError:
        return False


@dataclass(slots=True)
class _Reader:
    """A process that reads files, and the chunk that it is at."""

    process: ForkProcess | SpawnProcess
    pipe: Connection
    chunk: _Chunk = field(default_factory=list)

    def stop(self) -> None:
        """End it and all that it started."""
        if self.process.pid is not None:
            with suppress(OSError):  # it may be gone, or not yet lead its group
                os.killpg(self.process.pid, signal.SIGKILL)
        self.process.kill()
        self.process.join()
        self.pipe.close()
        self.process.close()


class _Pool:
    """Readers, the chunks that wait for them, and what to do when one dies."""

    def __init__(self, blobs: Blobs, workers: int, asked: Asked) -> None:
        self._blobs = blobs
        self._asked = asked
        self._workers = workers
        self._waiting: deque[_Chunk] = deque()
        self._readers: list[_Reader] = []
        self._deaths = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for reader in self._readers:
            reader.stop()
        self._readers.clear()

    def begin(self, files: Sequence[SourceFile]) -> None:
        """Start the readers, each with a first chunk."""
        if not files:
            return
        # largest first and strided, so that all chunks weigh about the same
        ordered = sorted(files, key=lambda file: (-file.size_bytes, file.digest))
        count = min(len(ordered), self._workers * _CHUNKS_A_WORKER)
        self._waiting.extend(ordered[start::count] for start in range(count))
        gc.freeze()  # what is here now is not touched in the readers, so its pages stay shared
        try:
            for _ in range(min(self._workers, count)):
                self._start()
        finally:
            gc.unfreeze()

    def answers(self, still: Callable[[str], None]) -> Iterator[list[_Answer]]:
        """Yield what the readers say until all files are read; `still` is told what silent ones are at."""
        heard_at = time.monotonic()
        while self._readers:
            pipes = {reader.pipe: reader for reader in self._readers}
            ready = connection.wait(list(pipes), STILL_S)
            for pipe in ready:
                assert isinstance(pipe, Connection)
                yield from self._listen(pipes[pipe])
            if ready:
                heard_at = time.monotonic()
            else:
                still(at_work([reader.chunk for reader in self._readers], time.monotonic() - heard_at))

    def _listen(self, reader: _Reader) -> Iterator[list[_Answer]]:
        try:
            said = reader.pipe.recv_bytes()
        except (EOFError, OSError):
            yield from self._died(reader)
            return
        self._deaths = 0
        self._feed(reader)
        yield _ANSWERS.decode(said)

    def _feed(self, reader: _Reader) -> None:
        """Give a reader its next chunk, or let it go."""
        if not self._waiting:
            self._readers.remove(reader)
            reader.stop()
            return
        reader.chunk = self._waiting.popleft()
        with suppress(OSError):  # a dead reader is noticed when its pipe is next read
            reader.pipe.send(reader.chunk)

    def _start(self) -> None:
        context: multiprocessing.context.ForkContext | multiprocessing.context.SpawnContext
        context = multiprocessing.get_context("fork") if can_fork() else multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        # A fork holds our ends too, its own among them: unless it closes them, no reader ever learns that we are gone.
        inherited = [*(reader.pipe for reader in self._readers), ours] if context.get_start_method() == "fork" else []
        process = context.Process(target=_read_chunks, args=(theirs, self._blobs, inherited, self._asked), daemon=True)
        process.start()
        theirs.close()
        if process.pid is not None:
            with suppress(OSError):  # the child does it too; whoever is first
                os.setpgid(process.pid, process.pid)
        reader = _Reader(process, ours)
        self._readers.append(reader)
        self._feed(reader)

    def _died(self, reader: _Reader) -> Iterator[list[_Answer]]:
        """Read a dead reader's files one by one; one that was alone in its chunk is what killed it."""
        self._readers.remove(reader)
        chunk, process = reader.chunk, reader.process
        process.join()
        code = process.exitcode or 0
        reader.stop()
        self._deaths += 1
        why = f"its reader was ended by signal {-code}" if code < 0 else f"its reader ended with status {code}"
        if len(chunk) > 1:
            self._waiting.extendleft([file] for file in chunk)
        else:
            yield [_lost(file, why) for file in chunk]
        if self._deaths > _MOST_DEATHS:
            yield [_lost(file, f"readers keep ending: {why}") for rest in self._waiting for file in rest]
            self._waiting.clear()
        if self._waiting:
            self._start()


def _lost(file: SourceFile, why: str) -> _Answer:
    return _Answer(file.digest, msgspec.Raw(msgspec.msgpack.encode(unread(why))), keep=False)


def _read_chunks(pipe: Connection, blobs: Blobs, inherited: Sequence[Connection], asked: Asked) -> None:
    """Read chunks until there are no more: the whole life of a reader."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent is told, and ends us
    for number in (signal.SIGTERM, signal.SIGHUP):  # a fork inherits handlers that save what it does not have
        signal.signal(number, signal.SIG_DFL)
    with suppress(OSError):
        os.setpgid(0, 0)  # so that what we start can be ended with us
    for other in inherited:
        other.close()
    sys.setrecursionlimit(_RECURSION)
    gc.disable()
    warnings.simplefilter("ignore")
    parent = os.getppid()
    with suppress(EOFError, OSError):
        while True:
            while not pipe.poll(5.0):
                if os.getppid() != parent:
                    return
            chunk: _Chunk = pipe.recv()
            pipe.send_bytes(msgspec.msgpack.encode([_read(file, blobs, asked) for file in chunk]))


def _read(file: SourceFile, blobs: Blobs, asked: Asked) -> _Answer:
    try:
        data = blobs.get(file.digest)
    except Unreadable as error:
        return _lost(file, error.message)
    outline = outline_of(file.path, data, asked)
    return _Answer(file.digest, msgspec.Raw(msgspec.msgpack.encode(outline)), keep=True)


def outline_of(path: str, data: bytes, asked: Asked = None) -> Outline:
    """The outline of a file, by the language that its ending tells. Never raises.

    Args:
        path: Its ending counts.
        data: The file.
        asked: Combinations of features, as bits, that choose a function to be read in full: of C++ only such
            functions are parsed, and what kernels, launches and registrations stand beside. None for all.
    """
    suffix = PurePosixPath(path).suffix.lower()
    if suffix in PYTHON:
        return with_strings(outline_python(data), data)
    if suffix in CUDA:
        return outline_cuda(data) if asked is None else outline_asked(data, asked)
    return unread(f"no language that recon reads: {suffix or 'no ending'}")
