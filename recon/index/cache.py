"""What was learned of a blob, kept by digest: a later run reads only files that it has not seen.

The key holds a digest of the modules that make the records and the minor version of Python, so an edit of either serves
no stale row. A cache is never a reason to fail: what goes wrong with it is a note, and the work is done without it.
"""

import platform
import sqlite3
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from functools import cache
from hashlib import blake2b
from importlib import metadata, resources
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

import msgspec

from recon.folders import make_private
from recon.index.records import Outline
from recon.records.unknown import CACHE, Unknown

EXTRACTORS = (
    "records",
    "libraries",
    "spell",
    "signs",
    "binding",
    "live",
    "patterns",
    "term",
    "marks",
    "expressions",
    "outline",
    "cuda_spell",
    "cuda_outline",
    "cuda_text",
    "cuda_signs",
    "cuda_by_text",
    "cuda_triage",
    "macro_blocks",
    "macro_bodies",
    "rescue",
    "decoding",
    "strings",
    "inside",
    "newer",
    "newer_patterns",
    "newer_tree",
)
_LIBRARIES = ("libcst", "tree-sitter", "tree-sitter-cuda")
_SCHEMA = 1
_TABLE = """
CREATE TABLE IF NOT EXISTS payloads (
    kind TEXT NOT NULL, version TEXT NOT NULL, digest TEXT NOT NULL, payload BLOB NOT NULL,
    PRIMARY KEY (kind, version, digest)
)
"""
_BATCH = 400
_WAIT_S = 10.0
_BROKEN = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR, sqlite3.SQLITE_FORMAT})
_OUTLINE = "outline"
_DECODER = msgspec.msgpack.Decoder(Outline)
_Answer = TypeVar("_Answer")


@cache
def version_of(modules: tuple[str, ...]) -> str:
    """Digest of the sources of some modules of this package, of the libraries they use and of Python's version."""
    digest = blake2b(digest_size=8)
    folder = resources.files("recon.index")
    for name in modules:
        source = folder / f"{name}.py"
        digest.update(name.encode() + b"\0" + (source.read_bytes() if source.is_file() else b""))
    for library in _LIBRARIES:
        digest.update(f"{library} {_version(library)}\0".encode())
    return f"{digest.hexdigest()}-{sys.version_info.major}.{sys.version_info.minor}"


def _version(library: str) -> str:
    try:
        return metadata.version(library)
    except metadata.PackageNotFoundError:  # frozen into one file, say
        return platform.python_version()


class OutlineCache:
    """Records by blob digest in one SQLite file, which several processes may use at once.

    Attributes:
        notes: What went wrong with the file, for the report; the work went on without it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.notes: list[Unknown] = []
        self._connection: sqlite3.Connection | None = None
        self._is_off = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def get_many(self, digests: Iterable[str]) -> dict[str, Outline]:
        """The outlines that are known, by digest."""
        found: dict[str, Outline] = {}
        for digest, payload in self.get_blob_records(_OUTLINE, version_of(EXTRACTORS), digests).items():
            try:
                found[digest] = _DECODER.decode(payload)
            except (msgspec.DecodeError, TypeError, UnicodeDecodeError):  # a damaged row is a miss
                continue
        return found

    def put_many(self, rows: Iterable[tuple[str, bytes]]) -> None:
        """Keep outlines, each as its digest and its msgpack."""
        self.put_blob_records(_OUTLINE, version_of(EXTRACTORS), rows)

    def get_blob_records(self, kind: str, version: str, digests: Iterable[str]) -> dict[str, bytes]:
        """Payloads of a kind that were kept under a version, by digest."""
        wanted = list(digests)

        def read(connection: sqlite3.Connection) -> dict[str, bytes]:
            found: dict[str, bytes] = {}
            for batch in _batches(wanted, _BATCH):
                marks = ",".join("?" * len(batch))
                query = f"SELECT digest, payload FROM payloads WHERE kind = ? AND version = ? AND digest IN ({marks})"  # noqa: S608  # only marks are put in
                found.update(connection.execute(query, (kind, version, *batch)))
            return found

        return self._with(read) or {}

    def put_blob_records(self, kind: str, version: str, rows: Iterable[tuple[str, bytes]]) -> None:
        """Keep payloads of a kind under a version, each as a digest and bytes."""
        kept = [(kind, version, digest, payload) for digest, payload in rows]

        def write(connection: sqlite3.Connection) -> None:
            with connection:
                connection.executemany("INSERT OR REPLACE INTO payloads VALUES (?, ?, ?, ?)", kept)

        self._with(write)

    def prune(self) -> int:
        """Remove the outlines that other versions made; the number of rows removed."""

        def remove(connection: sqlite3.Connection) -> int:
            with connection:
                query = "DELETE FROM payloads WHERE kind = ? AND version != ?"
                removed = connection.execute(query, (_OUTLINE, version_of(EXTRACTORS))).rowcount
            connection.execute("VACUUM")
            return removed

        return self._with(remove) or 0

    def _with(self, work: Callable[[sqlite3.Connection], _Answer]) -> _Answer | None:
        """Do something with the file; None where that failed, with a note why."""
        for _ in range(2):
            if self._is_off:
                return None
            try:
                if self._connection is None:
                    self._connection = self._open()
                return work(self._connection)
            except (sqlite3.Error, OSError) as error:
                self._failed(error)
        return None

    def _open(self) -> sqlite3.Connection:
        make_private(self.path.parent)
        connection = sqlite3.connect(self.path, timeout=_WAIT_S)
        with suppress(OSError):  # outlines hold strings of the source, and are nobody else's to read
            self.path.chmod(0o600)
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            with closing(connection.execute("PRAGMA user_version")) as rows:
                schema = rows.fetchone()[0]
            if schema != _SCHEMA:
                with connection:
                    connection.execute("DROP TABLE IF EXISTS payloads")
                    connection.execute(_TABLE)
                    connection.execute(f"PRAGMA user_version = {_SCHEMA}")
        except BaseException:
            connection.close()
            raise
        return connection

    def _failed(self, error: sqlite3.Error | OSError) -> None:
        """Set a broken file aside, so that the next try starts afresh; give up on any other trouble."""
        self.close()
        code = getattr(error, "sqlite_errorcode", None)
        if code == sqlite3.SQLITE_BUSY:
            self._note(f"another process kept it for more than {_WAIT_S:g} s")
            self._is_off = True
        elif code in _BROKEN and self._set_aside():
            self._note(f"{error}; set aside as {self.path.name}.corrupt")
        else:
            self._note(str(error))
            self._is_off = True

    def _set_aside(self) -> bool:
        if any(note.why.endswith(".corrupt") for note in self.notes):
            return False  # once is enough: a file that breaks anew is not to be trusted
        try:
            self.path.replace(self.path.with_name(f"{self.path.name}.corrupt"))
            for suffix in ("-wal", "-shm"):
                self.path.with_name(f"{self.path.name}{suffix}").unlink(missing_ok=True)
        except OSError:
            return False
        return True

    def _note(self, why: str) -> None:
        self.notes.append(Unknown(CACHE, str(self.path), why))


def _batches(items: Sequence[str], size: int) -> Iterator[tuple[str, ...]]:
    rest = iter(items)
    while batch := tuple(islice(rest, size)):
        yield batch
