"""A capture is whole, repeatable, and honest about what it left out."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recon.errors import Unreadable
from recon.ports import ByteRange, Entry, Silent
from recon.records.source import SourceFile
from recon.records.unknown import Unknown
from recon.sources import capture as capture_module
from recon.sources.capture import (
    NOT_ASKED,
    capture,
    chosen,
    lacks_libraries,
    with_libraries,
    without_libraries,
)
from recon.sources.local import LocalTree
from recon.sources.select import MAX_SOURCE_BYTES
from recon.sources.store import BlobStore, digest_of
from tests.sources.made import Bytes, Told, library


class FakeTree:
    """A source tree in memory; None for a file that cannot be read."""

    location = "memory"

    def __init__(self, files: dict[str, bytes | None], extra: Sequence[Entry | Unknown] = ()) -> None:
        self.files = files
        self.extra = extra
        self.opened: list[str] = []

    def entries(self) -> Iterator[Entry | Unknown]:
        for path, data in self.files.items():
            yield Entry(path, len(data or b""))
        yield from self.extra

    def read(self, paths: Sequence[str]) -> Iterator[tuple[str, bytes | Unknown]]:
        for path in reversed(paths):
            data = self.files[path]
            yield path, Unknown("source file", path, "lost") if data is None else data

    def open_range(self, path: str) -> ByteRange:
        self.opened.append(path)
        data = self.files[path]
        if data is None:
            raise Unreadable("lost")
        return Bytes(data)


FILES: dict[str, bytes | None] = {
    "vllm/b.py": b"b\n",
    "vllm/a.py": b"a\n",
    "vllm/gone.py": None,
    "vllm/data.json": b"{}",
    "vllm/_C.so": library().data,
    "vllm/bad.so": b"not ELF",
    "vllm/gone.so": None,
}


def test_sources_are_kept_libraries_are_read_and_the_rest_is_reported(tmp_path: Path) -> None:
    store = BlobStore(tmp_path)
    snapshot = capture(FakeTree(FILES), store, Silent())

    assert (
        SourceFile("vllm/a.py", digest_of(b"a\n"), 2),
        SourceFile("vllm/b.py", digest_of(b"b\n"), 2),
    ) == snapshot.files
    assert b"a\n" == store.get(snapshot.files[0].digest)
    assert ["vllm/_C.so"] == [found.path for found in snapshot.libraries]
    assert {"vllm/gone.py": "lost", "vllm/bad.so": "it is not an ELF file", "vllm/gone.so": "lost"} == {
        gap.where: gap.why for gap in snapshot.unread
    }


def test_libraries_that_were_not_asked_for_are_not_opened(tmp_path: Path) -> None:
    tree = FakeTree(FILES)
    snapshot = capture(tree, BlobStore(tmp_path), Silent(), compiled=False)

    assert [] == tree.opened
    assert () == snapshot.libraries
    assert ["vllm/_C.so", "vllm/bad.so", "vllm/gone.so"] == [
        gap.where for gap in snapshot.unread if gap.why == NOT_ASKED
    ]


def test_libraries_read_later_make_the_same_snapshot(tmp_path: Path) -> None:
    store = BlobStore(tmp_path)
    tree = FakeTree(FILES)
    at_once = capture(tree, store, Silent())
    without = capture(tree, store, Silent(), compiled=False)

    assert at_once == with_libraries(without, tree, Silent())
    assert without == without_libraries(at_once)
    assert at_once.digest == without.digest
    assert (True, False) == (lacks_libraries(without), lacks_libraries(at_once))


def test_the_snapshot_can_be_found_by_its_digest(tmp_path: Path) -> None:
    store = BlobStore(tmp_path)
    whole = capture(FakeTree(FILES), store, Silent())
    capture(FakeTree(FILES), store, Silent(), compiled=False)

    assert whole == store.load_snapshot(whole.digest)


@given(st.permutations(sorted(FILES)))
def test_the_order_of_listing_does_not_matter(order: list[str]) -> None:
    trees = [FakeTree({path: FILES[path] for path in paths}) for paths in (sorted(FILES), order)]
    store = NoStore(Path("/nonexistent"))

    first, second = (capture(tree, store, Silent()) for tree in trees)

    assert (first.digest, first.files, first.libraries) == (second.digest, second.files, second.libraries)


class NoStore(BlobStore):
    """A store that keeps nothing."""

    def put(self, data: bytes) -> str:
        return digest_of(data)

    def save_snapshot(self, key: str, snapshot: object) -> None:
        """Keep nothing."""


@pytest.mark.parametrize(
    "change",
    [{"vllm/a.py": b"A\n"}, {"vllm/new.py": b""}, {"vllm/_C.so": library(gpu_bytes=8192).data}],
)
def test_any_change_of_a_source_or_a_library_changes_the_digest(tmp_path: Path, change: dict[str, bytes]) -> None:
    store = BlobStore(tmp_path)
    before = capture(FakeTree(FILES), store, Silent())
    after = capture(FakeTree({**FILES, **change}), store, Silent())

    assert before.digest != after.digest


def test_data_files_do_not_count(tmp_path: Path) -> None:
    store = BlobStore(tmp_path)
    before = capture(FakeTree(FILES), store, Silent())
    after = capture(FakeTree({**FILES, "vllm/data.json": b"{1}", "vllm/x.png": b""}), store, Silent())

    assert before == after


def test_what_is_listed_and_not_delivered_is_reported(tmp_path: Path) -> None:
    class Forgetful(FakeTree):
        def read(self, paths: Sequence[str]) -> Iterator[tuple[str, bytes | Unknown]]:
            yield "vllm/a.py", b"a\n"
            yield "vllm/a.py", b"something else\n"
            yield "vllm/never_asked.py", b""

    snapshot = capture(Forgetful({"vllm/a.py": b"a\n", "vllm/b.py": b"b\n"}), BlobStore(tmp_path), Silent())

    assert [("vllm/a.py", 2)] == [(file.path, file.size_bytes) for file in snapshot.files]
    assert ["vllm/b.py"] == [gap.where for gap in snapshot.unread]


def test_hostile_and_oversized_entries_are_refused_and_doubles_read_once() -> None:
    sources, libraries, unread = chosen(
        [
            Entry("vllm/a.py", 1),
            Entry("vllm/a.py", 2),
            Entry("../a.py", 1),
            Entry("vllm/a\x1b.txt", 1),
            Entry("vllm/big.cu", MAX_SOURCE_BYTES + 1),
            Entry("vllm/_C.so", 1 << 40),
            Unknown("folder", "vllm/x", "Permission denied"),
        ]
    )

    assert [Entry("vllm/a.py", 1)] == sources
    assert [Entry("vllm/_C.so", 1 << 40)] == libraries
    assert ["../a.py", "vllm/a\\x1b.txt", "vllm/big.cu", "vllm/x"] == [gap.where for gap in unread]


def test_a_tree_without_end_is_cut_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capture_module, "MAX_FILES", 3)
    sources, _, unread = chosen(Entry(f"vllm/{n}.py", 1) for n in range(10))

    assert 3 == len(sources)
    assert ["vllm/3.py"] == [gap.where for gap in unread]
    assert "more than recon reads" in unread[0].why


def test_a_tree_of_too_many_bytes_is_cut_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capture_module, "MAX_TOTAL_BYTES", 25)
    sources, libraries, unread = chosen([Entry("a/_C.so", 1 << 30), *(Entry(f"a/{n}.py", 10) for n in range(5))])

    assert (2, 1, 1) == (len(sources), len(libraries), len(unread))


def test_progress_hears_of_every_file(tmp_path: Path) -> None:
    told = Told()
    capture(FakeTree(FILES), BlobStore(tmp_path), told)

    assert [("reading sources", 3), ("reading compiled libraries", 3)] == told.tasks
    assert 6 == told.done


def test_a_folder_captured_twice_is_equal(tmp_path: Path) -> None:
    (tmp_path / "site" / "vllm").mkdir(parents=True)
    (tmp_path / "site" / "vllm" / "a.py").write_bytes(b"a\n")
    (tmp_path / "site" / "vllm" / "_C.so").write_bytes(library().data)
    store = BlobStore(tmp_path / "cache")
    first, second = (capture(LocalTree(tmp_path / "site", ("vllm",)), store, Silent()) for _ in range(2))

    assert first == second
    assert ("build", "verify") == first.libraries[0].symbols
    assert () == first.unread


def test_a_tree_that_is_known_writes_nothing(tmp_path: Path) -> None:
    """So a cache that may only be read serves what lies in it."""
    tree, store = FakeTree({"vllm/a.py": b"x"}), BlobStore(tmp_path)
    first = capture(tree, store, Silent())
    (saved,) = (tmp_path / "snapshots").iterdir()
    saved.chmod(0o400)
    before = saved.stat().st_ino

    assert first == capture(tree, store, Silent())
    assert before == saved.stat().st_ino
