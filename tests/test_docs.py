"""The documentation, held against the code: commands that exist, words that are used, links that lead somewhere."""

import ast
import doctest
import importlib
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
import typer

from recon.errors import Exit

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "recon"
DECISIONS = sorted((ROOT / "docs" / "decisions").glob("*.md"))
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "reports").glob("**/README.md")])
WITH_SHELL = [page for page in PAGES if "```sh\n" in page.read_text()]
# Names that are seen in examples of what a user types, not in this repository.
BUILT_ELSEWHERE = {"pip", "python", "cd", "git", "python3"}


def names_of(pages: list[Path]) -> list[str]:
    """Short names for the parameters of a test."""
    return [str(page.relative_to(ROOT)) for page in pages]


# Decisions


@pytest.mark.parametrize("page", DECISIONS, ids=names_of(DECISIONS))
def test_a_decision_has_context_decision_and_consequences(page: Path) -> None:
    """In that order, below a title with its number, and nothing else at that level."""
    text = page.read_text()
    number = page.name.partition("-")[0]

    assert text.startswith(f"# {number} ")
    assert ["Context", "Decision", "Consequences"] == re.findall(r"^## (.+)$", text, re.MULTILINE)


def test_decisions_are_numbered_without_gaps() -> None:
    """A gap would be a page that somebody looks for."""
    numbers = [int(page.name.partition("-")[0]) for page in DECISIONS]

    assert list(range(1, len(DECISIONS) + 1)) == numbers


def test_every_decision_is_listed_on_the_architecture_page() -> None:
    """With its own title."""
    listed = set(
        re.findall(r"^- \[(\d{4} .+)\]\(decisions/", (ROOT / "docs/architecture.md").read_text(), re.MULTILINE)
    )
    titles = {page.read_text().splitlines()[0].removeprefix("# ") for page in DECISIONS}

    assert titles == listed


# Words


