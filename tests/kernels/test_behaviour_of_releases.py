"""Acceptance of published engines, cut out and called in the interpreter: it does what its source was read to do."""

import os
from pathlib import Path

import pytest

from recon.cutting import cut_out
from recon.pipeline import ScanTargets, Settings, scan
from recon.ports import Silent
from recon.probes.behaviour import behaviours_of, plan_behaviours
from recon.records.behaviour import Behaviour
from tests.kernels.here import here

pytestmark = [pytest.mark.slow, pytest.mark.release]

CHAIN, DRAFTED, ALONE = (
    "chain greedy",
    "chain stochastic with draft probabilities",
    "chain stochastic without draft probabilities",
)
VLLM = {
    "rejection_sample": {CHAIN, DRAFTED, ALONE, "chain forced"},
    "probabilistic_rejection_sample": {CHAIN, DRAFTED},
    "strict_rejection_sample": {CHAIN},
    "synthetic_rejection_sample": {"chain forced"},
}
SGLANG = {
    "chain_speculative_sampling_triton": {DRAFTED, "chain block"},
    "_compute_dflash_accept_bonus_triton_unchecked": {CHAIN},
    "compute_dflash_correct_drafts_and_bonus": {CHAIN},
    "static_accept_tail": {CHAIN},
    "blockwise_rejection_triton": {DRAFTED, ALONE},
    "verify_tree_greedy_triton": {"tree greedy"},
}


@pytest.mark.parametrize(("name", "wanted"), [("vllm==0.20.1", VLLM), ("sglang==0.5.23", SGLANG)])
def test_the_triton_acceptance_of_a_release_does_what_the_verdicts_say(
    name: str, wanted: dict[str, set[str]], tmp_path: Path
) -> None:
    found = {each.symbol: each for each in _behaved(name, tmp_path)}

    assert {symbol: set() for symbol in wanted} == {
        symbol: rules - {rule.rule for rule in found[symbol].rules} for symbol, rules in wanted.items()
    }
    assert [] == [
        (each.symbol, claim.capability, claim.reason)
        for each in found.values()
        for claim in each.claims
        if claim.agreement == "contradicts"
    ]


def _behaved(name: str, tmp_path: Path) -> tuple[Behaviour, ...]:
    settings = Settings(Path(os.environ["RECON_TEST_CACHE"]), tmp_path, compiled=False, workers=2)
    targets = ScanTargets((), (name,), local=False)
    installs = scan(targets, settings, Silent()).installs
    functions = cut_out(targets, installs, settings, Silent())
    standings = {
        (each.id, verdict.capability): verdict.standing.value for each in installs for verdict in each.verdicts
    }
    result = here(plan_behaviours(functions, "interpret", seconds=180.0))
    return behaviours_of(functions, standings, "interpret", result.answers, result.failures)
