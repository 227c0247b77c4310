"""What tests of SSH share: a yard of servers, and a client that knows nothing of the user's own SSH."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.ssh.client import Client
from tests.ssh.server import Yard


@pytest.fixture
def yard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Yard]:
    """Servers on loopback, stopped at the end."""
    folder = tmp_path / "yard"
    folder.mkdir(mode=0o700)
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    monkeypatch.setenv("HOME", str(folder))
    made = Yard(folder)
    try:
        yield made
    finally:
        made.stop()


@pytest.fixture
def client(yard: Yard, tmp_path: Path) -> Client:
    """Reaches the servers of the yard."""
    return Client(yard, tmp_path / "client")
