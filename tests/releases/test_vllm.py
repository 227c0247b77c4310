"""vLLM 0.20.1, whose facts were verified by reading it."""

import pytest

from recon.records.install import Engine
from recon.records.run import Run
from recon.records.verdict import Reach, Standing
from tests.releases.conftest import Release
from tests.releases.facts import gates, install, members, places, scopes, signless, unshown, verdict, ways

pytestmark = pytest.mark.release

V1 = "vllm/v1/sample/rejection_sampler.py"
V2 = "vllm/v1/worker/gpu/spec_decode"
TREE = "vllm/v1/attention/backends/tree_attn.py"
UNIFIED = "vllm/v1/attention/ops/triton_unified_attention.py"


@pytest.fixture
def run(release: Release) -> Run:
    """The release with the names in its compiled libraries."""
    return release("vllm==0.20.1")


def test_the_release_is_read_whole(run: Run) -> None:
    """Every source and every library; nothing is set aside."""
    found, (searched,) = install(run), run.searched

    assert (Engine.VLLM, "0.20.1", "release") == (found.engine, found.version, found.provenance.kind)
    assert found.location.startswith("vllm-0.20.1-")
    assert 64 == len(found.provenance.sha256)
    assert (1723, 9, 0) == (searched.python_files, searched.libraries, searched.unread)
    assert searched.functions > 30_000
    assert searched.kernels > 300
    assert (True, ()) == (run.complete, run.unknowns)


def test_every_place_is_shown(run: Run) -> None:
    """A reader need not open the release."""
    assert [] == unshown(run)


def test_both_runners_accept_a_chain_greedily(run: Run) -> None:
    """Each by a kernel of its own, told apart by who reaches it."""
    reached = scopes(run, "accept.linear.greedy")
    where = places(run, "accept.linear.greedy")

    assert (Standing.PRESENT, Reach.WIRED) == (
        verdict(run, "accept.linear.greedy").standing,
        verdict(run, "accept.linear.greedy").reach,
    )
    assert ("runner V2 by environment",) == reached["_strict_rejection_sample_kernel"]
    assert ("runner V1",) == reached["rejection_greedy_sample_kernel"]
    assert V1 == where["rejection_greedy_sample_kernel"]
    assert f"{V2}/rejection_sampler.py" == where["_strict_rejection_sample_kernel"]
    assert [] == signless(run, "accept.linear.greedy", "==", "!=")


def test_both_runners_accept_a_chain_by_rejection_sampling(run: Run) -> None:
    """With the residual in a kernel beside it."""
    reached = scopes(run, "accept.linear.stochastic")

    assert Standing.PRESENT is verdict(run, "accept.linear.stochastic").standing
    assert ("runner V1",) == reached["rejection_random_sample_kernel"]
    assert ("runner V1",) == reached["sample_recovered_tokens_kernel"]
    assert ("runner V2 by environment",) == reached["_probabilistic_rejection_kernel"]


def test_both_runners_can_force_acceptance(run: Run) -> None:
    """By a rate for each position."""
    reached = scopes(run, "accept.synthetic")

    assert Standing.PRESENT is verdict(run, "accept.synthetic").standing
    assert ("runner V1",) == reached["rejection_greedy_sample_kernel"]
    assert ("runner V2 by environment",) == reached["_synthetic_rejection_sample_kernel"]
    assert [] == signless(run, "accept.synthetic", "<", ">")


@pytest.mark.parametrize(
    ("capability", "near"),
    [
        ("accept.tree.greedy", "rejection_greedy_sample_kernel"),
        ("accept.tree.stochastic", "rejection_random_sample_kernel"),
    ],
)
def test_nothing_accepts_a_tree(run: Run, capability: str, near: str) -> None:
    """Said with what was searched, libraries included, and what came nearest."""
    found = verdict(run, capability)
    searched = found.searched

    assert (Standing.ABSENT, None, ()) == (found.standing, found.reach, found.evidence)
    assert near in [each.symbol for each in found.nearest]
    assert (searched.libraries, searched.functions) == (9, run.searched[0].functions)
    assert searched.files > 2000
    assert searched.kernels > 300
    assert searched.examined > 500
    assert searched.shapes
    assert f"{searched.functions:,} functions" in found.reason


