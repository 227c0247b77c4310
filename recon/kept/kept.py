"""The parts of one tree, opened for questions: what is called so, who calls it, which way leads there."""

import json
import re
import sqlite3
from array import array
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path

from recon.errors import NotFound
from recon.kept.parts import KINDS, Definition, Edge, Mark
from recon.kept.search import Edges
from recon.kept.store import ARRAYS, FORMAT, checksum, connected, path_of, touch

_PLACE = re.compile(r"(?P<path>[^:]+):(?P<line>\d{1,9})")
_MOST_NEAR = 20_000
"""Names among which the nearest to a misspelt one are looked for."""
_MOST_SYMBOLS = 3_000
"""Likewise, of the symbols that have one of the nearest names."""
_COLUMNS = "d.id, d.kind, f.path, d.line, d.first_line, d.end_line, d.symbol, d.root"
_FROM = "definitions d JOIN files f ON f.id = d.file"


LONGEST = 1_000
"""Characters of what is looked for: no name that is kept is longer than its path and four hundred."""


class Lost(NotFound):
    """Nothing is kept of a tree any more, or what is kept is damaged.

    Attributes:
        is_damaged: Whether something is kept, and cannot be read.
    """

    def __init__(self, message: str, *, is_damaged: bool) -> None:
        """Keep what was lost, and how."""
        super().__init__(message)
        self.args = (message,)
        self.is_damaged = is_damaged


@contextmanager
def opened(cache_dir: Path, source_digest: str) -> Iterator["Kept"]:
    """The parts that were kept of the tree with a digest.

    Raises:
        Lost: there are none, or they cannot be read, now or at a later question.
    """
    path = path_of(cache_dir, source_digest)
    try:
        with closing(connected(path)) as connection:
            kept = Kept(connection)
            touch(path)
            yield kept
    except (sqlite3.Error, OverflowError, TypeError, ValueError, IndexError, KeyError) as error:
        is_damaged = path.is_file()
        why = "that is kept of this tree is damaged" if is_damaged else "of this tree is not kept any more"
        raise Lost(f"the graph {why}", is_damaged=is_damaged) from error


