"""Servers and a client for the payload's journey."""

from tests.ssh.conftest import client, yard

__all__ = ["client", "yard"]
