"""`recon doctor --host`: the way to a host and the host itself, against real servers."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.ssh.server import HERE, Yard

pytestmark = pytest.mark.system("sshd", "ssh", "ssh-keygen")


def doctor(config: Path, host: str, *more: str) -> tuple[int, list[dict[str, str]]]:
    """The exit code, and the checks that are not about this side."""
    words = [
        sys.executable,
        "-m",
        "recon",
        "doctor",
        "--batch",
        "--json",
        "--ssh-config",
        str(config),
        "--host",
        host,
        *more,
    ]
    ended = subprocess.run(words, check=False, capture_output=True, text=True, timeout=120)
    return ended.returncode, [each for each in json.loads(ended.stdout)["checks"] if each["where"] != "here"]


def test_a_host_behind_a_gate_is_looked_at(yard: Yard) -> None:
    """Each hop with its address, its keys and its line of known hosts; then what the host has."""
    gate, gpu = yard.server("gate"), yard.server("gpu07")
    code, said = doctor(yard.config(gate, gpu, lines={"gpu07": ["ProxyJump gate"]}), "gpu07")
    about = {(each["where"], each["what"]): each for each in said}

    assert f"{yard.user}@{HERE} port {gate.port}" == about["gate", "address"]["detail"]
    assert f"{yard.user}@{HERE} port {gpu.port}, through gate" == about["gpu07", "address"]["detail"]
    assert ["ok", "ok"] == [about[host, "known host"]["standing"] for host in ("gate", "gpu07")]
    assert f"{yard.known_hosts}:2" in about["gpu07", "known host"]["detail"]
    assert str(yard.client_key) in about["gpu07", "offers"]["detail"]
    assert {"standing": "ok", "detail": "by paramiko"}.items() <= about["gpu07", "login"].items()
    assert {"machine", "GPU", "C compiler", "programs"} <= {what for where, what in about if where == "gpu07"}
    assert (0, []) == (code, [each for each in said if each["standing"] == "missing"])


@pytest.mark.parametrize("transport", ["paramiko", "openssh"])
def test_a_host_that_starts_no_sh_is_missing(yard: Yard, transport: str) -> None:
    """It lets us in, and no scan can work there."""
    server = yard.server("gpu07", shell="nologin")
    code, said = doctor(yard.config(server), "gpu07", "--transport", transport)

    assert (3, ["login: login_shell"]) == (code, [each["what"] for each in said if each["standing"] == "missing"])
    assert "no login shell" in said[-1]["detail"]
    assert "login" not in [each["what"] for each in said]


def test_a_host_without_programs_that_scans_need_is_missing_them(yard: Yard, tmp_path: Path) -> None:
    """With what to do about it."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("sh", "cat", "head", "tr", "sed", "awk", "grep", "sort", "uniq", "uname", "find", "dd", "sleep"):
        (tools / name).symlink_to(str(shutil.which(name)))
    server = yard.server("gpu07", environment={"PATH": str(tools)}, shell='exec /bin/sh -c "$SSH_ORIGINAL_COMMAND"')
    code, said = doctor(yard.config(server), "gpu07")
    about = [each for each in said if each["what"] == "programs"]

    assert 3 == code
    assert ("missing", "no readlink, tail, od") == (about[0]["standing"], about[0]["detail"])
    assert {"no sha256sum", "no tar", "no gzip"} <= {each["detail"] for each in about}


def test_an_unknown_host_is_missing_and_nothing_is_asked_of_it(yard: Yard) -> None:
    """The reason is the one that a scan would give, and no key is added."""
    server = yard.server("gpu07")
    yard.known_hosts.write_text("# nobody\n")
    code, said = doctor(yard.config(server), "gpu07")
    about = {each["what"]: each for each in said}

    assert 3 == code
    assert "missing" == about["known host"]["standing"]
    assert ("missing", True) == (
        about["login: host_key unknown"]["standing"],
        "not a known host" in about["login: host_key unknown"]["detail"],
    )
    assert "machine" not in about
    assert "# nobody\n" == yard.known_hosts.read_text()


def test_a_configuration_that_ssh_refuses_is_said(yard: Yard) -> None:
    """With the file and the line."""
    config = yard.folder / "config"
    config.write_text("Bogus yes\n")
    code, said = doctor(config, "gpu07")

    assert (3, ["login: ssh_config"]) == (code, [each["what"] for each in said])
    assert "line 1" in said[0]["detail"]
    assert f"Try: ssh -G -F {config} gpu07" == said[0]["hint"]
