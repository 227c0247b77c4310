"""Keys that are offered to real servers: agents with many keys and odd ones, certificates, selectors."""

import base64
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from recon.errors import Auth
from recon.hosts.agent import SocketAgent
from recon.hosts.connect import Options, connect
from recon.hosts.dial import Manner, dialled
from recon.hosts.effective import effective
from recon.hosts.target import parse
from recon.hosts.wire import public_key, string
from tests.ssh.agents import FakeAgent
from tests.ssh.server import Server, Yard

pytestmark = pytest.mark.system("sshd", "ssh", "ssh-agent", "ssh-add", "ssh-keygen")

SK = string(b"sk-ssh-ed25519@openssh.com") + string(b"k" * 32) + string(b"ssh:")
ODD = string(b"quantum-9000@example.org") + string(b"?")


def blob_of(path: Path) -> bytes:
    """The key, or the certificate, in a public file."""
    found = public_key(path.read_text())
    assert found
    return found[0]


def public(key: Path) -> str:
    """The public half of a private key."""
    return Path(f"{key}.pub").read_text()


def logged_in(yard: Yard, server: Server, *lines: str) -> str:
    """What carries a shell that answers, by paramiko and by nothing else."""
    config = yard.config(*yard.servers, lines={server.name: ["IdentitiesOnly no", *lines]})
    text = config.read_text().replace(f"  IdentityFile {yard.client_key}\n", "")  # identities add up
    config.write_text(text)
    options = Options(transport="paramiko", config=config, batch=True)
    with connect(parse(server.name), options) as shell:
        assert "hello\n" == shell.run("echo hello").stdout
        return shell.transport


@pytest.fixture
def agent(yard: Yard) -> Iterator[Callable[[Sequence[Path]], Path]]:
    """Starts ssh-agent with keys in it; its socket."""
    running: list[subprocess.Popen[bytes]] = []

    def start(keys: Sequence[Path]) -> Path:
        path = yard.folder / f"agent{len(running)}"
        running.append(subprocess.Popen(["ssh-agent", "-D", "-a", str(path)], stdout=subprocess.DEVNULL))
        end = time.monotonic() + 10
        while not path.exists() and time.monotonic() < end:
            time.sleep(0.01)
        for key in keys:
            environment = {"SSH_AUTH_SOCK": str(path), "PATH": "/usr/bin:/bin:/usr/local/bin"}
            subprocess.run(["ssh-add", "-q", str(key)], check=True, env=environment, capture_output=True)
        return path

    yield start
    for each in running:
        each.kill()
        each.wait()


@pytest.mark.parametrize("kind", ["ed25519", "rsa", "ecdsa"])
@pytest.mark.parametrize("holder", ["file", "agent"])
@pytest.mark.parametrize("shown", ["key", "certificate"])
def test_keys_and_certificates_of_every_kind_log_in(
    yard: Yard, agent: Callable[[Sequence[Path]], Path], kind: str, holder: str, shown: str
) -> None:
    """From a file or from the agent, plain or certified, and nothing but that lets us in."""
    key = yard.key("mine", kind=kind)
    authority = yard.key("authority")
    is_certificate = shown == "certificate"
    trusted = yard.folder / "trusted.pub"
    trusted.write_text(public(authority))
    server = yard.server(
        authorized=[] if is_certificate else [public(key)],
        lines=[f"TrustedUserCAKeys {trusted}"] if is_certificate else [],
    )
    lines = ["IdentityAgent none", f"IdentityFile {key}"]
    if holder == "agent":
        lines = [f"IdentityAgent {agent([key])}", "IdentityFile none"]
        key.unlink()
    if is_certificate:
        made = yard.certificate(key, authority, principals=yard.user)
        lines += [f"CertificateFile {made}"] if holder == "agent" else []

    assert "paramiko" == logged_in(yard, server, *lines)


def test_a_certificate_in_the_agent_logs_in(yard: Yard, agent: Callable[[Sequence[Path]], Path]) -> None:
    """ssh-add adds the certificate beside the key, and the agent then holds both."""
    key, authority = yard.key("mine", kind="rsa"), yard.key("authority")
    yard.certificate(key, authority, principals=yard.user)
    trusted = yard.folder / "trusted.pub"
    trusted.write_text(public(authority))
    server = yard.server(authorized=[], lines=[f"TrustedUserCAKeys {trusted}"])
    socket = agent([key])

    assert ["ssh-rsa", "ssh-rsa-cert-v01@openssh.com"] == [
        held.blob[4:].split(b"\0")[0].decode() for held in SocketAgent(socket).held()
    ]
    assert "paramiko" == logged_in(yard, server, f"IdentityAgent {socket}", "IdentityFile none")


