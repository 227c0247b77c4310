"""`recon probe-kernels`: the request, and how it ends."""

import json
import socket
from dataclasses import replace
from pathlib import Path

import pytest

from recon.errors import GpuBusy, Interrupted
from recon.probes.ship import PAYLOAD
from recon.probing import ProbeRequest
from recon.records.behaviour import Behaviour
from recon.runs.files import listing
from tests.cli.conftest import Recon, Stages
from tests.report.hand import probe

QUICK = ProbeRequest("gpu", "quick", "", allow_busy=False, archs=(), python="")


@pytest.mark.parametrize(
    ("words", "request_"),
    [
        ((), QUICK),
        (("--quick",), QUICK),
        (("--full", "--gpu", "1"), replace(QUICK, level="full", gpu="1")),
        (("--interpret",), replace(QUICK, mode="interpret")),
        (("--compile-only", "--arch", "sm_90, 100,12.0,sm_90a"), replace(QUICK, mode="compile", archs=(90, 100, 120))),
        (("--allow-busy", "localhost", "--python", "/p"), replace(QUICK, allow_busy=True, python="/p")),
        (("--allow-busy", socket.gethostname()), replace(QUICK, allow_busy=True)),
        (("--host", "me@g:22", "--allow-busy", "g"), replace(QUICK, host="me@g:22", allow_busy=True)),
        (("--host", "me@g:22", "--allow-busy", "me@g:22"), replace(QUICK, host="me@g:22", allow_busy=True)),
        (("--gpu", "GPU-0a1b-2c"), replace(QUICK, gpu="GPU-0a1b-2c")),
        (("--environment", "/srv/env/"), replace(QUICK, environment="/srv/env")),
        (("--host", "me@gpu07:22", "--fresh"), replace(QUICK, host="me@gpu07:22", fresh=True)),
        (("--engine-baselines",), replace(QUICK, engine_baselines=True)),
        (("--host", "gpu07", "--engine", "src"), replace(QUICK, host="gpu07", engine_baselines=True, engines=("src",))),
        (("--model", "Qwen3-8B", "--tp", "4"), replace(QUICK, model="Qwen3-8B", tp=4)),
        (("--full", "--max-memory", "8GiB"), replace(QUICK, level="full", max_memory_bytes=8 << 30)),
    ],
)
def test_the_words_become_a_request(
    recon_command: Recon, stages: Stages, words: tuple[str, ...], request_: ProbeRequest
) -> None:
    """A host is not reached here: how that is done goes along in the settings."""
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
    """Every command, every file with its size and digest, and what would be measured; nobody is connected to."""
    ended = recon_command("probe-kernels", "--plan", "--json", "--host", "nowhere.invalid", "--model", "Llama-3.1-8B")
    made = json.loads(ended.out)
    sizes = {each["name"]: each["size_bytes"] for each in made["files"]}

    assert "gpu" == made["plan"]["mode"]
    assert {128_256} == {entry["axes"]["vocab"] for entry in made["plan"]["entries"] if "vocab" in entry["axes"]}
    assert (PAYLOAD / "server.py").stat().st_size == sizes["recon_payload/server.py"]
    assert sum(sizes.values()) < made["sent_bytes"]
    assert all(f"put {each['name']} @{each['sha256']}@" in made["script"] for each in made["files"])
    assert "exec /bin/sh -s" == made["line"]
    assert [] == stages.asked
    assert () == listing(state)


