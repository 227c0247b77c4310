"""Gaps in words: what every way of writing them shares."""

from collections.abc import Mapping
from dataclasses import dataclass

from recon.records.feature import Feature, Purpose, Work
from recon.records.gap import Answer, Elsewhere, Gap, GapReport, Hook, Step
from recon.records.install import Install
from recon.records.path import Tier
from recon.records.run import Run
from recon.records.verdict import Gate, Standing
from recon.report.findings import label_of, way_out
from recon.report.numbers import count
from recon.report.words import REACHES, STANDINGS, TIERS

WORKS: dict[Work, str] = {Work.KERNEL: "K", Work.PLUMBING: "P", Work.CONFIGURATION: "C"}
"""One letter for the kind of work."""
LEGEND = "K kernel, P plumbing, C configuration"
PURPOSES: dict[Purpose, str] = {
    Purpose.REQUIRED: "",
    Purpose.HYBRID: "hybrid models",
    Purpose.SPEED: "speed",
}
MOST_STATIONS = 4
"""Stations of a way that a screen has room for; files have all."""
_COUNTED = {Standing.PARTIAL: "partly", Standing.ABSENT: "missing", Standing.UNKNOWN: "cannot tell"}


@dataclass(frozen=True, slots=True)
class GapView:
    """A report with the records that its ids name."""

    report: GapReport
    features: Mapping[str, Feature]
    installs: Mapping[str, Install]

    def label(self, install: str) -> str:
        """An install as people call it."""
        return label_of(self.installs[install])

    def by_install(self) -> dict[str, list[Gap]]:
        """The gaps of each install, in the order of the run."""
        found: dict[str, list[Gap]] = {}
        for gap in self.report.gaps:
            found.setdefault(gap.install, []).append(gap)
        return found

    def title(self, gap: Gap) -> str:
        """The feature's name for people."""
        return self.features[gap.feature].title


def view_of_gaps(report: GapReport, run: Run) -> GapView:
    """A report ready to be written."""
    features = {feature.id: feature for feature in report.features}
    return GapView(report, features, {install.id: install for install in run.installs})


def answer_words(standing: Standing) -> str:
    """`yes`, `partly`, `no` or `cannot tell`."""
    return STANDINGS[standing].text


def sentence_of(gap: Gap) -> str:
    """How far an install is from a feature, in a sentence or two."""
    total = len(gap.answers)
    here = gap.counts.get(Standing.PRESENT, 0)
    known = f"all {total} needs are" if here == total else f"{here} of {total} needs {'is' if here == 1 else 'are'}"
    parts = [f"{known} there{', each by itself' if gap.standing is Standing.PRESENT and total > 1 else ''}"]
    parts += [f"{count(gap.counts[each])} {word}" for each, word in _COUNTED.items() if gap.counts.get(each)]
    said = f"{answer_words(gap.standing)}, {', '.join(parts)}."
    return f"{said} No option turns it on." if gap.standing in (Standing.ABSENT, Standing.PARTIAL) else said


def need_words(title: str, purpose: Purpose) -> str:
    """A need with what it is needed for, unless the feature requires it."""
    return f"{title} ({PURPOSES[purpose]})" if PURPOSES[purpose] else title


def here_words(answer: Answer) -> str:
    """Whether a need is met, and how far what meets it is connected."""
    reach = f", {REACHES[answer.reach]}" if answer.reach else ""
    return f"{answer_words(answer.standing)}{reach}"


def place_words(answer: Answer) -> str:
    """The best place of an answer; empty where there is none."""
    return "".join(place_parts(answer))


def place_parts(answer: Answer) -> tuple[str, str]:
    """What is said before the best place of an answer, and the place; both empty where there is none."""
    if answer.place is None:
        return "", ""
    return "nearest " if answer.is_near else "", f"{answer.place.path}:{answer.place.line}"


def why_words(answer: Answer) -> str:
    """The reason, and who lacks it where others do not."""
    return f"{answer.why}{_lacking(answer)}"


def brief_words(answer: Answer) -> str:
    """The same for a screen, on which what was searched is said once."""
    return f"{answer.brief}{_lacking(answer)}"


def _lacking(answer: Answer) -> str:
    return f" Not in {', '.join(answer.lacking)}." if answer.lacking else ""


