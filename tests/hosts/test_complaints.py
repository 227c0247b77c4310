"""What ssh says when it fails, word for word as OpenSSH prints it, and the errors that this means."""

from pathlib import Path

import pytest

from recon.errors import ClientConfig
from recon.hosts.complaints import read
from recon.hosts.effective import Effective, route
from recon.hosts.target import parse
from recon.hosts.throttle import Crowded

pytestmark = pytest.mark.system("ssh")

SAID = {
    "ssh: Could not resolve hostname gpu1: Name or service not known": ("unreachable", "gpu1: ssh: Could not"),
    "ssh: connect to host 10.0.0.1 port 22: Connection refused": ("unreachable", "gpu1: ssh: connect to host"),
    "ssh: connect to host 10.0.0.1 port 22: No route to host": ("unreachable", "gpu1: ssh: connect"),
    "ssh: connect to host 10.0.0.1 port 22: Connection timed out": ("timeout", "gpu1: ssh: connect"),
    "Connection timed out during banner exchange\nConnection to 10.0.0.1 port 22 timed out": ("timeout", "gpu1: "),
    "ssh: connect to host 10.0.0.9 port 2222: Connection refused\nkex_exchange_identification: Connection closed by"
    " remote host\nConnection closed by UNKNOWN port 65535": ("unreachable", "gpu1: jump host door: ssh: connect"),
    "me@10.0.0.9: Permission denied (publickey).\nkex_exchange_identification: Connection closed by remote host": (
        "auth",
        "gpu1: jump host door: me@10.0.0.9: Permission denied (publickey).",
    ),
    "me@10.0.0.1: Permission denied (publickey,password).": ("auth", "gpu1: me@10.0.0.1: Permission denied"),
    "Received disconnect from 10.0.0.1 port 22:2: Too many authentication failures": ("auth", "gpu1: Received"),
    "@@@@@@@@@@@@@@@@\n@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @\n@@@@@@@@@@@@@@@@\nIT IS POSSIBLE\n"
    "Host key verification failed.": ("host_key", "gpu1: WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!"),
    "@       WARNING: REVOKED HOST KEY DETECTED!               @": ("host_key", "gpu1: WARNING: REVOKED"),
    "No ED25519 host key is known for 10.0.0.1 and you have requested strict checking.\nHost key ver ...": (
        "host_key",
        "gpu1: No ED25519 host key is known",
    ),
    "Unable to negotiate with 10.0.0.1 port 22: no matching host key type found. Their offer: ssh-dss": (
        "unreachable",
        "gpu1: Unable to negotiate",
    ),
    "channel 0: open failed: administratively prohibited: open failed\nstdio forwarding failed": (
        "unreachable",
        "gpu1: channel 0: open failed: administratively",
    ),
    "/home/me/.ssh/config: line 3: Bad configuration option: proxyjmup": ("ssh_config", "gpu1: /home/me"),
    "something new": ("unreachable", "gpu1: ssh ended: something new"),
    "": ("unreachable", "gpu1: ssh ended: it did not say why"),
}


@pytest.fixture
def hops(tmp_path: Path) -> tuple[Effective, ...]:
    config = tmp_path / "config"
    config.write_text("Host gpu1\n HostName 10.0.0.1\n ProxyJump door\nHost door\n HostName 10.0.0.9\n Port 2222\n")
    return route(parse("gpu1"), config=config)


@pytest.mark.parametrize("said", SAID)
def test_a_complaint_is_an_error_with_a_kind_a_host_and_a_hint(said: str, hops: tuple[Effective, ...]) -> None:
    kind, begins = SAID[said]
    error = read("gpu1", hops, f"{said}\r\n".encode())

    assert not isinstance(error, Crowded)
    assert (kind, begins) == (error.kind, error.message[: len(begins)])
    assert "\n" not in error.message
    assert error.hint


@pytest.mark.parametrize(
    "said",
    [
        "kex_exchange_identification: Connection closed by remote host\nConnection closed by 10.0.0.1 port 22",
        "kex_exchange_identification: read: Connection reset by peer",
        "Exceeded MaxStartups",
    ],
)
def test_a_crowd_is_worth_another_try(said: str, hops: tuple[Effective, ...]) -> None:
    assert isinstance(read("gpu1", hops, said.encode()), Crowded)


def test_what_to_try_reads_the_configuration_that_was_named(tmp_path: Path) -> None:
    """A hint that asks ssh about another configuration leads astray."""
    config = tmp_path / "my config"
    config.write_text("Host gpu1\n")
    target = parse("me@gpu1:2222")
    hops = route(target, config=config)
    errors = [
        read("me@gpu1:2222", hops, said, config)
        for said in (b"x: line 3: Bad configuration option: y", b"something new")
    ]
    hints = [error.hint for error in errors if not isinstance(error, Crowded)]

    assert [f"Try: ssh -G -F '{config}' -l me -p 2222 gpu1", f"Try: ssh -F '{config}' -l me -p 2222 gpu1"] == hints


def test_a_configuration_that_ssh_refuses_is_tried_with_its_file(tmp_path: Path) -> None:
    config = tmp_path / "config"
    config.write_text("Bogus yes\n")
    with pytest.raises(ClientConfig) as caught:
        route(parse("gpu1"), config=config)

    assert f"Try: ssh -G -F {config} gpu1" == caught.value.hint


def test_a_changed_key_is_removed_from_the_file_that_ssh_names(hops: tuple[Effective, ...]) -> None:
    """By a command that a shell takes as it stands."""
    said = (
        b"@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @\r\n"
        b"Add correct host key in /home/me/my keys/known to get rid of this message.\r\n"
        b"Offending ED25519 key in /home/me/my keys/known:3\r\n"
        b"Host key for [10.0.0.1]:2222 has changed and you have requested strict checking.\r\n"
        b"Host key verification failed.\r\n"
    )
    error = read("gpu1", hops, said)

    assert not isinstance(error, Crowded)
    assert error.hint.endswith(": ssh-keygen -f '/home/me/my keys/known' -R '[10.0.0.1]:2222'")
