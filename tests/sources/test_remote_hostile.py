"""Hosts that lie about what they hold: nothing of it is taken for another's, and nothing of it is expensive."""

import re
import shutil
import struct
import zlib
from pathlib import Path

import pytest

from recon.errors import Unreadable
from recon.ports import Silent
from recon.sources import remote_ranges
from recon.sources.elf import TOO_LARGE
from recon.sources.remote import look
from recon.sources.store import BlobStore, digest_of
from tests.sources.made import library
from tests.sources.shells import Counted, busybox, posix
from tests.sources.test_remote import SHELLS, found_at, local, meddling, seen, settle, small_tree


@pytest.fixture(params=SHELLS)
def host(request: pytest.FixtureRequest, tmp_path: Path) -> Counted:
    return posix() if request.param == "posix" else busybox(tmp_path / "applets")


@pytest.fixture
def store(tmp_path: Path) -> BlobStore:
    return BlobStore(tmp_path / "cache")


def test_a_listing_that_claims_the_digest_it_was_offered_is_refused(store: BlobStore, tmp_path: Path) -> None:
    """The script told it: files of another kind under a known digest would be taken for the known ones ever after."""
    found = small_tree(tmp_path / "site")
    settle()
    first = seen(posix(), found, store).capture(Silent())
    host = meddling(lambda _, said: said)

    def claimed(_: int, said: bytes) -> bytes:
        known = re.search(r"tree 0 \S+ (\S+)", host.scripts[-1])
        assert known is not None
        return re.sub(rb"//#\|(\d+)\|[^\0]*", lambda head: b"//#|" + head[1] + b"|" + known[1].encode(), said)

    (tmp_path / "site" / "eng" / "a.py").write_text("planted = True\n")
    host.change = claimed
    (tree,) = look(host, [found], store)
    honest = seen(posix(), found, store)

    assert isinstance(tree, Unreadable)
    assert "says that it is the one that is known" in tree.message
    assert first.digest != honest.capture(Silent()).digest


def test_a_digest_is_made_again_of_what_was_listed(store: BlobStore, tmp_path: Path) -> None:
    """One that names something else is forgotten: the next scan lists anew."""
    found = small_tree(tmp_path / "site")
    settle()
    other = b"sha256sum:" + b"0" * 64 + b"::-"
    host = meddling(lambda _, said: re.sub(rb"(//#\|\d+\|)[^\0]*", rb"\1" + other, said))
    seen(host, found, store).capture(Silent())
    again = meddling(lambda _, said: said)
    tree = seen(again, found, store)

    assert not tree.unchanged
    assert "0" * 64 not in "".join(again.scripts)


def test_a_host_of_which_nothing_is_known_cannot_be_unchanged(store: BlobStore, tmp_path: Path) -> None:
    """Not even under the digest of nothing: no file of it would be read."""
    host = meddling(lambda _, said: re.sub(rb"(?s)//#\|.*\0", b"//=|\\0", said).replace(b"\\0", b"\0"))
    (tree,) = look(host, [small_tree(tmp_path / "site")], store)

    assert isinstance(tree, Unreadable)
    assert "was not asked about" in tree.message


@pytest.mark.parametrize("tool", ["sha256sum", "md5sum", ""])
def test_a_tree_that_did_not_change_costs_one_exec_where_a_digest_can_be_made(
    store: BlobStore, tmp_path: Path, tool: str
) -> None:
    """Ours is that of the host's tool; without one all is listed again, and no file is sent."""
    (tmp_path / "bin").mkdir()
    for name in f"sh awk date find tr tar gzip head readlink {tool}".split():
        (tmp_path / "bin" / name).symlink_to(str(shutil.which(name)))
    host = posix(PATH=str(tmp_path / "bin"))
    found = small_tree(tmp_path / "site")
    settle()
    first = seen(host, found, store).capture(Silent())
    host.reset()
    tree = seen(host, found, store)

    assert first == tree.capture(Silent())
    assert (1, bool(tool)) == (host.execs, tree.unchanged)


