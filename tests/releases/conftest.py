"""Published releases, each scanned once in a session as `recon scan --release` does."""

import os
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from recon.pipeline import ScanTargets, Settings, scan
from recon.ports import Silent
from recon.records.run import Run

Release = Callable[..., Run]


@pytest.fixture(scope="session")
def release(tmp_path_factory: pytest.TempPathFactory) -> Release:
    """Scans a release by name; blobs, outlines and answers are kept between sessions."""
    folder = Path(os.environ["RECON_TEST_CACHE"])
    state = tmp_path_factory.mktemp("state")

    @cache
    def scanned(name: str, *, compiled: bool = True) -> Run:
        settings = Settings(folder, state, compiled=compiled, workers=2)
        return scan(ScanTargets((), (name,), local=False), settings, Silent())

    return scanned
