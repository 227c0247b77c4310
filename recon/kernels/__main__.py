"""Plan in, results out: `python3 -m kernels --plan plan.json > results.jsonl`, or the plan on standard input.

Each result is one JSON line, written when it is known: what interrupts the run loses nothing that was finished.
"""

import argparse
import gc
import os
import signal
import sys
import time
from pathlib import Path

from .server import Carry, Server, write_to
from .wire import Done, Line, Plan, Refused, WireError, decode_plan, encode

LONGEST_WHY = 500
"""Characters of the first line of what an import raises."""


class Output:
    """The one writer of result lines. Whatever else prints to standard output is sent to standard error."""

    def __init__(self) -> None:
        """Take standard output for result lines alone."""
        self._file = os.fdopen(os.dup(1), "w", encoding="utf-8")
        os.dup2(2, 1)

    def write(self, line: Line) -> None:
        """Write a line at once."""
        self._file.write(encode(line) + "\n")
        self._file.flush()


def main() -> int:
    """Run the plan; 0 when its end was reached, 1 when it was refused, 130 when it was interrupted."""
    parser = argparse.ArgumentParser(prog="kernels", description=__doc__)
    parser.add_argument("--plan", help="file with the plan; standard input if left out")
    path = parser.parse_args().plan
    output = Output()
    for number in (signal.SIGINT, signal.SIGTERM):  # the first may be ignored where a shell started us beside itself
        signal.signal(number, _stop)
    begin = time.monotonic()
    try:
        text = Path(path).read_text(encoding="utf-8") if path else sys.stdin.read()
        plan = decode_plan(text)
    except (WireError, OSError, UnicodeDecodeError) as error:
        output.write(Refused("bad_plan", str(error)))
        return 1
    try:
        return run(plan, output)
    except KeyboardInterrupt:
        output.write(Done(interrupted=True, seconds=time.monotonic() - begin, device_seconds=0.0))
        return 130


def _stop(_number: int, _frame: object) -> None:
    """End in good order at the first signal; a second Ctrl-C must not cut the last line short."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    raise KeyboardInterrupt


def run(plan: Plan, output: Output) -> int:
    """Do the plan in this process, where it may be stopped by whatever a kernel does."""
    found = prepared(plan)
    if isinstance(found, Refused):
        output.write(found)
        return 1
    return found(plan, output.write)


def serve(plan: Plan, folder: Path, pipe: int) -> int:
    """Do the plan in children of this process, one a kernel, and write lines to a pipe."""
    found = prepared(plan)
    if isinstance(found, Refused):
        write_to(pipe, found)
        return 1
    gc.collect()
    gc.freeze()  # children share these pages, and need not look at them again
    return Server(plan, pipe, found, folder).run()


def prepared(plan: Plan) -> Carry | Refused:
    """Choose the interpreter, the compiler or the GPU, and import torch; nothing touches a GPU yet."""
    if plan.mode == "interpret":
        os.environ["TRITON_INTERPRET"] = "1"
    else:
        os.environ.pop("TRITON_INTERPRET", None)
    os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")  # said aloud: the default changes in Triton 3.10
    try:
        import torch  # noqa: F401, PLC0415  the interpreter must be chosen first
        import triton  # noqa: F401, PLC0415

        from . import work  # noqa: PLC0415
    except (Exception, SystemExit) as error:  # noqa: BLE001  a library that is missing, a driver that does not fit
        why = next(iter(str(error).strip().splitlines()), "")[:LONGEST_WHY]
        named = why if isinstance(error, ImportError) else f"importing them raises {type(error).__name__}: {why}"
        return Refused("no_torch", f"torch and triton of {sys.executable}: {named}")

    modes: dict[str, Carry] = {"gpu": work.on_gpu, "interpret": work.in_interpreter, "compile": work.in_compiler}
    if plan.mode not in modes:
        return Refused("bad_plan", f"no mode {plan.mode!r}")
    return modes[plan.mode]


if __name__ == "__main__":
    sys.exit(main())
