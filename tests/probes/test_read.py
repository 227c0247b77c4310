"""From wire lines to measurements."""

import dataclasses

import pytest

from recon.kernels import wire
from recon.probes.complaint import LONGEST, in_a_line
from recon.probes.plan import BYTES_OF, plan_compile, plan_gpu, plan_interpret
from recon.probes.read import Ceilings, Reading, ceilings_of, floor_of
from recon.records.measurement import Measurement

DEVICE = wire.Device(
    name="Test GPU",
    uuid="GPU-1",
    capability=(9, 0),
    memory_bytes=100,
    free_bytes=90,
    l2_bytes=10,
    multiprocessors=2,
    driver="580",
    torch="2.11.0",
    triton="3.6.0",
    python="3.12.3",
    cuda="13.0",
)
STATE = wire.State(sm_clock_mhz="1980", compute_mode="Default")
AGREED = wire.Agreement(5, 0, "equal")
PLAN = plan_gpu()


def timing_of(us: float, **other: object) -> wire.Timing:
    timing = wire.Timing(
        samples_us=tuple(us + 0.001 * (number - 25) for number in range(51)),
        captured=True,
        calls=16,
        sets=4,
        rotated_bytes=4000,
        cold=True,
        warmup_replays=9,
        replay_overhead_us=8.0,
        config={"splits": 4},
        configs_tried=6,
        note="accepted drafts per request: 3.00",
    )
    return dataclasses.replace(timing, **other)  # type: ignore[arg-type]


def entry_of(kernel: str, variant: str, **axes: int) -> wire.Entry:
    return next(
        entry
        for entry in PLAN.entries
        if (entry.kernel, entry.variant) == (kernel, variant) and axes.items() <= entry.axes.items()
    )


NOP, READ = entry_of("nop", "triton"), entry_of("read", "triton")
TREE, LINEAR = entry_of("tree_greedy", "fused", nodes=64), entry_of("linear_greedy", "fused", nodes=64)


def reading_of(*lines: wire.Line, payload: str = "payload") -> Reading:
    reading = Reading(dataclasses.replace(PLAN, payload=payload))
    for line in (wire.Hello(1, "gpu", DEVICE, STATE), *lines):
        reading.take(line)
    return reading


def timed(entry: wire.Entry, us: float) -> wire.Result:
    return wire.Result(entry.id, AGREED, timing_of(us), STATE, STATE)


def one(reading: Reading, kernel: str) -> Measurement:
    (found,) = (each for each in reading.measurements() if each.kernel == kernel)
    return found


def test_a_time_stands_beside_its_floor() -> None:
    bytes_read = BYTES_OF["read"](READ.axes)
    reading = reading_of(timed(NOP, 0.75), timed(READ, bytes_read / 4.0e6), timed(TREE, 5.0))
    tree = one(reading, "tree_greedy.fused")

    assert tree.floor is not None
    assert tree.spread is not None
    assert "memory" == tree.floor.bound
    assert pytest.approx(BYTES_OF["tree_greedy"](TREE.axes) / 4.0e6) == tree.floor.us
    assert pytest.approx(5.0) == tree.spread.median_us
    assert (51, 51) == (tree.spread.samples, len(tree.samples_us))
    assert {"splits": 4, "tried": 6} == tree.config
    assert ("subject", "gpu", "linear-vs-tree", TREE.axes) == (tree.role, tree.mode, tree.probe, tree.case)
    assert () == reading.unknowns()


def test_an_empty_launch_is_the_floor_of_what_reads_little() -> None:
    ceilings = Ceilings(launch_us=0.75, read_bytes_per_s=4e12, matrix_flops_per_s=7e14)
    small = dataclasses.replace(TREE, axes={**TREE.axes, "nodes": 1, "vocab": 100})
    floor = floor_of(small, ceilings, {})

    assert floor is not None
    assert ("launch", 0.75) == (floor.bound, floor.us)


