"""Credentials in texts that are shown or kept: recognised by their form, and hidden.

Source code quotes configuration, and configuration holds credentials. What is hidden here is a second net; the scripts
that run on a host leave credentials of URLs there.
"""

import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from typing import TypeVar, cast

T = TypeVar("T")
HIDDEN = "[secret]"

_SERVICES = (
    r"hf_(?=[a-z]*[A-Z0-9])[A-Za-z0-9]{16,}",
    r"api_org_[A-Za-z0-9]{16,}",
    r"sk-(?=[a-z_-]*[A-Z0-9])[A-Za-z0-9_-]{16,}",
    r"[rs]k_(?:live|test)_[A-Za-z0-9]{10,}",
    r"(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}",
    r"gh[pousr]_[A-Za-z0-9]{20,}",
    r"github_pat_[A-Za-z0-9_]{20,}",
    r"gl(?:pat|oas|rt|cbt|ptt|ft|imt|agent|soat|dt)-[A-Za-z0-9_.-]{16,}",
    r"pypi-[A-Za-z0-9_-]{16,}",
    r"npm_[A-Za-z0-9]{16,}",
    r"dckr_[po]at_[A-Za-z0-9_-]{16,}",
    r"nvapi-[A-Za-z0-9_-]{16,}",
    r"gsk_[A-Za-z0-9]{20,}",
    r"xox[abeprs]-[A-Za-z0-9-]{10,}",
    r"xapp-[A-Za-z0-9-]{10,}",
    r"AIza[0-9A-Za-z_-]{30,}",
    r"ya29\.[0-9A-Za-z_-]{20,}",
    r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}",
    r"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*",
)
"""How tokens of known services begin; the rest of one is random, so that long words of a code are none."""
_SERVICE = re.compile(r"(?<![A-Za-z0-9_])(?:" + "|".join(_SERVICES) + ")")

_URL = re.compile(r"(?<=[\w}+.-]://)[^\s\"'<>`@]*@[^\s\"'<>`]*")
_NO_USER = re.compile(r"[^/?#:@]*\.[^/?#:@]*[/?#]|/")
"""How a URL goes on whose `@` is one of its path: with a host that has a dot and no port, or with no host at all."""

_PRIVATE = r"PRIVATE[ ]KEY(?:[ ]BLOCK)?-----"
_KEY = re.compile(
    rf"""-----BEGIN[ ][A-Z ]*{_PRIVATE}.*?(?:-----END[ ][A-Z ]*{_PRIVATE}|\Z)
    | \A(?:(?!-----BEGIN).)*-----END[ ][A-Z ]*{_PRIVATE}""",
    re.DOTALL | re.VERBOSE,
)
"""Whole, or what of one is at the end or at the start of an excerpt."""
_KEY_LINE = re.compile(
    r"""(?P<before>^[ \t]*[bBrRuU]?["']?)(?P<value>[A-Za-z0-9+/]{60,76}={0,2})(?=(?:\\n)?["']?,?\s*$)""", re.MULTILINE
)
"""A line out of the middle of a key."""

_WIDEST = 4096
"""Characters that are looked at together: the forms above look ahead and back, at a cost that grows with the square."""
_CUT = "..."
_SPEAKS = re.compile("key|pass|pwd|secret|cred|auth|token|cookie|jwt|login|bearer|basic|sig=|x-amz", re.IGNORECASE)
"""What every name of a credential holds: most texts hold none of it, and are done with soon."""


def hidden(text: str) -> str:
    """A text without what looks like a credential.

    >>> hidden("pip install --index-url https://me:pw@pypi.example/simple")
    'pip install --index-url https://[secret]@pypi.example/simple'
    >>> hidden('API_TOKEN = "a1b2c3d4e5f6"')
    'API_TOKEN = "[secret]"'
    """
    if len(text) > _WIDEST:
        return "".join(map(hidden, _pieces(text)))
    text = _KEY.sub(HIDDEN, text)
    text = _KEY_LINE.sub(lambda found: f"{found['before']}{HIDDEN}" if _is_key_line(found["value"]) else found[0], text)
    text = _URL.sub(_user_hidden, text)
    text = _SERVICE.sub(HIDDEN, text)
    if not _SPEAKS.search(text):
        return text
    from recon.facts.secret_names import named_hidden  # noqa: PLC0415 - its forms take longer to make than most scans look

    return named_hidden(text)


def _pieces(text: str) -> Iterator[str]:
    """A long text in pieces, cut behind a line or else a word; of a longer word the beginning alone.

    What is shown is a few lines. Longer ones are a stranger's, who may have written them to keep us busy.
    """
    at = 0
    while len(text) - at > _WIDEST:
        end = at + _WIDEST
        if cut := text.rfind("\n", at, end) + 1 or text.rfind(" ", at, end) + 1:
            yield text[at:cut]
            at = cut
        else:
            yield f"{text[at : end - len(_CUT)]}{_CUT}"
            following = (place for place in (text.find("\n", end), text.find(" ", end)) if place >= 0)
            at = min(following, default=len(text))
    yield text[at:]


def _is_key_line(line: str) -> bool:
    """Whether a line mixes everything, as those of a key do; paths, digests and ruled lines do not."""
    return all(any(map(kind, line)) for kind in (str.isupper, str.islower, str.isdigit))


def _user_hidden(found: re.Match[str]) -> str:
    """What follows `://`, without user and password. Both may hold any character: all up to the last `@` goes."""
    rest = found[0]
    return rest if _NO_USER.match(rest) else f"{HIDDEN}@{rest.rpartition('@')[2]}"


def hidden_in(value: T) -> T:
    """A record with every text in it hidden."""
    if isinstance(value, str):
        return cast("T", hidden(value))
    if isinstance(value, tuple):
        made = tuple(map(hidden_in, value))
        return cast("T", value if all(map(_same, made, value)) else made)
    if is_dataclass(value) and not isinstance(value, type):
        kept = {each.name: getattr(value, each.name) for each in fields(value)}
        changed = {name: new for name, old in kept.items() if (new := hidden_in(old)) is not old}
        return replace(value, **changed) if changed else value
    return value


def _same(one: object, other: object) -> bool:
    return one is other
