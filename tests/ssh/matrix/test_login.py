"""Getting in: keys, agents, certificates, and what is said when it does not work."""

import contextlib
import os
import re
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from recon.errors import Auth, ReconError
from tests.ssh.client import Client, port
from tests.ssh.server import Yard

pytestmark = [
    pytest.mark.system("sshd", "ssh", "ssh-keygen", "ssh-agent", "ssh-add"),
    pytest.mark.matrix,
    pytest.mark.slow,
]


@contextlib.contextmanager
def agent(*keys: Path) -> Iterator[str]:
    """An agent that holds keys; gives its socket."""
    said = subprocess.run(["ssh-agent", "-s"], check=True, capture_output=True, text=True).stdout
    found = dict(re.findall(r"(\w+)=([^;]+);", said))
    try:
        for key in keys:
            environment = {**os.environ, "SSH_AUTH_SOCK": found["SSH_AUTH_SOCK"]}
            subprocess.run(["ssh-add", "-q", str(key)], check=True, env=environment, capture_output=True)
        yield found["SSH_AUTH_SOCK"]
    finally:
        subprocess.run(["kill", found["SSH_AGENT_PID"]], check=False)


def only(text: str) -> str:
    """Lines about gpu1 that come first and so win."""
    return f"Host gpu1\n  {text}\n"


def test_the_key_that_a_public_file_selects_is_offered_of_eight(yard: Yard, client: Client) -> None:
    """Without the selector the host would hang up before the good one, the last in the agent."""
    server = yard.server(lines=["MaxAuthTries 3"])
    keys = [yard.key(f"other{number}") for number in range(7)]
    with agent(*keys, yard.client_key) as socket:
        public = yard.folder / "chosen.pub"
        public.write_text(Path(f"{yard.client_key}.pub").read_text())
        lines = only(f"IdentityAgent {socket}\n  IdentitiesOnly yes\n  IdentityFile {public}")

        assert port(server) == client.answer(before=lines)


def test_who_offers_too_many_keys_is_told_which(yard: Yard, client: Client) -> None:
    yard.server(authorized=[])
    keys = [yard.key(f"other{number}") for number in range(8)]
    with agent(*keys) as socket, pytest.raises(Auth) as raised:
        client.answer(before=only(f"IdentityAgent {socket}\n  IdentitiesOnly no"), transport="paramiko")

    assert "other0" in f"{raised.value.message} {raised.value.hint}" or "SHA256" in raised.value.message
    assert "auth" == raised.value.kind


def test_a_user_certificate_lets_in_where_no_key_would(yard: Yard, client: Client) -> None:
    authority, key = yard.key("user_authority"), yard.key("mine")
    certificate = yard.certificate(key, authority, principals=yard.user)
    server = yard.server(lines=[f"TrustedUserCAKeys {authority}.pub"], authorized=[])

    assert port(server) == client.answer(before=only(f"CertificateFile {certificate}\n  IdentityFile {key}"))


def test_a_certificate_beside_its_key_is_found(yard: Yard, client: Client) -> None:
    authority, key = yard.key("user_authority"), yard.key("mine")
    yard.certificate(key, authority, principals=yard.user)
    server = yard.server(lines=[f"TrustedUserCAKeys {authority}.pub"], authorized=[])

    assert port(server) == client.answer(before=only(f"IdentityFile {key}"))


def test_an_encrypted_key_is_refused_in_batch_and_named(yard: Yard, client: Client) -> None:
    key = yard.key("locked", passphrase="open sesame")
    yard.server(authorized=[Path(f"{key}.pub").read_text()])
    config = client.config()
    config.write_text(config.read_text().replace(str(yard.client_key), str(key)))
    started = time.monotonic()
    with pytest.raises(Auth, match=r"locked|passphrase|encrypted"):
        client.answer(before=only(f"IdentityFile {key}"), transport="paramiko")

    assert time.monotonic() - started < 10


def test_an_encrypted_key_in_the_agent_needs_no_passphrase(yard: Yard, client: Client) -> None:
    key = yard.key("held")
    server = yard.server(authorized=[Path(f"{key}.pub").read_text()])
    with agent(key) as socket:
        subprocess.run(
            ["ssh-keygen", "-q", "-p", "-P", "", "-N", "open sesame", "-f", str(key)], check=True, capture_output=True
        )

        assert port(server) == client.answer(before=only(f"IdentityAgent {socket}\n  IdentityFile {key}"))


@pytest.mark.parametrize("kind", ["rsa", "ecdsa", "ed25519"])
def test_keys_of_every_usual_kind_let_in(yard: Yard, client: Client, kind: str) -> None:
    key = yard.key(f"key_{kind}", kind=kind)
    server = yard.server(authorized=[Path(f"{key}.pub").read_text()])

    assert port(server) == client.answer(before=only(f"IdentityFile {key}"), transport="paramiko")


def test_a_server_that_takes_only_old_signatures_is_named(yard: Yard, client: Client) -> None:
    key = yard.key("rsa", kind="rsa")
    yard.server(lines=["PubkeyAcceptedAlgorithms ssh-rsa"], authorized=[Path(f"{key}.pub").read_text()])

    with pytest.raises(ReconError) as raised:
        client.answer(before=only(f"IdentityFile {key}"), transport="paramiko")
    assert "auth" == raised.value.kind


def test_a_second_factor_fails_fast_in_batch(yard: Yard, client: Client) -> None:
    """Nobody is asked, nothing loops."""
    lines = ["KbdInteractiveAuthentication yes", "AuthenticationMethods publickey,keyboard-interactive"]
    yard.server(lines=lines)
    started = time.monotonic()
    with pytest.raises(ReconError) as raised:
        client.answer()

    assert "auth" == raised.value.kind
    assert time.monotonic() - started < 15


def test_the_system_s_ssh_gets_in_where_it_is_asked_for(yard: Yard, client: Client) -> None:
    server = yard.server()
    with client.shell(transport="openssh") as shell:
        told = shell.run('echo "$SSH_CONNECTION"').stdout.split()[-1]

    assert (port(server), "openssh: asked for") == (told, shell.transport)


def test_what_paramiko_cannot_do_is_carried_by_ssh_and_said(yard: Yard, client: Client) -> None:
    """A configuration that allows nothing but algorithms of which paramiko knows none."""
    server = yard.server()
    with client.shell(before=only("KexAlgorithms sntrup761x25519-sha512@openssh.com")) as shell:
        told = shell.run('echo "$SSH_CONNECTION"').stdout.split()[-1]

    assert port(server) == told
    assert shell.transport.startswith("openssh: kexalgorithms")
