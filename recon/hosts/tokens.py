"""`~`, `%h` and `${NAME}` in values of the ssh client's configuration, expanded as ssh does it.

`ssh -G` prints identity and certificate files as they were written, so it is done here.
"""

import hashlib
import os
import pwd
import re
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field

from recon.errors import ClientConfig

_TOKEN = re.compile(r"%(.?)|\$\{([^}]*)(\}?)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Here:
    """This side of a connection."""

    user: str
    home: str
    uid: int
    hostname: str
    environment: Mapping[str, str] = field(default_factory=dict)


def here(environment: Mapping[str, str] | None = None) -> Here:
    """This machine and its user; the home folder is the one of the user database, as ssh sees it."""
    uid = os.getuid()
    known = os.environ if environment is None else environment
    try:
        entry = pwd.getpwuid(uid)
    except KeyError:  # a container that runs under a number; ssh itself would not start there
        return Here(known.get("USER", str(uid)), known.get("HOME", "/"), uid, socket.gethostname(), known)
    return Here(entry.pw_name, entry.pw_dir, uid, socket.gethostname(), known)


@dataclass(frozen=True, slots=True)
class Tokens:
    """What the tokens of one connection stand for."""

    here: Here
    typed: str
    """The host as the user wrote it."""
    hostname: str
    port: int
    user: str
    jump: str = ""
    host_key_alias: str = ""

    def path(self, written: str) -> str:
        """A file name with the home folder, tokens and variables put in.

        Raises:
            ClientConfig: there is no such token, user or variable.
        """
        return self._put_in(self.at_home(written), variables=True)

    def command(self, written: str) -> str:
        """A command, or hosts, with tokens put in; variables are left to the shell.

        Raises:
            ClientConfig: there is no such token.
        """
        return self._put_in(written, variables=False)

    def at_home(self, written: str) -> str:
        """A file name whose leading `~` or `~user` is the home folder.

        Raises:
            ClientConfig: there is no such user.
        """
        if not written.startswith("~"):
            return written
        user, _, rest = written[1:].partition("/")
        if not user:
            return f"{self.here.home.rstrip('/')}/{rest}"
        try:
            return f"{pwd.getpwnam(user).pw_dir}/{rest}"
        except KeyError:
            raise ClientConfig(
                f"{written}: there is no user {user} here", "Correct it in the configuration of ssh."
            ) from None

    def _put_in(self, written: str, *, variables: bool) -> str:
        """One pass: what was put in is not looked at again."""

        def stands_for(match: re.Match[str]) -> str:
            letter, name, closed = match.groups()
            if name is None:
                return self._token(letter, written)
            if not variables:
                return match[0]
            value = self.here.environment.get(name)
            if value is None or not closed:
                raise ClientConfig(f"{written}: the variable {name} is not set", "ssh would refuse it too.")
            return value

        return _TOKEN.sub(stands_for, written)

    def _token(self, letter: str, written: str) -> str:
        here = self.here
        values = {
            "%": "%",
            "C": self._connection(),
            "d": here.home,
            "h": self.hostname,
            "i": str(here.uid),
            "j": self.jump,
            "k": self.host_key_alias or self.typed,
            "L": here.hostname.partition(".")[0],
            "l": here.hostname,
            "n": self.typed,
            "p": str(self.port),
            "r": self.user,
            "u": here.user,
        }
        if letter not in values:
            raise ClientConfig(f"{written}: there is no token %{letter}", "ssh would refuse it too; %% means %.")
        return values[letter]

    def _connection(self) -> str:
        """What ssh makes of the connection to tell its sockets apart."""
        parts = (self.here.hostname, self.hostname, str(self.port), self.user, self.jump)
        return hashlib.sha1("".join(parts).encode(), usedforsecurity=False).hexdigest()
