"""The Protocols through which stages meet the world."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from recon.records.unknown import Unknown


@dataclass(frozen=True, slots=True)
class Reply:
    """What one command answered."""

    stdout: str
    stderr: str
    status: int


class Shell(Protocol):
    """A POSIX sh on some machine: the one way in which facts are asked there."""

    @property
    def name(self) -> str:
        """What the user calls the machine."""
        ...

    def run(self, script: str, *, timeout_s: float = 30.0) -> Reply:
        """Run a script given on standard input, both streams capped.

        Raises:
            Unreachable: the machine did not answer, or not in time.
        """
        ...

    def stream(self, script: str, sink: Callable[[bytes], None], *, timeout_s: float, cap_bytes: int) -> Reply:
        """As `run`, but standard output goes to `sink` in pieces as it arrives and is not kept: `stdout` is empty.

        Args:
            script: What sh reads.
            sink: Takes each piece. What it raises ends the script and is raised here.
            timeout_s: For the whole script.
            cap_bytes: A script that says more is ended; `sink` got so many bytes.

        Raises:
            Unreachable: the machine did not answer, or not in time.
        """
        ...


class AttendingShell(Shell, Protocol):
    """A shell that can stay beside a script which has something to put away before it ends."""

    def attend(self, script: str, sink: Callable[[bytes], None], *, timeout_s: float, cap_bytes: int) -> Reply:
        """As `stream`, for a script that is its own watcher.

        On its descriptor 3 a byte comes every second, as long as this side lives and the line holds; or none, where
        nothing but the end of this side can end that stream. At its end, or after a silence, the script is to end by
        itself; it is killed only when it is late.

        Raises:
            Unreachable: the machine did not answer, or not in time.
        """
        ...


class HostShell(AttendingShell, Protocol):
    """A shell on a machine that was connected to."""

    @property
    def user(self) -> str:
        """Who is logged in there."""
        ...

    @property
    def transport(self) -> str:
        """What carries it and, where that is not the usual, why: `openssh: the key is a security key`."""
        ...

    @property
    def line(self) -> str:
        """The one command line that is started there; every script is its standard input."""
        ...

    @property
    def identity(self) -> str:
        """What the connection proved of the machine and of the account there, as a digest: never the machine's word."""
        ...

    @property
    def noise(self) -> str:
        """The first line of what was said before the first script, printable and short; '' for none.

        Start-up files of login shells print it, and gateways.
        """
        ...

    @property
    def notes(self) -> tuple[str, ...]:
        """What the user should know of the connection."""
        ...

    def abort(self) -> None:
        """Make a script that another thread waits for fail now."""
        ...


@dataclass(frozen=True, slots=True)
class Entry:
    """A file as a directory listing shows it."""

    path: str
    """Relative to the folder that holds the package, with `/`."""
    size_bytes: int
    stamp: tuple[int, ...] = field(default=(), compare=False)
    """Equal where it is the file that had this stamp before, unchanged; empty where that cannot be told."""


@dataclass(frozen=True, slots=True)
class Coming:
    """How many installs a target has, said before the first of them is read."""

    installs: int


class ByteRange(Protocol):
    """Bounded reads of one file."""

    @property
    def size_bytes(self) -> int:
        """Length of the file."""
        ...

    def read(self, offset: int, length: int) -> bytes:
        """At most `length` bytes from `offset`; fewer at the end of the file."""
        ...


class SourceTree(Protocol):
    """Read-only door to the files of one install, wherever they are."""

    @property
    def location(self) -> str:
        """Folder that holds the package, or file name of the release."""
        ...

    def entries(self) -> Iterator[Entry | Unknown]:
        """Every regular file below the package folders, links never followed out of the tree."""
        ...

    def read(self, paths: Sequence[str]) -> Iterator[tuple[str, bytes | Unknown]]:
        """Bytes of the files asked for, in any order; one that cannot be read is an Unknown."""
        ...

    def open_range(self, path: str) -> ByteRange:
        """A file for bounded reads.

        Raises:
            Unreadable: it cannot be opened.
        """
        ...


class Blobs(Protocol):
    """Content-addressed bytes. Implementations can be pickled, since worker processes read through them."""

    def __hash__(self) -> int:
        """Workers remember what they read by where they read it."""
        ...

    def get(self, digest: str) -> bytes:
        """Bytes of a blob.

        Raises:
            Unreadable: there is no such blob, or its bytes do not have that digest.
        """
        ...


class Progress(Protocol):
    """Where long work says how far it is."""

    def start(self, task: str, total: int | None) -> None:
        """Begin a task; `total` is None where the end is not known."""
        ...

    def advance(self, amount: int = 1, note: str = "") -> None:
        """Say that so much more of the current task is done."""
        ...

    def finish(self, note: str = "") -> None:
        """End the current task."""
        ...


class Silent:
    """A Progress that says nothing."""

    def start(self, task: str, total: int | None) -> None:
        """Say nothing."""

    def advance(self, amount: int = 1, note: str = "") -> None:
        """Say nothing."""

    def finish(self, note: str = "") -> None:
        """Say nothing."""


class Named:
    """A Progress of which each task is said to be of something."""

    def __init__(self, name: str, inner: Progress) -> None:
        """Put a name before tasks."""
        self._name, self._inner = name, inner

    def start(self, task: str, total: int | None) -> None:
        """Begin a task, `NAME: TASK`."""
        self._inner.start(f"{self._name}: {task}", total)

    def advance(self, amount: int = 1, note: str = "") -> None:
        """Say that so much more is done."""
        self._inner.advance(amount, note)

    def finish(self, note: str = "") -> None:
        """End the task."""
        self._inner.finish(note)
