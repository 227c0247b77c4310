"""The second pass: chosen functions read by workers, answers kept by the bytes that they depend on."""

import ast
import multiprocessing
import os
import shutil
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import blake2b
from importlib import resources
from pathlib import Path

import pytest

from recon.detectors import registry
from recon.errors import Unreadable
from recon.index import reading
from recon.index.cache import OutlineCache
from recon.index.index import Index, index_of
from recon.index.reading import READERS, ROWS_AT_ONCE, Subject
from recon.index.records import Feature
from recon.index.sighting import Sighting
from recon.ports import Silent
from recon.records.source import Snapshot, SourceFile

LOOPS = {"loops": (Feature.LOOP,)}


class FolderBlobs:
    """Blobs in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def put(self, path: str, data: bytes) -> SourceFile:
        digest = blake2b(data, digest_size=16).hexdigest()
        (self.folder / digest).write_bytes(data)
        return SourceFile(path, digest, len(data))

    def get(self, digest: str) -> bytes:
        try:
            return (self.folder / digest).read_bytes()
        except FileNotFoundError:
            raise Unreadable(f"no blob {digest}") from None


class Counted(Silent):
    """A Progress that remembers what it was told."""

    def __init__(self) -> None:
        self.totals: list[int | None] = []
        self.done = 0
        self.notes: list[str] = []

    def start(self, task: str, total: int | None) -> None:
        self.totals.append(total)
        self.done = 0

    def advance(self, amount: int = 1, note: str = "") -> None:
        self.done += amount
        self.notes += [note] if note else []


# Questions, at module level so that workers can be sent them


def names(subject: Subject) -> Sequence[Sighting]:
    """What the function is called and calls."""
    called = sorted({part.dotted() for part in subject.body.walk() if part.op == "name"})
    return [Sighting("names", subject.body.line, " ".join([subject.body.text, *called]), ",".join(subject.params))]


def others(subject: Subject) -> Sequence[Sighting]:
    """Another answer than `names` gives."""
    return [Sighting("others", subject.body.line, "")]


def nothing(subject: Subject) -> Sequence[Sighting]:
    """Nothing is seen."""
    return []


def dawdles(subject: Subject) -> Sequence[Sighting]:
    """It takes a while."""
    time.sleep(0.5)
    return names(subject)


def kills(subject: Subject) -> Sequence[Sighting]:
    """A function named `deadly` ends the process that reads it."""
    if subject.body.text == "deadly" and multiprocessing.parent_process() is not None:
        os.kill(os.getpid(), signal.SIGKILL)
    return names(subject)


def fails(subject: Subject) -> Sequence[Sighting]:
    """A function named `odd` is more than the question can take."""
    if subject.body.text == "odd":
        raise RecursionError
    if subject.body.text == "strange":
        raise KeyError(1)
    return names(subject)


Ask = Callable[[Subject], Sequence[Sighting]]
Read = Callable[..., Index]


@pytest.fixture
def read(tmp_path: Path) -> Iterator[Read]:
    """Indexes a tree given as path to source, and asks one question of it; the cache is kept between calls."""
    folder = tmp_path / "blobs"
    folder.mkdir()
    blobs = FolderBlobs(folder)
    with OutlineCache(tmp_path / "index.sqlite") as cache:

        def run(
            files: Mapping[str, str | bytes],
            ask: Ask = names,
            version: str = "1",
            progress: Silent | None = None,
            choices: Mapping[str, tuple[Feature, ...]] = LOOPS,
            workers: int = 0,
        ) -> Index:
            data = {path: text.encode() if isinstance(text, str) else text for path, text in files.items()}
            sources = tuple(blobs.put(path, data[path]) for path in sorted(data))
            index = index_of(Snapshot("", sources, (), ()), blobs, cache, Silent(), 0)
            index.ask(ask, version, choices, blobs, cache, progress=progress or Silent(), workers=workers)
            return index

        yield run


def notes(index: Index) -> dict[str, str]:
    """By path and symbol, what was seen there."""
    return {
        f"{function.path}:{function.symbol}:{sighting.line}": sighting.note
        for function, sighting in index.seen("names", "others")
    }


def loop(name: str, body: str = "pass") -> str:
    """A function with a loop."""
    return f"def {name}(a):\n    for i in a:\n        {body}\n"


@pytest.mark.parametrize("workers", [0, 1, 3])
def test_only_functions_that_a_choice_asks_for_are_read(read: Read, workers: int) -> None:
    """Reading costs a thousand times what choosing does."""
    tree = {"a.py": loop("one") + "\n\ndef two(a):\n    return a\n", "b.py": "x = 1\n"}
    progress = Counted()
    index = read(tree, progress=progress, workers=workers)

    assert {"a.py:one:1": "one a i"} == notes(index)
    assert (1, 0) == (index.examined_for(["loops"]), index.examined_for(["other"]))
    assert ([1], 1) == (progress.totals, progress.done)
    assert () == index.unread


def test_a_function_read_for_two_choices_counts_once(read: Read) -> None:
    """The search record says how many functions were read, not how often."""
    choices = {"loops": (Feature.LOOP,), "stores": (Feature.STORE, Feature.LOOP | Feature.BREAK)}
    index = read({"a.py": loop("one", "a[i] = 1")}, choices=choices)

    assert (1, 1, 1) == tuple(index.examined_for(named) for named in (["loops"], ["stores"], ["loops", "stores"]))


def test_equal_files_are_read_once_and_seen_in_both_places(read: Read) -> None:
    """Engines carry copies."""
    progress = Counted()
    index = read({"a.py": loop("one"), "b/c.py": loop("one")}, progress=progress)

    assert {"a.py:one:1": "one a i", "b/c.py:one:1": "one a i"} == notes(index)
    assert [1] == progress.totals


def test_what_is_known_already_does_not_come_first(read: Read) -> None:
    """Answers stand in the order of the files, whichever of them was there first."""
    read({"b.py": loop("later")}, names, LOOPS)
    index = read({"a.py": loop("sooner"), "b.py": loop("later")}, names, LOOPS)

    assert ["a.py", "b.py"] == [ref.path for ref in index.sightings]


def test_workers_that_say_nothing_are_spoken_of(read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "STILL_S", 0.1)
    progress = Counted()
    index = read({"a.py": loop("one")}, dawdles, progress=progress, workers=1)

    assert ["a.py"] == [ref.path for ref in index.sightings]
    assert {"1 files are left"} == {note.partition(" s: ")[2] for note in progress.notes}


def test_answers_are_kept(read: Read) -> None:
    """The second time nothing is read, whatever the question would say now."""
    tree = {"a.py": loop("one")}
    first = notes(read(tree))
    progress = Counted()

    assert first == notes(read(tree, ask=others, progress=progress))
    assert ([1], 1) == (progress.totals, progress.done)


def test_answers_are_kept_however_many_there_are(read: Read) -> None:
    """They are written by the handful: neither a full one nor the rest may be lost, and none is given twice."""
    tree = {f"f{number}.py": loop(f"one{number}") for number in range(2 * ROWS_AT_ONCE + 1)}
    first = notes(read(tree))

    assert len(tree) == len(first)
    assert first == notes(read(tree, ask=others))


def test_that_nothing_was_seen_is_kept_too(read: Read) -> None:
    """Most files hold nothing."""
    tree = {"a.py": loop("one")}
    read(tree, ask=nothing)

    assert {} == notes(read(tree, ask=names))


def test_another_version_of_the_question_is_asked_anew(read: Read) -> None:
    """An edit of a shape must not be answered from before the edit."""
    tree = {"a.py": loop("one")}
    read(tree, version="1")

    assert {"a.py:one:1": ""} == notes(read(tree, ask=others, version="2"))


def test_an_edit_of_a_shape_is_another_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Any byte of any file of shapes."""
    folder = tmp_path / "shapes"
    with resources.as_file(resources.files("recon.detectors.shapes")) as shapes:
        shutil.copytree(shapes, folder)
    monkeypatch.setattr(resources, "files", lambda _: folder)
    versions = []
    for more in ("", "# one more line", "# one more lime"):
        with (folder / "walks.py").open("a") as file:
            file.write(more)
        registry.shapes_version.cache_clear()
        versions.append(registry.shapes_version())
    registry.shapes_version.cache_clear()

    assert 3 == len(set(versions))


