"""The payload's journey over SSH, with real servers and the real payload: shipped, checked, streamed, removed."""

import dataclasses
import json
import os
import re
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from recon import pipeline, probing
from recon.errors import GpuBusy
from recon.hosts.connect import Options, connect
from recon.hosts.target import parse
from recon.kernels.wire import Plan
from recon.ports import Progress, Silent
from recon.probes.floors import COPYING
from recon.probes.linear_vs_tree import LINEAR_VS_TREE, SMALL_CHECKS, TREE
from recon.probes.plan import plan_interpret
from recon.probing import ProbeRequest
from recon.records.run import Run
from recon.records.unknown import REST
from recon.runs.files import save
from recon.targets import Access
from tests.ssh.client import Client
from tests.ssh.server import Server, Yard

pytestmark = pytest.mark.system("sshd", "ssh", "ssh-keygen")

REQUEST = ProbeRequest("interpret", "quick", "", allow_busy=False, archs=(), python=sys.executable, host="gpu1")
GONE_WITHIN_S = 5.0
DOING = "tree_greedy.fused"


def plan(shapes: int) -> Plan:
    """Two entries that are quick, and one that takes about a second for each of its shapes."""
    few = dataclasses.replace(LINEAR_VS_TREE, kernels=(TREE,), interpreted=(SMALL_CHECKS * 9)[:shapes], baselines=())
    return plan_interpret(probes=(COPYING, few))


class Doing:
    """A Progress that does something when the slow entry has begun, and remembers what was begun."""

    def __init__(self, then: Callable[[], object] = lambda: None) -> None:
        self.then = then
        self.begun: list[str] = []
        self.at = 0.0

    def start(self, task: str, total: int | None) -> None:
        """Nothing."""

    def advance(self, amount: int = 1, note: str = "") -> None:
        if note.startswith("check"):
            self.begun.append(note.partition(",")[0].removeprefix("check "))
        if note.startswith(f"check {DOING}"):
            self.at = time.monotonic()
            self.then()

    def finish(self, note: str = "") -> None:
        """Nothing."""


@pytest.fixture
def runtime(tmp_path: Path) -> Path:
    """The runtime folder of sessions."""
    made = tmp_path / "runtime"
    made.mkdir()
    return made


def host(yard: Yard, runtime: Path, **variables: str) -> Server:
    return yard.server(environment={"XDG_RUNTIME_DIR": str(runtime), "HOME": str(runtime.parent), **variables})


def probe(client: Client, planned: Plan, before: str = "", progress: Progress | None = None, **changed: object) -> Run:
    """A probe of a host in this process; its run is saved, as the command does."""
    options = Options(config=client.config(before), batch=True, connect_timeout_s=5.0)
    ways = Access(lambda typed: connect(parse(typed), options))
    settings = pipeline.Settings(
        client.folder / "cache", client.folder / "state", compiled=True, workers=0, access=ways
    )
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(probing, "plan_interpret", lambda: planned)
        run = pipeline.probe(dataclasses.replace(REQUEST, **changed), settings, progress or Silent())  # type: ignore[arg-type]
    save(run, settings.state_dir)
    return run


def left(runtime: Path, since: float) -> list[Path]:
    """What of the payload is still there five seconds after a moment."""
    while (found := list(runtime.iterdir())) and time.monotonic() < since + GONE_WITHIN_S:
        time.sleep(0.02)
    return found


def test_a_link_that_is_cut_leaves_nothing_loses_nothing_and_the_next_call_goes_on(
    yard: Yard, client: Client, runtime: Path, tmp_path: Path
) -> None:
    """Both ends of the line are held open and nothing passes any more: nobody is told that the other is gone."""
    server, cut = host(yard, runtime), tmp_path / "cut"
    dying = f"Host gpu1\n  ProxyCommand {yard.link(cut_file=cut)}\n  ServerAliveInterval 1\n  ServerAliveCountMax 3\n"
    cutting = Doing(cut.touch)
    first = probe(client, plan(100), dying, cutting)
    gone = left(runtime, cutting.at)
    processes = server.left_after(2)
    again = Doing()
    second = probe(client, plan(1), progress=again)

    assert ([], {}) == (gone, processes)
    assert ["copy.triton", "copy.torch_add"] == [each.kernel for each in first.measurements]
    assert (False, [REST]) == (first.complete, [each.what for each in first.unknowns])
    assert {DOING} == set(again.begun)
    assert ["copy.triton", "copy.torch_add", DOING] == [each.kernel for each in second.measurements]
    assert all(each.agreement and not each.agreement.mismatches for each in second.measurements)
    assert (True, ()) == (second.complete, second.unknowns)
    assert "2 of 3 measurements were taken over" in second.hosts[0].notes[-1]
    assert [] == list(runtime.iterdir())


@pytest.mark.slow
@pytest.mark.parametrize("transport", ["paramiko", "openssh"])
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_a_client_that_ends_leaves_nothing(
    yard: Yard, client: Client, runtime: Path, transport: str, how: signal.Signals
) -> None:
    """The command as a process, ended in the middle of its work."""
    server = host(yard, runtime)
    words = ["--host", "gpu1", "--batch", "--transport", transport, "--interpret", "--python", sys.executable]
    config = ["--ssh-config", str(client.config())]
    process = client.recon(*words, *config, command="probe-kernels")
    end = time.monotonic() + 60
    while time.monotonic() < end and not list(runtime.glob("*/errors-2.txt")):  # the first kernel is at work
        time.sleep(0.02)
    since = time.monotonic()
    process.send_signal(how)

    assert [] == left(runtime, since)
    assert {} == server.left_after(2)
    assert (130 if how is signal.SIGINT else -9) == (process.communicate(timeout=15), process.returncode)[1]