def searched_words(view: GapView, gap: Gap) -> str:
    """What was searched for the needs that are missing; empty if none is."""
    missing = {answer.capability for answer in gap.answers if answer.standing is Standing.ABSENT}
    found = [each.searched for each in view.installs[gap.install].verdicts if each.capability in missing]
    if not found:
        return ""
    most = max(found, key=lambda each: each.examined)
    near = any(answer.standing is Standing.ABSENT and answer.place for answer in gap.answers)
    return (
        f"No: none of its form in {count(most.files)} files, {count(most.functions)} functions, "
        f"{count(most.kernels)} kernels and {count(most.libraries)} compiled libraries"
        f"{'; the place beside it is what comes nearest' if near else ''}."
    )


def doubts_of(view: GapView, gap: Gap) -> tuple[str, ...]:
    """What is not known, each thing once: undecided needs by their names, things that share a reason together."""
    undecided = [answer.title for answer in gap.answers if answer.standing is Standing.UNKNOWN]
    alike: dict[tuple[str, str], list[str]] = {}
    for each in gap.unsure:
        if each.what not in undecided:
            alike.setdefault((each.what, each.why), []).append(each.where)
    said = [f"could not be decided: {', '.join(undecided)}"] if undecided else []
    for (what, why), where in alike.items():
        more = f" and {count(len(where) - 1)} more" if len(where) > 1 else ""
        said.append(f"{what} ({where[0]}{more}): {why}" if where[0] else f"{what}: {why}")
    if way := way_of(view, gap):
        said.append(way)
    return tuple(said)


def way_of(view: GapView, gap: Gap) -> str:
    """What to scan beside an install so that more of a gap can be told; empty if nothing is known to help."""
    install = view.installs[gap.install]
    asked = {answer.capability for answer in gap.answers}
    return way_out(install, (each for each in install.verdicts if each.capability in asked))


def step_words(step: Step) -> str:
    """A step's heading: its kind of work, what it gives, and what it builds on."""
    after = f", after {' and '.join(map(str, step.after))}" if step.after else ""
    return f"{need_words(step.title, step.purpose)}: {step.work.value}{after}"


def hook_at(hook: Hook) -> str:
    """Place of a hook as `path:line`."""
    return f"{hook.path}:{hook.line}"


def route_words(hook: Hook) -> str:
    """How the engine's step gets to a hook, station by station; empty if that is not known."""
    stations = [
        f"{each.symbol} ({TIERS[each.tier]})" if each.tier is not Tier.CERTAIN and each.dispatch else each.symbol
        for each in hook.route
    ]
    return " > ".join(stations)


def limits_of(answer: Answer) -> tuple[str, ...]:
    """Conditions under which what is there does not run; what is missing has its gates with its step."""
    return tuple(map(gate_words, answer.gates)) if answer.standing is Standing.PRESENT else ()


def approach_of(hook: Hook) -> str:
    """The last stations before a hook, and how sure the way to it is; empty if no way is known."""
    before = hook.route[:-1]
    if not before:
        return ""
    tiers = list(Tier)
    least = max((each.tier for each in before), key=tiers.index)
    far = "… > " if len(before) > MOST_STATIONS else ""
    names = " > ".join(each.symbol for each in before[-MOST_STATIONS:])
    return f"{far}{names}" + (f" ({TIERS[least]})" if least is not Tier.CERTAIN else "")


def gate_words(gate: Gate) -> str:
    """A condition with its place."""
    return f"{gate.condition} ({gate.path}:{gate.line})"


def forbidden_words(gate: Gate) -> str:
    """A condition that stands in the way of a step, in a sentence."""
    return f"The engine refuses or overrides this where {gate_words(gate)}."


def title_words(view: GapView, gap: Gap) -> str:
    """Feature and answer in a line."""
    return f"{view.title(gap)}: {sentence_of(gap)}"


def who_words(view: GapView, gap: Gap, other: Elsewhere) -> str:
    """Who has what is missing here."""
    if other.install == gap.install:
        return f"{other.member} of this install"
    return view.label(other.install)


def other_place(other: Elsewhere) -> str:
    """Where another has it."""
    return f"{other.place.path}:{other.place.line}" if other.place else ""
