"""Hosts of tests: the sh of this machine in several guises, each exec and each byte of it counted."""

import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from recon.hosts.local import LocalShell
from recon.ports import Reply


@dataclass
class Counted:
    """A Shell that counts what goes over it."""

    shell: LocalShell
    execs: int = 0
    sent: int = 0
    received: int = 0
    scripts: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.shell.name

    def run(self, script: str, *, timeout_s: float = 30.0) -> Reply:
        self._count(script)
        reply = self.shell.run(script, timeout_s=timeout_s)
        self.received += len(reply.stdout) + len(reply.stderr)
        return reply

    def stream(self, script: str, sink: Callable[[bytes], None], *, timeout_s: float, cap_bytes: int) -> Reply:
        self._count(script)

        def counting(piece: bytes) -> None:
            self.received += len(piece)
            sink(piece)

        return self.shell.stream(script, counting, timeout_s=timeout_s, cap_bytes=cap_bytes)

    def _count(self, script: str) -> None:
        self.execs += 1
        self.sent += len(script)
        self.scripts.append(script)

    def reset(self) -> None:
        """Count anew."""
        self.execs = self.sent = self.received = 0
        self.scripts.clear()


def posix(**environment: str) -> Counted:
    """The sh of this machine, with its GNU tools."""
    return Counted(LocalShell("gpu07", environment={"PATH": os.defpath, "HOME": "/nonexistent", **environment}))


def busybox(folder: Path) -> Counted:
    """Busybox alone: its sh and its tools, none of GNU's."""
    program = shutil.which("busybox")
    assert program is not None
    folder.mkdir(exist_ok=True)
    for name in subprocess.run([program, "--list"], capture_output=True, text=True, check=True).stdout.split():
        link = folder / name
        if not link.is_symlink():
            link.symlink_to(program)
    return Counted(LocalShell("gpu08", program=(program, "sh", "-s"), environment={"PATH": str(folder)}))
