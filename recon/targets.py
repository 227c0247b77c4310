"""From what the user named to trees that are ready to be indexed: the first half of the pipeline.

target ─facts─▶ Found ─sources─▶ Snapshot
"""

import os
import platform
import sys
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TypeAlias

from recon.errors import Fault, HostBusy, NoEngine, ReconError, Unreadable
from recon.facts.fact import Fact
from recon.facts.folder import find_in_folder
from recon.facts.gather import ask, gather
from recon.facts.gpus import GPUS
from recon.facts.installs import discover
from recon.facts.load import LOAD
from recon.facts.machine import MACHINE, Machine
from recon.facts.pythons import counted, pythons
from recon.facts.secrets import hidden
from recon.hosts.abreast import Job, abreast
from recon.hosts.audit import Audited, audit_for
from recon.hosts.limits import HOST_S, PHASE_S, limited
from recon.hosts.local import LocalShell
from recon.hosts.target import parse
from recon.ports import Coming, HostShell, Progress, Shell
from recon.records.host import Gpu, Host
from recon.records.install import Edits, Found
from recon.records.source import Snapshot
from recon.records.unknown import FOLDER, Unknown
from recon.sources.capture import NOT_ASKED
from recon.sources.edits import NOTHING, compare_with_record
from recon.sources.local import LocalTree
from recon.sources.remembered import RememberedTree
from recon.sources.remote import look
from recon.sources.store import BlobStore, passing_store

_OTHERWISE = "Name a tree with --path DIR, or read a published release with --release vllm==VERSION."
NO_GPUS = "its GPUs are not known: "
"""How the note of a host begins that did not tell them."""
THIS_MACHINE = "this machine"
"""Name of the target where nothing is named."""
RELEASES = Host("releases", "releases", "", (), ())
"""Stands for the machine of trees that no machine holds."""


@dataclass(frozen=True, slots=True)
class ScanTargets:
    """What is to be scanned."""

    paths: tuple[str, ...]
    releases: tuple[str, ...]
    local: bool
    """Look for the installs of this machine."""
    hosts: tuple[str, ...] = ()
    """Look for the installs of these, as they were typed."""
    bundles: tuple[str, ...] = ()
    """Files that `recon collect`'s script wrote."""
    runs: tuple[str, ...] = ()
    """Saved runs whose trees are judged anew, as they were read then."""

    @property
    def names(self) -> tuple[str, ...]:
        """Everything that was named, as it was typed."""
        return (
            *self.paths,
            *self.releases,
            *((THIS_MACHINE,) if self.local else ()),
            *self.hosts,
            *self.bundles,
            *self.runs,
        )


@dataclass(frozen=True, slots=True)
class Access:
    """How hosts are reached, and how long and when they may be asked."""

    connect: Callable[[str], AbstractContextManager[HostShell]]
    """By the name that was typed. Raises what stands in the way: Unreachable, Auth, HostKey."""
    budget_s: float = HOST_S
    max_load: float = 0.0
    """Processes for each core above which a host is left alone; 0 asks for no load."""
    environments: tuple[str, ...] = ()
    """Prefixes there that are looked at first, whether or not they would be found."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What a stage needs to know besides its targets."""

    cache_dir: Path
    state_dir: Path
    compiled: bool
    """Read the names in compiled libraries."""
    workers: int
    """Processes that read sources; 0 reads in this one."""
    access: Access | None = None
    """Where hosts are among the targets."""
    keeps_sources: bool = True
    """Keep the sources of hosts and bundles here; False keeps outlines, digests and cited lines, and brings the sources
    anew in each scan."""


@dataclass(frozen=True, slots=True)
class Source:
    """A tree that is ready to be indexed."""

    found: Found
    host: Host
    snapshot: Snapshot
    edits: Edits
    blobs: BlobStore
    """Where the bytes of the snapshot lie, until the next tree is asked for at least."""


