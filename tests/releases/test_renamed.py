"""Real releases in which every name is another: the standings stay, for they are judged by what code does."""

import os
from collections.abc import Iterable
from pathlib import Path

import pytest

from recon.pipeline import ScanTargets, Settings, scan
from recon.ports import Silent
from recon.records.run import Run
from recon.targets import Source, sources
from tests.releases.conftest import Release
from tests.renaming.parts import closure, evidence_files, lost, standings, won
from tests.renaming.scrambler import renamed

pytestmark = pytest.mark.release

MOST = 300
"""Files of the part that is small enough for every check."""


def files_of(name: str, tmp_path: Path) -> dict[str, bytes]:
    """The sources of a release that was scanned before."""
    settings = Settings(Path(os.environ["RECON_TEST_CACHE"]), tmp_path / "state", compiled=True, workers=0)
    (source,) = (
        each for each in sources(ScanTargets((), (name,), local=False), settings, Silent()) if isinstance(each, Source)
    )
    return {file.path: source.blobs.get(file.digest) for file in source.snapshot.files}


def rescanned(files: Iterable[tuple[str, bytes]], tmp_path: Path) -> Run:
    """The run over a tree that is written to a folder of its own; nothing is known of it before."""
    for path, data in files:
        (tmp_path / "tree" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "tree" / path).write_bytes(data)
    settings = Settings(tmp_path / "cache", tmp_path / "state", compiled=True, workers=2)
    return scan(ScanTargets((str(tmp_path / "tree"),), (), local=False), settings, Silent())


def test_a_renamed_part_of_a_release_is_judged_as_the_release_is(release: Release, tmp_path: Path) -> None:
    """The evidence of vLLM with what it imports first."""
    run = release("vllm==0.20.1")
    files = closure(files_of("vllm==0.20.1", tmp_path), evidence_files(run), MOST)
    after = standings(rescanned(renamed(files, "a part"), tmp_path))

    assert len(files) == MOST
    assert [] == lost(standings(run), after)
    assert [] == won(standings(run), after)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["vllm==0.20.1", "sglang==0.5.23"])
def test_a_renamed_release_is_judged_as_it_was(release: Release, tmp_path: Path, name: str) -> None:
    """The evidence with all that it imports, and with all of its CUDA."""
    run = release(name)
    files = closure(files_of(name, tmp_path), evidence_files(run))
    after = standings(rescanned(renamed(files, name), tmp_path))

    assert len(files) > MOST
    assert [] == lost(standings(run), after)
    assert [] == won(standings(run), after)
