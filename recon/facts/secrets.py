"""Credentials in texts that are shown or kept: recognised by their form, and hidden.

Source code quotes configuration, and configuration holds credentials. What is hidden here is a second net; the scripts
that run on a host leave credentials of URLs there.

Names are of two kinds. What is called a password, a secret or an API key is one, whatever its value looks like. What is
called a token mostly belongs to a language model: it counts where the value mixes letters and digits.
"""

import re
from collections.abc import Callable, Iterator
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

_OWNERS = (
    "hf|hub|hugging_?face(?:_hub)?|api|auth|access|refresh|bearer|secret|private|personal|session|oauth2?|gh|github"
    "|gitlab|git|npm|pypi|docker|registry|slack|wandb|aws|azure|gcp|vault|ci|deploy|jwt|csrf|client|admin|service"
)
_NAME = (
    r"(?:(?:api|access|secret|private|signing|encryption|auth|account|subscription)[_-]?keys?|passw(?:or)?ds?"
    rf"|passphrases?|secrets?|credentials?|authorization|(?<![a-z])(?:{_OWNERS})[_-]?tokens?)(?:_?\d{{1,2}})?"
)
"""How a name ends that stands for a credential."""
_WEAK = r"(?:tokens?|cookie|jwt)"
_OPTION = rf"--?[\w-]*?(?:{_NAME}|token)"

_IS = (
    r"""\\?["']?\s*+(?:[\])]{1,2}\s*+)?(?::(?!=)[^=\n"'(){}]{0,60}(?==))?(?:[=!]=|:=|[:=]|\bor\b)(?:\s|\\\n)*"""
    r"""(?:(?:\w+\.)*(?:SecretStr|SecretBytes|str|bytes|[Ff]ield|Option|Argument)\((?:[ ]*default[ ]*=)?[ ]*)?"""
    r"""(?P<many>[(\[{])?[\s(\[{]*"""
)
_IS_ONE = _IS[: _IS.index("(?P<many>")]
"""From a name to its value: `=` and its kin in Python, JSON and TOML, with or without a type, a wrapper, brackets."""
_BEFORE = re.compile(
    "|".join(
        (
            rf"""{_NAME}{_IS}""",
            rf"""["']{_OPTION}["'](?:[^()]|\([^()]*\)){{0,300}}?\bdefault\s*=\s*""",
            rf"""["']{_OPTION}["']\s*,\s*""",
            rf"""\(\s*(?:[\w.]+\s*,\s*)?\\?["'](?!-)[\w.-]*?{_NAME}\\?["']\s*,\s*(?:default\s*=\s*)?""",
            r"""(?:\bauth["']?\s*[:=]\s*|Basic_?Auth\s*|\blogin\s*)(?P<pair>[(\[])\s*""",
            rf"""\#[ ]*define[ ]+\w*?{_NAME}[ ]+""",
        )
    ),
    re.IGNORECASE,
)
_BEFORE_WEAK = re.compile(_WEAK + _IS_ONE, re.IGNORECASE)

_LONG = re.compile(r"""[bBrRfFuU]{0,2}(?P<quote>'''|\"{3})(?P<value>(?:(?!(?P=quote))(?:\\.|[^\\]))*)""", re.DOTALL)
_SHORT = re.compile(r"""[bBrRfFuU]{0,2}(?P<quote>\\?["'])(?P<value>(?:(?!(?P=quote))(?:\\.|[^\\\n]))*)""")
_QUOTE = re.compile(r"""[bBrRfFuU]{0,2}["']""")
_NEXT, _NEXT_OF_MANY = re.compile(r"(?:[\s+]|\\\n)*"), re.compile(r"(?:[\s+,:]|\\\n)*")

_PLAIN = re.compile(
    rf"""(?:(?:Bearer|Basic|Token)[ ])?(?:(?:\{{[^{{}}]*\}}|\$\{{?\w+\}}?|\$\(.*\)|%\(?\w*\)?[sdr]|<[^<>]*>|\*+|\.+|x+)+
    | -{{1,2}}[a-z][\w-]*
    | empty | none | null | true | false | dummy | required | optional | (?:{_NAME}|{_WEAK})s?)""",
    re.IGNORECASE | re.VERBOSE,
)
"""Values that give nothing away: filled in elsewhere, options, and words that only name what is meant."""
_VARIABLE = re.compile(r"(?=[A-Z0-9_]*(?:KEY|TOKEN|SECRET|PASS|AUTH|CRED))[A-Z][A-Z0-9]*_[A-Z0-9_]*")
"""The name of a variable of the environment that holds one."""
_LEAST = 4
"""Characters of a credential; a shorter one could be any word."""