@dataclass(frozen=True, slots=True)
class Done:
    """The last word of a target: all that it gives was taken up."""

    name: str
    """As in `ScanTargets.names`."""


Given: TypeAlias = Source | Host | Unknown | Coming | Done
"""What a target gives: trees, how many, the machine that they lie on, what stood in the way, and that this was all."""


def sources(targets: ScanTargets, settings: Settings, progress: Progress) -> Generator[Given, None, None]:
    """Everything that was named, in turn; hosts side by side.

    Raises:
        Usage: one of the hosts is none.
        ReconError: the only target failed before it gave a tree.
        Exception: likewise, by a fault of recon.
    """
    for typed in targets.hosts:
        parse(typed)  # its name is written down before it is reached
    named = (targets.paths, targets.releases, targets.hosts, targets.bundles, targets.runs)
    alone = sum(map(len, named)) + targets.local == 1
    given = False
    store = BlobStore(settings.cache_dir)
    with nullcontext(store) if settings.keeps_sources else passing_store() as foreign:
        for name, each in _each(targets, store, foreign, settings, progress):
            if not isinstance(each, ReconError):
                given = given or isinstance(each, Source)
                yield each
                continue
            fault = each.error if isinstance(each, Fault) else None
            if fault is not None:
                progress.advance(0)  # where a library made an error of a stop, this raises it anew
            if alone and not given:
                raise fault or each
            yield Unknown(each.word, name, each.sentence)
            yield Done(name)


def _each(
    targets: ScanTargets, store: BlobStore, foreign: BlobStore, settings: Settings, progress: Progress
) -> Iterator[tuple[str, Given | ReconError]]:
    """What each target gives, with its name; an error is its last word."""
    shell = LocalShell()
    steps: list[tuple[str, Callable[[], Iterator[Given]]]] = []
    if targets.paths:
        host = host_of(shell)
        seen: set[tuple[str, ...]] = set()
        steps += [
            (path, partial(_from_path, path, host, store, settings, progress, seen=seen))
            for path in dict.fromkeys(targets.paths)
        ]
    releases = dict.fromkeys(targets.releases)
    steps += [(name, partial(_from_release, name, store, settings, progress)) for name in releases]
    if targets.local:
        steps.append((THIS_MACHINE, partial(_from_machine, shell, store, settings, progress)))
    steps += [(name, partial(_from_bundle, name, foreign, settings, progress)) for name in targets.bundles]
    steps += [(name, partial(_from_run, name, store, settings)) for name in dict.fromkeys(targets.runs)]
    for name, step in steps:
        try:
            for each in step():
                yield name, each
            yield name, Done(name)
        except ReconError as error:
            yield name, error
        except Exception as error:  # noqa: BLE001 - the other targets are kept, whatever it is
            yield name, Fault.of(error)
    if targets.hosts:
        assert settings.access is not None, "hosts are named, and nothing says how they are reached"
        visits = [_Visit(name, settings.access, foreign, settings) for name in dict.fromkeys(targets.hosts)]
        yield from abreast([Job(each.typed, each.work, each.abort, each.summary) for each in visits], progress)


def _from_path(
    path: str, host: Host, store: BlobStore, settings: Settings, progress: Progress, *, seen: set[tuple[str, ...]]
) -> Iterator[Given]:
    """What lies at a path, but for what other paths have given: the same folder may have several names."""
    if path.endswith(".whl") and Path(path).is_file():
        if (where := (os.path.realpath(path),)) in seen:
            return
        seen.add(where)
        from recon.sources.release import open_wheel  # noqa: PLC0415 - what reads indexes and zips loads where it is named

        read = open_wheel(Path(path), store, progress, compiled=settings.compiled)
        yield Coming(1)
        yield Source(read.found, host, read.snapshot, NOTHING, store)
        return
    every = {_places_of(each): each for each in find_in_folder(path)}
    founds = [each for where, each in every.items() if where not in seen]
    seen.update(every)
    yield Coming(len(founds))
    for found in founds:
        yield _captured(found, host, store, settings, progress)


