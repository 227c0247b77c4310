"""What a tree was judged to be, as bytes to keep: equal trees need not be judged twice by the same code."""

from dataclasses import dataclass, replace

import msgspec

from recon.records.install import Excerpt
from recon.records.path import CallPath
from recon.records.run import Searched
from recon.records.unknown import Unknown
from recon.records.verdict import Capability, Verdict


@dataclass(frozen=True, slots=True)
class Judged:
    """The answers on one tree, whichever install it is of."""

    verdicts: tuple[Verdict, ...]
    paths: tuple[CallPath, ...]
    excerpts: tuple[Excerpt, ...]
    searched: Searched
    """What was read; it names no install and no time."""
    unread: tuple[Unknown, ...]
    """What could not be read of the tree, so that answers may lie there."""
    capabilities: tuple[Capability, ...]
    """What could be judged by the code that gave these answers."""

    def searched_for(self, install: str, seconds: float) -> Searched:
        """The search record of an install that was answered from here."""
        return replace(self.searched, install=install, seconds=seconds)


def to_bytes(judged: Judged) -> bytes:
    """Answers as bytes."""
    return msgspec.msgpack.encode(judged)


def from_bytes(data: bytes | None) -> Judged | None:
    """Answers from bytes; None where there are none, or damaged ones."""
    if data is None:
        return None
    try:
        return msgspec.msgpack.decode(data, type=Judged)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def fingerprint(value: object) -> bytes:
    """A record as bytes that are equal where records are equal, to be hashed."""
    return msgspec.msgpack.encode(value)
