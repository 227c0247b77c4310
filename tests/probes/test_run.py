"""The payload as a process on this machine: a stand-in that says prepared lines, so that no torch is needed."""

import dataclasses
import os
import stat
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from recon.errors import Exit, GpuBusy, GpuNotAllotted, NoGpu, NoTorch, ReconError, Unreadable
from recon.hosts.local import LocalShell
from recon.kernels import wire
from recon.ports import Progress
from recon.probes import run as runs
from recon.probes import ship
from recon.probes.plan import plan_gpu, plan_interpret
from recon.probes.read import MOST_FAILURES
from recon.probes.run import ProbeResult, reusable, run_plan
from recon.probes.ship import PAYLOAD
from recon.records.measurement import DeviceState, Measurement
from recon.records.unknown import REST
from tests.probes.test_read import DEVICE, STATE, timing_of

PLAN = dataclasses.replace(plan_interpret(), deadline_s=60.0)
ONE = dataclasses.replace(PLAN, entries=PLAN.entries[:1])
HELLO = wire.Hello(1, "interpret", DEVICE, STATE)
GOOD = wire.Result(0, wire.Agreement(3, 0, "equal"), None, None, None)
DONE = wire.Done(interrupted=False, seconds=1.0, device_seconds=0.5, processor_seconds=7.5)


