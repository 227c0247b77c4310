"""A plan carried out: what fails is said and the rest goes on, what disagrees is not timed."""

import json
import time
from pathlib import Path

import pytest
import torch

from recon.kernels import bench as benches
from recon.kernels import wire, work
from recon.kernels.card import Card
from recon.kernels.device import Smi
from recon.kernels.op import Op, Work
from recon.kernels.wire import Axes
from tests.kernels.fakes import FakeStream, doubling, right

AXES: Axes = {"size": 8}


class Told(list[wire.Line]):
    """Lines as they would be read at the other end."""

    def __call__(self, line: wire.Line) -> None:
        self.append(wire.decode(wire.encode(line)))

    def of(self, entry: int) -> list[wire.Line]:
        return [each for each in self if isinstance(each, wire.Result | wire.Failed) and each.entry == entry]


@pytest.fixture
def stream(monkeypatch: pytest.MonkeyPatch) -> FakeStream:
    monkeypatch.setattr(benches, "WARMUP_S", 0.0)
    monkeypatch.setattr(benches, "QUEUED_S", 0.0)
    return FakeStream()


def run(stream: FakeStream, monkeypatch: pytest.MonkeyPatch, deadline_s: float = 60.0, **ops: Op) -> Told:
    """A session over the operators given, one entry each."""
    monkeypatch.setattr(work, "op_of", lambda kernel: doubling(right) if kernel == "nop" else ops[kernel])
    monkeypatch.setattr(benches, "calibrate", lambda _bench, _op: None)
    plan = wire.Plan(
        schema_version=1,
        mode="gpu",
        gpu="",
        allow_busy=False,
        entries=tuple(wire.Entry(i, "test", "subject", name, "only", AXES) for i, name in enumerate(ops)),
        checks=tuple(wire.Check(name, {"size": 3}) for name in ops),
        archs=(),
        seed=0,
        samples=30,
        memory_limit_bytes=1 << 20,
        memory_fraction=0.5,
        deadline_s=deadline_s,
    )
    smi = Smi("0")
    smi.silent = "there is no GPU here"
    bench = benches.Bench(stream, torch.device("cpu"), Card(2, 1e9), 1000, 1 << 20, plan.samples, smi)
    told = Told()
    work._Session(plan, told, bench, time.monotonic()).run()
    return told


def ticking(stream: FakeStream) -> Op:
    def launch(each: Work, config: Axes) -> None:
        stream.now_us += 500.0
        right(each, config)

    return doubling(launch)


def raising(_work: Work, _config: Axes) -> None:
    raise ValueError("out of registers")


def wrong(each: Work, _config: Axes) -> None:
    each.outputs["y"].copy_(each.inputs["x"])


def test_a_kernel_that_agrees_is_timed(stream: FakeStream, monkeypatch: pytest.MonkeyPatch) -> None:
    told = run(stream, monkeypatch, good=ticking(stream))
    (result,) = told.of(0)

    assert isinstance(result, wire.Result)
    assert result.timing is not None
    assert result.agreement is not None
    assert (30, 0) == (len(result.timing.samples_us), result.agreement.mismatches)
    assert isinstance(told[-1], wire.Done)
    assert not told[-1].interrupted


def test_a_kernel_that_disagrees_is_not_timed(stream: FakeStream, monkeypatch: pytest.MonkeyPatch) -> None:
    told = run(stream, monkeypatch, bad=doubling(wrong), good=ticking(stream))
    (bad,), (good,) = told.of(0), told.of(1)

    assert isinstance(bad, wire.Result)
    assert isinstance(good, wire.Result)
    assert bad.agreement is not None
    assert (1, None) == (bad.agreement.mismatches, bad.timing)
    assert good.timing is not None


def test_a_kernel_that_raises_is_said_and_the_rest_goes_on(stream: FakeStream, monkeypatch: pytest.MonkeyPatch) -> None:
    told = run(stream, monkeypatch, bad=doubling(raising), good=ticking(stream))
    (bad,), (good,) = told.of(0), told.of(1)

    assert wire.Failed(0, "tune", "ValueError: out of registers") == bad
    assert isinstance(good, wire.Result)


def test_a_lost_device_ends_the_run_with_what_was_known(stream: FakeStream, monkeypatch: pytest.MonkeyPatch) -> None:
    def break_device(_work: Work, _config: Axes) -> None:
        monkeypatch.setattr(stream, "synchronize", lambda: raising(_work, _config))
        raise ValueError("illegal address")

    told = run(stream, monkeypatch, good=ticking(stream), bad=doubling(break_device), later=ticking(stream))

    assert isinstance(told.of(0)[0], wire.Result)
    assert "the device is lost" in str(told.of(1)[-1])
    assert [] == told.of(2)
    assert isinstance(told[-1], wire.Done)
    assert told[-1].interrupted


