"""A tree on a host is the tree: same snapshot, few round trips, and no trust in what the host says."""

import os
import pwd
import re
import shutil
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from recon.errors import Unreadable
from recon.ports import Reply, Silent
from recon.records.install import Engine, Found, Provenance
from recon.records.source import Snapshot
from recon.records.unknown import Unknown, denied
from recon.sources.capture import capture
from recon.sources.edits import compare_with_record
from recon.sources.local import LocalTree
from recon.sources.remote import RemoteTree, look
from recon.sources.store import BlobStore
from tests.sources.made import Told, library
from tests.sources.shells import Counted, busybox, posix

BECOME_NOBODY = "import os; os.setgroups([]); os.setgid(65534); os.setuid(65534); os.execv('/bin/sh', ['sh', '-s'])"
SHELLS = ["posix", pytest.param("busybox", marks=pytest.mark.system("busybox"))]


@pytest.fixture(params=SHELLS)
def host(request: pytest.FixtureRequest, tmp_path: Path) -> Counted:
    return posix() if request.param == "posix" else busybox(tmp_path / "applets")


@pytest.fixture
def store(tmp_path: Path) -> BlobStore:
    return BlobStore(tmp_path / "cache")


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that everybody may enter, which pytest's own are not."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def made_tree(root: Path) -> Found:
    """An install with all that a walk must tell apart."""
    package = root / "eng"
    for folder in ("", "spec", "spec/deep", "__pycache__", "csrc", "empty", "we ird"):
        (package / folder).mkdir(parents=True, exist_ok=True)
    (package / "__init__.py").write_text("")
    (package / "spec" / "__init__.py").write_text("")
    (package / "spec" / "a.py").write_text("def verify(tree):\n    return tree\n" * 300)
    (package / "spec" / "deep" / "b.py").write_bytes(b"x = '\xff\0'\n")
    (package / "spec" / "deep" / "c.pyi").write_text("never read")
    (package / "spec.py").write_text("sorts beside the folder spec\n")
    (package / "csrc" / "k.cu").write_text("__global__ void k() {}\n")
    (package / "csrc" / "k.cuh").write_text("#pragma once\n")
    (package / "we ird" / "it's $(x) `y`;.py").write_text("quoted = True\n")
    (package / "__pycache__" / "a.py").write_text("never read")
    (package / "data.json").write_text("{}")
    (package / "_C.abi3.so").write_bytes(library(gpu_bytes=5_000_000).data)
    (package / "libold.so.3.1").write_bytes(library(sections=False).data)
    (package / "_moe.so").write_bytes(library(extended=True, defined=("fused",), gpu_bytes=3_000_000).data)
    (package / "noelf.so").write_bytes(b"INPUT(libother.so)\n")
    (package / "big.py").write_bytes(b"#" * ((8 << 20) + 1))
    (package / "inside.py").symlink_to("spec/a.py")
    (package / "inside.so").symlink_to(package / "_C.abi3.so")
    (package / "folder_inside").symlink_to("spec")
    (package / "outside.py").symlink_to("/etc/passwd")
    (package / "outside.txt").symlink_to("/etc/passwd")
    (package / "outside_folder").symlink_to("/etc")
    (package / "dangling.py").symlink_to("nowhere")
    os.mkfifo(package / "pipe.py")
    (package / "new\nline.txt").write_text("")
    (package / "slash\\back.py").write_text("")
    (package / os.fsdecode(b"\xff.bin")).write_text("")
    (package / "é.json").write_text("printable, no fault")
    other = root / "beside"
    other.mkdir()
    (other / "z.py").write_text("z = 1\n")
    info = root / "eng-1.dist-info"
    info.mkdir()
    (info / "RECORD").write_text("eng/spec/a.py,sha256=AAAA,9\neng/gone.py,sha256=AAAA,9\n")
    return found_at(root)


def found_at(root: Path, packages: tuple[str, ...] = ("eng", "beside", "missing")) -> Found:
    wheel = Provenance("wheel", "", "", "", "", "")
    return Found(Engine.OTHER, "1", str(root), packages, str(root / "eng-1.dist-info"), wheel)


def seen(host: Counted, found: Found, store: BlobStore) -> RemoteTree:
    (tree,) = look(host, [found], store)
    assert isinstance(tree, RemoteTree), tree
    return tree


