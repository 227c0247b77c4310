"""Which keys are offered, in which order, and why others are not."""

import base64
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    KeySerializationEncryption,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    SSHCertificateBuilder,
    SSHCertificateType,
)

from recon.errors import Auth, Unreachable
from recon.hosts import keys
from recon.hosts.agent import Held, SocketAgent
from recon.hosts.effective import Effective, effective
from recon.hosts.identities import Offers, agent_of, offers
from recon.hosts.target import parse
from recon.hosts.wire import Reader, fingerprint, public_key, string

Private = ed25519.Ed25519PrivateKey | rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey

KINDS = ["rsa", "ecdsa256", "ecdsa384", "ecdsa521", "ed25519"]
FORMS = [PrivateFormat.OpenSSH, PrivateFormat.TraditionalOpenSSL, PrivateFormat.PKCS8]
NO_SUCH_FORMAT = ("ed25519", PrivateFormat.TraditionalOpenSSL)
AUTHORITY = ed25519.Ed25519PrivateKey.from_private_bytes(b"a" * 32)
SK = string(b"sk-ssh-ed25519@openssh.com") + string(b"k" * 32) + string(b"ssh:")
DSS = string(b"ssh-dss") + 4 * string(b"\x01")
ODD = string(b"quantum-9000@example.org") + string(b"?")


def private(seed: int) -> ed25519.Ed25519PrivateKey:
    """A key, always the same for a seed."""
    return ed25519.Ed25519PrivateKey.from_private_bytes(bytes([seed]) * 32)


def line(key: Private) -> str:
    """Its public half as files have it."""
    return key.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode()


def blob(key: Private) -> bytes:
    """The same as bytes."""
    return base64.b64decode(line(key).split()[1])


def certified(key: Private, *, kind: SSHCertificateType = SSHCertificateType.USER, end: int = 1 << 40) -> str:
    """A certificate of a key, as files have it."""
    builder = SSHCertificateBuilder().public_key(key.public_key()).type(kind).key_id(b"id").serial(1)
    builder = builder.valid_principals([b"me"]).valid_after(0).valid_before(end)
    return builder.sign(AUTHORITY).public_bytes().decode()


@dataclass
class FakeAgent:
    """Holds what it is told to; signatures say by which key they are."""

    blobs: Sequence[tuple[bytes, str]] = ()
    asked: list[tuple[bytes, int]] = field(default_factory=list)

    def held(self) -> Sequence[Held]:
        """What it holds."""
        return [Held(blob, comment) for blob, comment in self.blobs]

    def sign(self, blob: bytes, data: bytes, flags: int) -> bytes:
        """A signature of sorts."""
        self.asked.append((blob, flags))
        return b"signed " + data


class DeadAgent:
    """Does not answer."""

    def held(self) -> Sequence[Held]:
        """Nothing."""
        raise Unreachable("the ssh agent at /run/agent does not answer: refused")

    def sign(self, blob: bytes, data: bytes, flags: int) -> bytes:
        """Nothing."""
        raise Unreachable("refused")


@dataclass
class Folder:
    """Where identity files are, and a configuration that names them."""

    path: Path

    def put(
        self,
        name: str,
        key: Private,
        *,
        passphrase: str = "",
        public: bool = False,
        form: PrivateFormat = PrivateFormat.OpenSSH,
    ) -> Path:
        """Write a private key, and its public half beside it."""
        path = self.path / name
        locked: KeySerializationEncryption = (
            BestAvailableEncryption(passphrase.encode()) if passphrase else NoEncryption()
        )
        path.write_bytes(key.private_bytes(Encoding.PEM, form, locked))
        path.chmod(0o600)
        if public:
            path.with_name(f"{name}.pub").write_text(line(key) + " me@here\n")
        return path

    def text(self, name: str, text: str) -> Path:
        """Write any file."""
        path = self.path / name
        path.write_text(text + "\n")
        return path

    def config(
        self, *files: Path, only: bool = False, certificates: Sequence[Path] = (), accepted: Sequence[str] = ()
    ) -> Effective:
        """A configuration with these identity files."""
        return replace(
            effective(parse("gpu07"), program="/no-such-ssh"),
            identity_files=files,
            certificate_files=tuple(certificates),
            identities_only=only,
            pubkey_accepted_algorithms=tuple(accepted),
        )


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    """A folder of keys."""
    return Folder(tmp_path)


def labels(found: Offers) -> list[str]:
    """What is offered, by its name."""
    return [offer.label.rpartition("/")[2] for offer in found.keys]


