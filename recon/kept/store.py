"""The file in which the parts of a tree are kept: written whole by a scan, or not at all.

Definitions and marks are rows, since few of them are asked for at a time. Edges are packed arrays, sorted by their
source, with an order by target beside them: a path needs the neighbours of many definitions, and a quarter of a million
edges are read in this form in milliseconds.
"""

import hashlib
import json
import os
import sqlite3
import sys
import tempfile
import time
from array import array
from collections.abc import Iterable, Sequence
from contextlib import closing, suppress
from itertools import accumulate
from operator import attrgetter
from pathlib import Path

from recon.folders import make_private
from recon.kept.parts import Definition, Edge, Parts
from recon.records.path import Tier

FOLDER = "graphs"
"""Below the cache folder."""
FORMAT = f"1-{sys.byteorder}"
"""What is written in another form is not read."""
TIERS = tuple(Tier)
ARRAYS = ("sources", "targets", "lines", "hows", "out", "into", "order")
MOST_DEFINITIONS = 4_000_000
MOST_EDGES = 16_000_000
_LONGEST = 400
"""Characters of a name; longer ones are made by machines."""
_TEMPORARY = ".new-"
_DAY_S = 86_400.0
_TABLES = """
CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE files (id INTEGER PRIMARY KEY, path TEXT NOT NULL, module TEXT NOT NULL);
CREATE TABLE definitions (
    id INTEGER PRIMARY KEY, kind TEXT NOT NULL, file INTEGER NOT NULL, line INTEGER NOT NULL,
    first_line INTEGER NOT NULL, end_line INTEGER NOT NULL, symbol TEXT NOT NULL, name TEXT NOT NULL, root TEXT NOT NULL
);
CREATE TABLE marks (
    kind TEXT NOT NULL, name TEXT NOT NULL, path TEXT NOT NULL, line INTEGER NOT NULL, symbol TEXT NOT NULL,
    what TEXT NOT NULL
);
CREATE TABLE arrays (name TEXT PRIMARY KEY, data BLOB NOT NULL);
"""
_INDEXES = """
CREATE INDEX by_name ON definitions (name);
CREATE INDEX by_file ON definitions (file);
"""


def path_of(cache_dir: Path, source_digest: str) -> Path:
    """Where the parts of a tree are kept."""
    name = hashlib.blake2b(source_digest.encode("utf-8", "backslashreplace"), digest_size=16).hexdigest()
    return cache_dir / FOLDER / f"{name}.sqlite"


def is_kept(path: Path, version: str) -> bool:
    """Whether a file holds what this version of recon would write."""
    try:
        with closing(connected(path)) as connection:
            about = dict(connection.execute("SELECT key, value FROM about"))
    except (sqlite3.Error, OSError):
        return False
    touch(path)
    return (FORMAT, version) == (about.get("format"), about.get("version"))


def touch(path: Path) -> None:
    """Say that a file was used, once a day, so that it is not pruned; where that is forbidden, nothing is lost."""
    with suppress(OSError):
        if time.time() - path.stat().st_mtime > _DAY_S:
            os.utime(path)


def connected(path: Path) -> sqlite3.Connection:
    """A file that is only read: no lock, no journal, nothing written beside it."""
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)


def write(path: Path, parts: Parts) -> None:
    """Keep the parts of a tree in a file, in place of what it held.

    Raises:
        OSError, sqlite3.Error: it cannot be written.
        ValueError: there is more than any tree holds.
    """
    if len(parts.definitions) > MOST_DEFINITIONS or len(parts.edges) > MOST_EDGES:
        raise ValueError(f"{len(parts.definitions)} definitions and {len(parts.edges)} edges are more than is kept")
    make_private(path.parent)
    handle, temporary = tempfile.mkstemp(prefix=_TEMPORARY, dir=path.parent)
    os.close(handle)
    try:
        with closing(sqlite3.connect(temporary, isolation_level=None)) as connection:
            connection.execute("PRAGMA journal_mode = OFF")
            connection.execute("PRAGMA synchronous = OFF")
            connection.execute("BEGIN")
            _fill(connection, parts)
            connection.execute("COMMIT")
        Path(temporary).replace(path)
    except BaseException:  # Ctrl-C too leaves nothing behind
        with suppress(OSError):
            Path(temporary).unlink()
        raise


