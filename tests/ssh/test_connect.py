"""Ways to a host: what leads there, what does not, and what people are told about it."""

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Literal

import pytest

from recon.errors import (
    Auth,
    HostCertificateRefused,
    HostKey,
    HostKeyChanged,
    HostKeyRevoked,
    HostKeyUnknown,
    LoginShell,
    ReconError,
    TimedOut,
    Unreachable,
)
from recon.hosts import dial, proxy
from recon.hosts.connect import Options, connect
from recon.hosts.dial import Manner, dialled
from recon.hosts.effective import route
from recon.hosts.shell import SshShell
from recon.hosts.target import parse
from tests.ssh.asking import Asking, asking
from tests.ssh.server import HERE, Server, Yard, free_port

pytestmark = pytest.mark.system("sshd", "ssh", "ssh-keygen")

Way = Literal["auto", "paramiko", "openssh"]
BOTH = pytest.mark.parametrize("way", ["paramiko", "openssh"])


@contextlib.contextmanager
def shell(
    yard: Yard, name: str, way: Way = "paramiko", accept_new: bool = False, **lines: Sequence[str]
) -> Iterator[SshShell]:
    config = yard.config(*yard.servers, lines=lines)
    options = Options(transport=way, config=config, batch=True, connect_timeout_s=3, accept_new=accept_new)
    with connect(parse(name), options) as opened:
        yield opened


def refusal(yard: Yard, name: str, way: Way = "paramiko", **lines: Sequence[str]) -> ReconError:
    """The error that a host ends in; ssh's come with the first script."""
    with pytest.raises(ReconError) as caught, shell(yard, name, way, accept_new=False, **lines) as host:
        host.run("true")
    return caught.value


@BOTH
def test_a_port_where_nobody_listens_refuses(yard: Yard, way: Way) -> None:
    error = refusal(yard, "gone", way, gone=[f"HostName {HERE}", f"Port {free_port()}"])

    assert ("unreachable", True) == (error.kind, "refuse" in error.message)
    assert "sshd" in error.hint


def test_a_name_that_nobody_knows_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: object) -> object:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    with pytest.raises(Unreachable, match="there is no host called 'gpu99'"):
        proxy.connected("gpu99", "gpu99", 22, timeout_s=1, family="any", alive_s=60)


@contextlib.contextmanager
def listener(banner: bytes, *, stays: bool = True) -> Iterator[int]:
    """Something on a port that says one thing, and then nothing or good-bye."""
    with socket.create_server((HERE, 0)) as server:
        held: list[socket.socket] = []

        def serve() -> None:
            with contextlib.suppress(OSError):
                while True:
                    guest, _ = server.accept()
                    held.append(guest)
                    guest.sendall(banner)
                    if not stays:
                        guest.close()

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        try:
            yield server.getsockname()[1]
        finally:
            server.shutdown(socket.SHUT_RDWR)
            thread.join()
            for guest in held:
                guest.close()


@BOTH
def test_something_that_accepts_and_says_nothing_is_late(yard: Yard, way: Way) -> None:
    with listener(b"") as port:
        started = time.monotonic()
        error = refusal(yard, "mute", way, mute=[f"HostName {HERE}", f"Port {port}", "ConnectTimeout 1"])

    assert "timeout" == error.kind
    assert time.monotonic() - started < 5


@pytest.mark.parametrize("stays", [False, True])
def test_something_else_than_ssh_is_told_from_a_crowd(yard: Yard, stays: bool) -> None:
    """It is not tried again. (ssh does not say what it heard, so that with it this looks like a crowd.)"""
    with listener(b"HTTP/1.1 400 Bad Request\r\n\r\n", stays=stays) as port:
        started = time.monotonic()
        error = refusal(yard, "web", web=[f"HostName {HERE}", f"Port {port}", "ConnectTimeout 1"])

    assert f"web: what answers on port {port} is no SSH server: 'HTTP/1.1 400 Bad Request'" == error.message
    assert time.monotonic() - started < 4


