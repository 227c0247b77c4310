"""A tree that was looked at before: what has not changed is not read again, and whatever has is."""

import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from recon.errors import Unreadable
from recon.ports import Silent
from recon.records.source import Snapshot
from recon.records.unknown import Unknown
from recon.sources.capture import capture
from recon.sources.local import SETTLED_NS, FileRange, LocalTree
from recon.sources.remembered import RememberedTree
from recon.sources.store import BlobStore
from tests.sources.made import library

LONG_AGO_NS = 1_700_000_000_000_000_000
FILES = {"a.py": b"a = 1\n", "b.py": b"b = 1\n", "k.cu": b"int k;\n"}


@dataclass(frozen=True, slots=True)
class Watched(LocalTree):
    """A tree that says what was read of it."""

    asked: list[str] = field(default_factory=list)

    def stamped(self, paths: Sequence[str]) -> Iterator[tuple[str, bytes | Unknown, tuple[int, ...]]]:
        """Note the paths."""
        for path, data, stamp in LocalTree.stamped(self, paths):
            self.asked.append(path)
            yield path, data, stamp

    def open_range(self, path: str) -> FileRange:
        """Note the path."""
        self.asked.append(path)
        return LocalTree.open_range(self, path)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A tree that nobody has touched for years, as far as its clock says."""
    folder = tmp_path / "site"
    (folder / "vllm").mkdir(parents=True)
    for name, content in FILES.items():
        (folder / "vllm" / name).write_bytes(content)
    (folder / "vllm" / "_C.so").write_bytes(library(defined=("f",)).data)
    return folder


@pytest.fixture(autouse=True)
def later(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let all looks be taken long enough after the changes before them; a test may take that back."""
    now = time.time_ns
    monkeypatch.setattr("recon.sources.local.time.time_ns", lambda: now() + 2 * SETTLED_NS)


def look(root: Path, tmp_path: Path) -> tuple[Snapshot, set[str]]:
    """Look at the tree: its snapshot, and what was read for it."""
    tree = Watched(root, ("vllm",))
    store = BlobStore(tmp_path / "cache")
    snapshot = RememberedTree(tree, store).capture(Silent(), compiled=True)
    assert snapshot == capture(LocalTree(root, ("vllm",)), BlobStore(tmp_path / "fresh"), Silent())
    return snapshot, set(tree.asked)


def test_what_did_not_change_is_not_read_again(root: Path, tmp_path: Path) -> None:
    """The second snapshot is the first one."""
    first, read = look(root, tmp_path)
    second, again = look(root, tmp_path)

    assert (first, {f"vllm/{name}" for name in (*FILES, "_C.so")}, set()) == (second, read, again)


@pytest.mark.parametrize("name", ["a.py", "_C.so"])
@pytest.mark.parametrize("change", ["edited", "replaced", "touched", "grown"])
def test_what_changed_is_read_again(root: Path, tmp_path: Path, name: str, change: str) -> None:
    """Where its size and the time that its owner gave it are as before, too."""
    look(root, tmp_path)
    path = root / "vllm" / name
    before, data = path.stat(), path.read_bytes()
    match change:
        case "edited":
            path.write_bytes(data.replace(b"1", b"2") if name == "a.py" else library(defined=("g",)).data)
            os.utime(path, ns=(before.st_mtime_ns, before.st_mtime_ns))
        case "replaced":
            other = path.with_name("other")
            other.write_bytes(data.replace(b"1", b"3") if name == "a.py" else library(defined=("h",)).data)
            os.utime(other, ns=(before.st_mtime_ns, before.st_mtime_ns))
            other.replace(path)
        case "touched":
            os.utime(path, ns=(LONG_AGO_NS, LONG_AGO_NS))
        case _:
            path.write_bytes(data + b"\n")
    _, read = look(root, tmp_path)

    assert {f"vllm/{name}"} == read


