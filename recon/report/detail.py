"""One capability in full: the reason, the places with their lines, the misses, and what was searched."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.style import Style
from rich.text import Text

from recon.report.findings import Finding, MemberView, Place, Route
from recon.report.numbers import counted
from recon.report.terminal import text, written
from recon.report.text import visible

UNBOUNDED = 4000
"""Columns where nobody looks: lines are not folded, so that a place stays one word."""


def detail(
    findings: Sequence[Finding],
    width: int = UNBOUNDED,
    *,
    color: bool = False,
    links: Mapping[str, Mapping[str, str]] | None = None,
) -> str:
    """The findings one after the other, each with all that it rests on.

    Args:
        findings: What is shown.
        width: Columns.
        color: Whether there are escape sequences.
        links: Of each install by its id, addresses of places by their `path:line`; with colour alone.
    """
    links = links or {}
    return written((Group(*_blocks(each, links.get(each.install, {}))) for each in findings), width, color=color)


def _blocks(finding: Finding, links: Mapping[str, str]) -> Iterator[RenderableType]:
    yield text(f"{finding.word.glyph} {finding.title}: {finding.answer}", "bold")
    yield text(f"{finding.capability} in {finding.label} on {finding.host}", "dim")
    yield text(finding.reason)
    if finding.own_word:
        yield text(finding.own_word, "bold")
    if finding.assuming:
        yield text(f"Assuming {finding.assuming}.")
    yield from _section("Places", (part for place in finding.places for part in _place(place, links)))
    yield from _section("Nearest", (part for place in finding.nearest for part in _place(place, links)))
    for route in finding.paths[:1]:
        through = f", through {route.through}" if route.through else ""
        yield from _section(f"How the engine's step gets there{through}", _stations(route))
    yield from _section("Other ways, in the run file and the page", map(_way, finding.paths[1:]))
    yield from _section("Does not run where", map(text, finding.gates))
    yield from _section("By runner, backend or method", (part for each in finding.members for part in _member(each)))
    searched = [text(f"{finding.searched}."), *(text(f"looked for {shape}") for shape in finding.shapes)]
    searched += [text(f"not read: {each.what}: {each.where}: {each.why}") for each in finding.unread]
    yield from _section("What was searched", searched)
    if finding.way_out:
        yield text(finding.way_out, "bold")


def _section(title: str, parts: Iterable[RenderableType]) -> Iterator[RenderableType]:
    lines = list(parts)
    if lines:
        yield text(title, "bold")
        yield from (Padding(line, (0, 0, 0, 2)) for line in lines)


def _stations(route: Route) -> Iterator[RenderableType]:
    for number, station in enumerate(route.stations, 1):
        yield Text.assemble(f"{number:>2} ", (visible(station.symbol), "bold"), f"  {visible(station.at)}")
        if station.onward:
            yield text(f"     {station.onward}", "dim")


def _way(route: Route) -> Text:
    """A further path in one line: through what, to where."""
    through = f"through {route.through} " if route.through else ""
    return text(f"{through}to {route.stations[-1].symbol}, {counted(len(route.stations), 'hop')}")


def _member(member: MemberView) -> Iterator[RenderableType]:
    reach = f", {member.reach}" if member.reach else ""
    yield text(f"{member.word.glyph} {member.name}: {member.word.text}{reach}. {member.reason}")
    for place in member.places:
        yield Padding(text(f"{place.at} {place.symbol}"), (0, 0, 0, 2))
    for gate in member.gates:
        yield Padding(text(f"where {gate}"), (0, 0, 0, 2))


def _place(place: Place, links: Mapping[str, str]) -> Iterator[RenderableType]:
    scope = f", reached from {place.scope}" if place.scope else ""
    at = Style(bold=True, link=links.get(place.at) or None)
    yield Text.assemble((visible(place.at), at), f"  {visible(place.symbol)}")
    yield text(f"{place.note} (recognised {place.grade}{scope})", "dim")
    for line in place.excerpt:
        mark = ">" if line.marked else " "
        yield Text(f"{mark} {line.number:>5}  {visible(line.text.expandtabs(4))}", no_wrap=True, overflow="ellipsis")
