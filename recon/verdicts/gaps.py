"""From verdicts to gaps: what an install lacks for a feature, where a patch would go in, and in which order.

1. A need is met as well as the best of its capabilities.
2. An install has a feature when every required need is met. Where one is absent it has the feature partly if every
   core need is met at least partly, and not otherwise. Where none is absent, one that could not be decided leaves the
   feature undecided too, and one that is met partly makes it partial.
3. Each need that is absent or met partly is a step; what could not be decided is none, since it may be there. Its
   places are taken from the verdicts that the feature's file points at, in the order of the pointers; nothing is a
   place that no verdict names.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from graphlib import TopologicalSorter
from itertools import islice
from typing import TypeAlias

from recon.records.evidence import Evidence
from recon.records.feature import Feature, Need, Part, Pointer, Purpose
from recon.records.gap import Answer, Elsewhere, Gap, Hook, Step
from recon.records.install import Install
from recon.records.path import Hop
from recon.records.unknown import PARTLY, Unknown
from recon.records.verdict import Member, Reach, Searched, Standing, Verdict
from recon.verdicts.judge import NOTHING_ALIKE

MOST_HOOKS = 5
"""Places of one step."""
MOST_OF_POINTER = 3
"""Places taken from one part of a verdict: the first ones speak best."""

_BEST_FIRST = (Standing.PRESENT, Standing.PARTIAL, Standing.UNKNOWN, Standing.ABSENT, Standing.NOT_APPLICABLE)
_MET = (Standing.PRESENT, Standing.PARTIAL)

_NOTHING = Searched(0, 0, 0, 0, 0, (), ())

Verdicts: TypeAlias = Mapping[str, Verdict]


def gaps_of(features: Iterable[Feature], chosen: Sequence[Install], everything: Sequence[Install]) -> tuple[Gap, ...]:
    """Each feature against each install that was chosen.

    Args:
        features: What is asked for.
        chosen: The installs that are asked.
        everything: All installs of the run: what one lacks, another may have.
    """
    return tuple(gap_of(feature, install, everything) for feature in features for install in chosen)


def gap_of(feature: Feature, install: Install, everything: Sequence[Install] = ()) -> Gap:
    """One feature against one install."""
    verdicts = {verdict.capability: verdict for verdict in install.verdicts}
    answers = tuple(_answer(need, verdicts) for need in feature.needs)
    pairs = list(zip(feature.needs, answers, strict=True))
    missing = [need for need, answer in pairs if answer.standing in (Standing.ABSENT, Standing.PARTIAL)]
    unmet = [need for need, answer in pairs if answer.standing is not Standing.PRESENT]
    steps = tuple(_steps(feature, missing, verdicts, install))
    return Gap(
        feature=feature.id,
        install=install.id,
        standing=_standing(feature, answers),
        counts=dict(Counter(answer.standing for answer in answers)),
        answers=answers,
        steps=steps,
        elsewhere=tuple(place for need in unmet for place in _elsewhere(need, install, everything)),
        unsure=tuple(_unsure(answers, steps, verdicts)),
    )


# Needs


def _best(need: Need, verdicts: Verdicts) -> Verdict | None:
    asked = [verdicts[capability] for capability in need.capabilities if capability in verdicts]
    return min(asked, key=_rank, default=None)


def _rank(verdict: Verdict) -> tuple[int, int]:
    """The best standing first; of equals, what is connected best."""
    reach = list(Reach).index(verdict.reach) if verdict.reach is not None else -1
    return _BEST_FIRST.index(verdict.standing), -reach


def _answer(need: Need, verdicts: Verdicts) -> Answer:
    verdict = _best(need, verdicts)
    if verdict is None:
        why = f"This run holds no verdict on {' or '.join(need.capabilities)}."
        verdict = Verdict(need.capabilities[0], Standing.UNKNOWN, None, why, (), (), _NOTHING, (), ())
    place = next(iter((*verdict.evidence, *verdict.nearest)), None)
    return Answer(
        need=need.id,
        title=need.title,
        purpose=need.purpose,
        capability=verdict.capability,
        standing=verdict.standing,
        reach=verdict.reach,
        place=place,
        is_near=not verdict.evidence,
        why=verdict.reason,
        brief=_brief(verdict, place),
        gates=verdict.gates,
        lacking=tuple(member.name for member in verdict.members if member.standing is Standing.ABSENT),
    )


def _brief(verdict: Verdict, place: Evidence | None) -> str:
    """The reason in few words."""
    if place is None or not verdict.reason.startswith(NOTHING_ALIKE):
        return verdict.reason
    return f"{place.symbol}: {place.note}."


def _standing(feature: Feature, answers: Sequence[Answer]) -> Standing:
    """Rule 2."""
    pairs = list(zip(feature.needs, answers, strict=True))
    required = [answer.standing for need, answer in pairs if need.purpose is Purpose.REQUIRED]
    core = [answer.standing for need, answer in pairs if need.core]
    if Standing.ABSENT in required:
        return Standing.PARTIAL if all(standing in _MET for standing in core) else Standing.ABSENT
    for undecided in (Standing.UNKNOWN, Standing.NOT_APPLICABLE):
        if undecided in required:
            return undecided
    return Standing.PARTIAL if Standing.PARTIAL in required else Standing.PRESENT


# Steps


def in_order(needs: Sequence[Need]) -> tuple[Need, ...]:
    """Needs so that each stands after those that it builds on; otherwise in the order of the file."""
    place = {need.id: number for number, need in enumerate(needs)}
    by_id = {need.id: need for need in needs}
    sorter = TopologicalSorter({need.id: need.after for need in needs})
    sorter.prepare()
    order: list[str] = []
    while sorter.is_active():
        ready = sorted(sorter.get_ready(), key=lambda name: place.get(name, len(place)))
        order += ready
        sorter.done(*ready)
    return tuple(by_id[name] for name in order if name in by_id)


def _steps(feature: Feature, missing: Sequence[Need], verdicts: Verdicts, install: Install) -> Iterator[Step]:
    wanted = {need.id for need in missing}
    before = _all_before(feature)
    ordered = [need for need in in_order(feature.needs) if need.id in wanted]
    numbers = {need.id: number for number, need in enumerate(ordered, 1)}
    for need in ordered:
        verdict = _best(need, verdicts)
        first = before[need.id] & wanted
        nearest = first - {name for each in first for name in before[each]}
        yield Step(
            number=numbers[need.id],
            need=need.id,
            title=need.title,
            work=need.work,
            purpose=need.purpose,
            after=tuple(sorted(numbers[name] for name in nearest)),
            hooks=tuple(_hooks(need, verdicts, install)),
            gates=verdict.gates if verdict else (),
        )


def _all_before(feature: Feature) -> dict[str, set[str]]:
    """By need, all that come before it, over any number of steps: what is met already stands in nobody's way."""
    before: dict[str, set[str]] = {}
    for need in in_order(feature.needs):
        before[need.id] = {name for each in need.after for name in (each, *before[each])}
    return before