class Kept:
    """Questions that the kept parts of one tree answer."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._about = dict(connection.execute("SELECT key, value FROM about"))
        if self._about.get("format") != FORMAT:
            raise ValueError("of another format")

    # What there is ----------------------------------------------------------------------------------------------------

    @property
    def count(self) -> int:
        """How many definitions there are; their ids are smaller."""
        return int(self._about["definitions"])

    @cached_property
    def edges(self) -> Edges:
        """All edges."""
        blobs = dict(self._connection.execute("SELECT name, data FROM arrays"))
        if checksum(blobs[name] for name in ARRAYS) != self._about["checksum"]:
            raise ValueError("damaged")
        return Edges(**{name: array("I", blobs[name]) for name in ARRAYS}, words=json.loads(self._about["words"]))

    def definition(self, number: int) -> Definition:
        """The definition with an id."""
        (row,) = self._definitions("d.id = ?", (number,))
        return row

    def callers(self, number: int) -> Iterator[Edge]:
        """The edges that lead to a definition."""
        return map(self.edges.at, self.edges.before(number))

    def callees(self, number: int) -> Iterator[Edge]:
        """The edges that lead on from a definition."""
        return map(self.edges.at, self.edges.after(number))

    def roots(self) -> list[Definition]:
        """Definitions at which a step of the engine begins."""
        return self._definitions("d.root != ''")

    # What a word means ------------------------------------------------------------------------------------------------

    def named(self, word: str) -> list[Definition]:
        """Definitions that a word may mean; several are for the user to choose from.

        Args:
            word: `path.py:line`, `path.py::symbol`, `Class.method` or any part of a dotted name that ends with it, a
                path of a file alone, which means its module. Paths may leave out folders at the front.
        """
        path, colons, symbol = word.partition("::")
        if colons:
            return [each for each in self._of_files(path) if _ends(each.symbol, symbol)]
        place = _PLACE.fullmatch(word)
        if place is not None:
            return self.around(place["path"], int(place["line"]))
        if "/" in word or word.endswith(".py"):
            return [each for each in self._of_files(word) if each.kind == "module"]
        rows = self._definitions("d.name = ?", (word.rpartition(".")[2],))
        return [each for each in rows if _ends(f"{self._module(each.path)}.{each.symbol}", word)]

    def around(self, path: str, line: int) -> list[Definition]:
        """The innermost definition around a line of each file that a path may mean."""
        found: dict[str, Definition] = {}
        for each in self._of_files(path):
            inside = each.first_line <= line <= each.end_line or (each.kind == "module" and line <= each.end_line)
            if inside and (each.path not in found or each.first_line >= found[each.path].first_line):
                found[each.path] = each
        return list(found.values())

    def members(self, one: Definition) -> frozenset[int]:
        """A definition, with the methods of a class."""
        if one.kind != "class":
            return frozenset({one.id})
        rows = self._connection.execute(
            f"SELECT d.id FROM {_FROM} WHERE f.path = ? AND d.symbol GLOB ? AND d.line BETWEEN ? AND ?",  # noqa: S608 - only names of tables
            (one.path, f"{_literal(one.symbol)}.*", one.first_line, one.end_line),
        )
        return frozenset({one.id, *(number for (number,) in rows)})

    def near(self, word: str, most: int = 3) -> list[str]:
        """Symbols that resemble a word that means nothing: the end of it, spelt a little differently."""
        last = word.rpartition("::")[2].rpartition(".")[2].partition(":")[0].lower()
        pieces = {last[start : start + 3] for start in range(0, max(1, len(last) - 2), 2)}
        where = " OR ".join("name LIKE ? ESCAPE '\\'" for _ in pieces)
        rows = self._connection.execute(
            f"SELECT DISTINCT name FROM definitions WHERE {where} LIMIT {_MOST_NEAR}",  # noqa: S608 - only marks are put in
            [f"%{_escaped(piece)}%" for piece in pieces],
        )
        names = {name.lower(): name for (name,) in rows}
        close = [names[each] for each in get_close_matches(last, names, n=most, cutoff=0.6)]
        given = ",".join("?" * len(close))
        symbols = self._connection.execute(
            f"SELECT DISTINCT symbol FROM definitions WHERE name IN ({given}) LIMIT {_MOST_SYMBOLS}",  # noqa: S608 - likewise
            close,
        )
        return get_close_matches(word.rpartition("::")[2], [symbol for (symbol,) in symbols], n=most, cutoff=0.0)

    # What is called so ------------------------------------------------------------------------------------------------

    def found(self, pattern: str, kinds: Collection[str] = KINDS) -> list[Mark]:
        """Everything with a name that a pattern fits, what fits best first.

        Args:
            pattern: A part of a qualified name, in any case; or, with `*`, `?` or `[`, a glob over the whole symbol,
                its last part or the qualified name.
            kinds: What may be found.
        """
        marks = ",".join("?" * len(kinds))
        fits = "{0} GLOB ?" if any(each in pattern for each in "*?[") else "{0} LIKE ? ESCAPE '\\'"
        given = pattern if fits.startswith("{0} GLOB") else f"%{_escaped(pattern)}%"
        qualified = "(f.module || '.' || d.symbol)"
        rows: Iterable[Sequence[str | int]] = self._connection.execute(
            f"SELECT d.kind, d.symbol, f.path, d.line, d.symbol, '' FROM {_FROM} WHERE d.kind IN ({marks})"  # noqa: S608 - only marks are put in
            f" AND ({fits.format('d.symbol')} OR {fits.format('d.name')} OR {fits.format(qualified)})",
            (*kinds, given, given, given),
        )
        more = self._connection.execute(
            f"SELECT kind, name, path, line, symbol, what FROM marks WHERE kind IN ({marks})"  # noqa: S608 - likewise
            f" AND ({fits.format('name')} OR {fits.format('symbol')})",
            (*kinds, given, given),
        )
        found = [Mark(*row) for row in (*rows, *more)]
        return sorted(found, key=lambda mark: (_rank(mark, pattern.lower()), KINDS.index(mark.kind), mark))

    # Rows -------------------------------------------------------------------------------------------------------------

    def _definitions(self, where: str, values: Sequence[str | int] = ()) -> list[Definition]:
        query = f"SELECT {_COLUMNS} FROM {_FROM} WHERE {where} ORDER BY d.id"  # noqa: S608 - the words are ours
        return [Definition(*row) for row in self._connection.execute(query, values)]

    def _of_files(self, path: str) -> list[Definition]:
        """All definitions of the files whose paths end with one."""
        bare = path.removeprefix("./")
        return self._definitions("f.path = ? OR f.path LIKE ? ESCAPE '\\'", (bare, f"%/{_escaped(bare)}"))

    def _module(self, path: str) -> str:
        (found,) = self._connection.execute("SELECT module FROM files WHERE path = ? LIMIT 1", (path,))
        return str(found[0])


def file_of(word: str) -> str:
    """The file in a word that names a place; '' where it names a definition.

    >>> file_of("a.py:7"), file_of("a.py::C.m"), file_of("b/a.py"), file_of("C.m")
    ('a.py', 'a.py', 'b/a.py', '')
    """
    path, colons, _ = word.partition("::")
    place = _PLACE.fullmatch(word)
    if place is not None:
        return place["path"]
    return path if colons or "/" in path or path.endswith(".py") else ""


def _ends(whole: str, word: str) -> bool:
    return whole == word or whole.endswith(f".{word}")


def _rank(mark: Mark, pattern: str) -> int:
    """How well a name fits: whole, its last part, some of its last part, some of it, of where it lies."""
    name = mark.name.lower()
    last = name.rpartition(".")[2].rpartition("::")[2]
    tests = (name == pattern, last == pattern, pattern in last, pattern in name)
    return next((rank for rank, holds in enumerate(tests) if holds), len(tests))


def _escaped(word: str) -> str:
    r"""A word for LIKE, in which `%` and `_` mean themselves.

    >>> _escaped("a_b")
    'a\\_b'
    """
    return re.sub(r"([\\%_])", r"\\\1", word)


def _literal(word: str) -> str:
    """A word for GLOB, in which nothing means anything else."""
    return re.sub(r"([*?\[])", r"[\1]", word)
