"""What acceptance can be read from, and what each source tells: the page of `recon trace formats`."""

from dataclasses import dataclass

from recon.estimates.sources import Kind


@dataclass(frozen=True, slots=True)
class Format:
    """One kind of file."""

    kind: Kind
    what: str
    holds: tuple[str, ...]
    """What is in it, line by line, as one would write it; then what that means."""
    tells: str
    """What can be known from it."""
    silent: str
    """What cannot."""


FORMATS = (
    Format(
        Kind.TRACE,
        "An acceptance trace: what a drafter thought at every position of texts that its target wrote; not the texts."
        " recon trace hook writes a folder that makes vLLM or SGLang write one.",
        (
            '{"v": 1, "model": "..", "drafter": "..", "engine": "..", "L": 15, "K": 32, "T": 0.0, "top_p": 1.0,',
            ' "stride": 1, "conditional": false}',
            '{"r": 17, "p": 412, "ctx": 412, "rank": [0, 0, 2, 0, -1], "lp": [[-0.02, -4.1, ..], ..], "tgt_lp": [..]}',
            "A header in one line: L drafts of a round, the K likeliest tokens of each kept, temperature T.",
            "Then a line for each position p of each request r: lp[d] are natural log-probabilities, best first, for",
            "draft d of a round that begins there; rank[d] is which of them the text really has, -1 for none. Towards",
            "the end of a text both are as short as what is left of it. conditional: each row was made for the best",
            "tokens of the rows before it. Needed are v, L (to 64), K (to 1024), T; r, p, rank, lp. A line has up to",
            "4 Mi characters.",
        ),
        "Chains of each length and trees of any builder and budget, by replay, with intervals: nothing is assumed.",
        "Trees that want more than K tokens of a position; of conditional rows all trees; with a stride everything.",
    ),
    Format(
        Kind.RESPONSES,
        "Saved responses, one a line or all in one JSON, of SGLang's /generate, or of vLLM where it was started with"
        " --per-request-spec-decode-metrics summary.",
        (
            '{"meta_info": {"spec_correct_drafts_histogram": [5, 3, 0, 9], "spec_verify_ct": 17, ..}}',
            '{"meta_info": {"spec_accept_histogram": [5, 3, 0, 9], ..}}   SGLang before 0.5.23',
            '{"metrics": {"speculative_decoding": {"acceptance_histogram": [5, 3, 0, 9], "num_spec_tokens": 3, ..}}}',
            "Rounds of the request that accepted 0, 1, 2, ... drafts.",
        ),
        "Chains of each length, with intervals; trees by the model of rounds (DFlash), else by the law of the family.",
        "Trees of other builders than model or law have; whether the server verified chains at all.",
    ),
    Format(
        Kind.EXPOSITION,
        "A server's metrics in the text form of Prometheus, saved to a file: curl -s HOST:PORT/metrics > metrics.txt.",
        (
            "vllm:spec_decode_num_drafts_total, .._num_draft_tokens_total, .._num_accepted_tokens_total,",
            'vllm:spec_decode_num_accepted_tokens_per_pos_total{position="0"}   all with or without _total',
            "sglang:spec_accept_length   and, in 0.5.23, sglang:spec_num_draft_tokens",
        ),
        "Of vLLM chains of each length, and trees as from responses; of SGLang a mean, and trees by the family's law.",
        "How alike rounds of a request are: intervals are as if they were not. Where chains were cut, all but a mean.",
    ),
    Format(
        Kind.COUNTS,
        "What recon trace convert makes of responses and metrics: one line of JSON, small enough to hand on.",
        (
            '{"v": 1, "source": "..", "L": 3, "rounds": 17, "reached": [12, 9, 9], "tau": 2.76,',
            ' "requests": [[5, 3, 0, 9]], "cut": false, "notes": []}',
        ),
        "What the file that it was made of tells.",
        "What that file does not.",
    ),
    Format(
        Kind.TABLE,
        "A table of ranks: what recon trace convert makes of a trace, or rates that somebody published.",
        (
            '{"v": 1, "source": "..", "spine": [[0.69, 0.11, ..], ..], "off": [[0.22, 0.08, ..], ..]}',
            "[0.634, 0.108, 0.057, 0.0225]   alike at all depths, and below all tokens",
            "At each depth how often the token of each rank is right, where all before it were the drafter's best",
            "(spine), and where one was not (off; null if nobody counted that).",
        ),
        "Chains and static trees, if depths are independent: recon estimate --ranks.",
        "Trees that are built anew every round; intervals.",
    ),
)
