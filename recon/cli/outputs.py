"""`-o FORMAT=PATH`: checked before the work, written after it, each file whole or not at all.

Where a link is named, the file that it leads to is written; a pipe or a device is written into, and never replaced.
The path `-` is standard output: it then gets that format, and nothing else.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from recon.cli.session import Session, path_of
from recon.errors import NotFound, Unreadable, Usage
from recon.records.policy import PolicyFailure
from recon.records.run import Run
from recon.report.format import Format, format_named
from recon.report.view import Source, View, compose


@dataclass(frozen=True, slots=True)
class Output:
    """One file that was asked for."""

    format: Format
    path: Path


STDOUT = Path("-")
"""The path of standard output."""


def outputs_of(words: Iterable[str], *, as_json: bool = False) -> tuple[Output, ...]:
    """The outputs that `-o` words ask for.

    Args:
        words: Each FORMAT=PATH.
        as_json: Whether JSON on standard output is asked for, too.

    Raises:
        Usage: a word is not FORMAT=PATH, or standard output is asked for twice.
        NotFound: there is no such format, or no folder to write the file in.
    """
    targets = targets_of(words, as_json=as_json)
    return tuple(Output(format_named(name), path) for name, path in targets)


def targets_of(words: Iterable[str], *, as_json: bool = False) -> list[tuple[str, Path]]:
    """The format's name and the path of each word, as `outputs_of`, whatever formats a command has.

    Raises:
        Usage: a word is not FORMAT=PATH, or standard output is asked for twice.
        NotFound: there is no folder to write the file in.
    """
    targets = [_target_of(word) for word in words]
    if [path for _, path in targets].count(STDOUT) + as_json > 1:
        raise Usage("standard output can be written only once", "Name files for the others: -o FORMAT=PATH")
    return targets


def is_taken(paths: Iterable[Path]) -> bool:
    """Whether standard output is one of the paths, so that nothing else belongs there."""
    return STDOUT in set(paths)


def view_of(run: Run, sources: Iterable[Source], now: datetime, failures: Sequence[PolicyFailure] = ()) -> View:
    """The run arranged for reading, at this moment, with where it falls short of what the user demands."""
    return compose(run, tuple(sources), now, failures)


def show(session: Session, view: View, *, as_json: bool) -> None:
    """Print a view on standard output: JSON, or a screen for a person, or rows for a pipe."""
    if as_json:  # each format loads alone: those for pages and screens take longer than many a scan
        from recon.report.json_v1 import render as as_text

        session.data(as_text(view))
    elif session.screen:
        from recon.report.terminal import screen

        session.data(screen(view, session.width, color=session.colored))
    else:
        from recon.report.tsv import render as as_rows

        session.data(as_rows(view))


def show_and_write(
    session: Session, view: View, outputs: Sequence[Output], *, as_json: bool, shown: View | None = None
) -> None:
    """Print a view, unless one of its outputs is standard output, and write the outputs.

    Args:
        session: What the command was told.
        view: What is written.
        outputs: Where, and in which formats.
        as_json: Whether JSON is printed.
        shown: What is printed, where that is less than all.

    Raises:
        Unreadable: one cannot be written.
    """
    if not is_taken(output.path for output in outputs):
        show(session, shown or view, as_json=as_json)
    write_outputs(session, outputs, view)


def write_outputs(session: Session, outputs: Iterable[Output], view: View) -> None:
    """Write each file.

    Raises:
        Unreadable: one cannot be written.
    """
    for output in outputs:
        write_file(session, output.format.name, output.path, output.format.render(view))


def write_file(session: Session, name: str, path: Path, text: str) -> None:
    """Write a file of a format, and say so.

    Raises:
        Unreadable: it cannot be written.
    """
    from recon.runs.files import write_named

    if path == STDOUT:
        session.data(text)
        return
    try:
        write_named(path, text.encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise Unreadable(f"cannot write {path}: {error.strerror or error}") from error
    session.note(f"wrote {path} ({name})")


def _target_of(word: str) -> tuple[str, Path]:
    name, equals, words = word.partition("=")
    if not equals or not words:
        raise Usage(f"-o {word} is not FORMAT=PATH", "For example: -o html=report.html")
    path = path_of(words)
    if path.is_dir():
        raise NotFound(f"{path} is a folder", f"Name a file in it: -o {name}={path}/report.{name}")
    if not path.parent.is_dir():
        raise NotFound(f"there is no folder {path.parent}", "Create it first.")
    return name, path
