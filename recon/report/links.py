"""Addresses that open places of a run in an editor. None is made where the place would only be guessed."""

import re
from urllib.parse import quote

from recon.records.host import Host
from recon.records.install import Engine, Install

_HOST = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@-]*", re.ASCII)
"""Names that mean the same to an editor as to ssh: no port, and nothing that could be taken for an option."""


def vscode(install: Install, host: Host, path: str, line: int) -> str:
    """Address of a place for VS Code, on this machine or through its Remote SSH; '' where there is none.

    A release lies on no disk, nor does what a bundle brought lie on a host that was reached. Of a package that is no
    engine of a known name, the run does not hold what its paths are counted from.

    Args:
        install: The tree.
        host: Where it lies.
        path: As evidence has it, below the install's location.
        line: Counted from 1.
    """
    if install.engine is Engine.OTHER or not install.location.startswith("/") or ".." in path.split("/"):
        return ""
    place = quote(f"{install.location.rstrip('/')}/{path}", errors="replace")
    if host.name == "localhost":
        return f"vscode://file{place}:{line}"
    if host.transport and _HOST.fullmatch(host.name):
        return f"vscode://vscode-remote/ssh-remote+{host.name}{place}:{line}"
    return ""
