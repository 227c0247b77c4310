"""`-o FORMAT=PATH`: checked before the work, written after it, each file whole or not at all.

Where a link is named, the file that it leads to is written; a pipe or a device is written into, and never replaced.
The path `-` is standard output: it then gets that format, and nothing else.
"""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from recon.cli.session import Session, path_of, state_dir
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


def outputs_of(words: Iterable[str], *, as_json: bool = False, read: Iterable[str] = ()) -> tuple[Output, ...]:
    """The outputs that `-o` words ask for.

    Args:
        words: Each FORMAT=PATH.
        as_json: Whether JSON on standard output is asked for, too.
        read: Files that the command reads, as they were named; other words name none.

    Raises:
        Usage: a word is not FORMAT=PATH, or something would be written twice, or over what is read or kept.
        NotFound: there is no such format, or no folder to write the file in.
    """
    targets = targets_of(words, as_json=as_json, read=read)
    return tuple(Output(format_named(name), path) for name, path in targets)


def targets_of(words: Iterable[str], *, as_json: bool = False, read: Iterable[str] = ()) -> list[tuple[str, Path]]:
    """The format's name and the path of each word, as `outputs_of`, whatever formats a command has.

    Raises:
        Usage: as `outputs_of`.
        NotFound: there is no folder to write the file in.
    """
    targets = [_target_of(word) for word in words]
    if [path for _, path in targets].count(STDOUT) + as_json > 1:
        raise Usage("standard output can be written only once", "Name files for the others: -o FORMAT=PATH")
    refuse_losses([path for _, path in targets], read)
    return targets


def refuse_losses(paths: Iterable[Path], read: Iterable[str] = ()) -> None:
    """Refuse files that would be written over each other, over what is read, or over a saved run.

    Raises:
        Usage: there is one.
    """
    from recon.runs.files import folder

    inputs = {os.path.realpath(path_of(word)) for word in read if word}
    runs = os.path.realpath(folder(state_dir()))
    taken: set[str] = set()
    for path in paths:
        if path == STDOUT or (path.exists() and not path.is_file()):  # a pipe or a device takes all that comes
            continue
        real = os.path.realpath(path)
        if real in taken:
            raise Usage(f"{path} can be written only once", "Name a file for each format.")
        if real in inputs:
            raise Usage(f"{path} is what is read", "Name another file.")
        if os.path.dirname(real) == runs:  # noqa: PTH120  # of a path that is resolved
            raise Usage(f"{path} lies where runs are kept, and those are never changed", "Name another file.")
        taken.add(real)


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
    if path == STDOUT and words != str(STDOUT):
        path = path.absolute()  # `./-` is a file
    if path.is_dir():
        raise NotFound(f"{path} is a folder", f"Name a file in it: -o {name}={path}/report.{name}")
    if not path.parent.is_dir():
        raise NotFound(f"there is no folder {path.parent}", "Create it first.")
    return name, path
