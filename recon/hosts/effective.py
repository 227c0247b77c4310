"""The configuration with which ssh would reach a host: what `ssh -G` says, in types.

Only ssh knows what its configuration means (Include, Match, tokens, canonical names, defaults of the distribution),
so it is asked. `-G` connects nowhere, though `Match exec` runs the user's own commands and canonical names may need a
resolver, as with every ssh.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from recon.errors import ClientConfig, Unreachable
from recon.hosts.beyond import beyond
from recon.hosts.local import LocalShell
from recon.hosts.settings import Settings, minimal, read
from recon.hosts.target import Target, command, jumps, written
from recon.hosts.tokens import Tokens, here
from recon.ports import Reply

MOST_HOPS = 8
_DEADLINE_S = 10.0
_STRICT = {"true": "yes", "yes": "yes", "false": "no", "off": "no", "no": "no", "accept-new": "accept-new"}


@dataclass(frozen=True, slots=True)
class Effective:
    """How one host is reached. Durations in seconds, None where ssh has no limit; files in the order of ssh."""

    target: Target
    hostname: str
    """What to connect to: in lower case, after HostName and canonical names."""
    port: int
    user: str
    identity_files: tuple[Path, ...]
    """Private keys, or `.pub` files that choose one of the agent's; tokens expanded, whether or not they exist."""
    certificate_files: tuple[Path, ...]
    identities_only: bool
    identity_agent: Path | None
    """The agent's socket; None for no agent."""
    proxy_command: str
    """For `/bin/sh -c`, tokens expanded; '' for none."""
    proxy_jump: tuple[Target, ...]
    """Hosts in between, the one nearest to us first."""
    host_key_alias: str
    user_known_hosts_files: tuple[Path, ...]
    global_known_hosts_files: tuple[Path, ...]
    revoked_host_keys: Path | None
    strict_host_key_checking: str
    """`yes`, `ask`, `accept-new` or `no`. recon is as strict as `yes`, unless its command line says otherwise."""
    hash_known_hosts: bool
    connect_timeout_s: float | None
    server_alive_interval_s: float
    """0 for never."""
    server_alive_count_max: int
    address_family: str
    """`any`, `inet` or `inet6`."""
    bind_address: str
    preferred_authentications: tuple[str, ...]
    """Empty where ssh has its own order."""
    pubkey_accepted_algorithms: tuple[str, ...]
    host_key_algorithms: tuple[str, ...]
    ca_signature_algorithms: tuple[str, ...]
    kex_algorithms: tuple[str, ...]
    ciphers: tuple[str, ...]
    macs: tuple[str, ...]
    beyond_paramiko: tuple[str, ...]
    """Why only the system's ssh can reach it; empty where paramiko can."""
    notes: tuple[str, ...]
    """What the user should know: settings that are not followed."""

    @property
    def known_as(self) -> str:
        """The name under which keys of the host are looked up."""
        return self.host_key_alias or self.hostname

    @property
    def known_port(self) -> int:
        """The port under which keys are looked up: an alias stands for itself, whatever the port."""
        return 22 if self.host_key_alias else self.port


def configuration(named: Path | None, environment: Mapping[str, str] | None = None) -> Path:
    """The configuration that ssh reads: the one that is named, else the one of the account, whatever HOME says."""
    return named or Path(here(environment).home) / ".ssh" / "config"


def effective(
    target: Target,
    *,
    config: Path | None = None,
    via: tuple[Target, ...] = (),
    program: str = "ssh",
    environment: Mapping[str, str] | None = None,
) -> Effective:
    """How ssh would reach a target.

    Args:
        target: The host.
        config: A configuration to read instead of the user's and the system's, as `ssh -F`.
        via: Hosts in between, instead of the configured ones, as `ssh -J`.
        program: The ssh program to ask; without one a minimal configuration is made up, and a note says so.
        environment: What ssh and tokens see; this process's where it is not given.

    Raises:
        ClientConfig: ssh refuses its configuration, or does not answer.
    """
    seen = os.environ if environment is None else environment
    reply = _ask(target, config, via, program, seen)
    settings = minimal(target, via, here(seen)) if reply is None else read(reply.stdout)
    return _typed(target, settings, seen)


def route(target: Target, *, config: Path | None = None, via: tuple[Target, ...] = ()) -> tuple[Effective, ...]:
    """The hosts on the way to a target, the one that is connected to from here first and the target last.

    Each has a configuration of its own: the last jump is reached through those before it, and the first as its own
    configuration says, jumps of its own included, as ssh does it.

    Raises:
        ClientConfig: ssh refuses its configuration, or the way has no end.
    """
    found: list[Effective] = []
    while True:
        found.insert(0, effective(target, config=config, via=via))
        if not found[0].proxy_jump:
            return tuple(found)
        if len(found) > MOST_HOPS:
            names = " → ".join(each.target.host for each in found[:3])
            raise ClientConfig(
                f"{found[-1].target.typed}: more than {MOST_HOPS} jumps: {names} …", "A ring in ProxyJump?"
            )
        *before, target = found[0].proxy_jump
        via = tuple(before)