def local(found: Found, store: BlobStore) -> Snapshot:
    return capture(LocalTree(Path(found.root), found.packages), store, Silent())


def settle() -> None:
    """Let the second pass in which everything was written: hosts whose times are whole seconds need that."""
    time.sleep(2.1)


def test_a_tree_on_a_host_gives_the_snapshot_that_it_gives_here(
    host: Counted, store: BlobStore, tmp_path: Path
) -> None:
    """Files, libraries and what could not be read, digest included; links, odd names and pipes among them."""
    found = made_tree(tmp_path / "site")
    here = local(found, BlobStore(tmp_path / "other"))
    there = seen(host, found, store).capture(Silent())

    assert here == there
    assert {"eng/_C.abi3.so", "eng/_moe.so", "eng/inside.so"} == {each.path for each in there.libraries}
    assert all(store.has(file.digest) for file in there.files)


def test_edits_of_a_host_are_those_of_the_folder(host: Counted, store: BlobStore, tmp_path: Path) -> None:
    """RECORD comes as one small file, and digests are made here."""
    found = made_tree(tmp_path / "site")
    tree = seen(host, found, store)
    snapshot = tree.capture(Silent())
    before = host.execs
    there = compare_with_record(found, tree, snapshot=snapshot, store=store)

    assert compare_with_record(found, LocalTree(Path(found.root), found.packages)) == there
    assert (("eng/spec/a.py",), ("eng/gone.py",)) == (there.modified, there.missing)
    assert host.execs - before <= 1  # sources that no capture holds, such as one that is too large


def test_an_unchanged_tree_costs_one_exec(host: Counted, store: BlobStore, tmp_path: Path) -> None:
    """The host answers with the digest, and everything else is at home; edits included."""
    found = made_tree(tmp_path / "site")
    (Path(found.root) / "eng" / "big.py").unlink()
    settle()
    first = seen(host, found, store).capture(Silent())
    host.reset()
    tree = seen(host, found, store)
    second = tree.capture(Silent())
    edits = compare_with_record(found, tree, snapshot=second, store=store)

    assert tree.unchanged
    assert first == second
    assert ("eng/spec/a.py",) == edits.modified
    assert (1, True) == (host.execs, host.received < 400)
    assert host.sent < 6000


def test_only_what_changed_is_sent(host: Counted, store: BlobStore, tmp_path: Path) -> None:
    """A changed source, a changed library and nothing else; the same size and a time put back do not hide a change."""
    found = made_tree(tmp_path / "site")
    package = Path(found.root) / "eng"
    settle()
    seen(host, found, store).capture(Silent())
    source = package / "spec" / "a.py"
    state = source.stat()
    source.write_text(source.read_text().replace("verify", "vErify"))
    os.utime(source, ns=(state.st_atime_ns, state.st_mtime_ns))
    (package / "libold.so.3.1").write_bytes(library(defined=("fresh",)).data)
    host.reset()
    tree = seen(host, found, store)
    snapshot = tree.capture(Silent())
    names = [script.split("names() {")[1].split("\n}")[0] for script in host.scripts if "names() {" in script]

    assert local(found, BlobStore(tmp_path / "other")) == snapshot
    assert not tree.unchanged
    assert ["./eng/spec/a.py"] == [word for word in names[0].split() if word.startswith("./")]
    assert ["./eng/libold.so.3.1"] == [word for word in names[1].split() if word.startswith("./")]
    assert 4 == host.execs


def test_a_blob_that_the_store_lost_is_brought_again(host: Counted, store: BlobStore, tmp_path: Path) -> None:
    """What is remembered counts only while the bytes are there."""
    found = made_tree(tmp_path / "site")
    settle()
    first = seen(host, found, store).capture(Silent())
    shutil.rmtree(store.root / "blobs")
    second = seen(host, found, store).capture(Silent())

    assert first == second
    assert all(store.has(file.digest) for file in second.files)


def test_gpu_code_never_leaves_the_host(host: Counted, store: BlobStore, tmp_path: Path) -> None:
    """Of a library the pieces that names are read from travel, in one exec for all libraries."""
    package = tmp_path / "site" / "eng"
    package.mkdir(parents=True)
    for number in range(3):
        made = library(gpu_bytes=20_000_000, defined=(f"f{number}",)).data
        (package / f"l{number}.so").write_bytes(made.replace(bytes(4096), os.urandom(4096)))
    snapshot = seen(host, found_at(tmp_path / "site", ("eng",)), store).capture(Silent())

    assert [("f0",), ("f1",), ("f2",)] == [each.symbols for each in snapshot.libraries]
    assert 2 == host.execs
    assert host.received < 200_000


