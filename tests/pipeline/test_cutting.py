"""Acceptance functions cut out of a scanned tree: what the verdicts rest on, by the function that can be called."""

from pathlib import Path

from recon.cutting import cut_out
from recon.pipeline import ScanTargets, Settings, scan
from recon.ports import Silent
from recon.records.cut import CutFunction
from recon.records.install import Install
from recon.targets import Source
from tests.pipeline.engines import CHAIN, VLLM, tree

LAUNCHER = f"""
import triton
import triton.language as tl
{CHAIN}

def inner(**kw):
    chain[(kw["want"].shape[0],)](kw["out"], kw["draft"], kw["want"], kw["n"])


def accepted(want, draft, n: int):
    out = want.new_empty(want.shape)
    inner(out=out, draft=draft, want=want, n=n)
    return out
"""


def cut(folder: Path, settings: Settings, files: dict[str, str | bytes]) -> dict[str, CutFunction]:
    functions: list[CutFunction] = []

    def cutting(source: Source, install: Install) -> None:
        functions.extend(cut_out(source, install, settings, Silent()))

    scan(ScanTargets((str(tree(folder, files)),), (), local=False), settings, Silent(), cutting)
    return {each.symbol: each for each in functions}


def test_a_kernel_is_cut_with_the_function_that_hands_it_named_arguments(tmp_path: Path, settings: Settings) -> None:
    found = cut(tmp_path / "tree", settings, {**VLLM, "vllm/spec/accept.py": LAUNCHER, "vllm/runner.py": ""})

    (one,) = found.values()

    assert ("accepted", "vllm/spec/accept.py", "vllm.spec.accept") == (one.symbol, one.path, one.module)
    assert ("vllm/spec/accept.py:chain",) == one.covers
    assert ("accept.linear.greedy",) == one.capabilities
    assert {"vllm/spec/accept.py:accepted", "vllm/spec/accept.py:inner", "vllm/spec/accept.py:chain"} == set(one.taken)
    assert ["want", "draft", "n"] == [each.name for each in one.parameters]


def test_what_only_a_method_launches_is_told_and_not_cut(tmp_path: Path, settings: Settings) -> None:
    found = cut(tmp_path / "tree", settings, dict(VLLM))

    assert "a part of a class" in found["GPUModelRunner.execute_model"].refused
    assert "" == found["GPUModelRunner.execute_model"].text


def test_a_kernel_in_a_string_is_no_function_that_can_be_called(tmp_path: Path, settings: Settings) -> None:
    walk = (Path(__file__).parent.parent / "detectors/shapes/tree/strings/first.py").read_text()
    found = cut(tmp_path / "tree", settings, {**VLLM, "vllm/spec/walk.py": walk})

    assert {"GPUModelRunner.execute_model"} == set(found)