class Machine:
    """This one, with places of the test's own and a Python that says prepared lines and then does as told."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.status = 0
        self.runtime = folder / "runtime"
        self.runtime.mkdir()

    def python(self, *lines: wire.Line | str, first: str = "", then: str = "") -> str:
        said = self.folder / "said.jsonl"
        said.write_text("".join((each if isinstance(each, str) else wire.encode(each)) + "\n" for each in lines))
        script = self.folder / "python-with-torch"
        script.write_text(
            f'#!/bin/sh\n[ "$1" = -c ] && exit {self.status}\necho $$ >{self.folder}/pid\npwd >{self.folder}/cwd\n'
            f"env >{self.folder}/environment\ncp plan.json {self.folder}/plan.json\n{first}\ncat {said}\n{then}\n"
        )
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
        return str(script)

    def run(
        self,
        python: str,
        plan: wire.Plan = PLAN,
        progress: Progress | None = None,
        known: Mapping[str, Measurement] | None = None,
    ) -> ProbeResult:
        environment = {"PATH": os.environ["PATH"], "XDG_RUNTIME_DIR": str(self.runtime), "HOME": str(self.folder)}
        return run_plan(plan, LocalShell(environment=environment), (python,), known=known, progress=progress)

    @property
    def left(self) -> list[Path]:
        return list(self.runtime.iterdir())

    def alive(self, name: str = "pid") -> bool:
        """Whether the stand-in, or another of which it wrote the number, still runs, after a little while."""
        pid = int((self.folder / name).read_text())
        end = time.monotonic() + 5
        while time.monotonic() < end:
            try:
                state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
            except (FileNotFoundError, ProcessLookupError):
                return False
            if state == "Z":
                return False
            time.sleep(0.01)
        return True


def hanging(folder: Path, at: str) -> str:
    """A Python that heeds nobody where it is to run a line of its own (`-c`), or the payload (`-m`)."""
    script = folder / "hanging"
    heedless = f'echo $$ >{folder}/pid; trap "" HUP INT TERM; while :; do sleep 1; done'
    script.write_text(f'#!/bin/sh\n[ "$1" = {at} ] || exit 0\n{heedless}\n')
    script.chmod(0o755)
    return str(script)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


class Heard:
    """A Progress that remembers, and that can be interrupted."""

    def __init__(self, stop_after: int = -1) -> None:
        self.notes: list[str] = []
        self.done = 0
        self.total: int | None = None
        self.stop_after = stop_after

    def start(self, task: str, total: int | None) -> None:
        self.total = total

    def advance(self, amount: int = 1, note: str = "") -> None:
        self.done += amount
        self.notes.append(note)
        if self.done == self.stop_after:
            self.stop_after = -1
            raise KeyboardInterrupt

    def finish(self, note: str = "") -> None:
        self.notes.append("finished")


def test_results_become_measurements_as_they_come(machine: Machine) -> None:
    heard = Heard()
    result = machine.run(machine.python(HELLO, wire.Started(0, "check"), GOOD, DONE), ONE, heard)

    assert ["read.triton"] == [each.kernel for each in result.measurements]
    assert (True, ()) == (result.complete, result.unknowns)
    assert ["check read.triton", "read.triton", "finished"] == heard.notes
    assert (1, 1) == (heard.done, heard.total)
    assert (1.0, 7.5) == (result.seconds, result.processor_seconds)


def test_progress_says_how_long_the_rest_will_take(machine: Machine) -> None:
    heard = Heard()
    results = [dataclasses.replace(GOOD, entry=number) for number in range(len(PLAN.entries))]
    machine.run(machine.python(HELLO, *results, DONE), progress=heard)

    assert not any("left" in note for note in heard.notes[:2])
    assert all(note.endswith(" s left") for note in heard.notes[2:-1])


def test_the_payload_gets_the_plan_and_a_private_folder_that_is_removed(machine: Machine, tmp_path: Path) -> None:
    look = f"ls -ld . >{tmp_path}/mode; find . -name '*.py' | sort >{tmp_path}/files"
    machine.run(machine.python(HELLO, DONE, then=look))
    folder = Path((tmp_path / "cwd").read_text().strip())
    sent = sorted(f"./{ship.PACKAGE}/{path.relative_to(PAYLOAD)}" for path in PAYLOAD.rglob("*.py"))

    assert runs.told(PLAN, {}) == wire.decode_plan((tmp_path / "plan.json").read_text())
    assert sent == (tmp_path / "files").read_text().split()
    assert "drwx------" == (tmp_path / "mode").read_text().split()[0]
    assert machine.runtime == folder.parent
    assert [] == machine.left


def test_what_compilers_and_caches_write_is_led_into_the_folder(machine: Machine, tmp_path: Path) -> None:
    machine.run(machine.python(HELLO, DONE))
    said = dict(line.partition("=")[::2] for line in (tmp_path / "environment").read_text().splitlines())
    folder = (tmp_path / "cwd").read_text().strip()
    led = ("TMPDIR", "XDG_CACHE_HOME", "TRITON_HOME", "TRITON_CACHE_DIR", "CUDA_CACHE_PATH", "TORCHINDUCTOR_CACHE_DIR")

    assert all(said[name].startswith(folder) for name in led)
    assert "1" == said["PYTHONDONTWRITEBYTECODE"]


@pytest.mark.parametrize(
    ("why", "error"),
    [
        ("gpu_busy", GpuBusy),
        ("not_allotted", GpuNotAllotted),
        ("no_gpu", NoGpu),
        ("no_torch", NoTorch),
        ("no_place", Unreadable),
        ("bad_plan", Unreadable),
        ("what nobody foresaw", Unreadable),
    ],
)
def test_a_refusal_is_an_error(machine: Machine, why: str, error: type[ReconError]) -> None:
    with pytest.raises(error, match="because") as caught:
        machine.run(machine.python(wire.Refused(why, "because"), then="exit 1"))

    assert Exit.INCOMPLETE == caught.value.exit
    assert [] == machine.left


def test_without_a_gpu_the_other_ways_are_named(machine: Machine) -> None:
    with pytest.raises(NoGpu) as caught:
        machine.run(machine.python(wire.Refused("no_gpu", "torch sees none")))

    assert "--interpret" in caught.value.hint
    assert "--compile-only" in caught.value.hint


def test_ctrl_c_keeps_what_was_finished_and_lets_the_payload_put_away(machine: Machine) -> None:
    """The stream of the client ends; the stand-in, as the keeper, is asked to end."""
    python = machine.python(HELLO, GOOD, then="exec sleep 600")
    begin = time.monotonic()
    result = machine.run(python, progress=Heard(stop_after=1))

    assert ["read.triton"] == [each.kernel for each in result.measurements]
    assert (False, True) == (result.complete, result.stopped)
    assert time.monotonic() - begin < 5
    assert not machine.alive()
    assert [] == machine.left


@pytest.mark.parametrize(
    "then",
    [
        pytest.param("trap '' HUP INT TERM; sleep 600", id="that does not heed its client"),
        pytest.param("sleep 600 & wait", id="that has children"),
        pytest.param("yes", id="that goes on talking"),
    ],
)
def test_of_a_payload_nothing_is_left(machine: Machine, then: str) -> None:
    """The client stopped at the first result; it is gone a second later."""
    child = machine.folder / "child"
    python = machine.python(HELLO, GOOD, first=f"( sleep 600 & echo $! >{child} )", then=then)
    began = time.monotonic()
    result = machine.run(python, progress=Heard(stop_after=1))

    assert result.stopped
    assert time.monotonic() - began < 5
    assert not machine.alive()
    assert not machine.alive("child")
    assert [] == machine.left


def test_a_payload_that_stops_itself_is_not_complete(machine: Machine) -> None:
    left_out = wire.Failed(1, "plan", "somebody else began to use the GPU")
    result = machine.run(machine.python(HELLO, GOOD, left_out, dataclasses.replace(DONE, interrupted=True)))

    assert (False, False) == (result.complete, result.stopped)
    assert "the payload stopped: somebody else began to use the GPU" in result.unknowns[-1].why


def test_a_payload_that_dies_leaves_its_results_and_an_unknown(machine: Machine) -> None:
    result = machine.run(machine.python(HELLO, GOOD, then="echo out of memory >&2; exit 9"))
    (unknown,) = result.unknowns

    assert ["read.triton"] == [each.kernel for each in result.measurements]
    assert (False, REST) == (result.complete, unknown.what)
    assert "exit status 9; out of memory" in unknown.why
    assert [] == machine.left


def test_a_payload_that_hangs_is_given_up_and_what_it_said_is_kept(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs, "GRACE_S", 0.5)
    plan = dataclasses.replace(PLAN, deadline_s=0.5, patience_s=0.0)
    result = machine.run(machine.python(HELLO, GOOD, then="sleep 600"), plan)

    assert ["read.triton"] == [each.kernel for each in result.measurements]
    assert "no answer within 1 s" in result.unknowns[0].why
    assert not result.complete
    assert not machine.alive()


ALIEN = dataclasses.replace(HELLO, mode="gpu")
TIMED = wire.Result(0, None, timing_of(1.0, samples_us=(1.0, 2.0)), None, None)


@pytest.mark.parametrize(
    "lines",
    [
        ("Traceback (most recent call last):",),
        (HELLO, '{"kind":"started","entry":77,"stage":"check"}'),
        (GOOD,),
        (HELLO, HELLO),
        (ALIEN,),
        (HELLO, wire.Known(0)),
        (HELLO, TIMED),
        (HELLO, wire.encode(GOOD).replace('"cases":3', f'"cases":{10**30}')),
        (HELLO, wire.encode(GOOD).replace('"equal"', '"\\ud800"')),
    ],
    ids=str,
)
def test_what_no_payload_of_ours_says_is_an_error(machine: Machine, lines: tuple[wire.Line | str, ...]) -> None:
    with pytest.raises(Unreadable, match="something else than a result"):
        machine.run(machine.python(*lines, then="cat >/dev/null"))

    assert [] == machine.left


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("Traceback (most recent call last):", "something else than a result"),
        (HELLO, "something else than a result"),
        (GOOD, "something else than a result"),
        (wire.Refused("gpu_busy", "somebody came"), "the GPU is not free: somebody came"),
        (DONE, "the payload came to its end"),
        (dataclasses.replace(DONE, interrupted=True), "the payload stopped"),
    ],
    ids=str,
)
def test_whatever_is_said_behind_a_result_the_result_is_kept_and_the_run_says_what_it_lacks(
    machine: Machine, line: wire.Line | str, why: str
) -> None:
    result = machine.run(machine.python(HELLO, GOOD, line))
    (unknown,) = result.unknowns

    assert ["read.triton"] == [each.kernel for each in result.measurements]
    assert (False, REST) == (result.complete, unknown.what)
    assert why in unknown.why
    assert unknown.why.endswith(f"{len(PLAN.entries) - 1} of {len(PLAN.entries)} entries were not answered")


def test_an_entry_fails_so_often_and_not_more(machine: Machine) -> None:
    heard = Heard()
    result = machine.run(machine.python(HELLO, *[wire.Failed(0, "check", "no")] * 1000), progress=heard)

    assert MOST_FAILURES == sum(each.why == "no" for each in result.unknowns)
    assert f"entry 0 failed more than {MOST_FAILURES} times" in result.unknowns[-1].why
    assert 1 == heard.done


@pytest.mark.parametrize("samples", ["[]", "[0.0]", "[-1.0]", "[1e999]", "[NaN]"])
def test_times_that_cannot_be_are_refused(machine: Machine, samples: str) -> None:
    plan = dataclasses.replace(plan_gpu(), deadline_s=60.0)
    said = wire.encode(TIMED).replace("[1.0,2.0]", samples)

    with pytest.raises(Unreadable, match="something else than a result"):
        machine.run(machine.python(dataclasses.replace(HELLO, mode="gpu"), said), plan)


def test_what_an_earlier_run_measured_is_taken_over(machine: Machine) -> None:
    """The payload is told the keys; what it recognises is not measured, and stands in the new run."""
    first = machine.run(machine.python(HELLO, GOOD, DONE))
    known = reusable(first.measurements)
    more = dataclasses.replace(GOOD, entry=1)
    second = machine.run(machine.python(HELLO, wire.Known(0), more, DONE), known=known)
    told = wire.decode_plan((machine.folder / "plan.json").read_text())

    assert tuple(known) == told.known
    assert ["read.triton", "copy.triton"] == [each.kernel for each in second.measurements]
    assert first.measurements[0].key == second.measurements[0].key
    assert 1 == second.taken_over


def test_what_disagreed_or_was_disturbed_is_measured_again(machine: Machine) -> None:
    wrong = dataclasses.replace(GOOD, agreement=wire.Agreement(3, 1, "7, the reference says 8"))
    result = machine.run(machine.python(HELLO, wrong, DONE))
    (fine,) = machine.run(machine.python(HELLO, GOOD, DONE)).measurements
    state = DeviceState(**dict.fromkeys(DeviceState.__dataclass_fields__, "") | {"other_processes": "77 500"})

    assert {} == reusable(result.measurements)
    assert [fine.key] == list(reusable([fine]))
    assert {} == reusable([dataclasses.replace(fine, after=state)])


def test_a_place_where_nothing_can_be_executed_is_passed_over(machine: Machine, tmp_path: Path) -> None:
    """By trying: a chmod that has no effect there stands for a file system mounted noexec."""
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "chmod"
    program.write_text(f'#!/bin/sh\ncase "$2" in {machine.runtime}/*) exit 0;; esac\nexec /bin/chmod "$@"\n')
    program.chmod(0o755)
    home = tmp_path / "elsewhere"
    home.mkdir()
    script = ship.script_of(PLAN, (machine.python(HELLO, DONE),)).replace("/dev/shm", "/nowhere")
    environment = {
        "PATH": f"{tmp_path}/bin:{os.environ['PATH']}",
        "XDG_RUNTIME_DIR": str(machine.runtime),
        "TMPDIR": str(home),
    }
    said: list[bytes] = []
    LocalShell(environment=environment).attend(script, said.append, timeout_s=20, cap_bytes=1 << 20)

    assert b"hello" in b"".join(said)
    assert home == Path((tmp_path / "cwd").read_text().strip()).parent
    assert [] == machine.left
    assert [] == list(home.iterdir())


def test_where_there_is_no_place_each_is_named_with_its_reason(machine: Machine) -> None:
    script = ship.script_of(PLAN, (machine.python(HELLO, DONE),)).replace("/dev/shm", "/nowhere")
    script = script.replace(f"-lt {ship.ROOM_KIB}", f"-lt {1 << 60}")
    environment = {"PATH": os.environ["PATH"], "XDG_RUNTIME_DIR": str(machine.runtime), "TMPDIR": "/nowhere"}
    said: list[bytes] = []
    LocalShell(environment=environment).attend(script, said.append, timeout_s=20, cap_bytes=1 << 20)
    refused = wire.decode(b"".join(said).decode())

    assert isinstance(refused, wire.Refused)
    assert "no_place" == refused.why
    assert "XDG_RUNTIME_DIR: less than 131072 KiB free" in refused.detail
    assert "TMPDIR: no folder can be made there" in refused.detail
    assert "HOME: not set" in refused.detail
    assert [] == machine.left


def test_a_python_that_cannot_be_run_is_told(machine: Machine) -> None:
    with pytest.raises(NoTorch, match="cannot be run"):
        machine.run("/nowhere/python")

    assert [] == machine.left


def test_a_python_that_is_too_old_is_told(machine: Machine) -> None:
    machine.status = 1
    with pytest.raises(NoTorch, match=r"older than 3\.10"):
        machine.run(machine.python(HELLO, DONE))

    assert [] == machine.left


@pytest.mark.parametrize("at", ["-c", "-m"])
def test_a_python_that_hangs_when_it_starts_is_told(machine: Machine, monkeypatch: pytest.MonkeyPatch, at: str) -> None:
    monkeypatch.setattr(ship, "START_S", 1)
    with pytest.raises(NoTorch, match="that Python hangs: it did not start within 1 s"):
        machine.run(hanging(machine.folder, at))

    assert [] == machine.left


@pytest.mark.parametrize(
    ("torch", "said"),
    [
        ("", "No module named 'torch'"),
        (
            "raise OSError('libcudart.so.12: cannot open shared object file\\nmore')",
            "OSError: libcudart.so.12: cannot open",
        ),
        ("raise SystemExit('bye')", "SystemExit: bye"),
    ],
)
def test_the_payload_itself_says_why_torch_cannot_be_had(
    machine: Machine, tmp_path: Path, torch: str, said: str
) -> None:
    """The real one, under a Python without torch or with a broken one: all starts, and everything is put away."""
    bare = tmp_path / "bare"
    if torch:
        (tmp_path / "torch.py").write_text(f"{torch}\n")
    module = f"import runpy, sys; sys.path[:0] = ['.', '{tmp_path}']; sys.argv = sys.argv[2:]; "
    module += "runpy.run_module(sys.argv[0], run_name='__main__', alter_sys=True)"
    bare.write_text(f'#!/bin/sh\n[ "$1" = -c ] && exit 0\nexec {sys.executable} -I -S -c "{module}" "$@"\n')
    bare.chmod(0o755)
    with pytest.raises(NoTorch) as caught:
        machine.run(str(bare))

    assert said in caught.value.message
    assert "more" not in caught.value.message
    assert [] == machine.left


def test_files_that_did_not_arrive_whole_are_refused(machine: Machine) -> None:
    cut = f'echo >>{ship.PACKAGE}/op.py; exec {sys.executable} "$@"'
    with pytest.raises(Unreadable, match="not those that were sent"):
        machine.run(machine.python(first=cut))

    assert [] == machine.left
