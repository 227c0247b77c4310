"""The client's side of servers in tests: a configuration of the test's own, a shell, a whole scan, its process."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recon import pipeline
from recon.hosts.connect import Options, connect
from recon.hosts.shell import SshShell
from recon.hosts.target import parse
from recon.pipeline import ScanTargets, Settings
from recon.ports import Silent
from recon.records.run import Run
from recon.targets import Access
from tests.ssh.server import Server, Yard

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Client:
    """Reaches the servers of a yard; what it keeps lies below a folder of the test."""

    yard: Yard
    folder: Path

    def config(self, before: str = "") -> Path:
        """The yard's configuration, after lines of the test's own, which win."""
        path = self.yard.config(*self.yard.servers)
        path.write_text(f"{before}\n{path.read_text()}")
        return path

    @contextlib.contextmanager
    def shell(self, name: str = "gpu1", before: str = "", **options: Any) -> Iterator[SshShell]:
        """A shell on a host."""
        told = Options(config=self.config(before), **{"batch": True, "connect_timeout_s": 5.0, **options})
        with connect(parse(name), told) as opened:
            yield opened

    def answer(self, name: str = "gpu1", before: str = "", **options: Any) -> str:
        """What a host says when it is reached: the port at which it was."""
        with self.shell(name, before, **options) as opened:
            said = opened.run('echo "$SSH_CONNECTION"').stdout.split()
        return said[-1] if said else ""

    def scan(self, *names: str, before: str = "", transport: Any = "auto", **access: Any) -> Run:
        """Scan hosts in this process."""
        options = Options(config=self.config(before), transport=transport, batch=True, connect_timeout_s=5.0)
        ways = Access(lambda typed: connect(parse(typed), options), **access)
        settings = Settings(self.folder / "cache", self.folder / "state", compiled=True, workers=0, access=ways)
        return pipeline.scan(ScanTargets((), (), local=False, hosts=names), settings, Silent())

    def recon(self, *words: str, before: str = "", command: str = "scan") -> subprocess.Popen[str]:
        """The command line, as a process: a scan with the yard's configuration, or another command."""
        folders = {"RECON_CACHE_DIR": str(self.folder / "cache"), "RECON_STATE_DIR": str(self.folder / "state")}
        config = ["--ssh-config", str(self.config(before))] if command == "scan" else []
        pipe = subprocess.PIPE
        return subprocess.Popen(
            [sys.executable, "-m", "recon", command, *config, *words],
            env={**os.environ, **folders},
            cwd=ROOT,
            text=True,
            stdout=pipe,
            stderr=pipe,
            stdin=subprocess.DEVNULL,
        )


def home(server_home: Path) -> dict[str, str]:
    """Variables of sessions whose account is at home in a folder, with a virtual environment in it."""
    return {"HOME": str(server_home), "VIRTUAL_ENV": str(server_home / "venv")}


def port(server: Server) -> str:
    """What `Client.answer` gives if it reached this server."""
    return str(server.port)
