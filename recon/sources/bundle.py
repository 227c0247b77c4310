"""What a person collected on a host by hand: one file, read here as if the host were asked.

A bundle is a sequence of frames, as `host_scripts.by_hand_script` and the collecting script write them: facts, and for
each package folder its listing, its sources as archives and the pieces of its libraries. It may be packed with gzip.
It comes from a stranger as much as the answers of a host do.
"""

import mmap
import tempfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from recon.errors import NotFound, Unreadable
from recon.numbers import number
from recon.ports import ByteRange, Entry, Progress, Reply
from recon.records.install import Found
from recon.records.source import SourceFile
from recon.records.unknown import Unknown
from recon.sources.capture import Known
from recon.sources.fetching import STATES
from recon.sources.framing import HostileStream
from recon.sources.listing import Listing, read_listing
from recon.sources.remote_ranges import Extent, HostRange
from recon.sources.select import MAX_TOTAL_BYTES, printable
from recon.sources.store import BlobStore
from recon.sources.tar_reader import TarReader

MAGIC = b"recon bundle 1 "
MAX_FRAMES = 500_000
MAX_FACT_BYTES = 64 << 20
_PIECE = 1 << 20
_AGAIN = "Run the collecting script again, to its end."


@dataclass(slots=True)
class _Package:
    """The frames of one package folder; each is a stretch of the file."""

    path: str
    real: str
    listing: bytes
    archive: tuple[int, int] = (0, 0)
    libraries: dict[str, list[tuple[int, tuple[int, int]]] | str] = field(default_factory=dict)


class Bundle:
    """An open bundle.

    Attributes:
        facts: What each fact's command answered, by its name.
    """

    def __init__(self, data: "mmap.mmap | bytes", name: str) -> None:
        """Look through the frames.

        Raises:
            Unreadable: it is no bundle, it was cut off, or it holds more than recon reads.
        """
        self._data = data
        self._name = name
        self.facts: dict[str, Reply] = {}
        self._packages: list[_Package] = []
        self._records: dict[str, tuple[int, int]] = {}
        for place, (head, start, end) in enumerate(self._frames()):
            if place > MAX_FRAMES:
                raise HostileStream(f"{name} holds more frames than recon reads")
            self._frame(head, start, end)

    def _frames(self) -> Iterator[tuple[str, int, int]]:
        line = self._data[:128].partition(b"\n")[0]
        nonce = line[len(MAGIC) :]
        if not line.startswith(MAGIC) or not nonce.isalnum() or len(nonce) < 16:
            raise Unreadable(f"{self._name} is no bundle", "Give what `sh collect.sh > FILE` wrote.")
        mark = b"\n" + nonce + b" "
        at = self._data.find(mark)
        while at >= 0:
            line_end = self._data.find(b"\n", at + len(mark))
            following = self._data.find(mark, at + len(mark))
            if line_end < 0:
                break
            head = self._data[at + len(mark) : min(line_end, at + 8192)].decode("utf-8", "surrogateescape")
            if following < 0:
                if head == "end":
                    return
                break
            yield head, line_end + 1, max(following, line_end + 1)
            at = following
        raise Unreadable(f"{self._name} was cut off: the end of it is missing", _AGAIN)

    def _frame(self, head: str, start: int, end: int) -> None:
        match head.split("\t"):
            case ["fact", name, told] if (status := number(told, 3)) is not None and end - start <= MAX_FACT_BYTES:
                text = self._data[start:end].decode("utf-8", "surrogateescape")
                self.facts[name] = Reply(text, "", status)
            case ["tree", path, real] if end - start <= MAX_FACT_BYTES:
                self._packages.append(_Package(path, real, self._data[start:end]))
            case ["archive", path] if self._packages and self._packages[-1].path == path:
                self._packages[-1].archive = (start, end)
            case ["record", folder]:
                self._records[folder] = (start, end)
            case [piece] if piece.startswith("./") and self._packages:
                self._piece(piece, start, end)
            case _:
                pass

    def _piece(self, head: str, start: int, end: int) -> None:
        path, _, what = head.removeprefix("./").rpartition(" ")
        if (offset := number(what)) is None:
            self._packages[-1].libraries[path] = STATES.get(what, "it could not be read")
            return
        pieces = self._packages[-1].libraries.setdefault(path, [])
        if isinstance(pieces, list):
            pieces.append((offset, (start, end)))

    def tree(self, found: Found, store: BlobStore, progress: Progress) -> "BundleTree":
        """The tree of an install that the facts told of; its sources go to the store.

        Raises:
            Unreadable: the bundle does not hold it, or holds what no honest one does.
        """
        wanted = [f"{found.root}/{package}" for package in found.packages]
        packages = [each for path in wanted for each in self._packages if path in (each.path, each.real)]
        if not packages:
            raise Unreadable(f"{self._name} holds no {found.root}/{found.packages[0]}", _AGAIN)
        listing = read_listing(b"".join(each.listing for each in packages), found.packages)
        files = self._unpack(packages, listing, store, progress)
        record = self._data[slice(*self._records.get(found.dist_info, (0, 0)))]
        if record:
            path = f"{found.dist_info.rpartition('/')[2]}/RECORD"
            files[path] = SourceFile(path, store.put(record), len(record))
        pieces = {path: held for each in packages for path, held in each.libraries.items()}
        return BundleTree(found.root, listing, store, files, self._extents(pieces))

    def _unpack(
        self, packages: Sequence[_Package], listing: Listing, store: BlobStore, progress: Progress
    ) -> dict[str, SourceFile]:
        files: dict[str, SourceFile] = {}
        sizes = {path: listed.size_bytes for path, listed in listing.files.items()}

        def take(path: str, data: bytes) -> None:
            files[path] = SourceFile(path, store.put(data), len(data))

        progress.start(
            f"unpacking sources of {self._name}", sum(end - start for start, end in (each.archive for each in packages))
        )
        for each in packages:
            reader = TarReader(sizes, take, others=True)
            for at in range(*each.archive, _PIECE):
                end = min(at + _PIECE, each.archive[1])
                reader(self._data[at:end])
                progress.advance(end - at)
        progress.finish()
        for path, listed in listing.files.items():
            if path != listed.target and listed.target in files:
                there = files[listed.target]
                files[path] = SourceFile(path, there.digest, there.size_bytes)
        return files

    def _extents(self, pieces: Mapping[str, list[tuple[int, tuple[int, int]]] | str]) -> dict[str, list[Extent] | str]:
        return {
            path: held if isinstance(held, str) else [(offset, self._data[slice(*where)]) for offset, where in held]
            for path, held in pieces.items()
        }


