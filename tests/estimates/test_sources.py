"""What servers export, in the names of their versions; files may come from strangers."""

import json
from collections.abc import Iterator
from dataclasses import replace

import pytest

from recon.errors import BadMetrics, BadTrace
from recon.estimates import exposition, responses
from recon.estimates.counts import Counts, of_histograms
from recon.estimates.saved_counts import decoded, encoded
from recon.estimates.sources import Kind, counts_of, kind_of, refuse_others

REACHED = (80, 50, 30)


def counters(
    reached: tuple[int, ...] = REACHED, *, drafts: int = 0, suffix: str = "_total", engine: int = 0, model: str = "m"
) -> Iterator[str]:
    """As vLLM tells them: 100 rounds of chains of three."""
    labels = f'engine="{engine}",model_name="{model}"'
    yield "# HELP vllm:spec_decode_num_drafts_total Number of spec decoding drafts."
    yield "# TYPE vllm:spec_decode_num_drafts_total counter"
    yield f"vllm:spec_decode_num_drafts{suffix}{{{labels}}} 100.0"
    yield f"vllm:spec_decode_num_drafts_created{{{labels}}} 1.7e+09"
    yield f"vllm:spec_decode_num_draft_tokens{suffix}{{{labels}}} {drafts or 100 * len(reached)}.0"
    yield f"vllm:spec_decode_num_accepted_tokens{suffix}{{{labels}}} {sum(reached)}.0"
    for position, value in enumerate(reached):
        yield f'vllm:spec_decode_num_accepted_tokens_per_pos{suffix}{{{labels},position="{position}"}} {value}.0'
    yield 'vllm:num_requests_running{engine="0"} NaN'


# Metrics


@pytest.mark.parametrize("suffix", ["_total", ""])
def test_counters_of_vllm_are_shares_of_rounds(suffix: str) -> None:
    counts = counts_of(counters(suffix=suffix))

    assert Counts("counters of vLLM", 3, 100, REACHED, 2.6) == counts
    assert (0.8, 0.5, 0.3) == counts.survival


def test_what_was_counted_before_can_be_left_out() -> None:
    """Say, while the server was tried with other requests."""
    later = [*counters(), *counters((100, 90, 5), engine=1)]

    assert (100, 90, 5) == exposition.read(later, counters()).reached


TWO = [*counters((20, 5, 3)), *counters((20, 5, 3), engine=1)]


@pytest.mark.parametrize(
    ("now", "then", "why"),
    [
        (list(counters()), list(counters((90, 50, 30))), "ran backwards"),
        (list(counters()), list(counters((80, 50, 30, 0))), "ran backwards"),
        (list(counters()), ["sglang:spec_accept_length 3"], "Gauges tell of a moment"),
        (list(counters()), list(counters()), "drafted nothing yet"),
        (["vllm:spec_decode_num_drafts 9"], ["vllm:spec_decode_num_drafts 3"], "contradict one another"),
        (list(counters()), list(counters((8, 5, 3), model="other")), "The earlier metrics are of other"),
        # One engine of two was started again, though together they counted more than before.
        ([*counters((99, 98, 97)), *counters((4, 2, 0), engine=1)], TWO, "ran backwards"),
        (list(counters((99, 98, 97))), TWO, "ran backwards"),
    ],
)
def test_metrics_that_cannot_be_subtracted_are_refused(now: list[str], then: list[str], why: str) -> None:
    with pytest.raises(BadMetrics, match=why):
        exposition.read(now, then)


def test_counters_of_several_engines_add_up() -> None:
    assert (160, 100, 60) == counts_of([*counters(), *counters(engine=1)]).reached


def test_names_with_an_underscore_and_times_at_the_end_are_read_too() -> None:
    """As some collectors write them."""
    lines = [line.replace("vllm:", "vllm_") + " 1717171717" for line in counters() if not line.startswith("#")]

    assert REACHED == counts_of(lines).reached


