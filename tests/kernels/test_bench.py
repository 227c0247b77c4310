"""How time is taken, with a clock that the test turns."""

import dataclasses
import time
from collections.abc import Callable

import pytest
import torch

from recon.kernels import bench as benches
from recon.kernels import wire
from recon.kernels.bench import Bench, TooLarge, measure, tune
from recon.kernels.card import Card
from recon.kernels.device import Smi
from recon.kernels.op import Op, Variant, Work
from recon.kernels.wire import Axes
from tests.kernels.fakes import FakeStream, doubling, right

L2_BYTES = 1000
AXES: Axes = {"size": 8}  # 64 bytes


@pytest.fixture
def stream(monkeypatch: pytest.MonkeyPatch) -> FakeStream:
    monkeypatch.setattr(benches, "WARMUP_S", 0.0)
    monkeypatch.setattr(benches, "QUEUED_S", 0.0)
    return FakeStream()


def bench_on(stream: FakeStream, memory_limit_bytes: int = 1 << 20) -> Bench:
    smi = Smi("0")
    smi.silent = "there is no GPU here"
    return Bench(stream, torch.device("cpu"), Card(2, 1e9), L2_BYTES, memory_limit_bytes, 30, smi)


def ticking(stream: FakeStream, us: float, seen: list[int] | None = None) -> Op:
    def launch(work: Work, config: Axes) -> None:
        stream.now_us += us / int(config.get("speed", 1))
        if seen is not None:
            seen.append(id(work))
        right(work, config)

    return doubling(launch, configs=({"speed": 1}, {"speed": 4}, {"speed": 2}))


def test_samples_are_times_of_one_call(stream: FakeStream) -> None:
    measured = measure(bench_on(stream), ticking(stream, 6.0), {"only": ({"speed": 2}, 3)}, AXES, 0)
    timing = measured.timings["only"]

    assert [pytest.approx(3.0)] * 30 == list(timing.samples_us)
    assert ({"speed": 2}, 3, "8 integers") == (timing.config, timing.configs_tried, timing.note)


def test_inputs_rotate_until_they_exceed_three_times_the_cache(stream: FakeStream) -> None:
    seen: list[int] = []
    timing = measure(bench_on(stream), ticking(stream, 1000.0, seen), {"only": ({}, 1)}, AXES, 0).timings["only"]

    assert 3 * L2_BYTES // 64 + 1 == timing.sets == len(set(seen))
    assert timing.cold
    assert timing.rotated_bytes == 64 * timing.sets > 3 * L2_BYTES
    assert 0 == timing.calls % timing.sets


def test_inputs_rotate_by_what_the_laziest_variant_reads(stream: FakeStream) -> None:
    eager = ticking(stream, 1000.0)
    lazy = dataclasses.replace(eager.variants["only"], bytes_of=lambda _axes: 16)
    both = dataclasses.replace(eager, variants={"only": eager.variants["only"], "lazy": lazy})
    timings = measure(bench_on(stream), both, {"only": ({}, 1), "lazy": ({}, 1)}, AXES, 0).timings

    assert 3 * L2_BYTES // 16 + 1 == timings["lazy"].sets == timings["only"].sets
    assert 16 * timings["lazy"].sets == timings["lazy"].rotated_bytes
    assert 64 * timings["only"].sets == timings["only"].rotated_bytes
    assert timings["lazy"].cold


def test_a_rotation_that_memory_cuts_short_is_not_called_cold(stream: FakeStream) -> None:
    bench = bench_on(stream, memory_limit_bytes=640)
    timing = measure(bench, ticking(stream, 1000.0), {"only": ({}, 1)}, AXES, 0).timings["only"]

    assert (10, False) == (timing.sets, timing.cold)


def test_a_graph_holds_eight_calls_or_two_milliseconds(stream: FakeStream) -> None:
    wide: Axes = {"size": 1000}  # one set exceeds the cache
    slow = measure(bench_on(stream), ticking(stream, 5000.0), {"only": ({}, 1)}, wide, 0).timings["only"]
    quick = measure(bench_on(stream), ticking(stream, 10.0), {"only": ({}, 1)}, wide, 0).timings["only"]

    assert 8 == slow.calls
    assert 200 == quick.calls