def test_certificates_come_first_then_named_keys_then_others(folder: Folder) -> None:
    """What the user meant most surely comes first."""
    agent = FakeAgent([(blob(private(9)), "other"), (blob(private(2)), "named")])
    files = [
        folder.put("plain", private(1)),
        folder.put("held", private(2)),
        folder.put("locked", private(3), passphrase="x"),
    ]
    folder.text("plain-cert.pub", certified(private(1)))
    found = offers(folder.config(*files), agent, lambda question: "x")

    assert ["plain-cert.pub", "named of the agent", "plain", "other of the agent", "locked"] == labels(found)
    assert () == found.skipped


def test_a_default_key_comes_after_the_agents_as_with_ssh(folder: Folder) -> None:
    """Nobody named it, so it may be anything."""
    agent = FakeAgent([(blob(private(9)), "other")])
    found = offers(folder.config(folder.put("id_ed25519", private(1)), folder.put("work", private(2))), agent)

    assert ["work", "other of the agent", "id_ed25519"] == labels(found)


def test_identities_only_keeps_the_agents_others_back(folder: Folder) -> None:
    """Eight keys in the agent, the right one last: a `.pub` file chooses it."""
    agent = FakeAgent([(blob(private(seed)), f"key{seed}") for seed in range(1, 9)])
    chosen = folder.text("chosen.pub", line(private(8)))
    found = offers(folder.config(chosen, only=True), agent)

    assert ["key8 of the agent"] == labels(found)
    assert fingerprint(blob(private(8))) == found.keys[0].fingerprint


def test_a_public_key_beside_a_missing_private_one_chooses_too(folder: Folder) -> None:
    """`IdentityFile work` where only work.pub is there."""
    agent = FakeAgent([(blob(private(seed)), f"key{seed}") for seed in range(1, 9)])
    folder.text("work.pub", line(private(8)))
    found = offers(folder.config(folder.path / "work"), agent)

    assert ["key8 of the agent", "key1 of the agent"] == labels(found)[:2]


def test_at_most_five_are_offered_and_the_rest_is_named(folder: Folder) -> None:
    """A server hangs up after six, and then says nothing of use."""
    agent = FakeAgent([(blob(private(seed)), f"key{seed}") for seed in range(1, 9)])
    found = offers(folder.config(folder.put("mine", private(20))), agent)

    assert ["mine", "key1 of the agent", "key2 of the agent", "key3 of the agent", "key4 of the agent"] == labels(found)
    assert 4 == len(found.skipped)
    assert found.skipped[0].startswith(f"key5 of the agent (ssh-ed25519 {fingerprint(blob(private(5)))}): at most 5")


def test_one_odd_key_does_not_spoil_the_others(folder: Folder) -> None:
    """Hardware keys are for ssh; types that nobody knows are for nobody."""
    agent = FakeAgent([(SK, "yubi"), (ODD, "odd"), (DSS, "old"), (b"", "empty"), (blob(private(1)), "good")])
    found = offers(folder.config(), agent)

    assert ["good of the agent"] == labels(found)
    assert ("yubi of the agent",) == found.only_ssh
    assert ["yubi", "odd", "old", "empty"] == [reason.partition(" ")[0] for reason in found.skipped]


def test_a_hardware_key_in_a_file_is_for_ssh(folder: Folder) -> None:
    """Its file holds a handle; OpenSSH's own format says so."""
    body = b"openssh-key-v1\0" + string(b"none") + string(b"none") + string(b"") + (1).to_bytes(4) + string(SK)
    text = f"-----BEGIN OPENSSH PRIVATE KEY-----\n{base64.b64encode(body).decode()}\n-----END OPENSSH PRIVATE KEY-----"
    path = folder.text("id_sk", text)
    path.chmod(0o600)
    found = offers(folder.config(path), None)

    assert ([], (str(path),)) == (labels(found), found.only_ssh)


def test_an_agent_that_does_not_answer_is_said_and_files_are_offered(folder: Folder) -> None:
    """A stale socket is common."""
    found = offers(folder.config(folder.put("mine", private(1))), DeadAgent())

    assert ["mine"] == labels(found)
    assert ("the ssh agent at /run/agent does not answer: refused",) == found.skipped


def test_an_encrypted_key_is_left_out_where_nobody_can_be_asked(folder: Folder) -> None:
    """With its name, so that it can be added to the agent."""
    path = folder.put("mine", private(1), passphrase="secret")
    found = offers(folder.config(path), None)

    assert () == found.keys
    assert (f"{path}: it is encrypted, and there is no terminal to ask for its passphrase",) == found.skipped
    assert ["me of the agent"] == labels(offers(folder.config(path), FakeAgent([(blob(private(1)), "me")])))