def _fill(connection: sqlite3.Connection, parts: Parts) -> None:
    for statement in _TABLES.split(";"):
        connection.execute(statement)
    files = {path: number for number, path in enumerate(dict.fromkeys(each.path for each in parts.definitions))}
    connection.executemany(
        "INSERT INTO files VALUES (?, ?, ?)", ((number, text(path), module_of(path)) for path, number in files.items())
    )
    connection.executemany(
        "INSERT INTO definitions VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (_row(each, files[each.path]) for each in parts.definitions),
    )
    connection.executemany(
        "INSERT INTO marks VALUES (?, ?, ?, ?, ?, ?)",
        ((m.kind, text(m.name), text(m.path), m.line, text(m.symbol), text(m.what)) for m in parts.marks),
    )
    words = tuple(dict.fromkeys(edge.dispatch for edge in parts.edges))
    arrays = packed(len(parts.definitions), parts.edges, words)
    connection.executemany("INSERT INTO arrays VALUES (?, ?)", arrays.items())
    about = {
        "format": FORMAT,
        "version": parts.version,
        "definitions": str(len(parts.definitions)),
        "words": json.dumps(words),
        "checksum": checksum(arrays[name] for name in ARRAYS),
    }
    connection.executemany("INSERT INTO about VALUES (?, ?)", about.items())
    for statement in _INDEXES.split(";"):
        connection.execute(statement)


def _row(each: Definition, file: int) -> tuple[int, str, int, int, int, int, str, str, str]:
    symbol = text(each.symbol)
    name = symbol.rpartition(".")[2]
    return each.id, each.kind, file, each.line, each.first_line, each.end_line, symbol, name, text(each.root)


def packed(count: int, edges: Sequence[Edge], words: Sequence[str]) -> dict[str, bytes]:
    """Edges as arrays of unsigned integers, by name.

    Args:
        count: How many definitions there are.
        edges: What is packed.
        words: The ways of dispatch; `hows` holds the place of one, times the number of tiers, plus the tier's.

    Returns:
        `sources`, `targets`, `lines`, `hows`, sorted by source; `out[n]` is where the edges of source n begin;
        `order` has the places of the edges sorted by target, and `into[n]` is where those to target n begin.
    """
    ordered = sorted(edges, key=attrgetter("source", "line", "target"))
    how = {(word, tier): w * len(TIERS) + t for w, word in enumerate(words) for t, tier in enumerate(TIERS)}
    targets = [edge.target for edge in ordered]
    columns = {
        "sources": [edge.source for edge in ordered],
        "targets": targets,
        "lines": [edge.line for edge in ordered],
        "hows": [how[edge.dispatch, edge.tier] for edge in ordered],
        "order": sorted(range(len(ordered)), key=targets.__getitem__),
    }
    columns["out"] = _offsets(count, columns["sources"])
    columns["into"] = _offsets(count, columns["targets"])
    return {name: array("I", columns[name]).tobytes() for name in ARRAYS}


def _offsets(count: int, ends: Sequence[int]) -> list[int]:
    """Where the edges of each definition begin in a sequence that is sorted by it, and where the last ones end."""
    degrees = [0] * (count + 1)
    for end in ends:
        degrees[end + 1] += 1
    return list(accumulate(degrees))


def checksum(blobs: Iterable[bytes]) -> str:
    """Digest of packed arrays, which SQLite does not watch over."""
    digest = hashlib.blake2b(digest_size=16)
    for blob in blobs:
        digest.update(blob)
    return digest.hexdigest()


def text(words: str) -> str:
    r"""Words as they can be kept: bounded, and bytes that are no UTF-8 as `\xNN`."""
    if len(words) <= _LONGEST and words.isascii():  # nearly all
        return words
    short = words if len(words) <= _LONGEST else f"{words[: _LONGEST - 1]}…"
    return short.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def module_of(path: str) -> str:
    """Dotted name of a file.

    >>> module_of("engine/spec/__init__.py"), module_of("engine/csrc/verify.cu")
    ('engine.spec', 'engine.csrc.verify')
    """
    stem = text(path).rpartition(".")[0] or text(path)
    return stem.removesuffix("/__init__").replace("/", ".")
