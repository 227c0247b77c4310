"""A run arranged for reading: what every format shows, in which order, in which words, with which counts.

Formats lay this out; none of them counts, rounds or words anything itself, so that the terminal, the page and the
JSON cannot disagree.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from recon.records.estimate import Estimate
from recon.records.host import Host, by_name
from recon.records.install import Edits, Install
from recon.records.policy import PolicyFailure
from recon.records.run import Run, Searched
from recon.records.unknown import Unknown
from recon.records.verdict import Standing
from recon.report.behaviours import Seen, seen
from recon.report.curves import knees_words
from recon.report.findings import Finding, findings_of, label_of, way_out
from recon.report.leading import Leading, leading, ordered
from recon.report.numbers import age, count, counted, seconds, size
from recon.report.timings import TimingGroup, groups_of, ratios_words
from recon.report.words import DECISIONS, STANDINGS, rank_of
from recon.runs.files import kind_of


@dataclass(frozen=True, slots=True)
class Source:
    """A run that a view shows, and where it is kept."""

    kind: str
    """`scan`, `probe` or `estimate`."""
    name: str
    """File name of the saved run; empty if it was not saved."""
    run: Run


@dataclass(frozen=True, slots=True)
class DecisionView:
    """One estimate in words."""

    label: str
    """The install; empty when no tree was scanned."""
    word: str
    """Whether a tree would pay."""
    runs: str
    """Whether one can run: `yes`, `partly`, `no`, `cannot tell`; empty where no install was judged."""
    sentence: str
    because: tuple[str, ...]
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Column:
    """One install as a column of the matrix."""

    install: str
    label: str
    host: str
    location: str
    origin: str
    """Where it comes from and whether its files are those of the release."""
    counts: str
    """e.g. `14 yes, 3 partly, 8 no, 1 cannot tell`."""
    way_out: str
    """What to scan beside it where a kernel package keeps answers open; empty if none does."""


@dataclass(frozen=True, slots=True)
class Row:
    """One capability as a row of the matrix; a None stands where an install was not asked."""

    capability: str
    title: str
    group: str
    cells: tuple[Finding | None, ...]


@dataclass(frozen=True, slots=True)
class Limit:
    """What was read of one install."""

    label: str
    host: str
    read: str
    edits: str
    unread: tuple[Unknown, ...]


@dataclass(frozen=True, slots=True)
class HostView:
    """One host in words."""

    name: str
    platform: str
    gpus: tuple[str, ...]
    installs: tuple[str, ...]
    environments: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Method:
    """One run that the view rests on."""

    kind: str
    command: str
    started: str
    age: str
    name: str
    version: str
    complete: bool


@dataclass(frozen=True, slots=True)
class View:
    """Everything that a format shows, in its order."""

    run: Run
    """The runs as one: what a machine reads."""
    title: str
    lead: str
    """The decision in one sentence: the first thing that anybody reads."""
    also: tuple[str, ...]
    """The decisions that the first sentence tells only in brief, each in a sentence."""
    decisions: tuple[DecisionView, ...]
    """Those of installs that can run a tree first."""
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    counts: str
    timings: tuple[TimingGroup, ...]
    behaviours: tuple[Seen, ...]
    findings: tuple[Finding, ...]
    limits: tuple[Limit, ...]
    unknowns: tuple[Unknown, ...]
    hosts: tuple[HostView, ...]
    method: tuple[Method, ...]
    complete: bool
    failures: tuple[PolicyFailure, ...] = ()
    """Where the run falls short of what the user demands; none where nothing was demanded."""


def compose(run: Run, sources: Sequence[Source], now: datetime, failures: Sequence[PolicyFailure] = ()) -> View:
    """Arrange a run.

    Args:
        run: What is shown: a run, or several joined into one.
        sources: The runs that it was made of.
        now: The moment that ages are counted to.
        failures: Where the run falls short of what the user demands.
    """
    hosts = by_name(run.hosts)
    capabilities = {capability.id: capability for capability in run.capabilities}
    findings = [
        (install, findings_of(install, _name(hosts, install.host), capabilities)) for install in _ordered(run.installs)
    ]
    searched = {each.install: each for each in run.searched}
    estimates = ordered(run.estimates)
    decisions = tuple(_decision(estimate, run.installs) for estimate in estimates)
    first = leading(estimates, run.installs, run.hosts) or Leading(_undecided(run), ())
    everything = tuple(
        sorted((each for _, some in findings for each in some), key=lambda each: rank_of(each.capability))
    )
    return View(
        run=run,
        title=", ".join(host.name for host in run.hosts) or "recon",
        lead=first.lead,
        also=first.others,
        decisions=decisions,
        columns=_told_apart([_column(install, _name(hosts, install.host), some) for install, some in findings]),
        rows=_rows([install for install, _ in findings], everything),
        counts=_counts(everything),
        timings=groups_of(run.measurements, run.estimates, _hosts_of_engines(run, hosts)),
        behaviours=seen(run.behaviours),
        findings=everything,
        limits=tuple(_limit(install, _name(hosts, install.host), searched.get(install.id)) for install, _ in findings),
        unknowns=run.unknowns,
        hosts=tuple(_host(host, [each for each in run.installs if hosts.get(each.host) == host]) for host in run.hosts),
        method=tuple(_method(source, now) for source in sources),
        complete=run.complete,
        failures=tuple(failures),
    )


def narrowed(view: View, standings: Collection[Standing]) -> View:
    """The view with those verdicts alone of which one of these standings was seen; counts and all else stay whole."""
    rows = (
        replace(row, cells=tuple(cell if cell and cell.standing in standings else None for cell in row.cells))
        for row in view.rows
    )
    return replace(
        view,
        rows=tuple(row for row in rows if any(row.cells)),
        findings=tuple(each for each in view.findings if each.standing in standings),
    )


def counts_of(standings: Iterable[Standing]) -> str:
    """How often each standing was given: `14 yes, 3 partly, 8 no, 1 cannot tell`; what does not apply comes last."""
    table = Counter(standings)
    parts = [
        f"{count(table[standing])} {word.text}"
        for standing, word in STANDINGS.items()
        if table[standing] or standing in (Standing.ABSENT, Standing.UNKNOWN)
    ]
    return ", ".join(parts)


def _counts(findings: Sequence[Finding]) -> str:
    """How often each standing was seen, and on how many of them the user has another word."""
    said = sum(bool(each.own_standing) for each in findings)
    return counts_of(each.standing for each in findings) + (
        f"; on {count(said)} you have your own word" if said else ""
    )


def edits_words(edits: Edits) -> str:
    """Whether the files are those that the installer wrote."""
    if not edits.checked:
        return "nothing to compare its files with"
    changes = [
        f"{count(len(names))} {word}"
        for names, word in ((edits.modified, "modified"), (edits.missing, "missing"), (edits.added, "added"))
        if names
    ]
    files = counted(edits.checked, "file")
    return f"{', '.join(changes)} of {files}" if changes else f"{files} as installed"


def _undecided(run: Run) -> str:
    """What is said first where there is no decision."""
    if run.installs:
        return "Only kernel packages were scanned; they answer through the engine that calls them."
    if any(each.spread for each in run.measurements):
        return "Kernels were timed, and no engine was scanned with them."
    if run.measurements:
        return "Kernels were checked or built, none was timed, and no engine was scanned."
    where = ", ".join(host.name for host in run.hosts)
    if kind_of(run) == "probe":
        return f"No kernel was measured{f' on {where}' if where else ''}."
    return f"No engine was found{f' on {where}' if where else ''}."


def _decision(estimate: Estimate, installs: Iterable[Install]) -> DecisionView:
    label = next((label_of(install) for install in installs if install.id == estimate.subject), "")
    return DecisionView(
        label=label,
        word=DECISIONS[estimate.decision],
        runs=STANDINGS[estimate.runs].text if estimate.runs is not None else "",
        sentence=estimate.sentence,
        because=(*estimate.because, *ratios_words(estimate.ratios), *knees_words(estimate.knees)),
        missing=estimate.missing,
    )


def _ordered(installs: Iterable[Install]) -> list[Install]:
    """Engines before the kernel packages that they call; otherwise in the order found."""
    return sorted(installs, key=lambda install: install.engine.is_companion)


def _hosts_of_engines(run: Run, hosts: dict[str, Host]) -> list[Host]:
    engines = [install.host for install in run.installs if not install.engine.is_companion]
    return [hosts[host] for host in dict.fromkeys(engines) if host in hosts]


def _name(hosts: dict[str, Host], host: str) -> str:
    return hosts[host].name if host in hosts else host


def _column(install: Install, host: str, findings: Sequence[Finding]) -> Column:
    kind = install.provenance.kind
    origin = f"{kind}, {edits_words(install.edits)}" if install.edits.checked or kind != "release" else kind
    if install.provenance.note:
        origin += f"; {install.provenance.note}"
    return Column(
        install=install.id,
        label=label_of(install),
        host=host,
        location=install.location,
        origin=origin,
        counts=_counts(findings),
        way_out=way_out(install, install.verdicts),
    )


def _told_apart(columns: Sequence[Column]) -> tuple[Column, ...]:
    """Columns of several hosts, each with its host's name where another has the same label."""
    hosts: dict[str, set[str]] = {}
    for column in columns:
        hosts.setdefault(column.label, set()).add(column.host)
    return tuple(
        replace(column, label=f"{column.label} on {column.host}") if len(hosts[column.label]) > 1 else column
        for column in columns
    )