def _hooks(need: Need, verdicts: Verdicts, install: Install) -> Iterator[Hook]:
    found: dict[tuple[str, str], Hook] = {}
    for pointer in need.hooks:
        fresh = (
            place for place in _pointed(pointer, verdicts) if (place.path, place.symbol) not in found and place.line > 0
        )
        for place in islice(fresh, MOST_OF_POINTER):
            found[place.path, place.symbol] = _hook(place, pointer, install)
    return islice(found.values(), MOST_HOOKS)


def _pointed(pointer: Pointer, verdicts: Verdicts) -> Sequence[Evidence]:
    """Places of a part of a verdict, those that something runs before those that nothing reaches."""
    verdict = verdicts.get(pointer.capability)
    if verdict is None:
        return ()
    places = verdict.evidence if pointer.part is Part.EVIDENCE else verdict.nearest
    return sorted(places, key=lambda place: not place.scope)


def _hook(place: Evidence, pointer: Pointer, install: Install) -> Hook:
    return Hook(
        path=place.path,
        symbol=place.symbol,
        line=place.line,
        scope=place.scope,
        saw=place.note,
        task=pointer.task,
        source=f"{pointer.capability}.{pointer.part.value}",
        route=_route(place, pointer.capability, install),
    )


def _route(place: Evidence, capability: str, install: Install) -> tuple[Hop, ...]:
    """The shortest known path to a place, of its own capability if there is one."""
    routes = []
    for path in install.paths:
        for index, hop in enumerate(path.hops):
            if (hop.path, hop.symbol) == (place.path, place.symbol):
                routes.append((path.capability != capability, index, path.hops[: index + 1]))
                break
    return min(routes, default=(False, 0, ()), key=lambda route: route[:2])[2]


# Others that have it


def _elsewhere(need: Need, install: Install, everything: Sequence[Install]) -> Iterator[Elsewhere]:
    own = _best(need, {verdict.capability: verdict for verdict in install.verdicts})
    least = _BEST_FIRST.index(own.standing if own else Standing.ABSENT)

    def is_better(standing: Standing) -> bool:
        return standing in _MET and _BEST_FIRST.index(standing) < least

    for member in own.members if own else ():
        if is_better(member.standing):
            yield _of_member(need, install, member)
    for other in everything:
        verdict = _best(need, {verdict.capability: verdict for verdict in other.verdicts})
        if other.id != install.id and verdict and is_better(verdict.standing):
            place = verdict.evidence[0] if verdict.evidence else None
            yield Elsewhere(need.id, need.title, other.id, "", verdict.standing, place, verdict.reason)


def _of_member(need: Need, install: Install, member: Member) -> Elsewhere:
    place = member.evidence[0] if member.evidence else None
    return Elsewhere(need.id, need.title, install.id, member.name, member.standing, place, member.reason)


# What is not known


def _unsure(answers: Sequence[Answer], steps: Sequence[Step], verdicts: Verdicts) -> Iterator[Unknown]:
    for answer in answers:
        if answer.standing is Standing.UNKNOWN:
            yield Unknown(answer.title, _at(answer.place), answer.why)
        elif answer.standing in _MET and answer.reach is Reach.DEFINED:
            yield Unknown(answer.title, _at(answer.place), "It is in the tree; no call path to it was seen.")
    for step in steps:
        if not step.hooks:
            yield Unknown(step.title, "", "No place to build it in was recognised.")
    if len(answers) > 1 and _is_required_met(answers):
        why = "Each need is met by itself; that one configuration meets all at once was not shown."
        yield Unknown("all at once", "", why)
    asked = [verdicts[answer.capability] for answer in answers if answer.capability in verdicts]
    unread = dict.fromkeys(each for verdict in asked for each in verdict.searched.unread if each.what != PARTLY)
    yield from unread
    libraries = max((verdict.searched.libraries for verdict in asked), default=0)
    if libraries and any(answer.standing is Standing.ABSENT for answer in answers):
        noun = "compiled library was" if libraries == 1 else "compiled libraries were"
        yield Unknown("compiled code", "", f"{libraries} {noun} read by the names in them only, not by their code.")


def _is_required_met(answers: Sequence[Answer]) -> bool:
    return all(answer.standing is Standing.PRESENT for answer in answers if answer.purpose is Purpose.REQUIRED)


def _at(place: Evidence | None) -> str:
    return f"{place.path}:{place.line}" if place else ""