def test_arithmetic_is_the_floor_of_a_large_product() -> None:
    gemm = wire.Entry(0, "any", "subject", "gemm", "torch", {"m": 4096, "n": 8192, "k": 8192})
    floor = floor_of(gemm, Ceilings(0.75, 4e12, 7e14), {})

    assert floor is not None
    assert "arithmetic" == floor.bound
    assert pytest.approx(2 * 4096 * 8192 * 8192 / 7e14 * 1e6) == floor.us


def test_what_copies_is_held_against_a_copy() -> None:
    axes: wire.Axes = {"batch": 64, "accepted": 4, "nodes": 16, "layers": 16, "kv_heads": 4, "head_dim": 256}
    entry = wire.Entry(0, "any", "subject", "kv_compact", "rows", axes | {"dtype": "bf16"})
    floor = floor_of(entry, Ceilings(0.75, 5e12, 7e14, 4e12), {})

    assert floor is not None
    assert pytest.approx(BYTES_OF["kv_compact"](entry.axes) / 4e12 * 1e6) == floor.us
    assert "the bandwidth of a copy measured here" in floor.detail


def test_a_gather_is_held_against_a_copy_and_not_against_the_attention_that_it_is_for() -> None:
    axes: wire.Axes = {"batch": 1, "context": 32_768, "nodes": 64, "heads": 24, "kv_heads": 4, "head_dim": 256}
    entry = wire.Entry(0, "any", "baseline", "dense_attention", "page_gather", axes | {"dtype": "bf16", "kv": "bf16"})
    floor = floor_of(entry, Ceilings(0.75, 5e12, 7e14, 4.24e12), {})

    assert floor is not None
    assert pytest.approx(63.374, rel=2e-3) == floor.us
    assert "the bandwidth of a copy measured here" in floor.detail


def test_the_highest_rate_of_a_floor_is_the_ceiling() -> None:
    size = BYTES_OF["read"](READ.axes)
    ceilings = ceilings_of([(READ, (300.0,)), (READ, (250.0,)), (NOP, (0.75,))])

    assert pytest.approx(size / 250e-6) == ceilings.read_bytes_per_s
    assert pytest.approx(0.75) == ceilings.launch_us
    assert 0.0 == ceilings.matrix_flops_per_s


def test_floors_themselves_have_none() -> None:
    assert one(reading_of(timed(READ, 250.0)), "read.triton").floor is None


def test_a_missing_ceiling_is_said() -> None:
    reading = reading_of(timed(NOP, 0.75), timed(TREE, 5.0))

    assert ["ceiling read_bytes_per_s"] == [unknown.what for unknown in reading.unknowns()]


def test_a_kernel_that_disagrees_has_no_times_and_is_an_unknown() -> None:
    reading = reading_of(wire.Result(TREE.id, wire.Agreement(5, 1, "path[0, 1] is 2"), None, None, None))
    tree = one(reading, "tree_greedy.fused")
    (unknown,) = reading.unknowns()

    assert tree.agreement is not None
    assert (1, None, ()) == (tree.agreement.mismatches, tree.spread, tree.samples_us)
    assert "time of tree_greedy.fused" == unknown.what
    assert "path[0, 1] is 2" in unknown.why


def test_a_failure_is_an_unknown_with_its_stage_and_case() -> None:
    (unknown,) = reading_of(wire.Failed(TREE.id, "tune", "TooLarge: 9 bytes")).unknowns()

    assert "tune of tree_greedy.fused" == unknown.what
    assert "batch=1 nodes=64 vocab=151936" in unknown.where
    assert "TooLarge: 9 bytes" == unknown.why


SAID = (
    "InductorError: InvalidCxxCompiler: No working C++ compiler found: (None, '/bin/false')\n\nSet DYNAMO_VERBOSE=1\n",
    "CompilationError: at 3:20:\ndef k(x, n):\n    tl.store(x, a.foo)\n        ^\nAttributeError('no attribute foo')",
    "InductorError: CompilationError: at 7:4:\ndef k(x):\n\n    y\n    ^\nNameError('y is not defined')\n\nSet VERBOSE",
    "CalledProcessError: Command '['gcc', " + "'/tmp/a/rather/long/path.c', " * 40 + "]' returned status 1.",
    "\n\n  RuntimeError: \r\n\x1b[31m" + "word " * 300,
    "",
)