def test_several_installs_are_listed_at_once(host: Counted, store: BlobStore, tmp_path: Path) -> None:
    """One exec for a host, whatever lies on it; one that is gone takes no other with it."""
    first, second = made_tree(tmp_path / "a"), made_tree(tmp_path / "b" / "it's")
    trees = look(host, [first, found_at(tmp_path / "gone"), second], store)

    assert 1 == host.execs
    assert [first.root, str(tmp_path / "gone"), second.root] == [
        tree.location for tree in trees if isinstance(tree, RemoteTree)
    ]
    assert isinstance(trees[1], RemoteTree)
    assert all(isinstance(item, Unknown) for item in trees[1].entries())


def test_bytes_are_counted_while_they_come(host: Counted, store: BlobStore, tmp_path: Path) -> None:
    """Whoever waits sees how much is here, of how much."""
    told = Told()
    tree = seen(host, made_tree(tmp_path / "site"), store)
    snapshot = tree.capture(told)
    record = (tmp_path / "site" / "eng-1.dist-info" / "RECORD").stat().st_size
    once = {file.digest: file.size_bytes for file in snapshot.files}  # what a link leads to comes once
    total = sum(once.values()) + record

    assert (f"receiving sources from {host.name}", total) == told.tasks[0]


def test_what_an_ordinary_user_may_not_read_is_named(store: BlobStore, open_folder: Path) -> None:
    """A closed folder, a closed file and a closed library, each with what would open it."""
    if os.getuid() != 0:
        pytest.skip("only root can become somebody else")
    found = made_tree(open_folder / "site")
    package = Path(found.root) / "eng"
    for path in (package / "spec", package / "csrc" / "k.cu", package / "libold.so.3.1"):
        path.chmod(0)
    host = posix()
    host.shell = type(host.shell)(
        "gpu07",
        program=(sys.executable, "-c", BECOME_NOBODY),
        environment=host.shell.environment,
    )
    snapshot = seen(host, found, store).capture(Silent())
    mine = pwd.getpwuid(os.getuid()).pw_name
    unread = {gap.where: gap.what for gap in snapshot.unread if "Permission denied" in gap.why}

    assert {"eng/spec": "folder", "eng/csrc/k.cu": "source file", "eng/libold.so.3.1": "compiled library"} == unread
    assert [denied(mine)] == [gap.why for gap in snapshot.unread if gap.where == "eng/spec"]
    assert "eng/csrc/k.cuh" in {file.path for file in snapshot.files}


def test_names_are_never_run(host: Counted, store: BlobStore, tmp_path: Path) -> None:
    """Folders and files named like commands are names."""
    root = tmp_path / "si'te $(touch PWNED) `touch PWNED`"
    package = root / "e;touch PWNED;'"
    package.mkdir(parents=True)
    (package / "-rf $(touch PWNED) '\".py").write_text("x\n")
    found = found_at(root, (package.name,))
    snapshot = seen(host, found, store).capture(Silent())

    assert 1 == len(snapshot.files)
    assert [] == list(tmp_path.rglob("PWNED"))
    assert not Path("PWNED").exists()


def test_a_hard_link_comes_by_itself(store: BlobStore, tmp_path: Path) -> None:
    """GNU tar sends the second name of a file as a link; its bytes are asked for."""
    package = tmp_path / "site" / "eng"
    package.mkdir(parents=True)
    (package / "a.py").write_text("one\n")
    (package / "b.py").hardlink_to(package / "a.py")
    host = posix()
    snapshot = seen(host, found_at(tmp_path / "site", ("eng",)), store).capture(Silent())

    assert ["eng/a.py", "eng/b.py"] == [file.path for file in snapshot.files]
    assert 4 == host.execs


def test_nothing_is_written_on_the_host(host: Counted, store: BlobStore, tmp_path: Path) -> None:
    """No script redirects into a file, and none makes a here-document, for which some shells write one."""
    found = made_tree(tmp_path / "site")
    seen(host, found, store).capture(Silent())
    redirections = [
        re.sub(r"\d?>&[-\d]|>/dev/null", "", word)
        for script in host.scripts
        for word in script.split("\n")
        if not word.lstrip().startswith(("printf '%s", "'"))
    ]

    assert [] == [line for line in redirections if ">" in line.replace("->", "") or "<<" in line]


