"""Kernel packages, by the schemas and symbols of their libraries, and the engine that one of them settles."""

import pytest

from recon.facts.names import PACKAGE_OF
from recon.pipeline import with_companions
from recon.records.evidence import Grade
from recon.records.verdict import Standing
from recon.verdicts.companions import settle
from tests.releases.conftest import Release
from tests.releases.facts import install, places, verdict

pytestmark = [pytest.mark.release, pytest.mark.slow]


def test_a_schema_that_is_called_is_an_acceptance(release: Release) -> None:
    """The wrapper is the place; both libraries hold the schema."""
    run = release("sgl-kernel==0.3.21")
    libraries = [each.path for each in verdict(run, "accept.tree.greedy").evidence if each.grade is Grade.DECLARED]

    assert Standing.PRESENT is verdict(run, "accept.tree.greedy").standing
    assert Standing.PRESENT is verdict(run, "accept.tree.stochastic").standing
    assert "sgl_kernel/speculative.py" == places(run, "accept.tree.greedy")["verify_tree_greedy"]
    assert ["sgl_kernel/sm100/common_ops.abi3.so", "sgl_kernel/sm90/common_ops.abi3.so"] == libraries


def test_a_symbol_without_schema_and_caller_is_none(release: Release) -> None:
    """It is named as what comes nearest."""
    found = verdict(release("sgl-kernel==0.3.21"), "accept.linear.stochastic")

    assert Standing.ABSENT is found.standing
    assert "chain_speculative_sampling" == found.nearest[0].symbol


def test_a_wrapper_whose_operator_is_gone_is_none(release: Release) -> None:
    """The later package still has the Python functions."""
    run = release("sglang-kernel==0.4.10")

    assert [Standing.ABSENT] * 2 == [
        verdict(run, capability).standing for capability in ("accept.tree.greedy", "accept.tree.stochastic")
    ]
    assert "which nothing in this build defines" in verdict(run, "accept.tree.greedy").reason


def test_without_its_libraries_nothing_is_said_of_it(release: Release) -> None:
    """They could hold the operator."""
    run = release("sgl-kernel==0.3.21", compiled=False)

    assert Standing.UNKNOWN is verdict(run, "accept.tree.greedy").standing


def test_a_kernel_package_beside_an_engine_settles_what_it_calls(release: Release) -> None:
    """Alone, the engine's answer is open."""
    engine, kernel = install(release("sglang==0.4.6.post5")), install(release("sgl-kernel==0.3.21"))
    beside, _ = settle(with_companions((engine, kernel)), lambda each: PACKAGE_OF.get(each.engine, ""))
    standings = {each.capability: each.standing for each in beside.verdicts}

    assert Standing.UNKNOWN is verdict(release("sglang==0.4.6.post5"), "accept.tree.greedy").standing
    assert [Standing.PRESENT] * 2 == [standings["accept.tree.greedy"], standings["accept.tree.stochastic"]]
