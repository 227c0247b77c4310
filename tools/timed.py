"""Run a command and end with one line: what it was, how long it took, and the most memory it held.

    python tools/timed.py NAME COMMAND [ARGUMENT...]

Memory is the sum over the command and everything below it, sampled from /proc; where there is no /proc (macOS) it is
that of the largest process alone, which the kernel counts for us. The exit status is the command's own.
"""

import resource
import subprocess
import sys
import threading
import time
from pathlib import Path

EVERY_S = 0.25
PROC = Path("/proc")
USAGE = 2


def parents_and_memory() -> dict[int, tuple[int, int]]:
    """Parent and resident kilobytes of each process that /proc shows."""
    found = {}
    for entry in PROC.iterdir():
        if not entry.name.isdigit():
            continue
        try:
            status = (entry / "status").read_text()
        except OSError:  # it ended while we looked
            continue
        fields = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
        if "VmRSS" in fields:  # kernel threads and zombies have none
            found[int(entry.name)] = (int(fields["PPid"]), int(fields["VmRSS"].split()[0]))
    return found


def below(root: int, processes: dict[int, tuple[int, int]]) -> list[int]:
    """A process and all its descendants."""
    children: dict[int, list[int]] = {}
    for pid, (parent, _) in processes.items():
        children.setdefault(parent, []).append(pid)
    found = [root]
    for pid in found:
        found.extend(children.get(pid, ()))
    return found


def held_below(root: int, processes: dict[int, tuple[int, int]]) -> int:
    """Resident kilobytes of a process and all its descendants; pages that they share count once for each."""
    return sum(processes.get(pid, (0, 0))[1] for pid in below(root, processes))


class Watch:
    """Samples the memory below a process until it is stopped."""

    def __init__(self, root: int) -> None:
        """Begin to sample, where there is a /proc to sample from."""
        self.peak_kb = 0
        self._root = root
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)
        if (PROC / "self" / "status").exists():
            self._thread.start()

    def _sample(self) -> None:
        while not self._over.is_set():
            self.peak_kb = max(self.peak_kb, held_below(self._root, parents_and_memory()))
            self._over.wait(EVERY_S)

    def stop(self) -> int:
        """End sampling; the highest sum seen, in kilobytes, or 0."""
        self._over.set()
        if self._thread.is_alive():
            self._thread.join()
        return self.peak_kb


def largest_child_kb() -> int:
    """The most that one process held, in kilobytes, as the kernel counted it."""
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return peak // 1024 if sys.platform == "darwin" else peak  # macOS counts bytes


def main(words: list[str]) -> int:
    """Run the command; its exit status, 130 when interrupted."""
    if len(words) < USAGE:
        print(__doc__, file=sys.stderr)
        return USAGE
    name, *command = words
    started = time.monotonic()
    child = subprocess.Popen(command)
    watch = Watch(child.pid)
    try:
        status = child.wait()
    except KeyboardInterrupt:  # the child got the same signal: let it end in its own way
        child.wait()
        status = 130
    if status < 0:  # killed by a signal: said as a shell says it
        status = 128 - status
    total_kb = watch.stop()
    seconds = time.monotonic() - started
    largest_kb = largest_child_kb()
    outcome = "" if status == 0 else f" failed with status {status} after"
    memory = f"peak memory {max(total_kb, largest_kb) / 1024:.0f} MiB (largest process {largest_kb / 1024:.0f} MiB)"
    print(f"{name}:{outcome} {seconds:.1f} s, {memory}", flush=True)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
