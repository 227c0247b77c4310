"""From what the user named to trees that are ready to be indexed: the first half of the pipeline.

target ─facts─▶ Found ─sources─▶ Snapshot
"""

import platform
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from recon.errors import NoEngine, ReconError
from recon.facts.folder import find_in_folder
from recon.facts.gather import gather
from recon.facts.gpus import GPUS
from recon.facts.installs import discover
from recon.facts.machine import MACHINE
from recon.facts.pythons import pythons
from recon.hosts.local import LocalShell
from recon.ports import Progress, Shell, SourceTree
from recon.records.host import Host, PythonEnv
from recon.records.install import Edits, Found
from recon.records.source import Snapshot
from recon.records.unknown import Unknown
from recon.sources.capture import capture
from recon.sources.edits import NOTHING, compare_with_record
from recon.sources.local import LocalTree
from recon.sources.release import open_release, open_wheel
from recon.sources.store import BlobStore

RELEASES = Host("releases", "releases", "", (), ())
"""Stands for the machine of trees that no machine holds."""


@dataclass(frozen=True, slots=True)
class ScanTargets:
    """What is to be scanned."""

    paths: tuple[str, ...]
    releases: tuple[str, ...]
    local: bool
    """Look for the installs of this machine."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What a stage needs to know besides its targets."""

    cache_dir: Path
    state_dir: Path
    compiled: bool
    """Read the names in compiled libraries."""
    workers: int
    """Processes that read sources; 0 reads in this one."""


@dataclass(frozen=True, slots=True)
class Source:
    """A tree that is ready to be indexed."""

    found: Found
    host: Host
    snapshot: Snapshot
    edits: Edits


def sources(targets: ScanTargets, settings: Settings, progress: Progress, unknowns: list[Unknown]) -> Iterator[Source]:
    """Every tree that was named, ready to be indexed; what stood in the way of some goes to `unknowns`.

    Raises:
        ReconError: the only target failed before it gave a tree.
    """
    store = BlobStore(settings.cache_dir)
    shell = LocalShell()
    steps: list[tuple[str, Callable[[], Iterator[Source]]]] = []
    if targets.paths:
        host = host_of(shell)
        steps += [(path, partial(_from_path, path, host, store, settings, progress)) for path in targets.paths]
    steps += [(name, partial(_from_release, name, store, settings, progress)) for name in targets.releases]
    if targets.local:
        steps.append(("this machine", partial(_from_machine, shell, store, settings, progress, unknowns)))
    given = False
    for name, step in steps:
        try:
            for source in step():
                given = True
                yield source
        except ReconError as error:
            if len(steps) == 1 and not given:
                raise
            unknowns.append(Unknown(error.kind, name, error.message))


def _from_path(path: str, host: Host, store: BlobStore, settings: Settings, progress: Progress) -> Iterator[Source]:
    if path.endswith(".whl") and Path(path).is_file():
        read = open_wheel(Path(path), store, progress, compiled=settings.compiled)
        yield Source(read.found, host, read.snapshot, NOTHING)
        return
    for found in find_in_folder(path):
        yield _captured(found, host, store, settings, progress)


def _from_release(release: str, store: BlobStore, settings: Settings, progress: Progress) -> Iterator[Source]:
    read = open_release(release, store, progress, compiled=settings.compiled)
    yield Source(read.found, RELEASES, read.snapshot, NOTHING)


def _from_machine(
    shell: Shell, store: BlobStore, settings: Settings, progress: Progress, unknowns: list[Unknown]
) -> Iterator[Source]:
    environments = pythons((sys.prefix,))
    values, unlearned = gather(shell, [environments])
    listed = values.of(environments)
    known: tuple[PythonEnv, ...] = listed.environments if listed is not None else ()
    found, more = discover(shell, known)
    unknowns += [*unlearned, *(listed.unknowns if listed is not None else ()), *more]
    if not found:
        raise NoEngine(
            f"no engine is installed in the {len(known)} Python environments of this machine",
            "Name a tree with --path DIR, or read a published release with --release vllm==VERSION.",
        )
    host = replace(host_of(shell), environments=known)
    for each in found:
        yield _captured(each, host, store, settings, progress)


def _captured(found: Found, host: Host, store: BlobStore, settings: Settings, progress: Progress) -> Source:
    tree: SourceTree = LocalTree(Path(found.root), found.packages)
    snapshot = capture(tree, store, progress, compiled=settings.compiled)
    return Source(found, host, snapshot, compare_with_record(found, tree, snapshot=snapshot, blobs=store))


def host_of(shell: Shell) -> Host:
    """What a machine says of itself."""
    values, _ = gather(shell, [MACHINE])
    machine = values.of(MACHINE)
    gpus, _ = gather(shell, [GPUS])  # apart: a driver that hangs takes no other fact with it
    if machine is None:
        return Host(shell.name, shell.name, platform.platform(), gpus.of(GPUS) or (), ())
    return Host(machine.machine_id or machine.hostname, shell.name, machine.platform, gpus.of(GPUS) or (), ())
