"""Differences of two runs in words: for a person, and as rows for a pipe."""

from collections import Counter
from collections.abc import Iterable, Iterator

from rich.console import Group, RenderableType
from rich.padding import Padding

from recon.records.difference import FileChange, InstallChange, Outcome, RunDifference, TimeChange, VerdictChange
from recon.records.verdict import OwnWord, Reach, Standing
from recon.report.numbers import NOTHING, counted, microseconds, ratio, ratios
from recon.report.terminal import text, written
from recon.report.text import visible
from recon.report.timings import case_words
from recon.report.words import REACHES, STANDINGS

OUTCOMES: dict[Outcome, str] = {
    Outcome.FASTER: "faster",
    Outcome.SLOWER: "slower",
    Outcome.SAME: "same",
    Outcome.CANNOT_TELL: "cannot tell",
}


def diff_screen(difference: RunDifference, width: int, *, color: bool = False) -> str:
    """What changed, for a person with so many columns: the counts first, then each tree, then times."""
    return written(_blocks(difference), width, color=color)


def diff_rows(difference: RunDifference) -> str:
    """Rows apart by tabs; the first column says what a row is.

    Columns by kind of row:
        differs    what of the runs themselves is not equal
        verdict    tree before, tree after, capability, answer before, answer after, places gone, places come
        word       tree before, tree after, capability, your own word before, after: what you say instead of the answer
        file       tree before, tree after, path, how it changed, capabilities
        unread     tree before, tree after, why files could not be compared
        tree       tree before, tree after, that it is in one run alone
        time       GPU, kernel, case, outcome, time before, time after, ratio, its interval, what differs
    """
    rows: list[Iterable[str]] = [("differs", each) for each in difference.differs]
    for one in difference.installs:
        trees = (one.before, one.after)
        rows += [
            ("verdict", *trees, each.capability, *answers(each), "; ".join(each.gone), "; ".join(each.come))
            for each in one.verdicts
            if each.is_other_verdict
        ]
        rows += [("word", *trees, each.capability, *own_words(each)) for each in one.verdicts if each.is_other_word]
        rows += [("file", *trees, each.path, each.change, ", ".join(each.capabilities)) for each in one.files]
        rows += [("unread", *trees, one.files_why)] if one.files_why else []
        rows += [("tree", *trees, only_words(one))] if only_words(one) else []
    rows += [
        (
            "time",
            each.gpu,
            each.kernel,
            case_words(each.case),
            OUTCOMES[each.outcome],
            *_times(each),
            _ratio(each),
            _interval(each),
            "; ".join(each.differs),
        )
        for each in difference.times
    ]
    return "".join("\t".join(map(visible, row)) + "\n" for row in rows)


def answers(change: VerdictChange) -> tuple[str, str]:
    """What was answered before and after, in words."""
    return _answer(change.before, change.reach_before), _answer(change.after, change.reach_after)


def own_words(change: VerdictChange) -> tuple[str, str]:
    """What the user said instead before and after, with why and where: `no: it has gaps (recon.toml)`."""
    return _own(change.own_word_before), _own(change.own_word_after)


def is_other_answer(change: VerdictChange) -> bool:
    """Whether more than the places changed."""
    before, after = answers(change)
    return before != after


def only_words(change: InstallChange) -> str:
    """That a tree is in one of the runs alone; empty for a tree of both."""
    return "" if change.before and change.after else "only before" if change.before else "only after"


def summary(difference: RunDifference) -> str:
    """How much changed, in a sentence."""
    both = [each for each in difference.installs if not only_words(each)]
    unread = [each for each in both if each.files_why]
    parts = []
    if both:
        changes = [each for one in both for each in one.verdicts]
        others = sum(map(is_other_answer, changes))
        elsewhere = sum(each.is_other_verdict for each in changes) - others
        same = sum(each.unchanged for each in both)
        parts.append(f"{counted(others, 'answer')} changed, {elsewhere} rest on other places, {same} did not change")
        if said := sum(each.is_other_word for each in changes):
            parts.append(f"your own word changed on {counted(said, 'verdict')}")
    if len(unread) < len(both):
        parts.append(f"{counted(sum(len(each.files) for each in both), 'file')} with a part in them changed")
    if unread:
        parts.append(f"files of {counted(len(unread), 'tree')} were not compared")
    if alone := len(difference.installs) - len(both):
        parts.append(f"{counted(alone, 'tree')} in one run alone")
    if difference.times:
        tally = Counter(each.outcome for each in difference.times)
        told = ", ".join(f"{tally[outcome]} {words}" for outcome, words in OUTCOMES.items())
        parts.append(f"{counted(len(difference.times), 'time')}: {told}")
    return f"{'; '.join(parts) or 'Nothing can be compared'}."


