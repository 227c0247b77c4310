"""From a scanned tree to its acceptance functions, each cut out as a module that a probe can call.

Source ─index─▶ Index ─detectors─▶ CutFunction
"""

from recon.detectors.acceptors import acceptors
from recon.index.index import index_of, open_cache
from recon.index.tables import paused_gc
from recon.ports import Progress
from recon.records.cut import CutFunction
from recon.records.install import Install
from recon.sources.store import OUTLINES
from recon.targets import Settings, Source


def cut_out(source: Source, install: Install, settings: Settings, progress: Progress) -> tuple[CutFunction, ...]:
    """The acceptance functions of a tree, where its scan just said which they are.

    Args:
        source: The tree.
        install: What its scan said.
        settings: Where the caches are.
        progress: Told of each file.
    """
    with paused_gc(), open_cache(settings.cache_dir / OUTLINES) as cache:
        index = index_of(source.snapshot, source.blobs, cache, progress, settings.workers)
        return acceptors(index, install.id, install.verdicts)