def test_chains_that_were_cut_tell_a_mean_and_no_shares() -> None:
    """Adaptive drafters and n-grams: who was not drafted was not rejected."""
    counts = counts_of(counters(drafts=30))

    assert ((), 2.6, True) == (counts.reached, counts.mean, counts.cut)
    assert "now and then (0.30 on average)" in counts.notes[0]


def test_counters_that_were_read_a_moment_apart_are_no_contradiction() -> None:
    lines = [line.replace("_pos_total", "_pos_total") for line in counters((103, 50, 30), drafts=300)]

    assert (100, 50, 30) == counts_of(lines).reached


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        ([], "empty"),
        (["\n", " "], "empty"),
        (["# HELP x y"], "say nothing of speculative decoding"),
        ([*counters(), *counters(model="other")], "tell of 2 models: m, other"),
        (["vllm:spec_decode_num_drafts_total 0", "vllm:spec_decode_num_accepted_tokens_total 0"], "drafted nothing"),
        ([*counters((80, 50, 300))], "contradict one another"),
        ([line.replace('position="1"', 'position="5"') for line in counters()], "contradict one another"),
        ([line for line in counters() if "accepted_tokens_total" not in line], "contradict one another"),
        (["# x", "vllm:spec_decode_num_drafts_total{ 3"], "Line 2 of the metrics is no sample"),
        (["# x", "vllm:spec_decode_num_drafts_total{a=b} 3"], "Line 2 of the metrics has labels"),
        (["vllm:spec_decode_num_drafts_total -3"], "Line 1 of the metrics has no number"),
        (["vllm:spec_decode_num_drafts_total NaN"], "Line 1 of the metrics has no number"),
        (["vllm:spec_decode_num_drafts_total 1e300"], "Line 1 of the metrics has no number"),
        (['vllm:spec_decode_num_accepted_tokens_per_pos{position="x"} 3'], "Line 1 of the metrics has no position"),
        (['vllm:spec_decode_num_accepted_tokens_per_pos{position="999"} 3'], "has no position from 0 to 63"),
        (["# x", "vllm:spec_decode_num_drafts_total 3" + " " * 9 + "9" * (1 << 17)], "Line 2 of the metrics is longer"),
        (["# x", "vllm:diffusion_num_denoising_steps_total 4"], "a diffusion model, which has no chains"),
        (["# x", "vllm:spec_decode_num_emitted_tokens_total 4"], "of tokens and not of rounds"),
        (["# x", "sglang:spec_accept_length 0.0"], "accepted nothing yet"),
        ([*counters(), *counters((9, 5, 3))], "tells of vllm:spec_decode_num_drafts a second time"),
        (["# x", "vllm:spec_decode_num_drafts 3", "vllm:spec_decode_num_drafts_total 3"], "Line 3 of the metrics"),
    ],
)
def test_metrics_that_tell_nothing_or_make_no_sense_are_refused(lines: list[str], why: str) -> None:
    with pytest.raises(BadMetrics) as caught:
        counts_of(lines)

    assert why in str(caught.value)


def test_a_gauge_of_sglang_is_a_mean_of_one_moment() -> None:
    counts = exposition.read(['sglang:spec_accept_length{model_name="m",tp_rank="0"} 3.25'])

    assert ("a gauge of SGLang", 0, 40, (), 3.25) == (
        counts.source,
        counts.length,
        counts.rounds,
        counts.reached,
        counts.mean,
    )
    assert "last moment only" in counts.notes[0]


def test_sglang_tells_how_long_its_chains_are_since_it_has_a_gauge_for_it() -> None:
    lines = [
        'sglang:spec_accept_length{dp="0"} 3',
        'sglang:spec_accept_length{dp="1"} 4',
        "sglang:spec_num_draft_tokens 16",
    ]

    assert (15, 3.5) == ((counts := exposition.read(lines)).length, counts.mean)


