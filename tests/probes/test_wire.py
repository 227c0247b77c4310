"""What crosses the wire comes out as it went in, and nothing else comes out."""

import json
from dataclasses import asdict
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recon.kernels import wire
from recon.probes.plan import plan_compile, plan_gpu, plan_interpret

FINITE = st.floats(allow_nan=False, allow_infinity=False)
NUMBERS = st.integers(-(2**63), 2**63 - 1)
AXES = st.dictionaries(st.text(), NUMBERS | FINITE | st.text(), max_size=4)
TIMINGS = st.builds(wire.Timing, samples_us=st.lists(FINITE).map(tuple), replay_overhead_us=FINITE, config=AXES)
LINES = st.one_of(
    st.builds(wire.Hello),
    st.builds(wire.Refused),
    st.builds(wire.Started),
    st.builds(wire.Result, timing=st.none() | TIMINGS),
    st.builds(wire.Compiled, config=AXES),
    st.builds(wire.Failed),
    st.builds(wire.Done, seconds=FINITE, device_seconds=FINITE, processor_seconds=FINITE),
)


def machine_sized(value: object) -> bool:
    """Whether every whole number in a record fits 64 bits, as those of machines do."""
    if isinstance(value, int):
        return -(2**63) <= value < 2**63
    if isinstance(value, dict):
        return all(map(machine_sized, value.values()))
    return all(map(machine_sized, value)) if isinstance(value, list | tuple) else True


@given(LINES.filter(lambda line: machine_sized(asdict(line))))
def test_a_line_comes_back_as_it_was(line: wire.Line) -> None:
    text = wire.encode(line)

    assert "\n" not in text
    assert line == wire.decode(text)


@pytest.mark.parametrize("plan", [plan_gpu(), plan_interpret(), plan_compile((90,))], ids=lambda plan: plan.mode)
def test_a_plan_comes_back_as_it_was(plan: wire.Plan) -> None:
    assert plan == wire.decode_plan(wire.encode_plan(plan))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "nonsense",
        "{}",
        '{"kind": "bye"}',
        '{"kind": "started", "entry": 1}',
        '{"kind": "started", "entry": 1, "stage": "check", "more": 1}',
        '{"kind": "started", "entry": true, "stage": "check"}',
        '{"kind": "started", "entry": "1", "stage": "check"}',
        '{"kind": "done", "interrupted": 0, "seconds": 1.0, "device_seconds": 1.0, "processor_seconds": 1.0}',
        '{"kind": "result", "entry": 1, "agreement": [], "timing": null, "before": null, "after": null}',
        '{"kind": ["started"]}',
        "[" * 100_000,
    ],
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(wire.WireError):
        wire.decode(text)


def test_a_line_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "LINE_LIMIT_BYTES", 20)

    with pytest.raises(wire.WireError, match="more than 20"):
        wire.decode(wire.encode(wire.Started(1, "check")))


def test_a_plan_of_another_version_is_refused() -> None:
    data = json.loads(wire.encode_plan(plan_interpret()))
    data["schema_version"] += 1

    with pytest.raises(wire.WireError, match="schema version 2"):
        wire.decode_plan(json.dumps(data))


def test_a_number_without_point_is_a_float_where_one_is_wanted() -> None:
    said = '{"kind": "done", "interrupted": false, "seconds": 1, "device_seconds": 2, "processor_seconds": 3}'
    line = wire.decode(said)

    assert isinstance(line, wire.Done)
    assert isinstance(line.seconds, float)


def test_the_digest_changes_with_any_file(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("1")
    first = wire.digest_of(tmp_path)
    (tmp_path / "a.py").write_text("2")
    second = wire.digest_of(tmp_path)
    (tmp_path / "a.py").rename(tmp_path / "b.py")

    assert 3 == len({first, second, wire.digest_of(tmp_path)})