def spaced(text: str) -> str:
    """Identifiers as words: `CallPath` and `call_path` become `call path`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", text).replace("_", " ").replace("-", " ").lower()


def glossary() -> list[str]:
    """The terms of the glossary, in its order."""
    return re.findall(r"^\| ([a-z][a-z ]*) \| (?!Means)", (ROOT / "docs" / "glossary.md").read_text(), re.MULTILINE)


def records() -> Iterator[str]:
    """Names of the public records and enums, as words."""
    for path in sorted((PACKAGE / "records").glob("*.py")):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                yield spaced(node.name)


def test_every_term_of_the_glossary_is_used_in_the_code() -> None:
    """A word that the code does not use explains nothing."""
    code = spaced("\n".join(path.read_text() for path in PACKAGE.rglob("*.py")))
    unused = [term for term in glossary() if not re.search(rf"\b{term}s?\b", code)]

    assert [] == unused


def test_every_record_is_in_the_glossary() -> None:
    """The records are the nouns of the program."""
    missing = sorted(set(records()) - set(glossary()))

    assert [] == missing


def test_no_term_is_explained_twice() -> None:
    """One word, one thing."""
    terms = glossary()

    assert sorted(set(terms)) == sorted(terms)


# Links, paths and variables


@pytest.mark.parametrize("page", PAGES, ids=names_of(PAGES))
def test_links_lead_somewhere(page: Path) -> None:
    """Relative ones: to a file, and to a heading of it where they name one."""
    broken = []
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, heading = target.partition("#")
        there = (page.parent / name) if name else page
        if not there.exists() or (heading and heading not in headings(there)):
            broken.append(target)

    assert [] == broken


def headings(page: Path) -> set[str]:
    """Headings of a page as the anchors that hosts of Markdown make of them."""
    titles = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=names_of(PAGES))
def test_files_that_a_page_names_exist(page: Path) -> None:
    """Paths of the repository in backticks; a `<placeholder>` names no file."""
    named = re.findall(r"`((?:recon|tests|tools|docs|reports)/[\w./-]*)`", page.read_text())

    assert [] == [path for path in named if not (ROOT / path).exists()]


def test_the_architecture_page_names_every_package() -> None:
    """A package that is not in the picture is not in the architecture."""
    page = (ROOT / "docs" / "architecture.md").read_text()
    packages = [path.parent.name for path in PACKAGE.glob("*/__init__.py")]

    assert [] == [name for name in packages if not re.search(rf"\b{name}\b", page)]


def test_every_environment_variable_is_documented() -> None:
    """A switch that nobody can find is a surprise for somebody."""
    used = {name for path in PACKAGE.rglob("*.py") for name in re.findall(r"\bRECON_[A-Z_]+\b", path.read_text())}
    page = (ROOT / "docs" / "using.md").read_text()

    assert set() == {name for name in used if f"`{name}`" not in page}


# Commands


def command_line() -> Any:
    """The command `recon`, as typer builds it."""
    app = importlib.import_module("recon.cli.app").app
    return typer.main.get_command(cast("typer.Typer", app))


def commands(group: Any, before: str = "") -> Iterator[tuple[str, Any]]:
    """Every visible command with its full name, those of groups included."""
    for name, command in group.commands.items():
        if command.hidden:
            continue
        yield f"{before}{name}", command
        if hasattr(command, "commands"):
            yield from commands(command, f"{before}{name} ")


def options(command: Any) -> set[str]:
    """The options of a command, as they are typed."""
    return {"--help", *(word for param in command.params for word in (*param.opts, *param.secondary_opts))}


def shell_lines(page: Path) -> list[str]:
    """Lines of the fenced blocks marked `sh` that hold a command, without comments and prompts."""
    blocks = re.findall(r"^```sh\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)
    lines = [shlex.split(line, comments=True) for block in blocks for line in block.splitlines()]
    return [shlex.join(words) for words in lines if words]


def wrong_with(line: str, known: dict[str, Any], targets: set[str]) -> str:
    """What does not exist of that which a line names; empty if all of it does."""
    program, *words = shlex.split(line)
    if program == "make":
        unknown = [word for word in words if "=" not in word and word not in targets]
        return f"make {unknown}" if unknown else ""
    if program != "recon":
        return "" if program in BUILT_ELSEWHERE else program
    name = max((name for name in known if f"{' '.join(words)} ".startswith(f"{name} ")), key=len, default="")
    given = {word.partition("=")[0] for word in words if word.startswith("-")}
    if not name:
        return "" if words[:1] and words[0].startswith("-") else f"recon {words[:1]}"
    return f"{name}: {sorted(given - options(known[name]))}" if given - options(known[name]) else ""


@pytest.mark.parametrize("page", WITH_SHELL, ids=names_of(WITH_SHELL))
def test_commands_in_shell_blocks_exist(page: Path) -> None:
    """Each program, target, command and option that a reader would paste."""
    known = dict(commands(command_line()))
    targets = set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    wrong = [said for line in shell_lines(page) if (said := wrong_with(line, known, targets))]

    assert [] == wrong


def test_a_command_that_does_not_exist_would_be_noticed() -> None:
    """And so would an option, a target and a program."""
    known = dict(commands(command_line()))
    lines = ["recon scna", "recon scan --no-such-option", "make no-such-target", "no-such-program"]

    assert [] == [line for line in lines if not wrong_with(line, known, {"check"})]


def test_exit_codes_are_told_alike() -> None:
    """In the two tables, and by `recon --help` as far as a line goes."""
    tables = [
        re.findall(r"^\| (\d+) \| (.*) \|$", (ROOT / page).read_text(), re.MULTILINE)
        for page in ("README.md", "docs/using.md")
    ]
    help_text = " ".join(str(command_line().help).split())

    assert tables[0] == tables[1]
    assert [str(int(code)) for code in Exit] == [code for code, _ in tables[0]]
    assert [] == [code for code, words in tables[0] if f"{code} {re.split('[;:,]', words)[0]}" not in help_text]


def test_every_command_is_documented() -> None:
    """By its full name, on the page about using recon."""
    page = (ROOT / "docs" / "using.md").read_text()
    undocumented = [name for name, _ in commands(command_line()) if not re.search(rf"\brecon {name}\b", page)]

    assert [] == undocumented


def test_every_command_and_option_has_a_help_text() -> None:
    """`--help` is the first page that anybody reads."""
    silent = []
    for name, command in commands(command_line()):
        silent += [name] if not command.help else []
        silent += [f"{name} {param.name}" for param in command.params if not getattr(param, "help", "there")]

    assert [] == silent


# Examples in docstrings

WITH_EXAMPLES = sorted(
    ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for path in PACKAGE.rglob("*.py")
    if ">>> " in path.read_text() and "kernels" not in path.relative_to(PACKAGE).parts
)


@pytest.mark.parametrize("module", WITH_EXAMPLES)
def test_examples_in_docstrings_run(module: str) -> None:
    """As they are written."""
    tried = doctest.testmod(importlib.import_module(module))

    assert (0, True) == (tried.failed, tried.attempted > 0)
