"""`docs/tutorial.md`: its commands are taken as they stand, and what it shows is what they print."""

import os
import re
import shlex
from difflib import get_close_matches
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


def output_below(start: str) -> str:
    """The first block of output below the block of commands in which a line begins so."""
    for commands_of, output in re.findall(
        r"```sh\n((?:(?!```).)*)```\n\n```text\n(.*?)```", PAGE.read_text(), re.DOTALL
    ):
        if any(line.startswith(start) for line in commands_of.splitlines()):
            return str(output)
    raise AssertionError(f"no output is shown below {start}")


def shown_below(start: str) -> list[str]:
    """Its lines; what is left out is left out."""
    return [line for line in output_below(start).splitlines() if line != LEFT_OUT]


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


COUNTED = "recon estimate --metrics metrics.txt --family dflash"
WEIGHED = f"{COUNTED} --budget 16 --model Qwen3.6-27B --gpu H200 --batch 8"
OF_SAMPLE = ("--scan", str(SAMPLE))
ESTIMATES = [(COUNTED, ()), (WEIGHED, OF_SAMPLE), (f"{WEIGHED} --linear-ms 30 --tree-ms 33", OF_SAMPLE)]


def rewritten(start: str, printed: list[str]) -> None:
    """The page with each line of a block as it is printed now: the one that is most like it."""
    output = output_below(start)
    lines = [
        line if line == LEFT_OUT else next(iter(get_close_matches(line, printed, 1, 0.3)), line)
        for line in output.splitlines()
    ]
    PAGE.write_text(
        PAGE.read_text().replace(f"```text\n{output}```", "```text\n" + "".join(f"{line}\n" for line in lines) + "```")
    )


@pytest.mark.parametrize(("line", "options"), ESTIMATES)
def test_what_the_tutorial_shows_of_estimates_is_what_they_print(
    line: str, options: tuple[str, ...], recon_command: Recon, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the counts that the page shows, without a probe: no time that was measured has a part in it.

    RECON_REWRITE=1 writes the page anew, to be looked at before it is committed.
    """
    (counts,) = re.findall(r"```text\n(vllm:spec_decode.*?)```", PAGE.read_text(), re.DOTALL)
    (tmp_path / "metrics.txt").write_text(counts)
    monkeypatch.chdir(tmp_path)
    printed = recon_command(*shlex.split(line)[1:], *options).out.splitlines()
    if options == ():
        printed += recon_command("trace", "check", "metrics.txt").out.splitlines()
    if os.environ.get("RECON_REWRITE"):
        rewritten(line, printed)
    shown = shown_below(line)

    assert line in [each.partition("  #")[0].strip() for each in LINES]
    assert shown
    assert [] == [each for each in shown if each not in printed]


def test_every_estimate_of_the_tutorial_is_tried() -> None:
    """Of those that something is shown of."""
    shown = [line for line in LINES if line.startswith("recon estimate")]

    assert shown == [line for line, _ in ESTIMATES]
