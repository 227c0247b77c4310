"""Which keys to offer a host, in which order: certificates, keys that the configuration names, then the agent's others.

A server hangs up after six attempts, so at most five are offered, and the rest is named. Keys that nobody here can use
are left out with their reason: one odd key in the agent must not spoil the others.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from recon.errors import Unreachable
from recon.hosts import certificate, keys
from recon.hosts.agent import Agent, Held, SocketAgent
from recon.hosts.effective import Effective
from recon.hosts.keys import Ask, KeyFile, Signer
from recon.hosts.settings import DEFAULT_IDENTITIES
from recon.hosts.wire import Malformed, fingerprint, type_of

MOST = 5
_USABLE = frozenset({"ssh-ed25519", "ssh-rsa", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521"})
_RSA = ("rsa-sha2-512", "rsa-sha2-256")


@dataclass(frozen=True, slots=True)
class Offer:
    """One key, or one certificate, to log in with."""

    label: str
    """What the user knows it by: a file, or the agent's comment."""
    type: str
    fingerprint: str
    """Of the plain key."""
    signer: Callable[[], Signer]
    """The key for paramiko's `auth_publickey`, made when its turn comes: may ask for a passphrase, and raises Auth."""

    def __str__(self) -> str:
        """The key as errors name it."""
        return f"{self.label} ({self.type} {self.fingerprint})"


@dataclass(frozen=True, slots=True)
class Offers:
    """What to offer, and what not."""

    keys: tuple[Offer, ...]
    skipped: tuple[str, ...]
    """Keys that are not offered, each with the reason."""
    only_ssh: tuple[str, ...]
    """Those among them that the system's ssh could use: keys in hardware."""


def agent_of(effective: Effective) -> SocketAgent | None:
    """The agent that the configuration names, if it names one."""
    return SocketAgent(effective.identity_agent) if effective.identity_agent else None


def offers(effective: Effective, agent: Agent | None, ask: Ask | None = None) -> Offers:
    """Which keys to offer a host.

    Args:
        effective: The configuration for it.
        agent: The agent; None for none.
        ask: Asks for a passphrase on a terminal; None where there is none: encrypted keys are then left out.
    """
    choice = _Choice(effective, agent, ask)
    found: dict[tuple[str, str], Offer] = {}
    for offer in choice.all(identities_only=effective.identities_only):
        found.setdefault((offer.type, offer.fingerprint or offer.label), offer)
    chosen = tuple(found.values())
    left = (f"{offer}: at most {MOST} keys are offered" for offer in chosen[MOST:])
    return Offers(chosen[:MOST], (*choice.skipped, *left), tuple(dict.fromkeys(choice.only_ssh)))