def test_all_that_reads_counts_as_reader() -> None:
    """An edit of any of them makes kept answers stale; what keeps answers and shares out work is apart."""
    imported = set()
    for name in READERS:
        source = (resources.files("recon.index") / f"{name}.py").read_text()
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("recon.index."):
                imported.add(str(node.module).removeprefix("recon.index."))

    assert {"cache", "pool"} == imported - set(READERS)


def test_an_edited_file_is_read_again(read: Read) -> None:
    """Answers belong to bytes, not to paths."""
    read({"a.py": loop("one")})

    assert {"a.py:one:1": "one a i q"} == notes(read({"a.py": loop("one", "q")}))


HELPED = """
from h import helper

@triton.jit
def kernel(p):
    for i in range(3):
        x = helper(p)
"""
HELPER = "@triton.jit\ndef helper(q):\n    return {}(q)\n"


def test_a_small_device_function_stands_in_the_place_of_its_call(read: Read) -> None:
    """Also where another file holds it; an edit of that file makes the answer stale."""
    first = read({"a.py": HELPED, "h.py": HELPER.format("tell")})
    second = read({"a.py": HELPED, "h.py": HELPER.format("other")})

    assert "kernel i p q·1 range return·1 tell x" == notes(first)["a.py:kernel:5"]
    assert "kernel i other p q·1 range return·1 x" == notes(second)["a.py:kernel:5"]


