"""From findings to a verdict, by written rule.

1. Evidence of a sufficient grade makes a capability present. `declared` is sufficient for `drafter.*` and `metrics.*`;
   everything else asks for `shaped`.
2. A named part that is missing in every configuration makes it partial; where something was not read, the reason says
   that the part could lie there.
3. Without sufficient evidence it is unknown where something unread could hold the answer, and absent otherwise. An
   unknown rests on the calls that lead out of what was read.
4. Whatever is not sufficient evidence becomes a nearest miss.
"""

from dataclasses import replace

from recon.records.evidence import Evidence, Grade
from recon.records.findings import Findings
from recon.records.unknown import PACKAGE, PARTLY, Unknown
from recon.records.verdict import Searched, Standing, Verdict

MOST_PLACES = 5
NOTHING_ALIKE = "No code of this form"
"""How the reason begins where a detector gave none of its own and nothing was found."""
DECLARED_SUFFICES = ("drafter.", "metrics.")


def judge(capability: str, title: str, findings: Findings, searched: Searched) -> Verdict:
    """The verdict that findings and what was searched give."""
    least = Grade.DECLARED if capability.startswith(DECLARED_SUFFICES) else Grade.SHAPED
    proof = [each for each in findings.evidence if each.grade.rank >= least.rank]
    own = _own_blind(findings)
    blind = own or tuple(each for each in searched.unread if each.what != PARTLY)
    if proof:
        standing = Standing.PARTIAL if findings.lacks else Standing.PRESENT
        places = proof + [each for each in findings.evidence if each not in proof]
        shown, rest = tuple(places[:MOST_PLACES]), tuple(places[MOST_PLACES:])
        reason = findings.reason or _found(findings, proof)
        if findings.lacks and blind:
            reason = f"{reason} But {_could(blind, 'hold what is missing')}"
        nearest = (*rest, *findings.external.places, *findings.nearest)
        return Verdict(
            capability, standing, findings.reach, reason, shown, nearest, searched, findings.gates, findings.members
        )
    searched = replace(searched, unread=(*own, *searched.unread))
    standing = Standing.UNKNOWN if blind else Standing.ABSENT
    calls = findings.external.places
    nearest = (*calls[MOST_PLACES:], *findings.evidence, *findings.nearest)
    reason = _not_decided(title, blind) if blind else findings.reason or _not_found(title, nearest, searched)
    shown = calls[:MOST_PLACES]
    return Verdict(capability, standing, None, reason, shown, nearest, searched, findings.gates, findings.members)


def _found(findings: Findings, proof: list[Evidence]) -> str:
    if findings.lacks:
        return findings.lacks
    first = proof[0]
    return f"{first.note[:1].upper()}{first.note[1:]}: {first.symbol}."


def _not_found(title: str, nearest: tuple[Evidence, ...], searched: Searched) -> str:
    near = f"; the nearest is {nearest[0].symbol}: {nearest[0].note}" if nearest else ""
    functions = _count(searched.functions, "function")
    libraries = _count(searched.libraries, "compiled library", "compiled libraries")
    return (
        f"{NOTHING_ALIKE} ({_lower(title)}) among {functions}, {searched.kernels:,} of them kernels, "
        f"and {libraries}{near}."
    )


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


def _own_blind(findings: Findings) -> tuple[Unknown, ...]:
    """What could hold the answer to this question alone, and was not read."""
    return (*(Unknown(PACKAGE, name, "it was not scanned") for name in findings.external.names), *findings.unread)


def _not_decided(title: str, blind: tuple[Unknown, ...]) -> str:
    return f"Nothing of this form ({_lower(title)}) was seen, but {_could(blind, 'hold it')}"


def _could(blind: tuple[Unknown, ...], what: str) -> str:
    first = blind[0]
    more = f" and {len(blind) - 1} more" if len(blind) > 1 else ""
    return f"{first.where}{more} could {what}: {first.why}."


def _lower(title: str) -> str:
    return f"{title[:1].lower()}{title[1:]}"
