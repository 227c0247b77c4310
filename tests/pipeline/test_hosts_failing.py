"""Hosts that fail in ways of their own: the others are kept, and it is told what happened."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from recon import judging, pipeline
from recon.cli.scan import exit_of
from recon.errors import Exit, HostKeyRevoked
from recon.index.index import Index
from recon.pipeline import ScanTargets, Settings
from recon.ports import Progress, Reply, Silent
from recon.records.verdict import Standing, Verdict
from recon.targets import Access
from tests.pipeline.engines import WALK, tree, verdict
from tests.pipeline.test_hosts import Hosts, Reached, environment, scanned


@pytest.fixture
def hosts() -> Hosts:
    return Hosts()


@dataclass(frozen=True)
class Broken(Reached):
    """A host whose answers bring out a fault of recon."""

    def run(self, script: str, *, timeout_s: float = 30.0) -> Reply:
        raise ValueError("a fault of ours\nin two lines")


@pytest.mark.parametrize("names", [("a", "b"), ("b", "a")])
def test_a_fault_with_one_host_leaves_the_others(
    hosts: Hosts, settings: Settings, tmp_path: Path, names: tuple[str, str]
) -> None:
    """It is an unknown of a kind of its own, in one line, and the exit code is that of a fault."""
    environment(tmp_path / "a")
    hosts.add("a", tmp_path / "a")
    hosts.shells["b"] = Broken("b")
    run = scanned(hosts, settings, *names)
    (unknown,) = run.unknowns

    assert ["a"] == [each.host for each in run.installs]
    assert ("internal", "b") == (unknown.what, unknown.where)
    assert unknown.why.startswith("ValueError: a fault of ours (test_hosts_failing.py:")
    assert Exit.INTERNAL == exit_of(run)


def test_a_fault_with_the_only_host_is_raised_as_it_is(hosts: Hosts, settings: Settings) -> None:
    """So that whoever catches it sees where it came from."""
    hosts.shells["b"] = Broken("b")

    with pytest.raises(ValueError, match="a fault of ours"):
        scanned(hosts, settings, "b")


def test_a_fault_in_the_judging_of_one_tree_leaves_the_others(
    hosts: Hosts, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment(tmp_path / "a")
    environment(tmp_path / "b", {"vllm/walk.py": WALK})
    for name in ("a", "b"):
        hosts.add(name, tmp_path / name)
    judge = judging.verdicts_of

    def faulty(index: Index, progress: Progress) -> tuple[Verdict, ...]:
        if "vllm/walk.py" in index.files:
            raise RuntimeError("a fault of ours")
        return judge(index, progress)

    monkeypatch.setattr(judging, "verdicts_of", faulty)
    run = scanned(hosts, settings, "a", "b")

    assert ["a"] == [each.host for each in run.installs], run.unknowns
    assert ["internal"] == [each.what for each in run.unknowns], run.unknowns
    assert "RuntimeError: a fault of ours" in run.unknowns[0].why
    with pytest.raises(RuntimeError, match="a fault of ours"):
        scanned(hosts, settings, "b")


def test_what_makes_two_errors_of_one_kind_is_recorded(hosts: Hosts, settings: Settings, tmp_path: Path) -> None:
    environment(tmp_path / "a")
    hosts.add("a", tmp_path / "a")
    reach = hosts.connect

    @contextmanager
    def connect(typed: str) -> Iterator[Reached]:
        if typed == "b":
            raise HostKeyRevoked("b: its key is revoked")
        with reach(typed) as shell:
            yield shell

    made = replace(settings, access=Access(connect))
    run = pipeline.scan(ScanTargets((), (), local=False, hosts=("a", "b")), made, Silent())

    assert ["host_key revoked"] == [each.what for each in run.unknowns]


def test_what_a_login_shell_prints_is_a_note_of_its_host(hosts: Hosts, settings: Settings, tmp_path: Path) -> None:
    """Without the credentials that may stand in it."""
    environment(tmp_path / "a")
    made = hosts.add("a", tmp_path / "a")
    token = "hf_" + "aB3dE5gH7jK9" * 3
    hosts.shells["a"] = replace(made, noise=f"motd: export HF_TOKEN={token}")
    run = scanned(hosts, settings, "a")
    (note,) = run.hosts[0].notes

    assert note.startswith("before its answers it printed 'motd: export HF_TOKEN=")
    assert token not in note
    assert Exit.OK == exit_of(run)


def test_a_host_that_hides_files_has_nothing_absent(hosts: Hosts, settings: Settings, tmp_path: Path) -> None:
    """Its find dies in the middle of the walk."""
    environment(tmp_path / "home", {"vllm/walk.py": WALK})
    shell = hosts.add("gpu07", tmp_path / "home")
    whole = scanned(hosts, settings, "gpu07").installs[0]
    tree(
        tmp_path / "bin", {"find": '#!/bin/sh\ncase $* in *//f*) /usr/bin/find "$@" | head -c 300; kill -9 $$;; esac\n'}
    )
    with (tmp_path / "bin" / "find").open("a") as program:
        program.write('exec /usr/bin/find "$@"\n')
    (tmp_path / "bin" / "find").chmod(0o755)
    shell.environment["PATH"] = f"{tmp_path}/bin:/usr/bin:/bin"  # type: ignore[index]  # it is a dict
    tree(tmp_path / "home/venv/lib/python3.11/site-packages", {"vllm/new.py": ""})
    cut = scanned(hosts, settings, "gpu07").installs[0]

    assert Standing.ABSENT in {each.standing for each in whole.verdicts}
    assert Standing.ABSENT not in {each.standing for each in cut.verdicts}
    assert "find ended with status 137" in verdict(cut, "accept.tree.greedy").searched.unread[0].why
