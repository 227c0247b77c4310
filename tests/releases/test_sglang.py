"""SGLang 0.5.23, whose facts were verified by reading it."""

import pytest

from recon.records.evidence import Grade
from recon.records.install import Engine
from recon.records.run import Run
from recon.records.verdict import Reach, Standing
from tests.releases.conftest import Release
from tests.releases.facts import gates, install, members, places, scopes, signless, unshown, verdict, ways

pytestmark = pytest.mark.release

OPS = "sglang/kernels/ops/speculative"
JIT = "sglang/kernels/jit/include/sgl_kernel/speculative"


@pytest.fixture
def run(release: Release) -> Run:
    """The release with the names in its compiled libraries."""
    return release("sglang==0.5.23")


def test_the_release_is_read(run: Run) -> None:
    """Python, the CUDA sources that are compiled at run time, and libraries."""
    found, (searched,) = install(run), run.searched

    assert (Engine.SGLANG, "0.5.23", "release") == (found.engine, found.version, found.provenance.kind)
    assert (4719, 312, 5) == (searched.python_files, searched.cuda_files, searched.libraries)
    assert searched.functions > 60_000
    assert searched.kernels > 1500
    assert run.complete


def test_every_place_is_shown(run: Run) -> None:
    """A reader need not open the release."""
    assert [] == unshown(run)


def test_a_tree_is_accepted_greedily(run: Run) -> None:
    """In Triton, and in CUDA that is compiled at run time; the workers that draft trees reach both."""
    found, where = verdict(run, "accept.tree.greedy"), places(run, "accept.tree.greedy")
    reached = scopes(run, "accept.tree.greedy")

    assert (Standing.PRESENT, Reach.WIRED) == (found.standing, found.reach)
    assert f"{OPS}/spec_tree.py" == where["verify_tree_greedy_kernel_triton"]
    assert f"{JIT}/eagle.cuh" == where["VerifyTreeGreedy"]
    assert "worker EAGLEWorkerV2 by method eagle" in reached["verify_tree_greedy_kernel_triton"]
    assert "worker NGRAMWorker by method ngram" in reached["verify_tree_greedy_kernel_triton"]
    assert [] == signless(run, "accept.tree.greedy", "==", "!=")


def test_a_tree_is_accepted_by_sampling(run: Run) -> None:
    """In CUDA that is compiled at run time, through a Python door."""
    found, where = verdict(run, "accept.tree.stochastic"), places(run, "accept.tree.stochastic")
    grades = {each.symbol: each.grade for each in found.evidence}

    assert (Standing.PRESENT, Reach.WIRED) == (found.standing, found.reach)
    assert f"{JIT}/sampling.cuh" == where["TreeSpeculativeSamplingTargetOnly"]
    assert f"{OPS}/sampling.py" == where["tree_speculative_sampling_target_only"]
    assert (Grade.SHAPED, Grade.DECLARED) == (
        grades["TreeSpeculativeSamplingTargetOnly"],
        grades["tree_speculative_sampling_target_only"],
    )


def test_a_chain_is_accepted_greedily(run: Run) -> None:
    """By the kernels of the drafters that propose chains."""
    where = places(run, "accept.linear.greedy")

    assert Standing.PRESENT is verdict(run, "accept.linear.greedy").standing
    assert f"{OPS}/dflash.py" == where["_fused_correct_drafts_and_bonus_kernel"]
    reached = scopes(run, "accept.linear.greedy")["_fused_correct_drafts_and_bonus_kernel"]
    assert "worker DFlashWorkerV2 by method dflash" in reached


def test_a_chain_is_accepted_by_rejection_sampling(run: Run) -> None:
    """With quotients of probabilities, in more than one place."""
    found = verdict(run, "accept.linear.stochastic")
    seen = {each.symbol: each.path for each in (*found.evidence, *found.nearest)}

    assert Standing.PRESENT is found.standing
    assert f"{OPS}/reject_sampling.py" == seen["speculative_sampling_classic_kernel"]
    assert f"{OPS}/dspark/blockwise_rejection.py" == seen["_rejection_kernel"]


