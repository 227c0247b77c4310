"""`recon probe-kernels`: the request, and how it ends."""

import json
from pathlib import Path

import pytest

from recon.errors import GpuBusy
from recon.probing import ProbeRequest
from recon.runs.files import listing
from tests.cli.conftest import Recon, Stages
from tests.report.hand import probe

QUICK = ProbeRequest("gpu", "quick", "", allow_busy=False, archs=(), python="")


@pytest.mark.parametrize(
    ("words", "request_"),
    [
        ((), QUICK),
        (("--quick",), QUICK),
        (("--full", "--gpu", "1"), ProbeRequest("gpu", "full", "1", allow_busy=False, archs=(), python="")),
        (("--interpret",), ProbeRequest("interpret", "quick", "", allow_busy=False, archs=(), python="")),
        (
            ("--compile-only", "--arch", "sm_90, 100,12.0,sm_90a"),
            ProbeRequest("compile", "quick", "", allow_busy=False, archs=(90, 100, 120), python=""),
        ),
        (
            ("--python", "/x/bin/python", "--allow-busy"),
            ProbeRequest("gpu", "quick", "", allow_busy=True, archs=(), python="/x/bin/python"),
        ),
    ],
)
def test_the_words_become_a_request(
    recon_command: Recon, stages: Stages, words: tuple[str, ...], request_: ProbeRequest
) -> None:
    stages.answer = probe()
    recon_command("probe-kernels", *words)

    assert request_ == stages.asked[0][0]


def test_the_run_is_saved_as_a_probe_and_a_disagreement_is_incomplete(
    recon_command: Recon, stages: Stages, state: Path
) -> None:
    stages.answer = probe()
    ended = recon_command("probe-kernels")

    assert 3 == ended.code
    assert ["probe"] == [each.kind for each in listing(state)]
    assert "measurement\tNVIDIA H200\ttree_verify\t" in ended.out


def test_a_plan_is_printed_and_nothing_is_done(recon_command: Recon, stages: Stages, state: Path) -> None:
    ended = recon_command("probe-kernels", "--plan-only", "--interpret")

    assert "interpret" == json.loads(ended.out)["mode"]
    assert [] == stages.asked
    assert () == listing(state)


@pytest.mark.parametrize(
    "words", [("--interpret", "--compile-only"), ("--arch", "90"), ("--compile-only", "--arch", "x")]
)
def test_words_that_contradict_are_a_usage_error(recon_command: Recon, stages: Stages, words: tuple[str, ...]) -> None:
    assert 2 == recon_command("probe-kernels", *words).code
    assert [] == stages.asked


def test_a_busy_gpu_is_incomplete(recon_command: Recon, stages: Stages) -> None:
    stages.answer = GpuBusy("GPU 0 is used by pid 7", "--allow-busy measures all the same")
    ended = recon_command("probe-kernels", "--json")

    assert (3, "gpu_busy") == (ended.code, json.loads(ended.out)["error"]["kind"])
