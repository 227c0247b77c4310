"""Credentials in texts that are shown or kept: recognised by their form, and hidden.

Source code quotes configuration, and configuration holds credentials. What is hidden here is a second net; the scripts
that run on a host leave credentials of URLs there.
"""

import re
from dataclasses import fields, is_dataclass, replace
from typing import TypeVar, cast

T = TypeVar("T")
HIDDEN = "[secret]"

_FORMS = (
    r"hf_[A-Za-z0-9]{16,}",
    r"sk-[A-Za-z0-9_-]{16,}",
    r"(?:AKIA|ASIA)[0-9A-Z]{16}",
    r"gh[pousr]_[A-Za-z0-9]{20,}",
    r"github_pat_[A-Za-z0-9_]{20,}",
    r"glpat-[A-Za-z0-9_-]{16,}",
    r"pypi-[A-Za-z0-9_-]{16,}",
    r"nvapi-[A-Za-z0-9_-]{16,}",
    r"xox[abeprs]-[A-Za-z0-9-]{10,}",
    r"AIza[0-9A-Za-z_-]{30,}",
    r"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*",
)
_WHOLE = re.compile(r"(?<![A-Za-z0-9_])(?:" + "|".join(_FORMS) + ")")
_USER = re.compile(r"(?<=://)[^/\s\"'<>@]*(?:@[^/\s\"'<>@]*)*(?=@)")
_WORD = "(?:api[_-]?key|access[_-]?key|token|secret|passw(?:or)?d|passphrase|credentials?)"
_VALUE = r"[A-Za-z0-9+/_.~!$%^&*=-]{8,}"
_NAMED = (
    re.compile(  # password = "..." in Python, JSON and TOML
        rf"""(?P<before>{_WORD}s?["']?\]?[ ]*(?::[ ]*\w+[ ]*)?[:=][ ]*["'])(?P<value>{_VALUE})(?=["'])""",
        re.IGNORECASE | re.VERBOSE,
    ),
    re.compile(rf"(?P<before>--[a-z-]*(?:key|token|secret|password)[ =]|\b(?:Bearer|Basic) )(?P<value>{_VALUE})"),
    re.compile(rf"(?P<before>\b[A-Z0-9_]*(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD)=)(?P<value>{_VALUE})"),
    re.compile(rf"(?P<before>^[ ]*passw(?:or)?d[ ]*[:=][ ]*)(?P<value>{_VALUE})$", re.IGNORECASE | re.MULTILINE),
)
_KEY = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL)


def hidden(text: str) -> str:
    """A text without what looks like a credential.

    >>> hidden("pip install --index-url https://me:pw@pypi.example/simple")
    'pip install --index-url https://[secret]@pypi.example/simple'
    >>> hidden('API_TOKEN = "a1b2c3d4e5f6"')
    'API_TOKEN = "[secret]"'
    """
    text = _KEY.sub(HIDDEN, text)
    text = _USER.sub(HIDDEN, text)
    text = _WHOLE.sub(HIDDEN, text)
    for form in _NAMED:
        text = form.sub(_value_hidden, text)
    return text


def _value_hidden(found: re.Match[str]) -> str:
    """A name with its value hidden, if that is one: letters and digits, as words that name something rarely are."""
    value = found["value"]
    mixed = any(each.isdigit() for each in value) and any(each.isalpha() for each in value)
    return f"{found['before']}{HIDDEN}" if mixed else found[0]


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