@contextlib.contextmanager
def guests(server: Server, count: int) -> Iterator[list[socket.socket]]:
    """Connections that never log in."""
    with contextlib.ExitStack() as stack:
        held = [stack.enter_context(socket.create_connection((HERE, server.port))) for _ in range(count)]
        for guest in held:
            assert guest.recv(4) == b"SSH-"
        yield held


@BOTH
def test_a_crowd_is_told_after_four_tries(yard: Yard, way: Way) -> None:
    server = yard.server(lines=["MaxStartups 2:100:2"])
    with guests(server, 2):
        error = refusal(yard, "gpu1", way)

    assert ("unreachable", True) == (error.kind, "hangs up before it says anything, 4 times" in error.message)
    assert "MaxStartups" in error.hint


@BOTH
def test_a_crowd_that_thins_out_is_waited_for(yard: Yard, way: Way) -> None:
    server = yard.server(lines=["MaxStartups 2:100:2"])
    with guests(server, 2) as held:
        threading.Timer(0.2, held[0].close).start()
        with shell(yard, "gpu1", way) as host:
            assert "in\n" == host.run("echo in").stdout


def test_many_at_once_do_not_make_a_crowd(yard: Yard) -> None:
    """Twenty shells at once, on a server that drops whoever comes when ten have not logged in."""
    server = yard.server(lines=["MaxStartups 10:100:10"])
    config = yard.config(server)

    def one(number: int) -> str:
        with connect(parse("gpu1"), Options(config=config, batch=True, connect_timeout_s=30)) as host:
            return host.run(f"echo {number}").stdout

    with ThreadPoolExecutor(20) as pool:
        told = list(pool.map(one, range(20)))

    assert [f"{number}\n" for number in range(20)] == told
    assert "drop connection" not in server.log


def test_a_slow_and_narrow_line_carries_everything(yard: Yard) -> None:
    """A fifth of a second there and back, and half a megabyte a second."""
    server = yard.server()
    line = yard.link(server, delay_ms=100, bytes_per_s=500_000)
    with shell(yard, "gpu1", gpu1=[f"ProxyCommand {line}"]) as host:
        reply = host.run("head -c 1000000 /dev/zero | tr '\\0' x", timeout_s=20)

    assert (1_000_000, 0) == (len(reply.stdout), reply.status)


def test_a_connection_comes_from_the_address_that_is_configured(yard: Yard) -> None:
    server = yard.server()
    with shell(yard, "gpu1", gpu1=["BindAddress 127.0.0.9"]) as host:
        host.run("true")

    assert "Connection from 127.0.0.9 " in server.log


def test_a_chain_of_jumps_is_followed(yard: Yard) -> None:
    for name in ("outer", "middle", "inner"):
        yard.server(name)
    with shell(yard, "inner", inner=["ProxyJump outer,middle"]) as host:
        assert "in\n" == host.run("echo in").stdout

    assert [1, 1, 1] == [server.connections for server in yard.servers]


@BOTH
def test_a_dead_jump_host_is_named(yard: Yard, way: Way) -> None:
    yard.server("inner")
    error = refusal(
        yard, "inner", way, inner=["ProxyJump bastion"], bastion=[f"HostName {HERE}", f"Port {free_port()}"]
    )

    assert "unreachable" == error.kind
    assert error.message.startswith("inner: jump host bastion: ")
    assert "refuse" in error.message


def test_a_jump_host_that_finds_no_way_on_is_named(yard: Yard) -> None:
    yard.server("bastion")
    port = free_port()
    error = refusal(yard, "inner", inner=[f"HostName {HERE}", f"Port {port}", "ProxyJump bastion"])

    assert f"inner: jump host bastion cannot reach {HERE} port {port}: Connect failed" == error.message


def test_a_jump_host_that_forwards_nothing_is_named(yard: Yard) -> None:
    yard.server("bastion", lines=["AllowTcpForwarding no"])
    yard.server("inner")
    error = refusal(yard, "inner", inner=["ProxyJump bastion"])

    assert "inner: jump host bastion cannot reach" in error.message
    assert "AllowTcpForwarding" in error.hint


