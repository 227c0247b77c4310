"""Ways to a host: what leads there, what does not, and what people are told about it."""

import contextlib
import re
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from recon.errors import (
    HostCertificateRefused,
    HostKey,
    HostKeyChanged,
    HostKeyRevoked,
    HostKeyUnknown,
    Unreachable,
)
from recon.hosts import proxy
from recon.hosts.connect import Options, connect
from recon.hosts.target import parse
from tests.ssh.server import HERE, Server, Yard, free_port
from tests.ssh.ways import BOTH, Way, refusal, shell

pytestmark = pytest.mark.system("sshd", "ssh", "ssh-keygen")


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


@BOTH
def test_a_host_is_known_by_what_its_connection_proves(yard: Yard, way: Way) -> None:
    """Two servers of one machine are two hosts: the machine, which says the same of itself, has no say in it."""
    yard.server("gpu1")
    yard.server("gpu2")
    with shell(yard, "gpu1", way) as one, shell(yard, "gpu1", way) as again, shell(yard, "gpu2", way) as two:
        first, same, other = one.identity, again.identity, two.identity

    assert first == same
    assert first != other
    assert re.fullmatch("[0-9a-f]{64}", first)