def test_without_its_libraries_absence_becomes_unknown(release: Release) -> None:
    """They could hold a walk; what was seen in sources stands."""
    run = release("vllm==0.20.1", compiled=False)
    found = verdict(run, "accept.tree.greedy")

    assert (Standing.UNKNOWN, 0) == (found.standing, found.searched.libraries)
    assert ".so and 8 more could hold it" in found.reason
    assert "rejection_greedy_sample_kernel" in [each.symbol for each in found.nearest]
    assert Standing.PRESENT is verdict(run, "accept.linear.greedy").standing
    assert 9 == run.searched[0].unread


def test_a_tree_is_masked_and_then_judged_as_a_chain(run: Run) -> None:
    """The ancestor mask reaches the target's pass; no walk accepts along it."""
    found = verdict(run, "attn.tree.verify")

    assert Standing.PARTIAL is found.standing
    assert "as a chain" in found.reason
    assert TREE == places(run, "attn.tree.verify")["TreeAttentionMetadataBuilder.build"]
    assert UNIFIED == places(run, "attn.tree.verify")["kernel_unified_attention"]


def test_the_draft_cuts_the_mask_to_its_step(run: Run) -> None:
    """In the one function that only drafting calls."""
    assert Standing.PRESENT is verdict(run, "attn.tree.draft").standing
    assert TREE == places(run, "attn.tree.draft")["TreeAttentionMetadataBuilder.build_for_drafting"]


def test_the_unified_kernel_takes_a_mask(run: Run) -> None:
    """A bias between queries; slopes, windows and scales are none."""
    assert Standing.PRESENT is verdict(run, "attn.mask_hook").standing
    assert {"kernel_unified_attention": UNIFIED, "unified_attention": UNIFIED} == places(run, "attn.mask_hook")


def test_the_state_of_a_chain_starts_where_acceptance_ended(run: Run) -> None:
    """The next step's kernels take the slot of the last accepted token; both runners reach the convolution's."""
    where, reached = places(run, "state.chain"), scopes(run, "state.chain")
    mamba = "vllm/model_executor/layers/mamba/ops"

    assert (Standing.PRESENT, Reach.WIRED) == (
        verdict(run, "state.chain").standing,
        verdict(run, "state.chain").reach,
    )
    assert f"{mamba}/causal_conv1d.py" == where["_causal_conv1d_update_kernel"]
    assert f"{mamba}/mamba_ssm.py" == where["_selective_scan_update_kernel"]
    assert {"runner V1", "runner V2 by environment"} <= set(reached["_causal_conv1d_update_kernel"])


def test_no_state_starts_from_a_parent(run: Run) -> None:
    """The kernels that know a count of accepted tokens come nearest."""
    found = verdict(run, "state.tree")

    assert (Standing.ABSENT, ()) == (found.standing, found.evidence)
    assert "_causal_conv1d_update_kernel" in [each.symbol for each in found.nearest]


def test_the_second_runner_refuses_drafters_that_it_does_not_know(run: Run) -> None:
    """One complaint of several that are raised together; what it spares is not refused."""
    place = "vllm/config/vllm.py"
    refused = {each for each in ("dflash", "ngram", "eagle", "mtp") if complained(run, f"drafter.{each}", place)}

    assert {"dflash", "ngram"} == refused


def complained(run: Run, capability: str, path: str) -> bool:
    """Whether a gate of the file speaks of the method alone."""
    return any(where == path and said == "speculative method '{method}'" for where, _, said in gates(run, capability))


def test_no_graph_captures_tree_attention(run: Run) -> None:
    """Its builder leaves the constant of its base class as it is."""
    place = "vllm/v1/attention/backends/tree_attn.py"

    assert (
        place,
        "TreeAttentionMetadataBuilder has _cudagraph_support = AttentionCGSupport.NEVER",
        "no CUDA graph captures it",
    ) in gates(run, "attn.tree.verify")


