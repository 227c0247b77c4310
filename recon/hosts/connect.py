"""A shell on a host: which transport carries it, and why."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from recon.errors import HostNameUnknown, ReconError, Unreachable
from recon.hosts import openssh
from recon.hosts.effective import Effective, configuration, route
from recon.hosts.shell import SshShell
from recon.hosts.target import Target
from recon.hosts.terminal import person
from recon.hosts.trust import keeps

CONNECT_S = 10.0


@dataclass(frozen=True, slots=True)
class Options:
    """How hosts are connected to."""

    transport: Literal["auto", "paramiko", "openssh"] = "auto"
    accept_new: bool = False
    """Add the key of a host of which none is known; one that changed is refused all the same."""
    config: Path | None = None
    """As `ssh -F`."""
    batch: bool = False
    """Ask nothing, terminal or not."""
    connect_timeout_s: float = CONNECT_S
    """For each step of the way, where the configuration has no ConnectTimeout."""


@contextlib.contextmanager
def connect(target: Target, options: Options | None = None) -> Iterator[SshShell]:
    """A shell on a host; every connection and process of it is gone on leaving.

    paramiko carries it, unless the configuration or the host wants what only the system's ssh can do.

    Raises:
        ReconError: it cannot be reached, trusted or logged in to.
    """
    options = options or Options()
    try:
        with _connected(target, options) as shell:
            yield shell
    except HostNameUnknown as error:
        raise HostNameUnknown(error.message, f"{error.hint} {_where_aliases_stand(options.config)}") from error


def _where_aliases_stand(config: Path | None) -> str:
    file = configuration(config)
    return f"Aliases were looked for in {file}" + ("." if file.exists() else ", which does not exist.")


@contextlib.contextmanager
def _connected(target: Target, options: Options) -> Iterator[SshShell]:
    name = target.typed
    hops = route(target, config=options.config)
    beyond = [reason for hop in hops for reason in hop.beyond_paramiko]
    with contextlib.ExitStack() as stack:
        if options.transport == "openssh":
            shell = _openssh(stack, name, hops, options, "asked for")
        elif options.transport == "auto" and beyond:
            shell = _openssh(stack, name, hops, options, "; ".join(beyond))
        else:
            shell = _paramiko(stack, name, hops, options)
        yield shell


def _paramiko(stack: contextlib.ExitStack, name: str, hops: tuple[Effective, ...], options: Options) -> SshShell:
    """By paramiko; if that fails for something that ssh could do, by ssh."""
    from recon.hosts.dial import BeyondParamiko, Manner, dialled  # noqa: PLC0415 - a tenth of a second, only for hosts

    manner = Manner(options.accept_new, options.connect_timeout_s, None if options.batch else person())
    try:
        carrier = stack.enter_context(dialled(name, hops, manner))
    except BeyondParamiko as beyond:
        cause = beyond.__cause__
        if options.transport == "auto" and openssh.program():
            return _openssh(stack, name, hops, options, str(beyond))
        if isinstance(cause, ReconError):
            raise cause from beyond
        raise Unreachable(str(beyond), "Try --transport openssh.") from beyond
    return SshShell(name, hops[-1].user, "paramiko", carrier, notes=_notes(hops, options))


def _openssh(
    stack: contextlib.ExitStack, name: str, hops: tuple[Effective, ...], options: Options, why: str
) -> SshShell:
    way = openssh.carried(
        name,
        hops,
        config=options.config,
        accept_new=options.accept_new,
        connect_timeout_s=options.connect_timeout_s,
        asks=not options.batch and person() is not None,
    )
    return SshShell(name, hops[-1].user, f"openssh: {why}", stack.enter_context(way), notes=_notes(hops, options))


def _notes(hops: tuple[Effective, ...], options: Options) -> tuple[str, ...]:
    """What the user should know of keys that are accepted: where they cannot be kept, the next one is accepted, too."""
    files = [hop.user_known_hosts_files[0] for hop in hops if hop.user_known_hosts_files]
    lost = {f"a key that was accepted is not recorded: {file} is no regular file" for file in files if not keeps(file)}
    return tuple(sorted(lost)) if options.accept_new else ()
