"""Keys to log in with: private keys in files, read without their secret, and signers that paramiko takes as keys.

Signers have what paramiko asks of a key (a name, bytes, a certificate, signatures) and are none of its classes: its
versions differ in what they make of certificates, of keys in agents and of types that they do not know.
"""

import base64
import binascii
import os
import re
import stat
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from recon.errors import Auth, Unreachable
from recon.hosts.agent import Agent
from recon.hosts.certificate import SUFFIX, is_certificate
from recon.hosts.wire import Malformed, Reader, public_key, string, type_of

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes

Ask = Callable[[str], str]
"""Asks the user, on a terminal, for the secret that the words name."""

_MAGIC = b"openssh-key-v1\0"
_LARGEST = 1 << 20
_PEM = re.compile(rb"-----BEGIN ([A-Z ]*)PRIVATE KEY-----\s(.*?)-----END", re.DOTALL)
_FLAGS = {"rsa-sha2-256": 2, "rsa-sha2-512": 4}


@dataclass(frozen=True, slots=True)
class PublicPart:
    """What paramiko asks of a certificate."""

    key_type: str
    key_blob: bytes


@dataclass(frozen=True, slots=True)
class KeyFile:
    """What an identity file holds, as far as that can be read without a passphrase."""

    path: Path
    blob: bytes
    """The public key; empty where only the private one would tell, and that is encrypted."""
    private: bool
    """Whether the file holds a private key; otherwise it only chooses one of the agent's."""
    encrypted: bool = False
    trouble: str = ""
    """Why the private key must not be used."""


class Signer:
    """A key as paramiko sees it.

    Attributes:
        public_blob: The certificate to show instead of the key; None for none.
        trouble: Why the last signature came out empty; '' where none did.
    """

    def __init__(self, blob: bytes, certificate: bytes, sign: Callable[[bytes, str], bytes]) -> None:
        """A key that signs by a function of the data and the algorithm's name."""
        self.public_blob = PublicPart(type_of(certificate), certificate) if certificate else None
        self.trouble = ""
        self._blob = blob
        self._sign = sign

    def get_name(self) -> str:
        """The type of the key."""
        return type_of(self._blob)

    def asbytes(self) -> bytes:
        """The public key."""
        return self._blob

    def can_sign(self) -> bool:
        """Whether there is a private key."""
        return True

    def sign_ssh_data(self, data: bytes, algorithm: str | None = None) -> bytes:
        """A signature, with its algorithm before it.

        An agent may refuse, or be gone by now. Raised here, that would end the connection and with it the attempt: the
        signature is then empty, the host does not take it, and the next key has its turn.
        """
        name = (algorithm or self.get_name()).removesuffix(SUFFIX)
        try:
            return self._sign(data, name)
        except Unreachable as error:
            self.trouble = error.message
            return string(name.encode()) + string(b"")


def read(path: Path) -> KeyFile | None:
    """What an identity file holds; None where there is none, or nothing that is a key."""
    try:
        data, mode, owner = _bytes(path)
    except OSError:
        return _chosen(path, path.with_name(f"{path.name}.pub"))
    if public := public_key(data.decode("utf-8", "replace")):
        return KeyFile(path, public[0], private=False)
    blob, encrypted = _private(data)
    if blob is None:
        return None
    beside = _chosen(path, path.with_name(f"{path.name}.pub"))
    open_to_others = mode & 0o077 and owner == os.getuid()
    trouble = f"others may read it; try: chmod 600 {path}" if open_to_others else ""
    file = KeyFile(path, blob or (beside.blob if beside else b""), private=True, encrypted=encrypted, trouble=trouble)
    if file.blob or file.encrypted or file.trouble:
        return file
    try:
        return replace(file, blob=_public(_loaded(file, None)))
    except Auth as error:
        return replace(file, trouble=error.message)


def certificates(path: Path) -> tuple[bytes, ...]:
    """The certificate in a file, if there is one."""
    try:
        found = public_key(_bytes(path)[0].decode("utf-8", "replace"))
    except OSError:
        return ()
    return (found[0],) if found and is_certificate(found[0]) else ()


def signer_of_agent(agent: Agent, held: bytes, blob: bytes, certificate: bytes) -> Signer:
    """A key of the agent.

    Args:
        agent: Who signs.
        held: What the agent knows it by: the key, or a certificate.
        blob: The plain key.
        certificate: What to show instead of the key; empty for the key.
    """
    return Signer(blob, certificate, lambda data, algorithm: agent.sign(held, data, _FLAGS.get(algorithm, 0)))


