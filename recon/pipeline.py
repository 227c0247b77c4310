"""The one file that sees all stages: from what the user named to a run.

target ─▶ Source (`recon.targets`) ─index─▶ Index ─detectors─▶ Findings ─verdicts─▶ Verdict ─▶ Run
GPU ─probes─▶ Measurement ─▶ Run            Run ─estimates─▶ Estimate
"""

import re
import sys
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from hashlib import blake2b
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from recon import __version__
from recon.errors import Fault, Interrupted, ReconError, Unreadable
from recon.estimates.decision import decide
from recon.facts.names import PACKAGE_OF
from recon.facts.secrets import hidden, hidden_in
from recon.facts.texts import redact
from recon.index.versions import is_graph_kept
from recon.index.versions import version as graph_version
from recon.plugins import DETECTORS, is_offered
from recon.ports import Coming, Named, Progress
from recon.records.estimate import Estimate
from recon.records.host import Host
from recon.records.install import Engine, Found, Install
from recon.records.run import SCHEMA_VERSION, Run, Searched
from recon.records.source import Snapshot
from recon.records.unknown import CACHE, TARGET, Unknown
from recon.records.verdict import Capability
from recon.rejudging import keep_whole
from recon.runs.judged import Judged, fingerprint, from_bytes, to_bytes
from recon.sources.store import BlobStore
from recon.targets import RELEASES, Done, Given, Source, sources
from recon.targets import ScanTargets as ScanTargets  # noqa: PLC0414 - named where a scan is asked for
from recon.targets import Settings as Settings  # noqa: PLC0414 - likewise
from recon.verdicts.companions import settle

if TYPE_CHECKING:
    from recon.probing import ProbeRequest
    from recon.records.cut import CutFunction

_JUDGING = ("recon.detectors", "recon.index", "recon.records", "recon.verdicts")
"""Packages whose code has a say in answers."""
_NAME_CHARACTERS = 32
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://\S+")


@dataclass(eq=False)
class _Learned:
    """What a scan has learned so far: what is saved when it is interrupted."""

    started_at: str = field(default_factory=lambda: datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"))
    hosts: list[Host] = field(default_factory=list)
    installs: list[Install] = field(default_factory=list)
    unknowns: list[Unknown] = field(default_factory=list)
    searched: list[Searched] = field(default_factory=list)
    coming: int = 0
    """Trees that were found, judged or not."""
    done: set[str] = field(default_factory=set)
    """Targets of which everything is judged."""
    faults: list[Exception] = field(default_factory=list)
    """Faults of recon in the judging of single trees."""
    judged_by: tuple[Capability, ...] = ()
    """What could be judged, as far as answers say it."""
    also: Callable[[Source, Install], None] | None = None
    """Given each tree that was judged."""

    def run(self, *, complete: bool) -> Run:
        installs = settle(with_companions(tuple(self.installs)), _package_of)
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
            capabilities=self.judged_by or capabilities(),
            unknowns=hidden_in(tuple(self.unknowns)),
            searched=tuple(self.searched),
            complete=complete,
        )


def without_secrets(word: str) -> str:
    """A word of the command line with the credentials of the addresses in it taken out."""
    return hidden(_ADDRESS.sub(lambda found: redact(found[0]), word))


def capabilities() -> tuple[Capability, ...]:
    """What can be judged, with the page of each."""
    from recon.detectors import registry  # noqa: PLC0415 - all detectors: a scan whose answers are known needs none

    return registry.capabilities()


def detectors_unheard() -> tuple[Unknown, ...]:
    """Detectors of other distributions that cannot be asked, and why."""
    if not is_offered(DETECTORS):
        return ()
    from recon.detectors import registry  # noqa: PLC0415 - likewise

    return registry.unheard()


