"""A summary for a pull request or a chat: the decision, the matrix, what is missing, where it was seen, the limits.

It holds what a reviewer reads, not everything: the page and the JSON do. What is left out is counted.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence

from recon.records.verdict import Standing
from recon.report.findings import Finding, Place, unrecognised
from recon.report.format import Format
from recon.report.marked import cell, code, plain, table
from recon.report.numbers import count, counted
from recon.report.text import clipped
from recon.report.timings import TimingGroup
from recon.report.view import View

MOST = 8
"""Things of one kind that are listed one by one where nobody can act on each."""
MOST_TIMES = 24
"""Rows of times; those that disagree come first, then those that are compared with a baseline."""
_LONGEST = 400
"""Characters of a sentence that a tree or a host has a say in."""
_MISSING = (Standing.ABSENT, Standing.PARTIAL, Standing.UNKNOWN)


def render(view: View) -> str:
    """The summary, in GitHub's Markdown."""
    parts = [list(part(view)) for part in _PARTS]
    return "\n\n".join("\n".join(lines) for lines in parts if lines) + "\n"


def words(said: str) -> str:
    """A sentence that no mark gets out of, no longer than one reads."""
    return plain(clipped(said, _LONGEST))


def place_words(finding: Finding) -> str:
    """The place to show first, as code; what only came near is called so."""
    place = finding.speaks
    if place is None:
        return ""
    return f"{'' if finding.places else 'nearest '}{cell(place.at)}"


def _decision(view: View) -> Iterator[str]:
    yield f"# recon: {words(view.title)}"
    yield ""
    yield f"**{plain(clipped(view.lead, 3 * _LONGEST))}**"
    for index, each in enumerate(view.decisions):
        yield ""
        if index:
            yield words(each.sentence)
        yield from (f"- {words(line)}" for line in each.because)
    if missing := dict.fromkeys(line for each in view.decisions for line in each.missing):
        yield ""
        yield "Not known yet:"
        yield from (f"- {words(line)}" for line in missing)
    if not view.complete:
        yield ""
        yield "**This run was interrupted; it holds what was known until then.**"


def _failures(view: View) -> Iterator[str]:
    if view.failures:
        yield f"## Policies that failed: {len(view.failures)}"
        yield ""
        # Their place comes last, and must not be cut off.
        yield from (f"- {plain(clipped(each.message or each.demand, _LONGEST * 3))}" for each in view.failures)


def _matrix(view: View) -> Iterator[str]:
    if not view.rows:
        return
    yield "## What these trees can do"
    yield ""
    yield from table(
        ("Capability", *(words(column.label) for column in view.columns)),
        (
            (words(row.title), *(f"{each.word.glyph} {words(each.answer)}" if each else "" for each in row.cells))
            for row in view.rows
        ),
    )
    yield ""
    yield f"In all: {view.counts}."
    yield ""
    for column in view.columns:
        yield f"- {words(column.label)}: {column.counts}. {words(column.host)}, {words(column.origin)}"
        if column.way_out:
            yield f"- {words(column.way_out)}"
    own = [each for each in view.findings if each.own_word]
    yield from (f"- {code(each.capability)} in {words(each.label)}: {words(each.own_word)}" for each in own)
    if sentence := unrecognised(view.run.installs):
        yield f"- {words(sentence)}"


def _missing(view: View) -> Iterator[str]:
    missing = [each for each in view.findings if each.standing in _MISSING]
    if missing:
        yield f"## What is missing: {len(missing)}"
        yield ""
        yield from table(
            ("Capability", "Tree", "Answer", "Place", "Why"),
            (
                (cell(each.capability), words(each.label), words(each.answer), place_words(each), _why(each))
                for each in missing
            ),
        )


def _why(finding: Finding) -> str:
    reason = words(finding.reason)
    return f"{reason} {words(finding.searched)}." if finding.standing is Standing.ABSENT else reason


def _evidence(view: View) -> Iterator[str]:
    seen = [each for each in view.findings if each.standing is Standing.PRESENT]
    if seen:
        yield f"## Where the rest was seen: {len(seen)}"
        yield ""
        yield from table(
            ("Capability", "Tree", "Answer", "Place", "In", "Assuming"),
            (
                (
                    cell(each.capability),
                    words(each.label),
                    words(each.answer),
                    place_words(each),
                    _symbol(each.speaks),
                    words(each.assuming),
                )
                for each in seen
            ),
        )


def _symbol(place: Place | None) -> str:
    return cell(clipped(place.symbol, _LONGEST)) if place else ""


