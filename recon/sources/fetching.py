"""Whole files brought from a host: one stream for many, and each by itself for what that stream left out."""

import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence

from recon.numbers import number
from recon.ports import Progress, Shell
from recon.records.unknown import Unknown
from recon.sources.elf import TOO_LARGE
from recon.sources.framing import HostileStream, Incoming, frames
from recon.sources.host_scripts import files_script
from recon.sources.listing import Listed
from recon.sources.local import MAX_METADATA_BYTES
from recon.sources.select import DENIED, MAX_SOURCE_BYTES, Kind, kind_of, printable
from recon.sources.tar_reader import TarReader

BATCH_BYTES = 64 << 20
"""What is held in memory at once; the sources of most installs are one batch."""
BATCH_FILES = 20_000
STATES = {
    "denied": DENIED,
    "gone": "No such file or directory",
    "link": "it became a link while it was read",
    "odd": "it is not a regular file",
    "large": TOO_LARGE,
}
"""Why a host did not open a file, or sent no more of it, by the word that its script says."""
_SLOWEST = 50_000
"""Bytes a second below which a host is late."""
_START_S = 60.0


def fetch_files(
    shell: Shell, root: str, wanted: Sequence[Listed], progress: Progress
) -> Iterator[tuple[str, bytes | Unknown]]:
    """Bring files, and say of each that did not come why.

    Args:
        shell: The machine.
        root: The folder there that the paths count from.
        wanted: What was listed. The bytes of a link are those of its target.
        progress: Told of bytes.

    Raises:
        Unreachable: the machine did not answer.
    """
    progress.start(
        f"receiving sources from {shell.name}", sum({listed.target: listed.size_bytes for listed in wanted}.values())
    )
    for batch in _batches(wanted):
        paths_of: dict[str, list[str]] = {}
        for listed in batch:
            paths_of.setdefault(listed.target, []).append(listed.path)
        sizes = {listed.target: listed.size_bytes for listed in batch}
        for target, got in _Batch(shell, root, sizes, progress).bring():
            progress.advance(max(0, sizes[target] - (0 if isinstance(got, str) else len(got))))  # it will not come
            for path in paths_of[target]:
                yield path, Unknown("source file", printable(path), got) if isinstance(got, str) else got
    progress.finish()


def patience(amount: int) -> float:
    """Seconds within which so many bytes must be here."""
    return _START_S + amount / _SLOWEST


class _Batch:
    """Files that come together."""

    def __init__(self, shell: Shell, root: str, sizes: Mapping[str, int], progress: Progress) -> None:
        self._shell = shell
        self._root = root
        self._sizes = sizes
        self._progress = progress
        self._got: dict[str, bytes | str] = {}

    def bring(self) -> Iterator[tuple[str, bytes | str]]:
        """Bytes, or why there are none.

        What a tar stream leaves out (a link, a file that grew) is asked for by itself, and so is all that followed
        something that nobody asked for: an honest host whose files change looks just like that.
        """
        why = "the host stopped before it came"
        for tar in (True, False):
            left = [path for path in self._sizes if path not in self._got]
            if not left:
                break
            try:
                self._ask(left, tar=tar)
            except HostileStream as error:
                why = error.message
        for path in self._sizes:
            yield path, self._got.get(path, why)

    def _ask(self, paths: Sequence[str], *, tar: bool) -> None:
        nonce = secrets.token_hex(16)
        limit = max(_limit(path) for path in paths)
        total = sum(self._sizes[path] for path in paths)
        cap = 2 * total + 4096 * len(paths) + (1 << 20) + (0 if tar else 8 * MAX_SOURCE_BYTES)
        framed = bytearray()

        def taker(how: str) -> Callable[[bytes], None]:
            return TarReader({path: self._sizes[path] for path in paths}, self._take) if how == "tar" else framed.extend

        script = files_script(self._root, paths, nonce, limit=limit, tar=tar)
        self._shell.stream(script, Incoming(nonce, taker, cap), timeout_s=patience(total), cap_bytes=cap)
        self._unframe(bytes(framed), nonce, paths)

    def _unframe(self, data: bytes, nonce: str, paths: Sequence[str]) -> None:
        for head, body in frames(data, nonce):
            place, _, state = head.partition(" ")
            if (at := number(place)) is None or at >= len(paths):
                continue
            path = paths[at]
            if state != "ok":
                self._got.setdefault(path, STATES.get(state, "it could not be read"))
            elif len(body) > _limit(path):
                self._got.setdefault(path, f"too large: more than {_limit(path)} bytes")
            else:
                self._take(path, body)

    def _take(self, path: str, data: bytes) -> None:
        if path not in self._got:
            self._got[path] = data
            self._progress.advance(min(len(data), self._sizes[path]))


def _limit(path: str) -> int:
    return MAX_METADATA_BYTES if kind_of(path) is Kind.METADATA else MAX_SOURCE_BYTES


def _batches(wanted: Sequence[Listed]) -> Iterator[list[Listed]]:
    batch: list[Listed] = []
    total = 0
    for listed in wanted:
        if batch and (total + listed.size_bytes > BATCH_BYTES or len(batch) >= BATCH_FILES):
            yield batch
            batch, total = [], 0
        batch.append(listed)
        total += listed.size_bytes
    if batch:
        yield batch
