"""The one file that sees all stages: from what the user named to a run.

target ─▶ Source (`recon.targets`) ─index─▶ Index ─detectors─▶ Findings ─verdicts─▶ Verdict ─▶ Run
GPU ─probes─▶ Measurement ─▶ Run            Run ─estimates─▶ Estimate
"""

import re
import sqlite3
import sys
import time
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from hashlib import blake2b
from importlib.resources import files
from pathlib import Path

from recon import __version__
from recon.collecting import Coming
from recon.detectors.calls import paths_of
from recon.detectors.gates import WANTED, asked_paths, gates_of
from recon.detectors.members import settled
from recon.detectors.registry import capabilities as known_capabilities
from recon.detectors.registry import choices, detectors, findings_of, shapes_version, unheard
from recon.detectors.survey import survey
from recon.errors import Fault, Interrupted, ReconError, Unreadable
from recon.estimates.decision import decide
from recon.facts.names import PACKAGE_OF
from recon.facts.secrets import hidden, hidden_in
from recon.facts.texts import redact
from recon.hosts.local import LocalShell
from recon.index.cache import CACHE as CACHE  # noqa: PLC0414 - for the command line, which does not see the index
from recon.index.graph import Graph
from recon.index.index import Index, index_of, open_cache
from recon.index.names import Names
from recon.index.parts import is_graph_kept, keep
from recon.index.parts import version as graph_version
from recon.index.pycg import by_names
from recon.index.reading import DIED
from recon.index.tables import paused_gc
from recon.ports import Progress
from recon.probes.plan import LEVELS, plan_compile, plan_gpu, plan_interpret
from recon.probes.run import ProbeResult, compile_only, probe_gpu, probe_interpret
from recon.records.callgraph import CallGraph
from recon.records.host import Host
from recon.records.install import Excerpt, Install
from recon.records.path import CallPath
from recon.records.run import SCHEMA_VERSION, Run
from recon.records.run import Searched as RunSearched
from recon.records.source import Snapshot
from recon.records.unknown import FOLDER, PARTLY, TARGET, Unknown
from recon.records.verdict import Capability, Searched, Verdict
from recon.runs.judged import Judged, fingerprint, from_bytes, to_bytes
from recon.sources.capture import capture
from recon.sources.local import LocalTree
from recon.sources.store import OUTLINES, BlobStore
from recon.targets import RELEASES, Done, Given, Source, host_of, sources
from recon.targets import ScanTargets as ScanTargets  # noqa: PLC0414 - named where a scan is asked for
from recon.targets import Settings as Settings  # noqa: PLC0414 - likewise
from recon.verdicts.companions import settle
from recon.verdicts.judge import judge

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://\S+")
FEW_FILES = 200
"""A folder with no more files is read faster in one process, without a cache."""
EXCERPT_LINES = 6
EXCERPT_COLUMNS = 400
MOST_NEAREST = 8
"""Nearest misses kept for each verdict."""


@dataclass(frozen=True, slots=True)
class ProbeRequest:
    """What is to be probed, and how."""

    mode: str
    """`gpu`, `interpret` or `compile`."""
    level: str
    """`quick` or `full`."""
    gpu: str
    allow_busy: bool
    archs: tuple[int, ...]
    python: str


