"""From scanned trees to their acceptance functions, each cut out as a module that a probe can call.

Source ─index─▶ Index ─detectors─▶ CutFunction
"""

from contextlib import closing

from recon.detectors.acceptors import acceptors
from recon.index.index import index_of, open_cache
from recon.index.tables import paused_gc
from recon.ports import Progress
from recon.records.cut import CutFunction
from recon.records.install import Install
from recon.sources.store import OUTLINES
from recon.targets import ScanTargets, Settings, Source, sources


def cut_out(
    targets: ScanTargets, installs: tuple[Install, ...], settings: Settings, progress: Progress
) -> tuple[CutFunction, ...]:
    """The acceptance functions of scanned trees.

    Args:
        targets: What was scanned.
        installs: What came of it.
        settings: Where the caches are.
        progress: Told of each file.
    """
    found: dict[str, tuple[CutFunction, ...]] = {}
    with closing(sources(targets, settings, progress)) as given:
        for source in given:
            if isinstance(source, Source):
                install = next((each for each in installs if _is_of(each, source) and each.id not in found), None)
                if install is not None:
                    found[install.id] = _cut(source, install, settings, progress)
    return tuple(function for some in found.values() for function in some)


def _is_of(install: Install, source: Source) -> bool:
    return install.source_digest == source.snapshot.digest and install.host == source.host.name


def _cut(source: Source, install: Install, settings: Settings, progress: Progress) -> tuple[CutFunction, ...]:
    with paused_gc(), open_cache(settings.cache_dir / OUTLINES) as cache:
        index = index_of(source.snapshot, source.blobs, cache, progress, settings.workers)
        return acceptors(index, install.id, install.verdicts)
