"""Files from strangers: whatever is in them, what is raised is meant for a person."""

import contextlib
import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recon.errors import ReconError
from recon.estimates.acceptance import ByLaw
from recon.estimates.counts import Counts, of_histograms
from recon.estimates.knees import knees_of
from recon.estimates.prospect import Asked, estimates
from recon.estimates.ratios import ratios_of
from recon.estimates.saved_counts import encoded
from recon.estimates.sources import counts_of
from recon.estimates.times import Times
from recon.estimates.trace import read
from recon.estimates.trees import static
from recon.probes.models import model_of
from tests.estimates.probed import records
from tests.estimates.test_sources import counters, sglang, vllm
from tests.estimates.test_trace import HEADER, POSITION

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)
GOOD: list[dict[str, object]] = [
    json.loads(encoded(of_histograms("by hand", [[1, 0, 3], [4]], 3))),
    sglang([1, 2, 3], spec_num_proposed_drafts=12),
    vllm([1, 2, 3], 12),
    HEADER,
    POSITION,
]


def tried(lines: list[str]) -> None:
    with contextlib.suppress(ReconError):
        assert isinstance(counts_of(lines), Counts)
    with contextlib.suppress(ReconError):
        assert all(position.ranks for position in read(lines)[1])


@given(st.lists(st.text(max_size=60), max_size=5))
def test_any_text_is_refused_in_a_sentence_or_read(lines: list[str]) -> None:
    tried(lines)


@given(st.sampled_from(GOOD), st.data())
def test_a_good_record_with_another_value_is_refused_in_a_sentence_or_read(
    good: dict[str, object], data: st.DataObject
) -> None:
    """At the top, or one level down."""
    changed = json.loads(json.dumps(good))
    place = changed
    name = data.draw(st.sampled_from(sorted(place)))
    if isinstance(place[name], dict) and data.draw(st.booleans()):
        place, name = place[name], data.draw(st.sampled_from(sorted(place[name])))
    place[name] = data.draw(VALUES)
    line = json.dumps(changed)

    tried([line])
    tried([json.dumps(HEADER), line])
    tried([json.dumps([changed, good], indent=1)])


@given(st.integers(0, 12), st.text(alphabet='vlm:{}"=,\\ 0123456789.eE+-_NaInf#\t', max_size=80))
def test_a_changed_line_of_metrics_is_refused_in_a_sentence_or_read(number: int, line: str) -> None:
    lines = list(counters())
    lines[number % len(lines)] = line
    tried(lines)


@given(st.text(alphabet="[](), 0123456789-", max_size=60))
def test_any_text_of_a_static_tree_is_refused_in_a_sentence_or_read(text: str) -> None:
    with contextlib.suppress(ReconError):
        assert static(text).paths


def test_lines_of_labels_take_no_longer_than_they_are_long() -> None:
    """A pattern that tried every way to read them would not come back."""
    with pytest.raises(ReconError):
        counts_of(["# x", 'vllm:spec_decode_num_drafts{a="' + '\\"' * 30_000])
    with pytest.raises(ReconError):
        counts_of(["# x", "vllm:spec_decode_num_drafts" + "{" * 30_000 + " 3 "])
    with pytest.raises(ReconError):
        counts_of(["# x", "vllm:spec_decode_num_drafts" + " " * 60_000 + "x"])


CASES = st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=4)
SOUND = records(model_of("Qwen3.6-27B"))
AXES = sorted({name for each in SOUND for name in each.case})


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(AXES), CASES), max_size=4), st.integers(1, 4), st.floats(-1, 1e300))
def test_saved_times_with_any_values_make_an_estimate_or_none(
    odd: list[tuple[str, int | float | str]], every: int, median: float
) -> None:
    """A run file may have been changed by hand, within its schema."""
    changed = []
    for number, each in enumerate(SOUND):
        case = {name: dict(odd).get(name, value) if number % every == 0 else value for name, value in each.case.items()}
        off = each.spread and number % 7 == 0
        spread = (
            replace(each.spread, median_us=median, high_us=max(median, 1.0)) if off and each.spread else each.spread
        )
        changed.append(replace(each, case=case, spread=spread))
    law = ByLaw(Counts("as told", 15, 0, (), 5.0), "dflash", 16)
    (made,) = estimates(law, Asked(model_of("Qwen3.6-27B")), Times(changed), ())
    spans = [each.ratio for each in made.outlooks if each.ratio]

    assert made.sentence
    assert all(0 <= each.low <= each.value <= each.high for each in spans)
    assert all(each.growth for each in knees_of(changed))
    assert all(each.low <= each.ratio <= each.high for each in ratios_of(changed))
