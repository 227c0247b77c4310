"""What a scan may take of a host, under every sh that tests find."""

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from recon.errors import TimedOut, Unreachable
from recon.hosts.limits import CPU_S, MEMORY_KIB, PRELUDE, Limited, limited
from recon.hosts.local import LocalShell
from recon.ports import Reply

SHELLS = [("dash",), ("bash", "--posix"), ("busybox", "sh")]
HERE = [words for words in SHELLS if shutil.which(words[0])]
TWO_CORES = hasattr(os, "sched_getaffinity") and len(os.sched_getaffinity(0)) > 1


def shell(words: tuple[str, ...]) -> LocalShell:
    return LocalShell(program=(*words, "-s"))


@pytest.mark.parametrize("words", HERE, ids=" ".join)
def test_a_script_runs_with_the_least_priority_little_memory_and_no_core_dumps(words: tuple[str, ...]) -> None:
    asked = limited(shell(words)).run("awk '{ print $19 }' /proc/self/stat; ulimit -v; ulimit -t; ulimit -c; umask\n")

    assert ["19", str(MEMORY_KIB), str(CPU_S), "0", "0077"] == asked.stdout.split()


@pytest.mark.parametrize("words", HERE, ids=" ".join)
def test_no_file_can_be_filled(words: tuple[str, ...], tmp_path: Path) -> None:
    limited(shell(words)).run(f"echo x > {tmp_path}/f\nhead -c 1 /dev/zero > {tmp_path}/g\n")

    assert {0} == {path.stat().st_size for path in tmp_path.iterdir()}


@pytest.mark.skipif(not TWO_CORES, reason="there is one core")
@pytest.mark.system("taskset")
def test_a_script_stays_on_one_core() -> None:
    assert "1" == limited(LocalShell()).run("nproc\n").stdout.strip()


@pytest.mark.parametrize("words", HERE, ids=" ".join)
def test_what_the_host_does_not_know_leaves_the_rest_in_force(words: tuple[str, ...]) -> None:
    """Neither renice nor ionice nor taskset, nor anything else."""
    bare = LocalShell(program=(shutil.which(words[0]) or "", *words[1:], "-s"), environment={"PATH": "/nowhere"})
    reply = limited(bare).run("echo here; ulimit -c\n")

    assert ("here\n0\n", "", 0) == (reply.stdout, reply.stderr, reply.status)


def test_a_driver_may_have_its_address_space_back() -> None:
    """Memory is a soft limit, as the fact about GPUs needs it."""
    before = LocalShell().run("ulimit -H -v\n").stdout

    assert before == limited(LocalShell()).run("ulimit -S -v unlimited 2>/dev/null\nulimit -v\n").stdout


class Patient(LocalShell):
    """Says how long it would wait."""

    def run(self, script: str, *, timeout_s: float = 30.0) -> Reply:
        return Reply(f"{timeout_s:g}", script, 0)


def test_every_script_begins_with_the_prelude_and_ends_within_what_is_left() -> None:
    moments = iter([100.0, 280.0, 400.0])
    one = Limited(Patient(), 300.0, 390.0, lambda: next(moments))

    assert ("60", PRELUDE + "x") == (one.run("x", timeout_s=60).stdout, PRELUDE + "x")
    assert "50" == Limited(Patient(), 300.0, 330.0, lambda: next(moments)).run("x", timeout_s=60).stdout
    with pytest.raises(TimedOut, match="not done within 300 s"):
        one.run("x")


def test_a_stream_is_limited_alike() -> None:
    pieces: list[bytes] = []
    limited(LocalShell()).stream("ulimit -c\n", pieces.append, timeout_s=5, cap_bytes=100)

    assert b"0\n" == b"".join(pieces)


@pytest.mark.parametrize("how", ["run", "stream"])
def test_who_is_cut_short_hears_of_the_limit_that_was_given(how: str) -> None:
    """Not of what was left of it when the script began."""
    host = limited(LocalShell("gpu07"), 1.0, time.monotonic() - 0.6)
    asks: dict[str, Callable[[], Reply]] = {
        "run": lambda: host.run("sleep 9"),
        "stream": lambda: host.stream("sleep 9", lambda _: None, timeout_s=30, cap_bytes=9),
    }
    with pytest.raises(TimedOut) as late:
        asks[how]()

    assert "gpu07: not done within 1 s" == late.value.message
    assert "--host-timeout" in late.value.hint


def test_a_script_that_is_late_by_itself_says_its_own_limit() -> None:
    with pytest.raises(Unreachable, match=r"no answer within 0\.2 s"):
        limited(LocalShell("gpu07"), 60.0).run("sleep 9", timeout_s=0.2)
