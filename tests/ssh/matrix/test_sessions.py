"""What hosts and lines do to a session: shells, noise, limits of the server, silence, cuts."""

import os
import threading
import time
from pathlib import Path

import pytest

from recon.errors import ReconError, TimedOut, Unreachable
from recon.hosts.connect import Options, connect
from recon.hosts.target import parse
from tests.pipeline.test_hosts import environment
from tests.ssh.client import Client, home, port
from tests.ssh.server import Yard, free_port

pytestmark = [pytest.mark.system("sshd", "ssh", "ssh-keygen"), pytest.mark.matrix, pytest.mark.slow]


@pytest.mark.system("fish", "tcsh", "busybox", "bash", "dash")
@pytest.mark.parametrize("login", ["bash", "dash", "busybox", "fish", "tcsh"])
def test_an_account_with_any_login_shell_is_scanned(yard: Yard, client: Client, tmp_path: Path, login: str) -> None:
    environment(tmp_path / "home")
    yard.server(shell=login, environment=home(tmp_path / "home"))

    assert ["9.8.7"] == [each.version for each in client.scan("gpu1").installs]


@pytest.mark.parametrize(("login", "says"), [("nologin", "not available"), ("rbash", "restricted")])
def test_an_account_that_starts_no_sh_is_told_apart(yard: Yard, client: Client, login: str, says: str) -> None:
    yard.server(shell=login)

    with pytest.raises(ReconError, match=says) as raised:
        client.scan("gpu1")
    assert "login_shell" == raised.value.kind


def test_a_forced_command_that_is_none_of_ours_is_told(yard: Yard, client: Client) -> None:
    yard.server(shell="echo Welcome to the backup service; exit 0")

    with pytest.raises(ReconError, match="backup service"):
        client.scan("gpu1")


def test_noise_of_start_up_files_is_no_answer(yard: Yard, client: Client, tmp_path: Path) -> None:
    environment(tmp_path / "home")
    noise = 'printf "\\033[1mWelcome!\\033[0m\\nplatform Nonsense\\n"; echo "disk full" >&2; head -c 100000 /dev/zero\n'
    yard.server(noise=noise, environment=home(tmp_path / "home"))
    run = client.scan("gpu1")

    assert ["9.8.7"] == [each.version for each in run.installs]
    assert "Nonsense" not in run.hosts[0].platform
    assert ("before its answers it printed '?[1mWelcome!?[0m'",) == run.hosts[0].notes


@pytest.mark.parametrize("transport", ["paramiko", "openssh"])
def test_a_host_that_is_too_slow_for_its_time_is_told_that_time(yard: Yard, client: Client, transport: str) -> None:
    """Not what was left of it when the last script began."""
    yard.server(shell='sleep 9; exec sh -c "$SSH_ORIGINAL_COMMAND"')
    with pytest.raises(TimedOut) as late:
        client.scan("gpu1", transport=transport, budget_s=2.0)

    assert "gpu1: not done within 2 s" == late.value.message
    assert "--host-timeout" in late.value.hint


@pytest.mark.parametrize("transport", ["paramiko", "openssh"])
def test_one_session_at_a_time_is_enough(yard: Yard, client: Client, tmp_path: Path, transport: str) -> None:
    environment(tmp_path / "home")
    yard.server(lines=["MaxSessions 1"], environment=home(tmp_path / "home"))

    assert ["9.8.7"] == [each.version for each in client.scan("gpu1", transport=transport).installs]


