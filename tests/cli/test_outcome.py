"""Errors become advice and an exit code; faults become one line and a file."""

import json
import re
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import typer

from recon import errors
from recon.cli.outcome import ended
from recon.errors import Exit, ReconError


def raising(error: BaseException) -> Callable[[], object]:
    def command() -> None:
        raise error

    return command


def subclasses(base: type[ReconError]) -> list[type[ReconError]]:
    return [each for child in base.__subclasses__() for each in (child, *subclasses(child))]


KINDS = [
    each for each in subclasses(ReconError) if each.__module__ == errors.__name__ and each is not errors.Interrupted
]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.kind)
def test_an_error_is_one_line_with_a_hint_and_its_exit_code(
    kind: type[ReconError], capsys: pytest.CaptureFixture[str]
) -> None:
    code = ended(raising(kind("it broke", "try this")), [])
    captured = capsys.readouterr()

    assert int(kind.exit) == code
    assert ("", "error: it broke\nhint: try this\n") == (captured.out, captured.err)


def test_no_hint_is_no_line(capsys: pytest.CaptureFixture[str]) -> None:
    ended(raising(errors.NotFound("it is gone")), [])

    assert "error: it is gone\n" == capsys.readouterr().err


def test_json_tells_errors_of_one_kind_apart(capsys: pytest.CaptureFixture[str]) -> None:
    """A changed key of a host is another matter than one that nobody knows."""
    ended(raising(errors.HostKeyRevoked("it is revoked")), ["--json"])

    assert {"error": {"kind": "host_key", "why": "revoked", "message": "it is revoked", "hint": ""}} == json.loads(
        capsys.readouterr().out
    )


def test_json_gets_the_error_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    code = ended(raising(errors.NotFound("no ü", "try")), ["scan", "--json"])

    assert Exit.USAGE == code
    assert {"error": {"kind": "not_found", "message": "no ü", "hint": "try"}} == json.loads(capsys.readouterr().out)


def test_hostile_words_of_an_error_do_not_act(capsys: pytest.CaptureFixture[str]) -> None:
    ended(raising(errors.NotFound("no \x1b[31m\nfile", "\u202e")), [])

    assert "error: no \\x1b[31m\\nfile\nhint: \\u202e\n" == capsys.readouterr().err


def test_a_fault_is_one_line_and_its_traceback_lies_in_a_private_file(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    code = ended(raising(ZeroDivisionError("two\nlines")), ["scan"])
    captured = capsys.readouterr()
    (kept,) = (tmp_path / "recon-state" / "crashes").iterdir()

    assert Exit.INTERNAL == code
    assert captured.err.splitlines()[0] == "error: ZeroDivisionError: two"
    assert str(kept) in captured.err
    assert "Traceback" not in captured.err
    assert "Traceback" in kept.read_text()
    assert 0o600 == stat.S_IMODE(kept.stat().st_mode)


def test_a_fault_without_a_message_has_its_name(capsys: pytest.CaptureFixture[str]) -> None:
    ended(raising(AssertionError()), [])

    assert capsys.readouterr().err.startswith("error: AssertionError")


def test_a_fault_where_nothing_can_be_written_is_still_one_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "recon-state").write_text("in the way")
    code = ended(raising(ZeroDivisionError("x")), [])

    assert Exit.INTERNAL == code
    assert "error: ZeroDivisionError: x\nhint: This is a fault of recon.\n" == capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (KeyboardInterrupt(), 130),
        (BrokenPipeError(), 0),
        (SystemExit(3), 3),
        (SystemExit(), 0),
        (SystemExit("words"), 1),
        (errors.Interrupted(None), 130),
    ],
)
def test_other_ends_have_their_codes(error: BaseException, code: int) -> None:
    assert code == ended(raising(error), [])


def test_no_end_is_success() -> None:
    assert 0 == ended(lambda: None, [])


def leaving(code: int, cause: Exception) -> Callable[[], object]:
    """Leaves as typer does: with a code, while what happened is being handled."""

    def command() -> None:
        try:
            raise cause
        except type(cause):
            sys.exit(code)

    return command


def test_a_reader_of_the_help_who_went_away_is_no_error() -> None:
    """Typer says 1 there, which is the code of a policy."""
    assert Exit.OK == ended(leaving(1, BrokenPipeError()), [])


def test_json_gets_errors_of_usage_too(capsys: pytest.CaptureFixture[str]) -> None:
    code = ended(leaving(2, typer.BadParameter("no such thing")), ["scan", "--json"])

    assert Exit.USAGE == code
    assert {"kind": "usage", "message": "Invalid value: no such thing", "hint": ""} == json.loads(
        capsys.readouterr().out
    )["error"]


def test_a_fault_where_the_state_folder_is_nowhere_is_still_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECON_STATE_DIR", "~nobody-is-called-so/x")
    ended(raising(ZeroDivisionError("x")), [])

    assert "error: ZeroDivisionError: x\nhint: This is a fault of recon.\n" == capsys.readouterr().err


@pytest.mark.parametrize("words", [["--version"], ["--help"], ["report", "--help"], ["explain"], ["config", "show"]])
def test_a_disk_that_is_full_is_no_fault(words: list[str]) -> None:
    """Whoever prints: recon, or what it is made of."""
    if not Path("/dev/full").is_char_device():
        pytest.skip("no device here is full")
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(
            [sys.executable, "-m", "recon", *words], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )

    assert 3 == ended.returncode
    assert re.fullmatch(r"error: cannot write( to standard output)?: No space left on device\n", ended.stderr)
