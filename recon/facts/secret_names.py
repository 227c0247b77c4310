"""Credentials that are told by the name before them, in code, configuration, options and queries.

Names are of two kinds. What is called a password, a secret or an API key is one, whatever its value looks like. What is
called a token mostly belongs to a language model: it counts where the value mixes letters and digits.
"""

import re
from collections.abc import Callable, Iterator

from recon.facts.secrets import HIDDEN

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


def named_hidden(text: str) -> str:
    """A text without the values of what is named as a credential."""
    text = _literals_hidden(text, _BEFORE, _tells)
    text = _literals_hidden(text, _BEFORE_WEAK, _mixed)
    for form in _UNQUOTED:
        text = form.sub(lambda found: _value_hidden(found, _tells), text)
    for form in _MIXED:
        text = form.sub(lambda found: _value_hidden(found, _mixed), text)
    return text


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