@pytest.mark.slow
@pytest.mark.system("strace")
def test_nothing_is_written_on_the_host_outside_of_the_private_folder(
    yard: Yard, client: Client, runtime: Path, tmp_path: Path
) -> None:
    """Whatever torch and Triton do: every file that is opened for writing, made or removed lies inside."""
    log = tmp_path / "trace"
    calls = "open,openat,creat,rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat,link,linkat,symlink,symlinkat"
    shell = f'exec strace -f -qq -s 4096 -e signal=none -e trace={calls} -A -o {log} sh -c "$SSH_ORIGINAL_COMMAND"'
    yard.server(shell=shell, environment={"XDG_RUNTIME_DIR": str(runtime), "HOME": str(tmp_path)})
    run = probe(client, plan(1))
    seen = [line.partition(" ")[2].strip() for line in log.read_text(errors="replace").splitlines()]
    writing = re.compile(r"O_WRONLY|O_RDWR|O_CREAT|^(?!open)")
    outside = [
        call
        for call in seen
        if writing.search(call) and " = -1 " not in call and str(runtime) not in call and not HARMLESS.search(call)
    ]

    assert run.complete
    assert any(str(runtime) in call and "O_CREAT" in call for call in seen)
    assert [] == [call for call in outside if not RELATIVE.search(call)]


LOCK = r'/recon-probe-[0-9a-f]{12}-[0-9A-Za-z]{10}/lock", O_RDWR\|O_NONBLOCK\|O_NOFOLLOW\|O_CLOEXEC(?:\)| <unfinished)'
"""Of another run on the same machine, which is looked at and left: whoever has a lock for himself must open it so."""
HARMLESS = re.compile(rf'"/dev/(?:null|tty)"|/proc/self/|"/proc/|resumed>|{LOCK}')
RELATIVE = re.compile(r'(?:unlinkat|mkdirat|openat|rmdir)\(\d+, "[^/]')
"""By the descriptor of a folder that was opened before: Python removes trees so."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("answer", "said"),
    [
        pytest.param("GPU-1, 77, 500", "compute processes are running on it (pid, MiB): 77 500", id="busy"),
        pytest.param("mode", "its compute mode is Exclusive_Process", id="exclusive"),
        pytest.param("mig", "MIG is enabled", id="MIG"),
        pytest.param("hang", "nvidia-smi did not answer within 10 s", id="hanging"),
    ],
)
def test_a_gpu_that_is_not_ours_is_refused_on_a_host(
    yard: Yard, client: Client, runtime: Path, tmp_path: Path, answer: str, said: str
) -> None:
    """By a driver's tool that says so; an MPS server is looked for in /proc."""
    programs = tmp_path / "bin"
    programs.mkdir()
    mode, mig = ("Exclusive_Process" if answer == "mode" else "Default"), ("Enabled" if answer == "mig" else "Disabled")
    gpu = f"GPU-1, 580.1, 1980, 3201, 70, 700, 30, 0, Enabled, {mig}, {mode}, Enabled, 4, 143771, 0, 1:0.0, 0, No, None"
    listed = "0, GPU-1, NVIDIA H200, 9.0, 143771, 580.1"
    others = answer if answer.startswith("GPU") else ""
    (programs / "nvidia-smi").write_text(
        f'#!/bin/sh\n{"sleep 600" if answer == "hang" else ""}\ncase "$*" in *compute_cap*) echo "{listed}";;'
        f' *--query-gpu*) echo "{gpu}";; *) echo "{others}";; esac\n'
    )
    (programs / "nvidia-smi").chmod(0o755)
    host(yard, runtime, PATH=f"{programs}:{os.environ['PATH']}")

    with pytest.raises(GpuBusy, match=re.escape(said)):
        probe(client, plan(1), mode="gpu")
    assert [] == list(runtime.iterdir())


@pytest.mark.slow
def test_what_is_run_is_what_the_plan_says(yard: Yard, client: Client, runtime: Path) -> None:
    """Every script that the audit file has, with answers and contents of files put back into their words."""
    host(yard, runtime)
    planned = plan(1)
    probe(client, planned)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(probing, "plan_interpret", lambda: planned)
        made = probing.journey(REQUEST)
    (audit,) = (client.folder / "state" / "audit").iterdir()
    ran = [line["script"] for line in map(json.loads, audit.read_text().splitlines()) if "script" in line]
    listed = [made.prelude + step.script for step in made.steps]
    shipped = ran[-1]
    for file in made.files:
        begin = shipped.index(f"put {file.name} ") + len(f"put {file.name} ")
        end = shipped.find("\nput ", begin)
        end = end if file is not made.files[-1] else shipped.index("\nunset PYTHONSAFEPATH", begin)
        shipped = f"{shipped[:begin]}@{file.sha256}@{shipped[end:]}"

    assert made.script == shipped
    assert len(ran) <= len(listed) + 2  # which Python was meant, and the payload