def test_a_plan_can_be_read_by_a_person(recon_command: Recon, stages: Stages) -> None:
    ended = recon_command("probe-kernels", "--plan")

    assert "This machine would be asked" in ended.out
    assert "None of its settings is changed." in ended.out
    assert "tree_greedy.fused batch=1 nodes=64 vocab=151936" in ended.out
    assert 'mktemp -d "$2/recon-probe-' in ended.out
    assert "left out" not in ended.out
    assert "cases are left out" in recon_command("probe-kernels", "--plan", "--max-memory", "40MiB").out
    assert "engines are scanned" not in ended.out
    assert "engines are scanned" in recon_command("probe-kernels", "--plan", "--engine-baselines").out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--interpret", "--compile-only"), "exclude each other"),
        (("--arch", "90"), "--compile-only"),
        (("--compile-only", "--engine", "src"), "none is run"),
        (("--compile-only", "--arch", "x"), "no target"),
        (("--interpret", "--gpu", "1"), "no"),
        (("--tp", "2"), "--model"),
        (("--model", "Qwen3-8B", "--tp", "3", "--plan"), "does not divide the 32 query heads"),
        (("--model", "Qwen3-8C", "--plan"), "Qwen3-8B"),
        (("--max-memory", "much"), "no size"),
        (("--python", "p", "--environment", "/e"), "--python"),
        (("--environment", "e"), "no whole path"),
        (("--batch",), "hosts"),
        (("--compile-only", "--engine-baselines"), "none is run"),
        (("--compile-only", "--fresh"), "none is run"),
        (("--python", ""), "--python is given nothing"),
        (("--model", ""), "--model is given nothing"),
        (("--max-memory", ""), "--max-memory is given nothing"),
        (("--engine", ""), "--engine is given nothing"),
        (("--host", "a b"), "host"),
        (("--allow-busy", "gpu07"), "'gpu07' is not the host that is probed"),
        (("--allow-busy", "localhost", "--host", "gpu07"), "--allow-busy gpu07 says that you mean this one"),
        (("--interpret", "--allow-busy", "localhost"), "--allow-busy is about a GPU"),
        (("--gpu", "0,1"), "no index and no UUID"),
        (("--gpu", "-1"), "no index and no UUID"),
        (("--compile-only", "--arch", ","), "--arch names no target"),
        (("--compile-only", "--arch", "sm_90,sm_999"), "'sm_999' is no target that recon knows"),
        (("--compile-only", "--arch", "91"), "Known: sm_80, sm_86, sm_89, sm_90, sm_100"),
        (("--compile-only", "--plan", "--arch", "sm_999"), "no target that recon knows"),
    ],
)
def test_words_that_contradict_or_name_nothing_are_a_usage_error(
    recon_command: Recon, stages: Stages, words: tuple[str, ...], said: str
) -> None:
    ended = recon_command("probe-kernels", *words)

    assert 2 == ended.code
    assert said in ended.err
    assert [] == stages.asked


@pytest.mark.parametrize("words", [(), ("--interpret",), ("--compile-only",), ("--host", "gpu07")])
def test_a_state_folder_that_cannot_be_written_is_told_before_the_probe(
    recon_command: Recon, stages: Stages, state: Path, words: tuple[str, ...]
) -> None:
    state.write_text("in the way")
    ended = recon_command("probe-kernels", *words)

    assert 3 == ended.code
    assert f"cannot save the run in {state / 'runs'}" in ended.err
    assert "RECON_STATE_DIR" in ended.err
    assert [] == stages.asked


def test_looking_whether_a_run_can_be_saved_leaves_nothing(recon_command: Recon, stages: Stages, state: Path) -> None:
    stages.answer = GpuBusy("GPU 0 is used by pid 7")
    recon_command("probe-kernels")

    assert [] == list((state / "runs").iterdir())


def test_a_plan_needs_no_state_folder(recon_command: Recon, stages: Stages, state: Path) -> None:
    state.write_text("in the way")

    assert 0 == recon_command("probe-kernels", "--plan").code


def test_a_busy_gpu_is_incomplete(recon_command: Recon, stages: Stages) -> None:
    stages.answer = GpuBusy("GPU 0 is used by pid 7", "--allow-busy measures all the same")
    ended = recon_command("probe-kernels", "--json")

    assert (3, "gpu_busy") == (ended.code, json.loads(ended.out)["error"]["kind"])


def test_a_plan_says_what_is_scanned_and_run_before(recon_command: Recon, stages: Stages) -> None:
    made = [
        json.loads(recon_command("probe-kernels", "--plan", "--json", *words).out)
        for words in (
            (),
            ("--engine-baselines",),
            ("--engine", "/srv/vllm"),
            ("--host", "gpu07", "--engine-baselines"),
        )
    ]
    told = recon_command("probe-kernels", "--plan", "--host", "gpu07", "--engine-baselines").out

    assert [[], ["this machine"], ["/srv/vllm"], ["gpu07"]] == [each["scans"] for each in made]
    assert 4 == len({each["digest"] for each in made})
    assert "engines are scanned, of: gpu07.\n`recon scan --host gpu07 --plan` prints" in told
    assert "RUN there" in told


def test_a_probe_that_was_stopped_before_it_learned_anything_saves_nothing(
    recon_command: Recon, stages: Stages, state: Path
) -> None:
    uncalled = Behaviour("vllm-1", "v/a.py", "f", 7, (), "", "gpu", (), (), (), (), "it was not called")
    stages.answer = Interrupted(replace(probe(), measurements=(), behaviours=(uncalled,), complete=False))
    ended = recon_command("probe-kernels")

    assert (130, "interrupted; nothing was measured yet\n") == (ended.code, ended.err)
    assert () == listing(state)


def test_functions_that_were_not_called_are_not_counted_as_those_that_answered(
    recon_command: Recon, stages: Stages
) -> None:
    uncalled = Behaviour("vllm-1", "v/a.py", "f", 7, (), "", "gpu", (), (), (), (), "it was not called")
    called = replace(uncalled, symbol="g", how="cut", why="")
    stages.answer = Interrupted(replace(probe(), behaviours=(called, uncalled, uncalled), complete=False))
    said = recon_command("probe-kernels").err

    assert "1 of 3 functions of engines answered" in said