def _rows(installs: Sequence[Install], findings: Iterable[Finding]) -> tuple[Row, ...]:
    rows: dict[str, dict[str, Finding]] = {}
    for finding in findings:
        rows.setdefault(finding.capability, {})[finding.install] = finding
    return tuple(
        Row(
            capability=capability,
            title=next(iter(cells.values())).title,
            group=next(iter(cells.values())).group,
            cells=tuple(cells.get(install.id) for install in installs),
        )
        for capability, cells in rows.items()
    )


def _limit(install: Install, host: str, searched: Searched | None) -> Limit:
    if searched is None:
        read = "no record of what was read"
    else:
        read = (
            f"{counted(searched.python_files, 'Python file')}, {counted(searched.cuda_files, 'CUDA file')},"
            f" {counted(searched.functions, 'function')}, {counted(searched.classes, 'class', 'classes')},"
            f" {counted(searched.kernels, 'kernel')}, {counted(searched.unread, 'file')} unread, and the names of"
            f" {counted(searched.libraries, 'compiled library', 'compiled libraries')}, in {seconds(searched.seconds)}"
        )
    unread = dict.fromkeys(each for verdict in install.verdicts for each in verdict.searched.unread)
    return Limit(label_of(install), host, read, edits_words(install.edits), tuple(unread))


def _host(host: Host, installs: Iterable[Install]) -> HostView:
    return HostView(
        name=host.name,
        platform="; ".join(
            filter(None, (host.platform, host.transport and f"reached by {host.transport}", *host.notes))
        ),
        gpus=tuple(
            f"{gpu.name} (sm_{gpu.capability[0]}{gpu.capability[1]}, {size(gpu.memory_bytes)}, driver {gpu.driver})"
            for gpu in host.gpus
        ),
        installs=tuple(label_of(install) for install in installs),
        environments=tuple(f"{each.prefix} ({each.kind}, Python {each.version or '?'})" for each in host.environments),
    )


def _method(source: Source, now: datetime) -> Method:
    return Method(
        kind=source.kind,
        command=" ".join(source.run.command),
        started=source.run.started_at,
        age=age(source.run.started_at, now),
        name=source.name,
        version=source.run.recon_version,
        complete=source.run.complete,
    )