@pytest.mark.parametrize("form", FORMS)
def test_a_passphrase_is_asked_for_once_and_when_the_key_has_its_turn(form: PrivateFormat, folder: Folder) -> None:
    """Whatever format the file has; the question names the file."""
    key = ec.derive_private_key(7, ec.SECP256R1())
    path = folder.put("mine", key, passphrase="secret", public=True, form=form)
    questions: list[str] = []

    def ask(question: str) -> str:
        questions.append(question)
        return "secret"

    found = offers(folder.config(path), None, ask)

    assert ([], ["ecdsa-sha2-nistp256"]) == (questions, [offer.type for offer in found.keys])
    assert blob(key) == found.keys[0].signer().asbytes()
    assert [f"Passphrase for {path}: "] == questions


def test_a_wrong_passphrase_names_the_key_and_is_not_asked_for_again(folder: Folder) -> None:
    """The caller goes on with the next key."""
    path = folder.put("mine", private(1), passphrase="secret")
    answers = iter(["wrong"])
    (offer,) = offers(folder.config(path), None, lambda question: next(answers)).keys
    with pytest.raises(Auth, match=f"{path} cannot be used: its passphrase is wrong"):
        offer.signer()

    assert [] == list(answers)


def test_a_key_that_others_may_read_is_refused_as_ssh_does(folder: Folder) -> None:
    """It is no secret any more."""
    path = folder.put("mine", private(1))
    path.chmod(0o644)
    found = offers(folder.config(path), None)

    assert ((), (f"{path}: others may read it; try: chmod 600 {path}",)) == (found.keys, found.skipped)


def test_files_that_are_no_keys_are_nothing(folder: Folder) -> None:
    """Missing ones, folders, text, and keys that are cut."""
    cut = folder.put("cut", private(1))
    cut.write_bytes(cut.read_bytes()[:60] + b"\n-----END OPENSSH PRIVATE KEY-----\n")
    (folder.path / "dir").mkdir()
    files = [folder.path / "missing", folder.path / "dir", folder.text("text", "hello"), cut, Path("/dev/null")]
    found = offers(folder.config(*files), None)

    assert ((), ()) == (found.keys, found.skipped)


@pytest.mark.parametrize(("kind", "form"), sorted(set(itertools.product(KINDS, FORMS)) - {NO_SUCH_FORMAT}, key=str))
def test_signatures_of_keys_in_files_are_right(kind: str, form: PrivateFormat, folder: Folder) -> None:
    """Checked with the public half, by the algorithm that the signature names."""
    curves = {"ecdsa256": ec.SECP256R1(), "ecdsa384": ec.SECP384R1(), "ecdsa521": ec.SECP521R1()}
    key: Private = (
        private(1) if kind == "ed25519" else rsa_key() if kind == "rsa" else ec.derive_private_key(9, curves[kind])
    )
    (offer,) = offers(folder.config(folder.put("mine", key, form=form)), None).keys
    signer = offer.signer()
    for algorithm in ("rsa-sha2-256", "rsa-sha2-512") if kind == "rsa" else (signer.get_name(),):
        reader = Reader(signer.sign_ssh_data(b"data", f"{algorithm}-cert-v01@openssh.com"))

        assert algorithm == reader.text()
        verify(key, algorithm, reader.string(), b"data")
    assert line(key).split()[0] == signer.get_name()
    assert blob(key) == signer.asbytes()


def rsa_key() -> rsa.RSAPrivateKey:
    """Made once: that takes a while."""
    if not RSA:
        RSA.append(rsa.generate_private_key(65537, 2048))
    return RSA[0]


RSA: list[rsa.RSAPrivateKey] = []


def verify(key: Private, algorithm: str, signature: bytes, data: bytes) -> None:
    """Raise if a signature is wrong."""
    from cryptography.hazmat.primitives.asymmetric import padding, utils
    from cryptography.hazmat.primitives.hashes import SHA256, SHA384, SHA512

    public = key.public_key()
    if isinstance(public, ed25519.Ed25519PublicKey):
        public.verify(signature, data)
    elif isinstance(public, rsa.RSAPublicKey):
        public.verify(signature, data, padding.PKCS1v15(), SHA256() if algorithm == "rsa-sha2-256" else SHA512())
    else:
        numbers = Reader(signature)
        r, s = (int.from_bytes(numbers.string(), signed=True) for _ in range(2))
        digest = {256: SHA256(), 384: SHA384(), 521: SHA512()}[public.key_size]
        public.verify(utils.encode_dss_signature(r, s), data, ec.ECDSA(digest))


