"""The door: quick to open, and it says what it cannot do."""

import json
import os
import pty
import re
import resource
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from recon import __version__
from recon.runs.files import save
from tests.cli.conftest import Recon
from tests.report.hand import scan

HEAVY = {"rich", "jinja2", "msgspec", "sqlite3", "tree_sitter", "libcst", "pygments", "platformdirs"}


def loaded_by(*words: str) -> set[str]:
    """Top-level packages that are loaded when the command ends."""
    script = (
        "import atexit, sys\n"
        "atexit.register(lambda: print('\\n' + ' '.join({name.partition('.')[0] for name in sys.modules})))\n"
        f"sys.argv = {['recon', *words]!r}\n"
        "from recon.cli.app import main\n"
        "main()\n"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert 0 == ended.returncode, ended.stderr
    return set(ended.stdout.splitlines()[-1].split())


@pytest.mark.parametrize("words", [("--version",), ("--version", "--json"), ("--color", "never", "--version")])
def test_the_version_loads_nothing_heavy(words: tuple[str, ...]) -> None:
    assert set() == loaded_by(*words) & HEAVY


def test_help_loads_only_what_prints_it() -> None:
    assert {"rich", "pygments"} >= loaded_by("scan", "--help") & HEAVY


def test_help_is_quick() -> None:
    """In processor time, which a busy machine does not stretch much: the best of three."""

    def seconds() -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-m", "recon", "--help"], capture_output=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    assert min(seconds() for _ in range(3)) < 0.6


def test_the_version_is_printed(recon_command: Recon) -> None:
    assert (0, f"recon {__version__}\n") == (recon_command("--version").code, recon_command("--version").out)
    assert f"recon {__version__}\n" == recon_command("-q", "--version").out
    assert __version__ == json.loads(recon_command("--version", "--json").out)["recon"]


@pytest.mark.parametrize(
    "words", [("nope",), ("scan", "--nope"), ("find",), ("--color", "blue", "schema"), ("scan", "--workers", "-1")]
)
def test_what_does_not_exist_is_a_usage_error(recon_command: Recon, words: tuple[str, ...]) -> None:
    ended = recon_command(*words)

    assert (2, "") == (ended.code, ended.out)
    assert ended.err


@pytest.mark.parametrize(
    "words",
    [
        ("scan",),
        ("probe-kernels",),
        ("report",),
        ("show",),
        ("explain",),
        ("find",),
        ("paths",),
        ("schema",),
        ("runs", "list"),
        ("runs", "show"),
        ("runs", "rm"),
        ("cache", "info"),
        ("cache", "prune"),
    ],
)
def test_every_help_page_tells_the_exit_codes(recon_command: Recon, words: tuple[str, ...]) -> None:
    ended = recon_command(*words, "--help")

    assert 0 == ended.code
    assert "Exit codes: 0 done" in ended.out


def on_a_terminal(*words: str, environment: dict[str, str]) -> str:
    """What the command prints on a terminal."""
    ours, theirs = pty.openpty()
    try:
        process = subprocess.Popen(
            [sys.executable, "-m", "recon", *words],
            stdin=subprocess.DEVNULL,
            stdout=theirs,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "TERM": "xterm", "COLUMNS": "100", **environment},
        )
        os.close(theirs)
        parts = []
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:
                break
            if not part:
                break
            parts.append(part)
        assert 0 == process.wait(timeout=60)
    finally:
        os.close(ours)
    return b"".join(parts).decode()


def test_a_terminal_gets_a_screen_and_a_pipe_gets_rows(tmp_path: Path) -> None:
    state = {"RECON_STATE_DIR": str(tmp_path)}
    name = save(scan(), tmp_path).name
    screen = on_a_terminal("runs", "show", name, environment=state)
    plain = on_a_terminal("runs", "show", name, environment={**state, "NO_COLOR": "1"})
    piped = subprocess.run(
        [sys.executable, "-m", "recon", "runs", "show", name],
        env={**os.environ, **state},
        capture_output=True,
        text=True,
        check=True,
    ).stdout

    assert "\x1b[32m● yes, connected" in screen
    assert "● yes, connected" in plain
    assert "\x1b" not in plain
    assert piped.startswith("decision\tsglang 0.5.23\t")
    assert "\x1b" not in piped


def test_a_reader_that_goes_away_is_no_error(tmp_path: Path) -> None:
    save(scan(), tmp_path)
    command = f"{sys.executable} -m recon runs show scan | head -c 1; echo ${{PIPESTATUS[0]}}"
    ended = subprocess.run(
        ["bash", "-c", command],
        env={**os.environ, "RECON_STATE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )

    assert ("d0\n", "") == (ended.stdout, ended.stderr)


@pytest.mark.parametrize("words", [("gap",), ("find",), ("new", "detector"), ("runs", "rm")], ids=" ".join)
def test_a_paragraph_of_help_is_filled(
    recon_command: Recon, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    """Lines of a docstring would be broken once more on a narrow screen."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERMINAL_WIDTH", "80")
    shown = recon_command(*words, "--help").out.partition("Usage:")[2].partition("╭")[0]
    paragraphs = [part.split("\n") for part in re.split(r"\n\s*\n", shown)[1:]]
    room = [
        (first, second)
        for lines in paragraphs
        for first, second in pairwise(line.strip() for line in lines)
        if second and len(first) + 1 + len(second.split()[0]) <= 78
    ]

    assert [] == room


def test_an_empty_capability_is_no_capability(recon_command: Recon) -> None:
    ended = recon_command("explain", "")

    assert (2, "") == (ended.code, ended.out)
    assert "error: an empty word names no capability" in ended.err


def test_two_kinds_of_json_are_not_asked_for_at_once(recon_command: Recon, tmp_path: Path) -> None:
    ended = recon_command("callgraph", str(tmp_path), "--json", "--format", "pycg")

    assert 2 == ended.code
    assert "Give one of them." in ended.err


def test_a_schema_is_json_whether_asked_for_or_not(recon_command: Recon) -> None:
    assert recon_command("schema").out == recon_command("schema", "--json").out
    assert "$defs" in json.loads(recon_command("schema", "--json").out)
