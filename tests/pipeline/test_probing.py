"""Which Python of a machine a probe runs under, what it need not measure again, and what it says beforehand."""

import contextlib
import dataclasses
import json
import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from recon import probing
from recon.errors import GpuBusy, NotFound, NoTorch, Unreachable, Unreadable
from recon.facts.gpus import HANGS
from recon.hosts.local import LocalShell
from recon.pipeline import Settings
from recon.ports import Silent
from recon.probes.run import ProbeResult, reusable
from recon.probing import ProbeRequest, earlier, plan_of
from recon.records.cut import CutFunction
from recon.records.host import Gpu, Host, PythonEnv
from recon.records.run import Run
from recon.records.unknown import REST, Unknown
from recon.runs.files import save
from recon.targets import NO_GPUS
from tests.pipeline.engines import VLLM, tree
from tests.report.hand import measurement
from tests.report.hand import probe as probe_run

REQUEST = ProbeRequest("gpu", "quick", "", allow_busy=False, archs=(), python="")
BLACKWELL = Gpu(0, "GPU-1", "NVIDIA RTX PRO 6000", (12, 0), 1, "580")
SHELL = LocalShell(environment={"PATH": os.environ["PATH"]})


def env(
    folder: Path, torch: str = "2.9.0", triton: str = "3.5.0", more: Mapping[str, str | bytes] | None = None
) -> PythonEnv:
    """A Python environment with a torch and a Triton of these versions."""
    site = folder / "lib/python3.12/site-packages"
    dists = {f"{name}-{version}.dist-info/METADATA": "" for name, version in (("torch", torch), ("triton", triton))}
    tree(site, {name: text for name, text in dists.items() if "-." not in name} | dict(more or {}))
    (folder / "bin").mkdir()
    (folder / "bin" / "python3").write_text("#!/bin/sh\n")
    (folder / "bin" / "python3").chmod(0o755)
    return PythonEnv(str(folder), "venv", "3.12", (str(site),))


def host(*environments: PythonEnv, gpus: tuple[Gpu, ...] = ()) -> Host:
    return Host("m1", "gpu1", "Linux", gpus, environments)


def chosen(machine: Host, **changed: str) -> tuple[str, ...]:
    return probing._pythons(SHELL, machine, dataclasses.replace(REQUEST, **changed))  # type: ignore[arg-type]


def test_the_environment_with_an_engine_comes_first(tmp_path: Path) -> None:
    """Times are wanted of what the engine runs with."""
    plain, engine = env(tmp_path / "plain"), env(tmp_path / "engine", more=VLLM)

    assert f"{tmp_path}/engine/bin/python3.12" == chosen(host(plain, engine))[0]
    assert f"{tmp_path}/plain/bin/python3.12" == chosen(host(plain))[0]


def test_an_environment_that_could_not_run_the_payload_is_passed_over_with_its_reason(tmp_path: Path) -> None:
    old, young = env(tmp_path / "old", triton="3.1.0"), env(tmp_path / "young", more={})

    assert f"{tmp_path}/old/bin/python3.12" == chosen(host(old, young))[0]
    assert f"{tmp_path}/young/bin/python3.12" == chosen(host(old, young, gpus=(BLACKWELL,)))[0]
    with pytest.raises(NoTorch, match=r"triton 3\.1\.0 is older than 3\.3\.1, the first for sm_120"):
        chosen(host(old, gpus=(BLACKWELL,)))


def test_where_no_environment_has_torch_their_number_is_said(tmp_path: Path) -> None:
    bare = PythonEnv(str(tmp_path), "venv", "3.12", (str(tmp_path / "nothing"),))

    with pytest.raises(NoTorch, match="no torch and triton in the 1 Python environment of gpu1") as caught:
        chosen(host(bare))
    assert "--environment FOLDER" in caught.value.hint


