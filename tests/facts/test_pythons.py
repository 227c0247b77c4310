"""Where Python environments are looked for, on a home folder built for the purpose."""

import os
import shutil
from pathlib import Path

import pytest

from recon.facts.gather import gather
from recon.facts.pythons import Pythons, pythons
from recon.hosts.local import LocalShell

SHELLS = [("dash", "-s"), ("bash", "--posix", "-s"), ("busybox", "ash", "-s")]


def make_env(prefix: Path, version: str = "3.12", cfg: str | None = "home = /usr/bin\n") -> None:
    """What the search looks at in an environment."""
    (prefix / "lib" / f"python{version}" / "site-packages").mkdir(parents=True)
    if cfg is not None:
        (prefix / "pyvenv.cfg").write_text(cfg)


def look(home: Path, program: tuple[str, ...] = ("sh", "-s"), *hints: Path, **variables: str) -> Pythons:
    """The environments that a user with this home sees."""
    environment = {"PATH": os.environ["PATH"], "LC_ALL": "C", "HOME": str(home), **variables}
    fact = pythons([str(hint) for hint in hints])
    values, unknowns = gather(LocalShell(program=program, environment=environment), [fact])
    found = values.of(fact)

    assert () == unknowns
    assert found is not None
    return found


def kinds(found: Pythons, below: Path) -> dict[str, str]:
    """Prefix to kind, of the environments below a folder."""
    return {
        os.path.relpath(one.prefix, below): f"{one.kind} {one.version}"
        for one in found.environments
        if one.prefix.startswith(f"{below}/")
    }


@pytest.mark.parametrize("program", SHELLS, ids=lambda program: program[0])
def test_environments_are_found_where_people_keep_them(
    program: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In projects, of conda, uv, pyenv and pipx, of the user, given by variables, or below the current folder."""
    if shutil.which(program[0]) is None:
        pytest.skip("programs of the system are missing here")
    home, away = tmp_path / "home", tmp_path / "away"
    make_env(home / "src" / "org" / "project" / ".venv")
    make_env(home / ".local" / "share" / "uv" / "tools" / "vllm", cfg="home = /x/bin\nuv = 0.5.1\n")
    make_env(home / ".local" / "share" / "uv" / "python" / "cpython-3.13-linux", "3.13", None)
    make_env(home / ".cache" / "uv" / "archive-v0" / "a1b2", cfg="uv = 0.5.1\nhome = /x\n")
    make_env(home / ".local" / "share" / "pipx" / "venvs" / "sglang", cfg="home = /usr/bin\n")
    make_env(home / ".pyenv" / "versions" / "3.11.7", "3.11", None)
    make_env(home / ".local", "3.10", None)
    make_env(home / "miniconda3" / "envs" / "serve", "3.10", None)
    (home / "miniconda3" / "envs" / "serve" / "conda-meta").mkdir()
    make_env(away / "conda", "3.9", None)
    (home / ".conda").mkdir()
    (home / ".conda" / "environments.txt").write_text(f"{away}/conda\n/gone\n")
    make_env(away / "active")
    make_env(away / "hinted; touch x")
    make_env(away / "here" / "env")
    make_env(home / "deep" / "er" / "and" / "deep" / "er" / "env")
    make_env(home / "node_modules" / "env")
    monkeypatch.chdir(away / "here")
    found = look(home, program, away / "hinted; touch x", VIRTUAL_ENV=str(away / "active"))

    assert {
        "away/active": "venv 3.12",
        "away/hinted; touch x": "venv 3.12",
        "home/.local": "user 3.10",
        "home/.local/share/uv/tools/vllm": "uv 3.12",
        "home/.local/share/uv/python/cpython-3.13-linux": "uv 3.13",
        "home/.cache/uv/archive-v0/a1b2": "uv 3.12",
        "home/.pyenv/versions/3.11.7": "system 3.11",
        "away/conda": "conda 3.9",
        "home/.local/share/pipx/venvs/sglang": "venv 3.12",
        "away/here/env": "venv 3.12",
        "home/miniconda3/envs/serve": "conda 3.10",
        "home/src/org/project/.venv": "venv 3.12",
    } == kinds(found, tmp_path)


def test_names_that_cannot_be_reported_are_unknowns(tmp_path: Path) -> None:
    """They would break lines, or the JSON of a run."""
    make_env(tmp_path / "a\nb")
    make_env(tmp_path / "c\td")
    make_env(tmp_path / "e\u2028f\u0085g\x1c")
    make_env(tmp_path / "h\u202ei\x9b")
    make_env(Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff")))
    make_env(tmp_path / "good")
    found = look(tmp_path)

    assert {"good": "venv 3.12"} == kinds(found, tmp_path)
    assert ["a name with control characters or bytes that are no UTF-8 is not followed"] == [
        one.why for one in found.unknowns
    ]


def test_an_environment_reached_by_two_names_is_one(tmp_path: Path) -> None:
    """Its folders as well: lib64 is often a link to lib."""
    make_env(tmp_path / "env")
    (tmp_path / "link").symlink_to("env")
    (tmp_path / "env" / "lib64").symlink_to("lib")
    found = look(tmp_path, ("sh", "-s"), tmp_path / "link")
    ours = [one for one in found.environments if one.prefix.startswith(f"{tmp_path}/")]

    assert [(str(tmp_path / "link"), (f"{tmp_path}/link/lib/python3.12/site-packages",))] == [
        (one.prefix, one.site_packages) for one in ours
    ]


def test_the_search_writes_nothing(tmp_path: Path) -> None:
    """Not even a folder for a temporary file."""
    make_env(tmp_path / "env")
    before = sorted(tmp_path.rglob("*"))
    look(tmp_path)

    assert before == sorted(tmp_path.rglob("*"))
