"""Blobs and snapshots survive damage, other processes and pruning."""

import os
import pickle
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recon.errors import Unreadable
from recon.records.source import Library, Snapshot, SourceFile
from recon.records.unknown import Unknown
from recon.sources import store as store_module
from recon.sources.store import BlobStore, digest_of
from tests.sources.made import files_below

SNAPSHOT = Snapshot(
    "d" * 32,
    (SourceFile("vllm/a.py", "0" * 32, 3),),
    (Library("vllm/_C.so", 9, ("verify",), ("verify(Tensor a) -> ()",), ("libc.so.6",)),),
    (Unknown("source file", "vllm/b.py", "too large"),),
)


def test_what_is_put_is_what_one_gets(tmp_path: Path) -> None:
    store = BlobStore(tmp_path)

    @given(st.binary(max_size=5000))
    def round_trip(data: bytes) -> None:
        digest = store.put(data)

        assert data == store.get(digest)
        assert digest == digest_of(data)
        assert store.has(digest)

    round_trip()


def test_blobs_lie_in_folders_of_two_letters_and_are_compressed(tmp_path: Path) -> None:
    digest = BlobStore(tmp_path).put(b"import torch\n" * 1000)

    assert [f"blobs/{digest[:2]}/{digest[2:]}"] == files_below(tmp_path)
    assert (tmp_path / "blobs" / digest[:2] / digest[2:]).stat().st_size < 1000


def test_a_store_reads_the_same_after_pickling(tmp_path: Path) -> None:
    store = BlobStore(tmp_path)
    digest = store.put(b"x")

    assert b"x" == pickle.loads(pickle.dumps(store)).get(digest)


@pytest.mark.parametrize("damage", [b"", b"not zlib", b"\x78\x9c\x03\x00\x00\x00\x00\x01", None])
def test_a_damaged_blob_is_removed_and_comes_again(tmp_path: Path, damage: bytes | None) -> None:
    store = BlobStore(tmp_path)
    digest = store.put(b"x" * 1000)
    path = tmp_path / "blobs" / digest[:2] / digest[2:]
    path.write_bytes(path.read_bytes()[:-3] if damage is None else damage)

    with pytest.raises(Unreadable, match="damaged"):
        store.get(digest)
    assert not store.has(digest)
    assert b"x" * 1000 == store.get(store.put(b"x" * 1000))


def test_a_blob_that_inflates_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "MAX_BLOB_BYTES", 1000)
    store = BlobStore(tmp_path)
    digest = store.put(bytes(1_000_000))

    with pytest.raises(Unreadable, match="damaged"):
        store.get(digest)


@pytest.mark.parametrize("digest", ["", "../../etc/passwd", "a" * 31, "G" * 32, "a" * 32 + "\n"])
def test_what_is_no_digest_names_no_file(tmp_path: Path, digest: str) -> None:
    store = BlobStore(tmp_path)

    with pytest.raises(Unreadable, match="not a digest"):
        store.get(digest)
    assert not store.has(digest)


def test_a_blob_that_is_not_there_says_so(tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match="not in the cache"):
        BlobStore(tmp_path).get("0" * 32)


def test_many_writers_of_the_same_bytes_leave_one_whole_file(tmp_path: Path) -> None:
    store = BlobStore(tmp_path)
    with ThreadPoolExecutor(8) as pool:
        digests = list(pool.map(store.put, [b"y" * 100_000] * 64))

    assert 1 == len(set(digests))
    assert 1 == len(files_below(tmp_path))
    assert b"y" * 100_000 == store.get(digests[0])


def test_an_interrupted_write_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(this: Path, target: object) -> Path:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        BlobStore(tmp_path).put(b"x")

    assert [] == files_below(tmp_path)


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(Unreadable, match="cannot be written"):
        BlobStore(tmp_path / "file").put(b"x")


