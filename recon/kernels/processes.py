"""Who else runs on this machine."""

import contextlib
import ctypes
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path("/")
_PR_SET_CHILD_SUBREAPER = 36


def running(root: Path = ROOT) -> Iterator[str]:
    """Names of the processes of this machine, as far as they can be seen."""
    for comm in (root / "proc").glob("[0-9]*/comm"):
        with contextlib.suppress(OSError):  # the process may be over
            yield comm.read_text(encoding="utf-8", errors="replace").rstrip("\n")


def adopt() -> None:
    """Become the parent of whatever this process started and nobody in between is there for any more.

    Where the system can do that: Linux.
    """
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1)


def below(pid: int, root: Path = ROOT) -> set[int]:
    """The processes that a process started, and those that these did; none where the system does not tell."""
    children: dict[int, list[int]] = {}
    for stat in (root / "proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            after_name = stat.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
            children.setdefault(int(after_name[1]), []).append(int(stat.parent.name))
    found: set[int] = set()
    todo = [pid]
    while todo:
        new = set(children.get(todo.pop(), ())) - found
        found |= new
        todo.extend(new)
    return found
