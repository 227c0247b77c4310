"""Edited installs are told from untouched ones by the RECORD of their installer."""

import base64
import hashlib
from pathlib import Path

import pytest

from recon.ports import Silent
from recon.records.install import Edits, Engine, Found, Provenance
from recon.sources.capture import capture
from recon.sources.edits import NOTHING, compare_with_record
from recon.sources.local import LocalTree
from recon.sources.store import BlobStore

INFO = "vllm-1.0.dist-info"


def line(path: str, data: bytes, algorithm: str = "sha256") -> str:
    value = base64.urlsafe_b64encode(hashlib.new(algorithm, data).digest()).rstrip(b"=").decode()
    return f"{path},{algorithm}={value},{len(data)}"


def found(root: Path, kind: str = "wheel", dist_info: str = INFO) -> Found:
    provenance = Provenance(kind, "", "pip", "", "", "")
    return Found(Engine.VLLM, "1.0", str(root), ("vllm",), dist_info, provenance)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """An install as pip leaves it."""
    files = {"vllm/a.py": b"a\n", "vllm/b,c.py": b"b\n", "vllm/_C.so": b"\x7fELF", "vllm/data.json": b"{}"}
    for path, data in files.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_bytes(data)
    (tmp_path / "vllm" / "__pycache__").mkdir()
    (tmp_path / "vllm" / "__pycache__" / "a.cpython-311.pyc").write_bytes(b"")
    (tmp_path / INFO).mkdir()
    lines = [
        line("vllm/a.py", b"a\n"),
        line("vllm/b,c.py", b"b\n").replace("vllm/b,c.py", '"vllm/b,c.py"'),
        line("vllm/_C.so", b"\x7fELF"),
        line("vllm/data.json", b"{}"),
        "vllm/__pycache__/a.cpython-311.pyc,,",
        line("../../../bin/vllm", b""),
        f"{INFO}/INSTALLER,sha256=zz,4",
        f"{INFO}/direct_url.json,,",
        f"{INFO}/RECORD,,",
    ]
    (tmp_path / INFO / "RECORD").write_text("\n".join(lines) + "\n")
    return tmp_path


def edits(root: Path, **more: str) -> Edits:
    return compare_with_record(found(root, **more), LocalTree(root, ("vllm",)))


def test_an_untouched_install_has_no_edits(root: Path) -> None:
    assert Edits(3, (), (), ()) == edits(root)


def test_an_edit_a_loss_and_an_addition_are_told_apart(root: Path) -> None:
    (root / "vllm" / "a.py").write_bytes(b"A\n")
    (root / "vllm" / "b,c.py").unlink()
    (root / "vllm" / "patch.py").write_bytes(b"")
    (root / "vllm" / "notes.txt").write_bytes(b"")

    assert Edits(2, ("vllm/a.py",), ("vllm/b,c.py",), ("vllm/patch.py",)) == edits(root)


def test_a_library_of_another_size_was_rebuilt(root: Path) -> None:
    (root / "vllm" / "_C.so").write_bytes(b"\x7fELF and more")

    assert ("vllm/_C.so",) == edits(root).modified


@pytest.mark.parametrize("kind", ["editable", "checkout", "folder"])
def test_where_record_does_not_list_the_files_nothing_is_compared(root: Path, kind: str) -> None:
    assert NOTHING == edits(root, kind=kind)


def test_without_metadata_nothing_is_compared(root: Path) -> None:
    assert NOTHING == edits(root, dist_info="")
    (root / INFO / "RECORD").unlink()
    assert NOTHING == edits(root)


def test_the_metadata_folder_may_be_given_whole(root: Path) -> None:
    assert 3 == edits(root, dist_info=f"{root}/{INFO}/").checked


def test_lines_that_make_no_sense_are_left_out(root: Path) -> None:
    record = root / INFO / "RECORD"
    record.write_bytes(
        b"vllm/a.py\n\nvllm/b.py,md5=xx,notanumber\n/etc/passwd,sha256=xx,1\n\xff\xfe,,\n"
        + line("./vllm/a.py", b"a\n", "sha512").encode()
        + b'\n"unterminated'
    )

    assert Edits(1, (), ("vllm/b.py",), ("vllm/_C.so", "vllm/b,c.py")) == edits(root)


def test_what_was_captured_is_not_read_again(root: Path, tmp_path: Path) -> None:
    (root / "vllm" / "a.py").write_bytes(b"A\n")
    tree = LocalTree(root, ("vllm",))
    store = BlobStore(tmp_path / "cache")
    snapshot = capture(tree, store, Silent())
    reads: list[str] = []

    class Watched(LocalTree):
        def read(self, paths):  # type: ignore[no-untyped-def]  # the parent's signature
            reads.extend(paths)
            return LocalTree.read(self, paths)

    compared = compare_with_record(found(root), Watched(root, ("vllm",)), snapshot=snapshot, store=store)

    assert edits(root) == compared
    assert [f"{INFO}/RECORD"] == reads


def test_blobs_that_were_pruned_are_read_from_the_tree(root: Path, tmp_path: Path) -> None:
    tree = LocalTree(root, ("vllm",))
    snapshot = capture(tree, BlobStore(tmp_path / "one"), Silent())

    compared = compare_with_record(found(root), tree, snapshot=snapshot, store=BlobStore(tmp_path / "other"))

    assert Edits(3, (), (), ()) == compared


@pytest.mark.parametrize("change", ["nothing", "file", "record"])
def test_equal_trees_are_compared_once(root: Path, tmp_path: Path, change: str) -> None:
    """A change of a file or of RECORD makes them others."""
    store = BlobStore(tmp_path / "cache")
    tree = LocalTree(root, ("vllm",))
    compare_with_record(found(root), tree, snapshot=capture(tree, store, Silent()), store=store)
    if change == "file":
        (root / "vllm" / "a.py").write_bytes(b"A\n")
    elif change == "record":
        record = root / INFO / "RECORD"
        record.write_text(record.read_text().replace("vllm/a.py,sha256=", "vllm/a.py,sha256=0"))
    snapshot = capture(tree, store, Silent())
    got: list[str] = []

    class Watched(BlobStore):
        def get(self, digest: str) -> bytes:
            got.append(digest)
            return BlobStore.get(self, digest)

    compared = compare_with_record(found(root), tree, snapshot=snapshot, store=Watched(store.root))

    assert edits(root) == compared
    assert (change == "nothing") == (not got)
