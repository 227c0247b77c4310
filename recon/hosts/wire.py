"""Fields of the SSH protocol, read with bounds: what a server, an agent or a file sent is not to be trusted."""

import base64
import binascii
import hashlib
import re
from dataclasses import dataclass


class Malformed(ValueError):
    """Bytes are not what they should be."""


@dataclass(slots=True)
class Reader:
    """Takes fields from the front of some bytes."""

    data: bytes
    at: int = 0

    def take(self, length: int) -> bytes:
        """The next bytes.

        Raises:
            Malformed: there are not so many.
        """
        end = self.at + length
        if end > len(self.data):
            raise Malformed("bytes end too early")
        taken = self.data[self.at : end]
        self.at = end
        return taken

    def number(self, length: int = 4) -> int:
        """The next unsigned number, of four or eight bytes."""
        return int.from_bytes(self.take(length))

    def string(self) -> bytes:
        """The next string with its length before it."""
        return self.take(self.number())

    def text(self) -> str:
        """The next string, as text; bytes that are no UTF-8 are shown."""
        return self.string().decode("utf-8", "backslashreplace")

    def end(self) -> None:
        """Make sure that nothing is left.

        Raises:
            Malformed: something is.
        """
        if self.at != len(self.data):
            raise Malformed("bytes go on after the end")


def string(data: bytes) -> bytes:
    """A string with its length before it."""
    return len(data).to_bytes(4) + data


def type_of(blob: bytes) -> str:
    """The type that a public key or a certificate says it is; '' where it says none."""
    try:
        return Reader(blob).string().decode("ascii")
    except (Malformed, UnicodeDecodeError):
        return ""


def fingerprint(blob: bytes) -> str:
    """What ssh prints of a public key.

    >>> fingerprint(b"")
    'SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU'
    """
    return "SHA256:" + base64.b64encode(hashlib.sha256(blob).digest()).decode().rstrip("=")


def fields(line: str) -> tuple[str, str]:
    r"""The first word of a line and the rest, as blanks and tabs divide them.

    >>> fields(" a\tb c\r")
    ('a', 'b c')
    """
    first, *rest = re.split(r"[ \t]+", line.strip(" \t\r\n"), maxsplit=1)
    return first, "".join(rest)


def public_key(line: str) -> tuple[bytes, str] | None:
    """The blob and the comment of a public key as files hold it, `TYPE BASE64 [COMMENT]`; None where it is none."""
    kind, rest = fields(line)
    encoded, comment = fields(rest)
    try:
        blob = base64.b64decode(encoded, validate=True)
    except (ValueError, binascii.Error):
        return None
    return (blob, comment) if kind and type_of(blob) == kind else None
