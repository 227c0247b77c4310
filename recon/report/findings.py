"""Verdicts arranged for reading: each with its places, its excerpts, and what was searched."""

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from recon.records.evidence import Evidence
from recon.records.install import Engine, Excerpt, Install
from recon.records.path import CallPath
from recon.records.unknown import PACKAGE, Unknown
from recon.records.verdict import Capability, Gate, Member, Searched, Standing, Verdict
from recon.report.numbers import count, counted
from recon.report.text import slug, visible
from recon.report.words import CALLS, GRADES, KERNEL_PACKAGES, REACHES, STANDINGS, TIERS, Word, group_of

EXCERPT_LINES = 6
MOST_ROOTS = 3
"""Roots named beside one place; the run file holds them all."""
_BESIDE = ("method ", "backend ")
"""What a place needs besides the runner."""
_CHOSEN = " by "
"""Between a runner and what chooses it where it is not the default."""


@dataclass(frozen=True, slots=True)
class SourceLine:
    """One line of an excerpt."""

    number: int
    text: str
    marked: bool
    """Whether the evidence points at this line."""


@dataclass(frozen=True, slots=True)
class Place:
    """One piece of evidence, in words."""

    path: str
    line: int
    symbol: str
    grade: str
    """How it was recognised, in words."""
    scope: str
    note: str
    excerpt: tuple[SourceLine, ...]
    """At most six lines; empty where the run holds none."""

    @property
    def at(self) -> str:
        """The place as `path:line`."""
        return f"{self.path}:{self.line}"


@dataclass(frozen=True, slots=True)
class MemberView:
    """One of several answers inside a verdict."""

    name: str
    word: Word
    reach: str
    reason: str
    places: tuple[Place, ...]
    gates: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Station:
    """One hop of a call path, in words."""

    at: str
    symbol: str
    onward: str
    """How it calls the next one and how sure that is; empty at the end."""
    sure: bool