def test_a_template_makes_trees(run: Run) -> None:
    """Parsed from an option, expanded level by level."""
    where = places(run, "tree.build.static")
    proposer = "vllm/v1/spec_decode/llm_base_proposer.py"

    assert (Standing.PRESENT, Reach.WIRED) == (
        verdict(run, "tree.build.static").standing,
        verdict(run, "tree.build.static").reach,
    )
    assert proposer == where["SpecDecodeBaseProposer.__init__"]
    assert proposer == where["SpecDecodeBaseProposer.propose_tree"]


@pytest.mark.parametrize(
    ("capability", "near"),
    [
        ("accept.block", "rejection_random_sample_kernel"),
        ("accept.typical", "rejection_random_sample_kernel"),
        ("tree.build.dynamic", "SpecDecodeBaseProposer.propose_tree"),
    ],
)
def test_nothing_judges_blocks_or_chooses_nodes(run: Run, capability: str, near: str) -> None:
    """What comes nearest is where it would be built in."""
    found = verdict(run, capability)

    assert (Standing.ABSENT, ()) == (found.standing, found.evidence)
    assert near in [each.symbol for each in found.nearest]


def test_a_verification_step_is_captured_as_a_graph(run: Run) -> None:
    """Of both runners: each sets the tokens of a request to one more than are drafted."""
    found = verdict(run, "graph.verify")
    widths = {each.path for each in found.evidence if each.symbol == "GPUModelRunner.__init__"}

    assert (Standing.PRESENT, Reach.WIRED) == (found.standing, found.reach)
    assert {"vllm/v1/worker/gpu_model_runner.py", "vllm/v1/worker/gpu/model_runner.py"} == widths


def test_the_accepted_chain_needs_no_copy(run: Run) -> None:
    """The scheduler lowers the length by what was refused; that is where a copy would belong."""
    found = verdict(run, "kv.path_compact")

    assert (Standing.ABSENT, ()) == (found.standing, found.evidence)
    assert "Scheduler.update_from_output" in [each.symbol for each in found.nearest]


def test_only_the_draft_counts_positions_by_level(run: Run) -> None:
    """The target's are counted through."""
    found = verdict(run, "pos.tree")
    proposer = "vllm/v1/spec_decode/llm_base_proposer.py"

    assert Standing.PARTIAL is found.standing
    assert {"SpecDecodeBaseProposer.propose_tree": proposer} == places(run, "pos.tree")
    assert "GPUModelRunner._prepare_inputs" in [each.symbol for each in found.nearest]


def test_the_step_of_the_engine_reaches_the_kernels_of_both_runners(run: Run) -> None:
    """Over the executor, which names the worker's method by a string."""
    found = ways(run, "accept.linear.greedy")

    assert {"runner V1", "runner V2 by environment"} == set(found)
    assert [
        "EngineCore.step",
        "Executor.sample_tokens",
        "Worker.sample_tokens",
        "GPUModelRunner.sample_tokens",
        "GPUModelRunner._sample",
        "RejectionSampler.forward",
        "rejection_sample",
        "rejection_greedy_sample_kernel",
    ] in found["runner V1"]


def test_the_mask_of_a_draft_tree_reaches_attention_through_its_metadata(run: Run) -> None:
    """The drafting loop builds it, and a layer of the same backend finds it."""
    found = ways(run, "attn.tree.draft")["runner V1"]
    scope = scopes(run, "attn.tree.draft")["TreeAttentionMetadataBuilder.build_for_drafting"]

    assert any(
        path[-5:]
        == [
            "SpecDecodeBaseProposer.propose_tree",
            "TreeAttentionMetadataBuilder.build_for_drafting",
            "TreeAttentionImpl.forward",
            "unified_attention",
            "kernel_unified_attention",
        ]
        for path in found
    )
    assert ("runner V1", "backend TREE_ATTN") == scope


def test_each_runner_answers_for_itself(run: Run) -> None:
    """The newer one drafts no tree: it reaches what the older one's loop calls, and not the loop."""
    assert {"runner V1": Standing.PRESENT, "runner V2 by environment": Standing.PRESENT} == members(
        run, "accept.linear.greedy"
    )
    assert {"runner V1": Standing.PRESENT, "runner V2 by environment": Standing.PARTIAL} == members(
        run, "attn.tree.draft"
    )
