"""The payload as a process: a stand-in that says prepared lines, so that no torch is needed."""

import dataclasses
import os
import stat
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from recon.errors import Exit, GpuBusy, NoGpu, NotFound, NoTorch, Unreadable
from recon.kernels import wire
from recon.probes import run as runs
from recon.probes.plan import plan_interpret
from recon.probes.run import PAYLOAD, find_python, payload_digest, probe_gpu, run_plan
from tests.probes.test_read import DEVICE, STATE

PLAN = dataclasses.replace(plan_interpret(), deadline_s=60.0)
HELLO = wire.Hello(1, "interpret", DEVICE, STATE)
GOOD = wire.Result(0, wire.Agreement(3, 0, "equal"), None, None, None)
DONE = wire.Done(interrupted=False, seconds=1.0, device_seconds=0.5)

Fake = Callable[..., str]


@pytest.fixture
def fake(tmp_path: Path) -> Fake:
    """Makes a Python that has torch, as far as it says, and whose payload prints lines and then does as told."""

    def make(*lines: wire.Line | str, first: str = "", then: str = "") -> str:
        said = tmp_path / "said.jsonl"
        said.write_text("".join((each if isinstance(each, str) else wire.encode(each)) + "\n" for each in lines))
        script = tmp_path / "python-with-torch"
        script.write_text(
            f'#!/bin/sh\n[ "$1" = -c ] && exit 0\necho $$ >{tmp_path}/pid\npwd >{tmp_path}/cwd\n'
            f"cat >{tmp_path}/plan.json\n{first}\ncat {said}\n{then}\n"
        )
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
        return str(script)

    return make


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


def test_results_become_measurements_as_they_come(fake: Fake) -> None:
    heard = Heard()
    result = run_plan(PLAN, python=fake(HELLO, wire.Started(0, "check"), GOOD, DONE), progress=heard)

    assert ["read.triton"] == [each.kernel for each in result.measurements]
    assert (True, ()) == (result.complete, result.unknowns)
    assert ["check read.triton", "read.triton", "finished"] == heard.notes
    assert (1, len(PLAN.entries)) == (heard.done, heard.total)


def test_the_payload_gets_the_plan_and_a_folder_of_its_own_that_is_removed(fake: Fake, tmp_path: Path) -> None:
    run_plan(PLAN, python=fake(HELLO, DONE))
    folder = Path((tmp_path / "cwd").read_text().strip())

    assert PLAN == wire.decode_plan((tmp_path / "plan.json").read_text())
    assert not folder.exists()
    assert not folder.is_relative_to(PAYLOAD.parent)


def test_the_payload_is_copied_whole(fake: Fake, tmp_path: Path) -> None:
    run_plan(PLAN, python=fake(HELLO, DONE, then=f"find kernels -name '*.py' | sort >{tmp_path}/files"))
    sent = (tmp_path / "files").read_text().split()

    assert sorted(f"kernels/{path.relative_to(PAYLOAD)}" for path in PAYLOAD.rglob("*.py")) == sent


@pytest.mark.parametrize(
    ("why", "error"),
    [("gpu_busy", GpuBusy), ("no_gpu", NoGpu), ("no_torch", NoTorch), ("bad_plan", Unreadable)],
)
def test_a_refusal_is_an_error_with_a_hint(fake: Fake, why: str, error: type[NoGpu]) -> None:
    with pytest.raises(error, match="because") as caught:
        probe_gpu(python=fake(wire.Refused(why, "because")))

    assert Exit.INCOMPLETE == caught.value.exit


def test_without_a_gpu_the_other_ways_are_named(fake: Fake) -> None:
    with pytest.raises(NoGpu) as caught:
        probe_gpu(python=fake(wire.Refused("no_gpu", "torch sees none")))

    assert "--interpret" in caught.value.hint
    assert "--compile-only" in caught.value.hint


