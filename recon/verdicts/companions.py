"""What a kernel package beside an engine settles: the functions of it that the engine calls are judged where they lie.

1. A function that the companion was judged to have makes the engine's capability what the companion's is. The call in
   the engine is the evidence, declared; the companion's place is named in its note.
2. Where every function in question lies in a companion that lacks it, the capability is absent, unless something else
   of the engine is unread.
3. What neither rule decides stays unknown, with what is known as its reason.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from recon.records.evidence import Evidence, Grade
from recon.records.install import Install
from recon.records.unknown import PACKAGE, PARTLY, Unknown
from recon.records.verdict import Reach, Standing, Verdict
from recon.verdicts.judge import MOST_PLACES

Packages = Callable[[Install], str]
"""The import package of an install."""
_HELD = (Standing.PRESENT, Standing.PARTIAL)


@dataclass(frozen=True, slots=True)
class _Answer:
    """What a companion says about one function."""

    function: str
    """Dotted name, as the engine imports it."""
    companion: Install
    verdict: Verdict
    place: Evidence | None
    """Where the companion has it; None where it was not judged to."""


def settle(installs: Sequence[Install], package_of: Packages) -> tuple[Install, ...]:
    """Installs with the verdicts that their companions decide; companions must be known by id."""
    by_id = {install.id: install for install in installs}
    return tuple(
        _settled(install, [by_id[name] for name in install.companions if name in by_id], package_of)
        for install in installs
    )


def _settled(install: Install, companions: Sequence[Install], package_of: Packages) -> Install:
    if not companions:
        return install
    verdicts = tuple(_verdict(verdict, companions, package_of) for verdict in install.verdicts)
    return replace(install, verdicts=verdicts)


def _verdict(verdict: Verdict, companions: Sequence[Install], package_of: Packages) -> Verdict:
    """One verdict of an engine, settled where it can be."""
    asked = [each for each in verdict.searched.unread if each.what == PACKAGE]
    if verdict.standing is not Standing.UNKNOWN or not asked:
        return verdict
    answers = [answer for each in asked for answer in _answers(verdict.capability, each, companions, package_of)]
    held = [each for each in answers if each.place is not None]
    if held:
        return _taken_over(verdict, held)
    settled = {each.function for each in answers if each.verdict.standing is Standing.ABSENT}
    unread = tuple(each for each in verdict.searched.unread if each.what != PACKAGE or each.where not in settled)
    if not answers:
        return verdict
    is_open = any(each.what != PARTLY for each in unread)
    return replace(
        verdict,
        standing=Standing.UNKNOWN if is_open else Standing.ABSENT,
        reason=_lacking(answers[0]),
        evidence=verdict.evidence if is_open else (),
        nearest=verdict.nearest if is_open else (*verdict.evidence, *verdict.nearest),
        searched=replace(verdict.searched, unread=unread),
    )


def _answers(capability: str, asked: Unknown, companions: Iterable[Install], package_of: Packages) -> Iterator[_Answer]:
    package, _, function = asked.where.partition(".")
    for companion in companions:
        if package_of(companion) != package:
            continue
        for verdict in companion.verdicts:
            if verdict.capability == capability:
                held = verdict.evidence if verdict.standing in _HELD else ()
                last = function.rpartition(".")[2]
                places = (each for each in (*held, *verdict.nearest) if each.grade is not Grade.NAMED)
                place = next((each for each in places if _last(each) == last), None)
                yield _Answer(asked.where, companion, verdict, place if held else None)


def _taken_over(verdict: Verdict, held: Sequence[_Answer]) -> Verdict:
    """A verdict as the companion's is, resting on the engine's calls."""
    best = min(held, key=lambda each: each.verdict.standing is not Standing.PRESENT)
    places = (*verdict.evidence, *verdict.nearest)
    calls = [
        replace(each, note=f"calls {answer.function}, judged at {_spelled(answer)}")
        for answer in held
        for each in places
        if each.grade is Grade.DECLARED and answer.function in each.note.replace(",", "").split()
    ]
    known = {(each.path, each.symbol, each.line) for each in calls}
    reason = f"Calls {best.function}, which {best.companion.id} beside it has: {_lower(best.verdict.reason)}"
    return replace(
        verdict,
        standing=best.verdict.standing,
        reach=Reach.WIRED if any(each.scope for each in calls) else Reach.DEFINED,
        reason=reason,
        evidence=tuple(calls[:MOST_PLACES]),
        nearest=(
            *calls[MOST_PLACES:],
            *(each for each in places if (each.path, each.symbol, each.line) not in known),
        ),
    )


def _lacking(answer: _Answer) -> str:
    verb = "lacks" if answer.verdict.standing is Standing.ABSENT else "is not judged to have"
    return f"Calls {answer.function}, which {answer.companion.id} beside it {verb}: {_lower(answer.verdict.reason)}"


def _spelled(answer: _Answer) -> str:
    place = answer.place
    return f"{place.path}:{place.line} of {answer.companion.id}" if place is not None else answer.companion.id


def _last(place: Evidence) -> str:
    return place.symbol.rpartition(".")[2]


def _lower(reason: str) -> str:
    return f"{reason[:1].lower()}{reason[1:]}"
