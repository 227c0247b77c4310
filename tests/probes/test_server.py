"""The payload's server: what a kernel does to its process is a result, and the others go on."""

import subprocess
import sys
from pathlib import Path

import pytest

from recon.kernels import wire
from tests.probes.serving import WRONG
from tests.probes.test_device import FREE

ROOT = Path(__file__).resolve().parents[2]


def served(name: str, folder: Path) -> list[wire.Line]:
    """What a server says of a plan."""
    words = [sys.executable, "-m", "tests.probes.serving", name, str(folder)]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert "" == done.stderr
    return [wire.decode(line) for line in done.stdout.splitlines()]


@pytest.fixture(scope="module")
def lines(tmp_path_factory: pytest.TempPathFactory) -> list[wire.Line]:
    """What is said of kernels that go wrong in every way."""
    return served("wrong", tmp_path_factory.mktemp("served"))


def failures(lines: list[wire.Line]) -> dict[str, str]:
    """Why, by kernel and variant."""
    return {wire.name_of(WRONG.entries[each.entry]): each.why for each in lines if isinstance(each, wire.Failed)}


def test_a_kernel_that_goes_wrong_takes_no_other_with_it(lines: list[wire.Line]) -> None:
    agreed = [wire.name_of(WRONG.entries[each.entry]) for each in lines if isinstance(each, wire.Result)]

    assert {"fine", "fine.again", "pair.good", "lost.second", "prints", "repeats"} == set(agreed)
    assert len(agreed) == len(set(agreed))
    dead = {"faults", "hangs", "killed", "raises", "pair.faults", "lost.first"}
    assert dead | {"babbles", "forges", "floods"} == set(failures(lines))


def test_each_failure_says_what_happened(lines: list[wire.Line]) -> None:
    why = failures(lines)

    assert "its process ended by SIGSEGV" == why["faults"]
    assert "its process ended by SIGSEGV" == why["pair.faults"]
    assert "its process ended by SIGKILL" == why["killed"]
    assert "its process ended by exit status 70: MemoryError: no more" == why["raises"]
    assert "it hangs: no word for 1 s, so it was killed" == why["hangs"]
    assert "the device is lost to this process" == why["lost.first"]
    nonsense = "it said something else than a result: "
    assert f"{nonsense}not JSON: Expecting value: line 1 column 1 (char 0)" == why["babbles"]
    assert f"{nonsense}it was not given entry 99" == why["forges"]
    assert f"{nonsense}a line of more than {wire.LINE_LIMIT_BYTES} bytes" == why["floods"]


def test_there_is_one_beginning_and_one_end(lines: list[wire.Line]) -> None:
    """Each child introduces itself and says its last word; only the server's are handed on."""
    assert isinstance(lines[0], wire.Hello)
    assert isinstance(lines[-1], wire.Done)
    assert 2 == sum(isinstance(each, wire.Hello | wire.Done) for each in lines)
    assert not lines[-1].interrupted
    assert lines[-1].device_seconds > 1.0
    assert lines[-1].processor_seconds > 0.01


def test_a_kernel_has_a_process_and_its_cases_share_it(lines: list[wire.Line]) -> None:
    where = {
        wire.name_of(WRONG.entries[each.entry]): each.agreement.detail
        for each in lines
        if isinstance(each, wire.Result) and each.agreement
    }

    assert where["fine"] == where["fine.again"]
    assert len(set(where.values())) == len(where) - 1


def test_a_device_that_is_refused_midway_ends_the_rest(tmp_path: Path) -> None:
    lines = served("refuses", tmp_path)
    left = {each.entry: each.why for each in lines if isinstance(each, wire.Failed)}

    assert [0] == [each.entry for each in lines if isinstance(each, wire.Result)]
    assert {1: "it fell off the bus", 2: "it fell off the bus"} == left
    assert isinstance(lines[-1], wire.Done)
    assert lines[-1].interrupted


def test_what_no_time_is_left_for_is_said(tmp_path: Path) -> None:
    (failed,) = (each for each in served("late", tmp_path) if isinstance(each, wire.Failed))

    assert (0, "plan", "left out: 0 s were over") == (failed.entry, failed.stage, failed.why)


def test_what_the_plan_calls_known_is_recognised_and_not_done(tmp_path: Path) -> None:
    lines = served("known", tmp_path)

    assert [0] == [each.entry for each in lines if isinstance(each, wire.Known)]
    assert [1] == [each.entry for each in lines if isinstance(each, wire.Result)]


@pytest.mark.parametrize(
    ("number", "why"), [(79, {1: "the driver reported faults of the GPU meanwhile: Xid 79"}), (31, {})]
)
def test_a_gpu_that_fails_gets_no_more_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, why: dict[int, str]
) -> None:
    """An error that a program can bring about ends the program alone."""
    programs = {
        "nvidia-smi": f'case "$*" in *--query-gpu*) echo "{FREE}";; esac',
        "dmesg": "echo '[0.0] Linux'\n"
        f"[ ! -e {tmp_path}/asked ] || echo '[9.0] NVRM: Xid (PCI:0000:81:00): {number}, x'; : >{tmp_path}/asked",
    }
    for name, body in programs.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{body}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    lines = served("on a gpu", tmp_path)

    assert why == {each.entry: each.why for each in lines if isinstance(each, wire.Failed)}
    assert [0, 1][: 2 - len(why)] == [each.entry for each in lines if isinstance(each, wire.Result)]
    assert isinstance(lines[-1], wire.Done)
    assert bool(why) == lines[-1].interrupted


def test_a_kernel_gets_device_time_by_its_cases_but_never_too_little(tmp_path: Path) -> None:
    """One case of thirty is two seconds of a minute: a check alone may take as long."""
    results = [each for each in served("shared", tmp_path) if isinstance(each, wire.Result)]
    limits = [each.agreement.detail.rpartition("for ")[2] for each in results if each.agreement]

    assert ["10 s", *["59 s"] * 29] == limits


def test_without_room_for_last_words_work_goes_on(tmp_path: Path) -> None:
    first, *_ = served("late", tmp_path / "nowhere")

    assert isinstance(first, wire.Hello)
