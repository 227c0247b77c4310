"""What ssh complains of on standard error, as the errors that paramiko's connections have."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path

from recon.errors import (
    Auth,
    ClientConfig,
    HostKeyChanged,
    HostKeyRevoked,
    HostKeyUnknown,
    HostNameUnknown,
    ReconError,
    TimedOut,
    Unreachable,
)
from recon.hosts.effective import Effective
from recon.hosts.exchange import first_line
from recon.hosts.patterns import lookup_name
from recon.hosts.target import command
from recon.hosts.throttle import Crowded
from recon.hosts.trust import NO_FILE, forget

_ASK_SSH = "Try: "
"""A hint that the command for the host completes."""
_CHANGED = "Somebody may be in between; if the host was set up anew, remove the old key: "
"""Likewise."""
_NEW = "Compare it with what its administrator says; --accept-new adds a new one."
_KINDS: tuple[tuple[str, Callable[[str, str], ReconError], str], ...] = (
    (r"REVOKED HOST KEY DETECTED|marked as revoked", HostKeyRevoked, "Do not connect before it has a new key."),
    (r"REMOTE HOST IDENTIFICATION HAS CHANGED", HostKeyChanged, _CHANGED),
    (r"No .{1,80} host key is known for|Host key verification failed|authenticity of host", HostKeyUnknown, _NEW),
    (r"Could not resolve hostname", HostNameUnknown, "A typing error, or a name that only a VPN or a jump host knows?"),
    (r"Connection refused", Unreachable, "Is sshd running there, on that port?"),
    (r"No route to host|Network is unreachable", Unreachable, "Is the network or the VPN up?"),
    (
        r"timed out|[Tt]imeout, server .{1,260} not responding",
        TimedOut,
        "A firewall that drops, or a host that is off?",
    ),
    (r"administratively prohibited", Unreachable, "AllowTcpForwarding is off on the jump host."),
    (r"open failed|stdio forwarding failed", Unreachable, "Is the name known on the jump host, and sshd running?"),
    (r"Permission denied|Too many authentication failures", Auth, "Is the right key in the agent or in IdentityFile?"),
    (r"Unable to negotiate", Unreachable, "Old algorithms must be allowed in the configuration of ssh."),
    (r"Bad configuration option|configuration options?|[Uu]nsupported option", ClientConfig, _ASK_SSH),
    (r"banner line contains|Bad remote protocol|invalid characters", Unreachable, "Is it the right port?"),
)
_CROWDED = re.compile(
    r"MaxStartups|Not allowed at this time|kex_exchange_identification: (?:read: )?Connection (?:closed|reset)"
)
_OFFENDING = re.compile(r"^Offending .*key in (?P<path>.+):\d+\r?$", re.MULTILINE)
_WHOSE_KEY = re.compile(r"^Host key for (?P<name>\S+) has changed", re.MULTILINE)
_PORT = re.compile(r"\bport (\d{1,5})\b")


def read(name: str, route: Sequence[Effective], said: bytes, config: Path | None = None) -> ReconError | Crowded:
    """The error that a complaint of ssh means; Crowded if it is worth trying again.

    Args:
        name: The host as the user calls it.
        route: The hosts on the way to it.
        said: What ssh said.
        config: The configuration that it was told to read, for what the user may try.
    """
    target = route[-1].target
    text = said.decode("utf-8", "replace")
    for pattern, kind, hint in _KINDS:
        if found := re.search(pattern, text):
            start = text.rfind("\n", 0, found.start()) + 1
            line = first_line(text[start:].encode("utf-8", "replace"), 200).strip("@ ")
            tried = command(target, config, "-G") if hint == _ASK_SSH else ""
            tried = _forget(route[-1], text) if hint == _CHANGED else tried
            no_file = kind is HostKeyUnknown and not route[-1].user_known_hosts_files
            return kind(f"{_whose(name, route, line)}: {line}", NO_FILE if no_file else f"{hint}{tried}")
    if _CROWDED.search(text):
        return Crowded(first_line(said))
    return Unreachable(
        f"{name}: ssh ended: {first_line(said) or 'it did not say why'}", f"Try: {command(target, config)}"
    )


def _forget(hop: Effective, said: str) -> str:
    """The command that removes the old key of the host that ssh complains of: it says itself where that stands."""
    file, whose = _OFFENDING.search(said), _WHOSE_KEY.search(said)
    path = file["path"] if file else str(next(iter(hop.user_known_hosts_files), "~/.ssh/known_hosts"))
    return forget(path, whose["name"] if whose else lookup_name(hop.known_as, hop.known_port))


def _whose(name: str, route: Sequence[Effective], line: str) -> str:
    """The host that a line is about: a jump host if it names its port or its name, and not the last one's."""
    port = _PORT.search(line)
    for hop in route[:-1]:
        here = hop.hostname in line or hop.target.host in line
        last = route[-1]
        if here and (not port or int(port[1]) == hop.port) and (hop.hostname != last.hostname or hop.port != last.port):
            return f"{name}: jump host {hop.target.typed or hop.hostname}"
    return name
