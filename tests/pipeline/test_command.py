"""The command line as a run keeps it."""

import sys
from pathlib import Path

import pytest

from recon.pipeline import ScanTargets, Settings, scan
from recon.ports import Silent


def test_no_secret_of_the_command_line_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Credentials, queries and fragments of addresses go; the other words stay as they were typed."""
    package = tmp_path / "engine"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "step.py").write_text("def step(x):\n    return x\n")
    typed = ["scan", "--path", str(tmp_path), "--index=https://me:hunter2@index.example/a?token=hunter2#hunter2"]
    monkeypatch.setattr(sys, "argv", ["recon", *typed])
    settings = Settings(tmp_path / "cache", tmp_path / "state", compiled=True, workers=0)

    run = scan(ScanTargets((str(tmp_path),), (), local=False), settings, Silent())

    assert (*typed[:3], "--index=https://index.example/a") == run.command
