"""`-o FORMAT=PATH`: checked before the work, written after it, each file whole or not at all."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from recon.cli.session import Session, path_of
from recon.errors import NotFound, Unreadable, Usage
from recon.records.run import Run
from recon.report.format import Format, format_named
from recon.report.view import Source, View, compose


@dataclass(frozen=True, slots=True)
class Output:
    """One file that was asked for."""

    format: Format
    path: Path


def outputs_of(words: Iterable[str]) -> tuple[Output, ...]:
    """The outputs that `-o` words ask for.

    Raises:
        Usage: a word is not FORMAT=PATH.
        NotFound: there is no such format, or no folder to write the file in.
    """
    return tuple(_output(word) for word in words)


def view_of(run: Run, sources: Iterable[Source], now: datetime) -> View:
    """The run arranged for reading, at this moment."""
    return compose(run, tuple(sources), now)


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
    from recon.runs.files import write_atomically

    try:
        write_atomically(path, text.encode("utf-8", "backslashreplace"), mode=0o644)
    except OSError as error:
        raise Unreadable(f"cannot write {path}: {error.strerror or error}") from error
    session.note(f"wrote {path} ({name})")


def target_of(word: str) -> tuple[str, Path]:
    """The format's name and the file that a word of `-o` asks for.

    Raises:
        Usage: it is not FORMAT=PATH.
        NotFound: there is no folder to write the file in.
    """
    name, equals, words = word.partition("=")
    if not equals or not words:
        raise Usage(f"-o {word} is not FORMAT=PATH", "For example: -o html=report.html")
    path = path_of(words)
    if path.is_dir():
        raise NotFound(f"{path} is a folder", f"Name a file in it: -o {name}={path}/report.{name}")
    if not path.parent.is_dir():
        raise NotFound(f"there is no folder {path.parent}", "Create it first.")
    return name, path


def _output(word: str) -> Output:
    name, path = target_of(word)
    return Output(format_named(name), path)
