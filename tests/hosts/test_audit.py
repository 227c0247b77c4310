"""The audit file: what was run stands in it before it runs, and how it ended after."""

import hashlib
import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from recon.errors import Unreachable, Unreadable
from recon.hosts.audit import Audit, Audited, audit_for
from recon.hosts.local import LocalShell
from recon.ports import Reply

ROOT = str(Path(__file__).resolve().parents[2])
WAY = {"user": "me", "transport": "paramiko", "line": "exec /bin/sh -s"}


def lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_command_is_two_lines_that_belong_together(tmp_path: Path) -> None:
    audit = audit_for("me@gpu07:22", tmp_path)
    reply = Audited(LocalShell("gpu07"), audit, WAY).run("printf 'h\\303\\251'; echo no >&2; exit 3", timeout_s=9)
    asked, ended = lines(audit.path)
    script = "printf 'h\\303\\251'; echo no >&2; exit 3"

    assert 3 == reply.status
    assert {
        "event": "asked",
        "host": "gpu07",
        **WAY,
        "bytes_out": len(script),
        "timeout_s": 9,
        "script": script,
        "script_sha256": hashlib.sha256(script.encode()).hexdigest(),
    } == {key: value for key, value in asked.items() if key not in {"time", "command"}}
    assert asked["command"] == ended["command"]
    assert ("ended", 3, 6, "") == tuple(ended[key] for key in ("event", "status", "bytes_in", "error"))


def test_what_runs_is_written_down_before(tmp_path: Path) -> None:
    """A client that is killed meanwhile has said what it did."""
    audit = audit_for("h", tmp_path)
    reply = Audited(LocalShell(), audit, WAY).run(f"cat {audit.path}")

    assert ["asked"] == [json.loads(line)["event"] for line in reply.stdout.splitlines()]


def test_a_script_is_spelled_out_once(tmp_path: Path) -> None:
    audit = audit_for("h", tmp_path)
    shell = Audited(LocalShell(), audit, WAY)
    for script in ("true", "true", "false"):
        shell.run(script)
    asked = [line for line in lines(audit.path) if line["event"] == "asked"]

    assert ["true", None, "false"] == [line.get("script") for line in asked]
    assert asked[0]["script_sha256"] == asked[1]["script_sha256"]


def test_a_stream_counts_what_came(tmp_path: Path) -> None:
    audit = audit_for("h", tmp_path)
    Audited(LocalShell(), audit, WAY).stream("head -c 5000 /dev/zero", lambda _: None, timeout_s=5, cap_bytes=9000)

    assert 5000 == lines(audit.path)[1]["bytes_in"]


def test_a_failure_is_an_end(tmp_path: Path) -> None:
    audit = audit_for("h", tmp_path)
    with pytest.raises(Unreachable):
        Audited(LocalShell(), audit, WAY).run("sleep 9", timeout_s=0.1)
    ended = lines(audit.path)[1]

    assert (None, "unreachable") == (ended["status"], ended["error"])


def test_nobody_else_reads_it_and_hostile_names_stay_in_the_folder(tmp_path: Path) -> None:
    audit = audit_for("../../x y\n", tmp_path)

    assert tmp_path / "audit" == audit.path.parent
    assert (0o600, 0o700) == (
        stat.S_IMODE(audit.path.stat().st_mode),
        stat.S_IMODE(audit.path.parent.stat().st_mode),
    )


def test_what_cannot_be_written_down_is_not_run(tmp_path: Path) -> None:
    audit = audit_for("h", tmp_path)
    audit.close()
    with pytest.raises(Unreadable, match="cannot write"):
        Audited(LocalShell(), audit, WAY).run(f"touch {tmp_path}/ran")

    assert not (tmp_path / "ran").exists()


def test_without_a_folder_there_is_no_audit(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("")

    with pytest.raises(Unreadable, match="audit file"):
        audit_for("h", tmp_path / "state")


def test_a_full_disk_is_one_line_and_nothing_is_run(tmp_path: Path) -> None:
    audit = Audit(Path("audit.jsonl"), os.open("/dev/full", os.O_WRONLY))
    with pytest.raises(Unreadable) as caught:
        Audited(LocalShell(), audit, WAY).run(f"touch {tmp_path}/ran")

    assert "cannot write audit.jsonl: No space left on device" == caught.value.message
    assert "Make room" in caught.value.hint
    assert not (tmp_path / "ran").exists()


LIMITED = """
import resource, signal, sys
from pathlib import Path
from recon.errors import Unreadable
from recon.hosts.audit import Audited, audit_for
from recon.hosts.local import LocalShell

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
audit = audit_for("h", Path(sys.argv[1]))
shell = Audited(LocalShell(), audit, {})
shell.run("true")
room = audit.path.stat().st_size + int(sys.argv[2])
resource.setrlimit(resource.RLIMIT_FSIZE, (room, resource.RLIM_INFINITY))
for script in ("printf answered", "touch ran"):
    try:
        print(shell.run(script).stdout, end=" ")
    except Unreadable:
        print("refused", end=" ")
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
shell.run("touch ran")
"""
"""The disk takes a part of a line, and later there is room again."""


@pytest.mark.parametrize(("room", "said"), [(30, "refused refused "), (300, "answered refused ")])
def test_half_a_line_is_taken_back_and_what_was_answered_is_kept(tmp_path: Path, room: int, said: str) -> None:
    """A write may take a part and say so; the script is spelled out when there is room again."""
    words = [sys.executable, "-c", LIMITED, str(tmp_path), str(room)]
    ended = subprocess.run(words, capture_output=True, text=True, check=True, cwd=tmp_path, env={"PYTHONPATH": ROOT})
    (path,) = (tmp_path / "audit").iterdir()
    written = lines(path)

    assert said == ended.stdout
    assert "touch ran" == written[-2]["script"]
    assert written[-2]["command"] == written[-1]["command"]


def test_what_a_host_answered_last_is_kept_when_the_disk_is_full(tmp_path: Path) -> None:
    """The error of the host itself is not hidden by it, either."""

    class Filling(LocalShell):
        def run(self, script: str, *, timeout_s: float = 30.0) -> Reply:
            os.dup2(os.open("/dev/full", os.O_WRONLY), audit._handle)
            return super().run(script, timeout_s=timeout_s)

    audit = audit_for("h", tmp_path)
    shell = Audited(Filling("gpu07"), audit, WAY)
    answer = shell.run("echo answered").stdout
    audit = audit_for("h", tmp_path)
    with pytest.raises(Unreachable, match="no answer"):
        Audited(Filling("gpu07"), audit, WAY).run("sleep 9", timeout_s=0.1)

    assert "answered\n" == answer


def test_a_file_in_which_nothing_stands_is_taken_away(tmp_path: Path) -> None:
    """Nothing ran: a login failed before."""
    idle, busy = audit_for("a", tmp_path), audit_for("b", tmp_path)
    busy.write(event="asked")
    idle.close()
    busy.close()

    assert [busy.path] == list(busy.path.parent.iterdir())
