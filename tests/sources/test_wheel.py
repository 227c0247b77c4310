"""A wheel is a source tree, near or far, and a hostile one is refused piece by piece."""

import shutil
import stat
import struct
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from recon.errors import Unreadable
from recon.ports import Entry, Silent
from recon.records.unknown import Unknown
from recon.sources import wheel as wheel_module
from recon.sources.capture import capture
from recon.sources.local import LocalTree
from recon.sources.pip_config import PackageIndexes
from recon.sources.select import MAX_SOURCE_BYTES
from recon.sources.store import BlobStore
from recon.sources.web import Client
from recon.sources.wheel import NoRoom, RangeFile, WheelTree
from tests.sources.made import Site, files_below, library, serving, sha256, wheel

NAME = "vllm-1.0-py3-none-any.whl"
MEMBERS = {
    "vllm/__init__.py": b"x = 1\n",
    "vllm/csrc/a.cu": b"__global__ void f() {}\n",
    "vllm/data.json": b"{}",
    "vllm/_C.abi3.so": library().data,
    "extra/b.py": b"y = 2\n",
    "include/c.h": b"int z;\n",
    "setup_helper.py": b"",
}


def tree_of(path: Path, scratch: Path) -> tuple[zipfile.ZipFile, WheelTree]:
    archive = zipfile.ZipFile(path)
    return archive, WheelTree(archive, path.name, scratch)


def test_every_top_folder_with_python_is_a_package(tmp_path: Path) -> None:
    archive, tree = tree_of(wheel(tmp_path, NAME, MEMBERS), tmp_path)
    with archive:
        paths = [entry.path for entry in tree.entries() if isinstance(entry, Entry)]

    assert (("extra", "vllm"), "vllm-1.0.dist-info", NAME) == (tree.packages, tree.dist_info, tree.location)
    assert [path for path in MEMBERS if path.startswith(("vllm/", "extra/"))] == paths


def test_a_wheel_and_its_unpacked_files_are_the_same_tree(tmp_path: Path) -> None:
    path = wheel(tmp_path, NAME, MEMBERS)
    (tmp_path / "site").mkdir()
    archive, tree = tree_of(path, tmp_path)
    with archive:
        archive.extractall(tmp_path / "site")
        packed = capture(tree, BlobStore(tmp_path / "one"), Silent())
    unpacked = capture(LocalTree(tmp_path / "site", tree.packages), BlobStore(tmp_path / "two"), Silent())

    assert packed == unpacked


def test_what_is_installed_beside_the_packages_lies_beside_them(tmp_path: Path) -> None:
    members = {"vllm/a.py": b"a", "vllm-1.0.data/purelib/vllm/b.py": b"b", "vllm-1.0.data/scripts/run.py": b"c"}
    archive, tree = tree_of(wheel(tmp_path, NAME, members), tmp_path)
    with archive:
        assert ("vllm",) == tree.packages
        assert {"vllm/a.py": b"a", "vllm/b.py": b"b"} == dict(tree.read(["vllm/a.py", "vllm/b.py"]))


@pytest.mark.parametrize(
    "name", ["../evil.py", "/etc/evil.py", "vllm/../../evil.py", "vllm/a\x1b[2J.py", "vllm\\evil.py", "vllm//a.py"]
)
def test_hostile_names_are_refused_and_the_rest_is_read(tmp_path: Path, name: str) -> None:
    archive, tree = tree_of(wheel(tmp_path, NAME, {name: b"x", "vllm/a.py": b"a"}), tmp_path)
    with archive:
        unknowns = [entry for entry in tree.entries() if isinstance(entry, Unknown)]

        assert 1 == len(unknowns)
        assert unknowns[0].where.isprintable()
        assert [("vllm/a.py", b"a")] == list(tree.read(["vllm/a.py"]))


def test_a_name_cut_short_by_a_zero_is_seen_whole(tmp_path: Path) -> None:
    path = wheel(tmp_path, NAME, {"vllm/a.pyX.txt": b"x", "vllm/b.py": b""})
    path.write_bytes(path.read_bytes().replace(b"vllm/a.pyX.txt", b"vllm/a.py\0.txt"))
    archive, tree = tree_of(path, tmp_path)
    with archive:
        assert ["vllm/a.py\\x00.txt"] == [entry.where for entry in tree.entries() if isinstance(entry, Unknown)]


def test_links_in_a_wheel_are_no_files(tmp_path: Path) -> None:
    path = wheel(tmp_path, NAME, {"vllm/a.py": b"a"})
    link = zipfile.ZipInfo("vllm/link.py")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(link, "/etc/passwd")
    archive, tree = tree_of(path, tmp_path)
    with archive:
        assert [Unknown("file", "vllm/link.py", "it is no regular file")] == [
            entry for entry in tree.entries() if isinstance(entry, Unknown)
        ]


def test_a_source_beyond_the_limit_is_not_inflated(tmp_path: Path) -> None:
    archive, tree = tree_of(wheel(tmp_path, NAME, {"vllm/a.py": bytes(MAX_SOURCE_BYTES + 1)}), tmp_path)
    with archive:
        ((_, answer),) = tree.read(["vllm/a.py"])

    assert isinstance(answer, Unknown)
    assert answer.why.startswith("too large")


