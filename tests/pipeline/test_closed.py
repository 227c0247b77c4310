"""Folders that the user of a host may not read: named in the run, with who could read them."""

import os
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from recon import pipeline
from recon.asking import plan
from recon.cli.scan import exit_of
from recon.errors import Exit, Interrupted, NoEngine
from recon.pipeline import ScanTargets, Settings
from recon.ports import Silent
from recon.records.unknown import Unknown, denied
from recon.targets import Access
from tests.pipeline.engines import tree
from tests.pipeline.test_hosts import DIST, Hosts, Reached, environment, scanned

BECOME_NOBODY = "import os; os.setgroups([]); os.setgid(65534); os.setuid(65534); os.execv('/bin/sh', ['sh', '-s'])"


class Heard(Silent):
    """A progress that remembers how each task ended."""

    def __init__(self) -> None:
        self.ends: list[str] = []

    def finish(self, note: str = "") -> None:
        """Remember how."""
        self.ends.append(note)


@pytest.fixture
def home() -> Iterator[Path]:
    """A home that everybody may enter, which pytest's own folders are not, of an ordinary user's host."""
    if os.getuid() != 0:
        pytest.skip("only root can become somebody else")
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def is_late(unknown: Unknown) -> bool:
    """Whether it is only that this machine is busy, and has many folders."""
    return "the walk was ended" in unknown.why


def ordinary(hosts: Hosts, name: str, home: Path) -> None:
    """A host whose user is nobody of account."""
    shell = hosts.add(name, home)
    program = (sys.executable, "-c", BECOME_NOBODY)
    hosts.shells[name] = Reached(name, program=program, environment=shell.environment)


def test_a_closed_folder_of_an_install_is_an_unknown_of_the_run(settings: Settings, home: Path) -> None:
    """With who could read it; and where the others are told how far the host is, that it was not all."""
    hosts = Hosts()
    environment(home, {"vllm/closed/walk.py": "x = 1\n"})
    (home / "venv/lib/python3.11/site-packages/vllm/closed").chmod(0o700)
    ordinary(hosts, "gpu07", home)
    heard = Heard()
    made = replace(settings, access=Access(hosts.connect))
    run = pipeline.scan(ScanTargets((), (), local=False, hosts=("gpu07", "down")), made, heard)
    (install,) = run.installs

    assert [("folder", f"{install.id}:vllm/closed", denied("root"))] == [
        (each.what, each.where, each.why) for each in run.unknowns if each.what == "folder"
    ]
    assert "its owner root can scan it" in denied("root")
    assert "transfer done; 1 folder unread" in heard.ends
    assert "all is here" not in heard.ends
    assert Exit.INCOMPLETE == exit_of(run)


def test_what_only_the_search_could_not_enter_is_a_note_where_an_engine_was_found(
    settings: Settings, home: Path
) -> None:
    """Every machine has homes that others may not enter: a scan of it is as whole as it could be."""
    hosts = Hosts()
    environment(home)
    (home / "theirs").mkdir(mode=0o700)
    os.chown(home / "theirs", 12_345_678, 0)
    ordinary(hosts, "gpu07", home)
    run = scanned(hosts, settings, "gpu07")
    (note,) = run.hosts[0].notes

    assert f"{home}/theirs (of 12345678)" in note
    assert "permission denied; the owner or root could read there" in note
    assert [] == [each for each in run.unknowns if "theirs" in each.where]
    assert Exit.OK == exit_of(replace(run, unknowns=tuple(each for each in run.unknowns if not is_late(each))))


def test_what_the_search_could_not_enter_is_said_where_nothing_was_found(settings: Settings, home: Path) -> None:
    hosts = Hosts()
    (home / "theirs").mkdir(mode=0o700)
    ordinary(hosts, "gpu07", home)
    with pytest.raises(NoEngine) as caught:
        scanned(hosts, settings, "gpu07")

    assert f"{home}/theirs (of root)" in caught.value.hint


def test_an_environment_that_nobody_would_find_can_be_named(settings: Settings, tmp_path: Path) -> None:
    """It is in the plan; one that is not there is an unknown."""
    hosts = Hosts()
    hosts.add("gpu07", tmp_path / "home")
    (tmp_path / "home").mkdir()
    environment(away := tmp_path / "a/b/c/d/e/away 1", DIST)
    named = (f"{away}/venv", "/no/such/env")
    made = replace(settings, access=Access(hosts.connect, environments=named))
    run = pipeline.scan(ScanTargets((), (), local=False, hosts=("gpu07",)), made, Silent())

    assert [f"{away}/venv"] == [each.provenance.environment for each in run.installs]
    assert [("python environments", "/no/such/env")] == [
        (each.what, each.where) for each in run.unknowns if not is_late(each)
    ]
    assert any(f"'{away}/venv'" in step.script for step in plan(environments=named).steps)


def test_who_is_stopped_has_nothing_open_any_more(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder of sources that may not stay is gone, and it is known how many installs there were."""
    hosts = Hosts()
    environment(tmp_path / "home")
    hosts.add("gpu07", tmp_path / "home")
    (tmp_path / "passing").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "passing"))

    def stopped(*_: object) -> None:
        assert [] != list((tmp_path / "passing").iterdir())
        raise KeyboardInterrupt

    monkeypatch.setattr(pipeline, "_judge_into", stopped)
    made = replace(settings, access=Access(hosts.connect), keeps_sources=False)
    with pytest.raises(Interrupted) as caught:
        pipeline.scan(ScanTargets((), (), local=False, hosts=("gpu07",)), made, Silent())

    assert [] == list((tmp_path / "passing").iterdir())
    assert 1 == caught.value.coming


def test_a_host_that_was_asked_nothing_leaves_no_audit_file(settings: Settings, tmp_path: Path) -> None:
    hosts = Hosts()
    environment(tmp_path / "home")
    hosts.add("gpu07", tmp_path / "home")
    scanned(hosts, settings, "gpu07", "down")

    assert ["gpu07"] == [path.name.split("-")[1] for path in (settings.state_dir / "audit").iterdir()]


def test_a_folder_of_this_machine_that_cannot_be_listed_has_its_owner(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tree(tmp_path / "t", {"vllm/__init__.py": "", "vllm/closed/walk.py": "x = 1\n"})
    scandir = os.scandir

    def refusing(path: Path | int | str) -> object:
        if str(path).endswith("closed"):
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refusing)
    run = pipeline.scan(ScanTargets((str(folder),), (), local=False), settings, Silent())

    assert [f"{run.installs[0].id}:vllm/closed"] == [each.where for each in run.unknowns]
    assert run.unknowns[0].why == denied(folder.owner())
