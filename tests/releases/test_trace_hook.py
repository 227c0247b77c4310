"""What the hook that writes traces patches and reads, in published releases: it is there, and is called so."""

import ast
import os
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from recon.ports import Silent
from recon.sources.release import open_release
from recon.sources.store import BlobStore

pytestmark = pytest.mark.release

VLLM = [
    pytest.param("vllm==0.20.1"),
    pytest.param("vllm==0.33.0", marks=pytest.mark.slow),
]
SGLANG = "sglang==0.5.23"


@cache
def source(release: str, path: str) -> str:
    """A file of a release by its path."""
    store = BlobStore(Path(os.environ["RECON_TEST_CACHE"]))
    (digest,) = (file.digest for file in open_release(release, store, Silent()).snapshot.files if file.path == path)
    return store.get(digest).decode()


def parameters(text: str, name: str) -> list[str]:
    """Of a method, `Class.method`."""
    within, method = name.split(".")
    (found,) = (
        each
        for node in ast.parse(text).body
        if isinstance(node, ast.ClassDef) and node.name == within
        for each in node.body
        if isinstance(each, ast.FunctionDef) and each.name == method
    )
    return [each.arg for each in [*found.args.posonlyargs, *found.args.args, *found.args.kwonlyargs]]


def calls(text: str, name: str) -> Iterator[tuple[int, list[str | None]]]:
    """Calls of a method of self: how many arguments by place, and the names of the others."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == f"self.{name}":
            yield len(node.args), [each.arg for each in node.keywords]


@pytest.mark.parametrize("release", VLLM)
def test_vllms_runner_proposes_and_verifies_as_the_hook_expects(release: str) -> None:
    runner = source(release, "vllm/v1/worker/gpu_model_runner.py")
    sampler = source(release, "vllm/v1/sample/rejection_sampler.py")
    drafter = source(release, "vllm/v1/spec_decode/llm_base_proposer.py")
    named = parameters(runner, "GPUModelRunner.propose_draft_token_ids")

    assert ["self", "scheduler_output", "sampled_token_ids"] == named[:3]
    assert [(9, [])] == list(calls(runner, "propose_draft_token_ids"))
    assert "self" == parameters(sampler, "RejectionSampler.forward")[0]
    assert re.search(r"PLACEHOLDER_TOKEN_ID\b.* = -1$", sampler, re.MULTILINE)
    for word in ("self.input_batch.req_ids", "self.discard_request_mask.np", "self.input_batch.num_tokens_no_spec["):
        assert word in runner
    assert "sampled_token_ids=output_token_ids" in sampler
    assert "self.model.compute_logits(" in drafter
    assert "finished_req_ids: set[str]" in source(release, "vllm/v1/core/sched/output.py")
    assert '"vllm.general_plugins"' in source(release, "vllm/plugins/__init__.py")


def test_sglangs_worker_drafts_and_verifies_as_the_hook_expects() -> None:
    worker = source(SGLANG, "sglang/srt/speculative/dflash_worker_v2.py")
    (accepts,) = calls(worker, "_accept_block")
    (samples,) = calls(worker, "_greedy_sample_from_vocab_parallel_head")

    assert (0, True) == (accepts[0], {"candidates", "bs"} <= set(accepts[1]))
    assert (0, ["hidden_states", "lm_head"]) == samples
    assert ["self", "batch"] == parameters(worker, "DFlashWorkerV2.forward_batch_generation")[:2]
    assert "return accept_len, commit_lens, bonus, out_tokens, new_seq_lens" in worker
    assert 2 <= worker.count("new_seq_lens = prefix_lens + commit_lens")
    assert "next_token_ids=out_tokens.reshape(-1)" in worker
    assert '"sglang.srt.plugins"' in source(SGLANG, "sglang/srt/plugins/__init__.py")