_RANDOM = re.compile(r"[A-Za-z0-9+/_.~!$%^&*=-]{6,}")
_WORD = r"[A-Za-z0-9+/_.~!$%^&*=:@#?-]"
_UNQUOTED = (
    re.compile(rf"(?P<before>(?<![\w-]){_OPTION}=)(?P<value>{_WORD}{{4,}})", re.IGNORECASE),
    re.compile(
        rf"""(?P<before>(?:^|[\s;&"'`])(?-i:[A-Z0-9_]*)(?={_NAME}=)(?-i:[A-Z0-9_]+)=)
        (?P<value>[^\s"'$<{{(\[),;&|`]{{4,}}) (?=[\s;&|"'`\\]|$)""",
        re.IGNORECASE | re.MULTILINE | re.VERBOSE,
    ),
    re.compile(rf"(?P<before>\bexport[ ]+\w*?{_NAME}=)(?P<value>{_WORD}{{4,}})", re.IGNORECASE),
    re.compile(
        rf"(?P<before>^[ ]*(?:ENV|ARG|setenv|set[ ]+-gx)[ ]+\w*?{_NAME}[ ]+)(?P<value>{_WORD}{{4,}})",
        re.IGNORECASE | re.MULTILINE,
    ),
    re.compile(r"(?P<before>\b(?:machine|login)\s+\S+\s+(?:account\s+\S+\s+)?password\s+)(?P<value>\S+)"),
    re.compile(
        r"""(?P<before>(?:^|[\s:])_(?:authToken|password|auth)\s*=\s*)(?P<value>[^\s"'=][^\s"']{3,})""", re.MULTILINE
    ),
    re.compile(
        r"""(?P<before>[;"'](?:Password|Pwd|AccountKey|SharedAccessKey|SharedAccessSignature)=)
        (?P<value>[^;"'\s]{4,})(?=[;"'])""",
        re.IGNORECASE | re.VERBOSE,
    ),
    re.compile(
        rf"""(?P<before>[?&](?:[\w-]*?{_NAME}|token|sig|signature|X-Amz-\w+)=)(?P<value>[^&\s"'#<>]{{4,}})""",
        re.IGNORECASE,
    ),
    re.compile(
        rf"""(?P<before>["'])(?P<value>[^"'\n]{{4,80}})(?=["']\s*[=!]=\s*[\w.]{{0,80}}?{_NAME}\b)""", re.IGNORECASE
    ),
)
"""Values that no name and quote stand before: of options, environments, `.netrc`, `.npmrc`, connection strings,
queries of URLs, and what a name is compared with."""
_MIXED = (
    re.compile(rf"(?P<before>--[a-z-]*(?:key|token|secret|password)[ =])(?P<value>{_WORD}{{6,}})"),
    re.compile(rf"(?P<before>\b(?:Bearer|Basic) )(?P<value>{_WORD}{{6,}})"),
    re.compile(rf"(?P<before>\b[A-Z0-9_]*(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD)=)(?P<value>{_WORD}{{8,}})"),
    re.compile(
        rf"(?P<before>^[ ]*(?:[\w.-]*[_.-])?{_NAME}[ ]*[:=][ ]*)(?P<value>{_WORD}{{6,}})$",
        re.IGNORECASE | re.MULTILINE,
    ),
)
"""The same where only the value tells: what mixes letters and digits is no word."""
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
    text = _KEY_LINE.sub(lambda found: _value_hidden(found, _is_key_line), text)
    text = _URL.sub(_user_hidden, text)
    text = _SERVICE.sub(HIDDEN, text)
    if not _SPEAKS.search(text):
        return text
    text = _literals_hidden(text, _BEFORE, _tells)
    text = _literals_hidden(text, _BEFORE_WEAK, _mixed)
    for form in _UNQUOTED:
        text = form.sub(lambda found: _value_hidden(found, _tells), text)
    for form in _MIXED:
        text = form.sub(lambda found: _value_hidden(found, _mixed), text)
    return text


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


def _value_hidden(found: re.Match[str], worth: Callable[[str], bool]) -> str:
    return f"{found['before']}{HIDDEN}" if worth(found["value"]) else found[0]


def _literals_hidden(text: str, before: re.Pattern[str], worth: Callable[[str], bool]) -> str:
    """A text without the string literals that follow what `before` finds, as far as they are worth hiding."""
    kept: list[str] = []
    done = 0
    closing: frozenset[int] | None = None
    for found in before.finditer(text):
        if _literal_at(text, found.end()) is None:
            continue
        closing = _closing_quotes(text) if closing is None else closing
        told = found.groupdict()
        if found.end() in closing:  # as the second quote of `input("Password: ")`
            continue
        for start, end in _literals(text, found.end(), many=bool(told.get("many") or told.get("pair"))):
            if start >= done and worth(text[start:end]):
                kept += [text[done:start], HIDDEN]
                done = end
    return "".join([*kept, text[done:]])


def _literal_at(text: str, place: int) -> re.Match[str] | None:
    return _LONG.match(text, place) or _SHORT.match(text, place)


def _literals(text: str, place: int, *, many: bool) -> Iterator[tuple[int, int]]:
    """Where the values of literals lie that follow one another from a place on, with commas between them if `many`."""
    between = _NEXT_OF_MANY if many else _NEXT
    while literal := _literal_at(text, place):
        start, end = literal.span("value")
        after = between.match(text, end + len(literal["quote"]))
        if after is None:
            return
        if not (many and ":" in after[0]):  # the key of a value
            yield start, end
        place = after.end()


def _closing_quotes(text: str) -> frozenset[int]:
    """Where literals end, read from the left; one that does not end in its line is a mark of punctuation."""
    found: set[int] = set()
    place = 0
    while (mark := _QUOTE.search(text, place)) is not None:
        literal = _literal_at(text, mark.start())
        if literal is None or not text.startswith(literal["quote"], literal.end()):
            place = mark.end()
            continue
        found.add(literal.end())
        place = literal.end() + len(literal["quote"])
    return frozenset(found)


def _tells(value: str) -> bool:
    """Whether a value of a name that stands for a credential is one."""
    return len(value) >= _LEAST and not _PLAIN.fullmatch(value) and not _VARIABLE.fullmatch(value)


def _mixed(value: str) -> bool:
    """Whether a value mixes letters and digits, as words that name something rarely do."""
    return bool(_RANDOM.fullmatch(value)) and any(map(str.isdigit, value)) and any(map(str.isalpha, value))


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