def test_a_snapshot_comes_back_equal(tmp_path: Path) -> None:
    store = BlobStore(tmp_path)
    store.save_snapshot("vllm==0.20.1 ü/../", SNAPSHOT)

    assert SNAPSHOT == store.load_snapshot("vllm==0.20.1 ü/../")
    assert store.load_snapshot("vllm==0.20.2") is None


def test_a_snapshot_of_another_shape_is_removed(tmp_path: Path) -> None:
    store = BlobStore(tmp_path)
    store.save_note("key", b"\x93\x01\x02\x03")
    (tmp_path / "notes").rename(tmp_path / "snapshots")

    assert store.load_snapshot("key") is None
    assert [] == files_below(tmp_path)


def test_a_snapshot_under_a_name_that_is_not_its_own_is_not_believed(tmp_path: Path) -> None:
    store = BlobStore(tmp_path)
    store.save_snapshot("one", SNAPSHOT)
    (file,) = (tmp_path / "snapshots").iterdir()
    file.rename(file.with_name(digest_of(b"two")))

    assert store.load_snapshot("two") is None


def test_info_counts_what_lies_there(tmp_path: Path) -> None:
    store = BlobStore(tmp_path)
    store.put(b"a")
    store.put(b"b")
    store.save_snapshot("k", SNAPSHOT)

    info = store.info()

    assert (2, 1) == (info.blobs, info.snapshots)
    assert sum((tmp_path / name).stat().st_size for name in files_below(tmp_path)) == info.size_bytes


def test_pruning_by_age_keeps_what_was_used_lately(tmp_path: Path) -> None:
    store = BlobStore(tmp_path)
    digests = [store.put(data) for data in (b"old", b"old but used", b"new")]
    long_ago = time.time() - 30 * 86_400
    for digest in digests[:2]:
        os.utime(tmp_path / "blobs" / digest[:2] / digest[2:], (long_ago, long_ago))
    store.get(digests[1])

    pruned = store.prune(older_than_s=7 * 86_400)

    assert 1 == pruned.files
    assert [False, True, True] == [store.has(digest) for digest in digests]


def test_pruning_by_size_takes_the_least_recently_used_first(tmp_path: Path) -> None:
    store = BlobStore(tmp_path)
    digests = [store.put(os.urandom(1000)) for _ in range(5)]
    for age, digest in enumerate(digests):
        stamp = time.time() - 1000 + age
        os.utime(tmp_path / "blobs" / digest[:2] / digest[2:], (stamp, stamp))

    store.prune(keep_bytes=2500)

    assert [False, False, False, True, True] == [store.has(digest) for digest in digests]


def test_pruning_takes_what_killed_processes_left(tmp_path: Path) -> None:
    store = BlobStore(tmp_path)
    digest = store.put(b"x")
    fresh, stale = (tmp_path / "blobs" / digest[:2] / f".new-{name}" for name in ("fresh", "stale"))
    fresh.write_bytes(b"half")
    stale.write_bytes(b"half")
    os.utime(stale, (0, 0))

    store.prune()

    assert (True, False) == (fresh.exists(), stale.exists())
    assert store.has(digest)


def test_putting_mends_what_was_damaged(tmp_path: Path) -> None:
    store = BlobStore(tmp_path)
    digest = store.put(b"x" * 1000)
    (tmp_path / "blobs" / digest[:2] / digest[2:]).write_bytes(b"")
    store.put(b"x" * 1000)

    assert b"x" * 1000 == store.get(digest)


def test_the_outlines_beside_are_counted_and_go_with_their_log(tmp_path: Path) -> None:
    store = BlobStore(tmp_path)
    names = [store_module.OUTLINES + suffix for suffix in ("", "-wal", "-shm")]
    for name in names:
        (tmp_path / name).write_bytes(b"1234")
        os.utime(tmp_path / name, (0, 0))
    info = store.info()
    store.prune(older_than_s=86_400)

    assert (4, 4) == (info.outlines_bytes, info.size_bytes)
    assert [] == files_below(tmp_path)
