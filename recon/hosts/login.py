"""Logging in over an open connection: keys first, then what the host asks a person, once."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

import paramiko

from recon.errors import Auth
from recon.hosts.effective import Effective
from recon.hosts.identities import Offers
from recon.hosts.terminal import Person

_ASKED = ("keyboard-interactive", "password")


@dataclass(slots=True)
class Login:
    """One attempt to log in to one host."""

    name: str
    host: Effective
    transport: paramiko.Transport
    offers: Offers
    person: Person | None
    """None where there is nobody to ask: what needs an answer then fails at once."""
    wanted: Sequence[str] = ()
    """Ways in that the host named last, once it has not let us in."""
    _offered: list[str] = field(default_factory=list)
    _unusable: list[str] = field(default_factory=list)

    def enter(self) -> None:
        """Log in.

        Raises:
            Auth: the host does not let us in.
        """
        left = self._none()
        if left is None:
            return
        taken = self._keys() if "publickey" in left else None
        left = left if taken is None else taken
        if left and self.person:
            left = self._asked(left)
        if left:
            raise self._refused(left)

    def _none(self) -> Sequence[str] | None:
        """Ways in that the host names; None if it needs none."""
        try:
            self._try(partial(self.transport.auth_none, self.host.user))
        except paramiko.BadAuthenticationType as error:
            return tuple(error.allowed_types)
        return None

    def _keys(self) -> Sequence[str] | None:
        """Offer keys until one is taken: the ways that are still wanted after it. None if none is."""
        for offer in self.offers.keys:
            try:
                signer = offer.signer()
            except Auth as error:  # a wrong passphrase: other keys may do
                self._unusable.append(error.message)
                continue
            self._offered.append(str(offer))
            try:
                return self._try(partial(self.transport.auth_publickey, self.host.user, signer))
            except paramiko.BadAuthenticationType as error:
                return tuple(error.allowed_types)
            except paramiko.AuthenticationException:
                self._unusable += [signer.trouble] if signer.trouble else []
        return None

    def _asked(self, left: Sequence[str]) -> Sequence[str]:
        """Ask a person, once for each way that is wanted; the ways that are wanted still."""
        for way in _ASKED:
            if way not in left:
                continue
            try:
                left = self._try(self._typed if way == "password" else self._challenged)
            except paramiko.BadAuthenticationType as error:
                left = tuple(error.allowed_types)
            except paramiko.AuthenticationException:
                return [way]  # wrong once is enough: nobody is locked out by a loop
            if not left:
                return []
        return left

    def _typed(self) -> Sequence[str]:
        return list(self.transport.auth_password(self.host.user, self._question("password", see=False), fallback=False))

    def _challenged(self) -> Sequence[str]:
        return list(self.transport.auth_interactive(self.host.user, self._answers))

    def _answers(self, title: str, instructions: str, questions: Sequence[tuple[str, bool]]) -> list[str]:
        heading = " ".join(words.strip() for words in (title, instructions) if words.strip())
        return [self._question(f"{heading} {question}".strip(), see=see) for question, see in questions]

    def _question(self, words: str, *, see: bool) -> str:
        assert self.person is not None
        words = "".join(letter if letter.isprintable() else " " for letter in words).strip()
        words = f"{self.host.user}@{self.name}: {words.removesuffix(':')}: "
        return (self.person.answer if see else self.person.secret)(words)

    def _try(self, attempt: Callable[[], Sequence[str]]) -> Sequence[str]:
        try:
            return list(attempt())
        except paramiko.AuthenticationException as error:
            if not self.transport.is_active():
                raise self._refused(["(it hung up)"]) from error
            raise
        except (paramiko.SSHException, EOFError, OSError) as error:
            raise self._refused([f"({error})"]) from error

    def _refused(self, left: Sequence[str]) -> Auth:
        offered = ", ".join(self._offered) or "no key"
        self.wanted = left
        wants = ", ".join(left)
        message = f"{self.name}: it does not let {self.host.user} in; offered: {offered}; it wants {wants}"
        if self.person is None and set(left) & set(_ASKED) and "publickey" not in left:
            return Auth(message, "It asks for a password or a code: run recon on a terminal, without --batch.")
        if self._unusable or self.offers.skipped:
            return Auth(message, f"Of no use: {'; '.join((*self._unusable, *self.offers.skipped))}.")
        return Auth(message, "Is the right key in the agent, in IdentityFile, and in authorized_keys there?")
