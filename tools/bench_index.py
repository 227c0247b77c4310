"""What reading a release costs, held against a bare parse of its Python files and against ast-grep.

    python tools/bench_index.py [--tree FOLDER] [--runs N] [--ast-grep PROGRAM]

Every round runs each command once, so that what else the machine does falls on all of them. CPU is user and system time
of a process and all that it started. Memory is the largest sum of proportional set sizes (PSS) of these processes:
pages that they share count once. Minimum and spread over the rounds are printed, ratios are of minima; nothing here
fails because a figure is high, it is said beside its aim.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import argparse
import ast
import gc
import os
import platform
import shutil
import subprocess
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from timed import below, parents_and_memory

from recon.detectors.registry import choices
from recon.index.choosing import masks_of
from recon.index.index import index_of, open_cache
from recon.ports import Silent
from recon.records.source import Snapshot
from recon.sources.capture import capture
from recon.sources.local import LocalTree
from recon.sources.release import open_release
from recon.sources.store import OUTLINES, BlobStore

ROOT = Path(__file__).resolve().parent.parent
RELEASE = "vllm==0.20.1"
KEPT = ROOT / ".venvs" / "bench-trees"
PATTERN = "$C = $N[$C]"
EVERY_S = 0.25
"""Seconds between two looks at memory: to sum the pages of a large process costs the kernel milliseconds."""
PARTLY = 3
"""What `recon scan` exits with where some files could not be read whole."""
COARSE_AIM, SCAN_AIM, WARM_AIM_S, MEMORY_AIM_MB = 1.7, 4.0, 0.5, 500.0
BUSY = 0.3
"""Load for each core above which other work had a part in the figures."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What one run of a command took."""

    cpu_s: float
    wall_s: float
    memory_mb: float
    """0 where the system does not tell."""


def cost_of(command: Sequence[str], folder: Path) -> Cost:
    """Run a command with its caches in a folder.

    Raises:
        SystemExit: it failed.
    """
    environment = {**os.environ, "RECON_CACHE_DIR": str(folder / "cache"), "RECON_STATE_DIR": str(folder / "state")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # recon as installed does not compile itself in each run
    started = time.monotonic()
    with tempfile.TemporaryFile() as said:
        child = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=said)
        peak = _Peak(child.pid)
        _, status, used = os.wait4(child.pid, 0)
        wall_s = time.monotonic() - started
        child.returncode = os.waitstatus_to_exitcode(status)
        memory_mb = peak.stop()
        if child.returncode not in {0, PARTLY}:
            said.seek(0)
            sys.stderr.write(said.read().decode(errors="replace"))
            sys.exit(f"{' '.join(command)} failed with status {child.returncode}")
    return Cost(used.ru_utime + used.ru_stime, wall_s, memory_mb)


class _Peak:
    """The largest sum of memory below a process, sampled until it is stopped."""

    def __init__(self, root: int) -> None:
        self._root = root
        self._peak_kb = 0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)
        if Path("/proc/self/smaps_rollup").exists():
            self._thread.start()

    def _sample(self) -> None:
        while not self._over.wait(EVERY_S):
            self._peak_kb = max(self._peak_kb, sum(map(_pss_kb, below(self._root, parents_and_memory()))))

    def stop(self) -> float:
        """End sampling; megabytes."""
        self._over.set()
        if self._thread.is_alive():
            self._thread.join()
        return self._peak_kb * 1024 / 1e6


def _pss_kb(pid: int) -> int:
    try:
        rows = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:  # it ended while we looked
        return 0
    return next((int(row.split()[1]) for row in rows if row.startswith("Pss:")), 0)


# What is run ----------------------------------------------------------------------------------------------------------


def parse_all(tree: Path) -> None:
    """Parse every Python file and keep nothing: the floor."""
    gc.disable()  # as recon's own readers do
    warnings.simplefilter("ignore")
    for path in tree.rglob("*.py"):
        try:
            ast.parse(path.read_bytes())
        except (SyntaxError, ValueError):
            continue


def coarse(tree: Path, *, python: bool) -> None:
    """Capture a tree and index it: outlines of all files, or of the Python files alone."""
    with tempfile.TemporaryDirectory() as folder:
        store = BlobStore(Path(folder))
        names = tuple(sorted(entry.name for entry in tree.iterdir()))
        snapshot = capture(LocalTree(tree, names), store, Silent(), compiled=False)
        if python:
            files = tuple(file for file in snapshot.files if file.path.endswith(".py"))
            snapshot = Snapshot(snapshot.digest, files, (), ())
        with open_cache(Path(folder) / OUTLINES) as cache:
            index_of(snapshot, store, cache, Silent(), os.cpu_count() or 1, asked=masks_of(choices()))


STEPS: dict[str, Callable[[Path], None]] = {
    "parse": parse_all,
    "coarse-python": lambda tree: coarse(tree, python=True),
    "coarse": lambda tree: coarse(tree, python=False),
    "nothing": lambda _: None,
}


