"""Markdown of runs in which every text is an attack: nothing of it is a mark, a link, a mention or a row."""

from dataclasses import fields, is_dataclass, replace
from enum import Enum
from typing import TypeVar, cast

import pytest

from recon.report import markdown
from recon.report.issue import issue
from tests.report.hand import probe, scan
from tests.report.test_files import flat, parsed
from tests.report.views import view_of

_Value = TypeVar("_Value")
MARKS = {"html_inline", "html_block", "image", "link_open"}
ATTACKS = (
    "a|b <img src=x> | c",
    "|`<img src=x>`|",
    "``|`<b>x</b> [x](http://evil.example)",
    "[x](http://evil.example)|![x](http://evil.example)",
    "\\|<img src=x>\\\\|<b>",
    "`@somebody <b>|",
    "<!-- | -->",
)


def attacked(value: _Value, attack: str) -> _Value:
    """A record with an attack at the end of every text."""
    if isinstance(value, str):
        return cast("_Value", value + attack)
    if isinstance(value, tuple):
        return cast("_Value", tuple(attacked(each, attack) for each in value))
    if isinstance(value, dict):
        return cast("_Value", {attacked(key, attack): attacked(each, attack) for key, each in value.items()})
    if is_dataclass(value) and not isinstance(value, (type, Enum)):
        made = {each.name: attacked(getattr(value, each.name), attack) for each in fields(value)}
        return cast("_Value", replace(value, **made))
    return value


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("made", [scan, probe])
def test_no_text_of_a_run_acts_in_markdown(made: object, attack: str) -> None:
    run = attacked(made(), attack)  # type: ignore[operator]
    view = view_of(run)
    for text in (markdown.render(view), issue(view), issue(view, ["*"])):
        tokens = flat(parsed(text))

        assert [] == [each.content for each in tokens if each.type in MARKS]
        assert [] == [each.content for each in tokens if each.type == "text" and "@somebody" in each.content]
