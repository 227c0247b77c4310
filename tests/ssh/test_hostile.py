"""Hosts that lie, and hosts that change while they are read: over a real connection, up to the verdicts."""

import io
import tarfile
from collections.abc import Iterable
from pathlib import Path

import pytest

from recon.records.run import Run
from recon.records.verdict import Standing
from recon.sources.remote import CHANGED
from tests.pipeline.engines import WALK
from tests.pipeline.test_hosts import environment
from tests.ssh.client import Client, home
from tests.ssh.server import Yard

pytestmark = pytest.mark.system("sshd", "ssh", "ssh-keygen")

PLANTED = "root:PLANTED:0:0"
CAPABILITY = "accept.tree.greedy"
"""What `vllm/walk.py` has, and no other file."""


def with_tar(yard: Yard, tmp_path: Path, script: str) -> None:
    """A host whose tar is a script of the test's own."""
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "tar").write_text(f"#!/bin/sh\n{script}\n")
    (tools / "tar").chmod(0o755)
    path = f"{tools}:/usr/bin:/bin"
    yard.server(shell=f'PATH={path} exec sh -c "$SSH_ORIGINAL_COMMAND"', environment=home(tmp_path / "home"))


def archive(*members: tuple[str, bytes, bytes, str], pax: Iterable[tuple[str, str]] = ()) -> bytes:
    """Of (name, type, content, where a link leads)."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for name, kind, content, leads in members:
            info = tarfile.TarInfo(name)
            info.size, info.type, info.linkname, info.pax_headers = len(content), kind, leads, dict(pax)
            tar.addfile(info, io.BytesIO(content))
    return file.getvalue()


def lie(name: str, kind: bytes = tarfile.REGTYPE, content: bytes = PLANTED.encode(), leads: str = "") -> bytes:
    return archive((name, kind, content if kind == tarfile.REGTYPE else b"", leads))


def long_size() -> bytes:
    """A header that promises eight gigabytes and an end."""
    data = bytearray(lie("./vllm/walk.py"))
    data[124:136] = b"77777777777\0"
    data[148:156] = b"%06o\0 " % (sum(data[:148]) + sum(data[156:512]) + 8 * 32)
    return bytes(data)


FORGED = {
    "an absolute name": lie("/etc/passwd"),
    "a name that climbs": lie("../../../etc/passwd"),
    "a name that climbs from a file": lie("./vllm/walk.py/../../../../etc/passwd"),
    "a name with a line break": lie("./vllm/walk.py\n.py"),
    "a name with an escape": lie("./vllm/\x1b]0;PLANTED\x07.py"),
    "a name that nobody asked for": lie("./vllm/extra.py"),
    "a symbolic link": lie("./vllm/walk.py", tarfile.SYMTYPE, leads="/etc/passwd"),
    "a hard link": lie("./vllm/walk.py", tarfile.LNKTYPE, leads="/etc/passwd"),
    "a device": lie("./vllm/walk.py", tarfile.CHRTYPE),
    "a pipe": lie("./vllm/walk.py", tarfile.FIFOTYPE),
    "a sparse file": lie("./vllm/walk.py", b"S"),
    "a name twice": archive(
        *(("./vllm/walk.py", tarfile.REGTYPE, content.encode(), "") for content in (WALK, PLANTED))
    ),
    "more than was listed": lie("./vllm/walk.py", content=PLANTED.encode() * 100_000),
    "a size that is a lie": long_size(),
    "a size in an extended header": archive(
        ("./vllm/walk.py", tarfile.REGTYPE, b"", ""), pax=[("size", "999999999999999")]
    ),
    "a name in an extended header": archive(
        ("./vllm/walk.py", tarfile.REGTYPE, PLANTED.encode(), ""), pax=[("path", "/etc/cron.d/x")]
    ),
    "an extended header without end": archive(
        ("./vllm/walk.py", tarfile.REGTYPE, b"", ""), pax=[("comment", "x" * 100_000)]
    ),
    "no archive": b"\x1f\x8b" + b"PLANTED" * 1000,
    "nothing": b"",
}


def planted(run: Run, client: Client) -> list[str]:
    """Where anything of a forged archive is to be found: what is kept here, outside of blobs, and what is said."""
    kept = [path for path in client.folder.rglob("*") if path.is_file() and b"PLANTED" in path.read_bytes()]
    return [str(path) for path in kept] + ["run"] * ("PLANTED" in repr(run))


@pytest.mark.parametrize("forged", FORGED.values(), ids=FORGED)
def test_a_forged_archive_costs_time_and_nothing_else(
    yard: Yard, client: Client, tmp_path: Path, forged: bytes
) -> None:
    """Nothing of it is kept, no file is written by its name, and what was asked for comes another way."""
    environment(tmp_path / "home", {"vllm/walk.py": WALK})
    (tmp_path / "forged").write_bytes(forged)
    with_tar(yard, tmp_path, f"exec cat {tmp_path}/forged")
    (install,) = client.scan("gpu1").installs
    standing = {each.capability: each.standing for each in install.verdicts}

    assert Standing.PRESENT is standing[CAPABILITY] or Standing.PARTIAL is standing[CAPABILITY]
    assert not list(client.folder.rglob("passwd*"))
    assert not list(client.folder.rglob("extra.py*"))


def test_a_forged_file_is_not_kept_as_another(yard: Yard, client: Client, tmp_path: Path) -> None:
    """A body that comes under a wrong name is nowhere."""
    environment(tmp_path / "home", {"vllm/walk.py": WALK})
    (tmp_path / "forged").write_bytes(FORGED["a name that nobody asked for"])
    with_tar(yard, tmp_path, f"exec cat {tmp_path}/forged")
    run = client.scan("gpu1")

    assert [] == planted(run, client)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ("touch {file}", CHANGED),
        (": > {file}", CHANGED),
        ("rm -f {file}", "No such file or directory"),
        ("ln -sf /etc/passwd {file}", "it became a link while it was read"),
        ("rm -f {file}; mkdir -p {file}", "it is not a regular file"),
    ],
)
@pytest.mark.parametrize("transport", ["paramiko", "openssh"])
def test_a_file_that_changes_in_the_middle_of_a_scan_is_named_and_no_absence_rests_on_it(
    yard: Yard, client: Client, tmp_path: Path, change: str, why: str, transport: str
) -> None:
    """Where the file might hold what is looked for, nobody can say that it is not there.

    The scan's own limit keeps the tar of this host from writing a byte, but not from all that needs none.
    """
    site = environment(tmp_path / "home", {"vllm/walk.py": WALK})
    with_tar(yard, tmp_path, f'{change.format(file=site / "vllm/walk.py")}\nexec /usr/bin/tar "$@"')
    run = client.scan("gpu1", transport=transport)
    (install,) = run.installs
    verdict = next(each for each in install.verdicts if each.capability == CAPABILITY)

    assert {("vllm/walk.py", why)} == {(gap.where, gap.why) for gap in verdict.searched.unread}
    assert Standing.UNKNOWN is verdict.standing
