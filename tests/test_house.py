"""The repository as a stranger finds it: no traces of whose machine it was written on, and doors that work."""

import ast
import os
import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import LONG

ROOT = Path(__file__).resolve().parent.parent
LARGEST_BYTES = 1_500_000

# Written in two halves, so that this file does not hold what it looks for.
FOREIGN = {
    "a folder of somebody's machine": ["/wo" + "rk/", "/tmp/" + "w/", "/home/" + "user", "/Us" + "ers/"],
    "the host of a package registry": [
        "py" + "pi.org",
        "python" + "hosted.org",
        "registry.npm" + "js",
        "deb." + "debian.org",
        "proxy." + "golang.org",
    ],
    "words about how it was written": [
        "help" + "er session",
        "sub" + "agent",
        "the pap" + "ers say",
        "contracts" + ".md",
        "design" + "/screens",
    ],
}
ENGINE_NOTICES = [
    "SPDX-FileCopyrightText: Copyright contributors to the " + "vLLM project",
    "Copyright 2023-2024 SG" + "Lang Team",
    "Copyright (c) 2023 by Flash" + "Infer team",
]


def tracked() -> Iterator[Path]:
    """Files under version control; in a source archive, which has none, those that would be."""
    if (ROOT / ".git").exists():
        command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout
        names = [os.fsdecode(name) for name in listed.split(b"\0") if name]
        yield from (ROOT / name for name in names if (ROOT / name).is_file())
        return
    hidden = {".venv", ".venvs", "build", "dist", "__pycache__"}
    for folder, folders, files in os.walk(ROOT):
        folders[:] = [name for name in folders if name not in hidden and not name.endswith("_cache")]
        yield from (Path(folder) / name for name in files)


def places(words: list[str]) -> list[str]:
    """Where tracked text holds one of the words, as path:line."""
    pattern = re.compile("|".join(map(re.escape, words)), re.IGNORECASE)
    return [
        f"{path.relative_to(ROOT)}:{number}"
        for path in tracked()
        for number, line in enumerate(path.read_bytes().decode(errors="replace").splitlines(), 1)
        if pattern.search(line)
    ]


@pytest.mark.parametrize("what", FOREIGN)
def test_nothing_foreign_is_left_in_the_repository(what: str) -> None:
    """Neither in code nor in prose nor in recorded replies."""
    assert [] == places(FOREIGN[what]), what


def test_no_source_of_an_engine_is_committed() -> None:
    """Releases are fetched when they are read; trees for tests are ours.

    The saved scan of the sample cites engines by six lines at most, which its own test holds; one has such a notice.
    """
    assert [] == [place for place in places(ENGINE_NOTICES) if not place.startswith("reports/sample/releases.json:")]


def test_no_tracked_file_is_large() -> None:
    """A clone should be small: what is large is made or fetched."""
    large = {str(path.relative_to(ROOT)): size for path in tracked() if (size := path.stat().st_size) >= LARGEST_BYTES}

    assert {} == large


def test_the_readme_names_the_two_make_commands() -> None:
    """One to see it work, one to see it checked."""
    readme = (ROOT / "README.md").read_text()

    assert [] == [command for command in ("make demo", "make check") if command not in readme]


def test_files_that_are_called_long_are_there() -> None:
    """One that was renamed would begin last."""
    assert [] == [name for name in LONG if not (ROOT / "tests" / f"{name}.py").is_file()]


def test_continuous_integration_runs_make_check_and_requires_everything() -> None:
    """What CI runs is what a developer runs, with no skips for missing programs."""
    script = ROOT / ".ci" / "run"
    lines = [line.strip() for line in script.read_text().splitlines()]

    assert os.access(script, os.X_OK)
    assert "exec make check </dev/null" in lines
    assert any("RECON_REQUIRE=all" in line for line in lines if line.startswith("export "))


EVERYWHERE = ("bash", "dash", "rbash", "setpriv", "sh", "tar", "taskset", "unshare")
"""Programs that Debian has before anything is installed."""


def test_continuous_integration_installs_every_program_that_a_test_wants() -> None:
    """A `system` marker that CI cannot satisfy would fail there and nowhere else."""
    packages = dict.fromkeys(("sshd", "ssh", "ssh-agent", "ssh-add", "ssh-keygen"), "openssh-server")
    packages |= {"ip": "iproute2"}
    alike = ["busybox", "chromium", "fish", "git", "make", "strace", "tcsh"]
    packages |= {name: name for name in alike} | dict.fromkeys(EVERYWHERE, "")
    installed = set(re.findall(r"[\w-]+", (ROOT / ".ci" / "run").read_text())) | {""}
    wanted = {names for path in (ROOT / "tests").rglob("test_*.py") for names in system_programs(path.read_text())}
    without = {
        names for names in wanted if not any(packages.get(name, "?") in installed for name in names.split("|"))
    } - {"no-such-program", "no-other-program"}

    assert set() == without


def system_programs(source: str) -> Iterator[str]:
    """Arguments of each `pytest.mark.system(...)` in a source."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("mark.system"):
            yield from (
                word.value for word in node.args if isinstance(word, ast.Constant) and isinstance(word.value, str)
            )


def test_the_script_of_continuous_integration_is_bash() -> None:
    """A syntax error there would be found after a push."""
    done = subprocess.run(["bash", "-n", ROOT / ".ci" / "run"], capture_output=True, text=True, check=False)

    assert (0, "") == (done.returncode, done.stderr)


def test_every_dependency_is_bounded() -> None:
    """An unbounded dependency breaks a release long after it was made."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    listed = [
        *project["dependencies"],
        *(word for words in project["optional-dependencies"].values() for word in words),
    ]
    unbounded = [word for word in listed if not re.search(r"<\d", word) and not word.startswith("recon-llm")]

    assert [] == unbounded


def test_make_lists_every_target_in_one_line_each() -> None:
    """`make` alone is the table of contents."""
    done = subprocess.run(["make", "-C", ROOT], capture_output=True, text=True, check=True)
    targets = re.findall(r"^([a-z][a-z-]*):.*## ", (ROOT / "Makefile").read_text(), re.MULTILINE)
    listed = [line.split()[1] for line in done.stdout.splitlines() if line.startswith("make ")]

    assert targets == listed
    assert {"test", "check", "full", "demo", "fix", "clean"} <= set(listed)


def test_make_refuses_a_python_that_is_too_old(tmp_path: Path) -> None:
    """With a sentence that says what to do, not with a traceback of pip."""
    old = tmp_path / "python3.8"
    old.write_text('#!/bin/sh\nexec python3 -c "import sys; sys.version_info = (3, 8, 1); exec(sys.argv[1])" "$2"\n')
    old.chmod(0o755)
    done = subprocess.run(["make", "-C", ROOT, f"PYTHON={old}", "test"], capture_output=True, text=True, check=False)

    assert 2 == done.returncode
    assert f"recon needs Python 3.11 or newer; {old} is 3.8." in done.stderr
