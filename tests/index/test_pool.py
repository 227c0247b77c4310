"""Outlines by several processes: all files, each once, and no file that takes another with it."""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path

import pytest

from recon.errors import Unreadable
from recon.index import pool
from recon.index.cache import OutlineCache
from recon.index.outline import outline_python
from recon.index.pool import can_fork, outline_of, outlines
from recon.index.records import Outline, Parsed
from recon.ports import Silent
from recon.records.source import SourceFile


class FolderBlobs:
    """Blobs in a folder; those named in `deadly` end the process that reads them, the `slow` one takes a while."""

    def __init__(self, folder: Path, deadly: Sequence[str] = (), slow: str = "") -> None:
        self.folder = folder
        self.deadly = deadly
        self.slow = slow

    def put(self, path: str, data: bytes) -> SourceFile:
        digest = blake2b(data, digest_size=16).hexdigest()
        (self.folder / digest).write_bytes(data)
        return SourceFile(path, digest, len(data))

    def get(self, digest: str) -> bytes:
        if digest in self.deadly and multiprocessing.parent_process() is not None:
            os.kill(os.getpid(), signal.SIGKILL)
        if digest == self.slow:
            time.sleep(0.5)
        try:
            return (self.folder / digest).read_bytes()
        except FileNotFoundError:
            raise Unreadable(f"no blob {digest}") from None


class Counted(Silent):
    """A Progress that remembers what it was told."""

    def __init__(self) -> None:
        self.total: int | None = 0
        self.done = 0
        self.notes: list[str] = []

    def start(self, task: str, total: int | None) -> None:
        self.total = total

    def advance(self, amount: int = 1, note: str = "") -> None:
        self.done += amount
        self.notes += [note] if note else []


@pytest.fixture
def blobs(tmp_path: Path) -> FolderBlobs:
    (tmp_path / "blobs").mkdir()
    return FolderBlobs(tmp_path / "blobs")


def some_files(blobs: FolderBlobs, count: int = 60) -> list[SourceFile]:
    return [blobs.put(f"pkg/m{number}.py", f"def f{number}(): g({number})\n".encode()) for number in range(count)]


def read(files: Sequence[SourceFile], blobs: FolderBlobs, workers: int = 2) -> dict[str, Outline]:
    with OutlineCache(blobs.folder / "cache.db") as cache:
        return dict(outlines(files, blobs, cache, Silent(), workers))


def test_every_file_is_outlined_as_it_would_be_alone(blobs: FolderBlobs) -> None:
    files = some_files(blobs)

    found = read(files, blobs)

    assert {file.digest: outline_python(blobs.get(file.digest)) for file in files} == found


def test_equal_files_are_read_once_and_progress_counts_blobs(blobs: FolderBlobs) -> None:
    files = some_files(blobs, 5) + some_files(blobs, 5)
    progress = Counted()

    with OutlineCache(blobs.folder / "cache.db") as cache:
        found = list(outlines(files, blobs, cache, progress, 2))

    assert 5 == len(found)
    assert (5, 5) == (progress.total, progress.done)