def test_a_python_that_is_named_is_found_by_its_path_or_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    env(tmp_path / "one")
    monkeypatch.chdir(tmp_path)

    assert (f"{tmp_path}/one/bin/python3",) == chosen(host(), python="one/bin/python3")
    assert (f"{tmp_path}/one/bin/python3",) == chosen(host(), environment=f"{tmp_path}/one")
    assert chosen(host(), python="sh")[0].endswith("/sh")


@pytest.mark.parametrize("named", [{"python": "/nowhere/python"}, {"environment": "/nowhere"}, {"python": "/tmp"}])
def test_what_is_named_and_not_there_is_told(named: dict[str, str]) -> None:
    with pytest.raises(NotFound, match=next(iter(named.values()))):
        chosen(host(), **named)


def saved(state: Path, run: Run, started: str) -> None:
    save(dataclasses.replace(run, started_at=started), state)


def test_what_earlier_probes_of_this_machine_measured_is_known(tmp_path: Path) -> None:
    run = probe_run()
    tree_key, first = "k" * 64, run.measurements[1]
    newer = dataclasses.replace(measurement("tree_verify", "subject", 9.0), key=tree_key)
    saved(
        tmp_path,
        dataclasses.replace(run, measurements=(dataclasses.replace(first, key=tree_key),)),
        "2026-11-01T10:00:00Z",
    )
    saved(tmp_path, dataclasses.replace(run, measurements=(newer,)), "2026-11-02T10:00:00Z")
    (tmp_path / "runs" / "20261103T100000Z-gpu1-probe-abcdef.json").write_text("{")
    (machine,) = run.hosts

    assert {tree_key: newer} == earlier(tmp_path, machine)
    assert {} == earlier(tmp_path, dataclasses.replace(machine, id="another"))
    assert {} == earlier(tmp_path / "nowhere", machine)


def test_only_what_agreed_and_was_timed_is_taken_over() -> None:
    """Neither a kernel that disagrees, nor one that was only built."""
    apart = [dataclasses.replace(each, key=str(number)) for number, each in enumerate(probe_run().measurements)]
    kept = [(each.kernel, each.mode) for each in reusable(apart).values()]

    assert [("linear_verify", "gpu"), ("tree_verify", "gpu"), ("tree_verify", "interpret")] == kept


@pytest.mark.parametrize(("fresh", "known"), [(False, 1), (True, 0)])
def test_fresh_measures_all_of_it_again(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, fresh: bool, known: int
) -> None:
    told: list[int] = []

    def carried(*_words: object, known: Mapping[str, object], **_named: object) -> ProbeResult:
        told.append(len(known))
        return ProbeResult((), (), (), taken_over=len(known), seconds=61.0, processor_seconds=47.0)

    one = measurement("tree_verify", "subject", 9.0)
    monkeypatch.setattr(probing, "earlier", lambda *_words: {one.key: one})
    monkeypatch.setattr(probing, "run_plan", carried)
    found = probing.probed(dataclasses.replace(REQUEST, python="sh", fresh=fresh), settings, Silent())

    assert [known] == told
    assert bool(known) == any("--fresh" in note for note in found.host.notes)
    assert "the payload worked for 61 s there, and took 47 s of processor time" in found.host.notes
    assert not any("left out" in note for note in found.host.notes)