class _Choice:
    """What there is, in the order in which it is offered.

    Attributes:
        skipped: Keys left out, each with the reason.
        only_ssh: Those among them that the system's ssh could use.
    """

    def __init__(self, effective: Effective, agent: Agent | None, ask: Ask | None) -> None:
        """Read the identity files, and ask the agent."""
        self.skipped: list[str] = []
        self.only_ssh: list[str] = []
        self._accepted = effective.pubkey_accepted_algorithms
        self._certificate_files = effective.certificate_files or tuple(
            path.with_name(f"{path.name}-cert.pub") for path in effective.identity_files
        )
        self._agent = agent
        self._ask = ask
        self._files = tuple(file for path in effective.identity_files if (file := keys.read(path)))
        self._held = self._asked(agent)
        self._named = {file.blob for file in self._files if file.blob}

    def all(self, *, identities_only: bool) -> Iterator[Offer]:
        """Every key that can be used.

        ssh offers all of the agent's keys before it comes to files. Here a file that the configuration names and that
        opens without a question goes first: with a cap on offers, the agent's others must not crowd it out.
        """
        private = [file for file in self._files if file.private and self._fit(file)]
        sure = [file for file in private if not file.encrypted and file.path.name not in DEFAULT_IDENTITIES]
        yield from self._certificates()
        yield from self._of_agent(named=True)
        yield from map(self._of_file, sure)
        if not identities_only:
            yield from self._of_agent(named=False)
        yield from (self._of_file(file) for file in private if file not in sure)

    def _asked(self, agent: Agent | None) -> tuple[Held, ...]:
        try:
            return tuple(agent.held()) if agent else ()
        except Unreachable as error:
            self.skipped.append(error.message)
            return ()

    def _certificates(self) -> Iterator[Offer]:
        """Certificates in files for which there is a private key."""
        for path in self._certificate_files:
            for blob in keys.certificates(path):
                key = self._certified(str(path), blob)
                signer = self._signer(key, blob) if key else None
                if key and signer:
                    yield Offer(str(path), type_of(blob), fingerprint(key), signer)
                elif key:
                    self.skipped.append(f"{path}: its private key is neither in the agent nor in an identity file")

    def _of_agent(self, *, named: bool) -> Iterator[Offer]:
        """Keys and certificates of the agent: those that the configuration names, or the others."""
        for each in self._held:
            if (_plain(each.blob) in self._named) is not named:
                continue
            label = f"{each.comment or 'a key'} of the agent"
            shown = each.blob if certificate.is_certificate(each.blob) else b""
            key = self._certified(label, shown) if shown else self._usable(label, each.blob)
            if key:
                yield Offer(label, type_of(each.blob), fingerprint(key), self._by_agent(each.blob, key, shown))

    def _of_file(self, file: KeyFile) -> Offer:
        digest = fingerprint(file.blob) if file.blob else ""
        return Offer(str(file.path), type_of(file.blob), digest, self._by_file(file, b""))

    def _fit(self, file: KeyFile) -> bool:
        """Whether the private key in a file can be used; says why not, once."""
        if any(file.blob == each.blob for each in self._held):
            return False  # the agent has it, and asks nobody
        if file.trouble:
            self._skip(f"{file.path}: {file.trouble}")
        elif file.encrypted and not self._ask:
            self._skip(f"{file.path}: it is encrypted, and there is no terminal to ask for its passphrase")
        else:
            return not file.blob or bool(self._usable(str(file.path), file.blob))
        return False

    def _signer(self, key: bytes, shown: bytes) -> Callable[[], Signer] | None:
        """Who has the private half of a key that is certified: the agent, or a file."""
        held = next((each for each in self._held if each.blob in {key, shown}), None)
        if held:
            return self._by_agent(held.blob, key, shown)
        file = next((file for file in self._files if file.blob == key and file.private and self._fit(file)), None)
        return self._by_file(file, shown) if file else None

    def _by_agent(self, held: bytes, key: bytes, shown: bytes) -> Callable[[], Signer]:
        agent = self._agent
        assert agent is not None
        return lambda: keys.signer_of_agent(agent, held, key, shown)

    def _by_file(self, file: KeyFile, shown: bytes) -> Callable[[], Signer]:
        return lambda: keys.signer_of_file(file, shown, self._ask)

    def _certified(self, label: str, blob: bytes) -> bytes | None:
        """The plain key of a user's certificate that is valid and accepted now; None, with the reason, of another."""
        try:
            parsed = certificate.parse(blob)
        except Malformed as error:
            self._skip(f"{label}: {error}")
            return None
        if refused := certificate.out_of_use(parsed, certificate.USER):
            self._skip(f"{label}: {refused}")
            return None
        return parsed.key if self._usable(label, blob) else None

    def _usable(self, label: str, blob: bytes) -> bytes | None:
        """A key or certificate whose type can be used and is accepted; None, with the reason, for another."""
        kind = type_of(blob)
        plain = certificate.plain_type(kind)
        names = {kind.replace("ssh-rsa", name) for name in _RSA} if plain == "ssh-rsa" else {kind}
        if plain.startswith("sk-"):
            self._skip(f"{label}: a key in hardware, which only the system's ssh can use")
            self.only_ssh.append(label)
        elif plain not in _USABLE:
            self._skip(f"{label}: a key of the type {kind or '?'}, which is not supported")
        elif self._accepted and names.isdisjoint(self._accepted):
            self._skip(f"{label}: PubkeyAcceptedAlgorithms does not have {kind}")
        else:
            return blob
        return None

    def _skip(self, reason: str) -> None:
        if reason not in self.skipped:
            self.skipped.append(reason)


def _plain(blob: bytes) -> bytes:
    """The key in a certificate; anything else is itself."""
    try:
        return certificate.parse(blob).key if certificate.is_certificate(blob) else blob
    except Malformed:
        return blob