def test_a_helper_in_a_cuda_file_is_found_in_that_file(read: Read) -> None:
    """CUDA has no imports that could be followed."""
    source = """__device__ int helper(int q) { return tell[q]; }
__global__ void kernel(int* p) {
  for (int i = 0; i < 3; ++i) { p[i] = helper(i); }
}
"""
    index = read({"a.cu": source})

    assert "kernel 3" not in notes(index)["a.cu:kernel:2"]
    assert "tell" in notes(index)["a.cu:kernel:2"].split()


# What cannot be read


def test_a_reader_that_dies_loses_only_its_file(read: Read) -> None:
    """What was being read beside it, and what waited behind it, is read all the same."""
    tree = {f"{n}.py": loop(f"f{n}") for n in range(12)} | {"bad.py": loop("deadly")}
    index = read(tree, ask=kills, workers=2)

    assert {f"{n}.py:f{n}:1": f"f{n} a i" for n in range(12)} == notes(index)
    assert [("function", "bad.py:1", "its reader died")] == [(u.what, u.where, u.why) for u in index.unread]


def test_that_a_reader_died_is_not_kept(read: Read) -> None:
    """It may have been the machine: the next scan tries again."""
    tree = {"bad.py": loop("deadly")}
    read(tree, ask=kills)

    assert {"bad.py:deadly:1": "deadly a i"} == notes(read(tree, ask=names))


def test_a_function_that_cannot_be_read_is_named(read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    """With its line and why; its neighbours are read."""
    deep = f"def deep(a):\n    for i in a:\n        x = {'(' * 300}1{')' * 300}\n"
    monkeypatch.setattr("recon.index.reading.MAX_CUDA_TERMS", 1_000)
    body = "x[i] = x[i] + 1;" * 200
    unrolled = "__device__ int g(int n) { for (int i = 0; i < n; ++i) { return i; } return 0; }\n"
    unrolled += f"__global__ void k(int *x) {{ for (int i = 0; i < 4; ++i) {{ {body} }} }}\n"
    index = read(
        {
            "k.cu": unrolled,
            "a.py": loop("one"),
            "b.py": loop("odd") + loop("strange"),
            "c.py": loop("two"),
            "d.py": deep,
        },
        ask=fails,
    )
    why = {unknown.where: unknown.why for unknown in index.unread}

    assert {"a.py:one:1": "one a i", "c.py:two:1": "two a i", "k.cu:g:1": "g i n range"} == notes(index)
    assert "a CUDA function of" in why["k.cu:2"]
    assert "it nests too deep to be read" == why["b.py:1"]
    assert "reading it ended in KeyError" == why["b.py:4"]
    assert "d.py" in " ".join(why)


@pytest.mark.parametrize(
    "data",
    [
        b"# -*- coding: latin-1 -*-\nname = 'caf\xe9'\n" + loop("one", "caf\xe9").encode("latin-1"),
        b"\xef\xbb\xbf#\n#\n" + loop("one", "caf\xe9").encode(),
        b"#\r\n#\r\n" + loop("one", "caf\xe9").replace("\n", "\r\n").encode(),
        b"#\x0c\n#\n" + loop("one", "caf\xe9").encode(),
    ],
)
def test_a_source_in_another_dress_is_read(read: Read, data: bytes) -> None:
    """Encodings named by a cookie, byte-order marks, line ends of Windows, form feeds."""
    assert {"a.py:one:3": "one a caf\xe9 i"} == notes(read({"a.py": data}))


def test_copies_of_a_function_keep_their_places(read: Read) -> None:
    """Overloads and nested functions of one name are told apart by their lines."""
    source = loop("one") + "\n" + loop("one", "q") + "\nclass C:\n    def one(self, a):\n        for i in a: r\n"

    assert {"a.py:one:1": "one a i", "a.py:one:5": "one a i q", "a.py:C.one:10": "one a i r self"} == notes(
        read({"a.py": source})
    )
