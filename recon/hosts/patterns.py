r"""Names of hosts as known_hosts writes them: patterns, lists with negation, and digests of names."""

import base64
import binascii
import hashlib
import hmac
import secrets

_HASHED = "|1|"
_LONGEST = 1024


def lookup_name(name: str, port: int) -> str:
    """The name under which a host's keys stand.

    >>> lookup_name("GPU07", 2222), lookup_name("gpu07", 22)
    ('[gpu07]:2222', 'gpu07')
    """
    return name.lower() if port in {0, 22} else f"[{name.lower()}]:{port}"


def matches(patterns: str, name: str) -> bool:
    """Whether the first field of a line names a host.

    Args:
        patterns: Patterns with `*`, `?` and `!`, separated by commas, or one digest of a name.
        name: As `lookup_name` makes it.
    """
    if patterns.startswith("|"):
        return _digest_matches(patterns, name)
    found = False
    for pattern in patterns.lower().split(","):
        negated = pattern.startswith("!")
        if len(pattern) <= _LONGEST and globbed(pattern.removeprefix("!"), name):
            if negated:
                return False
            found = True
    return found


def hashed(name: str, salt: bytes = b"") -> str:
    """A name as `HashKnownHosts` has it: the digest tells whether a name is the one, not which it is."""
    salt = salt or secrets.token_bytes(20)
    digest = hmac.digest(salt, name.encode(), hashlib.sha1)
    return f"{_HASHED}{base64.b64encode(salt).decode()}|{base64.b64encode(digest).decode()}"


def _digest_matches(field: str, name: str) -> bool:
    if not field.startswith(_HASHED):
        return False
    salt, _, digest = field.removeprefix(_HASHED).partition("|")
    try:
        wanted = base64.b64decode(digest, validate=True)
        made = hmac.digest(base64.b64decode(salt, validate=True), name.encode("utf-8", "surrogateescape"), hashlib.sha1)
    except (ValueError, binascii.Error):
        return False
    return hmac.compare_digest(wanted, made)


def globbed(pattern: str, name: str) -> bool:
    """Whether a pattern in which only `*` and `?` are special is a whole name, in time of their lengths' product."""
    at = here = mark = 0
    star = -1
    while here < len(name):
        if at < len(pattern) and pattern[at] == "*":
            star, mark = at, here
            at += 1
        elif at < len(pattern) and pattern[at] in {"?", name[here]}:
            at += 1
            here += 1
        elif star >= 0:
            mark += 1
            at, here = star + 1, mark
        else:
            return False
    return not pattern[at:].strip("*")
