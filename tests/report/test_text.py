"""Untrusted text is shown, never obeyed; long text is shortened where it hurts least."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recon.report.text import clipped, shortened, slug, visible


@given(st.text())
def test_nothing_that_acts_is_left(text: str) -> None:
    bad = {"Cc", "Cf", "Cs", "Zl", "Zp"}

    assert [] == [character for character in visible(text) if unicodedata.category(character) in bad]


@pytest.mark.parametrize(
    "character", ["\x00", "\x1b", "\x9b", "\r", "\n", "\x7f", "\u202e", "\u2066", "\u200b", "\ufeff"]
)
def test_a_character_that_acts_is_written_out(character: str) -> None:
    assert f"a{character.encode('unicode_escape').decode()}b" == visible(f"a{character}b")


@pytest.mark.parametrize("text", ["plain", "naïve Überraschung", "数据", "a b", "→ ●", "\U0001f600"])
def test_what_only_shows_is_left_alone(text: str) -> None:
    assert text == visible(text)


def test_lone_surrogates_are_written_out() -> None:
    assert "\\udcff" == visible("\udcff")


def test_an_excerpt_may_keep_its_lines() -> None:
    assert "a\n\tb\\x1b" == visible("a\n\tb\x1b", keep="\n\t")


NAMES = st.text("abcdefgh_数", min_size=1, max_size=30)


@given(st.lists(NAMES, min_size=1, max_size=8), st.integers(1, 10**6), st.integers(12, 120))
def test_a_shortened_place_fits_and_keeps_its_line(parts: list[str], line: int, most: int) -> None:
    short = shortened(f"{'/'.join(parts)}:{line}", most)

    assert short.endswith(f":{line}")
    assert len(short) <= most


def test_the_width_of_wide_characters_is_heeded() -> None:
    def width(text: str) -> int:
        return sum(2 if unicodedata.east_asian_width(each) in "WF" else 1 for each in text)

    short = shortened("数据/" * 20 + "文件.py:7", 20, width)

    assert width(short) <= 20
    assert short.endswith(":7")


def test_what_has_no_line_is_shortened_all_the_same() -> None:
    assert "a/…/name.py" == shortened("a/bbbbbbbbb/ccccccccc/name.py", 12)


@given(st.text(max_size=50), st.integers(1, 60))
def test_clipped_text_fits(text: str, most: int) -> None:
    assert len(clipped(text, most)) <= most


@given(st.text())
def test_a_slug_can_stand_in_a_link(text: str) -> None:
    assert set(slug(text)) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-")
