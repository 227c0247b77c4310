"""Payloads that a test changed, each run in a child of one process that has imported torch: it takes seconds to.

`python -m tests.kernels.changed` reads folders, a line each, which hold `kernels/` and `plan.json`; when `lines.jsonl`
beside them is written, it says how the child ended.
"""

import os
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Self

from recon.kernels import wire

ROOT = Path(__file__).resolve().parents[2]


class Runner:
    """That process."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.kernels.changed"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
            cwd=ROOT,
            env={**os.environ, "TRITON_INTERPRET": "1"},
        )

    def run(self, folder: Path, plan: wire.Plan) -> list[wire.Line]:
        """What the payload in a folder says of a plan."""
        assert self._process.stdin
        assert self._process.stdout
        (folder / "plan.json").write_text(wire.encode_plan(plan))
        self._process.stdin.write(f"{folder}\n")
        status = self._process.stdout.readline().strip()
        assert "0" == status, (folder / "errors.txt").read_text()
        return [wire.decode(line) for line in (folder / "lines.jsonl").read_text().splitlines()]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()


def main() -> None:
    """Fork for each folder."""
    import torch  # noqa: F401
    import triton  # noqa: F401

    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            child(Path(line.rstrip("\n")))
        _, status = os.waitpid(pid, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)  # noqa: T201  that is the answer


def child(folder: Path) -> None:
    """Run the payload of a folder as `python -m kernels` would; never returns."""
    status: object = 70
    try:
        for name, descriptor in (("lines.jsonl", 1), ("errors.txt", 2)):
            os.dup2(os.open(folder / name, os.O_WRONLY | os.O_CREAT, 0o600), descriptor)
        sys.argv = ["kernels", "--plan", str(folder / "plan.json")]
        sys.path.insert(0, str(folder))
        runpy.run_module("kernels", run_name="__main__", alter_sys=True)
    except SystemExit as ended:
        status = ended.code
    finally:
        sys.stderr.flush()
        os._exit(status if isinstance(status, int) else 0)


if __name__ == "__main__":
    main()
