"""Connections by paramiko: hop by hop to a host, each with its own configuration, host key and login."""

import contextlib
import logging
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import paramiko

from recon.errors import Auth, HostKeyUnknown, TimedOut, Unreachable
from recon.hosts import certificate, trust
from recon.hosts.effective import Effective
from recon.hosts.exchange import first_line
from recon.hosts.identities import agent_of, offers
from recon.hosts.identity import proven
from recon.hosts.login import Login
from recon.hosts.paramiko_shell import Hop, ParamikoCarrier
from recon.hosts.proxy import Heard, Proxy, Wire, connected, proxied
from recon.hosts.terminal import Person
from recon.hosts.throttle import Crowded, crowded, seat, tried
from recon.hosts.watch import Pulse, within

AUTH_S = 30.0
PERSON_S = 120.0
"""How long a host may wait for what a person types."""
ALIVE_EVERY_S = 15.0
ALIVE_MOST = 4
_GSSAPI = "gssapi-with-mic"
_CROWD = (b"Exceeded MaxStartups", b"Not allowed at this time")
_CERTIFIED = tuple(
    f"{name}{certificate.SUFFIX}"
    for name in (
        "ssh-ed25519",
        "ecdsa-sha2-nistp256",
        "ecdsa-sha2-nistp384",
        "ecdsa-sha2-nistp521",
        "rsa-sha2-512",
        "rsa-sha2-256",
    )
)

logging.getLogger("paramiko").addHandler(logging.NullHandler())  # without one its errors are printed


class BeyondParamiko(Exception):
    """The system's ssh might succeed where paramiko cannot; says why."""


@dataclass(frozen=True, slots=True)
class Manner:
    """How connections are made, whatever their host."""

    accept_new: bool
    connect_timeout_s: float
    person: Person | None
    """Who can be asked; None for nobody."""


@contextlib.contextmanager
def dialled(name: str, route: Sequence[Effective], manner: Manner) -> Iterator[ParamikoCarrier]:
    """A connection to the last host of a route, through those before it; all are closed on leaving.

    Raises:
        ReconError: one of them cannot be reached, trusted or logged in to; the message says which.
        BeyondParamiko: the system's ssh might manage.
    """
    hops: list[Hop] = []
    with contextlib.ExitStack() as stack:
        for host in route:
            whose = name if host is route[-1] else f"{name}: jump host {host.target.typed or host.hostname}"
            before = hops[-1] if hops else None
            hops.append(stack.enter_context(_Dialling(whose, host, manner, before).done()))
        carrier = ParamikoCarrier(name, tuple(hops), proven(route[-1], [trust.key_of(_shown(hops[-1].transport))]))
        stack.callback(carrier.abort)
        yield carrier