@dataclass(frozen=True, slots=True)
class Route:
    """One call path, in words."""

    through: str
    """The runner or worker on it; empty if unknown."""
    stations: tuple[Station, ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """One verdict of one install, with all that a doubter wants to see."""

    anchor: str
    install: str
    """Id of the install."""
    label: str
    """The install as people call it."""
    host: str
    capability: str
    title: str
    group: str
    standing: Standing
    word: Word
    reach: str
    """`connected` and the like; empty where it was not asked."""
    assuming: str
    """The roots that the best place needs, e.g. `runner V1, method dflash`; empty if unknown."""
    reason: str
    places: tuple[Place, ...]
    nearest: tuple[Place, ...]
    extent: str
    """What was examined: files, functions, kernels, libraries."""
    examined: str
    """How many functions were read in full for this question, e.g. `412`."""
    shapes: tuple[str, ...]
    unread: tuple[Unknown, ...]
    way_out: str
    """What to scan beside it where a kernel package keeps an answer open; empty if none does."""
    gates: tuple[str, ...]
    members: tuple[MemberView, ...]
    paths: tuple[Route, ...]
    """The best first."""
    help: str
    own_standing: str = ""
    """What the user says instead, in words; empty where nothing is said."""
    own_reason: str = ""
    """Why, and in which file."""

    @property
    def answer(self) -> str:
        """Standing and reach in words: `yes, connected`; and what the user says instead: `no; you say yes`."""
        seen = f"{self.word.text}, {self.reach}" if self.reach else self.word.text
        return f"{seen}; you say {self.own_standing}" if self.own_standing else seen

    @property
    def own_word(self) -> str:
        """The user's own word as a sentence; empty where there is none."""
        return f"You say {self.own_standing}: {self.own_reason}" if self.own_standing else ""

    @property
    def searched(self) -> str:
        """What stands behind an absence, in one sentence."""
        return f"Searched {self.extent}; {self.examined} of the functions read in full"

    @property
    def speaks(self) -> Place | None:
        """The place to show first: the best evidence, or else the nearest miss."""
        return next(iter((*self.places, *self.nearest)), None)


def label_of(install: Install) -> str:
    """An install as people call it: `vllm 0.20.1`."""
    return install.label


def way_out(install: Install, verdicts: Iterable[Verdict]) -> str:
    """The command that scans the kernel packages which keep answers open; empty where there is none."""
    asked = (each for verdict in verdicts if verdict.standing is Standing.UNKNOWN for each in verdict.searched.unread)
    packages = dict.fromkeys(each.where.partition(".")[0] for each in asked if each.what == PACKAGE)
    known = [package for package in packages if package in KERNEL_PACKAGES]
    if not known or install.engine is Engine.OTHER:
        return ""
    if install.version and (install.provenance.kind == "release" or install.provenance.environment):
        named = [f"--release {install.engine.value.replace('_', '-')}=={install.version}"]
        named += [f"--release {KERNEL_PACKAGES[package][0]}==VERSION" for package in known]
    else:
        named = [f"--path {shlex.quote(install.location)}", *(f"--path TREE_OR_WHEEL_OF_{each}" for each in known)]
    others = [f"{each} in other releases" for package in known for each in KERNEL_PACKAGES[package][1:]]
    also = f" ({', '.join(others)})" if others and named[0].startswith("--release") else ""
    noun = "package" if len(known) == 1 else "packages"
    return f"Scan the kernel {noun} beside it: recon scan {' '.join(named)}{also}"


def unrecognised(installs: Iterable[Install]) -> str:
    """That trees are of no engine that is known, in a sentence; empty if all are."""
    where = ", ".join(dict.fromkeys(each.location for each in installs if each.engine is Engine.OTHER))
    return f"No engine is known by this name ({visible(where)}): judged by the same rules." if where else ""


def findings_of(install: Install, host: str, capabilities: Mapping[str, Capability]) -> tuple[Finding, ...]:
    """The verdicts of an install, in the order of the run."""
    excerpts = _by_place(install.excerpts)
    return tuple(
        _finding(install, host, verdict, capabilities.get(verdict.capability), excerpts) for verdict in install.verdicts
    )


def extent_of(searched: Searched) -> str:
    """What was examined before a verdict was given."""
    return (
        f"{counted(searched.files, 'file')}, {counted(searched.functions, 'function')},"
        f" {counted(searched.kernels, 'kernel')}, {counted(searched.libraries, 'library', 'libraries')}"
    )


def shortened(scope: Sequence[str]) -> str:
    """The roots that reach a place: the first few, and how many more."""
    more = f" and {len(scope) - MOST_ROOTS} more" if len(scope) > MOST_ROOTS else ""
    return ", ".join(scope[:MOST_ROOTS]) + more


def assumed(scope: Sequence[str]) -> str:
    """What has to be running for a place to be reached: the default runner where there is one, and a backend."""
    others = {kind: [root for root in scope if root.startswith(kind)] for kind in _BESIDE}
    holders = [root for root in scope if not root.startswith(_BESIDE)]
    default = [root for root in holders if _CHOSEN not in root]
    parts = [*(default[:1] or [_any_of(holders)]), *map(_any_of, others.values())]
    return ", ".join(filter(None, parts))


def _any_of(roots: Sequence[str]) -> str:
    """`runner A`, or `one of runner A, runner B and 2 more`."""
    return shortened(roots) if len(roots) < 2 else f"one of {shortened(roots)}"


def _finding(
    install: Install,
    host: str,
    verdict: Verdict,
    capability: Capability | None,
    excerpts: Mapping[tuple[str, int], Excerpt],
) -> Finding:
    own = verdict.own_word
    scope = verdict.evidence[0].scope if verdict.evidence and verdict.reach is not None else ()
    return Finding(
        anchor=f"v-{slug(install.id)}--{slug(verdict.capability)}",
        install=install.id,
        label=label_of(install),
        host=host,
        capability=verdict.capability,
        title=capability.title if capability else verdict.capability,
        group=group_of(verdict.capability),
        standing=verdict.standing,
        word=STANDINGS[verdict.standing],
        reach=REACHES[verdict.reach] if verdict.reach else "",
        assuming=assumed(scope),
        reason=verdict.reason,
        places=_places(verdict.evidence, excerpts),
        nearest=_places(verdict.nearest, excerpts),
        extent=extent_of(verdict.searched),
        examined=count(verdict.searched.examined),
        shapes=verdict.searched.shapes,
        unread=verdict.searched.unread,
        way_out=way_out(install, [verdict]),
        gates=_gates(verdict.gates),
        members=tuple(_member(member, excerpts) for member in verdict.members),
        paths=tuple(
            Route(", ".join(path.through), _stations(path))
            for path in install.paths
            if path.capability == verdict.capability
        ),
        help=capability.help if capability else "",
        own_standing=STANDINGS[own.standing].text if own else "",
        own_reason=f"{own.reason} ({own.origin})" if own else "",
    )


def _member(member: Member, excerpts: Mapping[tuple[str, int], Excerpt]) -> MemberView:
    return MemberView(
        name=member.name,
        word=STANDINGS[member.standing],
        reach=REACHES[member.reach] if member.reach else "",
        reason=member.reason,
        places=_places(member.evidence, excerpts),
        gates=_gates(member.gates),
    )


def _gates(gates: Iterable[Gate]) -> tuple[str, ...]:
    return tuple(
        f"{gate.condition} ({gate.path}:{gate.line})" + (f": {gate.message}" if gate.message else "") for gate in gates
    )


def _stations(path: CallPath) -> tuple[Station, ...]:
    return tuple(
        Station(
            at=f"{hop.path}:{hop.line}",
            symbol=hop.symbol,
            onward=f"{CALLS.get(hop.dispatch, hop.dispatch)}, {TIERS[hop.tier]}" if hop.dispatch else "",
            sure=hop.tier.value == "certain" or not hop.dispatch,
        )
        for hop in path.hops
    )


def _places(evidence: Iterable[Evidence], excerpts: Mapping[tuple[str, int], Excerpt]) -> tuple[Place, ...]:
    return tuple(
        Place(
            path=each.path,
            line=each.line,
            symbol=each.symbol,
            grade=GRADES[each.grade],
            scope=shortened(each.scope),
            note=each.note,
            excerpt=_lines(excerpts.get((each.path, each.line)), each.line),
        )
        for each in evidence
    )


def _by_place(excerpts: Iterable[Excerpt]) -> dict[tuple[str, int], Excerpt]:
    """Excerpts by each line that they show; of two that show a line, the one that starts nearest above it."""
    table: dict[tuple[str, int], Excerpt] = {}
    for excerpt in sorted(excerpts, key=lambda each: each.line):
        for offset in range(len(_capped(excerpt.text))):
            table[excerpt.path, excerpt.line + offset] = excerpt
    return table


def _capped(text: str) -> list[str]:
    return text.split("\n")[:EXCERPT_LINES]


@lru_cache(maxsize=4096)  # verdicts, members and installs that are alike show the same lines
def _lines(excerpt: Excerpt | None, marked: int) -> tuple[SourceLine, ...]:
    if excerpt is None:
        return ()
    return tuple(
        SourceLine(number, text.removesuffix("\r"), number == marked)
        for number, text in enumerate(_capped(excerpt.text.rstrip("\n")), start=excerpt.line)
    )
