"""What `recon paths` answers: paths with their stations, what is reached, or what was searched in vain."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from recon.cli.asking import Tree
from recon.cli.lines import aligned, tabbed
from recon.kept.parts import Definition, Edge
from recon.kept.search import Distance
from recon.records.path import Tier
from recon.report.numbers import counted
from recon.report.text import visible
from recon.report.words import CALLS, TIERS


@dataclass(frozen=True, slots=True)
class Station:
    """One definition on a path."""

    at: Definition
    onward: Edge | None
    """The call that leads on; None at the end."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What one tree answers."""

    install: str
    title: str
    """What the answer is about; where it is that nothing leads there, the whole answer."""
    paths: tuple[tuple[Station, ...], ...]
    reached: tuple[tuple[Definition, Distance], ...]
    searched: dict[str, int]
    """What it rests on: definitions, edges, and these by tier; for no path also how many are reached and reaching."""


def answer(tree: Tree, start: str, stop: str, limit: int) -> Answer:
    """The paths between two places that a tree knows by one name each; where only the first is named, what it reaches.

    Args:
        tree: Where to look.
        start: Where paths begin; '' for the engine's steps.
        stop: Where they end; '' for everywhere.
        limit: At most so many paths or definitions.
    """
    kept = tree.kept
    first = kept.named(start)[0] if start else None
    starts = kept.members(first) if first else frozenset(each.id for each in kept.roots())
    begin = first.symbol if first else "the engine's steps"
    searched = {"definitions": kept.count, "edges": len(kept.edges), **kept.edges.tiers()}
    if not stop:
        return _reached(tree, begin, starts, limit, searched)
    last = kept.named(stop)[0]
    ends = kept.members(last)
    found = kept.edges.paths(starts, ends, limit)
    title = f"from {begin} to {last.symbol}" if first != last else f"both names mean the same place, {last.symbol}"
    if not found:
        searched |= {
            "reached": len(kept.edges.reached(starts)) - len(starts),
            "reaching": kept.edges.reaching(ends) - len(ends),
        }
        title = f"no path {title}: {_vain(searched)}"
    return Answer(tree.install.id, title, tuple(_stations(tree, path, last) for path in found), (), searched)


def candidates(unclear: Iterable[tuple[Tree, str]]) -> list[dict[str, object]]:
    """The definitions that words may mean."""
    return [
        {"install": tree.install.id, "word": word, **_place(each)}
        for tree, word in unclear
        for each in tree.kept.named(word)
    ]


def lines(each: Answer, width: int = 0) -> Iterator[str]:
    """An answer as text: for a person with so many columns, or as rows for a pipe."""
    if width:
        yield f"{visible(f'{each.install}: {each.title}')}\n"
        yield from _for_a_person(each, width)
        return
    for number, path in enumerate(each.paths, 1):
        yield tabbed((each.install, str(number), *_row(station)) for station in path)
    yield tabbed((each.install, f"{one.path}:{one.line}", one.symbol, *_far(far)) for one, far in each.reached)


def as_rows(answers: Iterable[Answer]) -> list[dict[str, object]]:
    """Answers for JSON."""
    return [
        {
            "install": each.install,
            "title": each.title,
            "paths": [{"hops": [_hop(station) for station in path]} for path in each.paths],
            "reached": [{**_place(one), **far._asdict()} for one, far in each.reached],
            "searched": each.searched,
        }
        for each in answers
    ]


def _reached(tree: Tree, begin: str, starts: frozenset[int], limit: int, searched: dict[str, int]) -> Answer:
    found = {number: far for number, far in tree.kept.edges.reached(starts).items() if number not in starts}
    rows = tuple((tree.kept.definition(number), far) for number, far in list(found.items())[:limit])
    title = f"{begin} reaches {counted(len(found), 'definition')}; the surest and nearest come first"
    return Answer(tree.install.id, title, (), rows, {**searched, "reached": len(found)})


def _vain(searched: dict[str, int]) -> str:
    tiers = ", ".join(f"{searched[tier.value]:,} {tier.value}" for tier in Tier)
    return (
        f"searched {searched['definitions']:,} definitions and {searched['edges']:,} calls between them ({tiers}); "
        f"{searched['reached']:,} are reached from the one end, {searched['reaching']:,} reach the other"
    )


def _stations(tree: Tree, path: tuple[Edge, ...], last: Definition) -> tuple[Station, ...]:
    """The stations of a path; of an empty one, the only place there is."""
    onward = [Station(tree.kept.definition(edge.source), edge) for edge in path]
    return (*onward, Station(tree.kept.definition(path[-1].target) if path else last, None))


def _for_a_person(each: Answer, width: int) -> Iterator[str]:
    for number, path in enumerate(each.paths, 1):
        yield f"path {number}, {counted(len(path) - 1, 'call')}\n"
        rows = ((station.at.symbol, f"{station.at.path}:{station.at.line}", _onward(station)) for station in path)
        yield aligned(rows, width)
    if each.reached:
        yield aligned(((one.symbol, f"{one.path}:{one.line}", _in_words(far)) for one, far in each.reached), width)


def _onward(station: Station) -> str:
    edge = station.onward
    return f"line {edge.line} {CALLS.get(edge.dispatch, edge.dispatch)}, {TIERS[edge.tier]}" if edge else ""


def _in_words(far: Distance) -> str:
    unsure = [
        f"{number} {TIERS[tier]}" for number, tier in ((far.likely, Tier.LIKELY), (far.guesses, Tier.GUESS)) if number
    ]
    return ", ".join((counted(far.calls, "call"), *unsure))


def _far(far: Distance) -> tuple[str, ...]:
    return tuple(map(str, far))


def _row(station: Station) -> tuple[str, ...]:
    hop = _hop(station)
    return f"{hop['path']}:{hop['line']}", *(str(hop[name]) for name in ("symbol", "call_line", "dispatch", "tier"))


def _hop(station: Station) -> dict[str, object]:
    """A station as a hop of a run file, with the line of the call; 0 at the end."""
    edge = station.onward
    return {
        "path": station.at.path,
        "symbol": station.at.symbol,
        "line": station.at.line,
        "dispatch": edge.dispatch if edge else "",
        "tier": edge.tier.value if edge else Tier.CERTAIN.value,
        "call_line": edge.line if edge else 0,
    }


def _place(one: Definition) -> dict[str, object]:
    return {"kind": one.kind, "path": one.path, "line": one.line, "symbol": one.symbol}
