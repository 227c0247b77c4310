"""Numbers in what strangers say."""

DIGITS = 18
"""Of a number that fits 64 bits whatever its digits are."""


def number(text: str | bytes, digits: int = DIGITS) -> int | None:
    """A number in decimal digits and nothing else; None where it is none, or longer than any honest one.

    `int` takes other alphabets and signs, and raises for more than some thousand digits.

    >>> number("81559"), number("9" * 5000), number("²"), number("")
    (81559, None, None, None)
    """
    return int(text) if text.isascii() and text.isdigit() and len(text) <= digits else None