def scan(
    targets: ScanTargets, settings: Settings, progress: Progress, also: Callable[[Source, Install], None] | None = None
) -> Run:
    """Find the trees that were named, read them and judge them.

    A target that fails among several becomes an unknown of the run; a single one raises its error.

    Args:
        targets: What was named.
        settings: Where caches and state are, and how hosts are reached.
        progress: Told of each file.
        also: Given each tree that was judged, while its sources are at hand.

    Raises:
        NotFound: a path or release does not exist, and nothing else was named.
        NoEngine: nothing was found in the only place named, or on this machine.
        Interrupted: the user stopped it; what was learned is inside.
    """
    learned = _Learned(also=also)
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
        _judge_into(learned, source, settings, progress)
    except ReconError as error:  # this tree is lost, the others are not
        learned.unknowns.append(Unknown(error.kind, source.found.location, error.message))
    except Exception as error:  # noqa: BLE001 - likewise, whatever it is
        progress.advance(0)  # where a library made an error of a stop, this raises it anew
        learned.faults.append(error)
        learned.unknowns.append(Unknown(Fault.kind, source.found.location, Fault.of(error).sentence))


def _judge_into(learned: _Learned, source: Source, settings: Settings, progress: Progress) -> None:
    """Judge one tree, or take the answers that an equal tree was given by the same code."""
    started = time.monotonic()
    store = BlobStore(settings.cache_dir)
    key = _key_of(source.snapshot)
    judged = _known(store, key, source.snapshot, settings)
    if judged is None:
        from recon import judging  # noqa: PLC0415 - likewise

        named = Named(f"{_name_of(source.found)} {source.found.version}".strip(), progress)
        judged, is_settled = judging.judged(source, settings, named, learned.unknowns)
        judged = _to_be_shown(judged)
        if is_settled and settings.keeps_sources:
            learned.unknowns += _kept_for_later(store, key, judged)
    install = install_of(source, judged, {each.id for each in learned.installs})
    if settings.keeps_sources:
        install = replace(install, read=_kept_whole(learned, source, settings))
    learned.installs.append(install)
    learned.judged_by = judged.capabilities
    learned.unknowns += [Unknown(each.what, f"{install.id}:{each.where}", each.why) for each in judged.unread]
    learned.searched.append(judged.searched_for(install.id, round(time.monotonic() - started, 1)))
    if learned.also is not None:
        learned.also(source, install)


def _to_be_shown(judged: Judged) -> Judged:
    """Answers without the credentials in what they quote of the tree."""
    verdicts, paths, excerpts = hidden_in((judged.verdicts, judged.paths, judged.excerpts))
    return replace(judged, verdicts=verdicts, paths=paths, excerpts=excerpts)


def _known(store: BlobStore, key: str, snapshot: Snapshot, settings: Settings) -> Judged | None:
    """The answers that an equal tree was given, if its graph is still there to be asked as well."""
    return from_bytes(store.load_note(key)) if is_graph_kept(snapshot, settings.cache_dir) else None


def _kept_for_later(store: BlobStore, key: str, judged: Judged) -> tuple[Unknown, ...]:
    try:
        store.save_note(key, to_bytes(judged))
    except Unreadable as error:
        return (Unknown(CACHE, str(store.root), f"the answers are not kept: {error.message}"),)
    return ()


def _kept_whole(learned: _Learned, source: Source, settings: Settings) -> str:
    """The digest by which all that was read can be judged anew; '' where it cannot be kept."""
    try:
        return keep_whole(source.snapshot, BlobStore(settings.cache_dir))
    except Unreadable as error:
        learned.unknowns.append(Unknown(CACHE, str(settings.cache_dir), f"what was read is not kept: {error.message}"))
        return ""


def _key_of(snapshot: Snapshot) -> str:
    """Of all that has a say in the answers: what was read of the tree, what could not be, and the code that judges."""
    digest = blake2b(fingerprint(snapshot), digest_size=16)
    return f"judged {_judging_version()} {digest.hexdigest()}"