@pytest.mark.parametrize("said", SAID)
@pytest.mark.parametrize("kind", ["failed", "disagrees"])
def test_whatever_a_library_says_is_one_line_and_all_of_it_is_kept(said: str, kind: str) -> None:
    line = (
        wire.Failed(TREE.id, "tune", said)
        if kind == "failed"
        else wire.Result(TREE.id, wire.Agreement(2, 1, said), None, None, None)
    )
    unknown = reading_of(line).unknowns()[0]

    assert 1 >= len(unknown.why.splitlines())
    assert LONGEST >= len(unknown.why)
    assert said.strip() in (unknown.detail or unknown.why)


def test_the_line_tells_what_happened_with_the_value() -> None:
    told = [in_a_line(each) for each in SAID[:4]]

    assert "InductorError: InvalidCxxCompiler: No working C++ compiler found: (None, '/bin/false')" == told[0]
    assert "CompilationError: at 3:20: AttributeError('no attribute foo')" == told[1]
    assert "InductorError: CompilationError: at 7:4: NameError('y is not defined')" == told[2]
    assert told[3].startswith("CalledProcessError: Command '['gcc', ")
    assert told[3].endswith("]' returned status 1.")


def test_the_method_tells_what_a_reader_must_know() -> None:
    method = one(reading_of(timed(TREE, 5.0)), "tree_greedy.fused").method

    assert "16 calls over 4 input sets, 4000 bytes in all (more than three times L2)" in method
    assert "51 replays" in method
    assert "chosen among 6 on other data" in method
    assert "accepted drafts per request: 3.00" in method


def test_a_warm_rotation_is_said_to_be_one() -> None:
    warm = wire.Result(TREE.id, AGREED, timing_of(5.0, cold=False), None, None)

    assert "NOT more than three times L2" in one(reading_of(warm), "tree_greedy.fused").method


def test_what_no_graph_held_is_said_to_be_queued_by_the_host() -> None:
    queued = wire.Result(TREE.id, AGREED, timing_of(5.0, captured=False), None, None)
    method = one(reading_of(queued), "tree_greedy.fused").method

    assert method.startswith("NOT a graph: 16 calls over 4 input sets, 4000 bytes in all")
    assert "what the host does and waits for counted" in method
    assert "CUDA graph" not in method


def test_device_and_its_state_are_kept() -> None:
    tree = one(reading_of(timed(TREE, 5.0)), "tree_greedy.fused")

    assert tree.device is not None
    assert tree.before is not None
    assert ("Test GPU", (9, 0), "3.6.0", 10) == (
        tree.device.name,
        tree.device.capability,
        tree.device.triton,
        tree.device.l2_bytes,
    )
    assert "1980" == tree.before.sm_clock_mhz
    assert ("GPU-1", "580") == (reading_of().gpus()[0].uuid, reading_of().gpus()[0].driver)


def test_keys_are_equal_for_equal_things_alone() -> None:
    key = one(reading_of(timed(TREE, 5.0)), "tree_greedy.fused").key
    again = one(reading_of(timed(TREE, 6.0)), "tree_greedy.fused").key
    linear = one(reading_of(timed(LINEAR, 5.0)), "linear_greedy.fused").key
    other_payload = one(reading_of(timed(TREE, 5.0), payload="newer"), "tree_greedy.fused").key

    assert key == again
    assert 3 == len({key, linear, other_payload})


def test_a_line_about_an_entry_that_was_not_planned_is_refused() -> None:
    with pytest.raises(wire.WireError, match="entry 999"):
        reading_of(wire.Started(999, "check"))


