"""A folder is read as far as it can be read, and no further than it reaches."""

import os
from pathlib import Path

import pytest

from recon.errors import Unreadable
from recon.ports import Entry
from recon.records.unknown import Unknown, denied
from recon.sources.local import LocalTree
from recon.sources.select import DENIED, MAX_SOURCE_BYTES


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder with one package, and something beside it."""
    (tmp_path / "site" / "vllm" / "sub").mkdir(parents=True)
    (tmp_path / "site" / "vllm" / "a.py").write_bytes(b"a = 1\n")
    (tmp_path / "site" / "vllm" / "sub" / "b.py").write_bytes(b"b = 2\n")
    (tmp_path / "site" / "other").mkdir()
    (tmp_path / "site" / "other" / "secret.py").write_bytes(b"secret\n")
    return tmp_path / "site"


def listed(tree: LocalTree) -> tuple[list[str], list[Unknown]]:
    entries = list(tree.entries())
    return [e.path for e in entries if isinstance(e, Entry)], [e for e in entries if isinstance(e, Unknown)]


def test_only_the_packages_are_listed(root: Path) -> None:
    tree = LocalTree(root, ("vllm",))

    assert (["vllm/a.py", "vllm/sub/b.py"], []) == listed(tree)
    assert str(root) == tree.location


def test_bytes_come_with_their_path(root: Path) -> None:
    tree = LocalTree(root, ("vllm",))

    assert {"vllm/a.py": b"a = 1\n", "vllm/sub/b.py": b"b = 2\n"} == dict(tree.read(["vllm/sub/b.py", "vllm/a.py"]))


def test_links_out_of_the_tree_are_reported_and_not_read(root: Path) -> None:
    (root / "vllm" / "out.py").symlink_to(root / "other" / "secret.py")
    (root / "vllm" / "folder").symlink_to(root / "other")
    (root / "vllm" / "data.bin").symlink_to("/dev/null")
    tree = LocalTree(root, ("vllm",))

    paths, unknowns = listed(tree)
    answers = dict(tree.read(["vllm/out.py", "vllm/folder/secret.py"]))

    assert ["vllm/a.py", "vllm/sub/b.py"] == paths
    assert {"vllm/out.py", "vllm/folder"} == {unknown.where for unknown in unknowns}
    assert all(isinstance(answer, Unknown) for answer in answers.values())


def test_links_inside_the_tree_are_read_and_cannot_go_in_circles(root: Path) -> None:
    (root / "vllm" / "same.py").symlink_to("a.py")
    (root / "vllm" / "sub" / "up").symlink_to("..")
    tree = LocalTree(root, ("vllm",))

    assert (["vllm/a.py", "vllm/same.py", "vllm/sub/b.py"], []) == listed(tree)
    assert [("vllm/same.py", b"a = 1\n")] == list(tree.read(["vllm/same.py"]))


def test_a_link_that_leads_nowhere_is_reported(root: Path) -> None:
    (root / "vllm" / "gone.py").symlink_to("missing.py")
    (root / "vllm" / "loop.py").symlink_to("loop.py")

    _, unknowns = listed(LocalTree(root, ("vllm",)))

    assert ["vllm/gone.py", "vllm/loop.py"] == [unknown.where for unknown in unknowns]


def test_a_package_folder_that_is_a_link_is_followed(root: Path, tmp_path: Path) -> None:
    (tmp_path / "env").mkdir()
    (tmp_path / "env" / "vllm").symlink_to(root / "vllm")
    tree = LocalTree(tmp_path / "env", ("vllm",))

    assert (["vllm/a.py", "vllm/sub/b.py"], []) == listed(tree)
    assert [("vllm/a.py", b"a = 1\n")] == list(tree.read(["vllm/a.py"]))


def test_what_may_not_be_read_is_reported_and_the_rest_goes_on(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Permissions mean nothing to root, who runs these tests in containers: so the system's calls refuse here."""
    scandir, open_ = os.scandir, os.open

    def refusing_scandir(path: Path) -> object:
        if Path(path).name == "sub":
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    def refusing_open(path: str, flags: int) -> int:
        if path.endswith("a.py"):
            raise PermissionError(13, "Permission denied")
        return open_(path, flags)

    monkeypatch.setattr(os, "scandir", refusing_scandir)
    monkeypatch.setattr(os, "open", refusing_open)
    tree = LocalTree(root, ("vllm",))

    paths, unknowns = listed(tree)
    answers = dict(tree.read(["vllm/a.py", "vllm/sub/b.py"]))

    assert ["vllm/a.py"] == paths
    assert [Unknown("folder", "vllm/sub", denied(root.owner()))] == unknowns
    assert Unknown("source file", "vllm/a.py", DENIED) == answers["vllm/a.py"]
    assert b"b = 2\n" == answers["vllm/sub/b.py"]


