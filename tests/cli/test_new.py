"""`recon new`: files that are ready to be worked on, and overwrite nothing."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from recon.detectors import builtin
from tests.cli.conftest import Recon

ROOT = Path(__file__).resolve().parents[2]


def tool(folder: Path, *words: str) -> tuple[int, str]:
    """Run a module of Python in a folder, with this recon; its status and what it said."""
    surroundings = {**os.environ, "PYTHONPATH": str(ROOT), "MYPYPATH": str(ROOT)}
    command = [sys.executable, "-m", *words]
    done = subprocess.run(command, cwd=folder, env=surroundings, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def test_a_detector_and_a_test_of_it_are_written(recon_command: Recon, tmp_path: Path) -> None:
    ended = recon_command("new", "detector", "my.thing", "--into", str(tmp_path))

    assert (0, f"{tmp_path}/my_thing.py\n{tmp_path}/test_my_thing.py\n") == (ended.code, ended.out)
    assert f"run its cases: python -m pytest {tmp_path}/test_my_thing.py\n" in ended.err
    project = tomllib.loads(ended.err.partition("beside it:\n\n")[2])
    assert ("my-thing", ["recon-llm"]) == (project["project"]["name"], project["project"]["dependencies"])
    assert {"recon.detectors": {"my_thing": "my_thing:DETECTOR"}} == project["project"]["entry-points"]


@pytest.mark.parametrize("name", ["my.thing", "zeta.tree_of_some_kind", "accept.tree.greedy"])
def test_what_is_written_is_of_the_house_style(recon_command: Recon, tmp_path: Path, name: str) -> None:
    """Formatted, without a complaint of the linter, and typed."""
    recon_command("new", "detector", name, "--into", str(tmp_path))
    config = f"--config={ROOT / 'pyproject.toml'}"
    files = sorted(path.name for path in tmp_path.glob("*.py"))

    assert (0, "2 files already formatted\n") == tool(tmp_path, "ruff", "format", "--check", config, *files)
    assert (0, "All checks passed!\n") == tool(tmp_path, "ruff", "check", "--ignore=INP001", config, *files)


def test_what_is_written_is_typed(recon_command: Recon, tmp_path: Path) -> None:
    recon_command("new", "detector", "my.thing", "--into", str(tmp_path))
    status, said = tool(tmp_path, "mypy", "--strict", "my_thing.py", "test_my_thing.py")

    assert 0 == status, said


def test_its_cases_fail_until_it_is_written(recon_command: Recon, tmp_path: Path) -> None:
    """A skeleton that passes would be forgotten."""
    recon_command("new", "detector", "my.thing", "--into", str(tmp_path))
    status, said = tool(tmp_path, "pytest", "-q", "-c", os.devnull, "--rootdir", str(tmp_path), "test_my_thing.py")

    assert 1 == status
    assert "1 failed, 1 passed" in said
    assert "test_a_case_gets_its_standing[write what has it here]" in said


@pytest.mark.parametrize("there", ["my_thing.py", "test_my_thing.py"])
def test_nothing_is_overwritten(recon_command: Recon, tmp_path: Path, there: str) -> None:
    (tmp_path / there).write_text("mine")
    ended = recon_command("new", "detector", "my.thing", "--into", str(tmp_path))

    assert 2 == ended.code
    assert f"{there} is there already" in ended.err
    assert {there: "mine"} == {path.name: path.read_text() for path in tmp_path.glob("*.py")}


@pytest.mark.parametrize("name", ["thing", "My.Thing", "my..thing", "../x.y", ""])
def test_a_name_that_is_no_capabilitys_is_refused(recon_command: Recon, tmp_path: Path, name: str) -> None:
    ended = recon_command("new", "detector", name, "--into", str(tmp_path))

    assert 2 == ended.code
    assert "is no name of a capability" in ended.err
    assert [] == list(tmp_path.glob("*.py"))


def test_a_name_that_is_taken_is_told(recon_command: Recon, tmp_path: Path) -> None:
    ended = recon_command("new", "detector", "accept.tree.greedy", "--into", str(tmp_path))

    assert "accept.tree.greedy is judged already" in ended.err


def test_a_folder_that_does_not_exist_is_told(recon_command: Recon, tmp_path: Path) -> None:
    assert 2 == recon_command("new", "detector", "my.thing", "--into", str(tmp_path / "nowhere")).code


def test_among_ours_only_the_detector_is_written(
    recon_command: Recon, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tests there run the cases of all."""
    monkeypatch.setattr(builtin, "__path__", [str(tmp_path)])
    ended = recon_command("new", "detector", "my.thing", "--into", str(tmp_path))

    assert f"{tmp_path}/my_thing.py\n" == ended.out
    assert "" == ended.err