def _behaviours(view: View) -> Iterator[str]:
    if view.behaviours:
        yield f"## What acceptance functions were seen to do: {len(view.behaviours)}"
        yield ""
        yield from table(
            ("Function", "Rule seen", "Verdicts", "How"),
            (
                (cell(each.symbol), words(each.rules or "none"), words(each.verdicts), words(each.how))
                for each in view.behaviours
            ),
        )


def _times(view: View) -> Iterator[str]:
    for number, group in enumerate(view.timings):
        if number:
            yield ""
        yield f"## {words(group.heading)}"
        yield ""
        yield words(group.note)
        yield from _timings(group)
        yield from _builds(group)
        yield from _curves(group)


def _timings(group: TimingGroup) -> Iterator[str]:
    # Points of a curve are told by the curve, as on the screen; where they disagree they must be seen.
    told = [each for each in group.timings if not each.on_curve or each.disagrees]
    ranked = sorted(told, key=lambda each: (not each.disagrees, not each.over_baseline))
    rows = (
        (
            cell(each.kernel),
            words(each.case),
            words(each.check),
            each.told,
            each.interval,
            each.over_floor,
            each.over_baseline,
        )
        for each in ranked[:MOST_TIMES]
    )
    headers = ("Kernel", "Case", "Check", "Median", "95 % interval", "x floor", "x baseline")
    yield from _some("measurement", len(group.timings), len(ranked[:MOST_TIMES]), headers, rows)


def _builds(group: TimingGroup) -> Iterator[str]:
    rows = (
        (
            cell(each.kernel),
            words(each.case),
            words(each.arch),
            each.registers,
            each.shared,
            each.spills,
            "yes" if each.fits else "no",
        )
        for each in sorted(group.built, key=lambda each: each.fits)[:MOST_TIMES]
    )
    headers = ("Kernel", "Case", "Target", "Registers", "Shared memory", "Spills", "Fits")
    yield from _some("build", len(group.built), len(group.built[:MOST_TIMES]), headers, rows)


def _curves(group: TimingGroup) -> Iterator[str]:
    rows = (
        (cell(each.kernel), words(each.case), each.first, each.free, each.then) for each in group.curves[:MOST_TIMES]
    )
    headers = ("Kernel", "Case", "Time at tokens", "Nearly free up to", "Then")
    yield from _some("curve", len(group.curves), len(group.curves[:MOST_TIMES]), headers, rows)


def _some(noun: str, of: int, shown: int, headers: Sequence[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    """A table under a line that says how many there are, and how many of them it holds."""
    if of:
        yield ""
        yield f"{counted(of, noun)}{f', {shown} shown; the CSV and the page have all' if shown < of else ''}:"
    if shown:
        yield ""
        yield from table(headers, rows)


def _limits(view: View) -> Iterator[str]:
    if not (view.limits or view.unknowns):
        return
    yield "## What was read, and what was not"
    yield ""
    for each in view.limits:
        yield f"- {words(each.label)}: {words(each.read)}. {words(each.edits)}."
        unread = (f"{words(one.what)}: {cell(one.where)}: {words(one.why)}" for one in each.unread)
        yield from _first(f"    - not read: {line}" for line in unread)
    yield f"- Not known: {counted(len(view.unknowns), 'thing')}"
    told = (f"{words(each.what)}: {cell(each.where)}: {words(each.why)}" for each in view.unknowns)
    yield from _first(f"    - {line}" for line in told)


def _first(lines: Iterable[str]) -> Iterator[str]:
    """The first few lines, and how many more there are."""
    known = list(lines)
    yield from known[:MOST]
    if len(known) > MOST:
        yield f"    - and {count(len(known) - MOST)} more, in the page and the JSON"


def _method(view: View) -> Iterator[str]:
    yield "## How this was made"
    yield ""
    for host in view.hosts:
        yield f"- Host {words(host.name)}: {words('; '.join(filter(None, (host.platform, *host.gpus))))}"
    for each in view.method:
        run = f" in {cell(each.name)}" if each.name else ""
        made = f"by recon {words(each.version)}, started {words(each.started)}{run}"
        yield f"- {each.kind.capitalize()} {made}: {cell(each.command)}"


_PARTS: tuple[Callable[[View], Iterable[str]], ...] = (
    _decision,
    _failures,
    _matrix,
    _missing,
    _times,
    _behaviours,
    _evidence,
    _limits,
    _method,
)

FORMAT = Format("markdown", "text/markdown", render)
