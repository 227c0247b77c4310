"""Scanning hosts: the same records as of folders, several side by side, everything written down and within the plan."""

import json
import re
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from recon import pipeline
from recon.asking import NONCE, plan
from recon.errors import (
    Auth,
    HostBusy,
    Interrupted,
    NoEngine,
    TimedOut,
    Unreachable,
    Unreadable,
    Usage,
)
from recon.hosts.limits import HOST_S, PRELUDE
from recon.hosts.local import LocalShell
from recon.pipeline import ScanTargets, Settings
from recon.ports import Reply, Silent
from recon.records.run import Run
from recon.records.unknown import TARGET
from recon.records.verdict import Standing
from recon.targets import Access
from tests.pipeline.conftest import Scan
from tests.pipeline.engines import VLLM, WALK, tree, verdict
from tests.sources.made import library

DIST = {
    "vllm-9.8.7.dist-info/METADATA": "Metadata-Version: 2.1\nName: vllm\nVersion: 9.8.7\n",
    "vllm-9.8.7.dist-info/INSTALLER": "pip\n",
    "vllm-9.8.7.dist-info/RECORD": "vllm/spec/accept.py,sha256=AAAA,10\nvllm/gone.py,sha256=AAAA,10\n",
}


COMPILED: Mapping[str, str | bytes] = {
    "sgl_kernel/__init__.py": "",
    "sgl_kernel/ops.abi3.so": library(text=(b"f(Tensor x) -> ()",)).data,
}


@dataclass(frozen=True)
class Reached(LocalShell):
    """This machine, as if it were a host. Its `run` is a stream, too."""

    user: str = "me"
    transport: str = "paramiko"
    line: str = "exec /bin/sh -s"
    noise: str = ""
    notes: tuple[str, ...] = ()
    scripts: list[str] = field(default_factory=list)

    @property
    def identity(self) -> str:
        return f"proven {self.name}"

    def stream(self, script: str, sink: Callable[[bytes], None], *, timeout_s: float, cap_bytes: int) -> Reply:
        self.scripts.append(script)
        return super().stream(script, sink, timeout_s=timeout_s, cap_bytes=cap_bytes)

    def abort(self) -> None:
        """Nothing of it waits for long."""


class Hosts:
    """Hosts by name: each sees one virtual environment of its own and little else; one without is down."""

    def __init__(self) -> None:
        self.shells: dict[str, Reached] = {}

    def add(self, name: str, home: Path) -> Reached:
        variables = {"PATH": "/usr/bin:/bin", "HOME": str(home), "VIRTUAL_ENV": str(home / "venv")}
        self.shells[name] = Reached(name, environment=variables)
        return self.shells[name]

    @contextmanager
    def connect(self, typed: str) -> Iterator[Reached]:
        if typed not in self.shells:
            raise Auth(f"{typed} accepted none of 2 keys", "Try ssh -v.")
        yield self.shells[typed]


@pytest.fixture
def hosts() -> Hosts:
    return Hosts()


def environment(home: Path, *more: Mapping[str, str | bytes]) -> Path:
    """A virtual environment with an engine in it; gives its site folder."""
    site = home / "venv/lib/python3.11/site-packages"
    for files in (VLLM, DIST, *more):
        tree(site, files)
    (home / "venv/pyvenv.cfg").write_text("home = /usr/bin\nversion = 3.11.2\n")
    return site


def scanned(
    hosts: Hosts,
    settings: Settings,
    *names: str,
    paths: tuple[str, ...] = (),
    budget_s: float = HOST_S,
    max_load: float = 0.0,
) -> Run:
    made = replace(settings, access=Access(hosts.connect, budget_s, max_load))
    return pipeline.scan(ScanTargets(paths, (), local=False, hosts=names), made, Silent())


def test_a_host_gives_the_records_that_a_folder_gives(
    hosts: Hosts, settings: Settings, scan: Scan, tmp_path: Path
) -> None:
    """Verdicts, paths, digest, provenance, edits and companions; only the host is another."""
    site = environment(tmp_path / "home", COMPILED, {"vllm/walk.py": WALK})
    hosts.add("me@gpu07:22", tmp_path / "home")
    here = scan(site)
    there = scanned(hosts, settings, "me@gpu07:22")

    assert 2 == len(there.installs)
    assert {each.host for each in there.installs} == {"me@gpu07:22"}
    assert [replace(each, host="") for each in here.installs] == [replace(each, host="") for each in there.installs]
    assert ("vllm/spec/accept.py",) == there.installs[0].edits.modified


