"""The screen: the decision first, then the matrix, then places, then times, then what was not read."""

import io
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from typing import TypeVar

from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from recon.records.verdict import Standing
from recon.report.behaviours import Seen
from recon.report.curves import Curve
from recon.report.findings import Finding, Place, unrecognised
from recon.report.format import Format
from recon.report.numbers import counted
from recon.report.text import clipped, shortened, visible
from recon.report.timings import Built, Timing, TimingGroup
from recon.report.view import Column, View

Row = TypeVar("Row", Timing, Built, Curve)

WIDTH = 100
"""Columns of a screen that is not known."""
NARROW = 80
"""Below this many columns there is no room for places."""

_TITLE = 36
_PLACE = 24
"""Columns below which a place gets a line of its own."""
_GAP = 2
_LEAST = 6
"""Columns below which a column of a table is not made narrower."""
_STYLES = {"yes": "green", "partly": "yellow", "no": "red", "unknown": "magenta", "none": "dim"}


def screen(view: View, width: int = WIDTH, *, color: bool = False) -> str:
    """The view as it is printed on a terminal of so many columns."""
    return written(_blocks(view, width), width, color=color)


def written(blocks: Iterable[RenderableType], width: int, *, color: bool) -> str:
    """Blocks with an empty line between them; escape sequences only with colour."""
    console = Console(
        file=io.StringIO(),
        width=width,
        color_system="standard" if color else None,
        force_terminal=color,
        no_color=not color,
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
    )
    with console.capture() as capture:
        for index, block in enumerate(blocks):
            if index:
                console.print()
            console.print(block)
    return "\n".join(line.rstrip() for line in capture.get().splitlines()) + "\n"


def text(words: str, style: str = "") -> Text:
    """Untrusted words as a text that no markup and no escape sequence can get out of."""
    return Text(visible(words), style=style)


def table(*headers: str) -> Table:
    """A table without lines."""
    made = Table(box=None, padding=(0, _GAP, 0, 0), pad_edge=False, header_style="bold", expand=False)
    for header in headers:
        made.add_column(header, overflow="fold")
    return made


def _blocks(view: View, width: int) -> Iterable[RenderableType]:
    yield _decision(view)
    columns = [(index, column) for index, column in enumerate(view.columns) if _speaks(view, index)]
    if len(columns) > 1:
        yield from _matrices(view, list(columns), width)
    for index, column in columns:
        yield _install(view, index, column, width)
    if view.findings:
        yield _totals(view)
    for group in view.timings:
        yield _timings(group, width)
    if view.behaviours:
        yield _behaviours(view.behaviours)
    if view.unknowns:
        yield _unknowns(view)
    if view.findings:
        example = next((each for each in view.findings if each.standing is Standing.ABSENT), view.findings[0])
        yield text(
            f"Next  recon show {example.capability}   places, excerpts, nearest misses and what was searched", "dim"
        )
    if sentence := unrecognised(view.run.installs):
        yield text(sentence)
    if not view.complete:
        yield text("This run was interrupted; it holds what was known until then.", "bold yellow")


def _decision(view: View) -> RenderableType:
    parts: list[RenderableType] = [text(view.lead, "bold")]
    parts += [text(each) for each in view.also]
    ages = [f"{each.kind} {each.age}".strip() for each in view.method if each.age]
    if ages:
        parts.append(text(f"{view.title}: {', '.join(ages)}", "dim"))
    if view.failures:
        parts.append(text(f"Policies: {counted(len(view.failures), 'failure')}", "bold red"))
    parts += [Padding(text(f"policy failed: {each.message}"), (0, 0, 0, 2)) for each in view.failures]
    return Group(*parts)


def _speaks(view: View, index: int) -> bool:
    """Whether a column says more than that nothing applies: kernel packages often do not."""
    cells = [cell for row in view.rows if (cell := row.cells[index]) is not None]
    engine = next(each for each in view.run.installs if each.id == view.columns[index].install).engine
    return not engine.is_companion or any(cell.standing is not Standing.NOT_APPLICABLE for cell in cells)