def test_a_jump_host_that_does_not_let_us_in_is_named(yard: Yard) -> None:
    yard.server("bastion", authorized=[])
    yard.server("inner")
    error = refusal(yard, "inner", inner=["ProxyJump bastion"])

    assert "auth" == error.kind
    assert error.message.startswith("inner: jump host bastion: it does not let")


@BOTH
def test_a_proxy_command_that_fails_is_quoted(yard: Yard, way: Way) -> None:
    yard.server()
    error = refusal(yard, "gpu1", way, gpu1=["ProxyCommand sh -c 'echo no such tunnel >&2; exit 7'"])

    assert "unreachable" == error.kind
    assert "no such tunnel" in error.message


@BOTH
def test_a_key_that_is_not_let_in_is_named(yard: Yard, way: Way) -> None:
    yard.server(authorized=[])
    error = refusal(yard, "gpu1", way)

    assert "auth" == error.kind
    assert "publickey" in error.message
    assert way == "openssh" or str(yard.client_key) in error.message


@BOTH
def test_an_unknown_host_is_refused_and_nothing_is_told_to_it(yard: Yard, way: Way) -> None:
    server = yard.server()
    yard.known_hosts.write_text("")
    error = refusal(yard, "gpu1", way)

    assert isinstance(error, HostKeyUnknown)
    assert "Accepted publickey" not in server.log
    assert "" == yard.known_hosts.read_text()


@BOTH
def test_a_new_host_is_accepted_where_that_is_asked_for(yard: Yard, way: Way) -> None:
    """One line more; the rest of the file is as it was."""
    server = yard.server()
    before = "# mine\n*.example ssh-ed25519 nonsense\n"
    yard.known_hosts.write_text(before)
    with shell(yard, "gpu1", way, accept_new=True) as host:
        assert "in\n" == host.run("echo in").stdout

    after = yard.known_hosts.read_text()
    assert (before, 3) == (after[: len(before)], len(after.splitlines()))
    assert server.known().split()[2] in after


@BOTH
@pytest.mark.parametrize("accept_new", [False, True])
def test_a_changed_key_is_refused_always(yard: Yard, way: Way, accept_new: bool) -> None:
    server = yard.server()
    yard.known_hosts.write_text(server.known(key=yard.key("other")) + "\n")
    with pytest.raises(HostKeyChanged), shell(yard, "gpu1", way, accept_new=accept_new) as host:
        host.run("true")


@BOTH
def test_a_revoked_key_is_refused(yard: Yard, way: Way) -> None:
    server = yard.server()
    yard.known_hosts.write_text(f"{server.known()}\n{server.known(marker='@revoked')}\n")

    assert isinstance(refusal(yard, "gpu1", way), HostKeyRevoked)


def test_the_kind_of_key_that_is_known_is_asked_for(yard: Yard) -> None:
    """A host with two keys, of which the one that it would rather show is not known."""
    rsa = yard.key("rsa", kind="rsa")
    server = yard.server(lines=[f"HostKey {rsa}"])
    yard.known_hosts.write_text(server.known(key=rsa) + "\n")
    with shell(yard, "gpu1") as host:
        assert "in\n" == host.run("echo in").stdout


@pytest.mark.parametrize("kind", ["ed25519", "ecdsa", "rsa"])
def test_a_host_is_trusted_by_its_certificate(yard: Yard, kind: str) -> None:
    authority, key = yard.key("authority"), yard.key("certified", kind=kind)
    certificate = yard.certificate(key, authority, principals="gpu1", host=True)
    server = yard.server(host_key=key, host_certificate=certificate)
    yard.known_hosts.write_text(server.known("gpu*", marker="@cert-authority", key=authority) + "\n")
    with shell(yard, "gpu1", gpu1=["HostKeyAlias gpu1"]) as host:
        assert ("in\n", "paramiko") == (host.run("echo in").stdout, host.transport)


def test_a_certificate_for_another_host_is_refused(yard: Yard) -> None:
    authority, key = yard.key("authority"), yard.key("gpu1_host_key")
    certificate = yard.certificate(key, authority, principals="gpu2", host=True)
    server = yard.server(host_certificate=certificate)
    yard.known_hosts.write_text(server.known("gpu1", marker="@cert-authority", key=authority) + "\n")
    error = refusal(yard, "gpu1", gpu1=["HostKeyAlias gpu1"])

    assert isinstance(error, HostCertificateRefused)
    assert isinstance(error, HostKey)


