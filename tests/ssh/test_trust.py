"""Whom we trust, against whom ssh trusts: the same file of known hosts, the same server, both asked."""

import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from recon.errors import HostKey, Unreadable
from recon.hosts.certificate import is_certificate
from recon.hosts.effective import effective
from recon.hosts.target import parse
from recon.hosts.trust import AUTHORITY, REVOKED, KnownHosts, append
from recon.hosts.wire import public_key
from tests.ssh.server import HERE, Server, Yard

pytestmark = pytest.mark.system("sshd", "ssh", "ssh-keygen")


def blob_of(path: Path) -> bytes:
    """The key, or the certificate, in a public file."""
    found = public_key(path.read_text())
    assert found
    return found[0]


def ssh_connects(config: Path, name: str) -> bool:
    """Whether ssh, as strict as it can be, logs in."""
    words = ["ssh", "-F", str(config), "-o", "StrictHostKeyChecking=yes", "-o", "BatchMode=yes", name, "true"]
    return subprocess.run(words, check=False, capture_output=True, stdin=subprocess.DEVNULL, timeout=20).returncode == 0


def verdict(config: Path, name: str, shown: list[Path]) -> str:
    """What we say of a host that shows one of these keys, as it would after its preference for known ones."""
    found = effective(parse(name), config=config)
    known = KnownHosts.from_files(
        (*found.user_known_hosts_files, *found.global_known_hosts_files), found.revoked_host_keys
    )
    order = known.preferred(found.known_as, found.known_port, found.host_key_algorithms)
    blobs = sorted((blob_of(path) for path in shown), key=lambda blob: order.index(public_type(blob)))
    try:
        known.check(found.known_as, found.known_port, blobs[0], algorithms=found.ca_signature_algorithms)
    except HostKey as error:
        return error.why
    return "trusted"


def public_type(blob: bytes) -> str:
    """The name of the algorithm by which a key is asked for."""
    kind = blob[4 : 4 + int.from_bytes(blob[:4])].decode()
    return kind.replace("ssh-rsa", "rsa-sha2-512")


@dataclass(frozen=True)
class Keys:
    """What lines of known hosts are made of."""

    yard: Yard
    server: Server
    other: Path
    authority: Path

    @property
    def name(self) -> str:
        """The server with its port."""
        return f"[{HERE}]:{self.server.port}"

    def line(self, name: str, key: Path | None = None, marker: str = "") -> str:
        """A line of known hosts."""
        return self.server.known(name, marker=marker, key=key)

    def hashed(self, name: str) -> str:
        """A line with a digest instead of the name, as ssh-keygen makes it."""
        path = self.yard.folder / "to-hash"
        path.write_text(self.line(name) + "\n")
        subprocess.run(["ssh-keygen", "-H", "-f", str(path)], check=True, capture_output=True)
        return path.read_text().strip()


PLAIN: dict[str, tuple[Callable[[Keys], list[str]], str]] = {
    "nothing": (lambda keys: [], "unknown"),
    "the name": (lambda keys: [keys.line(keys.name)], "trusted"),
    "the name without its port": (lambda keys: [keys.line(HERE)], "trusted"),
    "another name": (lambda keys: [keys.line("10.0.0.7")], "unknown"),
    "a digest": (lambda keys: [keys.hashed(keys.name)], "trusted"),
    "a digest of another name": (lambda keys: [keys.hashed("10.0.0.7")], "unknown"),
    "a pattern": (lambda keys: [keys.line("[127.*]:*")], "trusted"),
    "a pattern without a port": (lambda keys: [keys.line("127.0.0.?")], "trusted"),
    "a negation": (lambda keys: [keys.line(f"*,!{keys.name},!{HERE}")], "unknown"),
    "comments and nonsense": (
        lambda keys: ["# a comment", "", "one", "two words", f"@odd {keys.line('*')}", keys.line(keys.name) + " me@x"],
        "trusted",
    ),
    "only nonsense": (lambda keys: [f"# {keys.line('*')}", f"@odd {keys.line('*')}", "* ssh-ed25519 AAAA"], "unknown"),
    "another key": (lambda keys: [keys.line(keys.name, keys.other)], "changed"),
    "another key and this one": (lambda keys: [keys.line(keys.name, keys.other), keys.line(keys.name)], "trusted"),
    "another key with the port, this one without": (
        lambda keys: [keys.line(keys.name, keys.other), keys.line(HERE)],
        "changed",
    ),
    "revoked": (lambda keys: [keys.line("*", marker=REVOKED)], "revoked"),
    "known and revoked": (lambda keys: [keys.line(keys.name), keys.line("*", marker=REVOKED)], "revoked"),
    "known, and revoked elsewhere": (
        lambda keys: [keys.line(keys.name), keys.line("10.0.0.7", marker=REVOKED)],
        "trusted",
    ),
    "another key is revoked": (lambda keys: [keys.line(keys.name), keys.line("*", keys.other, REVOKED)], "trusted"),
    "an authority of others": (lambda keys: [keys.line("*", keys.authority, AUTHORITY)], "unknown"),
    "its key as an authority": (lambda keys: [keys.line("*", marker=AUTHORITY)], "unknown"),
}


