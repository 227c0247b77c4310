"""What could not be learned."""

import re
from dataclasses import dataclass

PACKAGE = "package"
"""`what` of functions of another distribution that was not scanned."""
LIBRARY = "compiled library"
"""`what` of compiled libraries whose names were not read: an operator may lie in them."""
TARGET = "target"
"""`what` of something that was named to be scanned, and was not judged because the scan was stopped."""
REST = "the rest of the probe"
"""`what` of all that a probe did not come to: it was stopped, lost, or ended early; why says by what."""
PARTLY = "CUDA source, partly"
"""`what` of sources that were examined as far as their grammar reads; they hide nothing that a caller does not show."""
CACHE = "cache of outlines"
"""`what` of a cache that could not be used: it costs time, and no answer."""

RUN_FILE = "run file"
"""`what` of saved runs that may have a part in an answer and cannot be read: it is told without them."""

FOLDER = "folder"
"""`what` of folders of a tree that were not read: files of any kind may lie in them."""
FILES = frozenset({FOLDER, "file", "source file", "package folder"})
"""`what` of all that was not read of a tree's folders, by paths that count from the folder that holds the packages."""
_DENIED = "Permission denied"
OWNER = re.compile(r"\bits owner (?P<owner>\S+) or root\b")
"""How `denied` names an owner."""


def denied(owner: str = "") -> str:
    """Why something is unread that others may read, with the name of its owner where that is known.

    >>> denied("alice")
    'Permission denied: its owner alice or root can scan it, or whoever is given the right to read it'
    """
    who = (
        f"its owner {owner} or root"
        if owner not in {"", "root"}
        else "its owner root"
        if owner
        else "its owner or root"
    )
    return f"{_DENIED}: {who} can scan it, or whoever is given the right to read it"


@dataclass(frozen=True, slots=True)
class Unknown:
    """Something that recon wanted to know and could not: an unknown is a result, not an exception."""

    what: str
    """The thing that was asked for, e.g. `python source`."""
    where: str
    """Path, host, kernel or release that it was asked of."""
    why: str
    """One sentence: what stood in the way."""
    detail: str = ""
    """All that a program said of it, where that is more than a line: kept for who mends it, and shown on no screen."""