def _matrices(view: View, columns: list[tuple[int, Column]], width: int) -> Iterable[RenderableType]:
    """The matrix, in as many blocks as the width asks for."""
    title_width = min(_TITLE, max((cell_len(visible(row.title)) for row in view.rows), default=0))
    answers = {
        index: max([len(visible(column.label)), *(len(_answer(row.cells[index])) for row in view.rows)])
        for index, column in columns
    }
    while columns:
        room = width - title_width - _GAP
        block: list[tuple[int, Column]] = []
        while columns and (not block or answers[columns[0][0]] + _GAP <= room):
            room -= answers[columns[0][0]] + _GAP
            block.append(columns.pop(0))
        made = table("Capability", *(clipped(visible(column.label), width // 2) for _, column in block))
        for row in view.rows:
            made.add_row(
                clipped(visible(row.title), title_width, cell_len),
                *(_answer_text(row.cells[index]) for index, _ in block),
            )
        yield made


def _answer(cell: Finding | None) -> str:
    return f"{cell.word.glyph} {cell.answer}" if cell else ""


def _answer_text(cell: Finding | None) -> Text:
    return Text(_answer(cell), style=_STYLES[cell.word.style] if cell else "")


def _install(view: View, index: int, column: Column, width: int) -> RenderableType:
    findings = [cell for row in view.rows if (cell := row.cells[index]) is not None]
    absent = [finding for finding in findings if finding.standing is Standing.ABSENT]
    wide = width >= NARROW
    made = table("Capability", clipped(visible(column.label), 24), *(("Where",) if wide else ()))
    longest = max((cell_len(visible(finding.title)) for finding in findings), default=0)
    title_width = min(longest, width * _TITLE // WIDTH)
    made.columns[0].max_width = title_width
    answer_width = max((len(_answer(finding)) for finding in findings), default=0)
    room = max(width - title_width - max(answer_width, min(len(column.label), 24)) - 2 * _GAP, 20)
    assumptions = {finding.assuming for finding in findings if finding.places and finding.reach}
    assumed = assumptions.pop() if len(assumptions) == 1 else ""
    for finding in findings:
        cells: list[RenderableType] = [text(finding.title), _answer_text(finding)]
        if wide:
            cells.append(_where(finding, room, assumed=bool(assumed)))
        made.add_row(*cells)
    below = [text(f"{column.counts}. {column.host}: {column.location} ({column.origin})", "dim")]
    if assumed:
        below.append(text(f"Assuming {assumed}.", "dim"))
    if column.way_out:
        below.append(text(column.way_out))
    extents = dict.fromkeys(each.extent for each in absent)
    if len(extents) == 1:
        below.append(
            text(
                f"Each no: searched {absent[0].extent}; of the functions, as many as its line says were read in full.",
                "dim",
            )
        )
    else:
        below += [text(f"{each.capability}: {each.searched}.", "dim") for each in absent]
    return Group(made, *(Padding(line, 0) for line in below))


def _where(finding: Finding, room: int, *, assumed: bool) -> Text:
    lines: list[tuple[str, str]] = []
    if finding.places:
        lines.append((_short(finding.places[0], room), ""))
    elif finding.nearest:
        before = f"{finding.examined} read; nearest" if finding.standing is Standing.ABSENT else "nearest"
        beside = room - len(before) - 1
        if beside >= _PLACE:
            lines.append((f"{before} {_short(finding.nearest[0], beside)}", "dim"))
        else:
            lines += [(before, "dim"), (_short(finding.nearest[0], room), "dim")]
    if finding.standing in (Standing.PARTIAL, Standing.UNKNOWN):
        lines.append((clipped(visible(finding.reason), 2 * room - 4, cell_len), "dim"))
    if finding.own_word:
        lines.append((clipped(visible(finding.own_word), 2 * room - 4, cell_len), "bold"))
    if finding.assuming and not assumed:
        lines.append((clipped(visible(f"assuming {finding.assuming}"), room, cell_len), "dim"))
    if finding.standing is Standing.ABSENT and not finding.nearest:
        lines.append((f"{finding.examined} read; nothing came near", "dim"))
    made = Text()
    for index, (line, style) in enumerate(lines):
        made.append("\n" if index else "")
        made.append(line, style=style)
    return made


def _short(place: Place, room: int) -> str:
    return shortened(visible(place.at), room, cell_len)


def _totals(view: View) -> RenderableType:
    lines = [text(f"In all: {view.counts}.")]
    lines += [text(f"{each.label}: read {each.read}.", "dim") for each in view.limits]
    return Group(*lines)


def _behaviours(rows: Sequence[Seen]) -> RenderableType:
    made = table("Function", "Rule seen", "Verdicts", "How")
    for row in rows:
        style = "red" if row.contradicts else ""
        made.add_row(text(row.symbol), text(row.rules or "none"), text(row.verdicts, style), text(row.how, "dim"))
    return Group(text("What acceptance functions were seen to do", "bold"), made)


def _timings(group: TimingGroup, width: int) -> RenderableType:
    parts: list[RenderableType] = [text(group.heading, "bold"), text(group.note, "dim")]
    disagree = any(each.disagrees for each in group.timings)
    parts += _by_case(
        [each for each in group.timings if not each.on_curve or each.disagrees],
        width,
        ("Kernel", lambda each: each.kernel),
        ("Check", lambda each: each.check) if disagree else ("Agrees in", lambda each: each.agreed),
        ("Median", lambda each: each.told),
        ("95 % interval", lambda each: each.interval),
        ("x floor", lambda each: each.over_floor),
        ("x baseline", lambda each: each.over_baseline),
        spare=("95 % interval", "Agrees in"),
    )
    parts += _by_case(
        group.built,
        width,
        ("Kernel", lambda each: each.kernel),
        ("Target", lambda each: each.arch),
        ("Registers", lambda each: each.registers),
        ("Shared memory", lambda each: each.shared),
        ("Spills", lambda each: each.spills),
        ("Fits", lambda each: "yes" if each.fits else "no"),
        spare=("Shared memory",),
    )
    if group.curves:
        parts.append(
            text("By tokens, where a token more is nearly free for a while; each point is in the page", "bold")
        )
        parts += _by_case(
            group.curves,
            width,
            ("Kernel", lambda each: each.kernel),
            ("Time at tokens", lambda each: each.first),
            ("Nearly free up to", lambda each: each.free),
            ("Then", lambda each: each.then),
            spare=("Time at tokens",),
        )
    return Group(*parts)


def _by_case(
    rows: Sequence[Row], width: int, *columns: tuple[str, Callable[[Row], str]], spare: tuple[str, ...]
) -> Iterable[RenderableType]:
    """Rows that follow each other with one case, below a line that says it; all in the same columns.

    The first column names kernels and is not folded as long as it leaves room for another. Columns of `spare` are left
    out, in this order, where the width does not hold all: the page and the JSON have them.
    """
    if not rows:
        return
    widths = _fitted(
        {
            header: max(longest, cell_len(header))
            for header, value in columns
            if (longest := max(cell_len(visible(value(row))) for row in rows))
        },
        width,
        spare,
    )
    shown = [(header, value) for header, value in columns if header in widths]

    def made() -> Table:
        grid = table(*widths)
        for column, fixed in zip(grid.columns, widths.values(), strict=True):
            column.width = fixed
        return grid

    yield made()
    for number, (case, same) in enumerate(groupby(rows, key=lambda row: row.case)):
        if case or number:
            yield text(f"{case or 'any case'}:", "dim")
        grid = made()
        grid.show_header = False
        for row in same:
            grid.add_row(*(text(value(row)) for _, value in shown))
        yield grid


def _fitted(widths: dict[str, int], width: int, spare: Iterable[str]) -> dict[str, int]:
    """Columns that fit: first without the spare ones, then the widest beside the first folded, the first at last."""

    def too_wide() -> int:
        return sum(widths.values()) + _GAP * (len(widths) - 1) - width

    for header in spare:
        if too_wide() > 0:
            widths.pop(header, None)
    first, *others = widths
    while others and (over := too_wide()) > 0:
        widest = max(others, key=widths.__getitem__)
        if widths[widest] <= _LEAST:
            widths[first] = max(widths[first] - over, _LEAST)
            break
        widths[widest] -= 1
    return widths


def _unknowns(view: View) -> RenderableType:
    shown = view.unknowns[:8]
    lines = [text(f"Not known: {counted(len(view.unknowns), 'thing')}", "bold")]
    lines += [text(f"  {each.what}: {each.where}: {each.why}") for each in shown]
    if len(view.unknowns) > len(shown):
        lines.append(text(f"  and {len(view.unknowns) - len(shown)} more, in the page and the JSON", "dim"))
    return Group(*lines)


FORMAT = Format("text", "text/plain", screen)