@pytest.fixture
def keys(yard: Yard) -> Keys:
    """A server with a plain key."""
    return Keys(yard, yard.server(), yard.key("other"), yard.key("authority"))


def test_whom_we_trust_by_their_keys_ssh_trusts_too(keys: Keys) -> None:
    """Every table of lines gives the verdict written beside it, and ssh connects exactly where that is trust."""
    config = keys.yard.config(keys.server)
    said = {}
    for what, (lines, _) in PLAIN.items():
        keys.yard.known_hosts.write_text("\n".join(lines(keys)) + "\n")
        said[what] = (
            verdict(config, "gpu1", [Path(f"{keys.server.host_key}.pub")]),
            ssh_connects(config, "gpu1"),
        )

    assert {what: (wanted, wanted == "trusted") for what, (_, wanted) in PLAIN.items()} == said


@dataclass(frozen=True)
class Certified:
    """A host with a certificate, what is known, and what follows."""

    verdict: str
    principals: str = HERE
    validity: str = ""
    is_host: bool = True
    options: tuple[str, ...] = ()
    kind: str = "ed25519"
    lines: Callable[[Keys], list[str]] = lambda keys: [keys.line(f"*,{keys.name}", keys.authority, AUTHORITY)]
    alias: str = ""
    config: tuple[str, ...] = ()


CERTIFIED = {
    "good": Certified("trusted"),
    "by an RSA authority": Certified("trusted", kind="rsa"),
    "by an ECDSA authority": Certified("trusted", kind="ecdsa"),
    "one of its names": Certified("trusted", principals=f"a.corp,{HERE}"),
    "a wrong name": Certified("certificate", principals="a.corp"),
    "no names": Certified("trusted", principals=""),
    "a name with a star": Certified("certificate", principals="*"),
    "a name in capitals": Certified("certificate", principals="GPU", alias="gpu"),
    "an alias": Certified("trusted", principals="gpu", alias="GPU"),
    "a pattern and an alias": Certified("certificate", principals="gpu*", alias="gpu7"),
    "over": Certified("certificate", validity="20200101:20200102"),
    "not yet": Certified("certificate", validity="20990101:20990102"),
    "for ever": Certified("trusted", validity="always:forever"),
    "for users": Certified("certificate", is_host=False),
    "authority of other hosts": Certified(
        "unknown", lines=lambda keys: [keys.line("*.corp", keys.authority, AUTHORITY)]
    ),
    "authority of hosts without a port": Certified(
        "trusted", lines=lambda keys: [keys.line("127.*", keys.authority, AUTHORITY)]
    ),
    "unknown authority, known key": Certified("trusted", lines=lambda keys: [keys.line(keys.name)]),
    "unknown authority, another key": Certified("changed", lines=lambda keys: [keys.line(keys.name, keys.other)]),
    "authority as a plain key": Certified("changed", lines=lambda keys: [keys.line(keys.name, keys.authority)]),
    "over, known key": Certified(
        "trusted",
        validity="20200101:20200102",
        lines=lambda keys: [keys.line("*", keys.authority, AUTHORITY), keys.line(keys.name)],
    ),
    "revoked authority": Certified(
        "revoked",
        lines=lambda keys: [keys.line("*", keys.authority, AUTHORITY), keys.line("*", keys.authority, REVOKED)],
    ),
    "revoked key": Certified(
        "revoked", lines=lambda keys: [keys.line("*", keys.authority, AUTHORITY), keys.line("*", marker=REVOKED)]
    ),
    "revoked authority, known key": Certified(
        "revoked", lines=lambda keys: [keys.line(keys.name), keys.line("*", keys.authority, REVOKED)]
    ),
    "an algorithm that is not allowed": Certified(
        "certificate", kind="rsa", config=("CASignatureAlgorithms ssh-ed25519",)
    ),
}