def test_ctrl_c_ends_the_run_with_what_was_known(stream: FakeStream, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(_work: Work, _config: Axes) -> None:
        raise KeyboardInterrupt

    told = run(stream, monkeypatch, good=ticking(stream), stopped=doubling(interrupt))

    assert isinstance(told.of(0)[0], wire.Result)
    assert isinstance(told[-1], wire.Done)
    assert told[-1].interrupted


def test_after_the_deadline_entries_are_left_out(stream: FakeStream, monkeypatch: pytest.MonkeyPatch) -> None:
    told = run(stream, monkeypatch, deadline_s=-1.0, late=ticking(stream))

    assert [wire.Failed(0, "plan", "left out: -1 s were over")] == told.of(0)


def gpu_plan(**changed: object) -> wire.Plan:
    empty = {"schema_version": 1, "mode": "gpu", "gpu": "", "allow_busy": False, "entries": [], "checks": []}
    more = {"archs": [], "seed": 0, "samples": 1, "memory_limit_bytes": 1, "memory_fraction": 1.0, "deadline_s": 1.0}
    more |= {"device_limit_s": 1.0, "patience_s": 1.0, "payload": "", "known": [], "subjects": []}
    more |= {"library": "", "bursts": 0}
    return wire.decode_plan(json.dumps(empty | more | changed))


@pytest.fixture
def busy_gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An nvidia-smi that shows a GPU on which another process computes."""
    program = tmp_path / "nvidia-smi"
    gpu = "GPU-1, 580, 1980, 3201, 70, 700, 30, 0, On, Disabled, Default, Enabled, 4, 143771, 0, 1:0.0, 0, No, None"
    program.write_text(f'#!/bin/sh\ncase "$*" in *--query-gpu*) echo "{gpu}";; *) echo "GPU-1, 77, 500";; esac\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")


@pytest.mark.usefixtures("busy_gpu")
def test_a_busy_gpu_is_refused_before_it_is_touched(monkeypatch: pytest.MonkeyPatch) -> None:
    def touched() -> bool:
        raise AssertionError("CUDA was started")

    monkeypatch.setattr(torch.cuda, "is_available", touched)
    told = Told()
    status = work.on_gpu(gpu_plan(), told)

    assert 1 == status
    assert [wire.Refused("gpu_busy", "compute processes are running on it (pid, MiB): 77 500")] == told


@pytest.mark.usefixtures("busy_gpu")
def test_a_busy_gpu_is_taken_where_that_is_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    told = Told()
    work.on_gpu(gpu_plan(allow_busy=True), told)

    assert ["no_gpu"] == [each.why for each in told if isinstance(each, wire.Refused)]


@pytest.mark.usefixtures("busy_gpu")
@pytest.mark.parametrize(
    ("job", "why"),
    [
        ({}, "not_allotted"),
        ({"SLURM_JOB_ID": "5"}, "not_allotted"),
        ({"SLURM_JOB_ID": "5", "SLURMD_NODENAME": "gpu07"}, "gpu_busy"),
    ],
)
def test_a_gpu_that_slurm_gives_out_is_taken_inside_of_a_job_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, job: dict[str, str], why: str
) -> None:
    (tmp_path / "srun").write_text("#!/bin/sh\n")
    (tmp_path / "srun").chmod(0o755)
    for name, value in job.items():
        monkeypatch.setenv(name, value)
    told = Told()

    assert 1 == work.on_gpu(gpu_plan(), told)
    assert [why] == [each.why for each in told if isinstance(each, wire.Refused)]


@pytest.mark.usefixtures("busy_gpu")
def test_past_slurm_where_that_is_allowed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "srun").write_text("#!/bin/sh\n")
    (tmp_path / "srun").chmod(0o755)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    told = Told()
    work.on_gpu(gpu_plan(allow_busy=True), told)

    assert ["no_gpu"] == [each.why for each in told if isinstance(each, wire.Refused)]


@pytest.mark.parametrize("hidden", ["", "-1", "NoDevFiles"])
def test_hidden_gpus_stay_hidden(monkeypatch: pytest.MonkeyPatch, hidden: str) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", hidden)
    told = Told()
    work.on_gpu(gpu_plan(), told)

    assert [wire.Refused("no_gpu", f"CUDA_VISIBLE_DEVICES is {hidden!r}")] == told


@pytest.mark.parametrize(("version", "old"), [("3.1.0", True), ("3.2.0+git1", True), ("3.3.1", False), ("4.0", False)])
def test_an_interpreter_that_would_accuse_every_kernel_is_not_asked(version: str, old: bool) -> None:
    assert old == bool(work._too_old(version))
