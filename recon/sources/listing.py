r"""What a host says that its package folders hold, and how the answer is read.

A listing is a sequence of records. Each begins with `//` and ends at a NUL or a line break that another `//` follows,
before complaints at one more of both:
no path that `find` prints holds two slashes, so that no name, whatever is in it, can be taken for a record.

    //#|now|tool:digest     the listing follows; its digest, by which the host knows it again
    //=|tool:digest         the listing is the one that was named
    //h|package\0real       a package folder and where it truly lies
    //m|why|package         a package folder that is none
    //x|why                 the folder that holds them cannot be entered
    //d|device|path         a folder
    //u|owner:number|path   a folder that may not be listed
    //f|size|ctime|mtime|path                      a file that matters
    //l|kind|size|ctime|mtime|path\0real           a link, and what it leads to
    //c|complaints          what one of the walks said on standard error, a line each, and last its exit status
    //.|                    the end: a listing without it was cut off
    //n|programs            nothing is listed, for want of these programs

A walk that failed, or that never came to its end, hides files: nothing may be called absent for it. So whatever it
complained of is an unknown, and a listing that is not whole is one for each package.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from recon.errors import Unreadable
from recon.numbers import number
from recon.ports import Entry
from recon.records.unknown import FOLDER, Unknown, denied
from recon.sources.host_scripts import COMPLAINTS, WIDEST
from recon.sources.select import DENIED, MAX_FILES, Kind, fault_of, kind_of, printable

MAX_LISTING_BYTES = 64 << 20
"""Of all listings of one host; the largest install known has under two."""
OUTSIDE = "it leads out of the tree"
_RECORD = re.compile(rb"(?:[\0\n]?\0\n|[\0\n])//")
_FRACTION = re.compile(r"\.\d*[1-9]")
_GONE = "No such file or directory"
_NAME = re.compile(r"[\w.$@\\-]{1,64}")
_SHOWN = 200
"""Characters of what a host says that are shown."""
_WALKS = 4
"""Of one package."""
_MAX_RECORDS = 4 * MAX_FILES
"""Files, links, folders, and what is said of them."""
_KILLED = 128
"""A status above it is that of a program that a signal ended."""
_PROGRAMS = (
    "Scan needs find -printf, or find and stat -c, which GNU and busybox have; hosts of BSD and macOS need GNU's first"
    " in PATH. `recon doctor --host` says what is missing."
)


@dataclass(frozen=True, slots=True)
class Listed:
    """A regular file, or a link inside the tree that leads to one."""

    path: str
    size_bytes: int
    stamp: str
    """Times of change, as the host wrote them: only whether they are equal counts."""
    target: str
    """The path below the packages under which the bytes lie: other than `path` for a link."""


@dataclass(frozen=True, slots=True)
class Listing:
    """One tree as its host listed it."""

    digest: str
    """Of what was listed, after the name of the host's tool; '' where another listing could have the same one."""
    files: Mapping[str, Listed]
    order: Sequence[Entry | Unknown] = field(repr=False)
    """As `SourceTree.entries` yields them: sorted within each folder, a folder's files before its folders."""


def read_listing(data: bytes, packages: Sequence[str]) -> Listing:
    """Read a whole listing. Everything in it is a stranger's word, its digest too: that is made here again.

    Raises:
        Unreadable: it is no listing, holds more than recon reads, or names no file at all: every package has files,
            so that what lists them failed.
    """
    reader = _Reader(packages)
    for taken, record in enumerate(_records(data)):
        if taken > _MAX_RECORDS:
            raise Unreadable(f"the host lists more than {MAX_FILES} files")
        reader.take(record)
    try:
        listing = reader.listing(_made(data))
    except ValueError:
        raise Unreadable("the host's listing holds a link that it does not describe") from None
    if not listing.files and (reader.trouble or not listing.order):
        raise Unreadable(f"the host listed no file of it: {reader.trouble or 'its find or stat failed'}", _PROGRAMS)
    return listing


def unchanged(data: bytes, known: str) -> bool:
    """Whether the host says that the listing is still the one that it was told of.

    Args:
        data: What it told.
        known: The digest that it was told; '' for none.

    Raises:
        Unreadable: it names another one, or sends one anew under that very digest, as no honest host does.
    """
    kind, _, told = next(_records(data)).partition(b"|")
    digest = told.rpartition(b"|")[2].decode("ascii", "replace")
    if kind == b"=" and not (known and digest == known):
        raise Unreadable("the host names a listing that it was not asked about")
    if kind == b"#" and known and digest == known:
        raise Unreadable("the host sends a listing anew and says that it is the one that is known")
    return kind == b"="


def _records(data: bytes) -> Iterator[bytes]:
    if not data.startswith(b"//"):
        raise Unreadable("the host's listing of files is none")
    data = data.rstrip(b"\0\n")
    at = 2
    for mark in _RECORD.finditer(data, at):
        yield data[at : mark.start()]
        at = mark.end()
    yield data[at:]