def test_a_user_is_let_in_by_a_certificate(yard: Yard) -> None:
    authority = yard.key("authority")
    yard.certificate(yard.client_key, authority, principals=yard.user)
    yard.server(lines=[f"TrustedUserCAKeys {authority}.pub"], authorized=[])
    with shell(yard, "gpu1") as host:
        assert "in\n" == host.run("echo in").stdout


@BOTH
def test_a_key_that_only_the_agent_has_is_used(yard: Yard, way: Way) -> None:
    socket_file = yard.folder / "agent"
    secret = yard.key("held")
    yard.server(authorized=[Path(f"{secret}.pub").read_text()])
    agent = subprocess.Popen(["ssh-agent", "-D", "-a", str(socket_file)], stdout=subprocess.DEVNULL)
    try:
        while not socket_file.exists():
            time.sleep(0.01)
        environment = {"SSH_AUTH_SOCK": str(socket_file), "PATH": "/usr/bin:/bin"}
        subprocess.run(["ssh-add", "-q", str(secret)], env=environment, check=True)
        secret.unlink()
        lines = [f"IdentityAgent {socket_file}", f"IdentityFile {secret}.pub"]
        with shell(yard, "gpu1", way, gpu1=lines) as host:
            assert "in\n" == host.run("echo in").stdout
    finally:
        agent.terminate()
        agent.wait()


ONLY_SSH = "sntrup761x25519-sha512@openssh.com"


def test_ssh_takes_over_where_the_host_wants_what_paramiko_cannot(yard: Yard) -> None:
    yard.server(lines=[f"KexAlgorithms {ONLY_SSH}"])
    with shell(yard, "gpu1", "auto") as host:
        assert "in\n" == host.run("echo in").stdout
        assert host.transport.startswith("openssh: gpu1: ")

    error = refusal(yard, "gpu1", "paramiko")
    assert ("unreachable", "Try --transport openssh.") == (error.kind, error.hint)


def test_ssh_takes_over_where_the_configuration_wants_it(yard: Yard) -> None:
    yard.server()
    with shell(yard, "gpu1", "auto", gpu1=[f"KexAlgorithms {ONLY_SSH}"]) as host:
        assert "in\n" == host.run("echo in").stdout
        assert f"openssh: kexalgorithms {ONLY_SSH}" == host.transport


def test_paramiko_is_the_usual_way(yard: Yard) -> None:
    yard.server()
    with shell(yard, "gpu1", "auto") as host:
        assert "paramiko" == host.transport


class Somebody:
    """A person who answers everything in the same way, and remembers the questions."""

    def __init__(self, answer: str) -> None:
        self.says = answer
        self.asked: list[str] = []

    def secret(self, question: str) -> str:
        self.asked.append(question)
        return self.says

    def answer(self, question: str) -> str:
        return self.secret(question)


@pytest.fixture
def two_factors(yard: Yard) -> Iterator[Asking]:
    with asking(yard.key("asking_host_key"), Path(f"{yard.client_key}.pub"), "123456") as server:
        public = " ".join(Path(f"{yard.folder}/asking_host_key.pub").read_text().split()[:2])
        yard.known_hosts.write_text(f"[{HERE}]:{server.port} {public}\n")
        yard.config(lines={"gpu2": [f"HostName {HERE}", f"Port {server.port}"]})
        yield server


def test_a_second_factor_is_asked_for_once(yard: Yard, two_factors: Asking) -> None:
    somebody = Somebody("123456")
    hops = route(parse("gpu2"), config=yard.folder / "config")
    with dialled("gpu2", hops, Manner(accept_new=False, connect_timeout_s=5, person=somebody)) as carrier:
        host = SshShell("gpu2", yard.user, "paramiko", carrier)
        told = [host.run(f"echo {number}").stdout for number in range(2)]

    assert ["0\n", "1\n"] == told
    assert [f"{yard.user}@gpu2: Second factor Look at your device. Code: "] == somebody.asked
    assert ["123456"] == two_factors.answers


