"""What the client's configuration says is what OpenSSH would make of it."""

import shutil
import socket
from pathlib import Path

import pytest

from recon.errors import ClientConfig
from recon.hosts.connect import Options, connect
from recon.hosts.target import parse
from tests.ssh.client import Client, port
from tests.ssh.server import HERE, Yard, free_port

pytestmark = [pytest.mark.system("sshd", "ssh", "ssh-keygen"), pytest.mark.matrix, pytest.mark.slow]


def test_an_alias_of_an_included_file_is_known(yard: Yard, client: Client) -> None:
    server = yard.server()
    (yard.folder / "more").write_text(f"Host alias\n  HostName {HERE}\n  Port {server.port}\n")

    assert port(server) == client.answer("alias", f"Include {yard.folder / 'more'}")


@pytest.mark.parametrize("criterion", ["localnetwork 192.0.2.0/24", "tagged absent", "version 0.1"])
def test_a_criterion_that_does_not_hold_never_counts_as_one_that_does(
    yard: Yard, client: Client, criterion: str
) -> None:
    """An ssh that does not know it refuses the configuration, and so do we; one that does leaves its lines out."""
    server = yard.server()
    try:
        answer = client.answer(before=f"Match {criterion}\n  ProxyCommand false\n")
    except ClientConfig as error:
        answer = error.message if criterion.partition(" ")[0] in error.message else ""

    assert answer == port(server) or "refuses its configuration" in answer


@pytest.mark.parametrize("match", ["Match final all", "Match exec true", "Match host=*", "Match originalhost gpu1"])
def test_criteria_that_other_clients_trip_over_are_read(yard: Yard, client: Client, match: str) -> None:
    server = yard.server()

    assert port(server) == client.answer(before=f"{match}\n  ServerAliveInterval 7\n")


def test_proxy_jump_none_turns_the_jump_of_a_pattern_off(yard: Yard, client: Client) -> None:
    server = yard.server()

    assert port(server) == client.answer(before="Host gpu1\n  ProxyJump none\nHost gpu*\n  ProxyJump nowhere.invalid\n")


def test_tokens_of_an_identity_file_are_those_of_the_name_that_is_reached(yard: Yard, client: Client) -> None:
    """`%h` after `HostName %h...` is not expanded twice."""
    server = yard.server()
    keys = yard.folder / "keys"
    keys.mkdir()
    shutil.copy(yard.client_key, keys / f"localhost_{yard.user}")
    lines = f"Host local\n  HostName %hhost\n  Port {server.port}\n  IdentityFile {keys}/%h_%r\n  HostKeyAlias gpu1\n"
    yard.known_hosts.write_text(server.known("gpu1") + "\n")
    plain = yard.key("other")  # the yard's own is not offered: it would be let in
    config = client.config(lines)
    config.write_text(config.read_text().replace(f"IdentityFile {yard.client_key}", f"IdentityFile {plain}"))

    options = Options(config=config, batch=True)
    with connect(parse("local"), options) as opened:
        assert "here\n" == opened.run("echo here").stdout


def test_a_comment_behind_a_value_is_no_part_of_it(yard: Yard, client: Client) -> None:
    server = yard.server()

    assert port(server) == client.answer(before=f"Host gpu1\n  User {yard.user} # trailing\n")


def test_a_mixed_case_name_is_the_host_that_is_known_in_lower_case(yard: Yard, client: Client) -> None:
    server = yard.server()
    yard.known_hosts.write_text(server.known("gpu07") + "\n")
    lines = f"Host gpu07 GPU07\n  HostName {HERE}\n  Port {server.port}\n  HostKeyAlias GPU07\n"

    assert port(server) == client.answer("GPU07", lines)


def test_a_host_behind_two_jumps_is_reached(yard: Yard, client: Client) -> None:
    for name in ("outer", "middle"):
        yard.server(name)
    inner = yard.server("inner")

    assert port(inner) == client.answer("inner", "Host inner\n  ProxyJump outer,middle\n")


def test_a_proxy_command_carries_the_connection(yard: Yard, client: Client) -> None:
    server = yard.server()

    assert port(server) == client.answer(before=f"Host gpu1\n  ProxyCommand {yard.link()}\n")


def test_a_broken_line_of_the_configuration_is_named(yard: Yard, client: Client) -> None:
    yard.server()

    with pytest.raises(ClientConfig, match=r"(?i)nosuchoption"):
        client.answer(before="NoSuchOption yes\n")


def test_an_ipv6_address_is_a_host(yard: Yard, client: Client) -> None:
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
    except OSError:
        pytest.skip("this machine has no IPv6")
    number = free_port()
    server = yard.server(lines=[f"ListenAddress [::1]:{number}"])
    yard.known_hosts.write_text(server.known(f"[::1]:{number}") + "\n")

    assert str(number) == client.answer(f"[::1]:{number}")


def test_user_and_port_that_were_typed_win(yard: Yard, client: Client) -> None:
    server = yard.server()

    assert port(server) == client.answer(f"{yard.user}@gpu1:{server.port}", "Host gpu1\n  User nobody\n  Port 1\n")


def test_a_configuration_is_read_from_the_file_that_was_named_alone(yard: Yard, client: Client) -> None:
    """Not from the home folder."""
    server = yard.server()
    (yard.folder / ".ssh").mkdir(exist_ok=True)
    (Path(yard.folder) / ".ssh/config").write_text("Host *\n  Port 1\n")

    assert port(server) == client.answer()