def _made(data: bytes) -> str:
    """The digest that an honest host gives a listing, made of what follows its first record; '' where none is known."""
    head, _, listed = data.partition(b"\0")
    tool = head.rpartition(b"|")[2].partition(b":")[0]
    if tool == b"sha256sum":
        return f"sha256sum:{hashlib.sha256(listed).hexdigest()}"
    if tool == b"md5sum":
        return f"md5sum:{hashlib.md5(listed, usedforsecurity=False).hexdigest()}"
    return ""


class _Reader:
    """Puts a listing together, record by record."""

    def __init__(self, packages: Sequence[str]) -> None:
        self._packages = {package: number for number, package in enumerate(packages)}
        self._homes: dict[str, str] = {}
        self._devices: dict[str, str] = {}
        self._found: dict[str, Entry | Unknown] = {}
        self._files: dict[str, Listed] = {}
        self._links: list[tuple[list[str], str, str]] = []
        self._digest = ""
        self._now = 0
        self._open = 0
        self._coarse = False
        self._complaints: list[str] = []
        self._torn: str | None = None
        """The record before, which is none: the last one of a walk that was killed may be."""
        self.trouble = ""
        """Why the listing is not whole; '' where it is."""

    def take(self, record: bytes) -> None:
        text = record.decode("utf-8", "surrogateescape")
        kind, _, rest = text.partition("|")
        if len(self._found) > MAX_FILES:
            raise Unreadable(f"the host lists more than {MAX_FILES} files")
        torn, self._torn = self._torn, None
        try:
            self._take(kind, rest)
        except ValueError:
            self._torn = text
        if torn is not None and not (kind == "c" and self.trouble):
            raise _nonsense(torn)

    def _take(self, kind: str, rest: str) -> None:
        match kind:
            case "#" | "." | "c" | "n":
                self._about(kind, rest)
            case "h":
                package, real = rest.split("\0")
                if len(self._homes) > 2 * len(self._packages):  # every link is held against each of them
                    raise ValueError(package)
                self._homes[_plain(package)] = real.rstrip("/") if real else _plain(package)
            case "m":
                why, package = rest.split("|", 1)
                self._found[_plain(package)] = Unknown("folder", printable(_plain(package)), printable(why[:_SHOWN]))
            case "x":
                self._found = {
                    package: Unknown("folder", printable(package), _denied(printable(rest[:_SHOWN])))
                    for package in self._packages
                }
            case "d":
                device, path = rest.split("|", 1)
                self._folder(device, _plain(path))
            case "u":
                owner, path = rest.split("|", 1)
                self._found[_plain(path)] = Unknown(FOLDER, printable(_plain(path)), denied(_owner(owner)))
            case "f":
                size, changed, written, path = rest.split("|", 3)
                self._file(_plain(path), _size(size), f"{changed} {written}", _plain(path))
                self._date(changed, written)
            case "l":
                head, real = rest.split("\0")
                *fields, path = head.split("|", 4)
                self._links.append((fields, _plain(path), real))
            case _:
                raise ValueError(kind)

    def _about(self, kind: str, rest: str) -> None:
        """Take what is said of the listing itself."""
        match kind:
            case "#":
                now, told = rest.split("|")
                self._digest = told
                self._now = number(now) or 0
                self._open += 1
            case ".":
                self._open -= 1
            case "c":
                self._walked(*rest.rpartition("\n")[::2])
            case "n":
                raise Unreadable(f"the host has no {printable(rest)}, so that nothing of it can be listed", _PROGRAMS)

    def _walked(self, complaints: str, status: str) -> None:
        """How one of the walks ended."""
        told = complaints.split("\n", COMPLAINTS)
        lines = [line for each in told[:COMPLAINTS] if (line := each[:WIDEST].strip())]
        if len(self._complaints) < _WALKS * COMPLAINTS * len(self._packages):
            self._complaints += lines
        ended = number(status, 3)
        if ended is None or ended > _KILLED:
            self.trouble = f"find ended with status {printable(status[:_SHOWN]) or 'unknown'}"
        elif len(lines) >= COMPLAINTS or len(told) > COMPLAINTS:
            self.trouble = f"find complained of {COMPLAINTS} things and more"
        elif ended and not lines:
            self.trouble = f"find ended with status {ended} and did not say why"

    def _complain(self) -> None:
        """Make an unknown of whatever a walk complained of, and of each package where the listing is not whole."""
        for line in self._complaints:
            path, why = _complaint(line)
            if not path:
                self.trouble = self.trouble or f"find said: {printable(line[:_SHOWN])}"
            elif not self._is_told(path):
                self._coarse = True  # another look may go well
                what = "folder" if kind_of(path) is Kind.OTHER else "file"
                self._found[path] = Unknown(what, printable(path), _denied(printable(why[:_SHOWN])))
        if self._open:
            self.trouble = "it was cut off"
        if self.trouble:
            self._coarse = True
            why = f"its listing is not whole: {self.trouble}"
            for package in self._packages:
                self._found.setdefault(package, Unknown("folder", printable(package), why))

    def _is_told(self, path: str) -> bool:
        """Whether it, or a folder that it lies in, is among what could not be learned."""
        parts = path.split("/")
        above = ("/".join(parts[:length]) for length in range(1, len(parts) + 1))
        return any(isinstance(self._found.get(each), Unknown) for each in above)

    def _folder(self, device: str, path: str) -> None:
        """A folder of another device is a mount, which `find -xdev` names and does not enter."""
        self._devices[path] = device
        parent = path.rpartition("/")[0]
        if path not in self._packages and self._devices.get(parent, device) != device:
            self._found[path] = Unknown("folder", printable(path), "another file system is mounted there")

    def _file(self, path: str, size: int, stamp: str, target: str) -> None:
        fault = fault_of(path)
        if fault:
            self._found[path] = Unknown("file", printable(path), fault)
            return
        self._found[path] = Entry(path, size)
        self._files[path] = Listed(path, size, stamp, target)

    def _date(self, changed: str, written: str) -> None:
        """Where times are whole seconds, a file that changes again within this second would look the same."""
        whole = not _FRACTION.search(changed) and not _FRACTION.search(written)
        seconds = number(changed.partition(".")[0])
        if whole and (seconds is None or seconds >= self._now - 1):
            self._coarse = True

    def _link(self, fields: Sequence[str], path: str, real: str) -> None:
        kind, size, changed, written = fields
        if kind == "gone":
            self._found[path] = Unknown("file", printable(path), _GONE)
        elif (inside := self._inside(real)) is None:
            if kind == "folder" or kind_of(path.rpartition("/")[2]) is not Kind.OTHER:
                self._found[path] = Unknown("file", printable(path), OUTSIDE)
        elif kind == "file":
            self._file(path, _size(size), f"{changed} {written} {real}", inside)
            self._date(changed, written)

    def _inside(self, real: str) -> str | None:
        """The path below the packages of what lies there; None where it lies outside of them."""
        for package, home in self._homes.items():
            if real.startswith(f"{home}/"):
                inside = package + real[len(home) :]
                return None if fault_of(inside) else inside
        return None

    def listing(self, digest: str) -> Listing:
        """All of it, under the digest that was made here; what the host gave another one is not remembered."""
        if self._torn is not None and not self._open:
            raise _nonsense(self._torn)
        for fields, path, real in self._links:
            self._link(fields, path, real)
        self._complain()
        order = sorted(self._found.items(), key=self._place)
        # Behind the digest its tool prints the name of what was read: that of standard input.
        is_known = bool(digest) and not self._coarse and self._digest.startswith(f"{digest}:")
        return Listing(self._digest if is_known else "", self._files, tuple(found for _, found in order))

    def _place(self, item: tuple[str, Entry | Unknown]) -> tuple[int, tuple[str, ...], str]:
        """Where the walk of a folder on this machine would come to it."""
        path, found = item
        if isinstance(found, Unknown) and found.what == "folder":
            folder, name = path, ""
        else:
            folder, _, name = path.rpartition("/")
        parts = tuple(folder.split("/"))
        tops = (self._packages.get("/".join(parts[:length])) for length in range(len(parts), 0, -1))
        return next((top for top in tops if top is not None), len(self._packages)), parts, name


