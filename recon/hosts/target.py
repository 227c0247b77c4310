"""What the user calls a host: `[USER@]HOST[:PORT]`, an IPv6 address with or without brackets, or an `ssh://` address.

What a name may hold is as narrow as OpenSSH made it: names end up on command lines, among them those of a
ProxyCommand that a shell reads.
"""

import re
import shlex
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from recon.errors import Usage

_SHELL = frozenset("'`\"$\\;&<>|(){}")
"""No host is called so, and a shell would act on it."""
_NOT_IN_USER = _SHELL - {"$", "\\"}  # Windows domains and machine accounts are called so
_EXAMPLE = "For example: --host gpu07, --host me@gpu07.example:2222, --host '[fe80::1%eth0]:22'."
_SCHEME = re.compile(r"^[A-Za-z][A-Za-z0-9+.-]*://")
_IPV6 = re.compile(r"[0-9A-Fa-f.]*:[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*(%[^\s/]+)?")


@dataclass(frozen=True, slots=True)
class Target:
    """A host as it was asked for; what was left open is for the configuration to say."""

    typed: str
    """What the user wrote; the name of the host everywhere."""
    user: str = ""
    host: str = ""
    """A name, an alias of the configuration or an address, as it was written; an IPv6 address has no brackets."""
    port: int = 0


def parse(words: str) -> Target:
    """The host that words mean.

    >>> parse("me@gpu07:2222")
    Target(typed='me@gpu07:2222', user='me', host='gpu07', port=2222)

    Raises:
        Usage: they mean none.
    """
    _refuse_password(words)
    scheme, address = _stripped(words)
    user, at, place = address.rpartition("@")  # the last one: a user may be called me@example.org
    if at and not user:
        raise Usage(f"{words!r} names no user before '@'", _EXAMPLE)
    host, port = _place(words, place)
    target = Target(words, unquote(user) if scheme else user, host, port)
    _check(target)
    return target


def jumps(words: str) -> tuple[Target, ...]:
    """The hosts of a `ProxyJump`, the one nearest to us first; none where it says `none`.

    Raises:
        Usage: one of them means no host.
    """
    if words.strip().lower() in {"", "none"}:
        return ()
    return tuple(parse(word.strip()) for word in words.split(","))


def written(target: Target) -> str:
    """The target in the form that `ssh -J` reads.

    >>> written(parse("ssh://me@[::1]:22"))
    'me@[::1]:22'
    """
    host = f"[{target.host}]" if ":" in target.host else target.host
    return f"{target.user}@" * bool(target.user) + host + f":{target.port}" * bool(target.port)


def command(target: Target, config: Path | None, *options: str) -> str:
    """The ssh command that a person would type for the target.

    >>> command(parse("me@gpu07:2222"), Path("my config"), "-G")
    "ssh -G -F 'my config' -l me -p 2222 gpu07"
    """
    words = ["ssh", *options, *(("-F", str(config)) if config else ())]
    words += ["-l", target.user] if target.user else []
    words += ["-p", str(target.port)] if target.port else []
    return shlex.join([*words, target.host])


def _refuse_password(words: str) -> None:
    """Refuse a password in an address: what was typed is a host's name everywhere, in files as well.

    Raises:
        Usage: there is one; nothing of the words is repeated.
    """
    user, _, _ = _SCHEME.sub("", words).rpartition("@")
    if ":" in unquote(user):
        raise Usage("ssh takes no password in an address", "Give USER@HOST alone; ssh asks, or takes a key.")


def _stripped(words: str) -> tuple[bool, str]:
    """Whether it is an address with a scheme, and what follows that."""
    if "://" not in words:
        return False, words
    scheme, _, rest = words.partition("://")
    rest = rest.removesuffix("/")
    if scheme.lower() != "ssh" or "/" in rest:
        raise Usage(f"{words!r} is no ssh:// address", _EXAMPLE)
    return True, rest


def _place(words: str, place: str) -> tuple[str, int]:
    """Host and port, 0 where none is given."""
    if place.startswith("["):
        host, bracket, rest = place[1:].partition("]")
        if not bracket or (rest and not rest.startswith(":")):
            raise Usage(f"{words!r} has a bracket that does not close around the host", _EXAMPLE)
        return host, _port(words, rest[1:]) if rest else 0
    if _IPV6.fullmatch(place):
        return place, 0
    host, colon, port = place.partition(":")
    return host, _port(words, port) if colon else 0


def _port(words: str, port: str) -> int:
    if port.isascii() and port.isdecimal() and 0 < int(port[:6]) < 1 << 16:
        return int(port)
    what = f"{port!r} is no port" if port else "there is no port after ':'"
    raise Usage(f"{words!r}: {what}", "A port is a number from 1 to 65535.")


def _check(target: Target) -> None:
    """Refuse names that a program would read as an option or a shell as more than a name."""
    user, host = target.user, target.host
    if not host:
        raise Usage(f"{target.typed!r} names no host", _EXAMPLE)
    if host.startswith("-") or any(each in _SHELL or each.isspace() or not each.isprintable() for each in host):
        raise Usage(f"{target.typed!r} is no name of a host", _EXAMPLE)
    odd = any(each in _NOT_IN_USER or not each.isprintable() for each in user)
    if user.startswith("-") or user.endswith("\\") or " -" in user or odd:
        raise Usage(f"{target.typed!r} holds no name of a user", _EXAMPLE)
