"""What is said where a host has no name that anybody knows."""

import socket
from pathlib import Path

import pytest

from recon.errors import HostNameUnknown
from recon.hosts.connect import Options, connect
from recon.hosts.target import parse

pytestmark = pytest.mark.system("ssh")


@pytest.mark.parametrize("present", [True, False])
def test_where_aliases_were_looked_for_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, present: bool) -> None:
    """It may be another file than the user thinks."""

    def unknown(*_: object) -> object:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    config = tmp_path / "config"
    config.write_text("")
    options = Options(transport="paramiko", config=config if present else None, batch=True)
    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    monkeypatch.setattr("recon.hosts.connect.configuration", lambda named: named or tmp_path / "none")
    with pytest.raises(HostNameUnknown) as caught, connect(parse("gpu99"), options):
        pass

    looked = f"Aliases were looked for in {config}." if present else f"in {tmp_path}/none, which does not exist."
    assert caught.value.hint.endswith(looked)