def test_readers_that_say_nothing_are_spoken_of(blobs: FolderBlobs, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the file that may be why: on a terminal and in a log it must be seen that something goes on."""
    monkeypatch.setattr(pool, "STILL_S", 0.1)
    (file,) = some_files(blobs, 1)
    progress = Counted()
    with OutlineCache(blobs.folder / "cache.db") as cache:
        list(outlines([file], FolderBlobs(blobs.folder, slow=file.digest), cache, progress, 1))
    said = {note.partition(" s: ")[2] for note in progress.notes}

    assert {"1 process at 1 file, pkg/m0.py the largest"} == said
    assert 1 == progress.done


def test_no_files_give_no_outlines(blobs: FolderBlobs) -> None:
    assert {} == read([], blobs)


def test_what_the_cache_knows_is_not_read_again(blobs: FolderBlobs) -> None:
    files = some_files(blobs, 5)
    first = read(files, blobs)
    for file in files:
        (blobs.folder / file.digest).unlink()

    assert first == read(files, blobs)


def test_a_file_that_kills_its_reader_costs_only_itself(blobs: FolderBlobs) -> None:
    files = some_files(blobs)
    deadly = [files[7].digest, files[31].digest]

    found = read(files, FolderBlobs(blobs.folder, deadly))

    assert 60 == len(found)
    assert sorted(deadly) == sorted(digest for digest, outline in found.items() if outline.parsed is not Parsed.FULL)
    assert ["its reader was ended by signal 9"] * 2 == [found[digest].problem for digest in deadly]


def test_a_loss_is_not_cached(blobs: FolderBlobs) -> None:
    files = some_files(blobs, 5)
    read(files, FolderBlobs(blobs.folder, [files[0].digest]))

    found = read(files, blobs)

    assert Parsed.FULL is found[files[0].digest].parsed


def test_a_missing_blob_is_unread_with_its_reason(blobs: FolderBlobs) -> None:
    files = [*some_files(blobs, 3), SourceFile("pkg/gone.py", "0" * 32, 10)]

    found = read(files, blobs)

    assert (Parsed.UNREAD, f"no blob {'0' * 32}") == (found["0" * 32].parsed, found["0" * 32].problem)


def test_readers_that_all_die_end_the_work_not_the_program(blobs: FolderBlobs) -> None:
    files = some_files(blobs)

    found = read(files, FolderBlobs(blobs.folder, [file.digest for file in files]))

    assert {Parsed.UNREAD} == {outline.parsed for outline in found.values()}
    assert 60 == len(found)
    assert any("readers keep ending" in outline.problem for outline in found.values())


def test_a_process_with_threads_is_not_forked(blobs: FolderBlobs) -> None:
    done = threading.Event()
    thread = threading.Thread(target=done.wait)
    thread.start()
    try:
        forks = can_fork()
        found = read(some_files(blobs, 4), blobs)
    finally:
        done.set()
        thread.join()

    assert forks is False
    assert {Parsed.FULL} == {outline.parsed for outline in found.values()}


def test_deep_code_is_read_whole_in_a_reader(blobs: FolderBlobs) -> None:
    """Readers raise the recursion limit, which this process must not."""
    limit = sys.getrecursionlimit()
    file = blobs.put("deep.py", b"def f(): pass\nx = a" + b" + a" * 5000)

    found = read([file], blobs)

    assert Parsed.FULL is found[file.digest].parsed
    assert limit == sys.getrecursionlimit()


def test_stopping_early_leaves_no_process(blobs: FolderBlobs) -> None:
    with OutlineCache(blobs.folder / "cache.db") as cache:
        stream = outlines(some_files(blobs, 200), blobs, cache, Silent(), 2)
        next(stream)
        stream.close()

    assert [] == multiprocessing.active_children()


INTERRUPTED = """
import sys
from pathlib import Path
sys.path[:0] = {paths!r}
from test_pool import FolderBlobs, some_files
from recon.index import rescue
from recon.index.cache import OutlineCache
from recon.index.pool import outlines
from recon.ports import Silent

class Announced(Silent):
    def start(self, task, total):
        print("started", flush=True)

folder = Path({folder!r})
blobs = FolderBlobs(folder)
slow = [blobs.put(f"s{{n}}.py", b"print 'x'\\nx = a" + b" + a" * (30000 + n)) for n in range(4)]
with OutlineCache(folder / "cache.db") as cache:
    try:
        for _ in outlines(slow, blobs, cache, Announced(), 2):
            pass
    except KeyboardInterrupt:
        sys.exit(130)
"""


ABANDONED = """
import multiprocessing, sys, time
from pathlib import Path
from recon.index.cache import OutlineCache
from recon.index.pool import outlines
from recon.ports import Silent
from tests.index.test_pool import FolderBlobs

blobs = FolderBlobs(Path(sys.argv[1]))
files = [blobs.put(f"{n}.py", (f"a{n} = f({n})\\n" * 20000).encode()) for n in range(12)]
with OutlineCache(Path(sys.argv[1]) / "cache.sqlite") as cache:
    found = outlines(files, blobs, cache, Silent(), 2)
    next(found)
    print(*(child.pid for child in multiprocessing.active_children()), flush=True)
    time.sleep(60)  # the readers fill their pipes and wait
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_readers_end_with_a_parent_that_is_killed(blobs: FolderBlobs) -> None:
    """A reader that waits to hand over its answers learns that nobody will take them."""
    command = [sys.executable, "-c", ABANDONED, str(blobs.folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2]) as parent:
        assert parent.stdout is not None
        readers = [int(word) for word in parent.stdout.readline().split()]
        time.sleep(1)
        parent.kill()
    deadline = time.monotonic() + 15
    while any(Path(f"/proc/{pid}").exists() for pid in readers) and time.monotonic() < deadline:
        time.sleep(0.1)
    left = [pid for pid in readers if Path(f"/proc/{pid}").exists()]
    for pid in left:
        os.kill(pid, signal.SIGKILL)

    assert len(readers) == 2
    assert [] == left


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_an_interrupt_ends_promptly_with_no_stray_children(blobs: FolderBlobs) -> None:
    """The files are slow: each reader waits for a libcst of its own when the interrupt comes."""
    paths = [str(Path(__file__).parent), str(Path(pool.__file__).parents[2])]
    script = INTERRUPTED.format(paths=paths, folder=str(blobs.folder))
    child = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, start_new_session=True)
    assert child.stdout is not None
    with child.stdout:
        child.stdout.readline()
        wait_until(lambda: len(descendants(child.pid)) == 4)
        family = descendants(child.pid)
        started = time.monotonic()
        child.send_signal(signal.SIGINT)
        status = child.wait(timeout=20)
        took_s = time.monotonic() - started
    wait_until(lambda: not any(map(is_running, family)))

    assert 130 == status
    assert took_s < 5
    assert 4 == len(family)


def wait_until(condition: object, limit_s: float = 30.0) -> None:
    assert callable(condition)
    end = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.05)


def descendants(pid: int) -> list[int]:
    """All processes below one."""
    found: list[int] = []
    todo = [pid]
    while todo:
        parent = todo.pop()
        try:
            text = Path(f"/proc/{parent}/task/{parent}/children").read_text()
        except OSError:
            continue
        children = list(map(int, text.split()))
        found += children
        todo += children
    return found


def is_running(pid: int) -> bool:
    try:
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False


@pytest.mark.parametrize(
    ("path", "data", "parsed"),
    [
        ("a.py", b"x = 1", Parsed.FULL),
        ("a.pyi", b"x: int", Parsed.FULL),
        ("a.cu", b"void f() {}", Parsed.FULL),
        ("a.CUH", b"void f() {}", Parsed.FULL),
        ("a.rs", b"fn f() {}", Parsed.UNREAD),
        ("Makefile", b"all:", Parsed.UNREAD),
    ],
)
def test_the_ending_of_a_path_tells_the_language(path: str, data: bytes, parsed: Parsed) -> None:
    assert parsed is outline_of(path, data).parsed
