"""Walks of a host that fail, or that are cut: nothing may be called absent for them."""

import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from recon.errors import Unreadable
from recon.ports import Reply, Silent
from recon.records.unknown import Unknown
from recon.sources.remote import RemoteTree, look
from recon.sources.select import DENIED
from recon.sources.store import BlobStore
from tests.sources.shells import Counted, posix
from tests.sources.test_remote import found_at, local, made_tree, seen, settle


@pytest.fixture
def store(tmp_path: Path) -> BlobStore:
    return BlobStore(tmp_path / "cache")


def tools(folder: Path, **bodies: str) -> Counted:
    """The host, with programs of a test's own before its others."""
    folder.mkdir(exist_ok=True)
    for name, body in bodies.items():
        (folder / name).write_text(f"#!/bin/sh\n{body}\n")
        (folder / name).chmod(0o755)
    return posix(PATH=f"{folder}:{os.defpath}")


REAL = f'exec {shutil.which("find")} "$@"'
WALK = "case $* in *//f*) ;; *) " + REAL + ";; esac\n"
"""Other walks than that of files are as they were."""


@pytest.mark.parametrize(
    ("find", "why"),
    [
        (f'{shutil.which("find")} "$@" | sed -z 4q; kill -9 $$', "find ended with status 137"),
        (f'{shutil.which("find")} "$@" | sed -z 4q; exit 1', "find ended with status 1 and did not say why"),
        (f'{shutil.which("find")} "$@" | head -c 200; kill -TERM $$', "find ended with status 143"),
        (f'{shutil.which("find")} "$@"; echo find: out of memory >&2; exit 1', "find said: find: out of memory"),
    ],
)
def test_a_walk_that_failed_half_way_is_no_whole_listing(find: str, why: str, store: BlobStore, tmp_path: Path) -> None:
    """Though every record that came is whole: nothing may be called absent, and nothing is remembered."""
    root = tmp_path / "site"
    (root / "eng").mkdir(parents=True)
    for number in range(9):
        (root / "eng" / f"m{number}.py").write_text("x\n")
    settle()
    host = tools(tmp_path / "bin", find=WALK + find)
    snapshot = seen(host, found_at(root, ("eng",)), store).capture(Silent())
    (tmp_path / "bin" / "find").unlink()
    whole = seen(host, found_at(root, ("eng",)), store).capture(Silent())

    assert [("folder", "eng", f"its listing is not whole: {why}")] == [
        (gap.what, gap.where, gap.why) for gap in snapshot.unread
    ]
    assert (9, ()) == (len(whole.files), whole.unread)


def test_a_script_that_ended_in_the_middle_is_no_whole_listing(store: BlobStore, tmp_path: Path) -> None:
    """The last walks never came: their part is missing behind a whole record."""

    class Cut(Counted):
        def stream(self, script: str, sink: Callable[[bytes], None], *, timeout_s: float, cap_bytes: int) -> Reply:
            heard = bytearray()
            reply = super().stream(script, heard.extend, timeout_s=timeout_s, cap_bytes=cap_bytes)
            sink(re.sub(rb"//c\|.*//\.\|\0", b"", bytes(heard), flags=re.DOTALL))
            return reply

    found = made_tree(tmp_path / "site")
    (tree,) = look(Cut(posix().shell), [found], store)
    assert isinstance(tree, RemoteTree)

    assert {"its listing is not whole: it was cut off"} == {
        gap.why for gap in tree.entries() if isinstance(gap, Unknown) and gap.where == "eng"
    }


@pytest.mark.parametrize(
    ("said", "gap"),
    [
        ("find: './eng/spec': No such file or directory", ("folder", "eng/spec", "No such file or directory")),
        ("find: ./eng/spec: Input/output error", ("folder", "eng/spec", "Input/output error")),
        ("stat: can't stat './eng/m1.py': Permission denied", ("file", "eng/m1.py", DENIED)),
        ("find: './eng/b\\033[2Jad.py': Stale file handle", ("file", "eng/b\\x1b[2Jad.py", "Stale file handle")),
    ],
)
def test_what_a_walk_complains_of_is_named(
    said: str, gap: tuple[str, str, str], store: BlobStore, tmp_path: Path
) -> None:
    """A folder that vanished, a disk that fails: the name and the reason, and the rest as it is."""
    (tmp_path / "site" / "eng").mkdir(parents=True)
    (tmp_path / "site" / "eng" / "a.py").write_text("x\n")
    host = tools(tmp_path / "bin", find=WALK + f"""{shutil.which("find")} "$@"; printf "{said}\\n" >&2; exit 1""")
    snapshot = seen(host, found_at(tmp_path / "site", ("eng",)), store).capture(Silent())

    assert ["eng/a.py"] == [file.path for file in snapshot.files]
    assert [gap] == [(each.what, each.where, each.why) for each in snapshot.unread]


def test_a_host_without_the_programs_is_refused_with_their_names(store: BlobStore, tmp_path: Path) -> None:
    """As BSD and macOS are: their find has no -printf, their stat no -c."""
    (tmp_path / "site" / "eng").mkdir(parents=True)
    (tmp_path / "site" / "eng" / "a.py").write_text("x\n")
    refuses = f"case $* in *-printf*) echo find: -printf: unknown primary >&2; exit 1;; esac\n{REAL}"
    host = tools(tmp_path / "bin", find=refuses, stat="echo stat: illegal option -- c >&2; exit 1")
    (tree,) = look(host, [found_at(tmp_path / "site", ("eng",))], store)

    assert isinstance(tree, Unreadable)
    assert "the host has no find -printf or stat -c, so that nothing of it can be listed" == tree.message
    assert "BSD and macOS" in tree.hint


def test_a_digest_that_could_not_be_made_names_no_listing(store: BlobStore, tmp_path: Path) -> None:
    """Else every later look would find the tree unchanged."""
    found = made_tree(tmp_path / "site")
    settle()
    host = tools(tmp_path / "bin", sha256sum="cat >/dev/null; exit 1")
    seen(host, found, store).capture(Silent())
    (Path(found.root) / "eng" / "spec.py").write_text("changed = True\n")
    tree = seen(host, found, store)

    assert not tree.unchanged
    assert local(found, BlobStore(tmp_path / "other")) == tree.capture(Silent())
