"""Probes as the pipeline asks for them."""

from dataclasses import replace

import pytest

from recon import pipeline, probing
from recon.errors import Interrupted
from recon.pipeline import Settings
from recon.ports import Silent
from recon.probes.run import ProbeResult
from recon.probing import ProbeRequest
from recon.records.run import Run
from recon.records.unknown import Unknown

REQUEST = ProbeRequest("gpu", "quick", "", allow_busy=False, archs=(), python="")


@pytest.mark.parametrize("complete", [True, False])
def test_a_probe_that_was_stopped_hands_over_what_it_measured(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, complete: bool
) -> None:
    """Inside the error, as a scan does."""
    result = ProbeResult((), (), (Unknown("kernel", "tree_greedy", "it was stopped"),), complete)
    monkeypatch.setattr(probing, "probe_gpu", lambda *_words, **_named: result)
    if complete:
        run = pipeline.probe(REQUEST, settings, Silent())
    else:
        with pytest.raises(Interrupted) as stopped:
            pipeline.probe(REQUEST, settings, Silent())
        assert isinstance(stopped.value.partial, Run)
        run = stopped.value.partial

    assert (complete, result.unknowns, ()) == (run.complete, run.unknowns, run.installs)


@pytest.mark.parametrize(("mode", "door"), [("interpret", "probe_interpret"), ("compile", "compile_only")])
def test_each_mode_of_a_probe_has_its_door(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, mode: str, door: str
) -> None:
    """Without a GPU, kernels are interpreted or compiled."""
    asked: list[object] = []

    def answer(*words: object, **named: object) -> ProbeResult:
        asked.append((words, named["python"]))
        return ProbeResult((), (), ())

    monkeypatch.setattr(probing, door, answer)
    pipeline.probe(replace(REQUEST, mode=mode, archs=(90,), python="/p"), settings, Silent())

    assert [((((90,),) if mode == "compile" else ()), "/p")] == asked


@pytest.mark.parametrize("mode", ["gpu", "interpret", "compile"])
def test_a_plan_can_be_had_without_running_it(mode: str) -> None:
    """It says what would be done."""
    assert probing.plan(replace(REQUEST, mode=mode)) is not None
