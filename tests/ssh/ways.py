"""What tests of connections share: a shell on a host of a yard, and the error that a host ends in."""

import contextlib
from collections.abc import Iterator, Sequence
from typing import Literal

import pytest

from recon.errors import ReconError
from recon.hosts.connect import Options, connect
from recon.hosts.shell import SshShell
from recon.hosts.target import parse
from tests.ssh.server import Yard

Way = Literal["auto", "paramiko", "openssh"]
BOTH = pytest.mark.parametrize("way", ["paramiko", "openssh"])


@contextlib.contextmanager
def shell(
    yard: Yard, name: str, way: Way = "paramiko", accept_new: bool = False, **lines: Sequence[str]
) -> Iterator[SshShell]:
    config = yard.config(*yard.servers, lines=lines)
    options = Options(transport=way, config=config, batch=True, connect_timeout_s=3, accept_new=accept_new)
    with connect(parse(name), options) as opened:
        yield opened


def refusal(yard: Yard, name: str, way: Way = "paramiko", **lines: Sequence[str]) -> ReconError:
    """The error that a host ends in; ssh's come with the first script."""
    with pytest.raises(ReconError) as caught, shell(yard, name, way, accept_new=False, **lines) as host:
        host.run("true")
    return caught.value
