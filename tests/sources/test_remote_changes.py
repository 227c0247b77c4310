"""Files that change on a host between the listing and the reading of them: each is named, and nothing else is lost."""

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from recon.ports import Reply, Silent
from recon.sources.remote import CHANGED, RemoteTree, look
from recon.sources.store import BlobStore
from tests.sources.shells import Counted, busybox, posix
from tests.sources.test_remote import found_at

SHELLS = ["posix", pytest.param("busybox", marks=pytest.mark.system("busybox"))]
READS, VERIFIES = 2, 3
"""Which exec does what, where the archive holds all that was asked for."""


@dataclass
class Busy(Counted):
    """A host on which something happens before an exec."""

    events: dict[int, Callable[[], object]] = field(default_factory=dict)

    def stream(self, script: str, sink: Callable[[bytes], None], *, timeout_s: float, cap_bytes: int) -> Reply:
        self.events.pop(self.execs + 1, lambda: None)()
        return super().stream(script, sink, timeout_s=timeout_s, cap_bytes=cap_bytes)


@pytest.fixture(params=SHELLS)
def host(request: pytest.FixtureRequest, tmp_path: Path) -> Busy:
    return Busy((posix() if request.param == "posix" else busybox(tmp_path / "applets")).shell)


def appended(file: Path) -> None:
    with file.open("a") as opened:
        opened.write("more = True\n")


def edited(file: Path) -> None:
    """As long as before, and with its times put back."""
    state = file.stat()
    file.write_text(file.read_text().replace("one", "two"))
    os.utime(file, ns=(state.st_atime_ns, state.st_mtime_ns))


def cut(file: Path) -> None:
    file.write_text("one")


def enormous(file: Path) -> None:
    with file.open("r+b") as opened:
        opened.truncate(9 << 20)


def removed(file: Path) -> None:
    file.unlink()


def link(file: Path) -> None:
    file.unlink()
    file.symlink_to("/etc/passwd")


def folder(file: Path) -> None:
    file.unlink()
    file.mkdir()
    (file / "x.py").write_text("inside\n")


def pipe(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


def linked_above(file: Path) -> None:
    """The folder above is another one now, which holds a file of that name."""
    elsewhere = file.parents[2] / "elsewhere"
    shutil.copytree(file.parent, elsewhere)
    (elsewhere / file.name).write_text("outside\n")
    shutil.rmtree(file.parent)
    file.parent.symlink_to(elsewhere)


GONE = "No such file or directory"
CHANGES = [
    (appended, {CHANGED}),
    (edited, {CHANGED}),
    (cut, {CHANGED}),
    (enormous, {CHANGED, f"too large: more than {8 << 20} bytes"}),
    (removed, {GONE}),
    (link, {"it became a link while it was read"}),
    (folder, {"it is not a regular file"}),
    (pipe, {"it is not a regular file"}),
    (linked_above, {CHANGED}),
]


def tree(root: Path) -> Path:
    """Two files; the one to be changed."""
    (root / "eng/spec").mkdir(parents=True)
    (root / "eng/a.py").write_text("one = 1\n" * 500)
    (root / "eng/spec/b.py").write_text("one = 1\n" * 500)
    return root / "eng/spec/b.py"


def seen(host: Busy, root: Path, store: BlobStore) -> RemoteTree:
    (found,) = look(host, [found_at(root, ("eng",))], store)
    assert isinstance(found, RemoteTree), found
    return found


@pytest.mark.parametrize(("change", "why"), CHANGES, ids=[change.__name__ for change, _ in CHANGES])
def test_what_changes_between_listing_and_reading_is_named(
    host: Busy, tmp_path: Path, change: Callable[[Path], None], why: set[str]
) -> None:
    """With the reason, and the other file is there; the next scan has what there is then."""
    file = tree(tmp_path / "site")
    host.events[READS] = lambda: change(file)
    store = BlobStore(tmp_path / "cache")
    snapshot = seen(host, tmp_path / "site", store).capture(Silent())

    assert ["eng/a.py"] == [each.path for each in snapshot.files]
    assert ["eng/spec/b.py"] == [gap.where for gap in snapshot.unread]
    assert {gap.why for gap in snapshot.unread} <= why

    again = seen(host, tmp_path / "site", store).capture(Silent())
    assert "eng/a.py" in {each.path for each in again.files}
    assert CHANGED not in {gap.why for gap in again.unread}


def test_what_changes_after_it_was_sent_is_named_too(host: Busy, tmp_path: Path) -> None:
    """Until the host has said that all is as it was listed, nobody knows what came."""
    file = tree(tmp_path / "site")
    host.events[VERIFIES] = lambda: edited(file)
    snapshot = seen(host, tmp_path / "site", BlobStore(tmp_path / "cache")).capture(Silent())

    assert (["eng/a.py"], [CHANGED]) == ([each.path for each in snapshot.files], [gap.why for gap in snapshot.unread])


@pytest.mark.parametrize("when", [READS, VERIFIES])
def test_a_package_that_goes_away_gives_nothing_and_says_so(host: Busy, tmp_path: Path, when: int) -> None:
    """As when it is upgraded in the middle of a scan."""
    file = tree(tmp_path / "site")
    host.events[when] = lambda: shutil.rmtree(file.parents[1])
    snapshot = seen(host, tmp_path / "site", BlobStore(tmp_path / "cache")).capture(Silent())

    assert () == snapshot.files
    assert {"eng/a.py", "eng/spec/b.py"} == {gap.where for gap in snapshot.unread}


def test_files_that_appear_are_seen_by_the_next_scan(host: Busy, tmp_path: Path) -> None:
    """They spoil nothing of this one."""
    file = tree(tmp_path / "site")
    host.events[READS] = lambda: file.with_name("new.py").write_text("new = 1\n")
    store = BlobStore(tmp_path / "cache")
    first = seen(host, tmp_path / "site", store).capture(Silent())
    second = seen(host, tmp_path / "site", store).capture(Silent())

    assert (2, 3, ()) == (len(first.files), len(second.files), first.unread)