def test_acceptance_can_be_forced(run: Run) -> None:
    """By a length from outside, in Python and in Triton."""
    where = places(run, "accept.synthetic")

    assert Standing.PRESENT is verdict(run, "accept.synthetic").standing
    assert "sglang/srt/speculative/spec_utils.py" == where["generate_simulated_accept_index"]
    assert f"{OPS}/simulated_accept.py" == where["_simulated_accept_kernel"]


def test_extend_attention_takes_a_mask(run: Run) -> None:
    """And somebody hands one over."""
    found = verdict(run, "attn.mask_hook")

    assert (Standing.PRESENT, Reach.WIRED) == (found.standing, found.reach)
    assert "sglang/kernels/ops/attention/extend_attention.py" == places(run, "attn.mask_hook")["_fwd_kernel"]


def test_each_branch_of_a_draft_has_keys_of_its_own(run: Run) -> None:
    """Without a mask."""
    where = places(run, "attn.tree.draft")

    assert Standing.PRESENT is verdict(run, "attn.tree.draft").standing
    assert f"{OPS}/cache_locs.py" == where["generate_draft_decode_kv_indices"]


def test_the_state_of_the_last_accepted_token_is_committed(run: Run) -> None:
    """One state a draft position is kept, and one of them copied back."""
    found = verdict(run, "state.chain")
    where = places(run, "state.chain")
    scatter = "sglang/kernels/ops/mamba/mamba_state_scatter_triton.py"

    assert (Standing.PRESENT, Reach.WIRED) == (found.standing, found.reach)
    assert scatter == where["_fused_mamba_state_scatter_with_mask_kernel"]
    assert scatter == where["fused_mamba_state_scatter_with_mask"]
    assert "worker EAGLEWorkerV2 by method eagle" in scopes(run, "state.chain")["fused_mamba_state_scatter_with_mask"]


def test_the_state_of_a_node_starts_from_its_parents(run: Run) -> None:
    """In convolutions and recurrences, with the parents handed over."""
    found = verdict(run, "state.tree")
    seen = {each.symbol: each.path for each in (*found.evidence, *found.nearest)}

    assert (Standing.PRESENT, Reach.WIRED) == (found.standing, found.reach)
    assert "sglang/kernels/ops/mamba/causal_conv1d_triton.py" == seen["_causal_conv1d_update_kernel"]
    assert "sglang/kernels/ops/mamba/triton_ops/mamba_ssm.py" == seen["_selective_scan_update_kernel"]
    assert (
        "sglang/kernels/ops/attention/fla/fused_recurrent.py"
        == seen["fused_recurrent_gated_delta_rule_update_fwd_kernel"]
    )


def test_trees_are_gated_by_page_size_and_backend(run: Run) -> None:
    """As the validator of the EAGLE family writes it; other drafters force a chain."""
    found = gates(run, "accept.tree.greedy")
    hook = "sglang/srt/arg_groups/speculative_hook.py"

    assert any(
        path == hook and "speculative_eagle_topk > 1 and view.page_size > 1" in condition
        for path, condition, _ in found
    )
    assert any(path == hook and message.startswith("DFLASH only supports") for path, _, message in found)
    assert {path for path, *_ in found} >= {hook}
    assert 0 < len(found) <= 8


def test_a_block_is_verified_in_a_branch_of_a_kernel(run: Run) -> None:
    """Not in the kernels that carry the word in their name."""
    found = verdict(run, "accept.block")
    shaped = {each.symbol: each.path for each in found.evidence if each.grade is Grade.SHAPED}

    assert (Standing.PRESENT, Reach.WIRED) == (found.standing, found.reach)
    assert {"speculative_sampling_classic_kernel": f"{OPS}/reject_sampling.py"} == shaped


