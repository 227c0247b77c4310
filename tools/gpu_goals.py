"""Run a group of probes on the GPU of this machine and hold its times against the goals set for one H200.

    python3 tools/gpu_goals.py results.jsonl [--probes acceptance] [--full]

Needs a Python with torch and triton, and nothing else. Result lines go to the file as they come, what is being done to
standard error, a table of medians, floors and ratios to standard output. Status 1 means that a goal was missed.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import argparse
import contextlib
import multiprocessing
import os
import subprocess
import time
from collections.abc import Iterator
from datetime import UTC, datetime

from recon.estimates.knees import knees_of
from recon.kernels import wire
from recon.probes.floors import FLOORS
from recon.probes.plan import GROUPS, LEVELS, OF_ENGINES, plan_gpu
from recon.probes.read import Reading
from recon.probes.run import told
from recon.records.measurement import Measurement

ROOT = Path(__file__).resolve().parent.parent
AHEAD_S = 120.0
"""What compiling ahead may take."""
SETTLE_S = 2.0
"""What nvidia-smi may take to forget processes that are over: the run would call the GPU busy."""
NOISE = 1.05
"""What a goal allows for a run's own scatter."""
OVER_FLOOR = {(64, 8): 1.4, (1, 256): 1.6, (1, 64): 2.7}
"""Most times its floor that fused tree acceptance may take, by batch and nodes."""
OVER_FLOOR_LARGE = 1.3
"""Likewise from 1024 nodes in all."""
OVER_BASELINE = {
    ("tree_greedy.fused", "tree_greedy.argmax_walk", None): 1.8,
    ("tree_greedy.lazy", "tree_greedy.argmax_walk", (64, 64)): 10.0,
    ("tree_target_only.auto", "tree_target_only.softmax_walk", (1, 64)): 4.0,
    ("tree_target_only.auto", "tree_target_only.softmax_walk", (64, 64)): 30.0,
}
"""Least that a kernel must gain over a baseline, by batch and nodes; None for every size."""
COMPACTION = {1: 2.7, 16: 2.7, 64: 1.7}
"""Most times its floor that moving the KV of accepted paths may take, by batch; that of one, with a warm cache."""
ATTENTION = {
    (1, 32_768, 64, 256): 1.7,
    (1, 32_768, 8, 256): 1.8,
    (8, 8_192, 64, 256): 2.2,
    (8, 8_192, 8, 256): 1.5,
    (1, 131_072, 64, 256): 1.5,
    (1, 32_768, 64, 128): 2.3,
}
"""Most times its floor that attention of a tree may take, by batch, context, nodes and head size."""
TREE_OVER_CHAIN = 1.05
"""Most of the time of a chain's attention that a tree's may take."""
OVER_STATE = {
    ("delta_matrix.quick", 1): 11.0,
    ("delta_matrix.quick", 16): 5.5,
    ("delta_matrix.exact", 1): 29.0,
    ("delta_matrix.exact", 16): 22.0,
}
"""Most times its floor, reading the float32 state, that a matrix form may take for a tree of 64 nodes, by batch."""
OVER_STEPS = {"delta_matrix.quick": 8.0, "delta_matrix.exact": 3.0}
"""Least that it must gain there over the step form."""
SPOKEN_OF = frozenset(
    (
        *("tree_attention.tree", "tree_attention.chain", "kv_compact.rows", "delta_matrix.quick", "delta_matrix.exact"),
        "delta_step.step",
        *(kernel for pair in OVER_BASELINE for kernel in pair[:2]),
    )
)
"""Kernels that goals hold, and those that they are held against."""
CHOICE = 1.1
"""Most that the form which the rule prefers may take of the time of the better one."""
ACCEPTED = 3
"""Accepted drafts that goals speak of."""
UNSAID = frozenset(("dtype", "depth", "temperature", "layout"))
"""Axes that are the same in every case."""
VOCAB = 151_936
"""Vocabulary that goals of one size speak of."""