def _places_of(found: Found) -> tuple[str, ...]:
    """Where an install lies, by whatever name it was found, and the environment that it is an install of."""
    packages = (os.path.realpath(os.path.join(found.root, package)) for package in found.packages)  # noqa: PTH118
    return (os.path.realpath(found.provenance.environment or os.sep), *packages)


def _from_release(release: str, store: BlobStore, settings: Settings, progress: Progress) -> Iterator[Given]:
    from recon.sources.release import open_release  # noqa: PLC0415 - likewise

    read = open_release(release, store, progress, compiled=settings.compiled)
    yield Coming(1)
    yield Source(read.found, RELEASES, read.snapshot, NOTHING, store)


def _from_bundle(path: str, store: BlobStore, settings: Settings, progress: Progress) -> Iterator[Given]:
    from recon.collecting import read_bundle  # noqa: PLC0415 - likewise

    for each in read_bundle(Path(path), store, progress, compiled=settings.compiled):
        yield (
            each
            if isinstance(each, Unknown | Coming)
            else Source(each.found, each.host, each.snapshot, each.edits, store)
        )


def _from_run(name: str, store: BlobStore, settings: Settings) -> Iterator[Given]:
    from recon.rejudging import KeptTree, read_run  # noqa: PLC0415 - likewise

    for each in read_run(name, store, settings.state_dir, compiled=settings.compiled):
        yield Source(each.found, each.host, each.snapshot, each.edits, store) if isinstance(each, KeptTree) else each


def _from_machine(shell: Shell, store: BlobStore, settings: Settings, progress: Progress) -> Iterator[Given]:
    host, unlearned = surveyed(shell, (sys.prefix,))
    yield from unlearned
    found = yield from _discovered(host, shell)
    yield Coming(len(found))
    for each in found:
        yield _captured(each, host, store, settings, progress)


@dataclass(eq=False)
class _Visit:
    """One host, asked over one connection; everything that it is asked is written down and limited."""

    typed: str
    access: Access
    store: BlobStore
    settings: Settings
    _open: list[HostShell] = field(default_factory=list)
    _unread: list[Unknown] = field(default_factory=list)

    def work(self, progress: Progress) -> Iterator[Given]:
        """What it gives.

        Raises:
            ReconError: what stood in the way.
        """
        began = time.monotonic()
        progress.start("connecting", None)
        with closing(audit_for(self.typed, self.settings.state_dir)) as audit, self.access.connect(self.typed) as shell:
            self._open.append(shell)
            way = {"user": shell.user, "transport": shell.transport, "line": shell.line}
            yield from self._asked(limited(Audited(shell, audit, way), self.access.budget_s, began), shell, progress)
        self._open.clear()
        yield Done(self.typed)

    def summary(self) -> str:
        """How complete what it gave is."""
        folders = sum(gap.what == FOLDER for gap in self._unread)
        others = len(self._unread) - folders
        counts = ((folders, "folder"), (others, "file"))
        unread = ", ".join(f"{count:,} {word}{'s' * (count > 1)}" for count, word in counts if count)
        return f"transfer done; {unread} unread" if unread else "all is here"

    def abort(self) -> None:
        """Make whatever is waited for fail."""
        for shell in self._open:
            shell.abort()

    def _asked(self, shell: Shell, reached: HostShell, progress: Progress) -> Iterator[Given]:
        progress.start("looking for engines", None)
        if self.access.max_load:
            _leave_alone_if_busy(shell, self.access.max_load)
        host, unlearned = surveyed(shell, self.access.environments, reached.transport)
        printed = (f"before its answers it printed {hidden(reached.noise)!r}",) if reached.noise else ()
        host = replace(host, notes=(*reached.notes, *printed, *host.notes))
        yield host
        yield from unlearned
        found = yield from _discovered(host, shell)
        yield Coming(len(found))
        trees = look(shell, found, self.store, identity=f"{reached.identity} {host.id}")
        for each, tree in zip(found, trees, strict=True):
            if isinstance(tree, Unreadable):
                yield Unknown(tree.kind, each.root, tree.sentence)
                continue
            snapshot = tree.capture(progress, compiled=self.settings.compiled)
            self._unread += [gap for gap in snapshot.unread if gap.why != NOT_ASKED]
            yield Source(
                each, host, snapshot, compare_with_record(each, tree, snapshot=snapshot, store=self.store), self.store
            )


