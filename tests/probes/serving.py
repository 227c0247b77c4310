"""A server of the payload whose kernels go wrong in one way each: `python -m tests.probes.serving PLAN FOLDER`."""

import contextlib
import os
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from recon.kernels.server import Server
from recon.kernels.wire import (
    LINE_LIMIT_BYTES,
    Agreement,
    Device,
    Done,
    Entry,
    Failed,
    Hello,
    Line,
    Plan,
    Refused,
    Result,
    Started,
    State,
    encode,
    key_of,
)

DEVICE = Device("none", "", (0, 0), 0, 0, 0, 1, "", "2", "3", "3.12", "")
PATIENCE_S = 0.7


def plan(*entries: tuple[str, str], **changed: object) -> Plan:
    """A plan of kernels and variants by name."""
    numbered = tuple(Entry(number, "test", "subject", *names, {}) for number, names in enumerate(entries))
    values: dict[str, object] = {
        "schema_version": 1,
        "mode": "interpret",
        "gpu": "",
        "allow_busy": False,
        "entries": numbered,
        "checks": (),
        "archs": (),
        "seed": 0,
        "samples": 0,
        "memory_limit_bytes": 0,
        "memory_fraction": 0.0,
        "deadline_s": 60.0,
        "patience_s": PATIENCE_S,
    }
    return Plan(**(values | changed))  # type: ignore[arg-type]


WRONG = plan(
    ("fine", ""),
    ("faults", ""),
    ("hangs", ""),
    ("killed", ""),
    ("raises", ""),
    ("pair", "good"),
    ("pair", "faults"),
    ("lost", "first"),
    ("lost", "second"),
    ("prints", ""),
    ("babbles", ""),
    ("forges", ""),
    ("repeats", ""),
    ("floods", ""),
    ("fine", "again"),
)


def go_wrong(entry: Entry) -> None:
    """What the name of an entry says, if it says anything."""
    match entry.variant if entry.variant.isalpha() else entry.kernel:
        case "faults":
            os.kill(os.getpid(), signal.SIGSEGV)
        case "hangs":
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            time.sleep(600)
        case "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        case "raises":
            raise MemoryError("no more")
        case "prints":
            print('{"kind":"done"}', flush=True)  # noqa: T201  as libraries do
        case "babbles":
            say_all_over(b"what?\n")
        case "forges":
            say_all_over(encode(Started(99, "check")).encode() + b"\n")
        case "repeats":
            said = encode(Result(entry.id, Agreement(1, 0, "said by itself"), None, None, None)).encode() + b"\n"
            say_all_over(said * 2)
        case "floods":
            say_all_over(b"x" * (LINE_LIMIT_BYTES + (1 << 20)))


def say_all_over(words: bytes) -> None:
    """Write to whatever is open, as code may that knows nothing of who started it; a pipe takes a page at a time."""
    for place in range(3, 16):
        left = memoryview(words)
        with contextlib.suppress(OSError):
            while left:
                left = left[os.write(place, left[:4096]) :]


def carry(each: Plan, write: Callable[[Line], None]) -> int:
    """As the payload's own: entries in order, those of a pair begun together."""
    write(Hello(1, each.mode, DEVICE, State()))
    if each.entries and each.entries[0].kernel == "refuses":
        write(Refused("no_gpu", "it fell off the bus"))
        return 1
    together = [entry for entry in each.entries if entry.kernel == "pair"]
    for entry in together:
        write(Started(entry.id, "measure"))
    for entry in each.entries:
        if entry not in together:
            write(Started(entry.id, "check"))
        go_wrong(entry)
        if entry.variant == "first":
            write(Failed(entry.id, "measure", "the device is lost to this process"))
            write(Done(interrupted=True, seconds=0.0, device_seconds=1.0))
            return 130
    for entry in each.entries:
        write(Result(entry.id, Agreement(1, 0, f"in {os.getpid()} for {each.device_limit_s:.0f} s"), None, None, None))
    write(Done(interrupted=False, seconds=0.0, device_seconds=1.0))
    return 0


KNOWN = plan(("fine", ""), ("prints", ""))
PLANS = {
    "known": replace(KNOWN, known=(key_of(KNOWN, DEVICE, "fine", {}),)),
    "wrong": WRONG,
    "shared": plan(("fine", ""), *(("prints", str(number)) for number in range(29)), device_limit_s=60.0),
    "refuses": plan(("fine", ""), ("refuses", ""), ("prints", "")),
    "late": plan(("fine", ""), deadline_s=0.0),
    "on a gpu": plan(("fine", ""), ("prints", ""), mode="gpu", gpu="0"),
}

if __name__ == "__main__":
    sys.exit(Server(PLANS[sys.argv[1]], 1, carry, Path(sys.argv[2])).run())
