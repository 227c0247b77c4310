"""Progress: late, rare, on standard error, and still where nobody looks."""

import json
import sys

import pytest

from recon.cli.progress import EVERY_S, Lines, Live, progress_of
from recon.cli.session import ProgressMode, Session
from recon.ports import Silent


class Clock:
    """A clock that moves when it is told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_quick_work_is_not_spoken_of(capsys: pytest.CaptureFixture[str]) -> None:
    clock = Clock()
    lines = Lines(clock)
    lines.start("reading", 10)
    lines.advance(10)
    lines.finish("10 files")

    assert ("", "") == capsys.readouterr()


def test_long_work_is_spoken_of_now_and_then(capsys: pytest.CaptureFixture[str]) -> None:
    clock = Clock()
    lines = Lines(clock)
    lines.start("reading", 3000)
    for _ in range(3000):
        clock.now += 0.012
        lines.advance(note="a\x1b[31m.py")
    lines.finish("done")
    captured = capsys.readouterr()

    assert "" == captured.out
    assert 1 + 36 // EVERY_S + 1 == len(captured.err.splitlines())
    assert captured.err.splitlines()[-1] == "reading: 3,000 of 3,000 (done)"
    assert "\x1b" not in captured.err


def test_work_without_a_known_end_has_no_total(capsys: pytest.CaptureFixture[str]) -> None:
    clock = Clock()
    lines = Lines(clock)
    lines.start("fetching", None)
    clock.now += 2
    lines.advance(7)

    assert "fetching: 7\n" == capsys.readouterr().err


def test_json_progress_is_one_object_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    clock = Clock()
    lines = Lines(clock, as_json=True)
    lines.start("reading", 4)
    clock.now += 2
    lines.advance(2, "x")

    assert {"task": "reading", "done": 2, "total": 4, "note": "x"} == json.loads(capsys.readouterr().err)


@pytest.mark.parametrize(
    ("session", "terminal", "kind"),
    [
        (Session(), True, Live),
        (Session(), False, Lines),
        (Session(progress=ProgressMode.PLAIN), True, Lines),
        (Session(progress=ProgressMode.JSON), True, Lines),
        (Session(progress=ProgressMode.NONE), True, Silent),
        (Session(quiet=True), True, Silent),
    ],
)
def test_who_looks_decides_how_progress_is_told(
    monkeypatch: pytest.MonkeyPatch, session: Session, terminal: bool, kind: type
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal, raising=False)
    with progress_of(session) as progress:
        assert kind is type(progress)


@pytest.fixture
def on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes rich believe that standard error is a terminal."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")


@pytest.mark.usefixtures("on_a_terminal")
def test_the_moving_line_comes_late_and_goes_away(capsys: pytest.CaptureFixture[str]) -> None:
    clock = Clock()
    live = Live(clock)
    live.start("reading", 4)
    live.advance()
    early = capsys.readouterr().err
    clock.now += 2
    live.advance(2, "a[b]\x1b[31m")
    live.stop()
    captured = capsys.readouterr()

    assert "" == early
    assert "" == captured.out
    assert "3/4" in captured.err
    assert "a[b]\\x1b[31m" in captured.err
    assert captured.err.endswith("\x1b[2K")


@pytest.mark.usefixtures("on_a_terminal")
def test_a_new_task_starts_from_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    clock = Clock()
    live = Live(clock)
    clock.now += 2
    live.start("reading", 4)
    live.advance(4)
    live.finish()
    live.start("judging", None)
    live.advance()
    live.stop()

    assert "1/?" in capsys.readouterr().err
