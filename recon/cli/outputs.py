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
    if as_json:
        session.data(format_named("json").render(view))
    elif session.screen:
        from recon.report.terminal import screen

        session.data(screen(view, session.width, color=session.colored))
    else:
        session.data(format_named("tsv").render(view))


def write_outputs(session: Session, outputs: Iterable[Output], view: View) -> None:
    """Write each file.

    Raises:
        Unreadable: one cannot be written.
    """
    from recon.runs.files import write_atomically

    for output in outputs:
        content = output.format.render(view).encode("utf-8", "backslashreplace")
        try:
            write_atomically(output.path, content, mode=0o644)
        except OSError as error:
            raise Unreadable(f"cannot write {output.path}: {error.strerror or error}") from error
        session.note(f"wrote {output.path} ({output.format.name})")


def _output(word: str) -> Output:
    name, equals, path = word.partition("=")
    if not equals or not path:
        raise Usage(f"-o {word} is not FORMAT=PATH", "For example: -o html=report.html")
    made = Output(format_named(name), path_of(path))
    if made.path.is_dir():
        raise NotFound(f"{made.path} is a folder", f"Name a file in it: -o {name}={made.path}/report.{name}")
    if not made.path.parent.is_dir():
        raise NotFound(f"there is no folder {made.path.parent}", "Create it first.")
    return made