def test_thresholds_are_fixed_ones(run: Run) -> None:
    """Beside the draw, in CUDA; the door to it is what the workers call."""
    found = verdict(run, "accept.typical")
    grades = {each.symbol: each.grade for each in found.evidence}

    assert Standing.PARTIAL is found.standing
    assert "entropy" in found.reason
    assert Grade.SHAPED is grades["TreeSpeculativeSamplingTargetOnly"]
    assert Grade.DECLARED is grades["tree_speculative_sampling_target_only"]


def test_trees_are_chosen_by_scores_and_counts(run: Run) -> None:
    """Over all levels, best first, and from a trie in C++."""
    found = verdict(run, "tree.build.dynamic")
    seen = {each.symbol: each.path for each in (*found.evidence, *found.nearest)}

    assert (Standing.PRESENT, Reach.WIRED) == (found.standing, found.reach)
    assert "sglang/srt/speculative/eagle_utils.py" == seen["organize_draft_results"]
    assert f"{OPS}/uno_tree.py" == seen["_build_tree_kernel"]
    assert seen["Trie::buildFrequency"].endswith("trie.cpp")


def test_no_template_makes_trees(run: Run) -> None:
    """A loop that drafts is where one would be followed."""
    found = verdict(run, "tree.build.static")

    assert (Standing.ABSENT, ()) == (found.standing, found.evidence)
    assert found.nearest


def test_a_verification_step_is_captured_as_a_graph(run: Run) -> None:
    """The runner of decoding makes its captured step a verification of the target."""
    found, where = verdict(run, "graph.verify"), places(run, "graph.verify")
    runner = "sglang/srt/model_executor/runner/decode_cuda_graph_runner.py"

    assert (Standing.PRESENT, Reach.WIRED) == (found.standing, found.reach)
    assert runner == where["DecodeCudaGraphRunner.__init__"]
    assert runner == where["DecodeCudaGraphRunner.get_spec_info"]


def test_the_accepted_path_is_moved_to_the_front(run: Run) -> None:
    """In every layer's buffer, on the way from verification."""
    found = verdict(run, "kv.path_compact")
    where = places(run, "kv.path_compact")

    assert (Standing.PRESENT, Reach.WIRED) == (found.standing, found.reach)
    assert "sglang/srt/speculative/spec_utils.py" == where["move_accept_tokens_to_target_kvcache"]


def test_positions_of_a_tree_follow_its_depth(run: Run) -> None:
    """Written by the builders of the tree, in Triton and in CUDA that is compiled at run time."""
    found = verdict(run, "pos.tree")
    seen = {each.symbol: each.path for each in (*found.evidence, *found.nearest)}

    assert (Standing.PRESENT, Reach.WIRED) == (found.standing, found.reach)
    assert f"{OPS}/spec_tree.py" == seen["sgl_build_tree_kernel_efficient_triton"]
    assert f"{OPS}/reconstruct_tree.py" == seen["_reconstruct_tree_mask_kernel"]
    assert f"{JIT}/ngram.cuh" == seen["reconstructIndicesFromTreeMask"]


def test_each_method_has_its_path_to_the_walk(run: Run) -> None:
    """The worker is chosen by the method; the step of the scheduler drives it."""
    found = ways(run, "accept.tree.greedy")

    assert {"worker EAGLEWorkerV2 by method eagle", "worker NGRAMWorker by method ngram"} <= set(found)
    assert any(
        path[:7]
        == [
            "Scheduler.run_batch",
            "EAGLEWorkerV2.forward_batch_generation",
            "EAGLEWorkerV2.verify",
            "run_eagle_verify",
            "eagle_sample",
            "verify_tree_greedy_func",
            "verify_tree_greedy_triton",
        ]
        for path in found["worker EAGLEWorkerV2 by method eagle"]
    )


def test_a_method_that_accepts_along_a_chain_has_no_walk(run: Run) -> None:
    """What the tree has, a server that drafts with blocks has not."""
    found = members(run, "accept.tree.greedy")

    assert Standing.PRESENT is found["worker EAGLEWorkerV2 by method eagle"]
    assert Standing.ABSENT is found["worker DFlashWorkerV2 by method dflash"]