def test_ctrl_c_keeps_what_was_finished_and_ends_the_payload(fake: Fake, tmp_path: Path) -> None:
    python = fake(HELLO, GOOD, then="sleep 600")
    begin = time.monotonic()
    result = run_plan(PLAN, python=python, progress=Heard(stop_after=1))

    assert ["read.triton"] == [each.kernel for each in result.measurements]
    assert not result.complete
    assert time.monotonic() - begin < 30
    assert not alive(int((tmp_path / "pid").read_text()))


def test_last_words_after_ctrl_c_are_heard(fake: Fake) -> None:
    more = wire.encode(dataclasses.replace(GOOD, entry=1))
    on_stop = f"trap 'echo '\"'\"'{more}'\"'\"'; exit 0' INT"
    python = fake(HELLO, GOOD, first=on_stop, then="sleep 600 >/dev/null & wait")
    result = run_plan(PLAN, python=python, progress=Heard(stop_after=1))

    assert ["read.triton", "copy.triton"] == [each.kernel for each in result.measurements]
    assert not result.complete


def test_a_payload_that_stops_itself_is_not_complete(fake: Fake) -> None:
    result = run_plan(PLAN, python=fake(HELLO, GOOD, dataclasses.replace(DONE, interrupted=True)))

    assert not result.complete


def test_a_payload_that_dies_leaves_its_results_and_an_unknown(fake: Fake) -> None:
    result = run_plan(PLAN, python=fake(HELLO, GOOD, then="echo out of memory >&2; exit 9"))
    (unknown,) = result.unknowns

    assert ["read.triton"] == [each.kernel for each in result.measurements]
    assert "the rest of the probe" == unknown.what
    assert "exit status 9; out of memory" in unknown.why


def test_a_payload_that_hangs_is_given_up(fake: Fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "GRACE_S", 1.0)
    plan = dataclasses.replace(PLAN, deadline_s=0.5)
    result = run_plan(plan, python=fake(HELLO, GOOD, then="sleep 600"))

    assert "its time was over" in result.unknowns[0].why
    assert not alive(int((tmp_path / "pid").read_text()))


@pytest.mark.parametrize(
    "line", ["Traceback (most recent call last):", '{"kind":"started","entry":77,"stage":"check"}']
)
def test_what_is_no_result_is_an_error(fake: Fake, line: str) -> None:
    with pytest.raises(Unreadable, match="something else than a result"):
        run_plan(PLAN, python=fake(HELLO, line, then="sleep 600"))


def test_a_python_that_does_not_exist_is_named() -> None:
    with pytest.raises(NotFound, match="'/nowhere/python'"):
        find_python("/nowhere/python")


def test_a_python_without_torch_is_named(tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    bare.write_text("#!/bin/sh\nexit 1\n")
    bare.chmod(0o755)

    with pytest.raises(NoTorch, match=str(bare)):
        find_python(str(bare))


def test_this_python_is_tried_before_those_on_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "_HAS_TORCH", "")

    assert sys.executable == find_python()


def test_each_python_is_tried_once_and_the_way_out_is_another_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two environments stay two, although their links lead to the same file."""
    bare = tmp_path / "bare"
    bare.write_text("#!/bin/sh\nexit 1\n")
    bare.chmod(0o755)
    for name in ("one/python", "one/python3", "two/python"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).symlink_to(bare)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "two" / "python"))
    monkeypatch.setenv("PATH", str(tmp_path / "one"))

    with pytest.raises(NoTorch) as caught:
        find_python()

    assert f"no torch and triton in {tmp_path}/two/python, {tmp_path}/one/python3" == caught.value.message
    assert "--python PATH" in caught.value.hint
    assert "--interpret" not in caught.value.hint


def test_the_digest_changes_with_any_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.py").write_text("1")
    monkeypatch.setattr(runs, "PAYLOAD", tmp_path)
    first = payload_digest()
    (tmp_path / "a.py").write_text("2")
    second = payload_digest()
    (tmp_path / "a.py").rename(tmp_path / "b.py")

    assert 3 == len({first, second, payload_digest()})


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
