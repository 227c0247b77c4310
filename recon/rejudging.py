"""From a saved run to trees that can be judged anew: what a scan read and kept, without the machine that it lies on."""

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import TypeAlias

from recon.errors import Fault, NotFound, Unreadable
from recon.ports import Coming
from recon.records.host import Host, by_name
from recon.records.install import Edits, Engine, Found, Install
from recon.records.run import Run
from recon.records.source import Snapshot
from recon.records.unknown import CACHE, TARGET, Unknown
from recon.runs.files import load, resolve
from recon.runs.judged import fingerprint
from recon.sources.capture import without_libraries
from recon.sources.store import BlobStore

_ANEW = "Scan it again."


@dataclass(frozen=True, slots=True)
class KeptTree:
    """A tree as it was read once; its bytes lie in the store."""

    found: Found
    host: Host
    snapshot: Snapshot
    edits: Edits


Given: TypeAlias = Host | Unknown | Coming | KeptTree


def keep_whole(snapshot: Snapshot, store: BlobStore) -> str:
    """Keep all that was read of a tree, and return the digest that it is found by.

    The digest of a tree counts libraries by their sizes; here the names in them count too, so that no other machine can
    put in other ones.

    Raises:
        Unreadable: the store cannot be written.
    """
    digest = _digest_of(snapshot)
    if store.load_snapshot(_key(digest)) is None:
        store.save_snapshot(_key(digest), snapshot)
    return digest


def read_run(name: str, store: BlobStore, state_dir: Path, *, compiled: bool) -> Iterator[Given]:
    """The hosts and trees of a saved run, as they were then, and what is not known of them any more.

    Args:
        name: A file, or a name of `recon runs list`.
        store: Where sources are kept.
        state_dir: Where runs are kept.
        compiled: False leaves the names in compiled libraries out.

    Raises:
        NotFound: there is no such run, or it is of no tree.
        Unreadable: it cannot be read, or nothing of its trees is kept.
    """
    run = load(resolve(name, state_dir))
    if not run.installs:
        raise NotFound(f"{name} holds no install that could be judged", "`recon runs list` shows the saved runs.")
    yield from run.hosts
    yield from _unlearned(run)
    trees = [(install, _kept(install, store)) for install in run.installs]
    gone = [each for _, each in trees if isinstance(each, Unreadable)]
    if len(gone) == len(trees):
        raise gone[0]
    yield Coming(len(trees))
    hosts = by_name(run.hosts)
    for install, kept in trees:
        if isinstance(kept, Unreadable):
            yield Unknown(kept.kind, install.id, kept.sentence)
            continue
        host = hosts.get(install.host, Host(install.host, install.host, "", (), ()))
        snapshot = kept if compiled else without_libraries(kept)
        yield KeptTree(_found(install, snapshot), host, snapshot, install.edits)


def _kept(install: Install, store: BlobStore) -> Snapshot | Unreadable:
    """All that was read of an install, or why it cannot be judged anew."""
    if not install.read:
        return Unreadable(f"of {install.id} it was not kept what was read", _ANEW)
    snapshot = store.load_snapshot(_key(install.read))
    if snapshot is None or _digest_of(snapshot) != install.read:
        return Unreadable(f"what was read of {install.id} is not in the cache any more", _ANEW)
    gone = sum(not store.has(file.digest) for file in snapshot.files)
    if gone:
        return Unreadable(
            f"of {install.id}, {gone:,} of {len(snapshot.files):,} sources are not in the cache any more", _ANEW
        )
    return snapshot


def _found(install: Install, snapshot: Snapshot) -> Found:
    """Where it lay, as far as the run tells; it gets the id that it had."""
    packages = tuple(dict.fromkeys(file.path.partition("/")[0] for file in snapshot.files))
    stem = install.id.rpartition(f"-{install.version or 'unknown'}-")[0]
    return Found(
        engine=install.engine,
        version=install.version,
        root=install.location,
        packages=(stem, *packages) if install.engine is Engine.OTHER and stem else packages,
        dist_info="",
        provenance=install.provenance,
    )


def _unlearned(run: Run) -> Iterator[Unknown]:
    """What the run did not learn, but for what is asked again: files of its trees, caches, faults of the judging."""
    ids = tuple(f"{each.id}:" for each in run.installs)
    for each in run.unknowns:
        if each.what == Fault.kind:
            yield Unknown(TARGET, each.where, "it was not judged then, by a fault of recon")
        elif not each.where.startswith(ids) and each.what != CACHE:
            yield each


def _digest_of(snapshot: Snapshot) -> str:
    return blake2b(fingerprint(snapshot), digest_size=16).hexdigest()


def _key(digest: str) -> str:
    return f"read {digest}"
