"""Releases are read from an index once, by range or whole, and no address is ever kept."""

import json
import re
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from recon.errors import NoEngine, NotFound, ReconError, Unreachable, Unreadable
from recon.ports import Silent
from recon.records.install import Engine, Found, Provenance
from recon.sources.capture import NOT_ASKED
from recon.sources.pip_config import PackageIndexes
from recon.sources.release import Route, open_release, open_wheel
from recon.sources.store import BlobStore
from tests.sources.made import Site, Told, files_below, library, serving, sha256, wheel

NAME = "vllm-0.20.1-cp38-abi3-manylinux_2_35_x86_64.whl"
NOISE = b"".join(sha256(str(n).encode()).encode() for n in range(20_000))
MEMBERS = {
    "vllm/__init__.py": b"x = 1\n",
    "vllm/_C.abi3.so": library().data + NOISE,
    "vllm/z.py": b"z = 1\n",
    "vllm_extra/b.py": b"y = 2\n",
}
JSON = "application/vnd.pypi.simple.v1+json"


@pytest.fixture(autouse=True)
def _hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """No pauses between attempts."""
    monkeypatch.setattr("recon.sources.web._PAUSE_S", 0.0)


@pytest.fixture
def packed(tmp_path: Path) -> bytes:
    (tmp_path / "made").mkdir()
    return wheel(tmp_path / "made", NAME, MEMBERS).read_bytes()


@pytest.fixture
def site(packed: bytes) -> Iterator[Site]:
    """An index with one release."""
    entry = {"filename": NAME, "url": f"/files/{NAME}", "hashes": {"sha256": sha256(packed)}, "size": len(packed)}
    page = json.dumps({"files": [entry]}).encode()
    with serving(Site(files={"/simple/vllm/": (page, JSON), f"/files/{NAME}": (packed, "application/zip")})) as it:
        yield it


@pytest.fixture
def store(tmp_path: Path) -> BlobStore:
    return BlobStore(tmp_path / "cache")


def indexes(site: Site) -> PackageIndexes:
    return PackageIndexes((site.url + "/simple",), ())


def test_a_release_is_read_by_range(site: Site, store: BlobStore, packed: bytes) -> None:
    read = open_release("vllm==0.20.1", store, Silent(), compiled=False, indexes=indexes(site))

    assert (
        Found(
            Engine.VLLM,
            "0.20.1",
            NAME,
            ("vllm", "vllm_extra"),
            "vllm-0.20.1.dist-info",
            Provenance("release", "", "", NAME, sha256(packed), ""),
        )
        == read.found
    )
    assert ["vllm/__init__.py", "vllm/z.py", "vllm_extra/b.py"] == [file.path for file in read.snapshot.files]
    assert b"x = 1\n" == store.get(read.snapshot.files[0].digest)
    assert [("vllm/_C.abi3.so", NOT_ASKED)] == [(gap.where, gap.why) for gap in read.snapshot.unread]
    assert Route.RANGES is read.route
    assert 0 < read.bytes_moved < len(packed) / 2
    assert len(site.seen) == read.requests


def test_asked_again_nothing_moves(site: Site, store: BlobStore) -> None:
    first = open_release("vllm==0.20.1", store, Silent(), compiled=True, indexes=indexes(site))
    asked = len(site.seen)
    second = open_release("VLLM == 0.20.1", store, Silent(), compiled=True, indexes=indexes(site))

    assert (first.found, first.snapshot) == (second.found, second.snapshot)
    assert (0, 0, Route.CACHE) == (second.bytes_moved, second.requests, second.route)
    assert asked == len(site.seen)


def test_libraries_asked_for_later_are_all_that_moves(site: Site, store: BlobStore, packed: bytes) -> None:
    open_release("vllm==0.20.1", store, Silent(), compiled=False, indexes=indexes(site))
    store_before = {name for name in files_below(store.root) if name.startswith("blobs")}
    later = open_release("vllm==0.20.1", store, Silent(), compiled=True, indexes=indexes(site))
    again = open_release("vllm==0.20.1", store, Silent(), compiled=False, indexes=indexes(site))

    assert ["vllm/_C.abi3.so"] == [found.path for found in later.snapshot.libraries]
    assert () == later.snapshot.unread
    assert store_before == {name for name in files_below(store.root) if name.startswith("blobs")}
    assert later.snapshot == store.load_snapshot(later.snapshot.digest)
    assert (Route.CACHE, NOT_ASKED) == (again.route, again.snapshot.unread[0].why)


def test_libraries_at_once_or_later_are_the_same(site: Site, store: BlobStore, tmp_path: Path) -> None:
    open_release("vllm==0.20.1", store, Silent(), compiled=False, indexes=indexes(site))
    later = open_release("vllm==0.20.1", store, Silent(), compiled=True, indexes=indexes(site))
    at_once = open_release("vllm==0.20.1", BlobStore(tmp_path / "b"), Silent(), compiled=True, indexes=indexes(site))

    assert at_once.snapshot == later.snapshot


