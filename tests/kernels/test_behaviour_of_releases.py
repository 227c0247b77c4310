"""Acceptance of published engines, cut out and called in the interpreter: it does what its source was read to do."""

import os
from pathlib import Path

import pytest

from recon.cutting import cut_out
from recon.pipeline import ScanTargets, Settings, scan
from recon.ports import Silent
from recon.probes.behaviour import behaviours_of, plan_behaviours
from recon.records.behaviour import Behaviour
from recon.records.cut import CutFunction
from recon.records.install import Install
from recon.targets import Source
from tests.kernels.here import here
from tests.renaming.naming import Naming
from tests.renaming.parts import closure
from tests.renaming.scrambler import renamed

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
    "generate_simulated_accept_index": {"chain forced"},
    "blockwise_rejection_triton": {DRAFTED, ALONE},
    "verify_tree_greedy_triton": {"tree greedy"},
}
RELEASES = pytest.mark.parametrize(("name", "wanted"), [("vllm==0.20.1", VLLM), ("sglang==0.5.23", SGLANG)])
BROKEN_BY_NAMES = {"static_accept_tail"}
"""What asks for `kw["name"]`: parameters get other names and these strings do not, so that it does not run any more."""
MOST = 300
"""Files of the part that is renamed."""


@RELEASES
def test_the_triton_acceptance_of_a_release_does_what_the_verdicts_say(
    name: str, wanted: dict[str, set[str]], tmp_path: Path
) -> None:
    found = behaved(ScanTargets((), (name,), local=False), Path(os.environ["RECON_TEST_CACHE"]), tmp_path)

    assert {symbol: set() for symbol in wanted} == missed(found, wanted)
    assert [] == contradicted(found)


@RELEASES
def test_under_other_names_the_same_functions_are_found_and_judged_alike(
    name: str, wanted: dict[str, set[str]], tmp_path: Path
) -> None:
    files = part_of(name, tmp_path)
    naming = Naming(files, name)
    for path, data in renamed(files, name):
        (tmp_path / "tree" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "tree" / path).write_bytes(data)
    found = behaved(ScanTargets((str(tmp_path / "tree"),), (), local=False), tmp_path / "cache", tmp_path / "state")
    theirs = {
        naming.names.get(symbol, symbol): rules for symbol, rules in wanted.items() if symbol not in BROKEN_BY_NAMES
    }

    assert not theirs.keys() & wanted.keys()
    assert {symbol: set() for symbol in theirs} == missed(found, theirs)
    assert [] == contradicted(found)


def behaved(targets: ScanTargets, cache: Path, state: Path) -> tuple[Behaviour, ...]:
    """What the acceptance functions of trees were seen to do."""
    settings = Settings(cache, state, compiled=False, workers=2)
    functions: list[CutFunction] = []

    def cutting(source: Source, install: Install) -> None:
        functions.extend(cut_out(source, install, settings, Silent()))

    installs = scan(targets, settings, Silent(), cutting).installs
    standings = {
        (each.id, verdict.capability): verdict.standing.value for each in installs for verdict in each.verdicts
    }
    result = here(plan_behaviours(functions, "interpret", seconds=60.0))
    return behaviours_of(functions, standings, "interpret", result.answers, result.failures)


def part_of(name: str, tmp_path: Path) -> dict[str, bytes]:
    """The files of a release that its acceptance verdicts rest on, with what they import first."""
    settings = Settings(Path(os.environ["RECON_TEST_CACHE"]), tmp_path, compiled=False, workers=2)
    taken: dict[str, bytes] = {}

    def taking(source: Source, install: Install) -> None:
        verdicts = [each for each in install.verdicts if each.capability.startswith("accept.")]
        files = {file.path: source.blobs.get(file.digest) for file in source.snapshot.files}
        taken.update(closure(files, dict.fromkeys(place.path for each in verdicts for place in each.evidence), MOST))

    scan(ScanTargets((), (name,), local=False), settings, Silent(), taking)
    return taken


def missed(found: tuple[Behaviour, ...], wanted: dict[str, set[str]]) -> dict[str, set[str]]:
    """Rules that functions should have been seen to follow, and were not."""
    seen = {each.symbol: {rule.rule for rule in each.rules} for each in found}
    return {symbol: rules - seen.get(symbol, set()) for symbol, rules in wanted.items()}


def contradicted(found: tuple[Behaviour, ...]) -> list[tuple[str, str, str]]:
    """Verdicts that a function's answers speak against."""
    return [
        (each.symbol, claim.capability, claim.reason)
        for each in found
        for claim in each.claims
        if claim.agreement == "contradicts"
    ]