@cache
def _judging_version() -> str:
    digest = blake2b(f"{graph_version()} {_foreign_version()}".encode(), digest_size=16)
    judging = [file for package in _JUDGING for file in sorted(Path(str(files(package))).rglob("*.py"))]
    facts = Path(str(files("recon.facts")))
    for file in (*judging, facts / "secrets.py", facts / "secret_names.py"):  # what is kept is kept without secrets
        digest.update(file.name.encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()


def _foreign_version() -> str:
    """Of the detectors of other distributions."""
    if not is_offered(DETECTORS):
        return ""
    from recon.detectors import registry  # noqa: PLC0415 - likewise

    return registry.shapes_version()


def install_of(source: Source, judged: Judged, taken: set[str]) -> Install:
    """One judged tree as a record."""
    found = source.found
    stem = f"{_name_of(found)}-{found.version or 'unknown'}-{source.snapshot.digest[:6]}"
    name = next(name for name in (stem, *(f"{stem}-{n}" for n in range(2, 10_000))) if name not in taken)
    install = Install(
        id=name,
        host=source.host.name,
        engine=found.engine,
        version=found.version,
        location=found.provenance.origin if source.host is RELEASES else found.location,
        source_digest=source.snapshot.digest,
        provenance=found.provenance,
        companions=(),
        edits=source.edits,
        verdicts=(),
        paths=(),
        excerpts=(),
    )
    return replace(hidden_in(install), verdicts=judged.verdicts, paths=judged.paths, excerpts=judged.excerpts)


def _name_of(found: Found) -> str:
    """The engine, or what tells trees of unknown engines apart: the name of the folder."""
    engine = str(found.engine.value)
    if found.engine is not Engine.OTHER:
        return engine
    name = re.sub(r"[^A-Za-z0-9._+]+", "_", Path(found.location if found.named else found.packages[0]).name)
    return name[:_NAME_CHARACTERS].strip("_.") or engine


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


def probe(request: "ProbeRequest", settings: Settings, progress: Progress) -> Run:
    """Run the bundled kernels, here or on a host, and record what they took.

    A line that was cut, or a payload that died, leaves a run that is not complete.

    Raises:
        NoGpu, NoTorch, GpuBusy: there is nothing to run on.
        Unreachable: the host did not answer, and nothing was measured.
        Interrupted: the user stopped it; what was measured is inside.
    """
    from recon import probing  # noqa: PLC0415 - a scan starts without what runs kernels

    learned = _Learned()
    functions, standings = _acceptance(request, settings, progress) if request.engine_baselines else ((), {})
    found = probing.probed(request, settings, progress, functions, standings)
    result, hosts = found.result, (found.host,)
    run = replace(
        learned.run(complete=result.complete),
        hosts=hosts,
        measurements=hidden_in(result.measurements),
        estimates=decide((), hosts, result.measurements),
        unknowns=hidden_in(result.unknowns),
        behaviours=hidden_in(found.behaviours),
    )
    if result.stopped:
        raise Interrupted(run)
    return run


def estimated(estimates: tuple[Estimate, ...], hosts: tuple[Host, ...]) -> Run:
    """A run that holds estimates alone, of the hosts that they are about."""
    return replace(_Learned().run(complete=True), hosts=hosts, estimates=estimates, capabilities=())


def _acceptance(
    request: "ProbeRequest", settings: Settings, progress: Progress
) -> "tuple[tuple[CutFunction, ...], dict[tuple[str, str], str]]":
    """The acceptance functions of the engines that are there, with what is said of each engine's capabilities."""
    from recon.cutting import cut_out  # noqa: PLC0415 - likewise

    functions: list[CutFunction] = []
    hosts = (request.host,) if request.host and not request.engines else ()
    targets = ScanTargets(request.engines, (), not (hosts or request.engines), hosts)

    def cutting(source: Source, install: Install) -> None:
        functions.extend(cut_out(source, install, settings, progress))

    try:
        run = scan(targets, settings, progress, cutting)
    except Interrupted:  # answers that came are in the cache, and a scan they would make is not what was asked for
        raise Interrupted(_Learned().run(complete=False)) from None
    standings = {(each.id, one.capability): one.standing.value for each in run.installs for one in each.verdicts}
    return tuple(functions), standings