def _leave_alone_if_busy(shell: Shell, most: float) -> None:
    """Ask nothing more of a host that works.

    Raises:
        HostBusy: it does, or does not say.
    """
    values, unlearned = ask(shell, [LOAD])
    load = values.of(LOAD)
    if load is None:
        raise HostBusy(f"{shell.name}: {unlearned[0].why}", "Scan it without --max-load.")
    if load.per_core > most:
        raise HostBusy(
            f"{shell.name} was left alone: {load.per_core:.2f} processes for each of its {load.cores} cores",
            f"Scan it later, or with --max-load above {load.per_core:.2f}.",
        )


def surveyed(shell: Shell, prefixes: Sequence[str] | None, transport: str = "") -> tuple[Host, tuple[Unknown, ...]]:
    """A machine with its GPUs and Python environments, and what it did not say.

    Args:
        shell: The machine.
        prefixes: Of environments that are looked at first; None where none are looked for.
        transport: What the record says of how it was reached.

    Raises:
        ReconError: it did not answer, or not in time.
    """
    environments = pythons(prefixes or ())
    facts: list[Fact[object]] = [MACHINE] if prefixes is None else [MACHINE, environments]
    values, unlearned = ask(shell, facts, timeout_s=PHASE_S)
    listed = values.of(environments)
    gpus, sick = gather(shell, [GPUS])  # apart: a driver that hangs takes no other fact with it
    host = _host(shell, values.of(MACHINE), gpus.of(GPUS) or ())
    known = listed.environments if listed is not None else ()
    gaps = (*unlearned, *(listed.unknowns if listed is not None else ()))
    notes = (*(listed.notes if listed is not None else ()), *(f"{NO_GPUS}{each.why}" for each in sick))
    return replace(host, environments=known, transport=transport, notes=notes), gaps


def _discovered(host: Host, shell: Shell) -> Generator[Unknown, None, tuple[Found, ...]]:
    """The installs of a surveyed machine; gives what could not be seen.

    Raises:
        NoEngine: there is none.
    """
    found, unknowns = discover(shell, host.environments)
    yield from unknowns
    if not found:
        raise NoEngine(
            f"no engine is installed in the {counted(host.environments)} of {host.name}",
            " ".join((_OTHERWISE, *(f"{note[:1].upper()}{note[1:]}." for note in host.notes))),
        )
    return found


def _captured(found: Found, host: Host, store: BlobStore, settings: Settings, progress: Progress) -> Source:
    tree = RememberedTree(LocalTree(Path(found.root), found.packages), store)
    snapshot = tree.capture(progress, compiled=settings.compiled)
    return Source(found, host, snapshot, compare_with_record(found, tree, snapshot=snapshot, store=store), store)


def host_of(shell: Shell) -> Host:
    """What a machine says of itself."""
    values, _ = gather(shell, [MACHINE])
    gpus, _ = gather(shell, [GPUS])  # apart: a driver that hangs takes no other fact with it
    return _host(shell, values.of(MACHINE), gpus.of(GPUS) or ())


def _host(shell: Shell, machine: Machine | None, gpus: tuple[Gpu, ...]) -> Host:
    if machine is None:
        known = platform.platform() if isinstance(shell, LocalShell) else ""
        return Host(shell.name, shell.name, known, gpus, ())
    return Host(machine.machine_id or machine.hostname, shell.name, machine.platform, gpus, ())