def signer_of_file(file: KeyFile, certificate: bytes, ask: Ask | None) -> Signer:
    """The private key in a file.

    Raises:
        Auth: it is encrypted and nobody can be asked, or the passphrase is wrong, or it cannot be read.
    """
    private = _loaded(file, ask)
    return Signer(
        file.blob or _public(private), certificate, lambda data, algorithm: _signature(private, data, algorithm)
    )


def _bytes(path: Path) -> tuple[bytes, int, int]:
    """Bytes, mode and owner of a file."""
    with path.open("rb") as file:
        about = os.fstat(file.fileno())
        if not stat.S_ISREG(about.st_mode):
            raise OSError("no regular file")
        return file.read(_LARGEST), about.st_mode, about.st_uid


def _chosen(path: Path, public: Path) -> KeyFile | None:
    """A file that is not there, but the public key beside it chooses one of the agent's."""
    try:
        found = public_key(_bytes(public)[0].decode("utf-8", "replace"))
    except OSError:
        return None
    return KeyFile(path, found[0], private=False) if found else None


def _private(data: bytes) -> tuple[bytes | None, bool]:
    """The public half, empty where the file does not show it, and whether the file is encrypted; None for no key."""
    match = _PEM.search(data)
    if match is None:
        return None, False
    if match[1] != b"OPENSSH ":
        return b"", b"ENCRYPTED" in match[1] or b"Proc-Type: 4,ENCRYPTED" in match[2]
    try:
        reader = Reader(base64.b64decode(b"".join(match[2].split()), validate=True))
        if reader.take(len(_MAGIC)) != _MAGIC:
            return None, False
        cipher = reader.string()
        reader.string(), reader.string(), reader.number()  # how the passphrase is used; how many keys
        return reader.string(), cipher != b"none"
    except (Malformed, ValueError, binascii.Error):
        return None, False


def _loaded(file: KeyFile, ask: Ask | None) -> "PrivateKeyTypes":
    from cryptography.exceptions import UnsupportedAlgorithm  # noqa: PLC0415  # only hosts need it
    from cryptography.hazmat.primitives.serialization import load_pem_private_key, load_ssh_private_key  # noqa: PLC0415

    if file.encrypted and ask is None:
        raise Auth(
            f"{file.path} is encrypted, and there is no terminal to ask for its passphrase", f"Try: ssh-add {file.path}"
        )
    secret = ask(f"Passphrase for {file.path}: ").encode() if file.encrypted and ask else None
    try:
        data = _bytes(file.path)[0]
        load = load_ssh_private_key if b"BEGIN OPENSSH" in data else load_pem_private_key
        return load(data, secret)
    except (OSError, ValueError, TypeError, UnsupportedAlgorithm) as error:
        wrong = "its passphrase is wrong" if secret else str(error).splitlines()[0]
        raise Auth(f"{file.path} cannot be used: {wrong}", "It was not offered.") from error


def _public(private: "PrivateKeyTypes") -> bytes:
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat  # noqa: PLC0415

    line = private.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH)
    return base64.b64decode(line.split()[1])


def _signature(private: "PrivateKeyTypes", data: bytes, algorithm: str) -> bytes:
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa, utils  # noqa: PLC0415
    from cryptography.hazmat.primitives.hashes import SHA256, SHA384, SHA512  # noqa: PLC0415

    match private:
        case ed25519.Ed25519PrivateKey():
            made = private.sign(data)
        case rsa.RSAPrivateKey():
            made = private.sign(data, padding.PKCS1v15(), SHA512() if algorithm.endswith("512") else SHA256())
        case ec.EllipticCurvePrivateKey():
            fitting = SHA256() if private.key_size == 256 else SHA384() if private.key_size == 384 else SHA512()
            pair = utils.decode_dss_signature(private.sign(data, ec.ECDSA(fitting)))
            made = b"".join(string(_mpint(each)) for each in pair)
        case _:
            raise Auth(f"keys of the type {algorithm} cannot sign")
    return string(algorithm.encode()) + string(made)


def _mpint(number: int) -> bytes:
    """A number as the protocol has it: the first bit is its sign."""
    return number.to_bytes(number.bit_length() // 8 + 1)
