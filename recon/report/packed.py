"""The evidence of a page as tables in which every text, place and answer stands once, compressed.

Two blobs: the rows, which the page needs to list its answers, and the details, which it unpacks when one is opened or
searched. Both are JSON, gzip, base64; `page.js` reads the fields in the order in which they are written here.
"""

import gzip
import json
import lzma
import re
from base64 import b64decode, b64encode
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Generic, TypeVar

from recon.records.run import Run
from recon.report.charts import Chart
from recon.report.coloured import coloured
from recon.report.findings import Finding, MemberView, Place, Route, SourceLine
from recon.report.text import slug, visible
from recon.report.view import View
from recon.report.words import STANDINGS, Word
from recon.runs.files import MAX_BYTES, encode

_Key = TypeVar("_Key", bound=Hashable)
_RUN = re.compile(r'<script type="text/plain" id="run">(?P<run>[^<]*)</script>')
_WORDS = list(STANDINGS.values())
_MEMORY = 1 << 28
"""Bytes that unpacking a run may take besides the run: a page may come from anywhere."""


@dataclass(frozen=True, slots=True)
class Packed:
    """What a page unpacks."""

    rows: str
    details: str


def packed(view: View) -> Packed:
    """The evidence of a view."""
    made = _Tables()
    installs = _Table[str](lambda install: install)
    for column in view.columns:
        installs.at(column.install)
    capabilities = _Table[tuple[str, str]](lambda pair: [slug(pair[0]), *map(visible, pair)])
    heads = _Table[tuple[int, str, str, str]](list)
    rows = [
        number
        for each in view.findings
        for number in (
            installs.at(each.install),
            capabilities.at((each.capability, each.title)),
            heads.at((_number(each.word), visible(each.reach), _said(each), _speaks(each))),
            made.detail(each),
        )
    ]
    listed = {
        "words": [[word.style, word.glyph, word.text] for word in _WORDS],
        "installs": [
            [slug(column.install), *map(visible, (column.label, column.host, column.counts))] for column in view.columns
        ],
        "capabilities": capabilities.made,
        "heads": heads.made,
        "rows": rows,
    }
    return Packed(compressed(_json(listed)), compressed(_json(made.tables())))


def drawn(charts: Iterable[Chart]) -> str:
    """What the page's script draws, packed likewise."""
    listed = [
        {
            "title": visible(chart.title),
            "axis": chart.axis,
            "lines": [[visible(line.name), int(line.dashed), line.points] for line in chart.lines],
        }
        for chart in charts
    ]
    return compressed(_json(listed))


def compressed(data: bytes) -> str:
    """Bytes as text that HTML leaves alone: gzip, which browsers unpack, without a time; then base64."""
    return b64encode(gzip.compress(data, compresslevel=9, mtime=0)).decode()


def kept(run: Run) -> str:
    """The run file as text that HTML leaves alone: xz, whose window is as wide as a fleet repeats; then base64."""
    return b64encode(lzma.compress(encode(run), preset=2)).decode()


def taken_out(page: str) -> bytes:
    """The run file that a page holds.

    Raises:
        ValueError: the page holds none, or a damaged one.
    """
    held = _RUN.search(page)
    if held is None:
        raise ValueError("it holds no run")
    try:
        unpacker = lzma.LZMADecompressor(memlimit=_MEMORY)
        run = unpacker.decompress(b64decode(held["run"], validate=True), MAX_BYTES + 1)
    except (ValueError, EOFError, lzma.LZMAError) as error:
        raise ValueError("the run in it is damaged") from error
    if len(run) > MAX_BYTES:
        raise ValueError(f"the run in it is larger than {MAX_BYTES} bytes")
    if not unpacker.eof:
        raise ValueError("the run in it is damaged")
    return run


class _Table(Generic[_Key]):
    """Things that are listed once and told by their number."""

    def __init__(self, write: Callable[[_Key], object]) -> None:
        self.made: list[object] = []
        self._known: dict[_Key, int] = {}
        self._write = write

    def at(self, key: _Key) -> int:
        """The number of a thing, which is listed if it is new."""
        known = self._known.get(key)
        if known is None:
            written = self._write(key)  # may list others of this table first
            known = self._known[key] = len(self.made)
            self.made.append(written)
        return known


class _Tables:
    """The tables of the details."""

    def __init__(self) -> None:
        self._texts = _Table[str](visible)
        tinted = cache(coloured)  # forks have the same lines at other places
        self._sources = _Table[tuple[str, tuple[SourceLine, ...]]](
            lambda pair: [pair[1][0].number, tinted(pair[0], tuple(line.text for line in pair[1]))]
        )
        self._places = _Table[Place](self._place)
        self._details = _Table[str](json.loads)

    def detail(self, finding: Finding) -> int:
        """The number of what opens below an answer; installs that are alike share it."""
        return self._details.at(
            json.dumps(
                [
                    self._text(finding.reason),
                    self._text(finding.own_word),
                    self._text(finding.assuming),
                    self._each(finding.places),
                    [self._route(route) for route in finding.paths],
                    self._all(finding.gates),
                    [self._member(member) for member in finding.members],
                    self._each(finding.nearest),
                    self._text(f"{finding.searched}."),
                    self._all(f"Looked for {shape}" for shape in finding.shapes),
                    self._all(f"Not read: {each.what}, {each.where}: {each.why}" for each in finding.unread),
                ]
            )
        )

    def tables(self) -> dict[str, list[object]]:
        return {
            "texts": self._texts.made,
            "sources": self._sources.made,
            "places": self._places.made,
            "details": self._details.made,
        }

    def _text(self, text: str) -> int:
        return self._texts.at(text)

    def _all(self, texts: Iterable[str]) -> list[int]:
        return [self._text(text) for text in texts]

    def _each(self, places: Iterable[Place]) -> list[int]:
        return [self._places.at(place) for place in places]

    def _place(self, place: Place) -> list[int]:
        """Place, symbol, note, how it was recognised, its source and the marked line of it, counted from 0, or -1."""
        marked = next((number for number, line in enumerate(place.excerpt) if line.marked), -1)
        plain = tuple(SourceLine(line.number, line.text, marked=False) for line in place.excerpt)
        how = f"recognised {place.grade}" + (f", reached from {place.scope}" if place.scope else "")
        source = self._sources.at((place.path.rpartition(".")[2], plain)) if plain else -1
        return [*self._all((place.at, place.symbol, place.note, how)), source, marked]

    def _route(self, route: Route) -> list[object]:
        stations = [[*self._all((each.symbol, each.at, each.onward)), int(each.sure)] for each in route.stations]
        return [self._text(route.through), stations]

    def _member(self, member: MemberView) -> list[object]:
        at = self._all(place.at for place in member.places)
        said = self._all((member.name, member.reach, member.reason))
        return [_number(member.word), *said, at, self._all(member.gates)]


def _number(word: Word) -> int:
    return _WORDS.index(word)


def _said(finding: Finding) -> str:
    return f"you say {visible(finding.own_standing)}" if finding.own_standing else ""


def _speaks(finding: Finding) -> str:
    if finding.speaks is None:
        return ""
    return visible(finding.speaks.at if finding.places else f"nearest {finding.speaks.at}")


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "backslashreplace")