def test_a_package_that_is_not_there_is_reported(root: Path) -> None:
    assert [Unknown("folder", "sglang", "No such file or directory")] == list(LocalTree(root, ("sglang",)).entries())


def test_pipes_and_sockets_are_no_files(root: Path) -> None:
    os.mkfifo(root / "vllm" / "pipe.py")
    tree = LocalTree(root, ("vllm",))

    ((_, answer),) = tree.read(["vllm/pipe.py"])

    assert (["vllm/a.py", "vllm/sub/b.py"], []) == listed(tree)
    assert Unknown("source file", "vllm/pipe.py", "it is not a regular file") == answer


def test_names_that_are_not_text_are_reported(root: Path) -> None:
    Path(os.fsdecode(os.fsencode(root / "vllm") + b"/\xff.py")).write_bytes(b"")
    (root / "vllm" / "a\x1b[2J.py").write_bytes(b"")

    paths, unknowns = listed(LocalTree(root, ("vllm",)))

    assert ["vllm/a.py", "vllm/sub/b.py"] == paths
    assert ["vllm/a\\x1b[2J.py", "vllm/\\udcff.py"] == [unknown.where for unknown in unknowns]


@pytest.mark.parametrize(
    "path", ["/etc/hostname", "../site/other/secret.py", "other/secret.py", "vllm/none.py", "vllm"]
)
def test_what_was_not_listed_is_not_read(root: Path, path: str) -> None:
    ((_, answer),) = LocalTree(root, ("vllm",)).read([path])

    assert isinstance(answer, Unknown)


def test_the_metadata_beside_the_package_can_be_read(root: Path) -> None:
    (root / "vllm-1.dist-info").mkdir()
    (root / "vllm-1.dist-info" / "RECORD").write_bytes(b"vllm/a.py,,\n")
    (root / "vllm-1.dist-info" / "key.pem").write_bytes(b"secret")

    answers = dict(LocalTree(root, ("vllm",)).read(["vllm-1.dist-info/RECORD", "vllm-1.dist-info/key.pem"]))

    assert b"vllm/a.py,,\n" == answers["vllm-1.dist-info/RECORD"]
    assert isinstance(answers["vllm-1.dist-info/key.pem"], Unknown)


def test_a_file_that_grew_too_large_after_listing_is_not_read(root: Path) -> None:
    with (root / "vllm" / "a.py").open("wb") as file:
        file.truncate(MAX_SOURCE_BYTES + 1)

    ((_, answer),) = LocalTree(root, ("vllm",)).read(["vllm/a.py"])

    assert isinstance(answer, Unknown)
    assert answer.why.startswith("too large")


def test_a_range_reads_what_was_asked_and_no_more_than_there_is(root: Path) -> None:
    data = LocalTree(root, ("vllm",)).open_range("vllm/a.py")

    assert 6 == data.size_bytes
    assert (b"= 1", b"1\n", b"") == (data.read(2, 3), data.read(4, 100), data.read(99, 1))


def test_a_range_of_what_lies_outside_is_refused(root: Path) -> None:
    with pytest.raises(Unreadable, match="out of the tree"):
        LocalTree(root, ("vllm",)).open_range("other/secret.py")
