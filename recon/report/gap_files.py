"""Gaps for a file or a pipe: Markdown for a plan, rows separated by tabs, JSON."""

from collections.abc import Callable, Iterable, Iterator

from recon.errors import NotFound
from recon.records.gap import Gap, Step
from recon.report.gap_screen import gap_screen
from recon.report.gap_words import (
    GapView,
    answer_words,
    forbidden_words,
    gate_words,
    here_words,
    hook_at,
    limits_of,
    need_words,
    other_place,
    place_parts,
    place_words,
    route_words,
    sentence_of,
    step_words,
    title_words,
    way_of,
    who_words,
    why_words,
)
from recon.report.marked import cell, code, plain
from recon.report.text import visible


def gap_markdown(view: GapView) -> str:
    """The report as a plan in Markdown."""
    return "\n".join(line for part in _parts(view) for line in part) + "\n"


def _parts(view: GapView) -> Iterator[list[str]]:
    run = f"From the run {code(view.report.run)}, " if view.report.run else "From a run "
    for install, gaps in view.by_install().items():
        record = view.installs[install]
        for gap in gaps:
            yield [f"# {plain(view.title(gap))} in {plain(view.label(install))}", ""]
            feature = view.features[gap.feature]
            yield [f"{plain(feature.what)} ({plain(feature.paper)})", ""]
            yield [f"**{plain(title_words(view, gap))}**", ""]
            at = f"{run}started {plain(view.report.started_at)}, of {code(record.location)}"
            yield [f"{at} on {plain(record.host)}; source digest {code(record.source_digest)}.", ""]
            yield [*_table(gap), ""]
            yield from _sections(view, gap)


def _sections(view: GapView, gap: Gap) -> Iterator[list[str]]:
    if gap.steps:
        yield ["## Patch, in order", "", *(line for step in gap.steps for line in _step(step)), ""]
    if gap.elsewhere:
        others = [
            f"- {plain(each.title)}: {plain(who_words(view, gap, each))}, {answer_words(each.standing)}"
            + (f", {code(other_place(each))}" if other_place(each) else "")
            + f". {plain(each.reason)}"
            for each in gap.elsewhere
        ]
        yield ["## Without a patch", "", *others, ""]
    if gap.unsure:
        unsure = [
            f"- {plain(each.what)}" + (f" ({code(each.where)})" if each.where else "") + f": {plain(each.why)}"
            for each in gap.unsure
        ]
        unsure += [f"- {plain(way)}"] if (way := way_of(view, gap)) else []
        yield ["## Not sure", "", *unsure, ""]


def _table(gap: Gap) -> Iterator[str]:
    yield "| Need | Here | Place | Why |"
    yield "| --- | --- | --- | --- |"
    for answer in gap.answers:
        before, at = place_parts(answer)
        place = f"{before}{cell(at)}"
        gates = "".join(f" Not where {plain(limit)}." for limit in limits_of(answer))
        title = plain(need_words(answer.title, answer.purpose))
        yield f"| {title} | {here_words(answer)} | {place} | {plain(why_words(answer))}{gates} |"


def _step(step: Step) -> Iterator[str]:
    yield f"{step.number}. **{plain(step_words(step))}**"
    for hook in step.hooks:
        scope = f", reached from {plain(', '.join(hook.scope))}" if hook.scope else ""
        yield f"    - {code(hook_at(hook))} in {code(hook.symbol)}{scope}. {plain(hook.task)}"
        yield f"      (seen there: {plain(hook.saw)}; taken from {code(hook.source)})"
        route = route_words(hook)
        if route:
            yield f"      From the step: {plain(route)}"
    if not step.hooks:
        yield "    - no place was recognised"
    for gate in step.gates:
        yield f"    - {plain(forbidden_words(gate))}"


def gap_rows(view: GapView) -> str:
    """Tab-separated rows, full paths; the first columns say what a row is, the install and the feature.

    Further columns by kind of row:
        gap        answer, sentence
        need       need, answer, purpose, place, why
        step       number, need, work, numbers of the steps before it
        hook       number of the step, place, symbol, scope, task, source, route
        gate       need, condition with its place
        elsewhere  need, who, answer, place, reason
        unsure     what, where, why
    """
    rows = (
        (kind, view.label(gap.install), gap.feature, *cells)
        for gap in view.report.gaps
        for kind, *cells in _rows(view, gap)
    )
    return "".join("\t".join(map(visible, row)) + "\n" for row in rows)


def _rows(view: GapView, gap: Gap) -> Iterator[Iterable[str]]:
    yield "gap", answer_words(gap.standing), sentence_of(gap)
    for answer in gap.answers:
        yield (
            "need",
            answer.title,
            here_words(answer),
            answer.purpose.value,
            place_words(answer),
            why_words(answer),
        )
    for step in gap.steps:
        yield "step", str(step.number), step.title, step.work.value, " ".join(map(str, step.after))
        for hook in step.hooks:
            scope = ", ".join(hook.scope)
            yield (
                "hook",
                str(step.number),
                hook_at(hook),
                hook.symbol,
                scope,
                hook.task,
                hook.source,
                route_words(hook),
            )
    for answer in gap.answers:
        for gate in answer.gates:
            yield "gate", answer.title, gate_words(gate)
    for each in gap.elsewhere:
        answered = answer_words(each.standing)
        yield "elsewhere", each.title, who_words(view, gap, each), answered, other_place(each), each.reason
    for unknown in gap.unsure:
        yield "unsure", unknown.what, unknown.where, unknown.why


WRITERS: dict[str, Callable[[GapView], str]] = {"markdown": gap_markdown, "text": gap_screen, "tsv": gap_rows}
"""What stands before the `=` of `-o NAME=PATH`."""


def writer_named(name: str) -> Callable[[GapView], str]:
    """The way of writing of a name.

    Raises:
        NotFound: there is none.
    """
    if name not in WRITERS:
        raise NotFound(f"no format {name!r} for gaps", f"Formats: {', '.join(sorted(WRITERS))}; --json prints JSON.")
    return WRITERS[name]
