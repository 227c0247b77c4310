"""Which files of an install matter, and which names and sizes are refused.

Everything here is decided from the name and the size alone, so that it holds for a folder, a wheel and a remote host.
"""

import re
from enum import Enum

from recon.ports import Entry
from recon.records.unknown import Unknown, denied

MAX_SOURCE_BYTES = 8 << 20
"""A larger source is generated data; it is reported, not read."""

MAX_FILES = 200_000
"""Of one tree; the largest release known holds a tenth of it."""

MAX_TOTAL_BYTES = 4 << 30
"""Of all sources of one tree; the largest release known holds a tenth of it."""

MAX_PATH = 1024

SOURCE_SUFFIXES = (".py", ".cu", ".cuh", ".h", ".hpp", ".cc", ".cpp")
"""Python, CUDA and C++; stubs (.pyi) repeat what the code says."""

METADATA_FILES = ("METADATA", "RECORD", "WHEEL", "INSTALLER", "direct_url.json", "entry_points.txt", "top_level.txt")
"""Of a distribution's dist-info folder: where an install comes from."""

SKIPPED_FOLDERS = frozenset({"__pycache__", ".git", ".hg", ".svn"})

DENIED = denied()
"""Why something is unread that others may read."""

_LIBRARY = re.compile(r"\.so(\.[0-9]+)*")


class Kind(Enum):
    """What a file is to recon."""

    SOURCE = "source"
    LIBRARY = "library"
    METADATA = "metadata"
    OTHER = "other"


def kind_of(path: str) -> Kind:
    """What a file is, by its name.

    >>> [kind_of(p).value for p in ("vllm/a.py", "vllm/_C.abi3.so", "lib/libnvshmem.so.3.1", "vllm/a.pyi")]
    ['source', 'library', 'library', 'other']
    >>> kind_of("vllm-0.20.1.dist-info/RECORD").value
    'metadata'
    """
    folder, _, name = path.rpartition("/")
    if not SKIPPED_FOLDERS.isdisjoint(folder.split("/")):
        return Kind.OTHER
    if folder.endswith((".dist-info", ".egg-info")) and "/" not in folder:
        return Kind.METADATA if name in METADATA_FILES else Kind.OTHER
    if name.endswith(SOURCE_SUFFIXES):
        return Kind.SOURCE
    start = name.find(".so")
    while start >= 0:
        if _LIBRARY.fullmatch(name, start):
            return Kind.LIBRARY
        start = name.find(".so", start + 1)
    return Kind.OTHER


def refusal(entry: Entry) -> Unknown | None:
    """Why a file that matters is not read: a hostile name, or more bytes than a source has; None if it is read."""
    fault = fault_of(entry.path)
    if fault:
        return Unknown("file", printable(entry.path), fault)
    if kind_of(entry.path) is Kind.SOURCE and entry.size_bytes > MAX_SOURCE_BYTES:
        return Unknown("source file", entry.path, f"too large: {entry.size_bytes} bytes, more than {MAX_SOURCE_BYTES}")
    return None


def fault_of(path: str) -> str:
    """What is wrong with a relative path, in one clause; '' if nothing is.

    >>> fault_of("vllm/engine/core.py"), fault_of("../../etc/passwd")
    ('', 'its path leaves the tree')
    """
    if len(path) > MAX_PATH:
        return "its path is longer than any import could be"
    if not path.isprintable():  # control characters, lone surrogates, marks that turn the direction of text
        return "its path is not plain text"
    if "\\" in path:
        return "its path holds a backslash"
    if path.startswith("/") or not path:
        return "its path is not relative"
    parts = path.split("/")
    if ".." in parts:
        return "its path leaves the tree"
    if "." in parts or "" in parts:
        return "its path is not in its plainest form"
    return ""


def printable(path: str) -> str:
    r"""A path as text that a terminal and JSON can hold.

    >>> printable("a\x1b[2J.py")
    'a\\x1b[2J.py'
    """
    short = path if len(path) <= MAX_PATH else path[:MAX_PATH] + "..."
    return short if short.isprintable() else short.encode("unicode_escape", "backslashreplace").decode("ascii")
