"""The decision says what is known, what is not, and never more."""

from dataclasses import replace
from itertools import product

import pytest

from recon.estimates.decision import NEEDS, decide
from recon.records.estimate import Decision, Estimate
from recon.records.host import Host
from recon.records.install import Engine, Install
from recon.records.measurement import Measurement
from recon.records.verdict import Standing
from tests.report.hand import DEVICE, HOST, install, measurement, scan, verdict

RELEASES = Host("releases", "releases", "", (), ())


def tree_install(**standings: Standing) -> Install:
    """An engine that has all that a tree needs, but for what is said otherwise (dots as two underscores)."""
    named = {name.replace("__", "."): standing for name, standing in standings.items()}
    asked = [need.capabilities[0] for need in NEEDS]
    return install(
        "e-1", Engine.VLLM, "1", tuple(verdict(name, named.get(name, Standing.PRESENT), reason="So.") for name in asked)
    )


def times(name: str = DEVICE.name, linear: float = 10.0, tree: float = 12.0) -> tuple[Measurement, ...]:
    device = replace(DEVICE, name=name, uuid=name)
    return (
        measurement("linear.fused", "baseline", linear, device=device),
        measurement("tree.fused", "subject", tree, device=device),
    )


def only(estimates: tuple[Estimate, ...]) -> Estimate:
    (estimate,) = estimates
    return estimate


def test_nothing_is_ever_won_or_lost_by_a_time_ratio_alone() -> None:
    for linear, tree in product((1.0, 10.0, 1000.0), repeat=2):
        estimate = only(decide((tree_install(),), (HOST,), times(linear=linear, tree=tree)))

        assert Decision.CANNOT_TELL == estimate.decision
        assert 1 == len(estimate.ratios)
        assert any("alone they decide nothing" in line for line in estimate.because)


def test_another_form_of_the_same_tree_is_no_chain() -> None:
    forms = (measurement("delta_step.step", "baseline", 9.0), measurement("delta_matrix.quick", "subject", 1.0))
    estimate = only(decide((tree_install(),), (HOST,), forms))

    assert 1 == len(estimate.ratios)
    assert not any("tree over linear" in line for line in estimate.because)


def test_an_engine_without_a_walk_is_said_to_need_a_patch() -> None:
    estimate = only(decide((tree_install(accept__tree__greedy=Standing.ABSENT),), (HOST,), ()))

    assert "vllm 1 cannot run a draft tree without a patch: nothing in it accepts one." == estimate.sentence


def test_an_engine_that_is_not_known_is_called_by_its_id() -> None:
    fork = replace(tree_install(accept__tree__greedy=Standing.ABSENT), id="quick-1-3f2a91", engine=Engine.OTHER)
    (estimate,) = decide((fork,), (HOST,), ())

    assert estimate.sentence.startswith("quick-1-3f2a91 1 cannot run a draft tree")


def test_another_missing_part_is_named() -> None:
    made = tree_install(attn__tree__verify=Standing.ABSENT, pos__tree=Standing.ABSENT)
    estimate = only(decide((made,), (HOST,), ()))

    assert estimate.sentence.endswith(
        "without a patch: it does not mask the tree in the target's attention and give tree nodes positions by depth."
    )


def test_what_could_not_be_decided_is_not_called_missing() -> None:
    estimate = only(decide((tree_install(pos__tree=Standing.UNKNOWN),), (HOST,), ()))

    assert estimate.sentence.startswith("Cannot tell whether vllm 1 can run a draft tree")
    assert "Whether it can give tree nodes positions by depth." in estimate.missing


def test_an_engine_that_can_is_told_what_is_missing() -> None:
    estimate = only(decide((tree_install(),), (HOST,), ()))

    assert "vllm 1 can run a draft tree; whether one would pay cannot be told: its acceptance was not measured." == (
        estimate.sentence
    )
    assert any("recon probe-kernels" in line for line in estimate.missing)


def test_a_part_that_is_there_by_half_is_said() -> None:
    estimate = only(decide((tree_install(kv__path_compact=Standing.PARTIAL),), (HOST,), ()))

    assert "can run a draft tree in part" in estimate.sentence


def test_the_better_of_two_ways_to_accept_counts() -> None:
    made = tree_install(accept__tree__greedy=Standing.ABSENT)
    sampling = verdict("accept.tree.stochastic", Standing.PRESENT, reason="So.")
    estimate = only(decide((replace(made, verdicts=(*made.verdicts, sampling)),), (HOST,), ()))

    assert "vllm 1 can run a draft tree;" in estimate.sentence


def test_a_gpu_of_another_model_stays_out_and_is_named() -> None:
    estimate = only(decide((tree_install(),), (HOST,), times("NVIDIA B200")))

    assert () == estimate.ratios
    assert any("Times taken on NVIDIA B200 are shown apart" in line for line in estimate.because)


def test_for_a_release_the_gpu_that_was_named_counts() -> None:
    made = replace(tree_install(), host="releases")

    assert 1 == len(only(decide((made,), (RELEASES,), times("NVIDIA B200"))).ratios)


def test_a_kernel_that_disagrees_is_named_and_its_time_not_used() -> None:
    wrong = (times()[0], measurement("tree.fused", "subject", 12.0, mismatches=3))
    estimate = only(decide((tree_install(),), (HOST,), wrong))

    assert () == estimate.ratios
    assert "tree.fused disagrees with its reference, so its time is not used." in estimate.because


def test_kernel_packages_get_no_estimate_and_engines_one_each() -> None:
    assert ["vllm-0.20.1-3f2a91", "sglang-0.5.23-77aa00"] == [each.subject for each in scan().estimates]


def test_times_without_an_engine_are_an_estimate_without_subject() -> None:
    estimate = only(decide((), (HOST,), times()))

    assert ("", Decision.CANNOT_TELL, 1) == (estimate.subject, estimate.decision, len(estimate.ratios))


def test_nothing_scanned_and_nothing_timed_is_no_estimate() -> None:
    assert () == decide((), (HOST,), (measurement("tree.fused", "subject", 0.0, mode="interpret"),))


@pytest.mark.parametrize(
    ("changed", "runs"),
    [
        ({}, Standing.PRESENT),
        ({"pos__tree": Standing.PARTIAL}, Standing.PARTIAL),
        ({"pos__tree": Standing.PARTIAL, "attn__tree__verify": Standing.UNKNOWN}, Standing.UNKNOWN),
        ({"attn__tree__verify": Standing.UNKNOWN, "accept__tree__greedy": Standing.ABSENT}, Standing.ABSENT),
    ],
)
def test_whether_a_tree_runs_is_told_apart_from_whether_it_pays(changed: dict[str, Standing], runs: Standing) -> None:
    estimate = only(decide((tree_install(**changed),), (HOST,), ()))

    assert (Decision.CANNOT_TELL, runs) == (estimate.decision, estimate.runs)
