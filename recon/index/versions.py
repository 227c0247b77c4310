"""By which code a graph was kept, and whether it still is: all that a scan asks whose answers are known."""

from functools import cache
from hashlib import blake2b
from importlib import resources
from pathlib import Path

import msgspec

from recon.index.cache import version_of
from recon.kept.store import is_kept, path_of
from recon.records.source import Snapshot


def is_graph_kept(snapshot: Snapshot, cache_dir: Path) -> bool:
    """Whether this version of recon has kept the graph of a tree, and it is still there.

    The digest of a tree counts libraries by their size. What was read of them, on a host that may have made it up or in
    a scan that left them out, is part of what must be equal.
    """
    return is_kept(path_of(cache_dir, snapshot.digest), version_for(snapshot))


@cache
def version() -> str:
    """Of everything that has a say in what is kept."""
    modules = sorted(file.name for file in resources.files("recon.index").iterdir() if file.name.endswith(".py"))
    return version_of(tuple(name.removesuffix(".py") for name in modules))


def version_for(snapshot: Snapshot) -> str:
    """Of everything that has a say in what is kept of one tree."""
    read = msgspec.msgpack.encode((snapshot.libraries, snapshot.unread))
    return f"{version()} {blake2b(read, digest_size=16).hexdigest()}"
