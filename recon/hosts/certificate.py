"""Certificates of OpenSSH: what one says, and whether an authority really said so."""

import time
from dataclasses import dataclass

from recon.hosts.wire import Malformed, Reader, type_of

SUFFIX = "-cert-v01@openssh.com"
USER, HOST = 1, 2
_FOREVER = (1 << 64) - 1

_PUBLIC = {
    "ssh-ed25519": 1,
    "ssh-rsa": 2,
    "ssh-dss": 4,
    "ecdsa-sha2-nistp256": 2,
    "ecdsa-sha2-nistp384": 2,
    "ecdsa-sha2-nistp521": 2,
    "sk-ssh-ed25519@openssh.com": 2,
    "sk-ecdsa-sha2-nistp256@openssh.com": 3,
}
"""Fields of a public key after its type; in a certificate a nonce stands between."""


@dataclass(frozen=True, slots=True)
class Certificate:
    """What a certificate says. Times in seconds since 1970."""

    key: bytes
    """The public key that is certified, as a blob of its own."""
    kind: int
    """USER or HOST."""
    key_id: str
    serial: int
    principals: tuple[str, ...]
    """Users or hosts that it is for; empty for all of them."""
    valid_after: int
    valid_before: int
    critical: tuple[str, ...]
    """Names of options without which it must not be accepted."""
    authority: bytes
    """The public key of the authority."""
    algorithm: str
    """With which the authority signed."""
    signature: bytes
    signed: bytes
    """What was signed."""


def is_certificate(blob: bytes) -> bool:
    """Whether a blob says that it is a certificate."""
    return type_of(blob).endswith(SUFFIX)


def plain_type(name: str) -> str:
    """The type of the key in a certificate; other types are themselves.

    >>> plain_type("sk-ssh-ed25519-cert-v01@openssh.com")
    'sk-ssh-ed25519@openssh.com'
    """
    if not name.endswith(SUFFIX):
        return name
    plain = name.removesuffix(SUFFIX)
    return f"{plain}@openssh.com" if plain.startswith("sk-") else plain


def parse(blob: bytes) -> Certificate:
    """What a certificate says; its signature is not looked at.

    Raises:
        Malformed: it is no certificate of a known type.
    """
    reader = Reader(blob)
    kind = plain_type(reader.text())
    if kind not in _PUBLIC or not is_certificate(blob):
        raise Malformed(f"no certificate of a known type: {kind}")
    reader.string()  # the nonce
    start = reader.at
    for _ in range(_PUBLIC[kind]):
        reader.string()
    key = len(kind).to_bytes(4) + kind.encode() + blob[start : reader.at]
    serial, use, key_id = reader.number(8), reader.number(), reader.text()
    principals = _strings(reader.string())
    after, before = reader.number(8), reader.number(8)
    critical = _strings(reader.string())[::2]  # names and values take turns
    reader.string()  # extensions may be ignored
    reader.string()  # reserved
    authority = reader.string()
    signed = blob[: reader.at]
    signature = Reader(reader.string())
    reader.end()
    algorithm, value = signature.text(), signature.string()
    signature.end()
    if is_certificate(authority):
        raise Malformed("the authority is a certificate itself")
    return Certificate(
        key, use, key_id, serial, principals, after, before, critical, authority, algorithm, value, signed
    )


def refusal(certificate: Certificate, name: str, algorithms: tuple[str, ...], now: float | None = None) -> str:
    """Why a host's certificate is not accepted for a name; '' where it is. That its authority is known is for others.

    Args:
        certificate: What the host showed.
        name: The host's name in lower case, or its alias.
        algorithms: With which an authority may sign; empty for all but SHA-1.
        now: The time, in seconds since 1970.
    """
    if refused := out_of_use(certificate, HOST, now):
        return refused
    if certificate.principals and name not in certificate.principals:
        return f"it is for {', '.join(certificate.principals[:3])}"
    if certificate.critical:
        return f"it demands {certificate.critical[0]}"
    if certificate.algorithm == "ssh-rsa" or (algorithms and certificate.algorithm not in algorithms):
        return f"its authority signed with {certificate.algorithm}"
    return "" if _verified(certificate) else "the signature of its authority is wrong"


def out_of_use(certificate: Certificate, kind: int, now: float | None = None) -> str:
    """Why a certificate is none of a kind that is valid now; '' where it is.

    Args:
        certificate: What it says.
        kind: USER or HOST.
        now: The time, in seconds since 1970.
    """
    moment = time.time() if now is None else now
    if certificate.kind != kind:
        return f"it is a certificate for {'hosts' if kind == USER else 'users'}"
    if moment < certificate.valid_after:
        return f"it is not valid before {_day(certificate.valid_after)}"
    if moment >= certificate.valid_before:
        return f"it was valid until {_day(certificate.valid_before)}"
    return ""


def _strings(data: bytes) -> tuple[str, ...]:
    reader, found = Reader(data), []
    while reader.at < len(data):
        found.append(reader.text())
    return tuple(found)


def _day(moment: int) -> str:
    if moment >= _FOREVER >> 1:
        return "for ever"
    return time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(min(moment, 253402300799)))  # the end of the year 9999


def _verified(certificate: Certificate) -> bool:
    """Whether the authority's key made the signature."""
    from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm  # noqa: PLC0415  # only hosts need it
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa, utils  # noqa: PLC0415
    from cryptography.hazmat.primitives.hashes import SHA256, SHA384, SHA512  # noqa: PLC0415

    try:
        key = _loaded(certificate.authority)
        match key, certificate.algorithm:
            case ed25519.Ed25519PublicKey(), "ssh-ed25519":
                key.verify(certificate.signature, certificate.signed)
            case rsa.RSAPublicKey(), "rsa-sha2-256" | "rsa-sha2-512" as algorithm:
                wide = SHA512() if algorithm.endswith("512") else SHA256()
                key.verify(certificate.signature, certificate.signed, padding.PKCS1v15(), wide)
            case ec.EllipticCurvePublicKey(), str(algorithm) if algorithm == type_of(certificate.authority):
                numbers = Reader(certificate.signature)
                r, s = (int.from_bytes(numbers.string(), signed=True) for _ in range(2))
                fitting = SHA256() if key.key_size == 256 else SHA384() if key.key_size == 384 else SHA512()
                key.verify(utils.encode_dss_signature(r, s), certificate.signed, ec.ECDSA(fitting))
            case _:
                return False
    except (InvalidSignature, UnsupportedAlgorithm, ValueError, NotImplementedError):  # the last for compressed points
        return False
    return True


def _loaded(blob: bytes) -> object:
    """A public key with which signatures are verified."""
    import base64  # noqa: PLC0415

    from cryptography.hazmat.primitives.serialization import load_ssh_public_key  # noqa: PLC0415

    return load_ssh_public_key(type_of(blob).encode() + b" " + base64.b64encode(blob))