def test_a_payload_that_died_before_it_had_a_result_leaves_no_run(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run of it would hold nothing, and be taken for the newest."""
    died = ProbeResult((), (), (Unknown(REST, "here", "the payload ended early: exit status 9"),), complete=False)
    request = dataclasses.replace(REQUEST, python="sh")
    monkeypatch.setattr(probing, "run_plan", lambda *_words, **_named: died)

    with pytest.raises(Unreadable, match="ended early: exit status 9"):
        probing.probed(request, settings, Silent())

    monkeypatch.setattr(probing, "run_plan", lambda *_words, **_named: dataclasses.replace(died, failures={0: "no"}))

    assert not probing.probed(request, settings, Silent()).result.complete


def test_what_is_left_out_for_its_memory_is_counted() -> None:
    small = dataclasses.replace(REQUEST, max_memory_bytes=40 << 20)
    cases = [len({(each.probe, str(each.axes)) for each in plan_of(asked).entries}) for asked in (REQUEST, small)]

    assert cases[0] - cases[1] == probing.too_large(small) > 0
    assert 0 == probing.too_large(dataclasses.replace(small, mode="interpret"))


def test_a_model_gives_its_shapes_to_the_cases() -> None:
    entries = plan_of(dataclasses.replace(REQUEST, model="Llama-3.1-8B")).entries
    shaped = [(entry.kernel, entry.variant, sorted(entry.axes.items())) for entry in entries if "vocab" in entry.axes]

    assert {128_256} == {dict(axes)["vocab"] for _, _, axes in shaped}
    assert len(set(map(str, shaped))) == len(shaped)  # no case twice


def test_less_memory_leaves_out_what_does_not_fit() -> None:
    small = plan_of(dataclasses.replace(REQUEST, max_memory_bytes=100 << 20))

    assert 100 << 20 == small.memory_limit_bytes
    assert 0 < len(small.entries) < len(plan_of(REQUEST).entries)


def test_a_quick_probe_takes_at_most_two_gib_and_a_minute_of_the_device() -> None:
    quick, full = plan_of(REQUEST), plan_of(dataclasses.replace(REQUEST, level="full"))

    assert (2 << 30, 60.0) == (quick.memory_limit_bytes, quick.device_limit_s)
    assert 0.5 == full.memory_fraction


@pytest.mark.parametrize(("allowed", "asked"), [(False, 0), (True, 1)])
def test_a_driver_that_hangs_is_not_asked_again(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, allowed: bool, asked: int
) -> None:
    """The payload would wait for it as long as the facts did."""
    runs: list[object] = []

    def carried(*words: object, **_named: object) -> ProbeResult:
        runs.append(words)
        return ProbeResult((), (), ())

    sick = dataclasses.replace(host(), notes=(f"{NO_GPUS}{HANGS}",))
    monkeypatch.setattr(probing, "surveyed", lambda *_words: (sick, ()))
    monkeypatch.setattr(probing, "run_plan", carried)
    request = dataclasses.replace(REQUEST, python="sh", allow_busy=allowed)
    with contextlib.nullcontext() if allowed else pytest.raises(GpuBusy, match="within 10 s"):
        probing.probed(request, settings, Silent())

    assert asked == len(runs)


def test_what_functions_of_an_engine_did_is_kept_where_nothing_can_be_timed_behind_it(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut = CutFunction("i", "p/a.py", "f", 3, "p.a", "def f(): pass", (), ("p/a.py:f",), (), ("p/a.py:f",), ())
    said = json.dumps({"how": "cut", "shown": [], "why": "nothing fits"})
    carried = iter([ProbeResult((), (BLACKWELL,), (), answers={0: said})])

    def carry(*_words: object, **_named: object) -> ProbeResult:
        for each in carried:
            return each
        raise Unreachable("gpu1: no answer")

    monkeypatch.setattr(probing, "run_plan", carry)
    found = probing.probed(dataclasses.replace(REQUEST, python="sh"), settings, Silent(), (cut,))

    assert ["nothing fits"] == [each.why for each in found.behaviours]
    assert (False, ("gpu1: no answer",)) == (found.result.complete, tuple(each.why for each in found.result.unknowns))


def test_a_gpu_has_the_index_that_its_host_gives_it(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """To the payload the GPU that was chosen is the only one."""
    third = dataclasses.replace(BLACKWELL, index=3)
    others = [dataclasses.replace(BLACKWELL, uuid=f"GPU-other-{number}", index=number) for number in range(3)]
    monkeypatch.setattr(probing, "surveyed", lambda *_words: (host(gpus=(*others, third)), ()))
    monkeypatch.setattr(probing, "run_plan", lambda *_words, **_named: ProbeResult((), (BLACKWELL,), ()))
    found = probing.probed(dataclasses.replace(REQUEST, python="sh"), settings, Silent())

    assert (third,) == found.host.gpus
