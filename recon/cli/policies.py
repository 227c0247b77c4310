"""`--fail-on` and `--require`: demands of a run, told line by line on standard error, and what they make of its exit.

They change nothing of what is shown.
"""

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from recon.cli.hosts import refuse_idle
from recon.cli.session import Session, write
from recon.errors import Exit

if TYPE_CHECKING:
    from recon.records.install import Install
    from recon.records.run import Run
    from recon.records.verdict import Standing
    from recon.report.view import View
    from recon.verdicts.own_words import Said
    from recon.verdicts.policies import Rule

FailOn: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--fail-on",
        metavar="STANDING[:CAPABILITY]",
        help="Exit with 1 where an engine has such an answer, e.g. absent,unknown:accept.tree.*; repeatable.",
    ),
]
Require: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--require",
        metavar="[STANDING:]CAPABILITY",
        help="Exit with 1 where an engine's answer is not present, or not as said before the colon, e.g."
        " accept.tree.greedy, present,partial:attn.*, wired:accept.*; repeatable.",
    ),
]


@dataclass(frozen=True, slots=True)
class Demands:
    """What is demanded of a run, and what the user says of its verdicts."""

    rules: "tuple[Rule, ...]"
    words: "tuple[Said, ...]"


Show: TypeAlias = Annotated[
    str,
    typer.Option(
        "--show",
        metavar="STANDING[,STANDING]",
        help="List these answers alone, e.g. absent,unknown; counts, files and policies are about all.",
    ),
]


def narrowed_to(session: Session, view: "View", show: str) -> "View":
    """The view with the standings alone that --show names, where it was typed; how much is left out is said.

    Raises:
        Usage: a word names no standing.
    """
    if not show:
        return view
    from recon.report.view import narrowed

    made = narrowed(view, shown_standings(show))
    session.note(f"--show {show}: {len(made.findings):,} of {len(view.findings):,} answers are listed")
    return made


def refuse_show(context: typer.Context, *, as_json: bool) -> None:
    """Refuse --show beside --json.

    Raises:
        Usage: both were typed.
    """
    if as_json:
        refuse_idle(context, ("show",), "has nothing to list with --json: that holds the whole run", "Leave one out.")


def shown_standings(show: str) -> "frozenset[Standing]":
    """The standings that --show names; none where it was not typed.

    Raises:
        Usage: a word names no standing.
    """
    from recon.verdicts.policies import standings_of

    return standings_of(show, "--show") if show else frozenset()


def demands_of(
    session: Session, fail_on: Sequence[str] | None, require: Sequence[str] | None, trees: Iterable[Path] = ()
) -> Demands:
    """The demands that were typed, else those that are configured, and the user's words on verdicts.

    Args:
        session: What stands before the command.
        fail_on: As typed; None where it was not.
        require: Likewise.
        trees: Folders that are judged: no configuration is taken from one of them, and that is said.

    Raises:
        Usage: a demand is none, or a file holds no configuration.
        NotFound: there is no such file of configuration.
        Unreadable: it cannot be read.
    """
    from recon.cli.configuration import configured
    from recon.verdicts.policies import FAIL_ON, REQUIRE, rule_of

    found = configured(session.config, trees)
    if found.passed_over:
        session.note(f"{found.passed_over} lies in a tree that is judged, and is not read; --config names it anyway")
    rules: list[Rule] = []
    for kind, typed in ((FAIL_ON, fail_on), (REQUIRE, require)):
        setting = found.of(f"policy.{kind}")
        configured_words = setting.value if isinstance(setting.value, tuple) else ()
        rules += [rule_of(kind, words) for words in typed or ()]
        rules += [rule_of(kind, words, f"{kind} in {setting.origin}:") for words in configured_words if typed is None]
    return Demands(tuple(rules), found.words)


def trees_of(run: "Run") -> tuple[Path, ...]:
    """Folders that a run judged, as far as it tells."""
    from recon.facts.names import PACKAGE_OF

    trees = []
    for each in run.installs:
        if each.location.startswith("/"):
            whole = each.provenance.kind != "wheel"  # which lies beside the packages of others
            trees.append(Path(each.location) if whole else Path(each.location, PACKAGE_OF.get(each.engine, "")))
    return tuple(trees)


def refuse_unknown(rules: "Sequence[Rule]", run: "Run | None" = None) -> None:
    """Refuse demands about nothing, before the work where no run is given.

    A run in which no tree was judged knows no capabilities; a demand of it is not judged, and no error.

    Raises:
        NotFound: one names no capability.
    """
    if not rules:
        return
    from recon import pipeline
    from recon.verdicts.policies import refuse_unknown as refuse

    refuse(rules, [each.id for each in ((run.capabilities if run else ()) or pipeline.capabilities())])


def judged(run: "Run", demands: Demands) -> "Run":
    """The run with the user's words, and with where it falls short of the demands, in place of earlier failures."""
    from recon.verdicts.own_words import with_words
    from recon.verdicts.policies import failures_of

    run = with_words(run, demands.words)
    return replace(run, failures=failures_of(run, demands.rules, _label()))


def say_failures(session: Session, run: "Run", demands: Demands, *, seen: bool) -> None:
    """Say on standard error where the run falls short, quiet or not, and what is met by the user's word alone.

    Args:
        session: What the command was told.
        run: With its failures.
        demands: What it was held against.
        seen: Whether a screen was printed, which tells the failures itself.
    """
    from recon.report.text import visible
    from recon.verdicts.own_words import idle
    from recon.verdicts.policies import asked, held_by_word

    for failure in () if seen else run.failures:
        write(sys.stderr, visible(f"policy failed: {failure.message}") + "\n")
    for sentence in held_by_word(run, demands.rules, _label()):
        session.note(f"policy held by your word: {sentence}")
    for each in idle(run, demands.words):
        session.note(f"your word on {each.capability} in {each.word.origin} is about nothing in this run")
    if demands.rules and not asked(run):
        write(sys.stderr, "policy not judged: no engine is in this run\n")


def exit_with(run: "Run", rules: "Sequence[Rule]", code: Exit) -> Exit:
    """The exit code of a command whose policies were judged.

    A demand that is not met stands, whatever else is missing; one that is met says nothing of what was not read, so
    what is incomplete stays so. A fault of recon comes before both, since it may have made the failure.

    Args:
        run: With its failures.
        rules: The demands.
        code: What the command ends with but for them.
    """
    from recon.verdicts.policies import asked

    if run.failures and code is not Exit.INTERNAL:
        return Exit.POLICY
    return Exit.INCOMPLETE if code is Exit.OK and rules and not asked(run) else code


def _label() -> "Callable[[Install], str]":
    from recon.report.findings import label_of

    return label_of
