"""Colours of source: those of Pygments, though words without a colour are taken together."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pygments.lexers.python import PythonLexer

from recon.report.coloured import _CLASSES, CLOSE, OPEN, coloured
from recon.report.text import visible

ROOT = Path(__file__).resolve().parents[2]
_PIECE = re.compile(f"{OPEN}(.)([^{CLOSE}]*){CLOSE}|([^{OPEN}])", re.DOTALL)
PIECES = (
    *"\"'{}()[]@#\\.:;,=-!?$é²rbf_ x5",
    *('"""', "'''", "\n", "\n  ", "  ", "f'", 'rb"', "f'''", "__init__", "x__", "0x1F", "1_0.", "1e5", ".5", "..."),
    *("def ", "class ", "from ", "import ", "as ", "if", "in", "iffy", "lambda", "yield from", "await", "None", "self"),
    *("match ", "case ", "type ", "print", "%s", "{x!r:>{w}}", "async for", "\\\n", "@a.b", "len", "del_"),
)


def by_character(marked: str) -> list[tuple[str, str]]:
    """Each character with the letter of its colour."""
    found = [(style, part or plain) for style, part, plain in _PIECE.findall(marked)]
    return [(style if letter != "\n" else "", letter) for style, text in found for letter in text]


def expected(source: str) -> list[tuple[str, str]]:
    """What Pygments says, token by token."""
    return [
        (next((style for kind, style in _CLASSES if token in kind), "") if letter != "\n" else "", letter)
        for token, text in PythonLexer(stripnl=False, ensurenl=False).get_tokens(source)
        for letter in text
    ]


def windows() -> list[str]:
    """Six lines of our own source at a time, cut anywhere."""
    made = []
    for path in sorted((ROOT / "recon").rglob("*.py")):
        lines = [visible(line) for line in path.read_text().split("\n")]
        made += ["\n".join(lines[at : at + 6]) for at in range(len(path.name), len(lines), 97)]
    return made


def test_source_has_the_colours_of_pygments() -> None:
    some = windows()

    assert len(some) > 300
    assert [expected(each) for each in some] == [by_character(coloured("a.py", each.split("\n"))) for each in some]


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_any_text_has_the_colours_of_pygments(text: str) -> None:
    assert expected(text) == by_character(coloured("a.py", text.split("\n")))


@pytest.mark.parametrize(
    ("source", "made"), [("f('a')", "f(~s'a'^)"), ("# a\n# b", "~c# a^\n~c# b^"), ("x\n\ny", "x\n\ny")]
)
def test_what_has_one_colour_is_one_piece_on_each_line(source: str, made: str) -> None:
    assert made.replace("~", OPEN).replace("^", CLOSE) == coloured("a.py", source.split("\n"))