def test_a_case_beyond_the_limit_is_refused(stream: FakeStream) -> None:
    with pytest.raises(TooLarge, match="64 bytes, the limit is 63"):
        measure(bench_on(stream, memory_limit_bytes=63), ticking(stream, 1.0), {"only": ({}, 1)}, AXES, 0)


def test_the_fastest_configuration_is_chosen(stream: FakeStream) -> None:
    op = ticking(stream, 8.0)

    assert ({"speed": 4}, 3) == tune(bench_on(stream), op, "only", AXES, 0)


def test_configurations_are_chosen_on_other_data_than_they_are_timed_on(stream: FakeStream) -> None:
    seeds: list[int] = []
    op = doubling(right, seeds=seeds)
    stream.now_us = 1.0
    bench = bench_on(stream)
    tune(bench, op, "only", AXES, 1_000_003)
    tuned = set(seeds)
    seeds.clear()
    measure(bench, op, {"only": ({}, 1)}, AXES, 2_000_003)

    assert not tuned & set(seeds)


def test_what_timed_launches_left_is_compared_again(stream: FakeStream) -> None:
    launches = [0]

    def launch(work: Work, config: Axes) -> None:
        launches[0] += 1
        stream.now_us += 1000.0
        right(work, config)
        if launches[0] > 1000:
            work.outputs["y"][0] += 1

    measured = measure(bench_on(stream), doubling(launch), {"only": ({}, 1)}, AXES, 0)

    assert "the reference says" in measured.wrong["only"]


def test_variants_are_sampled_in_turn(stream: FakeStream) -> None:
    order: list[str] = []

    def variant(name: str) -> Op:
        def launch(work: Work, config: Axes) -> None:
            if not order or order[-1] != name:
                order.append(name)
            stream.now_us += 500.0
            right(work, config)

        return doubling(launch)

    op = variant("a")
    both = Op(
        work=op.work,
        compare=None,
        variants={"a": op.variants["only"], "b": variant("b").variants["only"]},
        bytes_of=op.bytes_of,
    )
    measured = measure(bench_on(stream), both, {"a": ({}, 1), "b": ({}, 1)}, AXES, 0)

    assert order.count("a") > 30  # taken one after the other, there would be a handful of turns
    assert {"a", "b"} == set(measured.timings)


def test_bursts_follow_rests_and_variants_take_turns_in_being_first(
    stream: FakeStream, monkeypatch: pytest.MonkeyPatch
) -> None:
    order: list[str] = []
    monkeypatch.setattr(time, "sleep", lambda seconds: order.append("rest") if seconds == wire.REST_S else None)

    def launch_as(name: str) -> Callable[[Work, Axes], None]:
        def launch(work: Work, config: Axes) -> None:
            stream.now_us += 5000.0
            right(work, config)
            order.append(name)

        return launch

    op = doubling(right)
    both = dataclasses.replace(op, variants={name: Variant(launch_as(name)) for name in ("a", "b")})
    bench = dataclasses.replace(bench_on(stream), bursts=3)
    measured = measure(bench, both, {"a": ({}, 1), "b": ({}, 1)}, AXES, 0)
    rests = [number for number, word in enumerate(order) if word == "rest"]

    assert ["a", "b", "a"] == [order[number + 1] for number in rests]
    assert [pytest.approx((5000.0,) * 3)] * 2 == [timing.burst_us for timing in measured.timings.values()]


def test_first_launches_count_as_compilation(stream: FakeStream) -> None:
    bench = bench_on(stream)
    compiled: set[object] = set()

    def launch(work: Work, config: Axes) -> None:
        if config["speed"] not in compiled:
            compiled.add(config["speed"])
            time.sleep(0.02)
        stream.now_us += 1000.0
        right(work, config)

    op = doubling(launch, configs=({"speed": 1}, {"speed": 2}))
    tune(bench, op, "only", AXES, 0)

    assert 0.04 <= bench.compile_s


def test_what_cannot_be_captured_is_queued_anew_and_said_to_be(stream: FakeStream) -> None:
    op = ticking(stream, 6.0)
    host = dataclasses.replace(op, variants={"only": dataclasses.replace(op.variants["only"], captured=False)})
    timing = measure(bench_on(stream), host, {"only": ({}, 1)}, AXES, 0).timings["only"]

    assert not timing.captured
    assert 0 == stream.captures
    assert benches.HOST_SETS == timing.sets == timing.calls
    assert [pytest.approx(6.0)] * 30 == list(timing.samples_us)


