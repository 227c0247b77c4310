"""Certificates: what they say, against another parser, and that none with a changed byte is accepted."""

import base64
import subprocess
import time
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.serialization import SSHCertificate, load_ssh_public_identity
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recon.hosts.certificate import HOST, USER, Certificate, is_certificate, out_of_use, parse, plain_type, refusal
from recon.hosts.wire import Malformed, public_key

pytestmark = pytest.mark.system("ssh-keygen")

KINDS = ["ed25519", "rsa", "ecdsa"]


def keygen(*words: str) -> None:
    """Run ssh-keygen."""
    subprocess.run(["ssh-keygen", "-q", *words], check=True, stdin=subprocess.DEVNULL, capture_output=True)


def blob_of(path: Path) -> bytes:
    """The key, or the certificate, in a public file."""
    found = public_key(path.read_text())
    assert found
    return found[0]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Keys of every kind, each certified as a host by an authority of every kind."""
    home = tmp_path_factory.mktemp("certificates")
    for kind in KINDS:
        keygen("-t", kind, "-N", "", "-f", str(home / kind))
        keygen("-t", kind, "-N", "", "-f", str(home / f"by-{kind}"))
    for kind in KINDS:
        for authority in KINDS:
            words = ["-s", str(home / f"by-{authority}"), "-h", "-I", "an id", "-n", "gpu07,gpu08", "-z", "7"]
            keygen(*words, "-V", "20260101:20990101", str(home / f"{kind}.pub"))
            (home / f"{kind}-cert.pub").rename(home / f"{kind}-by-{authority}")
    return home


@pytest.mark.parametrize("authority", KINDS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_certificate_says_what_another_parser_reads(kind: str, authority: str, folder: Path) -> None:
    """Keys, names, times, number: `cryptography` has a parser of its own."""
    path = folder / f"{kind}-by-{authority}"
    parsed = parse(blob_of(path))
    read = load_ssh_public_identity(path.read_bytes())
    assert isinstance(read, SSHCertificate)

    assert [each.decode() for each in read.valid_principals] == list(parsed.principals)
    assert (read.serial, read.key_id.decode(), HOST) == (parsed.serial, parsed.key_id, parsed.kind)
    assert (read.valid_after, read.valid_before) == (parsed.valid_after, parsed.valid_before)
    assert blob_of(folder / f"{kind}.pub") == parsed.key
    assert blob_of(folder / f"by-{authority}.pub") == parsed.authority
    assert "" == refusal(parsed, "gpu07", ())


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_certificate_with_a_changed_byte_is_not_accepted(data: st.DataObject, folder: Path) -> None:
    """Whatever was changed: it cannot be read, or its signature is wrong, or it is refused for what it says."""
    pair = [data.draw(st.sampled_from(KINDS)) for _ in range(2)]
    blob = bytearray(blob_of(folder / "-by-".join(pair)))
    at = data.draw(st.integers(0, len(blob) - 1))
    blob[at] ^= data.draw(st.integers(1, 255))
    try:
        parsed = parse(bytes(blob))
    except Malformed:
        return

    assert refusal(parsed, "gpu07", ())


@settings(max_examples=200, deadline=None)
@given(data=st.binary(max_size=300), cut=st.integers(0, 200))
def test_bytes_that_are_no_certificate_are_said_to_be_none(data: bytes, cut: int) -> None:
    """Nothing that a server sends does more than be refused."""
    kind = b"ssh-ed25519-cert-v01@openssh.com"
    for blob in (data, len(kind).to_bytes(4) + kind + data[:cut]):
        is_certificate(blob)
        with pytest.raises(Malformed):
            parse(blob)


def test_a_certificate_that_was_cut_is_none(folder: Path) -> None:
    """At any byte, and with one more."""
    blob = blob_of(folder / "ed25519-by-ecdsa")
    for length in range(len(blob)):
        with pytest.raises(Malformed):
            parse(blob[:length])
    with pytest.raises(Malformed):
        parse(blob + b"\0")


def certificate(folder: Path, *words: str) -> Certificate:
    """A certificate made with options of ssh-keygen."""
    keygen("-s", str(folder / "by-ed25519"), "-I", "id", *words, str(folder / "ed25519.pub"))
    return parse(blob_of(folder / "ed25519-cert.pub"))


def test_each_reason_to_refuse_is_named(folder: Path) -> None:
    """Use, time, names, options, algorithm."""
    good = certificate(folder, "-h", "-n", "gpu07", "-V", "20260101:20990101")
    sha1 = parse(blob_of(folder / "rsa-by-rsa"))
    critical = certificate(folder, "-h", "-n", "gpu07", "-O", "critical:odd@x=1", "-V", "always:forever")
    start, end = good.valid_after, good.valid_before

    assert "" == refusal(good, "gpu07", ("ssh-ed25519",), start)
    assert "it is for gpu07" == refusal(good, "gpu08", (), start)
    assert refusal(good, "gpu07", (), start - 1).startswith("it is not valid before 2026-01-01")
    assert "" == refusal(good, "gpu07", (), end - 1)
    assert refusal(good, "gpu07", (), end).startswith("it was valid until 2099-01-01")
    assert "its authority signed with ssh-ed25519" == refusal(good, "gpu07", ("rsa-sha2-512",), start)
    assert "its authority signed with rsa-sha2-512" == refusal(sha1, "gpu07", ("ssh-ed25519",), start)
    assert "it demands odd@x" == refusal(critical, "gpu07", (), start)
    assert "it is a certificate for users" == refusal(certificate(folder, "-n", "gpu07"), "gpu07", (), time.time())


def test_sha1_is_refused_even_where_nothing_is_said_of_algorithms(folder: Path) -> None:
    """Old authorities sign so unless they are told."""
    keygen("-t", "ssh-rsa", "-s", str(folder / "by-rsa"), "-h", "-I", "id", "-n", "gpu07", str(folder / "rsa.pub"))
    parsed = parse(blob_of(folder / "rsa-cert.pub"))

    assert "its authority signed with ssh-rsa" == refusal(parsed, "gpu07", ())
    assert "its authority signed with ssh-rsa" == refusal(parsed, "gpu07", ("ssh-rsa",))


def test_certificates_of_users_are_for_users(folder: Path) -> None:
    """The same check of time for both."""
    parsed = certificate(folder, "-n", "me", "-V", "always:forever")

    assert "" == out_of_use(parsed, USER)
    assert "it is a certificate for users" == out_of_use(parsed, HOST)


def test_a_certificate_is_not_an_authority(folder: Path) -> None:
    """Chains are not a thing of OpenSSH."""
    inner = blob_of(folder / "ed25519-by-ed25519")
    parsed = parse(inner)
    outer = inner.replace(len(parsed.authority).to_bytes(4) + parsed.authority, len(inner).to_bytes(4) + inner)
    with pytest.raises(Malformed, match="certificate itself"):
        parse(outer)


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("ssh-ed25519-cert-v01@openssh.com", "ssh-ed25519"),
        ("rsa-sha2-512-cert-v01@openssh.com", "rsa-sha2-512"),
        ("sk-ecdsa-sha2-nistp256-cert-v01@openssh.com", "sk-ecdsa-sha2-nistp256@openssh.com"),
        ("ssh-rsa", "ssh-rsa"),
    ],
)
def test_the_type_of_a_certified_key(name: str, plain: str) -> None:
    """Security keys carry a domain of their own."""
    assert plain == plain_type(name)


def test_a_public_line_must_be_of_the_type_that_it_says(folder: Path) -> None:
    """A line that says one type and holds another is none."""
    blob = base64.b64encode(blob_of(folder / "rsa.pub")).decode()

    assert public_key(f"ssh-rsa {blob} a comment") == (blob_of(folder / "rsa.pub"), "a comment")
    assert public_key(f"ssh-ed25519 {blob}") is None
    assert public_key("ssh-rsa not-base64") is None
    assert public_key("") is None
