"""What the tests of releases ask of a run."""

from recon.records.evidence import Evidence, Grade
from recon.records.install import Install
from recon.records.run import Run
from recon.records.verdict import Standing, Verdict


def install(run: Run) -> Install:
    """The one install of a run."""
    (found,) = run.installs
    return found


def verdict(run: Run, capability: str) -> Verdict:
    """The verdict on one capability."""
    (found,) = (each for each in install(run).verdicts if each.capability == capability)
    return found


def places(run: Run, capability: str) -> dict[str, str]:
    """By symbol, the file of the best place of that name that speaks for a capability."""
    return {each.symbol: each.path for each in reversed(verdict(run, capability).evidence)}


def scopes(run: Run, capability: str) -> dict[str, tuple[str, ...]]:
    """By symbol, the roots that reach each place that speaks for a capability."""
    return {each.symbol: each.scope for each in verdict(run, capability).evidence}


def shown(run: Run, place: Evidence) -> str:
    """The source line of a place, as the run carries it; '' if it does not."""
    for excerpt in install(run).excerpts:
        lines = excerpt.text.split("\n")
        if excerpt.path == place.path and 0 <= place.line - excerpt.line < len(lines):
            return lines[place.line - excerpt.line]
    return ""


def unshown(run: Run) -> list[str]:
    """Places of evidence and near misses of which the run carries no line."""
    found = [place for each in install(run).verdicts for place in (*each.evidence, *each.nearest)]
    return [f"{place.path}:{place.line}" for place in found if not shown(run, place).strip()]


def signless(run: Run, capability: str, *signs: str) -> list[str]:
    """Shaped places of a capability whose line, as shown, holds none of these signs."""
    return [
        f"{place.symbol}: {shown(run, place)}"
        for place in verdict(run, capability).evidence
        if place.grade is Grade.SHAPED and not any(sign in shown(run, place) for sign in signs)
    ]


def gates(run: Run, capability: str) -> list[tuple[str, str, str]]:
    """Path, condition and message of each gate of a capability."""
    return [(each.path, each.condition, each.message) for each in verdict(run, capability).gates]


def ways(run: Run, capability: str) -> dict[str, list[list[str]]]:
    """The call paths of a capability as the symbols on them, by the runner or worker that they lead through."""
    found: dict[str, list[list[str]]] = {}
    for path in install(run).paths:
        if path.capability == capability:
            found.setdefault(", ".join(path.through), []).append([hop.symbol for hop in path.hops])
    return found


def members(run: Run, capability: str) -> dict[str, Standing]:
    """The standing of each member of a capability."""
    return {each.name: each.standing for each in verdict(run, capability).members}
