"""`recon runs`: the saved runs."""

from dataclasses import asdict
from typing import Annotated

import typer

from recon.cli.session import session_of, state_dir
from recon.errors import Usage

app = typer.Typer(help="List, show and remove saved runs.", no_args_is_help=True)


@app.command("list")
def list_runs(
    context: typer.Context,
    *,
    json: Annotated[bool, typer.Option("--json", help="Print the list as JSON.")] = False,
) -> None:
    """List the saved runs, newest first; it is said which are interrupted or cannot be read.

    Exit codes: 0 done, 3 the folder cannot be read.
    """
    import msgspec

    from recon.report.numbers import age, size
    from recon.runs.files import flaw, listing

    session = session_of(context)
    saved = [(each, flaw(each.path)) for each in listing(state_dir())]
    if json:
        rows = [{**asdict(each), "path": str(each.path), "complete": not word, "flaw": word} for each, word in saved]
        session.data(msgspec.json.format(msgspec.json.encode(rows), indent=1).decode() + "\n")
        return
    if not session.screen:
        session.data(
            "".join(f"{each.started}\t{each.kind}\t{each.host}\t{each.path}\t{word}\n" for each, word in saved)
        )
        return
    if not saved:
        session.note(f"no runs in {state_dir()}; `recon scan` makes one")
        return
    from recon.report.terminal import table, text, written

    made = table("When", "Kind", "Host", "Size", "Name")
    for each, word in saved:
        when = age(each.started, session.started) or each.started
        kind = f"{each.kind}, {word}" if word else each.kind
        made.add_row(*map(text, (when, kind, each.host, size(each.size_bytes), each.path.name)))
    session.data(written([made], max(session.width, 120), color=session.colored))


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
    show(session, view_of(source.run, [source], session.started), as_json=json)


@app.command("rm")
def remove_runs(
    context: typer.Context,
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[RUN]...", help="Names of `recon runs list`, or files.")
    ] = None,
    *,
    everything: Annotated[bool, typer.Option("--all", help="Remove every saved run.")] = False,
) -> None:
    """Remove saved runs.

    Exit codes: 0 done, 2 no such run or none named, 3 one cannot be removed.
    """
    from recon.runs.files import listing, remove, resolve

    session = session_of(context)
    if bool(names) == everything:
        raise Usage("name the runs to remove, or say --all", "`recon runs list` shows the saved runs.")
    state = state_dir()
    paths = [each.path for each in listing(state)] if everything else [resolve(name, state) for name in names or ()]
    for path in paths:
        remove(path)
        session.note(f"removed {path}")
