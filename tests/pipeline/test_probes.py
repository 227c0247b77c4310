"""Probes as the pipeline asks for them."""

from dataclasses import replace

import pytest

from recon import pipeline, probing
from recon.errors import Interrupted
from recon.pipeline import Settings
from recon.ports import Silent
from recon.probes.run import ProbeResult
from recon.probing import Probed, ProbeRequest
from recon.records.host import Host
from recon.records.run import Run
from recon.records.unknown import Unknown

REQUEST = ProbeRequest("gpu", "quick", "", allow_busy=False, archs=(), python="")
HOST = Host("m1", "localhost", "Linux", (), ())


@pytest.mark.parametrize(
    ("complete", "stopped"),
    [
        pytest.param(True, False, id="done"),
        pytest.param(False, True, id="stopped by the user"),
        pytest.param(False, False, id="the line was cut"),
    ],
)
def test_a_probe_that_did_not_come_to_its_end_hands_over_what_it_measured(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, complete: bool, stopped: bool
) -> None:
    """Inside the error where the user stopped it, as a scan does."""
    result = ProbeResult((), (), (Unknown("kernel", "tree_greedy", "it was stopped"),), complete, stopped)
    monkeypatch.setattr(probing, "probed", lambda *_words: Probed(HOST, result))
    if stopped:
        with pytest.raises(Interrupted) as raised:
            pipeline.probe(REQUEST, settings, Silent())
        assert isinstance(raised.value.partial, Run)
        run = raised.value.partial
    else:
        run = pipeline.probe(REQUEST, settings, Silent())

    assert (complete, result.unknowns, (HOST,)) == (run.complete, run.unknowns, run.hosts)


@pytest.mark.parametrize("mode", ["gpu", "interpret", "compile"])
def test_each_mode_of_a_probe_has_its_plan(mode: str) -> None:
    made = probing.plan_of(replace(REQUEST, mode=mode, archs=(90,)))

    assert mode == made.mode
    assert ((90,) if mode == "compile" else ()) == made.archs
