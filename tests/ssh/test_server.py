"""The servers of tests are what they claim to be, before anything is said about recon with them."""

import subprocess
import time

import pytest

from tests.ssh.server import Server, Yard, marked

pytestmark = pytest.mark.system("sshd", "ssh", "ssh-keygen")


def ssh(yard: Yard, server: Server, *words: str, **more: list[str]) -> subprocess.CompletedProcess[bytes]:
    config = yard.config(*yard.servers, lines=more)
    words = ("ssh", "-F", str(config), "-o", "BatchMode=yes", server.name, *words)
    return subprocess.run(words, capture_output=True, timeout=20, check=False, stdin=subprocess.DEVNULL)


def test_a_server_runs_commands_and_nothing_is_left_after_it(yard: Yard) -> None:
    server = yard.server(environment={"GREETING": "two words"})
    answer = ssh(yard, server, 'echo "$GREETING"; sleep 60 >/dev/null 2>&1 & exit 3')

    assert (b"two words\n", 3) == (answer.stdout, answer.returncode)
    assert [True] == ["sleep 60" in line for line in server.left().values()]

    server.stop()

    assert {} == dict(marked(server.mark))


@pytest.mark.system("bash")
def test_noise_of_a_login_shell_comes_before_the_answer(yard: Yard) -> None:
    server = yard.server(noise="echo welcome")

    assert [b"welcome", b"hello"] == ssh(yard, server, "echo hello").stdout.split()[-2:]


def test_a_server_is_reached_through_another_one_on_a_slow_line(yard: Yard) -> None:
    bastion, inner = yard.server("bastion"), yard.server("inner")
    started = time.monotonic()
    answer = ssh(
        yard,
        inner,
        "echo inside",
        inner=["ProxyJump bastion"],
        bastion=[f"ProxyCommand {yard.link(bastion, delay_ms=40)}"],
    )

    assert (b"inside\n", 1, 1) == (answer.stdout, bastion.connections, inner.connections)
    assert time.monotonic() - started > 0.4  # ten messages and more, each late


def test_a_host_certificate_is_shown_by_its_server(yard: Yard) -> None:
    authority, key = yard.key("authority"), yard.key("gpu1_host_key")
    certificate = yard.certificate(key, authority, principals="gpu1", host=True)
    server = yard.server(host_certificate=certificate)
    yard.known_hosts.write_text(server.known("gpu1", marker="@cert-authority", key=authority) + "\n")

    assert b"yes\n" == ssh(yard, server, "echo yes", gpu1=["HostKeyAlias gpu1"]).stdout


def test_a_line_that_freezes_says_nothing_more(yard: Yard) -> None:
    server = yard.server()
    config = yard.config(server, lines={"gpu1": [f"ProxyCommand {yard.link(server, cut_after_bytes=30_000)}"]})
    words = ["ssh", "-F", str(config), "gpu1", "head -c 90000 /dev/zero"]
    with pytest.raises(subprocess.TimeoutExpired):
        subprocess.run(words, capture_output=True, timeout=2, check=False, stdin=subprocess.DEVNULL)
