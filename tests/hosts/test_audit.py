"""The audit file: what was run stands in it before it runs, and how it ended after."""

import hashlib
import json
import stat
from pathlib import Path

import pytest

from recon.errors import Unreachable, Unreadable
from recon.hosts.audit import Audited, audit_for
from recon.hosts.local import LocalShell

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
