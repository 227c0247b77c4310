"""`recon runs`: the saved runs."""

import os
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from recon.cli.session import session_of, state_dir
from recon.errors import Usage

app = typer.Typer(help="List, show and remove saved runs.", no_args_is_help=True)


@app.command("list")
def list_runs(
    context: typer.Context,
    *,
    limit: Annotated[int, typer.Option("--limit", min=0, help="At most so many, the newest; 0 means all.")] = 0,
    json: Annotated[bool, typer.Option("--json", help="Print the list as JSON, with the installs of each.")] = False,
) -> None:
    """List the saved runs, newest first; it is said which are interrupted or cannot be read.

    Exit codes: 0 done, 3 the folder cannot be read.
    """
    import msgspec

    from recon.report.numbers import age, counted, size
    from recon.report.text import visible
    from recon.runs.files import gist, listing

    session = session_of(context)
    every = listing(state_dir())
    saved = [(each, gist(each.path)) for each in every[: limit or None]]
    if len(saved) < len(every):
        session.note(f"left out: {counted(len(every) - len(saved), 'older run')}")
    if json:
        rows = [
            {**asdict(each), "path": str(each.path), "complete": not held.flaw, **asdict(held)} for each, held in saved
        ]
        session.data(msgspec.json.format(msgspec.json.encode(rows), indent=1).decode() + "\n")
        return
    if not session.screen:
        cells = (
            (each.started, each.kind, each.host, str(each.path), held.flaw, visible(held.why)) for each, held in saved
        )
        session.data("".join("\t".join(row) + "\n" for row in cells))
        return
    if not saved:
        session.note(f"no runs in {state_dir()}; `recon scan` makes one")
        return
    from recon.report.terminal import table, text, written

    made = table("When", "Kind", "Host", "Size", "Name")
    for each, held in saved:
        when = age(each.started, session.started) or each.started
        kind = f"{each.kind}, {held.flaw}" if held.flaw else each.kind
        made.add_row(*map(text, (when, kind, each.host, size(each.size_bytes), each.path.name)))
    session.data(written([made], max(session.width, 120), color=session.colored))
    for each, held in saved:
        if held.why:
            session.note(f"{each.path.name} is {held.flaw}: {visible(held.why)}")


@app.command("show")
def show_run(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="RUN", help="A file, or a name of `recon runs list`.")],
    *,
    json: Annotated[bool, typer.Option("--json", help="Print the run as JSON.")] = False,
) -> None:
    """Print one saved run as `recon scan` and `recon probe-kernels` did.

    Exit codes: 0 done, 2 no such run, 3 it cannot be read.
    """
    from recon.cli.outputs import show, view_of
    from recon.cli.saved import source_of
    from recon.runs.files import resolve

    session = session_of(context)
    source = source_of(resolve(name, state_dir()))
    view = view_of(source.run, [source], session.started, source.run.failures)
    show(session, view, as_json=json)


@app.command("rm")
def remove_runs(
    context: typer.Context,
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[RUN]...", help="Names of `recon runs list`, or files.")
    ] = None,
    *,
    everything: Annotated[bool, typer.Option("--all", help="Remove every saved run.")] = False,
) -> None:
    """Remove saved runs; of other files none but run files.

    Exit codes: 0 done, 2 no such run or none named, 3 one is no run file, or cannot be removed.
    """
    from recon.runs.files import listing, remove

    session = session_of(context)
    if bool(names) == everything:
        raise Usage("name the runs to remove, or say --all", "`recon runs list` shows the saved runs.")
    state = state_dir()
    paths = [each.path for each in listing(state)] if everything else [_to_remove(name, state) for name in names or ()]
    for path in paths:
        remove(path)
        session.note(f"removed {path}")


def _to_remove(name: str, state: Path) -> Path:
    """What a name means, if it is a run: a damaged one by where it lies, any other file by what it holds."""
    from recon.runs.files import listing, load, resolve

    path = resolve(name, state)
    if os.path.realpath(path) not in {os.path.realpath(each.path) for each in listing(state)}:
        load(path)
    return path