def main() -> int:
    """Run, read, print, judge."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", type=Path, help="file for the result lines")
    parser.add_argument("--probes", choices=GROUPS, default="acceptance", help="what to measure beside the floors")
    parser.add_argument("--full", action="store_true", help="all cases, up to half of the free memory")
    parser.add_argument("--library", default="", help="an engine's library to time beside attention, or `auto`")
    parser.add_argument("--read", action="store_true", help="run nothing: read the file as it is")
    parser.add_argument("--save", type=Path, help="run file to write; needs recon's own libraries")
    words = parser.parse_args()
    level = LEVELS["full" if words.full else "quick"]
    plan = told(plan_gpu(level, probes=(*FLOORS, *GROUPS[words.probes]), library=words.library), {})
    if not words.read:
        compile_ahead(plan)
        run(plan, words.results)
    reading = Reading(plan)
    for line in words.results.read_text(encoding="utf-8").splitlines():
        reading.take(wire.decode(line))
    if reading.refused:
        print(f"refused: {reading.refused}")
        return 1
    measurements = reading.measurements()
    if words.save:
        save(reading, words.probes, words.save, datetime.fromtimestamp(words.results.stat().st_mtime, UTC))
    for measurement in measurements:
        print(row(measurement))
    for knee in knees_of(measurements):
        grown = " ".join(f"{each.tokens}:{each.ratio:.2f}" for each in knee.growth)
        ends = f"{knee.us:9.2f} us at {knee.fewest}, within to {knee.within}, passed at {knee.passed}"
        print(f"knee {knee.kernel:26} {words_of(knee.case):60} {ends}: {grown}")
    for unknown in reading.unknowns():
        print(f"UNKNOWN {unknown.what} ({unknown.where}): {unknown.why}")
    print(reading.done)
    held = (*goals(measurements), *untimed(plan, measurements))
    for goal, kept in held:
        print("kept  " if kept else "MISSED", goal)
    print(f"bounds of ratios to floors and baselines allow {NOISE - 1:.0%} more for a run's own scatter")
    return 0 if measurements and all(kept for _, kept in held) else 1


def compile_ahead(plan: wire.Plan) -> None:
    """Do the plan's checks once in as many processes as there are cores, for what they leave in compilers' caches.

    What goes wrong here goes wrong again in the run itself, which says so.
    """
    import torch  # noqa: F401, PLC0415  once, and no GPU is touched before the processes part

    subjects = dict.fromkeys((entry.kernel, entry.variant) for entry in plan.entries if entry.variant not in OF_ENGINES)
    jobs = [(*one, number, check.axes) for one in subjects for number, check in enumerate(checks_of(plan, one[0]))]
    with multiprocessing.get_context("fork").Pool(os.cpu_count()) as pool:
        with contextlib.suppress(multiprocessing.TimeoutError):
            pool.map_async(compile_one, jobs, chunksize=1).get(AHEAD_S)
        pool.terminate()
        pool.join()
    time.sleep(SETTLE_S)


def checks_of(plan: wire.Plan, kernel: str) -> list[wire.Check]:
    """The checks of a kernel, in their order."""
    return [check for check in plan.checks if check.kernel == kernel]


def compile_one(job: tuple[str, str, int, wire.Axes]) -> None:
    """Launch a variant on one case, in the configuration that its check will take."""
    import torch  # noqa: PLC0415

    from recon.kernels.card import card_of  # noqa: PLC0415
    from recon.kernels.work import op_of  # noqa: PLC0415

    kernel, variant, number, axes = job
    op, device = op_of(kernel), torch.device("cuda", 0)
    with contextlib.suppress(Exception):
        card = card_of(torch.cuda.get_device_properties(0).multi_processor_count)
        configs = op.variants[variant].configs(axes, card)
        if op.variants[variant].checked(axes):
            op.variants[variant].launch(op.work(axes, 0, device), configs[number % len(configs)])
            torch.cuda.synchronize()


def run(plan: wire.Plan, results: Path) -> None:
    """Run the payload under this Python, its lines into the file."""
    with results.open("w", encoding="utf-8") as file:
        command = [sys.executable, "-m", "recon.kernels"]
        subprocess.run(command, input=wire.encode_plan(plan), stdout=file, text=True, cwd=ROOT, check=False)


def save(reading: Reading, probes: str, path: Path, started: datetime) -> None:
    """Write what was measured as a run file, as `recon probe-kernels` would."""
    from recon import __version__  # noqa: PLC0415  where the payload runs, these are not installed
    from recon.records.host import Host  # noqa: PLC0415
    from recon.records.run import SCHEMA_VERSION, Run  # noqa: PLC0415
    from recon.runs import files  # noqa: PLC0415

    host = Host("localhost", "localhost", "", reading.gpus(), ())
    run = Run(
        schema_version=SCHEMA_VERSION,
        recon_version=__version__,
        command=("make", "bench-kernels", f"PROBES={probes}"),
        started_at=started.isoformat(timespec="seconds"),
        hosts=(host,),
        installs=(),
        measurements=reading.measurements(),
        estimates=(),
        capabilities=(),
        unknowns=reading.unknowns(),
        searched=(),
        complete=reading.done is not None and not reading.done.interrupted,
    )
    path.write_bytes(files.encode(run))


def words_of(case: wire.Axes) -> str:
    """What differs from case to case."""
    return " ".join(f"{name}={value}" for name, value in case.items() if name not in UNSAID)


def row(each: Measurement) -> str:
    """One measurement in a line."""
    case = words_of(each.case)
    agreement = f"{each.agreement.mismatches}/{each.agreement.cases} wrong" if each.agreement else ""
    times = "not timed"
    if each.spread:
        spread = each.spread
        times = f"{spread.median_us:9.3f} us [{spread.low_us:.3f}, {spread.high_us:.3f}] p10 {spread.p10_us:.3f}"
        times += f" p90 {spread.p90_us:.3f}"
        if each.burst:
            times += f" burst {each.burst.spread.median_us:.3f}"
        rate = each.bytes_moved / spread.median_us / 1e6
        times += f" {rate:.2f} TB/s" if each.bytes_moved else ""
    floor = (
        f"floor {each.floor.us:.3f} x{each.spread.median_us / each.floor.us:.2f}" if each.floor and each.spread else ""
    )
    return f"{each.kernel:29} {case:32} {times:72} {floor:22} {each.config} {agreement}"


def goals(measurements: tuple[Measurement, ...]) -> list[tuple[str, bool]]:
    """Each goal in words, and whether it was kept."""
    timed = [each for each in measurements if each.spread and each.case.get("accepted") == ACCEPTED]
    return [
        *over_floor(timed),
        *over_baseline(timed),
        *choices(timed),
        *compaction(measurements),
        *attention(measurements),
        *recurrent(measurements),
    ]


def untimed(plan: wire.Plan, measurements: tuple[Measurement, ...]) -> list[tuple[str, bool]]:
    """What goals speak of, was to be timed, and was not: a goal that nobody measured is not kept."""
    timed = {(each.kernel, str(each.case)) for each in measurements if each.spread}
    return [
        (f"{wire.name_of(entry)} {words_of(entry.axes)}: not timed", False)
        for entry in plan.entries
        if wire.name_of(entry) in SPOKEN_OF and (wire.name_of(entry), str(entry.axes)) not in timed
    ]


def attention(measurements: tuple[Measurement, ...]) -> Iterator[tuple[str, bool]]:
    """Of verification attention, each case once: over its floor, and over the chain of the same kernel."""
    chains = by_case([each for each in measurements if each.kernel == "tree_attention.chain"])
    for each in measurements:
        if each.kernel != "tree_attention.tree" or not each.floor or not each.spread:
            continue
        batch, context = int(each.case["batch"]), int(each.case["context"])
        key = (batch, context, int(each.case["nodes"]), int(each.case["head_dim"]))
        most, what = ATTENTION.get(key), f"{each.kernel} {words_of(each.case)}"
        if most and each.case["kv"] == "bf16":
            ratio = each.spread.median_us / each.floor.us
            rested = each.burst.spread.median_us / each.burst.floor.us if each.burst and each.burst.floor else 0.0
            yield (
                f"{what}: {ratio:.3f} times the floor of {each.floor.us:.1f} us, at most {most}; rested {rested:.3f}",
                ratio <= most * NOISE,
            )
        chain = chains.get(("tree_attention.chain", str(each.case)))
        if chain:
            ratio = each.spread.median_us / chain
            yield f"{what}: {ratio:.3f} times its chain, at most {TREE_OVER_CHAIN}", ratio <= TREE_OVER_CHAIN


def compaction(measurements: tuple[Measurement, ...]) -> Iterator[tuple[str, bool]]:
    """Of compaction in the sizes of models."""
    for each in measurements:
        warm = each.case.get("cache") == "warm"
        if each.kernel == "kv_compact.rows" and each.floor and each.spread and warm == (each.case["batch"] == 1):
            batch, ratio = int(each.case["batch"]), each.spread.median_us / each.floor.us
            what = f"{each.kernel} B={batch} layers={each.case['layers']}"
            most = COMPACTION[batch]
            yield (
                f"{what}: {ratio:.3f} times the floor of {each.floor.us:.3f} us, at most {most}",
                ratio <= most * NOISE,
            )


def recurrent(measurements: tuple[Measurement, ...]) -> Iterator[tuple[str, bool]]:
    """Of the gated delta rule in matrix form, on trees of 64 nodes."""
    steps = by_case([each for each in measurements if each.kernel == "delta_step.step"])
    for each in measurements:
        most = OVER_STATE.get((each.kernel, int(each.case.get("batch", 0))))
        tree = (each.case.get("shape"), each.case.get("nodes"), each.case.get("state"))
        if not (most and tree == ("random", 64, "fp32") and each.floor and each.spread):
            continue
        what, ratio = f"{each.kernel} B={each.case['batch']} T=64", each.spread.median_us / each.floor.us
        yield f"{what}: {ratio:.3f} times the floor of {each.floor.us:.3f} us, at most {most}", ratio <= most * NOISE
        theirs = steps.get(("delta_step.step", str(each.case)))
        if theirs:
            gain, least = theirs / each.spread.median_us, OVER_STEPS[each.kernel]
            yield f"{what}: {gain:.2f} times as fast as the step form, at least {least}", gain >= least / NOISE


def over_floor(timed: list[Measurement]) -> Iterator[tuple[str, bool]]:
    """Of fused tree acceptance."""
    for each in timed:
        if each.kernel == "tree_greedy.fused" and each.floor and each.spread and each.case["vocab"] == VOCAB:
            batch, nodes = size(each)
            most = OVER_FLOOR_LARGE if batch * nodes >= 1024 else OVER_FLOOR.get((batch, nodes))
            if most:
                ratio = each.spread.median_us / each.floor.us
                yield f"{words(each)}: {ratio:.3f} times the floor, at most {most}", ratio <= most * NOISE


def over_baseline(timed: list[Measurement]) -> Iterator[tuple[str, bool]]:
    """Of a kernel over what an engine does without one."""
    medians = by_case(timed)
    for each in timed:
        for (kernel, baseline, only), least in OVER_BASELINE.items():
            theirs = medians.get((baseline, str(each.case)))
            meant = size(each) == only and each.case.get("vocab") == VOCAB if only else True
            if each.kernel == kernel and meant and theirs and each.spread:
                gain = theirs / each.spread.median_us
                yield f"{words(each)}: {gain:.2f} times as fast as {baseline}, at least {least}", gain >= least / NOISE


def choices(timed: list[Measurement]) -> Iterator[tuple[str, bool]]:
    """Of the form that the rule prefers."""
    medians = by_case(timed)
    for each in timed:
        kernel, _, variant = each.kernel.partition(".")
        forms = [medians.get((f"{kernel}.{form}", str(each.case))) for form in ("fused", "lazy")]
        if variant == "auto" and each.spread and all(forms):
            ratio = each.spread.median_us / min(form for form in forms if form)
            chosen = each.config["form"]
            yield f"{words(each)}: {chosen}, {ratio:.3f} times the better form, at most {CHOICE}", ratio <= CHOICE


def by_case(timed: list[Measurement]) -> dict[tuple[str, str], float]:
    """Medians in microseconds by kernel and case; of two, the first."""
    return {(each.kernel, str(each.case)): each.spread.median_us for each in reversed(timed) if each.spread}


def size(each: Measurement) -> tuple[int, int]:
    """Batch and nodes."""
    return int(each.case["batch"]), int(each.case["nodes"])


def words(each: Measurement) -> str:
    """Kernel and size."""
    return f"{each.kernel} B={each.case['batch']} N={each.case['nodes']} V={each.case['vocab']}"


if __name__ == "__main__":
    sys.exit(main())