@dataclass(frozen=True, slots=True)
class _Dialling:
    """How one hop is reached."""

    name: str
    host: Effective
    manner: Manner
    before: Hop | None

    @property
    def timeout_s(self) -> float:
        """For each step of the way."""
        return self.host.connect_timeout_s or self.manner.connect_timeout_s

    @property
    def alive(self) -> tuple[float, int]:
        """Seconds between questions, and how many may stay unanswered."""
        every = self.host.server_alive_interval_s
        return (every, max(self.host.server_alive_count_max, 1)) if every else (ALIVE_EVERY_S, ALIVE_MOST)

    @contextlib.contextmanager
    def done(self) -> Iterator[Hop]:
        """A connection on which we are logged in."""
        with contextlib.ExitStack() as stack:
            with seat(self.host.hostname, self.host.port, 4 * self.timeout_s + AUTH_S):
                try:
                    transport = tried(lambda: self._greeted(stack))
                except Crowded as crowd:
                    raise crowded(self.name, crowd) from crowd
                self._trust(transport)
                self._log_in(transport)
            every, most = self.alive
            ask = lambda: transport.global_request("keepalive@openssh.com", wait=True)  # noqa: E731
            pulse = Pulse(ask, transport.close, every, most)
            stack.callback(pulse.stop)
            yield Hop(self.name, transport, pulse)

    def _greeted(self, outer: contextlib.ExitStack) -> paramiko.Transport:
        """A connection whose keys are exchanged, kept open by `outer`.

        Raises:
            Crowded: the other side hung up before it said anything.
        """
        with contextlib.ExitStack() as stack:
            wire, proxy = self._wire(stack)
            heard = Heard(wire)
            transport = paramiko.Transport(heard)
            stack.callback(transport.close)
            transport.daemon = True
            transport.banner_timeout = self.timeout_s
            transport.auth_timeout = PERSON_S if self.manner.person else AUTH_S
            self._choose(transport)
            try:
                with within(self.timeout_s, transport.close):
                    transport.start_client(timeout=self.timeout_s + 1)
            except TimeoutError as error:
                raise self._silent(bytes(heard.first)) from error
            except paramiko.ssh_exception.IncompatiblePeer as error:
                raise BeyondParamiko(f"{self.name}: {error} ({transport.remote_version or 'no version'})") from error
            except (paramiko.SSHException, EOFError, OSError) as error:
                raise self._ungreeted(bytes(heard.first), proxy, error) from error
            outer.push(stack.pop_all())
            return transport

    def _wire(self, stack: contextlib.ExitStack) -> tuple[Wire, Proxy | None]:
        host = self.host
        if self.before:
            return stack.enter_context(contextlib.closing(self._through(self.before))), None
        if host.proxy_command:
            proxy = stack.enter_context(proxied(self.name, host.proxy_command))
            return proxy.wire, proxy
        every, most = self.alive
        wire = connected(
            self.name,
            host.hostname,
            host.port,
            timeout_s=self.timeout_s,
            family=host.address_family,
            alive_s=every * most,
            source=host.bind_address,
        )
        return stack.enter_context(wire), None

    def _through(self, before: Hop) -> paramiko.Channel:
        """A channel from the hop before to this one."""
        to = (self.host.hostname, self.host.port)
        try:
            with within(self.timeout_s, before.transport.close):
                return before.transport.open_channel("direct-tcpip", to, ("127.0.0.1", 0), timeout=self.timeout_s + 1)
        except paramiko.ChannelException as error:
            forbidden = error.code == 1
            hint = "AllowTcpForwarding is off there." if forbidden else "Is the name known there, and sshd running?"
            raise Unreachable(f"{before.name} cannot reach {to[0]} port {to[1]}: {error.text}", hint) from error
        except TimeoutError as error:
            raise TimedOut(f"{before.name} opened no way to it within {self.timeout_s:g} s") from error
        except (paramiko.SSHException, EOFError, OSError) as error:
            raise Unreachable(f"{before.name} ended the connection") from error

    def _choose(self, transport: paramiko.Transport) -> None:
        """Keep to the algorithms that the configuration allows; ask first for the kinds of host keys that are known."""
        options, host = transport.get_security_options(), self.host
        able = tuple(dict.fromkeys([*_CERTIFIED, *options.key_types]))
        wanted = [kind for kind in host.host_key_algorithms if kind in able] or able
        options.key_types = self._known().preferred(host.known_as, host.known_port, wanted)
        options.ciphers = _within(options.ciphers, host.ciphers)
        options.digests = _within(options.digests, host.macs)
        options.kex = _within(options.kex, host.kex_algorithms)

    def _known(self) -> trust.KnownHosts:
        files = (*self.host.user_known_hosts_files, *self.host.global_known_hosts_files)
        return trust.KnownHosts.from_files(files, self.host.revoked_host_keys)

    def _trust(self, transport: paramiko.Transport) -> None:
        """Check the host's key before anything is told to it.

        Raises:
            HostKey: it is not to be trusted.
        """
        host, known = self.host, self._known()
        blob = _shown(transport)
        try:
            known.check(host.known_as, host.known_port, blob, algorithms=host.ca_signature_algorithms)
        except HostKeyUnknown as unknown:
            if not host.user_known_hosts_files:
                raise HostKeyUnknown(unknown.message, trust.NO_FILE) from unknown
            if not (self.manner.accept_new and known.is_new(host.known_as, host.known_port)):
                raise
            file = host.user_known_hosts_files[0]
            if trust.keeps(file):
                trust.append(file, host.known_as, host.known_port, blob, hash_names=host.hash_known_hosts)

    def _log_in(self, transport: paramiko.Transport) -> None:
        person = self.manner.person
        chosen = offers(self.host, agent_of(self.host), person.secret if person else None)
        login = Login(self.name, self.host, transport, chosen, person)
        try:
            with within(transport.auth_timeout, transport.close):
                login.enter()
        except TimeoutError as error:
            raise TimedOut(f"{self.name}: no login within {transport.auth_timeout:g} s") from error
        except Auth as error:
            left = [*chosen.only_ssh, *(["a Kerberos ticket"] if _GSSAPI in login.wanted and has_ticket() else [])]
            if left:
                raise BeyondParamiko(f"{error.message}; only ssh can use {', '.join(left)}") from error
            raise

    def _silent(self, first: bytes) -> Unreachable:
        if first and not _greets(first):
            return self._stranger(first)
        if first:
            return TimedOut(f"{self.name}: keys were not exchanged within {self.timeout_s:g} s")
        return TimedOut(
            f"{self.name}: connected, but it said nothing within {self.timeout_s:g} s",
            "A hanging sshd, a load balancer without one, or a ProxyCommand that leads nowhere?",
        )

    def _stranger(self, first: bytes) -> Unreachable:
        return Unreachable(
            f"{self.name}: what answers on port {self.host.port} is no SSH server: {first_line(first)!r}",
            "Is it the right port?",
        )

    def _ungreeted(self, first: bytes, proxy: Proxy | None, error: Exception) -> Unreachable | Crowded:
        """Why no connection came about: a crowd, a dead proxy, something that is no sshd, or a broken exchange."""
        complaint = proxy.complaint() if proxy else ""
        if complaint and not first:
            return Unreachable(f"{self.name}: {complaint}", f"It was: {proxy.command}" if proxy else "")
        if not first or first.startswith(_CROWD):
            return Crowded(first_line(first) or "no banner")
        if not _greets(first):
            return self._stranger(first)
        return Unreachable(f"{self.name}: keys could not be exchanged: {error}", "Try --transport openssh.")


def _shown(transport: paramiko.Transport) -> bytes:
    """The key, or the certificate, that the other side proved to hold."""
    key = transport.get_remote_server_key()
    return bytes(key.public_blob.key_blob if key.public_blob else key.asbytes())


def has_ticket() -> bool:
    """Whether Kerberos may have let this user in already, as far as can be told without its libraries."""
    return "KRB5CCNAME" in os.environ or Path(f"/tmp/krb5cc_{os.getuid()}").exists()  # noqa: S108 - its usual place


def _greets(first: bytes) -> bool:
    """Whether one of the lines, which may follow others, is that of an SSH server."""
    return any(line.startswith(b"SSH-") for line in first.splitlines())


def _within(able: Sequence[str], allowed: Sequence[str]) -> Sequence[str]:
    """What we are able to do and may do; where nothing is common, what we are able to do, and the host decides."""
    return [name for name in able if name in allowed] or able