@pytest.mark.parametrize("what", CERTIFIED)
def test_whom_we_trust_by_their_certificates_ssh_trusts_too(what: str, yard: Yard) -> None:
    """A known authority must have signed this key for this name and this time, and nobody revoked it."""
    case = CERTIFIED[what]
    authority, host_key = yard.key("authority", kind=case.kind), yard.key("host")
    certificate = certify(yard, host_key, authority, case)
    server = yard.server(host_key=host_key, host_certificate=certificate)
    keys = Keys(yard, server, yard.key("other"), authority)
    yard.known_hosts.write_text("\n".join(case.lines(keys)) + "\n")
    alias = [f"HostKeyAlias {case.alias}"] if case.alias else []
    config = yard.config(server, lines={"gpu1": [*alias, *case.config]})
    said = verdict(config, "gpu1", [Path(f"{host_key}.pub"), certificate])

    assert is_certificate(blob_of(certificate))
    assert case.verdict == said
    assert ssh_connects(config, "gpu1") is (said == "trusted")


def certify(yard: Yard, key: Path, authority: Path, case: Certified) -> Path:
    """A certificate of a host's key."""
    names = ["-n", case.principals] if case.principals else []
    host = ["-h"] if case.is_host else []
    validity = ["-V", case.validity] if case.validity else []
    words = ["ssh-keygen", "-q", "-s", str(authority), "-I", "host", *host, *names, *validity, f"{key}.pub"]
    subprocess.run(words, check=True, capture_output=True)
    return key.with_name(f"{key.name}-cert.pub")


@pytest.mark.parametrize("hash_names", [False, True])
def test_a_line_that_we_add_is_one_that_ssh_trusts(keys: Keys, hash_names: bool) -> None:
    """And ssh-keygen finds it; whatever stood there stays as it is."""
    before = b"# mine \xff\r\n\n* not a key\n@odd stuff\n10.0.0.7 ssh-ed25519 AAAA no end"
    keys.yard.known_hosts.write_bytes(before)
    config = keys.yard.config(keys.server)
    append(
        keys.yard.known_hosts,
        HERE,
        keys.server.port,
        blob_of(Path(f"{keys.server.host_key}.pub")),
        hash_names=hash_names,
    )
    after = keys.yard.known_hosts.read_bytes()
    found = ["ssh-keygen", "-F", keys.name, "-f", str(keys.yard.known_hosts)]

    assert before + b"\n" == after[: len(before) + 1]
    assert 1 == after[len(before) + 1 :].count(b"\n")
    assert hash_names is (keys.name.encode() not in after)
    assert ssh_connects(config, "gpu1")
    assert 0 == subprocess.run(found, check=False, capture_output=True).returncode


def test_revoked_keys_in_a_file_of_their_own_are_refused_as_ssh_does(keys: Keys) -> None:
    """`RevokedHostKeys` names it; one that cannot be read means that nobody is trusted."""
    revoked = keys.yard.folder / "revoked"
    keys.yard.known_hosts.write_text(keys.line(keys.name) + "\n")
    config = keys.yard.config(keys.server, lines={"gpu1": [f"RevokedHostKeys {revoked}"]})
    shown = [Path(f"{keys.server.host_key}.pub")]
    said = []
    for key in (keys.other, keys.server.host_key):
        revoked.write_text("# revoked\n" + Path(f"{key}.pub").read_text())
        said.append((verdict(config, "gpu1", shown), ssh_connects(config, "gpu1")))
    revoked.unlink()

    assert [("trusted", True), ("revoked", False)] == said
    assert not ssh_connects(config, "gpu1")
    with pytest.raises(Unreadable, match="revoked"):
        verdict(config, "gpu1", shown)