class BundleTree:
    """One install of a bundle; implements `recon.ports.SourceTree`."""

    def __init__(
        self,
        location: str,
        listing: Listing,
        store: BlobStore,
        files: dict[str, SourceFile],
        extents: dict[str, list[Extent] | str],
    ) -> None:
        """Take what the bundle holds of it."""
        self.location = location
        self._listing = listing
        self._store = store
        self._files = files
        self._extents = extents

    @property
    def known(self) -> Known:
        """Sources that lie in the store already."""
        return Known(self._files)

    def entries(self) -> Iterator[Entry | Unknown]:
        """What matters of the files below the package folders, sorted within each folder."""
        yield from self._listing.order

    def read(self, paths: Sequence[str]) -> Iterator[tuple[str, bytes | Unknown]]:
        """Bytes of the files asked for, as far as the bundle holds them."""
        for path in paths:
            if path in self._files:
                yield path, self._store.get(self._files[path].digest)
            else:
                yield path, Unknown("source file", printable(path), "the bundle does not hold it: it was not readable")

    def open_range(self, path: str) -> ByteRange:
        """A library for bounded reads of what the bundle holds of it.

        Raises:
            Unreadable: it was not readable where the bundle was made.
        """
        listed = self._listing.files.get(path)
        held = self._extents.get(listed.target if listed else path, "the bundle does not hold it")
        if isinstance(held, str) or listed is None:
            raise Unreadable(f"{printable(path)} cannot be opened: {held}")
        return HostRange(listed.size_bytes, held, _nothing_more)


def _nothing_more(offset: int, length: int) -> list[Extent]:
    raise Unreadable(f"the bundle does not hold its bytes from {offset} to {offset + length}: scan the host over SSH")


def open_bundle(path: Path) -> Bundle:
    """Read a bundle, packed with gzip or not.

    Raises:
        NotFound: there is no such file.
        Unreadable: it is no bundle, it was cut off, or it holds more than recon reads.
    """
    try:
        with path.open("rb") as file:
            packed = file.read(2) == b"\x1f\x8b"
            file.seek(0)
            return Bundle(_unpacked(file, path.name) if packed else _mapped(file), path.name)
    except FileNotFoundError:
        raise NotFound(f"{path} does not exist", "Give what `sh collect.sh > FILE` wrote.") from None
    except OSError as error:
        raise Unreadable(f"{path} cannot be read: {error.strerror}") from None


def _mapped(file: IO[bytes]) -> "mmap.mmap | bytes":
    size = file.seek(0, 2)
    return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if size else b""


def _unpacked(packed: IO[bytes], name: str) -> "mmap.mmap | bytes":
    """Inflate into a file that has no name."""
    inflate = zlib.decompressobj(31)
    total = 0
    with tempfile.TemporaryFile() as file:
        while piece := packed.read(_PIECE):
            while piece and not inflate.eof:
                try:
                    data = inflate.decompress(piece, _PIECE)
                except zlib.error:
                    raise Unreadable(f"{name} is damaged", _AGAIN) from None
                total += len(data)
                if total > MAX_TOTAL_BYTES:
                    raise HostileStream(f"{name} inflates to more than recon reads")
                file.write(data)
                piece = inflate.unconsumed_tail
        file.flush()
        return _mapped(file)
