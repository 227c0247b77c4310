"""`recon new`: files to start from."""

from pathlib import Path
from typing import Annotated

import typer

from recon.cli.session import Session, path_of, session_of
from recon.errors import NotFound, Unreadable, Usage

app = typer.Typer(help="Write files to start from.", no_args_is_help=True)


@app.command("detector")
def detector(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The capability that it judges, e.g. my.thing.")],
    *,
    into: Annotated[str, typer.Option("--into", metavar="FOLDER", help="Where the files go.")] = ".",
) -> None:
    """Write a detector with its page, a shape and two cases, and a test that runs them.

    The case of what has the capability fails until `is_it` is written; that of the look-alike passes. The test needs
    pytest, which recon does not bring. Nothing is overwritten. In the folder of the built-in detectors only the
    detector is written: the tests there run the cases of all.

    Exit codes: 0 done, 2 the name is no capability's, the folder does not exist, or a file is there already, 3 a
    file cannot be written.
    """
    from recon import pipeline
    from recon.detectors import builtin
    from recon.detectors.scaffold import draft

    session = session_of(context)
    folder = path_of(into)
    if not folder.is_dir():
        raise NotFound(f"there is no folder {folder}", "Create it first.")
    made = draft(name)
    is_ours = folder.resolve() in [Path(each).resolve() for each in builtin.__path__]
    files = {folder / f"{made.module}.py": made.detector}
    if not is_ours:
        files[folder / f"test_{made.module}.py"] = made.tests
    for path in files:
        if path.exists():
            raise Usage(f"{path} is there already", "Nothing was written.")
    for path, text in files.items():
        _write(session, path, text)
    if not is_ours:
        session.note(f"run its cases: python -m pytest {folder / f'test_{made.module}.py'}")
        session.note(f"to offer it to recon, in a pyproject.toml beside it:\n\n{made.project}")
        if name in {each.id for each in pipeline.capabilities()}:
            session.note(f"warning: {name} is judged already; a second detector of that name is not heard")


def _write(session: Session, path: Path, text: str) -> None:
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise Unreadable(f"cannot write {path}: {error.strerror or error}") from error
    session.data(f"{path}\n")
