"""Drafters and exported acceptance of published releases: standings and places that were verified by reading them."""

import pytest

from recon.records.evidence import Grade
from recon.records.verdict import Standing
from tests.releases.conftest import Release
from tests.releases.facts import verdict

pytestmark = pytest.mark.release

CAPABILITIES = (
    "drafter.eagle",
    "drafter.eagle3",
    "drafter.mtp",
    "drafter.medusa",
    "drafter.ngram",
    "drafter.suffix",
    "drafter.dflash",
    "drafter.draft_model",
    "metrics.acceptance",
)
WORDS = {"p": Standing.PRESENT, "/": Standing.PARTIAL, "-": Standing.ABSENT}
# One letter a capability, in the order above.
KNOWN = {
    "vllm==0.6.6.post1": "p--pp--pp",
    "vllm==0.11.0": "ppppp---p",
    "vllm==0.20.1": "ppppppppp",
    "vllm==0.33.0": "ppp-ppppp",
    "sglang==0.3.6": "---------",
    "sglang==0.4.6.post5": "ppp-----p",
    "sglang==0.5.23": "ppp-p/ppp",
}
OFTEN = ("vllm==0.20.1", "sglang==0.5.23")


@pytest.mark.parametrize(
    ("name", "letters"),
    [
        pytest.param(name, letters, marks=() if name in OFTEN else pytest.mark.slow, id=name)
        for name, letters in KNOWN.items()
    ],
)
def test_drafters_are_those_that_the_source_constructs(release: Release, name: str, letters: str) -> None:
    """A literal that only raises, an embedding of n-grams or a removed method make none."""
    run = release(name)
    found = {capability: verdict(run, capability).standing for capability in CAPABILITIES}

    assert {capability: WORDS[letter] for capability, letter in zip(CAPABILITIES, letters, strict=True)} == found


@pytest.mark.parametrize(
    ("name", "capability", "symbols"),
    [
        ("vllm==0.20.1", "drafter.eagle", ("GPUModelRunner.__init__", "EagleProposer")),
        ("vllm==0.20.1", "drafter.mtp", ("GPUModelRunner.__init__", "EagleProposer")),
        ("vllm==0.20.1", "drafter.suffix", ("GPUModelRunner.__init__", "SuffixDecodingProposer")),
        ("vllm==0.20.1", "drafter.draft_model", ("GPUModelRunner.__init__", "DraftModelProposer")),
        ("vllm==0.20.1", "metrics.acceptance", ("SpecDecodingProm.__init__", "SpecDecodingProm.observe")),
        ("sglang==0.5.23", "drafter.ngram", ("SpeculativeAlgorithm.create_worker", "NGRAMWorker")),
        ("sglang==0.5.23", "drafter.dflash", ("SpeculativeAlgorithm.create_worker", "DFlashWorkerV2")),
        ("sglang==0.5.23", "drafter.suffix", ("get_ngram_corpus_cls",)),
        (
            "sglang==0.5.23",
            "metrics.acceptance",
            ("SchedulerMetricsCollector.__init__", "SchedulerMetricsCollector.log_stats"),
        ),
    ],
)
def test_evidence_is_where_a_word_selects_and_what_it_constructs(
    release: Release, name: str, capability: str, symbols: tuple[str, ...]
) -> None:
    """The selecting function first, then the class."""
    places = verdict(release(name), capability).evidence

    assert symbols == tuple(each.symbol for each in places)[: len(symbols)]
    assert Grade.DECLARED is places[0].grade


def test_the_reason_says_what_is_exported(release: Release) -> None:
    """For each position, and totals."""
    reason = verdict(release("vllm==0.20.1"), "metrics.acceptance").reason

    assert "for each position" in reason
    assert "totals" in reason
    assert "vllm:spec_decode_num_accepted_tokens_per_pos" in reason
