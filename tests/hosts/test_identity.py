"""What tells a host from others: never its own word."""

import base64
from dataclasses import replace
from pathlib import Path

import pytest

from recon.hosts.effective import Effective, effective
from recon.hosts.identity import known_keys, proven
from recon.hosts.target import parse
from recon.hosts.wire import string

KEY, OTHER = (string(b"ssh-ed25519") + string(bytes([number]) * 32) for number in (1, 2))


@pytest.fixture
def host(tmp_path: Path) -> Effective:
    config = tmp_path / "config"
    config.write_text(f"Host *\nHostName gpu1.example\nUser me\nUserKnownHostsFile {tmp_path}/known\n")
    return effective(parse("gpu1"), config=config, program="ssh")


pytestmark = pytest.mark.system("ssh")


def test_the_same_key_at_the_same_address_is_the_same_host(host: Effective) -> None:
    assert proven(host, [KEY]) == proven(host, [KEY])
    assert proven(host, [KEY, OTHER]) == proven(host, [OTHER, KEY])


def test_another_address_account_or_name_is_another_host(host: Effective) -> None:
    """An account decides what is answered, so that it must not speak for another."""
    others = (
        replace(host, hostname="other"),
        replace(host, user="other"),
        replace(host, host_key_alias="other"),
        replace(host, port=2222),
    )

    assert 5 == len({proven(each, [KEY]) for each in (host, *others)})


def test_another_key_is_another_host(host: Effective) -> None:
    assert proven(host, [KEY]) != proven(host, [OTHER])


def test_nothing_said_can_stand_for_something_else(host: Effective) -> None:
    """Parts have their lengths before them."""
    one = replace(host, hostname="a", host_key_alias="b22")
    two = replace(host, hostname="a22b", host_key_alias="22")

    assert proven(one, [KEY]) != proven(two, [KEY])


def test_keys_that_ssh_accepts_are_those_of_known_hosts(host: Effective, tmp_path: Path) -> None:
    """Where the key changes there, what was remembered is of another host."""
    lines = [
        f"{name} ssh-ed25519 {base64.b64encode(key).decode()}\n"
        for name, key in (("gpu1.example", KEY), ("gpu2.example", OTHER))
    ]
    (tmp_path / "known").write_text("".join(lines))

    assert (KEY,) == tuple(key for key in known_keys(host) if key in (KEY, OTHER))