@dataclass(eq=False)
class _Learned:
    """What a scan has learned so far: what is saved when it is interrupted."""

    started_at: str = field(default_factory=lambda: datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"))
    hosts: list[Host] = field(default_factory=list)
    installs: list[Install] = field(default_factory=list)
    unknowns: list[Unknown] = field(default_factory=list)
    searched: list[RunSearched] = field(default_factory=list)
    coming: int = 0
    """Trees that were found, judged or not."""
    done: set[str] = field(default_factory=set)
    """Targets of which everything is judged."""
    faults: list[Exception] = field(default_factory=list)
    """Faults of recon in the judging of single trees."""

    def run(self, *, complete: bool) -> Run:
        installs = hidden_in(settle(with_companions(tuple(self.installs)), _package_of))
        hosts = tuple(dict.fromkeys(self.hosts))
        return Run(
            schema_version=SCHEMA_VERSION,
            recon_version=__version__,
            command=tuple(without_secrets(word) for word in sys.argv[1:]),
            started_at=self.started_at,
            hosts=hosts,
            installs=installs,
            measurements=(),
            estimates=decide(installs, hosts, ()),
            capabilities=capabilities(),
            unknowns=hidden_in(tuple(self.unknowns)),
            searched=tuple(self.searched),
            complete=complete,
        )


def without_secrets(word: str) -> str:
    """A word of the command line with the credentials of the addresses in it taken out."""
    return hidden(_ADDRESS.sub(lambda found: redact(found[0]), word))


def capabilities() -> tuple[Capability, ...]:
    """What can be judged, with the page of each."""
    return known_capabilities()


def detectors_unheard() -> tuple[Unknown, ...]:
    """Detectors of other distributions that cannot be asked, and why."""
    return unheard()


def scan(targets: ScanTargets, settings: Settings, progress: Progress) -> Run:
    """Find the trees that were named, read them and judge them.

    A target that fails among several becomes an unknown of the run; a single one raises its error.

    Raises:
        NotFound: a path or release does not exist, and nothing else was named.
        NoEngine: nothing was found in the only place named, or on this machine.
        Interrupted: the user stopped it; what was learned is inside.
    """
    learned = _Learned()
    learned.unknowns += detectors_unheard()
    try:
        _scan_into(learned, targets, settings, progress)
        if learned.faults and not learned.installs:
            raise learned.faults[0]
    except KeyboardInterrupt:
        left = dict.fromkeys(name for name in targets.names if name not in learned.done)
        learned.unknowns += [
            Unknown(TARGET, hidden(name), "the scan was stopped before it was judged") for name in left
        ]
        raise Interrupted(learned.run(complete=False), learned.coming) from None
    return learned.run(complete=True)


def _scan_into(learned: _Learned, targets: ScanTargets, settings: Settings, progress: Progress) -> None:
    try:
        with closing(sources(targets, settings, progress)) as all_given:
            for given in all_given:
                _take(learned, given, settings, progress)
    except Exception:
        progress.advance(0)  # where a library made an error of a stop, this raises it anew
        raise


def _take(learned: _Learned, given: Given, settings: Settings, progress: Progress) -> None:
    match given:
        case Unknown():
            learned.unknowns.append(given)
        case Host():
            learned.hosts.append(given)
        case Source():
            learned.hosts.append(given.host)
            _judge_or_say(learned, given, settings, progress)
        case Coming():
            learned.coming += given.installs
        case Done():
            learned.done.add(given.name)


def _judge_or_say(learned: _Learned, source: Source, settings: Settings, progress: Progress) -> None:
    try:
        with paused_gc():
            _judge_into(learned, source, settings, progress)
    except ReconError as error:  # this tree is lost, the others are not
        learned.unknowns.append(Unknown(error.kind, source.found.root, error.message))
    except Exception as error:  # noqa: BLE001 - likewise, whatever it is
        progress.advance(0)  # where a library made an error of a stop, this raises it anew
        learned.faults.append(error)
        learned.unknowns.append(Unknown(Fault.kind, source.found.root, Fault.of(error).sentence))


def _judge_into(learned: _Learned, source: Source, settings: Settings, progress: Progress) -> None:
    """Judge one tree, or take the answers that an equal tree was given by the same code."""
    started = time.monotonic()
    store = BlobStore(settings.cache_dir)
    key = _key_of(source.snapshot)
    judged = _known(store, key, source.snapshot, settings)
    if judged is None:
        judged, is_settled = _judged(learned, source, settings, progress)
        if is_settled and settings.keeps_sources:
            learned.unknowns += _kept_for_later(store, key, judged)
    install = install_of(source, judged.verdicts, judged.paths, {each.id for each in learned.installs})
    learned.installs.append(install)
    learned.unknowns += [
        Unknown(gap.what, f"{install.id}:{gap.where}", gap.why) for gap in source.snapshot.unread if gap.what == FOLDER
    ]
    learned.searched.append(judged.searched_for(install.id, round(time.monotonic() - started, 1)))


def _judged(learned: _Learned, source: Source, settings: Settings, progress: Progress) -> tuple[Judged, bool]:
    """Index one tree and judge it; whether an equal tree would be given the same answers."""
    store = source.blobs
    with open_cache(settings.cache_dir / OUTLINES) as cache:
        index = index_of(source.snapshot, store, cache, progress, settings.workers)
        index.ask(survey, shapes_version(), choices(), store, cache, progress=progress, workers=settings.workers)
        index.ask_refusals(WANTED, asked_paths(index), store, cache, progress)
        learned.unknowns += cache.notes
    verdicts = verdicts_of(index, progress)
    paths = tuple(path for verdict in verdicts for path in paths_of(index, verdict))
    learned.unknowns += kept(index, settings.cache_dir)
    counts = index.counts
    searched = RunSearched(
        install="",
        python_files=counts.python_files,
        cuda_files=counts.cuda_files,
        functions=counts.functions,
        classes=counts.classes,
        kernels=counts.kernels,
        libraries=counts.libraries,
        unread=sum(each.what != PARTLY for each in index.unread),
        seconds=0.0,
    )
    return Judged(verdicts, paths, searched), DIED not in index.refused.values()


def _known(store: BlobStore, key: str, snapshot: Snapshot, settings: Settings) -> Judged | None:
    """The answers that an equal tree was given, if its graph is still there to be asked as well."""
    return from_bytes(store.load_note(key)) if is_graph_kept(snapshot, settings.cache_dir) else None


def _kept_for_later(store: BlobStore, key: str, judged: Judged) -> tuple[Unknown, ...]:
    try:
        store.save_note(key, to_bytes(judged))
    except Unreadable as error:
        return (Unknown(CACHE, str(store.root), f"the answers are not kept: {error.message}"),)
    return ()


def _key_of(snapshot: Snapshot) -> str:
    """Of all that has a say in the answers: what was read of the tree, what could not be, and the code that judges."""
    digest = blake2b(fingerprint(snapshot), digest_size=16)
    return f"judged {_judging_version()} {digest.hexdigest()}"


@cache
def _judging_version() -> str:
    digest = blake2b(f"{shapes_version()} {graph_version()}".encode(), digest_size=16)
    for package in ("detectors", "index", "records", "verdicts"):
        for file in sorted(Path(str(files(f"recon.{package}"))).rglob("*.py")):
            digest.update(file.name.encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()


def kept(index: Index, cache_dir: Path) -> tuple[Unknown, ...]:
    """Keep what later questions about a tree need; why that was not possible, which costs no verdict."""
    try:
        keep(index, cache_dir)
    except (OSError, sqlite3.Error, ValueError) as error:
        return (Unknown(CACHE, str(cache_dir), f"the graph for `recon find` and `recon paths` is not kept: {error}"),)
    return ()


def verdicts_of(index: Index, progress: Progress) -> tuple[Verdict, ...]:
    """The verdict of every detector on one tree."""
    progress.start("judging", len(detectors()))
    verdicts = []
    for detector in detectors():
        counts = index.counts
        findings, troubles = findings_of(detector, index)
        searched = Searched(
            files=counts.python_files + counts.cuda_files,
            functions=counts.functions,
            kernels=counts.kernels,
            examined=index.examined_for(shape.id for shape in detector.shapes),
            libraries=counts.libraries,
            shapes=tuple(shape.words for shape in detector.shapes),
            unread=(*index.unread, *troubles),
        )
        verdict = settled(index, judge(detector.capability, detector.title, findings, searched), findings.evidence)
        gates = verdict.gates or (gates_of(index, verdict.capability, verdict.evidence) if verdict.evidence else ())
        verdicts.append(replace(verdict, nearest=verdict.nearest[:MOST_NEAREST], gates=gates))
        progress.advance(note=detector.capability)
    progress.finish()
    return tuple(verdicts)


def install_of(source: Source, verdicts: tuple[Verdict, ...], paths: tuple[CallPath, ...], taken: set[str]) -> Install:
    """One judged tree as a record."""
    found = source.found
    stem = f"{found.engine.value}-{found.version or 'unknown'}-{source.snapshot.digest[:6]}"
    name = next(name for name in (stem, *(f"{stem}-{n}" for n in range(2, 10_000))) if name not in taken)
    return Install(
        id=name,
        host=source.host.name,
        engine=found.engine,
        version=found.version,
        location=found.provenance.origin if source.host is RELEASES else found.root,
        source_digest=source.snapshot.digest,
        provenance=found.provenance,
        companions=(),
        edits=source.edits,
        verdicts=verdicts,
        paths=paths,
        excerpts=excerpts_of(verdicts, source.snapshot, source.blobs),
    )


def excerpts_of(verdicts: tuple[Verdict, ...], snapshot: Snapshot, store: BlobStore) -> tuple[Excerpt, ...]:
    """A few lines of source around each place, each place once."""
    digests = {file.path: file.digest for file in snapshot.files}
    places = {(each.path, each.line) for verdict in verdicts for each in (*verdict.evidence, *verdict.nearest)}
    found = []
    for path, line in sorted(places):
        if path not in digests:
            continue
        try:
            lines = store.get(digests[path]).splitlines()  # of bytes: text would also be cut at form feeds
        except Unreadable:  # the cache lost it since it was read; the place stands, its lines are not shown
            continue
        first = max(1, line - 2)
        shown = [each.decode("utf-8", "replace") for each in lines[first - 1 : first - 1 + EXCERPT_LINES]]
        found.append(Excerpt(path, first, "\n".join(text[:EXCERPT_COLUMNS] for text in shown)))
    return tuple(found)


def _package_of(install: Install) -> str:
    return PACKAGE_OF.get(install.engine, "")


def with_companions(installs: tuple[Install, ...]) -> tuple[Install, ...]:
    """Engines with the ids of the kernel packages that lie in the same environment, or were named beside them."""

    def beside(one: Install, other: Install) -> bool:
        return one.host == other.host and one.provenance.environment == other.provenance.environment

    return tuple(
        install
        if install.engine.is_companion
        else replace(install, companions=tuple(o.id for o in installs if o.engine.is_companion and beside(install, o)))
        for install in installs
    )


def callgraph(folder: Path, settings: Settings, progress: Progress) -> CallGraph:
    """Who calls whom in a folder of Python, as a scan sees it.

    Args:
        folder: It holds the modules and packages: their names are counted from it.
        settings: Where the caches are, and how many processes read.
        progress: Told of each file.
    """
    whole = folder.resolve()
    store = BlobStore(settings.cache_dir)
    snapshot = capture(LocalTree(whole.parent, (whole.name,)), store, progress, compiled=False)
    workers = settings.workers if len(snapshot.files) > FEW_FILES else 0
    with open_cache(settings.cache_dir / OUTLINES) as cache:
        index = index_of(snapshot, store, cache, progress, workers)
    inside = {path.partition("/")[2]: outline for path, outline in index.files.items()}
    return by_names(Graph(Names(inside)), index.unread)


def probe(request: ProbeRequest, settings: Settings, progress: Progress) -> Run:  # noqa: ARG001 - as every stage
    """Run the bundled kernels and record what they took.

    Raises:
        NoGpu, NoTorch, GpuBusy: there is nothing to run on.
        Interrupted: the user stopped it; what was measured is inside.
    """
    learned = _Learned()
    host = host_of(LocalShell())
    result = _probed(request, progress)
    base = learned.run(complete=result.complete)
    gpus = result.gpus or host.gpus
    hosts = (replace(host, gpus=gpus),)
    run = replace(
        base,
        hosts=hosts,
        measurements=result.measurements,
        estimates=decide((), hosts, result.measurements),
        unknowns=result.unknowns,
    )
    if not result.complete:
        raise Interrupted(run)
    return run


def _probed(request: ProbeRequest, progress: Progress) -> ProbeResult:
    if request.mode == "interpret":
        return probe_interpret(python=request.python, progress=progress)
    if request.mode == "compile":
        return compile_only(request.archs, python=request.python, progress=progress)
    return probe_gpu(
        request.level, gpu=request.gpu, allow_busy=request.allow_busy, python=request.python, progress=progress
    )


def plan(request: ProbeRequest) -> object:
    """What a probe would do, as the payload would be told."""
    if request.mode == "interpret":
        return plan_interpret()
    if request.mode == "compile":
        return plan_compile(request.archs or (90, 100, 120))
    return plan_gpu(LEVELS[request.level], gpu=request.gpu, allow_busy=request.allow_busy)