def _ask(
    target: Target, config: Path | None, via: tuple[Target, ...], program: str, environment: Mapping[str, str]
) -> Reply | None:
    """What ssh says; None where there is no ssh."""
    words = [program, "-G", "-T"]
    words += ["-F", str(config)] if config else []
    words += ["-l", target.user] if target.user else []
    words += ["-p", str(target.port)] if target.port else []
    words += ["-J", ",".join(map(written, via))] if via else []
    shell = LocalShell("ssh -G", (*words, "--", target.host), environment={**environment, "LC_ALL": "C"})
    try:
        reply = shell.run("", timeout_s=_DEADLINE_S)
    except Unreachable as error:
        if isinstance(error.__cause__, FileNotFoundError):
            if config:
                raise ClientConfig(
                    f"{config} cannot be read without an ssh program", "Install OpenSSH's client."
                ) from error
            return None
        raise ClientConfig(
            f"{target.typed}: {error.message}",
            f"Does a `Match exec` of {config or '~/.ssh/config'} hang, or the resolver?",
        ) from error
    if reply.status:
        said = [line.strip() for line in reply.stderr.splitlines() if line.strip() and "terminating" not in line]
        what = "; ".join(said[:2]) or f"status {reply.status}"
        raise ClientConfig(
            f"{target.typed}: ssh refuses its configuration: {what}", f"Try: {command(target, config, '-G')}"
        )
    return reply


def _typed(target: Target, said: Settings, environment: Mapping[str, str]) -> Effective:
    """Settings as types, with what ssh leaves to be expanded."""
    hostname, port, user = said.word("hostname", target.host).lower(), said.number("port", 22), said.word("user")
    alias = said.word("hostkeyalias").lower()
    raw_jump = said.word("proxyjump")
    tokens = Tokens(here(environment), target.host, hostname, port, user, raw_jump, alias)
    timeout = said.word("connecttimeout")
    return Effective(
        target=target,
        hostname=hostname,
        port=port,
        user=user,
        identity_files=tuple(Path(tokens.path(each)) for each in said.all("identityfile")),
        certificate_files=tuple(Path(tokens.path(each)) for each in said.all("certificatefile")),
        identities_only=said.flag("identitiesonly"),
        identity_agent=_agent(said, tokens, environment),
        proxy_command="" if raw_jump else tokens.command(said.word("proxycommand")),
        proxy_jump=jumps(tokens.command(raw_jump)),
        host_key_alias=alias,
        user_known_hosts_files=_files(said.word("userknownhostsfile"), tokens),
        global_known_hosts_files=_files(said.word("globalknownhostsfile"), tokens),
        revoked_host_keys=next(iter(_files(said.word("revokedhostkeys"), tokens)), None),
        strict_host_key_checking=_STRICT.get(said.word("stricthostkeychecking"), "ask"),
        hash_known_hosts=said.flag("hashknownhosts"),
        connect_timeout_s=float(timeout) if timeout.isdecimal() else None,
        server_alive_interval_s=float(said.number("serveraliveinterval", 0)),
        server_alive_count_max=said.number("serveralivecountmax", 3),
        address_family=said.word("addressfamily", "any"),
        bind_address=said.word("bindaddress"),
        preferred_authentications=said.listed("preferredauthentications"),
        pubkey_accepted_algorithms=said.listed("pubkeyacceptedalgorithms") or said.listed("pubkeyacceptedkeytypes"),
        host_key_algorithms=said.listed("hostkeyalgorithms"),
        ca_signature_algorithms=said.listed("casignaturealgorithms"),
        kex_algorithms=said.listed("kexalgorithms"),
        ciphers=said.listed("ciphers"),
        macs=said.listed("macs"),
        beyond_paramiko=beyond(said),
        notes=said.notes,
    )


def _agent(said: Settings, tokens: Tokens, environment: Mapping[str, str]) -> Path | None:
    """The agent's socket: the one that is configured, or that of the session."""
    configured = said.word("identityagent", "SSH_AUTH_SOCK")
    if configured == "SSH_AUTH_SOCK":
        configured = environment.get("SSH_AUTH_SOCK", "")
    elif configured.startswith("$") and not configured.startswith("${"):
        configured = environment.get(configured[1:], "")
    else:
        configured = _printed(configured, tokens)
    return Path(configured) if configured else None


def _files(words: str, tokens: Tokens) -> tuple[Path, ...]:
    """Files of a line that does not say where one name ends: a word that starts no path belongs to the one before."""
    names: list[str] = []
    for word in words.split(" ") if words else []:
        if names and not word.startswith(("/", "~")):
            names[-1] += f" {word}"
        else:
            names.append(word)
    return tuple(Path(_printed(name, tokens)) for name in names if name)


def _printed(name: str, tokens: Tokens) -> str:
    """A file name that ssh printed: today's ssh expands these before it prints them, older ones did not."""
    try:
        return tokens.path(name)
    except ClientConfig:
        return name
