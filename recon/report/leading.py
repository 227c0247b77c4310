"""What a reader is told first: the decision for one install, named, and in brief what holds for the others."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from recon.records.estimate import Estimate
from recon.records.host import Host, by_name
from recon.records.install import Install
from recon.records.verdict import Standing
from recon.report.findings import label_of
from recon.report.words import DECISIONS

FEW = 3
"""Others that the first line speaks of; of more it says how many there are."""
_ORDER = (Standing.PRESENT, Standing.PARTIAL, Standing.UNKNOWN, Standing.ABSENT, Standing.NOT_APPLICABLE)


@dataclass(frozen=True, slots=True)
class Leading:
    """The first lines of everything."""

    lead: str
    others: tuple[str, ...]
    """Of installs whose sentences are not in the lead, in full."""


@dataclass(frozen=True, slots=True)
class _Told:
    name: str
    """As people call it; with its host where another one is called so."""
    sentence: str
    """With the name in it."""
    body: str
    """What it says of times, without the name; empty where none were weighed."""
    named: str
    """Whether it can run a tree, with the name."""
    runs: str
    """The same of something that was named before."""
    decision: str


def ordered(estimates: Iterable[Estimate]) -> tuple[Estimate, ...]:
    """Those of installs that can run a tree first: for them the decision is one; others in the order found."""
    return tuple(sorted(estimates, key=lambda each: _ORDER.index(each.runs) if each.runs else len(_ORDER)))


def leading(estimates: Sequence[Estimate], installs: Sequence[Install], hosts: Iterable[Host]) -> Leading | None:
    """What is said first, of estimates that are in order; None where there are none.

    Of a single install it is its sentence. Where the same holds for several, it is said once, then which of them can
    run a tree. Else the first sentence names the install that it is of; others are told beside it, those that other
    times were weighed for by their decision, and in full below.
    """
    if len(estimates) < 2:
        return Leading(estimates[0].sentence, ()) if estimates else None
    names = _names(installs, by_name(hosts))
    first, *others = (_told(each, *names.get(each.subject, ("", ""))) for each in estimates)
    if first.body and all(each.body == first.body for each in others):
        return Leading(" ".join((f"{first.body}.", *(each.named for each in (first, *others)))), ())
    if len(others) > FEW:
        return Leading(f"{first.sentence} {len(others)} other installs below.", tuple(each.sentence for each in others))
    brief, below = [], []
    for each in others:
        brief.append(f"{each.name}: {each.decision}. {each.runs}" if each.body else each.sentence)
        below += [each.sentence] if each.body else []
    return Leading(" ".join((first.sentence, *brief)), tuple(below))


def _names(installs: Sequence[Install], hosts: dict[str, Host]) -> dict[str, tuple[str, str]]:
    """Of each engine by its id: its label, and the name that tells it from the others."""
    engines = [each for each in installs if not each.engine.is_companion]
    often = Counter(map(label_of, engines))
    found = {}
    for each in engines:
        label = label_of(each)
        host = hosts[each.host].name if each.host in hosts else each.host
        found[each.id] = (label, f"{label} on {host}" if often[label] > 1 else label)
    return found


def _told(estimate: Estimate, label: str, name: str) -> _Told:
    sentence, decision = estimate.sentence, DECISIONS[estimate.decision]
    if not label or label in sentence.partition(":")[0]:  # it begins with the name
        return _Told(name, sentence.replace(label, name, 1) if label else sentence, "", "", "", decision)
    body, _, last = sentence.rpartition(". ")
    if label not in last:
        return _Told(name, f"{name}: {sentence}", "", "", "", decision)
    runs = last.replace(label, "it", 1)
    runs = f"{runs[:1].upper()}{runs[1:]}"
    return _Told(name, f"{name}: {body}. {runs}", body, last.replace(label, name, 1), runs, decision)
