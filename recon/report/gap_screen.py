"""Gaps on the screen: the answer first, then what is there, then the patch in its order, then the ways around it."""

from collections.abc import Iterable, Iterator

from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from recon.records.feature import Feature
from recon.records.gap import Answer, Gap, Hook, Step
from recon.report.findings import unrecognised
from recon.report.gap_words import (
    LEGEND,
    WORKS,
    GapView,
    answer_words,
    approach_of,
    brief_words,
    doubts_of,
    forbidden_words,
    hook_at,
    limits_of,
    need_words,
    other_place,
    place_parts,
    searched_words,
    sentence_of,
    step_words,
    who_words,
)
from recon.report.numbers import counted
from recon.report.terminal import WIDTH, table, text, written
from recon.report.text import clipped, shortened, visible
from recon.report.words import STANDINGS

MOST_LINES = 6
"""Lines of a reason; files have the whole of it."""
MOST_LIMITS = 1
"""Conditions told beside an answer; the rest is counted."""
MOST_OUTSIDE = 12
"""Lines about others that have it; the rest is counted."""
_STYLES = {"yes": "green", "partly": "yellow", "no": "red", "unknown": "magenta", "none": "dim"}


def gap_screen(view: GapView, width: int = WIDTH, *, color: bool = False, planned: bool = False) -> str:
    """The report as it is printed on a terminal of so many columns; `planned` where it is written as Markdown too."""
    return written(_blocks(view, width, planned=planned), width, color=color)


def features_screen(features: Iterable[Feature], width: int = WIDTH, *, color: bool = False) -> str:
    """What can be asked for, as it is printed on a terminal of so many columns."""
    made = table("feature", "is called", "what it is")
    for each in features:
        origin = "" if each.origin == "recon" else f" From {each.origin}."
        made.add_row(text(each.id), text(each.title), text(f"{each.what} ({each.paper}){origin}", "dim"))
    return written([made], width, color=color)


def _blocks(view: GapView, width: int, *, planned: bool) -> Iterator[RenderableType]:
    for install, gaps in view.by_install().items():
        yield _answers(view, install, gaps)
        for gap in gaps:
            yield _needs(view, gap, width)
            if searched := searched_words(view, gap):
                yield text(searched, "dim")
            if gap.steps:
                yield _patch(gap, width)
            if gap.elsewhere:
                yield _outside(view, gap)
            if gap.unsure:
                yield _unsure(view, gap)
    if sentence := unrecognised(view.installs[gap.install] for gap in view.report.gaps):
        yield text(sentence)
    plan = "" if planned else "      recon gap ... -o markdown=plan.md"
    yield text(f"Next  recon show CAPABILITY   what an answer rests on{plan}", "dim")


def _answers(view: GapView, install: str, gaps: list[Gap]) -> RenderableType:
    record = view.installs[install]
    lines: list[RenderableType] = [text(f"{view.label(install)}  {record.host}: {record.location}", "bold")]
    width = max(cell_len(view.title(gap)) for gap in gaps)
    lines += [
        Text.assemble(
            f"{f'{visible(view.title(gap))}:'.ljust(width + 1)} ",
            (sentence_of(gap), _STYLES[STANDINGS[gap.standing].style]),
        )
        for gap in gaps
    ]
    return Group(*lines)


def _needs(view: GapView, gap: Gap, width: int) -> RenderableType:
    made = table(f"{visible(view.title(gap))} needs", "here", "place, and why")
    titles = [visible(need_words(answer.title, answer.purpose)) for answer in gap.answers]
    made.columns[0].max_width = min(max(map(cell_len, titles)), width * 3 // 10)
    made.columns[1].max_width = 12
    room = max(width - made.columns[0].max_width - 12 - 6, 24)
    for title, answer in zip(titles, gap.answers, strict=True):
        word = STANDINGS[answer.standing]
        made.add_row(Text(title), Text(word.text, style=_STYLES[word.style]), _where(answer, room))
    return made


def _where(answer: Answer, room: int) -> Text:
    made = Text()
    before, at = place_parts(answer)
    if at:
        made.append(f"{before}{shortened(visible(at), room - len(before), cell_len)}\n")
    made.append(clipped(visible(brief_words(answer)), MOST_LINES * room, cell_len), style="dim")
    limits = limits_of(answer)
    for limit in limits[:MOST_LIMITS]:
        made.append(f"\nnot where {visible(limit)}", style="dim")
    if len(limits) > MOST_LIMITS:
        further = counted(len(limits) - MOST_LIMITS, "further condition")
        made.append(f"\nnor under {further}: recon show {visible(answer.capability)}", style="dim")
    return made


def _patch(gap: Gap, width: int) -> RenderableType:
    lines: list[RenderableType] = [Text.assemble(("Patch, in order", "bold"), (f"   {LEGEND}", "dim"))]
    for step in gap.steps:
        lines.append(Text(f"{step.number:>2} {WORKS[step.work]}  {visible(step_words(step))}"))
        lines += [Padding(part, (0, 0, 0, 6)) for part in _step(step, width - 6)]
    return Group(*lines)


def _step(step: Step, room: int) -> Iterator[RenderableType]:
    told = ""
    for hook in step.hooks:
        if hook.task != told:
            yield text(hook.task, "dim")
        told = hook.task
        yield from _hook(hook, room)
    if not step.hooks:
        yield text("no place was recognised", "dim")
    for gate in step.gates:
        yield text(forbidden_words(gate), "dim")


def _hook(hook: Hook, room: int) -> Iterator[RenderableType]:
    scope = f"  [{', '.join(hook.scope)}]" if hook.scope else ""
    at = visible(hook_at(hook))
    beside = visible(f"{hook.symbol}{scope}")
    if cell_len(at) + 2 + cell_len(beside) <= room:
        yield Text.assemble((at, "bold"), "  ", beside)
    else:
        yield Text(at, style="bold", overflow="fold")
        yield Padding(Text(beside, overflow="fold"), (0, 0, 0, 2))
    approach = approach_of(hook)
    if approach:
        yield Padding(text(f"from the step by {approach}", "dim"), (0, 0, 0, 2))


def _outside(view: GapView, gap: Gap) -> RenderableType:
    lines: list[RenderableType] = [Text("Without a patch", style="bold")]
    shown = gap.elsewhere[:MOST_OUTSIDE]
    for other in shown:
        at = f"  {other_place(other)}" if other_place(other) else ""
        who = who_words(view, gap, other)
        lines.append(Padding(text(f"{other.title}: {who}, {answer_words(other.standing)}{at}"), (0, 0, 0, 2)))
    if len(gap.elsewhere) > len(shown):
        lines.append(Padding(text(f"and {len(gap.elsewhere) - len(shown)} more", "dim"), (0, 0, 0, 2)))
    return Group(*lines)


def _unsure(view: GapView, gap: Gap) -> RenderableType:
    lines: list[RenderableType] = [Text("Not sure", style="bold")]
    lines += [Padding(text(doubt), (0, 0, 0, 2)) for doubt in doubts_of(view, gap)]
    return Group(*lines)
