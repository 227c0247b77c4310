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
SPEEDUP = 2.0
"""Least that fused acceptance must gain over argmax and a walk."""


def main() -> int:
    """Run, read, print, judge."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", type=Path, help="file for the result lines")
    parser.add_argument("--full", action="store_true", help="all cases, up to half of the free memory")
    parser.add_argument("--read", action="store_true", help="run nothing: read the file as it is")
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


def row(each: Measurement) -> str:
    """One measurement in a line."""
    case = " ".join(f"{name}={value}" for name, value in each.case.items() if name not in {"dtype", "accepted"})
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
    found = []
    medians = {(each.kernel, str(each.case)): each.spread.median_us for each in measurements if each.spread}
    for each in measurements:
        if each.kernel != "tree_greedy.fused" or not (each.spread and each.floor):
            continue
        batch, nodes = int(each.case["batch"]), int(each.case["nodes"])
        most = OVER_FLOOR_LARGE if batch * nodes >= 1024 else OVER_FLOOR.get((batch, nodes))
        where = f"B={batch} N={nodes} V={each.case['vocab']}"
        if most:
            ratio = each.spread.median_us / each.floor.us
            found.append((f"{where}: {ratio:.3f} times the floor, at most {most}", ratio <= most * NOISE))
        walk = medians.get(("tree_greedy.argmax_walk", str(each.case)))
        if walk:
            speedup = walk / each.spread.median_us
            found.append(
                (
                    f"{where}: {speedup:.2f} times as fast as argmax and a walk, at least {SPEEDUP}",
                    speedup >= SPEEDUP / NOISE,
                )
            )
    return found


if __name__ == "__main__":
    sys.exit(main())
