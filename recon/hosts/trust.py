"""Whom to trust: the files of known hosts, read as ssh reads them, and never less strict than its `yes`.

A key is refused if it or its authority is marked revoked, whatever else is said of it. A host with a certificate is
trusted if a known authority signed it for that name and time; if none did, its plain key is looked up. A host of which
other keys are known is never new.
"""

import base64
import os
import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from recon.errors import (
    HostCertificateRefused,
    HostKeyChanged,
    HostKeyRevoked,
    HostKeyUnknown,
    Unreadable,
)
from recon.hosts import certificate
from recon.hosts.appending import append_whole
from recon.hosts.patterns import hashed, lookup_name, matches
from recon.hosts.wire import Malformed, fields, fingerprint, public_key, type_of

AUTHORITY, REVOKED = "@cert-authority", "@revoked"
NO_FILE = "There is no file of known hosts to add to: UserKnownHostsFile is none. Add the key to a file of them."
_LARGEST = 64 << 20


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a file of known hosts."""

    path: Path
    number: int
    marker: str
    """AUTHORITY, REVOKED or ''."""
    patterns: str
    blob: bytes

    @property
    def place(self) -> str:
        """Where it stands."""
        return f"{self.path}:{self.number}"


@dataclass(frozen=True, slots=True)
class KnownHosts:
    """What is known of hosts."""

    lines: tuple[Line, ...]
    unread: tuple[str, ...] = ()
    """Files that could not be read, and why; one that does not exist is none of them."""
    revoked_everywhere: frozenset[bytes] = frozenset()

    @classmethod
    def from_files(cls, paths: Iterable[Path], revoked: Path | None = None) -> "KnownHosts":
        """What files say.

        Args:
            paths: Files of known hosts; those that do not exist say nothing.
            revoked: A file of public keys of which none is to be trusted, as `RevokedHostKeys`.

        Raises:
            Unreadable: the file of revoked keys cannot be read; ssh then trusts nobody either.
        """
        lines: list[Line] = []
        unread: list[str] = []
        for path in paths:
            try:
                text = _text(path)
            except FileNotFoundError:
                continue
            except OSError as error:
                unread.append(f"{path}: {error.strerror or error}")
                continue
            found = (_line(path, number, words) for number, words in enumerate(text.split("\n"), 1))
            lines += (line for line in found if line)
        return cls(tuple(lines), tuple(unread), _revoked(revoked) if revoked else frozenset())

    def check(
        self, name: str, port: int, blob: bytes, *, algorithms: tuple[str, ...] = (), now: float | None = None
    ) -> Line:
        """The line by which a host's key is trusted.

        Args:
            name: The host, or its HostKeyAlias.
            port: 22 for an alias.
            blob: The key or the certificate that the host proved to hold.
            algorithms: With which authorities may sign; empty for all but SHA-1.
            now: The time, in seconds since 1970.

        Raises:
            HostKeyRevoked: the key, or the authority that signed it, is revoked.
            HostKeyChanged: other keys of this host are known.
            HostCertificateRefused: a known authority signed it, but not for this.
            HostKeyUnknown: nothing is known of this host, or the key is none.
        """
        shown = _shown(blob, name, port)
        about = self.about(name, port)
        self._refuse_revoked(about, shown)
        refused = ""
        if shown.certificate and (authority := _first(about, AUTHORITY, shown.certificate.authority)):
            refused = certificate.refusal(shown.certificate, name.lower(), algorithms, now)
            if not refused:
                return authority
        known = [line for line in self._at(name, port) if not line.marker]
        if trusted := _first(known or about, "", shown.key):
            return trusted
        if refused:
            raise HostCertificateRefused(
                f"{shown.name} shows a certificate that is not accepted: {refused}",
                f"Its id is {shown.certificate.key_id!r}." if shown.certificate else "",
            )
        raise self._stranger(known, shown)

    def preferred(self, name: str, port: int, algorithms: Iterable[str]) -> tuple[str, ...]:
        """Algorithms of host keys, first those by which the host is known: of its keys it shows one only."""
        about = self.about(name, port)
        known = {type_of(line.blob) for line in about if not line.marker}
        certified = any(line.marker == AUTHORITY for line in about)

        def is_strange(algorithm: str) -> bool:
            plain = certificate.plain_type(algorithm)
            kind = "ssh-rsa" if plain.startswith("rsa-sha2-") else plain
            return kind not in known and not (certified and plain != algorithm)

        return tuple(sorted(algorithms, key=is_strange))

    def is_new(self, name: str, port: int) -> bool:
        """Whether no key of a host is known, so that `--accept-new` may add one."""
        return not any(line.marker != REVOKED for line in self._at(name, port))

    def about(self, name: str, port: int) -> tuple[Line, ...]:
        """What is known of a host: under its port first, then without, since it may be known by its name alone."""
        return (*self._at(name, port), *(self._at(name, 22) if port != 22 else ()))

    def _at(self, name: str, port: int) -> tuple[Line, ...]:
        wanted = lookup_name(name, port)
        return tuple(line for line in self.lines if matches(line.patterns, wanted))

    def _refuse_revoked(self, about: tuple[Line, ...], shown: "_Shown") -> None:
        signers = [shown.certificate.authority] if shown.certificate else []
        for key, whose in ((shown.key, "its key"), *((each, "the authority of its certificate") for each in signers)):
            line = _first(about, REVOKED, key)
            if line or key in self.revoked_everywhere:
                where = line.place if line else "the file of RevokedHostKeys"
                raise HostKeyRevoked(
                    f"{shown.name}: {whose} is revoked, {type_of(key)} {fingerprint(key)}",
                    f"{where} says so. Do not connect before its administrator has given it a new key.",
                )

    def _stranger(self, known: list[Line], shown: "_Shown") -> HostKeyChanged | HostKeyUnknown:
        """What to say of a key that nothing speaks for."""
        key = f"{type_of(shown.key)} {fingerprint(shown.key)}"
        if known:
            first = next((line for line in known if type_of(line.blob) == type_of(shown.key)), known[0])
            return HostKeyChanged(
                f"{shown.name} shows another key than the one that is known: {key}",
                f"{first.place} has {type_of(first.blob)} {fingerprint(first.blob)}. Somebody may be in between; if"
                f" the host was set up anew, remove the old key: {_removal(first, shown.name)}",
            )
        unread = f" Not read: {self.unread[0]}." if self.unread else ""
        return HostKeyUnknown(
            f"{shown.name} is not a known host; its key is {key}",
            f"Compare it with what its administrator says, then connect once with ssh, or add --accept-new.{unread}",
        )


def forget(path: "Path | str", name: str) -> str:
    """The command that removes the keys of one host from one file of known hosts.

    >>> forget("/home/me/my hosts", "[gpu07]:2222")
    "ssh-keygen -f '/home/me/my hosts' -R '[gpu07]:2222'"
    """
    return shlex.join(("ssh-keygen", "-f", str(path), "-R", name))


def _removal(line: Line, name: str) -> str:
    """How the key of a line is removed; ssh-keygen leaves lines with patterns as they are."""
    if any(mark in line.patterns for mark in "*?!"):
        return f"take the line out of {line.path}; it speaks of {line.patterns}"
    return forget(line.path, name)


def key_of(blob: bytes) -> bytes:
    """The key of a host, also where it shows a certificate: that is renewed, and the key stays.

    Raises:
        HostKeyUnknown: the certificate cannot be read.
    """
    return _shown(blob, "it", 22).key


def keeps(path: Path) -> bool:
    """Whether a line may be added to a file: what is there and is no regular file, as /dev/null, keeps nothing."""
    return path.is_file() or not path.exists()


def append(path: Path, name: str, port: int, blob: bytes, *, hash_names: bool = False) -> str:
    """Add one line for a new host at the end of a file, which is otherwise left as it is; it is made if there is none.

    Args:
        path: The user's file of known hosts.
        name: The host, or its HostKeyAlias.
        port: 22 for an alias.
        blob: Its key; of a certificate the plain key in it is kept.
        hash_names: Whether to keep a digest of the name, as HashKnownHosts.

    Returns:
        The line, without its end.

    Raises:
        Unreadable: it cannot be written.
    """
    shown = _shown(blob, name, port)
    encoded = base64.b64encode(shown.key).decode()
    line = f"{hashed(shown.name) if hash_names else shown.name} {type_of(shown.key)} {encoded}"
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        with os.fdopen(handle, "r+b", buffering=0):
            size = os.fstat(handle).st_size
            open_end = size > 0 and os.pread(handle, 1, size - 1) != b"\n"
            append_whole(handle, b"\n" * open_end + line.encode() + b"\n")
    except OSError as error:
        raise Unreadable(f"cannot add a line to {path}: {error.strerror or error}") from error
    return line


@dataclass(frozen=True, slots=True)
class _Shown:
    """What a host shows."""

    name: str
    """The host, with its port where that is not 22."""
    key: bytes
    certificate: certificate.Certificate | None


def _shown(blob: bytes, name: str, port: int) -> _Shown:
    looked_up = lookup_name(name, port)
    if not certificate.is_certificate(blob):
        return _Shown(looked_up, blob, None)
    try:
        parsed = certificate.parse(blob)
    except Malformed as error:
        raise HostKeyUnknown(f"{looked_up} shows a certificate that cannot be read: {error}") from error
    return _Shown(looked_up, parsed.key, parsed)


def _first(lines: Iterable[Line], marker: str, key: bytes) -> Line | None:
    return next((line for line in lines if line.marker == marker and line.blob == key), None)


def _line(path: Path, number: int, words: str) -> Line | None:
    """A line; None for comments, and for what is none, which ssh leaves out too."""
    first, rest = fields(words)
    marker = first if first.startswith("@") else ""
    if marker:
        first, rest = fields(rest)
    if first.startswith("#") or marker not in {"", AUTHORITY, REVOKED}:
        return None
    key = public_key(rest)
    return Line(path, number, marker, first, key[0]) if key else None


def _revoked(path: Path) -> frozenset[bytes]:
    try:
        text = _text(path)
    except OSError as error:
        raise Unreadable(f"cannot read the revoked keys in {path}: {error.strerror or error}") from error
    return frozenset(key[0] for line in text.split("\n") if (key := public_key(line)))


def _text(path: Path) -> str:
    with path.open("rb") as file:
        return file.read(_LARGEST).decode("utf-8", "surrogateescape")
