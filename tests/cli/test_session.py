"""What one invocation makes of its surroundings."""

import io
import json
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from recon.cli import session
from recon.cli.session import Color, Session
from recon.errors import NotFound, Unreadable
from recon.report.text import visible


@pytest.mark.parametrize(
    ("color", "environment", "terminal", "colored"),
    [
        (Color.AUTO, {}, True, True),
        (Color.AUTO, {}, False, False),
        (Color.AUTO, {"TERM": "dumb"}, True, False),
        (Color.AUTO, {"NO_COLOR": "1"}, True, False),
        (Color.AUTO, {"NO_COLOR": ""}, True, True),
        (Color.AUTO, {"FORCE_COLOR": "1"}, False, True),
        (Color.AUTO, {"NO_COLOR": "1", "FORCE_COLOR": "1"}, True, False),
        (Color.ALWAYS, {"NO_COLOR": "1"}, False, True),
        (Color.NEVER, {"FORCE_COLOR": "1"}, True, False),
    ],
)
def test_colour_heeds_the_option_then_the_environment_then_the_terminal(
    monkeypatch: pytest.MonkeyPatch, color: Color, environment: dict[str, str], terminal: bool, colored: bool
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: terminal, raising=False)

    assert colored == Session(color=color).colored


def test_a_terminal_without_colour_is_still_a_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)

    assert Session(color=Color.NEVER).screen


def test_a_stream_that_knows_few_letters_gets_the_others_written_out() -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii", write_through=True)
    session.write(stream, "● yes\n")

    assert b"\\u25cf yes\n" == raw.getvalue()


def test_folders_are_the_users_unless_said_otherwise(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("RECON_CACHE_DIR", "~/elsewhere")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("RECON_STATE_DIR")
    monkeypatch.delenv("RECON_CONFIG_DIR")

    assert tmp_path / "elsewhere" == session.cache_dir()
    for folder in (session.state_dir(), session.config_dir()):
        assert folder.is_relative_to(tmp_path)
        assert "recon" == folder.name


def test_a_full_disk_is_said_and_a_note_that_is_lost_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    with open("/dev/full", "w") as full:  # noqa: PTH123
        monkeypatch.setattr(sys, "stderr", full)
        session.write(full, "a note")
    with open("/dev/full", "w") as full:  # noqa: PTH123
        monkeypatch.setattr(sys, "stdout", full)
        with pytest.raises(Unreadable, match="No space left"):
            session.write(full, "an answer")


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_are_no_error(closed: str) -> None:
    """What opens later does not take their numbers."""
    words = f'"{sys.executable}" -m recon explain {closed}'

    assert 0 == subprocess.run(["sh", "-c", words], capture_output=True, check=False).returncode


def test_the_home_of_nobody_is_no_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECON_STATE_DIR", "~nobody-is-called-so/x")

    with pytest.raises(NotFound, match="nobody-is-called-so"):
        session.state_dir()


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_json_on_a_terminal_is_the_same_and_does_not_act(monkeypatch: pytest.MonkeyPatch) -> None:
    """Off one it is as the file is, byte by byte."""
    text = msgspec.json.encode({"\x9b31m": "\u202enur \x85 \u2066\ufeff", "fine": "é ●"}).decode()
    told = {}
    for stream in (_Terminal(), io.StringIO()):
        monkeypatch.setattr(sys, "stdout", stream)
        Session().data(text)
        told[stream.isatty()] = stream.getvalue()

    assert (text, json.loads(text)) == (told[False], json.loads(told[True]))
    assert "é ●" in told[True]
    assert told[True] == visible(told[True])