def test_the_agent_signs_for_its_keys(folder: Folder) -> None:
    """With the flag of the algorithm; for a certificate with the key that it has."""
    key = rsa_key()
    agent = FakeAgent([(blob(key), "mine")])
    path = folder.text("mine-cert.pub", certified(key))
    certificate, plain = offers(folder.config(folder.text("mine.pub", line(key)), certificates=[path]), agent).keys
    signer = certificate.signer()

    assert signer.public_blob
    assert ("ssh-rsa-cert-v01@openssh.com", "ssh-rsa") == (signer.public_blob.key_type, signer.get_name())
    assert b"signed x" == signer.sign_ssh_data(b"x", "rsa-sha2-512-cert-v01@openssh.com")
    assert b"signed x" == plain.signer().sign_ssh_data(b"x", "rsa-sha2-256")
    assert plain.signer().public_blob is None
    assert [(blob(key), 4), (blob(key), 2)] == agent.asked


def test_a_certificate_that_the_agent_holds_is_offered_as_one(folder: Folder) -> None:
    """And signed with under its own name."""
    shown = public_key(certified(private(1)))
    assert shown
    agent = FakeAgent([(shown[0], "mine")])
    (offer,) = offers(folder.config(), agent).keys
    signer = offer.signer()
    signer.sign_ssh_data(b"x", None)

    assert "ssh-ed25519-cert-v01@openssh.com" == offer.type
    assert signer.public_blob
    assert (shown[0], blob(private(1))) == (signer.public_blob.key_blob, signer.asbytes())
    assert [(shown[0], 0)] == agent.asked


@pytest.mark.parametrize(
    ("certificate", "why"),
    [
        (certified(private(1), end=1000), "it was valid until 1970-01-01"),
        (certified(private(1), kind=SSHCertificateType.HOST), "it is a certificate for hosts"),
        (certified(private(2)), "its private key is neither in the agent nor in an identity file"),
    ],
)
def test_a_certificate_that_is_of_no_use_is_named(certificate: str, why: str, folder: Folder) -> None:
    """The key itself is offered all the same."""
    path = folder.text("some-cert.pub", certificate)
    found = offers(folder.config(folder.put("mine", private(1)), certificates=[path]), None)

    assert ["mine"] == labels(found)
    assert 1 == len(found.skipped)
    assert why in found.skipped[0]


def test_configured_certificates_take_the_place_of_those_beside_the_keys(folder: Folder) -> None:
    """As ssh does it."""
    mine = folder.put("mine", private(1))
    folder.text("mine-cert.pub", certified(private(1)))
    other = folder.text("other-cert.pub", certified(private(1)))

    assert ["mine-cert.pub", "mine"] == labels(offers(folder.config(mine), None))
    assert ["other-cert.pub", "mine"] == labels(offers(folder.config(mine, certificates=[other]), None))


def test_types_that_the_configuration_does_not_accept_are_left_out(folder: Folder) -> None:
    """For RSA any of its algorithms will do."""
    files = [folder.put("a", private(1)), folder.put("b", rsa_key())]
    found = offers(folder.config(*files, accepted=["rsa-sha2-256"]), None)

    assert ["b"] == labels(found)
    assert (f"{files[0]}: PubkeyAcceptedAlgorithms does not have ssh-ed25519",) == found.skipped


def test_a_key_that_is_named_twice_is_offered_once(folder: Folder) -> None:
    """The agent's copy does, without a question."""
    path = folder.put("mine", private(1))
    again = folder.text("again.pub", line(private(1)))

    assert ["x of the agent"] == labels(offers(folder.config(path, again), FakeAgent([(blob(private(1)), "x")] * 2)))
    assert ["mine"] == labels(offers(folder.config(path, path), None))


def test_the_agent_is_the_configured_one(folder: Folder) -> None:
    """Or none."""
    config = folder.config()

    assert agent_of(replace(config, identity_agent=None)) is None
    assert SocketAgent(Path("/run/x")) == agent_of(replace(config, identity_agent=Path("/run/x")))


def test_reading_a_key_file_needs_no_passphrase(folder: Folder) -> None:
    """OpenSSH's format shows the public half."""
    found = keys.read(folder.put("mine", private(1), passphrase="secret"))

    assert found
    assert (blob(private(1)), True, True) == (found.blob, found.private, found.encrypted)