def test_a_build_is_one_measurement_with_all_its_targets() -> None:
    plan = plan_compile((90, 120))
    number = next(entry.id for entry in plan.entries if entry.kernel == "tree_greedy")
    reading = Reading(dataclasses.replace(plan, payload="payload"))
    reading.take(wire.Hello(1, "compile", DEVICE, STATE))
    for arch, block, fits in (("sm_90", 64, True), ("sm_120", 64, False), ("sm_90", 32, True)):
        built = wire.Compiled(number, "fused", {"BLOCK": block}, arch, arch, "9.4", 70, 1024, 16, 8, 4, 12, 100, fits)
        reading.take(built)
    first, second = reading.measurements()

    assert ("tree_greedy.fused", "compile", {"BLOCK": 64}) == (first.kernel, first.mode, first.config)
    assert [("sm_90", 1040, True), ("sm_120", 1040, False)] == [
        (each.arch, each.shared_bytes, each.fits) for each in first.resources
    ]
    assert (8, 4, 12) == (
        first.resources[0].stack_bytes,
        first.resources[0].spill_store_bytes,
        first.resources[0].spill_load_bytes,
    )
    assert {"BLOCK": 32} == second.config


def test_a_burst_stands_beside_the_floor_that_bursts_reached() -> None:
    bytes_read = BYTES_OF["read"](READ.axes)
    ceiling = timing_of(bytes_read / 4.0e6, burst_us=(bytes_read / 5.0e6,) * 3)
    tree = wire.Result(TREE.id, AGREED, timing_of(6.0, burst_us=(5.0, 5.2, 5.1)), STATE, STATE, STATE)
    reading = reading_of(timed(NOP, 0.75), wire.Result(READ.id, AGREED, ceiling, STATE, STATE), tree)
    measured = one(reading, "tree_greedy.fused")

    assert measured.burst is not None
    assert measured.burst.floor is not None
    assert measured.floor is not None
    assert (5.1, 3, "1980") == (
        measured.burst.spread.median_us,
        measured.burst.spread.samples,
        measured.burst.state.sm_clock_mhz if measured.burst.state else "",
    )
    assert pytest.approx(measured.floor.us * 4 / 5) == measured.burst.floor.us
    assert "3 more replays after rests of 0.12 s" in measured.method


def test_bursts_that_are_no_times_are_refused() -> None:
    with pytest.raises(wire.WireError, match="no times"):
        reading_of(wire.Result(TREE.id, AGREED, timing_of(6.0, burst_us=(-1.0,)), STATE, STATE))


def test_what_was_to_be_timed_beside_a_function_that_failed_is_not_missed() -> None:
    ours, theirs, alone = (dataclasses.replace(TREE, id=number, subject=at) for number, at in enumerate((0, 0, -1)))
    reading = Reading(dataclasses.replace(PLAN, entries=(ours, theirs, alone)))
    reading.take(wire.Hello(1, "gpu", DEVICE, STATE))
    reading.take(wire.Failed(1, "check", "it raises"))

    assert {2} == reading.unanswered


def test_what_is_built_is_done_when_the_next_one_begins_or_all_is() -> None:
    plan = plan_compile((90,))
    reading = Reading(plan)
    reading.take(wire.Hello(1, "compile", DEVICE, STATE))
    left = []
    for entry in plan.entries:
        reading.take(wire.Started(entry.id, "compile"))
        left.append(len(reading.unanswered))
    reading.take(wire.Done(interrupted=False, seconds=1.0, device_seconds=0.0))

    assert [*range(len(plan.entries), 0, -1)] == left
    assert not reading.unanswered


def test_what_a_damaged_run_calls_by_another_name_is_not_taken_over() -> None:
    plan = plan_interpret()
    hello = wire.Hello(1, "interpret", DEVICE, STATE)
    first = Reading(plan)
    for line in (hello, wire.Result(0, wire.Agreement(3, 0, "equal"), None, None, None)):
        first.take(line)
    (sound,) = first.measurements()
    damaged = dataclasses.replace(sound, kernel="copy.triton")
    readings = [Reading(plan, {each.key: each}) for each in (sound, damaged)]
    for reading in readings:
        reading.take(hello)
        reading.take(wire.Known(0))

    assert [(1, []), (0, [0])] == [(len(each.measurements()), [no.entry for no in each.failed]) for each in readings]