def test_eight_keys_in_the_agent_and_the_right_one_last(yard: Yard, agent: Callable[[Sequence[Path]], Path]) -> None:
    """A `.pub` file chooses it; without one we stop before the server hangs up, and say what was offered."""
    keys = [yard.key(f"key{number}") for number in range(8)]
    server = yard.server(authorized=[public(keys[-1])], lines=["MaxAuthTries 6"])
    socket = agent(keys)
    with pytest.raises(Auth) as caught:
        logged_in(yard, server, f"IdentityAgent {socket}", "IdentityFile none")
    only = (f"IdentityAgent {socket}", f"IdentityFile {keys[-1]}.pub")

    assert [True] * 5 + [False] * 3 == [
        f"key{number} of the agent (ssh-ed25519" in caught.value.message for number in range(8)
    ]
    assert "key7 of the agent" in caught.value.hint
    assert "paramiko" == logged_in(yard, server, *only, "IdentitiesOnly yes")
    assert "paramiko" == logged_in(yard, server, *only)


def test_odd_keys_before_the_good_one_are_passed_over(yard: Yard, agent: Callable[[Sequence[Path]], Path]) -> None:
    """A security key, and a type that nobody knows."""
    key = yard.key("mine")
    server = yard.server(authorized=[public(key)])
    real = SocketAgent(agent([key]))
    path = yard.folder / "odd agent"
    fake = FakeAgent(path, [(SK, "yubi"), (ODD, "odd"), (blob_of(Path(f"{key}.pub")), "good")], real.sign)
    try:
        assert "paramiko" == logged_in(yard, server, f'IdentityAgent "{path}"', "IdentityFile none")
    finally:
        fake.close()

    assert [blob_of(Path(f"{key}.pub"))] == fake.asked


def test_an_agent_that_refuses_one_key_does_not_keep_the_next_from_logging_in(
    yard: Yard, agent: Callable[[Sequence[Path]], Path]
) -> None:
    """Somebody said no to it, or the key has left the agent since it was listed."""
    keys = [yard.key("first"), yard.key("second")]
    server = yard.server(authorized=[public(key) for key in keys])
    real = SocketAgent(agent(keys[1:]))
    path = yard.folder / "choosy"
    fake = FakeAgent(path, [(blob_of(Path(f"{key}.pub")), key.name) for key in keys], real.sign)
    try:
        assert "paramiko" == logged_in(yard, server, f"IdentityAgent {path}", "IdentityFile none")
        assert [blob_of(Path(f"{key}.pub")) for key in keys] == fake.asked
        (server.folder / "authorized_keys").write_text(public(keys[0]))
        with pytest.raises(Auth) as caught:
            logged_in(yard, server, f"IdentityAgent {path}", "IdentityFile none")
    finally:
        fake.close()

    assert f"the ssh agent at {path}: it refuses" in caught.value.hint


def test_a_wrong_passphrase_does_not_keep_the_next_key_from_logging_in(yard: Yard) -> None:
    """It is asked for once, and named if nothing else lets us in."""
    locked, good = yard.key("locked", passphrase="other"), yard.key("good", passphrase="secret")
    server = yard.server(authorized=[public(good)])
    config = yard.config(server, lines={"gpu1": [f"IdentityFile {locked}", f"IdentityFile {good}"]})
    hop = replace(effective(parse("gpu1"), config=config), identity_files=(locked, good))
    questions: list[str] = []
    manner = Manner(accept_new=False, connect_timeout_s=10, person=Somebody(questions))
    with dialled("gpu1", [hop], manner) as carrier:
        assert carrier.hops[-1].transport.is_authenticated()
    only = replace(hop, identity_files=(locked,))
    with pytest.raises(Auth) as caught, dialled("gpu1", [only], manner):
        pass

    assert f"{locked} cannot be used: its passphrase is wrong" in caught.value.hint
    assert [f"Passphrase for {key}: " for key in (locked, good, locked)] == questions


class Somebody:
    """Has one answer to every question."""

    def __init__(self, questions: list[str]) -> None:
        self._questions = questions

    def secret(self, question: str) -> str:
        """The answer."""
        self._questions.append(question)
        return "secret"

    answer = secret


def test_an_encrypted_key_that_nobody_can_open_is_named(yard: Yard) -> None:
    """With what to do about it."""
    key = yard.key("locked", passphrase="secret")
    server = yard.server(authorized=[public(key)])
    with pytest.raises(Auth) as caught:
        logged_in(yard, server, "IdentityAgent none", f"IdentityFile {key}")

    assert "auth" == caught.value.kind
    assert f"{key}: it is encrypted, and there is no terminal" in caught.value.message + caught.value.hint


def test_an_agent_that_is_gone_is_named(yard: Yard) -> None:
    """A socket from yesterday's session."""
    server = yard.server()
    with pytest.raises(Auth) as caught:
        logged_in(yard, server, f"IdentityAgent {yard.folder}/gone", "IdentityFile none")

    assert f"the ssh agent at {yard.folder}/gone does not answer" in caught.value.hint


def test_what_an_agent_says_is_what_it_holds(yard: Yard, agent: Callable[[Sequence[Path]], Path]) -> None:
    """In its order, with comments."""
    keys = [yard.key(name, kind=kind) for name, kind in (("a", "ed25519"), ("b", "rsa"))]
    held = SocketAgent(agent(keys)).held()

    assert [(blob_of(Path(f"{key}.pub")), key.name) for key in keys] == [(each.blob, each.comment) for each in held]
    assert base64.b64encode(held[0].blob).decode() in public(keys[0])