def test_a_server_without_ranges_sends_the_whole_wheel(site: Site, store: BlobStore, packed: bytes) -> None:
    by_range = open_release("vllm==0.20.1", store, Silent(), compiled=True, indexes=indexes(site))
    site.ranges = False
    whole = open_release("vllm==0.20.1", BlobStore(store.root / "b"), Silent(), compiled=True, indexes=indexes(site))

    assert by_range.snapshot == whole.snapshot
    assert Route.WHOLE is whole.route
    assert whole.bytes_moved > len(packed)
    assert [] == [name for name in files_below(store.root) if not re.match(r"(b/)?(blobs|snapshots|notes)/", name)]


def test_a_wheel_that_is_not_what_the_index_says_is_refused(site: Site, store: BlobStore, packed: bytes) -> None:
    site.ranges = False
    site.files[f"/files/{NAME}"] = (packed[:-1] + b"\1", "application/zip")

    with pytest.raises(Unreadable, match="not the file that its index describes"):
        open_release("vllm==0.20.1", store, Silent(), compiled=True, indexes=indexes(site))


def test_what_is_no_wheel_is_said(site: Site, store: BlobStore, packed: bytes) -> None:
    site.files[f"/files/{NAME}"] = ((b"<html>" * len(packed))[: len(packed)], "text/html")

    with pytest.raises(Unreadable, match="is not a wheel"):
        open_release("vllm==0.20.1", store, Silent(), compiled=True, indexes=indexes(site))


def test_blobs_that_were_pruned_are_brought_again(site: Site, store: BlobStore) -> None:
    first = open_release("vllm==0.20.1", store, Silent(), compiled=False, indexes=indexes(site))
    digest = first.snapshot.files[0].digest
    (store.root / "blobs" / digest[:2] / digest[2:]).unlink()
    second = open_release("vllm==0.20.1", store, Silent(), compiled=False, indexes=indexes(site))

    assert Route.RANGES is second.route
    assert first.snapshot == second.snapshot
    assert store.has(digest)


def test_another_index_is_asked_for_itself(site: Site, store: BlobStore) -> None:
    open_release("vllm==0.20.1", store, Silent(), compiled=False, indexes=indexes(site))

    with pytest.raises(Unreachable):
        open_release(
            "vllm==0.20.1", store, Silent(), compiled=False, indexes=PackageIndexes(("http://127.0.0.1:9/simple",), ())
        )


def test_without_a_version_the_index_is_asked_each_time(site: Site, store: BlobStore) -> None:
    open_release("vllm", store, Silent(), compiled=False, indexes=indexes(site))
    second = open_release("vllm", store, Silent(), compiled=False, indexes=indexes(site))

    assert "0.20.1" == second.found.version
    assert 0 < second.requests


def test_an_interrupted_reading_leaves_no_temporary_file(
    site: Site, store: BlobStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*args: object) -> object:
        raise KeyboardInterrupt

    monkeypatch.setattr("recon.sources.capture.read_library", interrupted)
    with pytest.raises(KeyboardInterrupt):
        open_release("vllm==0.20.1", store, Silent(), compiled=True, indexes=indexes(site))

    left = files_below(store.root)
    assert [] == [name for name in left if not name.startswith(("blobs/", "snapshots/"))]
    assert [] == [name for name in left if ".new-" in name]


def test_sources_read_before_an_interruption_stay(
    site: Site, store: BlobStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*args: object) -> object:
        raise KeyboardInterrupt

    monkeypatch.setattr("recon.sources.capture.read_library", interrupted)
    with pytest.raises(KeyboardInterrupt):
        open_release("vllm==0.20.1", store, Silent(), compiled=True, indexes=indexes(site))
    without = open_release("vllm==0.20.1", store, Silent(), compiled=False, indexes=indexes(site))

    assert 3 == len(without.snapshot.files)
    assert without.bytes_moved < 100_000


def test_an_index_that_breaks_in_the_middle_stops_the_reading(site: Site, store: BlobStore) -> None:
    class Breaking(Told):
        def start(self, task: str, total: int | None) -> None:
            if task == "reading sources":
                site.failures = [503] * 99

    with pytest.raises(Unreachable, match="503"):
        open_release("vllm==0.20.1", store, Breaking(), compiled=False, indexes=indexes(site))


def test_no_secret_is_kept_or_said(site: Site, store: BlobStore) -> None:
    """Neither in the cache, nor in what is returned, nor in an error."""
    secret = PackageIndexes((site.url.replace("http://", "http://me:hunter2@") + "/simple",), ())
    read = open_release("vllm==0.20.1", store, Silent(), compiled=True, indexes=secret)
    host = site.url.removeprefix("http://")

    assert "hunter2" not in repr(read)
    assert host not in repr(read)
    for name in files_below(store.root):
        if not name.startswith("blobs"):
            kept = zlib.decompress((store.root / name).read_bytes())
            assert host.encode() not in kept
            assert b"hunter2" not in kept
    site.files.clear()
    with pytest.raises(ReconError) as caught:
        open_release("vllm==0.20.2", store, Silent(), compiled=True, indexes=secret)
    assert "hunter2" not in f"{caught.value}{caught.value.hint}"