def test_a_wrong_code_is_not_asked_for_again(yard: Yard, two_factors: Asking) -> None:
    somebody = Somebody("0")
    hops = route(parse("gpu2"), config=yard.folder / "config")
    manner = Manner(accept_new=False, connect_timeout_s=5, person=somebody)
    with pytest.raises(Auth, match="it wants keyboard-interactive"), dialled("gpu2", hops, manner):
        pass

    assert ["0"] == two_factors.answers


@BOTH
def test_a_second_factor_fails_at_once_where_nobody_can_be_asked(yard: Yard, two_factors: Asking, way: Way) -> None:
    started = time.monotonic()
    options = Options(transport=way, config=yard.folder / "config", batch=True)
    with pytest.raises(Auth) as caught, connect(parse("gpu2"), options) as host:
        host.run("true")

    assert "keyboard-interactive" in caught.value.message
    assert way == "openssh" or "terminal" in caught.value.hint
    assert ([], True) == (two_factors.answers, time.monotonic() - started < 5)


def test_an_account_that_runs_no_command_says_so(yard: Yard, two_factors: Asking) -> None:
    two_factors.runs = False
    hops = route(parse("gpu2"), config=yard.folder / "config")
    manner = Manner(accept_new=False, connect_timeout_s=5, person=Somebody("123456"))
    with dialled("gpu2", hops, manner) as carrier, pytest.raises(LoginShell, match="runs no command"):
        SshShell("gpu2", yard.user, "paramiko", carrier).run("true")


def test_a_login_that_takes_too_long_is_late(yard: Yard, two_factors: Asking, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dial, "AUTH_S", 1.0)
    two_factors.thinks_s = 3.0
    started = time.monotonic()
    options = Options(transport="paramiko", config=yard.folder / "config", batch=True)
    with pytest.raises(TimedOut, match="no login within 1 s"), connect(parse("gpu2"), options):
        pass

    assert time.monotonic() - started < 2.5


ASKED = """
import os, sys
from pathlib import Path
from recon.hosts.connect import Options, connect
from recon.hosts.target import parse
os.open(sys.argv[1], os.O_RDWR)  # the first terminal that the leader of a session opens becomes its own
with connect(parse("gpu2"), Options(transport=sys.argv[2], config=Path(sys.argv[3]))) as host:
    print([host.run(f"echo {number}").stdout for number in range(2)])
"""


@contextlib.contextmanager
def at_a_terminal(yard: Yard, way: Way) -> Iterator[subprocess.Popen[bytes]]:
    """Another process, with a terminal of its own, that was told the code there."""
    ours, theirs = os.openpty()
    words = [sys.executable, "-c", ASKED, os.ttyname(theirs), way, str(yard.folder / "config")]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, start_new_session=True)
    try:
        heard = b""
        while b"Code: " not in heard:
            heard += os.read(ours, 1000)
        os.write(ours, b"123456\n")
        yield process
    finally:
        process.kill()
        process.communicate()
        os.close(ours)
        os.close(theirs)


@BOTH
def test_a_person_at_a_terminal_is_asked_once_for_many_scripts(yard: Yard, two_factors: Asking, way: Way) -> None:
    with at_a_terminal(yard, way) as process:
        stdout, _ = process.communicate(timeout=20)

    assert "['0\\n', '1\\n']\n" == stdout.decode()
    assert ["123456"] == two_factors.answers
    assert {} == yard.clients()


def test_no_master_of_ours_outlives_a_client_that_was_killed(yard: Yard, two_factors: Asking) -> None:
    with at_a_terminal(yard, "openssh") as process:
        while not two_factors.answers:
            time.sleep(0.01)
        words = next(iter(yard.clients().values()))
        process.kill()
        process.wait()
        end, quiet = time.monotonic() + 10, 0
        while quiet < 10 and time.monotonic() < end:
            quiet = 0 if yard.clients() else quiet + 1  # one that was just being started may still appear
            time.sleep(0.05)

        shutil.rmtree(Path(words[words.index("-S") + 1]).parent, ignore_errors=True)
        assert (10, {}) == (quiet, yard.clients())