def test_an_engine_that_is_idle_does_not_halve_the_mean() -> None:
    """Of a server whose engines share the requests out; its gauge is 0 until it works."""
    lines = ['sglang:spec_accept_length{dp="0"} 3.5', 'sglang:spec_accept_length{dp="1"} 0']

    assert 3.5 == exposition.read(lines).mean


# Responses


def sglang(histogram: list[int], name: str = "spec_correct_drafts_histogram", **more: int) -> dict[str, object]:
    return {"text": "..", "meta_info": {"id": "1", "spec_verify_ct": sum(histogram), name: histogram} | more}


def vllm(histogram: list[int], drafts: int) -> dict[str, object]:
    told = {"acceptance_histogram": histogram, "num_draft_tokens": drafts, "num_spec_tokens": len(histogram) - 1}
    return {"choices": [{"text": ".."}], "metrics": {"speculative_decoding": told, "queue_time_ms": 3}}


@pytest.mark.parametrize("name", ["spec_correct_drafts_histogram", "spec_accept_histogram"])
def test_histograms_of_sglang_are_shares_of_rounds_whatever_their_name(name: str) -> None:
    counts = counts_of([json.dumps(sglang([1, 0, 3], name)), json.dumps(sglang([4], name))])

    assert ((3, 3), 8, ((1, 0, 3), (4,))) == (counts.reached, counts.rounds, counts.requests)
    assert 1.75 == counts.mean
    assert "as long as the longest that was accepted whole" in counts.notes[1]


def test_sglang_says_how_long_its_chains_are_by_what_it_proposed() -> None:
    counts = counts_of([json.dumps(sglang([1, 0, 3], spec_num_proposed_drafts=60))])

    assert (15, (3, 3) + (0,) * 13) == (counts.length, counts.reached)


def test_histograms_of_vllm_are_read_from_its_responses() -> None:
    counts = counts_of([json.dumps([vllm([1, 0, 3, 0], 12), vllm([4, 0, 0, 0], 12)])])

    assert ("responses of vLLM", 3, (3, 3, 0), ()) == (counts.source, counts.length, counts.reached, counts.notes)


def test_responses_may_be_one_text_over_many_lines() -> None:
    counts = counts_of(json.dumps([sglang([1, 0, 3])], indent=1).splitlines(keepends=True))

    assert (3, 3) == counts.reached


@pytest.mark.parametrize(
    "response",
    [
        vllm([1, 0, 3], 5),
        sglang([1, 0, 3]) | {"meta_info": {"spec_accept_histogram": [1, 3], "spec_cap_lens_histogram": [4]}},
    ],
)
def test_requests_whose_chains_were_cut_tell_a_mean_alone(response: dict[str, object]) -> None:
    counts = counts_of([json.dumps(response)])

    assert ((), True) == (counts.reached, counts.cut)


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        (["{}"], "No response holds any of spec_correct_drafts_histogram"),
        (["[]"], "No response holds"),
        (['{"meta_info": {"spec_accept_histogram": []}}'], "Response 1 has no list of up to 65 numbers"),
        (['{"meta_info": {"spec_accept_histogram": [0, 0]}}'], "a single round"),
        (['{"a": 1}', '{"meta_info": {"spec_accept_histogram": [1, -1]}}'], "Line 2 has no counts"),
        (['{"a": 1}', '{"meta_info": {"spec_accept_histogram": [1.5]}}'], "Line 2 has no counts"),
        (['{"a": 1}', '{"meta_info": {"spec_accept_histogram": [true]}}'], "Line 2 has no counts"),
        (['{"a": 1}', '{"meta_info": {"spec_accept_histogram": [1e400]}}'], "Line 2 has no counts"),
        (['{"a": 1}', "{"], "Line 2 of the responses is no JSON"),
        (['{"a": 1}', "[" * 100_000], "Line 2 of the responses is no JSON"),
        ([json.dumps(vllm([1, 2], 3) | sglang([1, 2]))], "from different engines"),
        (['{"acceptance_histogram": [1, 2], "num_spec_tokens": 900}'], "no number up to 64 as num_spec_tokens"),
        ([json.dumps({"spec_accept_histogram": [1] * 99})], "no list of up to 65"),
    ],
)
def test_responses_that_tell_nothing_or_make_no_sense_are_refused(lines: list[str], why: str) -> None:
    with pytest.raises(BadMetrics) as caught:
        counts_of(lines)

    assert why in str(caught.value)