def test_a_release_that_does_not_exist_names_what_does(site: Site, store: BlobStore) -> None:
    with pytest.raises(NotFound, match=r"there is no vllm==0\.20\.2") as caught:
        open_release("vllm==0.20.2", store, Silent(), compiled=False, indexes=indexes(site))
    assert "0.20.1" in caught.value.hint


def test_that_nothing_exists_is_not_said_while_an_index_is_silent(site: Site, store: BlobStore) -> None:
    both = PackageIndexes((site.url + "/simple", "http://127.0.0.1:9/simple"), ())

    assert open_release("vllm==0.20.1", store, Silent(), compiled=False, indexes=both).snapshot.files
    with pytest.raises(Unreachable, match="did not answer"):
        open_release("vllm==0.20.2", store, Silent(), compiled=False, indexes=both)


def test_a_folder_of_wheels_is_an_index_too(tmp_path: Path, store: BlobStore, packed: bytes) -> None:
    read = open_release(
        "vllm==0.20.1", store, Silent(), compiled=True, indexes=PackageIndexes((), (str(tmp_path / "made"),))
    )

    assert (Route.LOCAL, 0, 0) == (read.route, read.bytes_moved, read.requests)
    assert 1 == len(read.snapshot.libraries)


def test_a_wheel_file_is_read_like_a_release(tmp_path: Path, store: BlobStore, packed: bytes, site: Site) -> None:
    path = tmp_path / "made" / NAME
    near = open_wheel(path, store, Silent(), compiled=True)
    far = open_release("vllm==0.20.1", BlobStore(tmp_path / "b"), Silent(), compiled=True, indexes=indexes(site))

    assert far.snapshot == near.snapshot
    assert Provenance("wheel", "", "", NAME, sha256(packed), "") == near.found.provenance
    assert (far.found.engine, far.found.version) == (near.found.engine, near.found.version)
    assert near.snapshot == open_wheel(path, store, Silent(), compiled=True).snapshot


def test_a_wheel_that_was_renamed_is_known_by_its_metadata(tmp_path: Path, store: BlobStore, packed: bytes) -> None:
    path = (tmp_path / "made" / NAME).rename(tmp_path / "made" / "download.whl")
    read = open_wheel(path, store, Silent(), compiled=False)

    assert (Engine.VLLM, "0.20.1") == (read.found.engine, read.found.version)


def test_files_that_are_no_wheels_are_told_apart(tmp_path: Path, store: BlobStore) -> None:
    (tmp_path / "text.whl").write_text("hello")
    wheel(tmp_path, "a-1-py3-none-any.whl", {"a.txt": b""})
    wheel(tmp_path, "zip.whl-", {"a/b.py": b""}, metadata=False)

    with pytest.raises(NotFound):
        open_wheel(tmp_path / "missing.whl", store, Silent(), compiled=False)
    with pytest.raises(Unreadable, match="is not a wheel"):
        open_wheel(tmp_path / "text.whl", store, Silent(), compiled=False)
    with pytest.raises(NoEngine):
        open_wheel(tmp_path / "a-1-py3-none-any.whl", store, Silent(), compiled=False)
    with pytest.raises(Unreadable, match="no metadata"):
        open_wheel(tmp_path / "zip.whl-", store, Silent(), compiled=False)
    with pytest.raises(Unreadable):
        open_wheel(tmp_path, store, Silent(), compiled=False)


def test_progress_tells_what_is_happening(site: Site, store: BlobStore) -> None:
    told = Told()
    open_release("vllm==0.20.1", store, told, compiled=True, indexes=indexes(site))

    assert [
        ("asking for vllm==0.20.1", None),
        ("reading sources", 3),
        ("reading compiled libraries", 1),
    ] == told.tasks


@pytest.mark.release
def test_a_published_release_is_read_by_range_and_then_from_the_cache(store: BlobStore) -> None:
    """The whole way, with pip's own configuration: a small old release that has no compiled part."""
    first = open_release("sglang==0.3.6", store, Silent(), compiled=True)
    second = open_release("sglang==0.3.6", store, Silent(), compiled=True)

    assert "sglang-0.3.6-py3-none-any.whl" == first.found.root
    assert "00b98a4d81d7a0773faaafc6b8bf997e52c539ddf0ca7f2ad15133d5feb62740" == first.found.provenance.sha256
    assert (156, ()) == (len(first.snapshot.files), first.snapshot.unread)
    assert (first.snapshot, 0) == (second.snapshot, second.bytes_moved)