def _nonsense(record: str) -> Unreadable:
    return Unreadable(f"the host's listing holds {printable(record[:80])!r}")


def _size(text: str) -> int:
    if (size := number(text, 15)) is None:
        raise ValueError(text)
    return size


def _complaint(line: str) -> tuple[str, str]:
    """What a line of a walk is about, below the packages, and why; '' twice where it names nothing."""
    before, _, why = line.rpartition(": ")
    start = before.find("./")
    if start < 0 or not why or ":" in why:
        return "", ""
    path = before[start + 2 :]
    return path[:-1] if path.endswith(("'", '"')) else path, why


def _denied(why: str) -> str:
    return DENIED if why == "Permission denied" else why


def _owner(told: str) -> str:
    """The name of `name:number`, or the number where nobody has that name."""
    name, _, number = told.partition(":")
    if _NAME.fullmatch(name) and name not in {"UNKNOWN", number}:
        return name
    return f"with the number {int(number)}" if number.isascii() and number.isdecimal() and len(number) < 11 else ""


def _plain(path: str) -> str:
    return path.removeprefix("./")


def stamps(listing: Listing) -> Iterator[tuple[str, tuple[int, str, str]]]:
    """What must be equal for a file to be taken as unchanged."""
    for path, listed in listing.files.items():
        yield path, (listed.size_bytes, listed.stamp, listed.target)
