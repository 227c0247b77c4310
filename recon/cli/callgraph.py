"""`recon callgraph`: who calls whom in a folder of Python, as scan sees it."""

from enum import Enum
from typing import TYPE_CHECKING, Annotated

import typer

from recon.cli.progress import progress_of
from recon.cli.scan import leave, settings
from recon.cli.session import path_of, session_of
from recon.errors import Exit, NotFound, Usage

if TYPE_CHECKING:
    from recon.records.callgraph import CallGraph


class Form(Enum):
    """How to write a call graph."""

    EDGES = "edges"
    PYCG = "pycg"


class Least(Enum):
    """The least sure tier to tell of."""

    CERTAIN = "certain"
    LIKELY = "likely"
    GUESS = "guess"


def callgraph(
    context: typer.Context,
    folder: Annotated[str, typer.Argument(metavar="DIR", help="The folder that holds the modules and packages.")],
    *,
    form: Annotated[
        Form, typer.Option("--format", help="Rows of edges, or PyCG's JSON: every caller with what it calls.")
    ] = Form.EDGES,
    tier: Annotated[Least, typer.Option("--tier", help="The least sure edges to tell of.")] = Least.LIKELY,
    json: Annotated[bool, typer.Option("--json", help="Print edges as JSON.")] = False,
    output: Annotated[
        list[str] | None, typer.Option("-o", metavar="FORMAT=PATH", help="Also write a file: edges or pycg.")
    ] = None,
) -> None:
    """Tell who calls whom in a folder of Python; nothing of it is run, and no engine is needed.

    A row of an edge: source, target, line of the call, dispatch (how the call finds its target), tier (how sure that
    is). PyCG's format leaves out what sums up several calls.

    Exit codes: 0 done, 2 no such folder, 3 not all of it could be read.
    """
    from recon.cli.outputs import is_taken, targets_of, write_file
    from recon.judging import callgraph as made

    session = session_of(context)
    if json and form is Form.PYCG:
        raise Usage("--json prints edges, --format pycg is JSON of its own", "Give one of them.")
    outputs = [(_form_named(name), path) for name, path in targets_of(output or (), as_json=json)]
    place = path_of(folder)
    if not place.is_dir():
        raise NotFound(f"no folder {folder}", "Name the folder that holds the modules and packages.")
    with progress_of(session) as progress:
        graph = made(place, settings(compiled=False), progress)
    if not is_taken(path for _, path in outputs):
        session.data(_text(graph, form, tier, as_json=json))
    for chosen, path in outputs:
        write_file(session, chosen.value, path, _text(graph, chosen, tier, as_json=json))
    for each in graph.unread:
        session.note(f"not read: {each.what} {each.where}: {each.why}")
    for each in graph.unfollowed:
        session.note(f"not followed: {each.what} in {each.where}: {each.why}")
    leave(Exit.INCOMPLETE if graph.unread else Exit.OK)


def _form_named(name: str) -> Form:
    try:
        return Form(name)
    except ValueError as error:
        raise Usage(f"{name} is no form of a call graph", "For example: -o pycg=graph.json") from error


def _text(graph: "CallGraph", form: Form, least: Least, *, as_json: bool) -> str:
    import msgspec

    from recon.cli.lines import tabbed
    from recon.records.path import Tier

    order = [Tier.CERTAIN, Tier.LIKELY, Tier.GUESS]
    tiers = order[: order.index(Tier(least.value)) + 1]
    if form is Form.PYCG:
        return msgspec.json.format(msgspec.json.encode(graph.callees(tiers)), indent=1).decode() + "\n"
    edges = graph.told(tiers)
    if as_json:
        return msgspec.json.format(msgspec.json.encode(edges), indent=1).decode() + "\n"
    rows = [(e.source, e.target, str(e.line), e.dispatch, e.tier.value) for e in edges]
    return tabbed([("source", "target", "line", "dispatch", "tier"), *rows])
