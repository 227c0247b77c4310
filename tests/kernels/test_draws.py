"""The stochastic kernels emit what their exact laws say, and tokens as the target alone would.

Pearson's chi-square on fixed seeds; the limit is divided by the number of tests (Bonferroni).
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from tests.kernels import drawing
from tests.kernels.drawing import CHAIN, GIVEN, LAWS, chances
from tests.kernels.laws import Law, chance_of_worse, completed, law_in_rounds, law_of_block, target_alone

TESTS = 2 * sum(len(variants) for _, variants, *_ in LAWS.values())
LIMIT = 0.001 / TESTS


@pytest.mark.parametrize("name", LAWS)
def test_every_law_is_whole_and_loses_nothing(name: str) -> None:
    *_, law_of = LAWS[name]
    law = law_of(GIVEN)
    alone = target_alone(GIVEN)

    assert pytest.approx(1.0, abs=1e-12) == sum(law.values())
    assert pytest.approx(alone, abs=1e-12) == completed(GIVEN, law)


def test_a_block_is_accepted_as_far_as_drafts_one_by_one_or_farther() -> None:
    def length(law: Law) -> float:
        return sum(len(nodes) * chance for (nodes, _), chance in law.items())

    assert length(law_of_block(GIVEN)) > length(law_in_rounds(GIVEN, CHAIN, apart=False)) + 0.01


@pytest.fixture(scope="module")
def interpreted() -> dict[str, list[float]]:
    """Chances for every law, from the interpreter, which a process must choose before it imports triton."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.kernels.drawing"],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[2],
        env=os.environ | {"TRITON_INTERPRET": "1"},
        check=True,
    )
    found: dict[str, list[float]] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("name", LAWS)
def test_kernels_in_the_interpreter_follow_their_laws(name: str, interpreted: dict[str, list[float]]) -> None:
    assert 2 * len(LAWS[name][1]) == len(interpreted[name])
    assert LIMIT < min(interpreted[name])


@pytest.mark.gpu
@pytest.mark.parametrize("name", LAWS)
def test_kernels_on_a_gpu_follow_their_laws(name: str) -> None:
    found = chances(name, 1 << 20, torch.device("cuda", 0), requests=1)

    assert 2 * len(LAWS[name][1]) == len(found)
    assert LIMIT < min(found)


def test_a_law_that_is_nearly_the_same_is_told_apart() -> None:
    """With as many draws as the tests above: of siblings drawn apart, set against the law of siblings drawn alike."""
    kernel, _, parents, axes, _ = LAWS["a tree in rounds, siblings apart"]
    inputs = drawing.drafts(GIVEN, parents, 20_000, apart=True, seed=5, device=torch.device("cpu"))
    found = drawing.outcomes(kernel, "eager", drawing.work_of(kernel, inputs, axes), 1)

    assert LIMIT < chance_of_worse(found, law_in_rounds(GIVEN, parents, apart=True))
    assert 1e-9 > chance_of_worse(found, law_in_rounds(GIVEN, parents, apart=False))
