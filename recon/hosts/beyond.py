"""What paramiko cannot do, by the configuration: then the system's ssh carries the connection."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from recon.hosts.settings import Settings

KRL = b"SSHKRL\n\0"
_PLAIN_ONLY = {
    "pkcs11provider": "keys of a PKCS#11 token",
    "knownhostscommand": "host keys from a command",
    "bindinterface": "a connection bound to an interface",
}
_TRUE = ("yes", "true")


def beyond(said: Settings) -> tuple[str, ...]:
    """Why only the system's ssh can follow these settings; empty where paramiko can."""
    return tuple(_reasons(said))


def _reasons(said: Settings) -> Iterator[str]:
    for keyword, what in _PLAIN_ONLY.items():
        if said.word(keyword):
            yield f"{what} ({keyword} {said.word(keyword)})"
    if said.flag("proxyusefdpass"):
        yield "a connection handed over by ProxyCommand (proxyusefdpass yes)"
    if is_krl(said.word("revokedhostkeys")):
        yield f"a binary list of revoked keys ({said.word('revokedhostkeys')})"
    yield from _authentication(said)
    yield from _algorithms(said)


def _authentication(said: Settings) -> Iterator[str]:
    ways = said.listed("preferredauthentications")
    if said.word("pubkeyauthentication", "yes").lower() in {"no", "false"} or (ways and "publickey" not in ways):
        others = {"gssapi-with-mic": "gssapiauthentication", "hostbased": "hostbasedauthentication"}
        left = [way for way, keyword in others.items() if said.flag(keyword) and (not ways or way in ways)]
        yield f"a way to log in other than keys ({', '.join(left or ways) or 'pubkeyauthentication no'})"


def _algorithms(said: Settings) -> Iterator[str]:
    """Kinds of algorithms of which paramiko knows none that the configuration allows."""
    from paramiko.transport import Transport  # noqa: PLC0415  # a tenth of a second, and only hosts need it

    kinds = {
        "kexalgorithms": Transport._preferred_kex,  # noqa: SLF001  # there is no public list without a connection
        "hostkeyalgorithms": Transport._preferred_keys,  # noqa: SLF001
        "ciphers": Transport._preferred_ciphers,  # noqa: SLF001
        "macs": Transport._preferred_macs,  # noqa: SLF001
    }
    for keyword, known in kinds.items():
        allowed = said.listed(keyword)
        if allowed and not _common(allowed, known):
            yield f"{keyword} {','.join(allowed)}"


def _common(allowed: Iterable[str], known: Iterable[str]) -> bool:
    plain = {name.removesuffix("-cert-v01@openssh.com") for name in allowed}
    return not plain.isdisjoint(known)


def is_krl(name: str) -> bool:
    """Whether a file is a key revocation list in the form of ssh-keygen."""
    if not name:
        return False
    try:
        with Path(name).expanduser().open("rb") as file:
            return file.read(len(KRL)) == KRL
    except OSError:
        return False
