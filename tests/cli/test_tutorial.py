"""`docs/tutorial.md`: its commands are taken as they stand, and what it shows is what they print."""

import re
import shlex
from pathlib import Path

import pytest
import typer

from tests.cli.conftest import Recon
from tests.test_docs import command_line, commands, shell_lines

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "tutorial.md"
LEFT_OUT = "[...]"
SAMPLE = ROOT / "reports" / "sample" / "releases.json"
COLUMNS = 98
"""Of the screen that the page shows."""
LINES = shell_lines(PAGE)


def parsed(line: str) -> str:
    """What is wrong with a line of `recon`, as its own parser says; empty if nothing is. Nothing is run."""
    known = dict(commands(command_line()))
    words = shlex.split(line)[1:]
    name = max((name for name in known if f"{' '.join(words)} ".startswith(f"{name} ")), key=len, default="")
    if not name:
        return f"no such command: {line}"
    try:
        known[name].make_context(name, words[len(name.split()) :])
    except typer._click.exceptions.ClickException as error:
        return error.format_message()
    return ""


@pytest.mark.parametrize("line", LINES)
def test_each_command_of_the_tutorial_is_understood(line: str) -> None:
    """Its command and options exist, their values are of their kinds, and no argument is missing."""
    assert "" == parsed(line)


@pytest.mark.parametrize(
    "line",
    ["recon scna", "recon diff one", "recon estimate --batch", "recon estimate --linear-tau x", "recon gap --no"],
)
def test_a_command_that_is_not_understood_would_be_noticed(line: str) -> None:
    assert parsed(line)


def shown_below(start: str) -> list[str]:
    """The first block of output below the block of commands in which a line begins so; what is left out is left out."""
    for commands_of, output in re.findall(
        r"```sh\n((?:(?!```).)*)```\n\n```text\n(.*?)```", PAGE.read_text(), re.DOTALL
    ):
        if any(line.startswith(start) for line in commands_of.splitlines()):
            return [line for line in output.splitlines() if line != LEFT_OUT]
    raise AssertionError(f"no output is shown below {start}")


@pytest.mark.parametrize(
    ("start", "option"),
    [
        ("recon show accept.tree.greedy", "--run"),
        ("recon gap --feature ddtree --install vllm", "--run"),
        ("recon gap --feature ddtree --install sglang", "--run"),
        ("recon report --require accept.tree.greedy", "--scan"),
    ],
)
def test_what_the_tutorial_shows_of_the_sample_is_what_is_printed(
    start: str, option: str, recon_command: Recon, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(COLUMNS))
    (line,) = [line for line in LINES if line.startswith(start)]
    ended = recon_command("--color", "always", *shlex.split(line)[1:], option, str(SAMPLE))
    printed = re.sub(r"\x1b(?:\[[0-9;]*m|\]8;[^\x1b]*\x1b\\)", "", ended.out).splitlines()
    shown = shown_below(start)

    assert shown
    assert [] == [each for each in shown if not any(one.startswith(each.removesuffix(LEFT_OUT)) for one in printed)]
