"""Signs of a C++ function that its text can give: never fewer than the grammar's, often more.

Each pattern below matches wherever the walk over the syntax tree (`cuda_outline`) would set its feature; where only the
grammar could tell (is `a * b` a product or a pointer, does a loop's name feed its own address), the text says yes.
"""

import re
from collections.abc import Sequence

from recon.index.records import Feature
from recon.index.signs import CUDA_CALLS

_WORDS = bytes(byte if chr(byte).isalnum() or byte == 95 or byte > 127 else 32 for byte in range(256))
"""Lays a space over all that is no part of a word."""
_LOOPS = (b"for", b"while", b"do")
_CALLS = {name.encode(): bits for name, bits in CUDA_CALLS.items()}
_TOLD = frozenset({*_CALLS, *_LOOPS})
_CONSTANT = rb"[-+]?\s*(?:\d[\w.']*|nullptr\b|NULL\b|true\b|false\b)"
_EQUAL = re.compile(rb"[=!]=(?!\s*(?:" + _CONSTANT + rb")?\s*(?:[;)?,:}\]|&]|$))")
"""Not where the right side is a constant; a string is blank here."""
_ORDER = re.compile(rb"(?<![-<])[<>](?![<>])|[<>]{2}[<>=]|(?<=>)>(?!=)")
_DIVIDE = re.compile(rb"/(?!=)(?!\s*(?:\d|true\b|false\b))|/=(?!\s*" + _CONSTANT + rb"\s*[;)])")
_INDEX = re.compile(rb"\[")
_STAR = re.compile(rb"(?<![\w\s\]])\*|(?<=[^\w\s\]])\s++\*|\b(?:return|else|do|case|throw|and|or|not)\s++\*")
"""What may read or write through a pointer: behind an operand a star multiplies."""
_BEHIND_STAR = re.compile(rb"[^;]*?(?:(?<![=!<>])=(?!=)|<<=|>>=)")
_STORE = re.compile(rb"\]\s*+(?:[-+*/%&|^]|<<|>>)?=(?!=)")
_BIT = re.compile(rb"\]\s*>>[^;{}]*&\s*1[uUlL]*\b")
_ENDS = re.compile(
    rb"!=\s*-\s*1|>\s*-\s*1|>=\s*0|!=\s*(?:nullptr|NULL)|\bwhile\b|\bdo\b"
    rb"|(?:;|&&|\|\|)[\s(]*+(?!break\b|return\b|continue\b)\w++[\s)]*+(?:;|&&|\|\|)"
)
# Flags are ten times as slow to combine as numbers.
_CUDA, _LOOP, _NESTED, _CHASE = map(int, (Feature.CUDA, Feature.LOOP, Feature.NESTED_LOOP, Feature.CHASE))
_EQ, _LESS, _BY, _LOOKUP = map(int, (Feature.COMPARE_EQ, Feature.COMPARE_ORDER, Feature.DIVIDE, Feature.BIT))
_OF_MEMORY = int(Feature.INDEX_BY_INDEX | Feature.STORE | Feature.CHASE)
_KEYED, _WRITE, _LOAD, _WHERE = map(int, (Feature.INDEX_BY_INDEX, Feature.STORE, Feature.LOAD, Feature.WHERE))


def may_have(code: bytes, asked: Sequence[int]) -> bool:
    """Whether the text of a function, comments and strings left out, may have all features of a combination."""
    bits = _of_words(code)
    most = bits | _OF_MEMORY  # what takes longest to find is sought where it can still decide
    left = [mask for mask in asked if most & mask == mask]
    if not left or any(bits & mask == mask for mask in left):
        return bool(left)
    bits |= _of_memory(code, bits)
    return any(bits & mask == mask for mask in left)


def signs_of(code: bytes) -> int:
    """The features that the text of a function, comments and strings left out, may have.

    >>> Feature.COMPARE_EQ in Feature(signs_of(b"{ for (;;) out[i] = a == b; }"))
    True
    """
    bits = _of_words(code)
    return bits | _of_memory(code, bits)


def _of_words(code: bytes) -> int:
    """What words and operators say."""
    bits = _CUDA
    words = code.translate(_WORDS).split()
    told = _TOLD.intersection(words)
    for word in told:
        bits |= _CALLS.get(word, 0)
    if not told.isdisjoint(_LOOPS):
        bits |= _LOOP | (_NESTED if sum(map(words.count, _LOOPS)) > 1 else 0)
    if b"?" in code:
        bits |= _WHERE
    if (b"==" in code or b"!=" in code) and _EQUAL.search(code):
        bits |= _EQ
    if (b"<" in code or b">" in code) and _ORDER.search(code):
        bits |= _LESS
    if b"/" in code and _DIVIDE.search(code):
        bits |= _BY
    if b">>" in code and b"&" in code and _BIT.search(code):
        bits |= _LOOKUP
    return bits


def _of_memory(code: bytes, bits: int) -> int:
    """What loads and stores say."""
    stars = [star.end() for star in _STAR.finditer(code)] if b"*" in code else []
    reads = code.count(b"[") + len(stars) + 2 * bool(bits & _LOAD)
    found = _KEYED if reads + bool(bits & _LOOP) > 1 else 0  # around a loop, one load feeds itself
    if _STORE.search(code) or any(_BEHIND_STAR.match(code, star) for star in stars):
        found |= _WRITE
    if bits & _LOOP and (reads or _ENDS.search(code)):
        found |= _CHASE
    return found
