"""`recon report`: a scan and a probe, joined and arranged."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recon.cli.session import Session, session_of, state_dir
from recon.errors import NotFound, Unreadable

if TYPE_CHECKING:
    from recon.records.run import Run
    from recon.report.view import Source

FOLDER = Path("reports")
"""Where a page goes that was given no name, below the current folder."""


def report(
    context: typer.Context,
    *,
    html: Annotated[
        bool, typer.Option("--html", help="Write one offline page below reports/ and print its path.")
    ] = False,
    output: Annotated[
        list[str] | None,
        typer.Option(
            "-o", "--output", metavar="FORMAT=PATH", help="Write a file: html, json, text or tsv; repeatable."
        ),
    ] = None,
    scan: Annotated[
        str, typer.Option("--scan", metavar="RUN", help="The scan: a file, or a name of `recon runs list`.")
    ] = "",
    probe: Annotated[
        str, typer.Option("--probe", metavar="RUN", help="The probe: a file, or a name of `recon runs list`.")
    ] = "",
    json: Annotated[bool, typer.Option("--json", help="Print the joined run as JSON.")] = False,
) -> None:
    """Arrange the newest scan and the newest probe of the same machine: decision, matrix, times, places, limits.

    Which runs were taken and how old they are is said on standard error. A probe of another GPU model than the host's
    is shown apart and never enters the decision. Without --html and -o the report is printed.

    Exit codes: 0 done, 2 no run is saved or the named one does not exist, 3 a run file or folder cannot be used.
    """
    from recon.cli.outputs import Output, is_taken, outputs_of, show, view_of, write_outputs
    from recon.report.format import format_named

    session = session_of(context)
    outputs = list(outputs_of(output or (), as_json=json))
    sources = _sources(session, scan, probe)
    run = _joined(sources)
    view = view_of(run, sources, session.started)
    for each in view.method:
        session.note(f"{each.kind}: {each.name}, {each.age}")
    if html:
        outputs.append(Output(format_named("html"), _page(sources[0])))
    write_outputs(session, outputs, view)
    if json or not outputs:
        show(session, view, as_json=json)
    elif not is_taken(each.path for each in outputs):
        session.data("".join(f"{each.path}\n" for each in outputs))


def _sources(session: Session, scan: str, probe: str) -> "list[Source]":
    from recon.cli.saved import named_or_newest, probe_beside
    from recon.runs.files import newest

    try:
        first = named_or_newest(scan, "scan", "--scan")
    except NotFound:
        if scan or not (probe or newest(state_dir(), "probe", option="--probe")):
            raise
        return [named_or_newest(probe, "probe", "--probe")]
    if probe:
        return [first, named_or_newest(probe, "probe", "--probe")]
    second = probe_beside(first.run.hosts)
    if second is None:
        session.note("probe: none of the same machine is saved; `recon probe-kernels` makes one, --probe names another")
        return [first]
    return [first, second]


def _joined(sources: "list[Source]") -> "Run":
    from recon.estimates.decision import decide
    from recon.report.join import joined

    first, *rest = sources
    return joined(first.run, rest[0].run, decide) if rest else first.run


def _page(source: "Source") -> Path:
    try:
        FOLDER.mkdir(exist_ok=True)
    except OSError as error:
        raise Unreadable(
            f"cannot make a folder {FOLDER} here: {error.strerror}", "Name a file: -o html=PATH"
        ) from error
    return FOLDER / f"{Path(source.name).stem}.html"