def test_a_member_that_lies_about_its_size_is_damaged(tmp_path: Path) -> None:
    """The directory says 10 bytes, the stream holds a million: no more than 10 are ever kept."""
    path = wheel(tmp_path, NAME, {"vllm/a.py": bytes(1_000_000), "vllm/b.so": bytes(1_000_000)}, metadata=False)
    path.write_bytes(path.read_bytes().replace(struct.pack("<I", 1_000_000), struct.pack("<I", 10)))
    archive, tree = tree_of(path, tmp_path)
    with archive:
        ((_, answer),) = tree.read(["vllm/a.py"])

        assert Unknown("source file", "vllm/a.py", "its part of the wheel is damaged") == answer
        with pytest.raises(Unreadable, match="damaged"):
            tree.open_range("vllm/b.so")


def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wheel_module, "_RATIO_FROM_BYTES", 1 << 20)
    archive, tree = tree_of(wheel(tmp_path, NAME, {"vllm/a.py": b"", "vllm/_C.so": bytes(2 << 20)}), tmp_path)
    with archive, pytest.raises(Unreadable, match="claim to hold 2097152"):
        tree.open_range("vllm/_C.so")


def test_a_library_larger_than_any_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wheel_module, "MAX_LIBRARY_BYTES", 100)
    archive, tree = tree_of(wheel(tmp_path, NAME, MEMBERS), tmp_path)
    with archive, pytest.raises(Unreadable, match="too large"):
        tree.open_range("vllm/_C.abi3.so")


def test_a_disk_without_room_is_said_before_it_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(total=1, used=1, free=1 << 20))
    archive, tree = tree_of(wheel(tmp_path, NAME, MEMBERS), tmp_path)
    with archive, pytest.raises(NoRoom, match="1 MiB are free"):
        tree.open_range("vllm/_C.abi3.so")


@pytest.mark.parametrize("place", [40, 60, -60])
def test_damage_anywhere_is_reported_or_harmless(tmp_path: Path, place: int) -> None:
    path = wheel(tmp_path, NAME, {"vllm/a.py": b"a = 1\n" * 100}, metadata=False)
    data = bytearray(path.read_bytes())
    data[place] ^= 0xFF
    path.write_bytes(data)
    try:
        archive, tree = tree_of(path, tmp_path)
    except zipfile.BadZipFile:
        return
    with archive:
        answers = dict(tree.read(["vllm/a.py"]))

    assert isinstance(answers["vllm/a.py"], Unknown) or answers["vllm/a.py"] == b"a = 1\n" * 100


def test_an_encrypted_member_is_reported(tmp_path: Path) -> None:
    path = wheel(tmp_path, NAME, {"vllm/a.py": b"a"}, metadata=False)
    data = bytearray(path.read_bytes())
    data[6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(data)
    archive, tree = tree_of(path, tmp_path)
    with archive:
        ((_, answer),) = tree.read(["vllm/a.py"])

    assert isinstance(answer, Unknown)


def test_an_inflated_library_leaves_no_file(tmp_path: Path) -> None:
    (tmp_path / "scratch").mkdir()
    archive, tree = tree_of(wheel(tmp_path, NAME, MEMBERS), tmp_path / "scratch")
    with archive:
        data = tree.open_range("vllm/_C.abi3.so")

        assert [] == files_below(tmp_path / "scratch")
        assert sha256(library().data) == sha256(data.read(0, data.size_bytes))


def far(site: Site, path: Path, scratch: Path) -> tuple[Client, zipfile.ZipFile, WheelTree]:
    site.files["/" + path.name] = (path.read_bytes(), "application/zip")
    client = Client(PackageIndexes((), ()), sleep=lambda _: None)
    remote = RangeFile(client, f"{site.url}/{path.name}", path.stat().st_size)
    archive = zipfile.ZipFile(remote)
    return client, archive, WheelTree(archive, path.name, scratch, remote.want)


def test_many_members_far_away_take_few_requests(tmp_path: Path) -> None:
    noise = b"".join(sha256(str(n).encode()).encode() for n in range(20_000))
    members = {f"vllm/a{n}.py": b"x = %d\n" % n for n in range(500)}
    members |= {"vllm/big.bin": noise} | {f"vllm/z{n}.py": b"y = %d\n" % n for n in range(500)}
    path = wheel(tmp_path, NAME, members)
    with serving(Site()) as site:
        client, archive, tree = far(site, path, tmp_path)
        with archive:
            wanted = [name for name in members if name.endswith(".py")]
            answers = dict(tree.read(wanted))

    assert {name: members[name] for name in wanted} == answers
    assert client.requests <= 4
    assert client.moved < path.stat().st_size - 300_000, "the large file in the middle is passed over"


def test_a_library_far_away_is_read_in_windows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wheel_module, "_WINDOW_BYTES", 100_000)
    noise = b"".join(sha256(str(n).encode()).encode() for n in range(20_000))
    path = wheel(tmp_path, NAME, {"vllm/a.py": b"", "vllm/_C.so": noise})
    with serving(Site()) as site:
        client, archive, tree = far(site, path, tmp_path)
        with archive:
            data = tree.open_range("vllm/_C.so")

            assert noise == data.read(0, data.size_bytes)
    assert client.moved <= path.stat().st_size + 100_000


def test_the_size_of_a_remote_wheel_need_not_be_known(tmp_path: Path) -> None:
    path = wheel(tmp_path, NAME, MEMBERS)
    with serving(Site(files={"/w": (path.read_bytes(), "")})) as site:
        remote = RangeFile(Client(PackageIndexes((), ())), site.url + "/w", None)
        with zipfile.ZipFile(remote) as archive:
            assert b"x = 1\n" == archive.read("vllm/__init__.py")