def test_the_host_says_what_it_is_and_how_it_was_reached(hosts: Hosts, settings: Settings, tmp_path: Path) -> None:
    environment(tmp_path / "home")
    hosts.add("gpu07", tmp_path / "home")
    (host,) = scanned(hosts, settings, "gpu07").hosts

    assert ("gpu07", "paramiko") == (host.name, host.transport)
    assert str(tmp_path / "home/venv") in [each.prefix for each in host.environments]
    assert host.id
    assert host.platform.startswith(("Linux", "Darwin"))


def test_a_host_that_fails_leaves_the_others(hosts: Hosts, settings: Settings, tmp_path: Path) -> None:
    """It is an unknown of the run, with its kind and what to try."""
    environment(tmp_path / "a")
    hosts.add("a", tmp_path / "a")
    run = scanned(hosts, settings, "a", "b")

    assert ["a"] == [each.host for each in run.installs]
    assert [("auth", "b", "b accepted none of 2 keys. Try ssh -v.")] == [
        (each.what, each.where, each.why) for each in run.unknowns
    ]


def test_a_host_that_fails_alone_is_an_error(hosts: Hosts, settings: Settings) -> None:
    with pytest.raises(Auth, match="accepted none"):
        scanned(hosts, settings, "b")


def test_a_host_without_engines_is_named(hosts: Hosts, settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    hosts.add("bare", tmp_path / "home")

    with pytest.raises(NoEngine, match="of bare"):
        scanned(hosts, settings, "bare")


def test_a_host_that_dies_between_two_trees_keeps_the_first(hosts: Hosts, settings: Settings, tmp_path: Path) -> None:
    """What was brought until then is judged."""
    environment(tmp_path / "home", {"sglang/__init__.py": "", "sglang/walk.py": WALK})

    @dataclass(frozen=True)
    class Dying(Reached):
        def stream(self, script: str, sink: Callable[[bytes], None], *, timeout_s: float, cap_bytes: int) -> Reply:
            if "sglang" in script and "names()" in script:
                raise Unreachable("gpu07: the connection broke", "Scan again.")
            return super().stream(script, sink, timeout_s=timeout_s, cap_bytes=cap_bytes)

    hosts.shells["gpu07"] = Dying("gpu07", environment=hosts.add("gpu07", tmp_path / "home").environment)
    run = scanned(hosts, settings, "gpu07")

    assert ["vllm"] == [each.engine.value for each in run.installs]
    assert ["unreachable"] == [each.what for each in run.unknowns]


def test_hosts_and_folders_are_scanned_in_one_run(hosts: Hosts, settings: Settings, tmp_path: Path) -> None:
    environment(tmp_path / "home")
    hosts.add("gpu07", tmp_path / "home")
    run = scanned(hosts, settings, "gpu07", paths=(str(tree(tmp_path / "t", {**VLLM, "vllm/walk.py": WALK})),))

    assert ["localhost", "gpu07"] == [each.host for each in run.installs]
    assert [Standing.PRESENT, Standing.ABSENT] == [
        verdict(each, "accept.tree.greedy").standing for each in run.installs
    ]


def test_of_installs_that_shadow_one_another_the_one_that_is_imported_is_marked(
    hosts: Hosts, settings: Settings, tmp_path: Path
) -> None:
    site = environment(tmp_path / "home")
    checkout = tree(tmp_path / "src", VLLM)
    (site / "z.pth").write_text(f"{checkout}\n")
    hosts.add("gpu07", tmp_path / "home")
    notes = {each.location: each.provenance.note for each in scanned(hosts, settings, "gpu07").installs}

    assert f"imported first; shadows {checkout}/vllm" == notes[str(site)]
    assert notes[str(checkout)].startswith(f"shadowed by {site}/vllm")


def test_a_second_look_brings_nothing(hosts: Hosts, settings: Settings, tmp_path: Path) -> None:
    """One answer says that all is as it was."""
    environment(tmp_path / "home")
    shell = hosts.add("gpu07", tmp_path / "home")
    first = scanned(hosts, settings, "gpu07")
    asked = len(shell.scripts)
    second = scanned(hosts, settings, "gpu07")

    assert first.installs == second.installs
    assert asked - 2 == len(shell.scripts) - asked
    assert not any("names()" in script for script in shell.scripts[asked:])


# Limits


def test_every_script_begins_with_the_limits(hosts: Hosts, settings: Settings, tmp_path: Path) -> None:
    environment(tmp_path / "home")
    shell = hosts.add("gpu07", tmp_path / "home")
    scanned(hosts, settings, "gpu07")

    assert shell.scripts
    assert all(script.startswith(PRELUDE) for script in shell.scripts)


def test_a_busy_host_is_left_alone(hosts: Hosts, settings: Settings, tmp_path: Path) -> None:
    """With a figure, and nothing else is asked."""
    if not Path("/proc/loadavg").exists():
        pytest.skip("no load to read without /proc")
    shell = hosts.add("gpu07", tmp_path)

    with pytest.raises(HostBusy, match=r"gpu07 was left alone: .* processes for each of its"):
        scanned(hosts, settings, "gpu07", max_load=1e-9)
    assert 1 == len(shell.scripts)


def test_a_host_that_is_not_busy_is_scanned(hosts: Hosts, settings: Settings, tmp_path: Path) -> None:
    environment(tmp_path / "home")
    hosts.add("gpu07", tmp_path / "home")

    assert 1 == len(scanned(hosts, settings, "gpu07", max_load=1e9).installs)


def test_a_host_whose_time_is_over_is_late(hosts: Hosts, settings: Settings, tmp_path: Path) -> None:
    environment(tmp_path / "home")
    hosts.add("gpu07", tmp_path / "home")

    with pytest.raises(TimedOut):
        scanned(hosts, settings, "gpu07", budget_s=1e-6)


# What is asked


def pattern(template: str) -> re.Pattern[str]:
    """A script of the plan as it may look with answers in it, and with other numbers."""
    parts = [re.sub(r"\d+", r"\\d+", re.escape(part)) for part in re.split(r"'?[./]*@[A-Z_]+@'?", template)]
    return re.compile(r"(?:(?!\bcd\b)[\s\S])*?".join(parts))


def test_a_scan_runs_nothing_that_the_plan_does_not_list(hosts: Hosts, settings: Settings, tmp_path: Path) -> None:
    environment(tmp_path / "home", COMPILED)
    shell = hosts.add("gpu07", tmp_path / "home")
    scanned(hosts, settings, "gpu07", max_load=1e9)
    listed = [pattern(step.script) for step in plan(load=True).steps]
    strange = [
        script for script in shell.scripts if not any(each.fullmatch(script.removeprefix(PRELUDE)) for each in listed)
    ]

    assert [] == strange
    assert len(shell.scripts) >= 7


def test_the_plan_has_a_digest_that_changes_with_what_is_asked() -> None:
    assert plan().digest == plan().digest != plan(load=True).digest
    assert all(NONCE in step.script for step in plan().steps)


def test_everything_that_ran_is_in_the_audit_file(hosts: Hosts, settings: Settings, tmp_path: Path) -> None:
    environment(tmp_path / "home")
    shell = hosts.add("gpu07", tmp_path / "home")
    scanned(hosts, settings, "gpu07")
    (path,) = (settings.state_dir / "audit").iterdir()
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    asked = [line for line in lines if line["event"] == "asked"]

    assert shell.scripts == [line["script"] for line in asked]
    assert len(asked) == sum(line["event"] == "ended" for line in lines)
    assert {("me", "paramiko", "exec /bin/sh -s")} == {
        (each["user"], each["transport"], each["line"]) for each in asked
    }


def test_without_an_audit_file_no_host_is_reached(hosts: Hosts, settings: Settings, tmp_path: Path) -> None:
    settings.state_dir.write_text("in the way")
    shell = hosts.add("gpu07", tmp_path)

    with pytest.raises(Unreadable, match="audit"):
        scanned(hosts, settings, "gpu07")
    assert [] == shell.scripts


def test_a_password_in_an_address_is_written_down_nowhere(hosts: Hosts, settings: Settings, tmp_path: Path) -> None:
    environment(tmp_path)
    hosts.add("gpu07", tmp_path)

    with pytest.raises(Usage):
        scanned(hosts, settings, "gpu07", "ssh://root:hunter2@gpu08")
    assert [] == [path for path in settings.state_dir.rglob("*") if path.is_file()]


# Stopped


class Pressed(Silent):
    """A user who presses Ctrl-C when some task starts."""

    def __init__(self, task: str) -> None:
        self.task = task

    def start(self, task: str, total: int | None) -> None:
        if task.endswith(self.task):
            raise KeyboardInterrupt


def threads_left(wanted: int) -> int:
    """Threads that run, once they are as few as is wanted or half a minute is over."""
    end = time.monotonic() + 30
    while threading.active_count() > wanted and time.monotonic() < end:
        time.sleep(0.02)
    return threading.active_count()


@pytest.mark.parametrize("task", ["connecting", "looking for engines", "reading sources", "judging"])
def test_ctrl_c_leaves_every_host(hosts: Hosts, settings: Settings, tmp_path: Path, task: str) -> None:
    """Threads are told, and end: each after the script that it waits for, which takes long on a busy machine."""
    for name in ("a", "b", "c"):
        environment(tmp_path / name)
        hosts.add(name, tmp_path / name)
    before = threading.active_count()
    made = replace(settings, access=Access(hosts.connect))
    with pytest.raises(Interrupted) as stopped:
        pipeline.scan(ScanTargets((), (), local=False, hosts=("a", "b", "c")), made, Pressed(task))

    assert isinstance(stopped.value.partial, Run)
    assert not stopped.value.partial.complete
    assert {"a", "b", "c"} == {each.where for each in stopped.value.partial.unknowns if each.what == TARGET}
    assert before == threads_left(before)


def test_a_host_that_hangs_is_broken_off(hosts: Hosts, settings: Settings) -> None:
    """Ctrl-C does not wait for its deadline."""
    broken = threading.Event()

    @dataclass(frozen=True)
    class Hanging(Reached):
        def run(self, script: str, *, timeout_s: float = 30.0) -> Reply:
            assert broken.wait(20)
            raise Unreachable("broken off")

        def abort(self) -> None:
            broken.set()

    hosts.shells["h"] = Hanging("h")
    made = replace(settings, access=Access(hosts.connect))
    with pytest.raises(Interrupted):
        pipeline.scan(ScanTargets((), (), local=False, hosts=("h",)), made, Pressed("looking for engines"))

    assert broken.wait(1)


def test_what_is_remembered_of_a_host_is_never_taken_for_another(
    hosts: Hosts, settings: Settings, tmp_path: Path
) -> None:
    """One states the other's machine id, lists the same tree, and sends something else under each name."""
    site = environment(tmp_path / "home", {"vllm/walk.py": WALK})
    hosts.add("honest", tmp_path / "home")
    hostile = hosts.add("hostile", tmp_path / "home")
    tools = tmp_path / "tools"
    tools.mkdir()
    tar = f'cd {tmp_path}/lie && exec /usr/bin/tar "$@"'
    shutil.copytree(site, tmp_path / "lie")
    (tmp_path / "lie/vllm/walk.py").write_text("#" * (len(WALK) - 1) + "\n")
    (tools / "tar").write_text(f"#!/bin/sh\n{tar}\n")
    (tools / "tar").chmod(0o755)
    object.__setattr__(hostile, "environment", {**(hostile.environment or {}), "PATH": f"{tools}:/usr/bin:/bin"})
    time.sleep(2.1)  # what was written in this very second is not remembered
    lied = scanned(hosts, settings, "hostile")
    told = scanned(hosts, settings, "honest")

    assert Standing.ABSENT is verdict(lied.installs[0], "accept.tree.greedy").standing
    assert Standing.ABSENT is not verdict(told.installs[0], "accept.tree.greedy").standing
    assert lied.hosts[0].id == told.hosts[0].id
    assert lied.installs[0].source_digest != told.installs[0].source_digest


def test_a_host_is_remembered_by_what_it_proved(hosts: Hosts, settings: Settings, tmp_path: Path) -> None:
    """The same one is not asked for its files again."""
    environment(tmp_path / "home")
    host = hosts.add("gpu07", tmp_path / "home")
    time.sleep(2.1)
    first = scanned(hosts, settings, "gpu07")
    asked = len(host.scripts)
    second = scanned(hosts, settings, "gpu07")

    assert first.installs == second.installs
    assert len(host.scripts) - asked < asked
