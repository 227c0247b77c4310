"""Published releases, each scanned once in a session as `recon scan --release` does."""

import fcntl
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
    """Scans a release by name; blobs, outlines and answers are kept between sessions.

    One worker at a time scans a release: the next finds the answers.
    """
    folder = Path(os.environ["RECON_TEST_CACHE"])
    folder.mkdir(parents=True, exist_ok=True)
    state = tmp_path_factory.mktemp("state")

    @cache
    def scanned(name: str, *, compiled: bool = True) -> Run:
        settings = Settings(folder, state, compiled=compiled, workers=2)
        with (folder / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            return scan(ScanTargets((), (name,), local=False), settings, Silent())

    return scanned
