"""One answer for each runner, backend or method, where they differ: a tree may have what a server of it has not."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from recon.detectors.api import Evidence, Gate, Index, Member, Reach, Standing
from recon.detectors.places import BY_CHOICE, is_outskirts
from recon.index.records import ScopeKind
from recon.index.tables import Ref
from recon.records.path import Tier
from recon.records.verdict import Verdict

_SPEAKING = (Standing.PRESENT, Standing.PARTIAL)
_FARTHEST = 4
MOST_PLACES = 5
"""Places shown for one member."""


def settled(index: Index, verdict: Verdict, evidence: Sequence[Evidence]) -> Verdict:
    """A verdict with its reach as the call paths give it, and with a member for each runner that could be running.

    Args:
        index: The tree.
        verdict: What the evidence gave.
        evidence: All of it, not only the five places that are shown.
    """
    if verdict.standing not in _SPEAKING:
        return verdict
    reach, reason = verdict.reach, verdict.reason
    # A detector that says "wired" of places which no step leads to knows of another way: at start, in another process.
    if reach is Reach.DEFINED or (reach is None and index.steps.roots):
        reach = Reach.WIRED if any(each.scope for each in evidence) else Reach.DEFINED
        if reach is Reach.DEFINED and index.steps.roots:
            reason = f"{reason} {_why_unreached(index, verdict.evidence)}"
    members = verdict.members or _members(index, verdict, evidence)
    return replace(verdict, reach=reach, reason=reason, members=members)


def _members(index: Index, verdict: Verdict, evidence: Sequence[Evidence]) -> tuple[Member, ...]:
    """A member for each of the alternatives, if they do not all stand on the same places."""
    rows = {holder: _through(index, holder, evidence) for holder in _alternatives(index, evidence)}
    if len(set(rows.values())) < 2:
        return ()
    return tuple(_member(index, holder, verdict, places, evidence) for holder, places in rows.items())


def _alternatives(index: Index, evidence: Iterable[Evidence]) -> list[Ref]:
    """Runners and workers of which one is chosen where those that reach the evidence are, the default first."""
    reaching = {
        way.through: None
        for each in evidence
        if (ref := index.place(each.path, each.symbol)) is not None
        for way in index.steps.ways(ref)
        if way.through is not None
    }
    slots = {slot for holder in reaching for slot in _slots(index, holder)}
    found = [holder for holder in index.steps.driven_holders if slots & _slots(index, holder)]
    return sorted(found, key=lambda holder: (BY_CHOICE in index.label(holder), holder not in reaching, holder))


def _slots(index: Index, holder: Ref) -> set[tuple[str, int, str]]:
    picks = index.picks.of(holder)
    return {pick.slot for pick in picks if pick.condition and pick.slot[2] and not is_outskirts(pick.path)}


def _through(index: Index, holder: Ref, evidence: Iterable[Evidence]) -> tuple[Evidence, ...]:
    label = index.label(holder)
    return tuple(each for each in evidence if label in each.scope)


def _member(
    index: Index, holder: Ref, verdict: Verdict, places: tuple[Evidence, ...], evidence: Sequence[Evidence]
) -> Member:
    gates = tuple(
        Gate(pick.condition, pick.path, pick.line)
        for pick in index.picks.of(holder)
        if pick.condition and not is_outskirts(pick.path)
    )
    name = index.label(holder)
    if not places:
        reason = "None of the places is reached through it."
        return Member(name, Standing.ABSENT, None, reason, (), gates)
    if driver := _missing_driver(index, places, evidence):
        reason = f"It reaches only what is called from {driver} too, and not that."
        return Member(name, Standing.PARTIAL, Reach.WIRED, reason, places[:MOST_PLACES], gates)
    first = places[0]
    reason = f"{first.note[:1].upper()}{first.note[1:]}: {first.symbol}."
    return Member(name, verdict.standing, Reach.WIRED, reason, places[:MOST_PLACES], gates)


def _missing_driver(index: Index, places: Sequence[Evidence], evidence: Sequence[Evidence]) -> str:
    """A place that leads to all of some others and is not among them: these alone are parts, and not the thing."""
    targets = [index.place(each.path, each.symbol) for each in places]
    for each in evidence:
        start = index.place(each.path, each.symbol)
        if start is None or start in targets or not each.scope:
            continue
        if all(target is not None and index.steps.between(start, target, _FARTHEST) for target in targets):
            return each.symbol
    return ""


def _why_unreached(index: Index, evidence: Iterable[Evidence]) -> str:
    """Why nothing of this runs in a step."""
    places = {ref for each in evidence if (ref := index.place(each.path, each.symbol)) is not None}
    callers = _callers(index, places)
    if not callers:
        return "Nothing calls it."
    if all(is_outskirts(ref.path) or _is_test(index, ref) for ref in callers):
        return "It is called only from tests, examples or benchmarks."
    return "No path to it from the engine's step was found."


def _callers(index: Index, places: set[Ref]) -> set[Ref]:
    """The farthest callers of some places, the places themselves left out."""
    seen, row, ends = set(places), set(places), set[Ref]()
    for _ in range(_FARTHEST):
        above: set[Ref] = set()
        for ref in row:
            callers = {edge.source for edge in index.graph.edges_to(ref) if edge.tier is not Tier.GUESS}
            above |= callers - seen
            if not callers - {ref} and ref not in places:
                ends.add(ref)
        seen |= above
        row = above
    return ends | row


def _is_test(index: Index, ref: Ref) -> bool:
    row = index.files[ref.path].scopes[ref.scope]
    return row.kind is ScopeKind.FUNCTION and row.name.startswith("test")