def test_few_sets_rotate_where_an_engine_finds_them_in_the_cache(stream: FakeStream) -> None:
    op = dataclasses.replace(ticking(stream, 1000.0), in_cache=lambda _axes: True)
    timing = measure(bench_on(stream), op, {"only": ({}, 1)}, AXES, 0).timings["only"]

    assert (benches.WARM_SETS, False) == (timing.sets, timing.cold)


def test_what_an_input_set_holds_is_what_memory_must_suffice_for(stream: FakeStream) -> None:
    op = dataclasses.replace(ticking(stream, 1000.0), held_bytes_of=lambda _axes: 320)
    timing = measure(bench_on(stream, memory_limit_bytes=640), op, {"only": ({}, 1)}, AXES, 0).timings["only"]

    assert 2 == timing.sets
    assert 64 * 2 == timing.rotated_bytes


def test_a_point_of_a_curve_is_not_timed_after_rests(stream: FakeStream) -> None:
    op = dataclasses.replace(ticking(stream, 6.0), point=lambda _axes: True)
    timing = measure(dataclasses.replace(bench_on(stream), bursts=3), op, {"only": ({}, 1)}, AXES, 0).timings["only"]

    assert () == timing.burst_us


@pytest.mark.parametrize("waits", [True, False])
def test_what_waits_for_the_device_is_not_captured_nor_is_what_is_timed_beside_it(
    stream: FakeStream, waits: bool
) -> None:
    def launch(work: Work, config: Axes) -> None:
        stream.told = waits
        stream.now_us += 100.0
        right(work, config)

    ours = ticking(stream, 6.0)
    theirs = dataclasses.replace(doubling(launch).variants["only"], foreign=True)
    both = dataclasses.replace(ours, variants={"only": ours.variants["only"], "theirs": theirs})
    bench = bench_on(stream)
    chosen = tune(bench, both, "theirs", AXES, 0)
    before = stream.captures
    timings = measure(bench, both, {"only": ({}, 1), "theirs": chosen}, AXES, 0).timings

    assert (0, ({}, 1)) == (before, chosen)  # what is not ours is not captured before it is known to bear it
    assert {"only": not waits, "theirs": not waits} == {name: each.captured for name, each in timings.items()}
    assert waits == (stream.captures == 0)
    assert [pytest.approx(100.0)] * 30 == list(timings["theirs"].samples_us)


def test_a_variant_with_a_comparison_of_its_own_is_compared_by_it(stream: FakeStream) -> None:
    ours = ticking(stream, 6.0)
    theirs = dataclasses.replace(
        ours.variants["only"], compare=lambda _work: "it strays", note=lambda _work: "timed: all of it"
    )
    both = dataclasses.replace(ours, variants={"only": ours.variants["only"], "theirs": theirs})
    measured = measure(bench_on(stream), both, {"only": ({}, 1), "theirs": ({}, 1)}, AXES, 0)

    assert {"only": "", "theirs": "it strays"} == measured.wrong
    assert ("8 integers", "timed: all of it") == tuple(each.note for each in measured.timings.values())


def test_of_code_that_keeps_its_buffers_the_answers_to_the_latest_inputs_are_compared(stream: FakeStream) -> None:
    kept = torch.empty(8, dtype=torch.int32)

    def launch(work: Work, config: Axes) -> None:
        stream.now_us += 1000.0
        right(work, config)
        kept.copy_(work.outputs["y"])

    def compare(work: Work) -> str:
        return "" if torch.equal(kept, work.inputs["x"] * 2) else "another's answer"

    ours = doubling(launch)
    theirs = dataclasses.replace(ours.variants["only"], foreign=True, compare=compare)
    measured = measure(
        bench_on(stream), dataclasses.replace(ours, variants={"only": theirs}), {"only": ({}, 1)}, AXES, 0
    )

    assert 1 < measured.timings["only"].sets
    assert ({"only": ""}, {"only": 1}) == (measured.wrong, measured.compared)
