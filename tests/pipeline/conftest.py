"""The pipeline with folders of a test."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from recon import pipeline
from recon.pipeline import ScanTargets, Settings
from recon.ports import Progress, Silent
from recon.records.run import Run

Scan = Callable[..., Run]


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Folders of this test; sources are read in this process, since a worker takes a second to start."""
    return Settings(tmp_path / "cache", tmp_path / "state", compiled=True, workers=0)


@pytest.fixture
def scan(settings: Settings) -> Scan:
    """Scans folders and wheels."""

    def run(*paths: Path | str, progress: Progress | None = None, compiled: bool = True, workers: int = 0) -> Run:
        targets = ScanTargets(tuple(map(str, paths)), (), local=False)
        return pipeline.scan(targets, replace(settings, compiled=compiled, workers=workers), progress or Silent())

    return run