def test_a_host_that_takes_few_handshakes_serves_many_scans(yard: Yard, client: Client) -> None:
    """MaxStartups is waited out with jitter, and is no error of the banner."""
    server = yard.server(lines=["MaxStartups 4:50:8"])
    options = Options(config=client.config(), batch=True)
    answers: list[str] = []

    def ask() -> None:
        with connect(parse("gpu1"), options) as opened:
            answers.append(opened.run('echo "$SSH_CONNECTION"').stdout.split()[-1])

    threads = [threading.Thread(target=ask) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    assert [port(server)] * 12 == answers


def test_both_streams_may_be_large(yard: Yard, client: Client) -> None:
    yard.server()
    started = time.monotonic()
    with client.shell() as shell:
        reply = shell.run("head -c 6000000 /dev/zero | tr '\\0' e >&2; head -c 6000000 /dev/zero | tr '\\0' o")

    assert 6_000_000 == len(reply.stdout)
    assert time.monotonic() - started < 15


def test_a_script_that_takes_too_long_is_ended_on_the_host(yard: Yard, client: Client) -> None:
    server = yard.server()
    started = time.monotonic()
    with client.shell() as shell, pytest.raises(Unreachable):
        shell.run("sleep 60", timeout_s=2)

    assert time.monotonic() - started < 8
    assert {} == server.left_after(10)


@pytest.mark.parametrize("transport", ["paramiko", "openssh"])
def test_a_peer_that_falls_silent_is_noticed(yard: Yard, client: Client, transport: str) -> None:
    """The configuration says after how long."""
    server = yard.server()
    lines = "Host gpu1\n  ServerAliveInterval 1\n  ServerAliveCountMax 2\n"
    with client.shell(before=lines, transport=transport) as shell:
        threading.Timer(0.5, server.freeze).start()
        started = time.monotonic()
        with pytest.raises(Unreachable):
            shell.run("sleep 50", timeout_s=50)
    server.thaw()

    assert time.monotonic() - started < 15


def test_a_slow_line_is_slow_and_no_more(yard: Yard, client: Client, tmp_path: Path) -> None:
    environment(tmp_path / "home")
    yard.server(environment=home(tmp_path / "home"))
    run = client.scan("gpu1", before=f"Host gpu1\n  ProxyCommand {yard.link(delay_ms=80, bytes_per_s=200_000)}\n")

    assert ["9.8.7"] == [each.version for each in run.installs]


def test_a_line_that_dies_in_a_transfer_is_an_error_in_words(yard: Yard, client: Client, tmp_path: Path) -> None:
    site = environment(tmp_path / "home")
    (site / "vllm/large.py").write_text(f"# {os.urandom(600_000).hex()}\n")
    server = yard.server(environment=home(tmp_path / "home"))
    lines = f"Host gpu1\n  ProxyCommand {yard.link(cut_after_bytes=60_000, cut='close')}\n"
    with pytest.raises(Unreachable):
        client.scan("gpu1", before=lines)

    assert {} == server.left_after(10)


def test_no_sftp_is_needed(yard: Yard, client: Client, tmp_path: Path) -> None:
    environment(tmp_path / "home")
    server = yard.server(lines=["Subsystem sftp /bin/false"], environment=home(tmp_path / "home"))

    assert 1 == len(client.scan("gpu1").installs)
    assert "subsystem" not in server.log


def test_a_closed_port_is_said_at_once(yard: Yard, client: Client) -> None:
    number = free_port()
    started = time.monotonic()
    with pytest.raises(Unreachable, match="refuses"):
        client.answer(f"127.0.0.1:{number}")

    assert time.monotonic() - started < 8


def test_a_server_that_never_speaks_is_late(yard: Yard, client: Client) -> None:
    yard.server()
    started = time.monotonic()
    with pytest.raises(ReconError) as raised:
        client.answer(before=f"Host gpu1\n  ProxyCommand {yard.link(hold_banner_s=60)}\n", connect_timeout_s=2.0)

    assert raised.value.kind in {"timeout", "unreachable"}
    assert time.monotonic() - started < 30


def test_a_dead_jump_host_is_named(yard: Yard, client: Client) -> None:
    yard.server("inner")
    lines = f"Host bastion\n  HostName 127.0.0.1\n  Port {free_port()}\nHost inner\n  ProxyJump bastion\n"
    with pytest.raises(Unreachable, match="bastion"):
        client.answer("inner", lines)


def test_a_proxy_command_that_fails_is_told_apart_from_a_bad_banner(yard: Yard, client: Client) -> None:
    yard.server()
    lines = "Host gpu1\n  ProxyCommand sh -c 'echo no such gateway >&2; exit 7'\n"
    with pytest.raises(Unreachable, match=r"no such gateway|ProxyCommand"):
        client.answer(before=lines)
