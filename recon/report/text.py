"""Untrusted text made safe to look at, and long text made short.

Paths, source lines, symbols and host names come from trees and machines that we do not control. A terminal obeys
escape sequences and both a terminal and a browser obey bidirectional overrides, so such characters are shown as what
they are instead of being sent on.
"""

import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache
from typing import TypeAlias

Width: TypeAlias = Callable[[str], int]
"""How many columns a text takes: `len`, or a terminal's measure of it."""

_LAYOUT = re.compile("[\\s\u200b-\u200f\u202a-\u202e\u2060-\u206f\u061c\ufeff\u00ad]")
_ESCAPED = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Categories that are written out: control, format, surrogate, private, unassigned, line and paragraph separators."""


def visible(text: str, keep: str = "") -> str:
    r"""The text with each character that acts instead of showing written out, e.g. `\x1b` or `\u202e`.

    Args:
        text: Anything.
        keep: Control characters to leave alone; `\n` and `\t` in an excerpt.

    >>> visible("a\x1b[31mb")
    'a\\x1b[31mb'
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(character if character in keep else _visible(character) for character in text)


@lru_cache(maxsize=4096)
def _visible(character: str) -> str:
    if character == " ":
        return character
    if unicodedata.category(character) in _ESCAPED or _LAYOUT.match(character):
        return character.encode("unicode_escape").decode("ascii")
    return character


def clipped(text: str, most: int, width: Width = len) -> str:
    """The text, cut at its end with an ellipsis when it is wider than `most`.

    >>> clipped("abcdef", 4)
    'abc…'
    """
    if width(text) <= most:
        return text
    while text and width(text) > most - 1:
        text = text[: most - 1] if len(text) > most else text[:-1]
    return f"{text}…"


def shortened(place: str, most: int, width: Width = len) -> str:
    """A place, `path:line`, with the middle of its path left out; never the line, and the file's name last.

    >>> shortened("vllm/v1/spec_decode/llm_base_proposer.py:1010", 34)
    'vllm/…/llm_base_proposer.py:1010'
    >>> shortened("vllm/v1/sample/rejection_sampler.py:695", 36)
    'vllm/v1/…/rejection_sampler.py:695'
    """
    if width(place) <= most:
        return place
    path, colon, line = place.rpartition(":")
    if not (colon and line.isdigit()):
        path, colon, line = place, "", ""
    *folders, name = path.split("/")
    tail = f"{name}{colon}{line}"
    for kept in range(len(folders) - 1, 0, -1):
        short = "/".join((*folders[:kept], "…", tail))
        if width(short) <= most:
            return short
    short = f"…/{tail}" if folders else tail
    while width(short) > most and name:
        name = name[1:]
        short = f"…{name}{colon}{line}"
    return short


def slug(text: str) -> str:
    """Letters, digits, dots, dashes and underscores of a text; the rest becomes a dash. For names in links.

    >>> slug("vllm 0.20.1/<b>")
    'vllm-0.20.1-b-'
    """
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text)