def _blocks(difference: RunDifference) -> Iterator[RenderableType]:
    names = (difference.before, difference.after)
    yield Group(
        text(summary(difference), "bold"),
        *(
            text(f"{word}  {each.name or 'not saved'}, started {each.started_at}", "dim")
            for word, each in zip(("before", "after "), names, strict=True)
        ),
        *(text(f"Not equal: {each}", "yellow") for each in difference.differs),
    )
    for each in difference.installs:
        yield Group(text(_heading(each), "bold"), *(Padding(line, (0, 0, 0, 2)) for line in _install(each)))
    if difference.times or difference.only_before or difference.only_after:
        yield Group(text("Times", "bold"), *(Padding(line, (0, 0, 0, 2)) for line in _time_lines(difference)))


def _heading(change: InstallChange) -> str:
    if only := only_words(change):
        return f"{change.before or change.after}: {only}"
    return change.before if change.before == change.after else f"{change.before} -> {change.after}"


def _install(change: InstallChange) -> Iterator[RenderableType]:
    if only_words(change):
        return
    for each in sorted(change.verdicts, key=lambda each: not is_other_answer(each)):
        yield from _verdict(each)
    yield text(f"{counted(change.unchanged, 'verdict')} did not change", "dim")
    yield from (text(_file(each)) for each in change.files)
    if change.files_why:
        yield text(f"Files were not compared: {change.files_why}. Scan again to have them.", "yellow")
    elif not change.files:
        yield text("no file with a part in a verdict changed", "dim")


def _verdict(change: VerdictChange) -> Iterator[RenderableType]:
    before, after = answers(change)
    yield text(f"{change.capability}: {before if before == after else f'{before} -> {after}'}", "bold")
    if change.is_other_verdict and change.reason_after and change.reason_after != change.reason_before:
        yield text(f"  {change.reason_after}", "dim")
    if change.is_other_word:
        same = "" if change.is_other_verdict else "judged as before, "
        said = (each or "nothing" for each in own_words(change))
        yield text(f"  {same}your own word: {' -> '.join(said)}", "bold")
    yield from (text(f"  - {each}", "red") for each in change.gone)
    yield from (text(f"  + {each}", "green") for each in change.come)


def _file(change: FileChange) -> str:
    return f"{change.change} {change.path} ({', '.join(change.capabilities)})"


def _time_lines(difference: RunDifference) -> Iterator[RenderableType]:
    styles = {Outcome.FASTER: "green", Outcome.SLOWER: "red"}
    for each in difference.times:
        before, after = _times(each)
        told = f"{OUTCOMES[each.outcome]}: {each.kernel}, {case_words(each.case)}, {before} -> {after}"
        told += f", {_ratio(each)} ({_interval(each)})" if each.ratio is not None else ""
        yield text(told, styles.get(each.outcome, ""))
        yield from (text(f"  not equal: {one}", "dim") for one in each.differs)
    for number, word in ((difference.only_before, "before"), (difference.only_after, "after")):
        if number:
            yield text(f"{counted(number, 'time')} only {word}", "dim")


def _answer(standing: Standing | None, reach: Reach | None) -> str:
    if standing is None:
        return "not judged"
    word = STANDINGS[standing].text
    return f"{word}, {REACHES[reach]}" if reach else word


def _own(word: OwnWord | None) -> str:
    return f"{STANDINGS[word.standing].text}: {word.reason} ({word.origin})" if word else ""


def _times(change: TimeChange) -> tuple[str, str]:
    one, other = change.before, change.after
    return microseconds(one.median_us) if one else NOTHING, microseconds(other.median_us) if other else NOTHING


def _ratio(change: TimeChange) -> str:
    return ratio(change.ratio) if change.ratio is not None else NOTHING


def _interval(change: TimeChange) -> str:
    return ratios(change.low, change.high) if change.low is not None and change.high is not None else NOTHING