def test_what_was_changed_just_now_is_read_again(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second change within one tick of the clock would show in no time that the file system keeps."""
    monkeypatch.undo()  # the clock is right
    look(root, tmp_path)
    _, read = look(root, tmp_path)
    monkeypatch.setattr("recon.sources.local.SETTLED_NS", -SETTLED_NS)
    look(root, tmp_path)
    _, at_last = look(root, tmp_path)

    assert ({f"vllm/{name}" for name in (*FILES, "_C.so")}, set()) == (read, at_last)


def test_a_link_is_read_whenever_it_is_met(root: Path, tmp_path: Path) -> None:
    """It may have been led elsewhere, to a file as old and as long."""
    link = root / "vllm" / "link.py"
    link.symlink_to("a.py")
    look(root, tmp_path)
    link.unlink()
    link.symlink_to("b.py")
    _, read = look(root, tmp_path)

    assert {"vllm/link.py"} == read


def test_a_tree_that_was_moved_is_read_anew(root: Path, tmp_path: Path) -> None:
    """What is remembered of one place says nothing of another, though the files are the same."""
    look(root, tmp_path)
    moved = root.rename(tmp_path / "elsewhere")
    _, read = look(moved, tmp_path)

    assert {f"vllm/{name}" for name in (*FILES, "_C.so")} == read


def test_another_tree_in_the_same_place_is_read_anew(root: Path, tmp_path: Path) -> None:
    """Its files have other numbers."""
    look(root, tmp_path)
    root.rename(tmp_path / "old")
    (root / "vllm").mkdir(parents=True)
    for name in FILES:
        (root / "vllm" / name).write_bytes(b"x = 1\n")
        os.utime(root / "vllm" / name, ns=(LONG_AGO_NS, LONG_AGO_NS))
    _, read = look(root, tmp_path)

    assert {f"vllm/{name}" for name in FILES} == read


def test_what_was_removed_is_forgotten(root: Path, tmp_path: Path) -> None:
    """And read anew if it comes back."""
    look(root, tmp_path)
    (root / "vllm" / "b.py").rename(tmp_path / "b.py")
    gone, nothing = look(root, tmp_path)
    (tmp_path / "b.py").rename(root / "vllm" / "b.py")
    _, read = look(root, tmp_path)

    assert (2, set(), {"vllm/b.py"}) == (len([f for f in gone.files if f.path.endswith(".py")]) + 1, nothing, read)


@pytest.mark.parametrize("damage", ["blob cut", "blob gone", "memory damaged", "memory gone"])
def test_a_damaged_cache_costs_time_and_nothing_else(root: Path, tmp_path: Path, damage: str) -> None:
    """What lies there no more, or not whole, is read and kept again."""
    first, _ = look(root, tmp_path)
    blobs = [file for file in (tmp_path / "cache" / "blobs").rglob("*") if file.is_file()]
    notes = [file for file in (tmp_path / "cache" / "notes").rglob("*") if file.is_file()]
    for file in blobs if damage.startswith("blob") else notes:
        if damage.endswith("gone"):
            file.unlink()
        else:
            file.write_bytes(file.read_bytes()[:-5])
    _, read = look(root, tmp_path)
    store = BlobStore(tmp_path / "cache")

    assert {f"vllm/{name}" for name in FILES} <= read
    assert set(FILES.values()) == {store.get(file.digest) for file in first.files}


def test_a_file_that_changes_while_the_tree_is_read_is_read_again(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What counts is the file that was opened, not the one that was listed."""
    path = root / "vllm" / "a.py"
    real = LocalTree.stamped

    def swapped(tree: LocalTree, paths: Sequence[str]) -> Iterator[tuple[str, bytes | Unknown, tuple[int, ...]]]:
        path.rename(tmp_path / "a.py")
        path.write_bytes(b"a = 9\n")
        yield from real(tree, paths)
        (tmp_path / "a.py").rename(path)

    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(LocalTree, "stamped", swapped)
        RememberedTree(LocalTree(root, ("vllm",)), BlobStore(tmp_path / "cache")).capture(Silent(), compiled=True)
    _, read = look(root, tmp_path)

    assert "vllm/a.py" in read


def test_a_cache_that_nothing_can_be_added_to_is_read_all_the_same(root: Path, tmp_path: Path) -> None:
    """It may belong to others, who captured the same tree."""
    store = BlobStore(tmp_path / "cache")
    first = capture(LocalTree(root, ("vllm",)), store, Silent())

    class Closed(BlobStore):
        def save_note(self, key: str, data: bytes) -> None:
            raise Unreadable("the cache folder cannot be written")

    tree = RememberedTree(LocalTree(root, ("vllm",)), Closed(store.root))

    assert first == tree.capture(Silent(), compiled=True)
