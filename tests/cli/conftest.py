"""The command line in this process, with stages that answer what a test wants."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from recon import pipeline
from recon.cli.app import main
from recon.ports import Progress
from recon.records.run import Run
from recon.records.verdict import Capability
from recon.runs.files import save
from tests.report.hand import CAPABILITIES, probe, scan


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str


Recon = Callable[..., Ended]


@pytest.fixture
def recon_command(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Recon:
    """Runs `recon` with some words."""

    def run(*words: str) -> Ended:
        monkeypatch.setattr(sys, "argv", ["recon", *words])
        capfd.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        captured = capfd.readouterr()
        code = ended.value.code
        assert isinstance(code, int)
        return Ended(code, captured.out, captured.err)

    return run


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """The state folder that commands use."""
    return tmp_path / "recon-state"


@pytest.fixture
def saved(state: Path) -> tuple[Path, Path]:
    """A scan and a probe of one host, saved."""
    return save(scan(), state), save(probe(), state)


class Stages:
    """A pipeline that says what it was asked, and answers with runs made by hand."""

    def __init__(self) -> None:
        self.asked: list[tuple[object, object]] = []
        self.answer: Run | BaseException = scan()

    def scan(self, targets: object, settings: object, progress: Progress) -> Run:
        """Answer, or raise."""
        self.asked.append((targets, settings))
        progress.start("reading", 2)
        progress.advance(2)
        progress.finish()
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer

    probe = scan

    def capabilities(self) -> tuple[Capability, ...]:
        """Those of the runs made by hand."""
        return CAPABILITIES


@pytest.fixture
def stages(monkeypatch: pytest.MonkeyPatch) -> Stages:
    """Stand-ins for the stages, in place of the pipeline's."""
    made = Stages()
    for name in ("scan", "probe", "capabilities"):
        monkeypatch.setattr(pipeline, name, getattr(made, name))
    return made
