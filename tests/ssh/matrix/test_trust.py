"""Who is trusted: known hosts as OpenSSH reads them, and never a key because it was shown."""

import subprocess
from pathlib import Path

import pytest

from recon.errors import HostCertificateRefused, HostKeyChanged, HostKeyRevoked, HostKeyUnknown
from tests.ssh.client import Client, port
from tests.ssh.server import HERE, Server, Yard

pytestmark = [pytest.mark.system("sshd", "ssh", "ssh-keygen"), pytest.mark.matrix, pytest.mark.slow]


def known(yard: Yard, *lines: str) -> str:
    """Write known_hosts, and say what it holds."""
    text = "".join(f"{line}\n" for line in lines)
    yard.known_hosts.write_text(text)
    return text


def certified(yard: Yard, **how: str) -> tuple[Server, str]:
    """A server that shows a certificate, and the line that trusts its authority."""
    authority, key = yard.key("authority"), yard.key("shown")
    certificate = yard.certificate(key, authority, host=True, **{"principals": HERE, **how})
    server = yard.server(host_key=key, host_certificate=certificate)
    return server, server.known(f"[{HERE}]:*,{HERE}", marker="@cert-authority", key=authority)


def test_a_certificate_of_a_known_authority_is_trusted(yard: Yard, client: Client) -> None:
    server, line = certified(yard)
    known(yard, line)

    assert port(server) == client.answer()


@pytest.mark.parametrize(
    "how", [{"validity": "20200101:20200102"}, {"principals": "another.example"}], ids=["expired", "another name"]
)
def test_a_certificate_that_does_not_hold_is_refused(yard: Yard, client: Client, how: dict[str, str]) -> None:
    _, line = certified(yard, **how)
    known(yard, line)

    with pytest.raises((HostCertificateRefused, HostKeyUnknown)):
        client.answer()


def test_a_revoked_key_is_refused_though_it_is_trusted_too(yard: Yard, client: Client) -> None:
    server = yard.server()
    known(yard, server.known(), server.known("*", marker="@revoked"))

    with pytest.raises(HostKeyRevoked):
        client.answer()


@pytest.mark.parametrize(
    "names",
    [f"[{HERE}]:PORT", "[127.0.0.*]:PORT", "[127.0.0.?]:PORT", f"other,[{HERE}]:PORT", f"[127.*]:PORT,!{HERE}"],
)
def test_a_pattern_of_known_hosts_is_understood(yard: Yard, client: Client, names: str) -> None:
    server = yard.server()
    known(yard, "# a comment", "", "|1|broken", server.known(names.replace("PORT", str(server.port))))

    assert port(server) == client.answer()


def test_what_a_pattern_excludes_is_not_known(yard: Yard, client: Client) -> None:
    server = yard.server()
    known(yard, server.known(f"[127.0.0.*]:*,![{HERE}]:{server.port}"))

    with pytest.raises(HostKeyUnknown):
        client.answer()


def test_hashed_names_are_found(yard: Yard, client: Client) -> None:
    server = yard.server()
    known(yard, server.known())
    subprocess.run(["ssh-keygen", "-q", "-H", "-f", yard.known_hosts], check=True, capture_output=True)

    assert yard.known_hosts.read_text().startswith("|1|")
    assert port(server) == client.answer()


def test_an_alias_for_host_keys_is_the_name_that_is_looked_up(yard: Yard, client: Client) -> None:
    server = yard.server()
    known(yard, server.known("cluster"))

    assert port(server) == client.answer(before="Host gpu1\n  HostKeyAlias cluster\n")


@pytest.mark.parametrize("transport", ["paramiko", "openssh"])
def test_an_unknown_host_is_refused_and_nothing_is_written(yard: Yard, client: Client, transport: str) -> None:
    yard.server()
    before = known(yard, "# mine")

    with pytest.raises(HostKeyUnknown):
        client.answer(transport=transport)
    assert before == yard.known_hosts.read_text()


def test_accept_new_appends_one_line_and_leaves_all_others(yard: Yard, client: Client) -> None:
    server = yard.server()
    before = known(yard, "# mine", "@nonsense line", "|1|broken")
    told = port(server) == client.answer(accept_new=True)
    after = yard.known_hosts.read_text()

    assert told
    assert after.startswith(before)
    assert 1 == len(after.removeprefix(before).splitlines())
    assert port(server) == client.answer()


@pytest.mark.parametrize("transport", ["paramiko", "openssh"])
def test_a_key_that_no_file_keeps_is_accepted_and_noted(yard: Yard, client: Client, transport: str) -> None:
    server = yard.server()
    nowhere = "Host *\n  UserKnownHostsFile /dev/null\n"
    with client.shell(before=nowhere, accept_new=True, transport=transport) as shell:
        said = shell.run('echo "$SSH_CONNECTION"').stdout.split()[-1]

    assert port(server) == said
    assert ("a key that was accepted is not recorded: /dev/null is no regular file",) == shell.notes
    with pytest.raises(HostKeyUnknown):
        client.answer(before=nowhere, transport=transport)


@pytest.mark.parametrize("transport", ["paramiko", "openssh"])
def test_where_there_is_no_file_of_known_hosts_no_key_is_accepted(yard: Yard, client: Client, transport: str) -> None:
    yard.server()

    with pytest.raises(HostKeyUnknown) as refused:
        client.answer(before="Host *\n  UserKnownHostsFile none\n", accept_new=True, transport=transport)
    assert refused.value.hint.startswith("There is no file of known hosts to add to")


@pytest.mark.parametrize("accept_new", [False, True])
def test_a_changed_key_is_always_refused(yard: Yard, client: Client, accept_new: bool) -> None:
    server = yard.server()
    before = known(yard, server.known(key=yard.key("another")))

    with pytest.raises(HostKeyChanged):
        client.answer(accept_new=accept_new)
    assert before == yard.known_hosts.read_text()


def test_two_files_of_known_hosts_are_one(yard: Yard, client: Client, tmp_path: Path) -> None:
    server = yard.server()
    known(yard, "# nothing")
    (tmp_path / "second").write_text(server.known() + "\n")
    lines = f"Host gpu1\n  UserKnownHostsFile {yard.known_hosts} {tmp_path / 'second'}\n"

    assert port(server) == client.answer(before=lines)