def test_what_is_brought_is_named_by_the_digest_of_its_bytes(store: BlobStore, tmp_path: Path) -> None:
    """That is made here, whatever a host says, and made again whenever they are read."""
    snapshot = seen(posix(), small_tree(tmp_path / "site"), store).capture(Silent())
    one, two = (store.root / "blobs" / file.digest[:2] / file.digest[2:] for file in snapshot.files)

    assert [file.digest for file in snapshot.files] == [
        digest_of((tmp_path / "site" / file.path).read_bytes()) for file in snapshot.files
    ]
    one.write_bytes(two.read_bytes())
    with pytest.raises(Unreadable, match="damaged"):
        store.get(snapshot.files[0].digest)


def overlapping(sections: int, size: int) -> bytes:
    """The head of a library whose section headers all name one stretch of it as symbols."""
    table = struct.pack("<IIQQQQIIQQ", 0, 11, 0, 0, 1 << 20, size, 0, 0, 8, 24) * sections
    head = b"\x7fELF\x02\x01\x01" + bytes(9)
    return head + struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 0, 64, 0, 64, 0, 0, 64, sections, sections - 1) + table


def test_a_library_with_tables_without_measure_costs_little_and_spoils_no_other(
    host: Counted, store: BlobStore, tmp_path: Path
) -> None:
    """A sparse file of 200 overlapping tables would be 12 GB; it is named, here as there, and not asked for again."""
    package = tmp_path / "site" / "eng"
    package.mkdir(parents=True)
    (package / "plain.so").write_bytes(library(defined=("f",)).data)
    with (package / "a.so").open("wb") as file:
        file.write(overlapping(200, 60 << 20))
        file.truncate(64 << 20)
    found = found_at(tmp_path / "site", ("eng",))
    settle()
    there = seen(host, found, store).capture(Silent())
    received = host.received
    host.reset()
    again = seen(host, found, store).capture(Silent())

    assert [("f",)] == [each.symbols for each in there.libraries]
    assert [("eng/a.so", TOO_LARGE)] == [(gap.where, gap.why) for gap in there.unread]
    assert received < 2 << 20
    assert (there, 1) == (again, host.execs)
    assert there.unread == local(found, BlobStore(tmp_path / "other")).unread


def test_libraries_that_are_more_than_one_exec_may_send_come_one_by_one(
    store: BlobStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "site" / "eng"
    package.mkdir(parents=True)
    for number in range(3):
        (package / f"l{number}.so").write_bytes(library(defined=(f"f{number}",), text=(b"x" * 9000,)).data)
    monkeypatch.setattr(remote_ranges, "PIECES_BYTES", 60_000)
    snapshot = seen(posix(), found_at(tmp_path / "site", ("eng",)), store).capture(Silent())

    assert [("f0",), ("f1",), ("f2",)] == [each.symbols for each in snapshot.libraries]


def test_numbers_of_absurd_length_are_noise_in_frames(store: BlobStore, tmp_path: Path) -> None:
    """Of files and of pieces of libraries: whatever else came stands."""
    found = small_tree(tmp_path / "site")
    (tmp_path / "site" / "eng" / "l.so").write_bytes(library(defined=("f",)).data)
    liar = meddling(lambda _, said: said)
    nines = b"9" * 5000

    def change(_: int, said: bytes) -> bytes:
        nonce = re.search(r"\nnonce=(\w+)\n", liar.scripts[-1])
        assert nonce is not None
        mark = f"\n{nonce[1]} ".encode()
        head, packed, body = said.partition(b" gzip\n")
        plain = zlib.decompress(body, 31) if packed else said
        last = plain.rfind(mark)
        lies = mark + nines + b" ok\nx" + mark + nines + b" " + nines + b"\nx" + mark + b"0 " + nines + b"\nx"
        return (head + b" cat\n" if packed else b"") + plain[:last] + lies + plain[last:]

    liar.change = change
    snapshot = seen(liar, found, store).capture(Silent())

    assert ["eng/a.py", "eng/b.py"] == [file.path for file in snapshot.files]
    assert [("eng/l.so", True)] == [(gap.where, "could not be read" in gap.why) for gap in snapshot.unread]