def test_more_responses_than_are_needed_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(responses, "LARGEST", 100)

    with pytest.raises(BadMetrics, match="longer than 100 characters"):
        counts_of([json.dumps(sglang([1, 0, 3]))] * 9)


# Counts that were kept


@pytest.mark.parametrize(
    "counts",
    [
        counts_of(counters()),
        counts_of(counters(drafts=30)),
        exposition.read(["sglang:spec_accept_length 3.25"]),
        of_histograms("responses of SGLang", [[1, 0, 3], [4]], 15, ["A note."]),
        Counts("responses of vLLM", 0, 5, (), 2.2, ((1, 2, 2),), cut=True),
    ],
    ids=["counters", "cut", "gauge", "histograms", "histograms of different lengths"],
)
def test_what_was_converted_is_read_again(counts: Counts) -> None:
    line = encoded(counts)

    assert Kind.COUNTS is kind_of(line)
    assert counts == counts_of([line])


@pytest.mark.parametrize(
    "change",
    [
        {"v": 2},
        {"L": -1},
        {"L": 900},
        {"L": 2},
        {"source": 3},
        {"source": "x" * 2000},
        {"notes": "x"},
        {"notes": [3]},
        {"rounds": 0},
        {"rounds": "x"},
        {"reached": [3, 4, 0]},
        {"reached": [3, -1, 0]},
        {"reached": [3, 3]},
        {"reached": {}},
        {"tau": 0.5},
        {"tau": None},
        {"tau": 3.0},
        {"requests": [[1, 0, 2]]},
        {"requests": [[1] * 70]},
        {"requests": [[]]},
        {"requests": [[0, 0]]},
        {"requests": [[9, 0, 3], [4]]},
        {"requests": [3]},
        {"requests": 3},
    ],
)
def test_counts_that_were_changed_are_refused(change: dict[str, object]) -> None:
    kept = json.loads(encoded(of_histograms("by hand", [[1, 0, 3], [4]], 3)))

    with pytest.raises(BadMetrics, match="The counts have"):
        decoded(json.dumps(kept | change))


# Which is which


@pytest.mark.parametrize(
    ("first", "kind"),
    [
        ('{"v": 1, "L": 2, "K": 3, "T": 0}', Kind.TRACE),
        ('{"meta_info": {}}', Kind.RESPONSES),
        ("[", Kind.RESPONSES),
        ("# TYPE a counter", Kind.EXPOSITION),
        ("vllm:x 3", Kind.EXPOSITION),
    ],
)
def test_a_file_is_told_by_its_first_line(first: str, kind: Kind) -> None:
    assert kind is kind_of(first)


@pytest.mark.parametrize("first", ["hello", "<html>", "\x7fELF", "PK\x03"])
def test_a_file_of_something_else_is_refused(first: str) -> None:
    with pytest.raises(BadMetrics, match="nothing that recon knows"):
        counts_of([first])


def test_a_trace_is_no_counts_and_counts_are_no_trace() -> None:
    with pytest.raises(BadMetrics, match="This is a trace"):
        counts_of(['{"v": 1, "L": 2, "K": 3, "T": 0}'])
    for line in ("# x", "[1]", encoded(replace(counts_of(counters())))):
        with pytest.raises(BadTrace, match="no trace"):
            refuse_others(line)
