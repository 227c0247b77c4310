"""Hosts with an IPv6 address, however it is written, over both transports."""

import contextlib
import socket
from typing import Any

import pytest

from tests.ssh.client import Client
from tests.ssh.server import Server, Yard, free_port

pytestmark = pytest.mark.system("sshd", "ssh", "ssh-keygen")
BOTH = pytest.mark.parametrize("transport", ["paramiko", "openssh"])


@pytest.fixture
def number() -> int:
    """A free port of ::1."""
    try:
        with contextlib.closing(socket.socket(socket.AF_INET6)) as probe:
            probe.bind(("::1", 0))
    except OSError:
        pytest.skip("this machine has no IPv6")
    return free_port()


@pytest.fixture
def server(yard: Yard, number: int) -> Server:
    """A server on ::1, known by that address alone."""
    made = yard.server(lines=[f"ListenAddress [::1]:{number}"])
    yard.known_hosts.write_text(made.known(f"[::1]:{number}") + "\n")
    return made


def way(name: str, number: int, user: str) -> tuple[str, str]:
    """What is typed, and the configuration in front, for each way to write the address."""
    written = {
        "with its port": f"[::1]:{number}",
        "with a user": f"{user}@[::1]:{number}",
        "as an address of ssh": f"ssh://{user}@[::1]:{number}",
        "bare": "::1",
        "bare with a user": f"{user}@::1",
        "in brackets": "[::1]",
        "in full": f"[0:0:0:0:0:0:0:1]:{number}",
        "by an alias": "six",
    }
    typed = written[name]
    alias = f"Host six\n  HostName ::1\n  Port {number}\n"
    # Known by the shortest form: whoever writes it in full says so, as for ssh.
    full = f"Host 0:0:0:0:0:0:0:1\n  HostKeyAlias [::1]:{number}\n"
    return typed, f"Host ::1\n  Port {number}\n{alias}{full}"


@BOTH
@pytest.mark.parametrize(
    "name",
    [
        "with its port",
        "with a user",
        "as an address of ssh",
        "bare",
        "bare with a user",
        "in brackets",
        "in full",
        "by an alias",
    ],
)
def test_an_address_is_reached_however_it_is_written(
    server: Server, client: Client, number: int, name: str, transport: Any
) -> None:
    """The port at which the host was reached is the one of ::1."""
    typed, before = way(name, number, client.yard.user)
    with client.shell(typed, before, transport=transport) as shell:
        said = shell.run('echo "$SSH_CONNECTION"').stdout.split()

    assert (["::1", str(number)], typed) == (said[-2:], shell.name)
    assert transport in shell.transport
