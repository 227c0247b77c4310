"""Run the whole probe on the GPU of this machine and hold its times against the goals set for one H200.

    python3 tools/gpu_goals.py results.jsonl [--full]

Needs a Python with torch and triton, and nothing else. Result lines go to the file as they come, what is being done to
standard error, a table of medians, floors and ratios to standard output. Status 1 means that a goal was missed.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import argparse
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime

from recon.kernels import wire
from recon.probes.plan import LEVELS, plan_gpu
from recon.probes.read import Reading
from recon.probes.run import told
from recon.records.measurement import Measurement

ROOT = Path(__file__).resolve().parent.parent
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
CHOICE = 1.1
"""Most that the form which the rule prefers may take of the time of the better one."""
ACCEPTED = 3
"""Accepted drafts that goals speak of."""
UNSAID = frozenset(("dtype", "depth", "temperature"))
"""Axes that are the same in every case."""
VOCAB = 151_936
"""Vocabulary that goals of one size speak of."""


def main() -> int:
    """Run, read, print, judge."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", type=Path, help="file for the result lines")
    parser.add_argument("--full", action="store_true", help="all cases, up to half of the free memory")
    parser.add_argument("--read", action="store_true", help="run nothing: read the file as it is")
    parser.add_argument("--save", type=Path, help="run file to write; needs recon's own libraries")
    words = parser.parse_args()
    plan = told(plan_gpu(LEVELS["full" if words.full else "quick"]), {})
    if not words.read:
        run(plan, words.results)
    reading = Reading(plan)
    for line in words.results.read_text(encoding="utf-8").splitlines():
        reading.take(wire.decode(line))
    if reading.refused:
        print(f"refused: {reading.refused}")
        return 1
    measurements = reading.measurements()
    if words.save:
        save(reading, words.save, datetime.fromtimestamp(words.results.stat().st_mtime, UTC))
    for measurement in measurements:
        print(row(measurement))
    for unknown in reading.unknowns():
        print(f"UNKNOWN {unknown.what} ({unknown.where}): {unknown.why}")
    print(reading.done)
    missed = [goal for goal, kept in goals(measurements) if not kept]
    for goal, kept in goals(measurements):
        print("kept  " if kept else "MISSED", goal)
    return 1 if missed or not measurements else 0


def run(plan: wire.Plan, results: Path) -> None:
    """Run the payload under this Python, its lines into the file."""
    with results.open("w", encoding="utf-8") as file:
        command = [sys.executable, "-m", "recon.kernels"]
        subprocess.run(command, input=wire.encode_plan(plan), stdout=file, text=True, cwd=ROOT, check=False)


def save(reading: Reading, path: Path, started: datetime) -> None:
    """Write what was measured as a run file, as `recon probe-kernels` would."""
    from recon import __version__  # noqa: PLC0415  where the payload runs, these are not installed
    from recon.records.host import Host  # noqa: PLC0415
    from recon.records.run import SCHEMA_VERSION, Run  # noqa: PLC0415
    from recon.runs import files  # noqa: PLC0415

    host = Host("localhost", "localhost", "", reading.gpus(), ())
    run = Run(
        schema_version=SCHEMA_VERSION,
        recon_version=__version__,
        command=("make", "bench-kernels"),
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


def row(each: Measurement) -> str:
    """One measurement in a line."""
    case = " ".join(
        f"{name}={value}" for name, value in each.case.items() if name not in {"dtype", "depth", "temperature"}
    )
    agreement = f"{each.agreement.mismatches}/{each.agreement.cases} wrong" if each.agreement else ""
    times = "not timed"
    if each.spread:
        spread = each.spread
        times = f"{spread.median_us:9.3f} us [{spread.low_us:.3f}, {spread.high_us:.3f}] p10 {spread.p10_us:.3f}"
        times += f" p90 {spread.p90_us:.3f}"
        rate = each.bytes_moved / spread.median_us / 1e6
        times += f" {rate:.2f} TB/s" if each.bytes_moved else ""
    floor = (
        f"floor {each.floor.us:.3f} x{each.spread.median_us / each.floor.us:.2f}" if each.floor and each.spread else ""
    )
    return f"{each.kernel:29} {case:32} {times:72} {floor:22} {each.config} {agreement}"


def goals(measurements: tuple[Measurement, ...]) -> list[tuple[str, bool]]:
    """Each goal in words, and whether it was kept."""
    timed = [each for each in measurements if each.spread and each.case.get("accepted") == ACCEPTED]
    return [*over_floor(timed), *over_baseline(timed), *choices(timed)]


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
            meant = size(each) == only and each.case["vocab"] == VOCAB if only else True
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