def rounds(tree: Path, ast_grep: str, runs: int) -> dict[str, list[Cost]]:
    """Cost of each command in each round, by its name."""
    scan = [sys.executable, "-m", "recon", "scan", "--path", str(tree)]
    own = {step: [sys.executable, __file__, "--step", step, "--tree", str(tree)] for step in STEPS}
    commands = {**own, "cold": scan, "warm": scan, "start-up": [sys.executable, "-m", "recon", "--version"]}
    if ast_grep:
        commands["ast-grep"] = [ast_grep, "run", "--lang", "python", "--pattern", PATTERN, str(tree)]
    found: dict[str, list[Cost]] = {name: [] for name in commands}
    for number in range(runs):
        with tempfile.TemporaryDirectory() as folder:
            for name, command in commands.items():  # `warm` comes after `cold`, in the same caches
                found[name].append(cost_of(command, Path(folder)))
        print(f"round {number + 1} of {runs}", file=sys.stderr)
    return found


# What is printed ------------------------------------------------------------------------------------------------------


def report(found: dict[str, list[Cost]]) -> None:
    """Print the figures and what they were to be."""
    print(f"{'':28} {'CPU s':>14} {'wall s':>14} {'MB':>12}")
    for name, costs in found.items():
        columns = ([c.cpu_s for c in costs], [c.wall_s for c in costs])
        memory = [c.memory_mb for c in costs]
        print(
            f"{WORDS[name]:28} {' '.join(f'{_spread(column, 2):>14}' for column in columns)} {_spread(memory, 0):>12}"
        )
    floor = _least(found["parse"]) - _least(found["nothing"])
    imports = _least(found["nothing"])
    print()
    print(f"bare parse {floor:.2f} s CPU; the ratios are CPU over that, the start of Python and its imports left out")
    for name in ("coarse-python", "coarse"):
        print(_aimed(f"{WORDS[name]}, times the parse", (_least(found[name]) - imports) / floor, COARSE_AIM))
    print(_aimed("complete cold scan, times the parse", _least(found["cold"]) / floor, SCAN_AIM))
    beyond = min(c.wall_s for c in found["warm"]) - min(c.wall_s for c in found["start-up"])
    print(_aimed("warm scan beyond `recon --version`, s", beyond, WARM_AIM_S))
    print(_aimed("memory of all processes, MB (PSS)", max(c.memory_mb for c in found["cold"]), MEMORY_AIM_MB))
    if "ast-grep" in found:
        print(f"ast-grep, one pattern: {_least(found['ast-grep']) / floor:.2f} times the parse")
    else:
        print("ast-grep is missing: no package index that pip knows has ast-grep-cli")


WORDS = {
    "parse": "bare parse",
    "coarse-python": "coarse index, Python alone",
    "coarse": "coarse index, C++ and CUDA too",
    "nothing": "start and imports alone",
    "cold": "recon scan, cold",
    "warm": "recon scan, warm",
    "start-up": "recon --version",
    "ast-grep": "ast-grep, one pattern",
}


def _least(costs: Sequence[Cost]) -> float:
    return min(cost.cpu_s for cost in costs)


def _spread(values: Sequence[float], digits: int) -> str:
    return f"{min(values):.{digits}f} to {max(values):.{digits}f}"


def _aimed(what: str, measured: float, aim: float) -> str:
    return f"{'kept  ' if measured <= aim else 'MISSED'} {what}: aim {aim:g}, measured {measured:.2f}"


def machine() -> str:
    """What the figures were taken on."""
    model = platform.processor() or platform.machine()
    clock = ""
    try:
        rows = [row.partition(":") for row in Path("/proc/cpuinfo").read_text().splitlines()]
        model = next((value.strip() for name, _, value in rows if name.strip() == "model name"), model)
        clocks = [float(value) for name, _, value in rows if name.strip() == "cpu MHz"]
        clock = f", {min(clocks):.0f} to {max(clocks):.0f} MHz" if clocks else ""
    except OSError:  # macOS has no /proc
        pass
    load, cores = os.getloadavg()[0], os.cpu_count() or 1
    note = ": OTHER WORK IS RUNNING, so figures are too high" if load > BUSY * cores else ""
    return f"{model}{clock}; {cores} cores; Python {platform.python_version()}; load {load:.2f}{note}"


def fetched() -> Path:
    """The release as a folder, read from the package index the first time."""
    tree = KEPT / RELEASE.replace("==", "-")
    if not tree.is_dir():
        KEPT.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=KEPT) as folder:
            store = BlobStore(Path(folder) / "store")
            read = open_release(RELEASE, store, Silent(), compiled=False)
            for file in read.snapshot.files:
                path = Path(folder) / "tree" / file.path
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(store.get(file.digest))
            (Path(folder) / "tree").rename(tree)
    return tree


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tree", type=Path, help=f"a folder that holds the package; left out: {RELEASE}, fetched")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--ast-grep", default="ast-grep", help="the program")
    parser.add_argument("--step", choices=list(STEPS), help=argparse.SUPPRESS)
    words = parser.parse_args()
    if words.step:
        STEPS[words.step](words.tree)
        return
    tree = words.tree.resolve() if words.tree else fetched()
    print(f"{tree.name}: {sum(1 for _ in tree.rglob('*.py')):,} Python files, {words.runs} runs, least to most")
    print(machine())
    report(rounds(tree, shutil.which(words.ast_grep) or "", words.runs))


if __name__ == "__main__":
    main()