class Meddling(Counted):
    """A host that changes what it says."""

    change: Callable[[int, bytes], bytes]
    """Given the number of the exec and its whole answer."""

    def stream(self, script: str, sink: Callable[[bytes], None], *, timeout_s: float, cap_bytes: int) -> Reply:
        heard = bytearray()
        reply = super().stream(script, heard.extend, timeout_s=timeout_s, cap_bytes=cap_bytes)
        sink(self.change(self.execs, bytes(heard)))
        return reply


def meddling(change: Callable[[int, bytes], bytes]) -> Meddling:
    host = Meddling(posix().shell)
    host.change = change
    return host


def small_tree(root: Path) -> Found:
    package = root / "eng"
    package.mkdir(parents=True)
    for name in ("a.py", "b.py"):
        (package / name).write_text(f"# {name}\n" * 2000)
    return found_at(root, ("eng",))


@pytest.mark.parametrize("keep", [0, 40, 200, -5])
def test_a_listing_that_was_cut_is_told(store: BlobStore, tmp_path: Path, keep: int) -> None:
    """Half a list would make files absent that are there."""
    host = meddling(lambda _, said: said[:keep])
    (tree,) = look(host, [small_tree(tmp_path / "site")], store)

    assert isinstance(tree, Unreadable)
    assert "cut off" in tree.message


def test_a_host_cannot_claim_what_nobody_knows(store: BlobStore, tmp_path: Path) -> None:
    """That a tree is as it was counts only for the listing that is remembered."""
    host = meddling(lambda _, said: re.sub(rb"(?s)//#\|\d+\|(.*?)\0.*\0", rb"//=|\1\0", said))
    (tree,) = look(host, [small_tree(tmp_path / "site")], store)

    assert isinstance(tree, Unreadable)
    assert "was not asked about" in tree.message


def test_a_file_that_stays_away_is_asked_for_by_itself_and_then_named(store: BlobStore, tmp_path: Path) -> None:
    """A stream that breaks off once costs an exec; one that always does costs the files, and each is named."""
    once = meddling(lambda number, said: said[:70] if number == 2 else said)
    found = small_tree(tmp_path / "site")
    snapshot = seen(once, found, store).capture(Silent())
    never = meddling(lambda number, said: said[:70] if number >= 2 else said)
    lost = seen(never, found, BlobStore(tmp_path / "other")).capture(Silent())

    assert (["eng/a.py", "eng/b.py"], 4) == ([file.path for file in snapshot.files], once.execs)
    assert {"eng/a.py", "eng/b.py"} == {gap.where for gap in lost.unread}


@pytest.mark.parametrize("always", [False, True])
def test_an_archive_of_something_else_gives_nothing(store: BlobStore, tmp_path: Path, always: bool) -> None:
    """A file that was not asked for ends the stream; what was asked for comes by itself, or is named."""

    def change(number: int, said: bytes) -> bytes:
        if number == 3 and always:
            return said[:70]
        if number != 2:
            return said
        at = said.index(b"gzip\n") + 5
        body = zlib.decompress(said[at:], 31)
        header = body[:512].replace(b"./eng/a.py", b"./etc/a.py")
        spaced = header[:148] + b" " * 8 + header[156:]
        header = header[:148] + b"%06o\0 " % sum(spaced) + header[156:]
        deflate = zlib.compressobj(wbits=31)
        return said[:at] + deflate.compress(header + body[512:]) + deflate.flush()

    snapshot = seen(meddling(change), small_tree(tmp_path / "site"), store).capture(Silent())

    assert ([] if always else ["eng/a.py", "eng/b.py"]) == [file.path for file in snapshot.files]
    assert ({"the host sent 'etc/a.py': it was not asked for"} if always else set()) == {
        gap.why for gap in snapshot.unread
    }


def test_a_damaged_memory_is_forgotten(store: BlobStore, tmp_path: Path) -> None:
    """A cache that somebody cut short costs a scan, not an error."""
    found = small_tree(tmp_path / "site")
    first = seen(posix(), found, store).capture(Silent())
    for note in (store.root / "notes").iterdir():
        note.write_bytes(zlib.compress(b"not a memory"))
    second = seen(posix(), found, store).capture(Silent())

    assert first == second
