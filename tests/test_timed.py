"""The line that ends each make target: true figures, and the command's own status."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

TIMED = Path(__file__).resolve().parent.parent / "tools" / "timed.py"
LINE = re.compile(
    r"^(.+?):( failed with status \d+ after)? ([\d.]+) s, peak memory (\d+) MiB \(largest process (\d+) MiB\)$"
)


def timed(code: str) -> tuple[int, re.Match[str]]:
    """Time a Python program; the status and the last line taken apart."""
    command = [sys.executable, str(TIMED), "make it", sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    match = LINE.match(done.stdout.splitlines()[-1])
    assert match, done.stdout + done.stderr
    return done.returncode, match


def test_seconds_are_those_of_the_command() -> None:
    """Set-up of Python itself included."""
    status, line = timed("import time; time.sleep(0.6)")

    assert (0, "make it", None) == (status, line[1], line[2])
    assert 0.6 <= float(line[3]) < 10


@pytest.mark.skipif(sys.platform != "linux", reason="sums come from /proc")
def test_memory_is_summed_over_processes_that_live_at_the_same_time() -> None:
    """Two children of 120 MiB each are 240 MiB together, though none is larger than about 130."""
    hold = "import time; kept = bytearray(120 << 20); time.sleep(1.5)"
    _, line = timed(
        "import subprocess, sys\n"
        f"both = [subprocess.Popen([sys.executable, '-c', {hold!r}]) for _ in range(2)]\n"
        "[child.wait() for child in both]"
    )

    assert int(line[4]) >= 240
    assert 120 <= int(line[5]) < 200


def test_the_status_is_the_commands_own() -> None:
    """`make` must stop where the command failed."""
    status, line = timed("raise SystemExit(7)")

    assert (7, " failed with status 7 after") == (status, line[2])


def test_a_command_killed_by_a_signal_reads_as_a_shell_says_it() -> None:
    """128 and the number of the signal."""
    status, _ = timed("import os, signal; os.kill(os.getpid(), signal.SIGKILL)")

    assert 137 == status
