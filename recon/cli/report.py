"""`recon report`: a scan, a probe and an estimate, joined and arranged."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recon.cli.hosts import refuse_empty, refuse_idle
from recon.cli.policies import (
    FailOn,
    Require,
    Show,
    demands_of,
    exit_with,
    judged,
    narrowed_to,
    refuse_show,
    refuse_unknown,
    say_failures,
    shown_standings,
    trees_of,
)
from recon.cli.scan import exit_of, leave
from recon.cli.session import Session, path_of, session_of
from recon.errors import Exit, NotFound, Unreadable, Usage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recon.records.host import Host
    from recon.records.run import Run
    from recon.report.view import Source, View
    from recon.runs.files import Saved

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
            "-o",
            "--output",
            metavar="FORMAT=PATH",
            help="Write a file: html, json, markdown, sarif, csv, text or tsv; repeatable.",
        ),
    ] = None,
    scan: Annotated[
        str, typer.Option("--scan", metavar="RUN", help="The scan: a file, or a name of `recon runs list`.")
    ] = "",
    probe: Annotated[
        str, typer.Option("--probe", metavar="RUN", help="The probe: a file, or a name of `recon runs list`.")
    ] = "",
    estimate: Annotated[
        str, typer.Option("--estimate", metavar="RUN", help="The estimate: a file, or a name of `recon runs list`.")
    ] = "",
    redact_hosts: Annotated[
        bool,
        typer.Option(
            "--redact-hosts", help="Call hosts host-1, host-2, ..., users someone; leave out ids of machines."
        ),
    ] = False,
    extract: Annotated[
        str,
        typer.Option("--extract", metavar="PAGE", help="Print the run that a page holds, as JSON, and nothing else."),
    ] = "",
    issue: Annotated[
        bool,
        typer.Option(
            "--issue", help="Print what maintainers ask for, to be pasted: versions, machine, verdicts; no host."
        ),
    ] = False,
    about: Annotated[
        list[str] | None,
        typer.Option("--about", metavar="CAPABILITY", help="With --issue: only these, e.g. 'accept.*'; repeatable."),
    ] = None,
    fail_on: FailOn = None,
    require: Require = None,
    show: Show = "",
    json: Annotated[bool, typer.Option("--json", help="Print the joined run as JSON.")] = False,
) -> None:
    """Arrange the newest scan and the newest probe of the same machine: decision, matrix, times, places, limits.

    Which runs were taken and how old they are is said on standard error. A probe of another GPU model than the host's
    is shown apart and never enters the decision, which is that of the newest `recon estimate --model` of its engines.
    Without --html and -o the report is printed.

    A page that is passed on holds names of hosts, users and folders: --redact-hosts renames hosts, users and their home
    folders in all that is written, and leaves other folders and source lines. A page holds its whole run, which
    --extract gives back.

    --issue prints Markdown for a tracker instead: versions, GPU, driver, torch, triton, and the verdicts that are not
    a plain yes, or those of --about; hosts, users and folders are left out.

    A saved probe or estimate that cannot be read is named, and left out.

    Exit codes: 0 done, 1 a policy failed, 2 no run is saved, or a run or capability that is named does not exist, 3 a
    run file or folder cannot be used, or all policies held in a scan that is incomplete.
    """
    from recon.cli.outputs import Output, is_taken, outputs_of, refuse_losses, view_of, write_outputs
    from recon.cli.outputs import show as printed
    from recon.cli.saved import described, estimate_beside
    from recon.report.format import format_named
    from recon.report.join import weighed as with_decisions
    from recon.report.redacted import redacted

    session = session_of(context)
    refuse_empty(context)
    refuse_show(context, as_json=json)
    shown_standings(show)
    if extract:
        refuse_idle(
            context,
            [each.name or "" for each in context.command.params if each.name not in {"extract", "json"}],
            "does nothing with --extract, which prints the run as the page holds it",
            "Save that run, then name it: recon report --extract PAGE > run.json; recon report --scan run.json",
        )
        session.data(_extracted(path_of(extract)))
        return
    _refuse_odd(context, about, issue=issue, json=json)
    outputs = list(outputs_of(output or (), as_json=json or issue, read=(scan, probe, estimate)))
    unread: list[Saved] = []
    sources = _sources(session, scan, probe, unread)
    run = _joined(sources)
    weighed = _estimate(estimate) if estimate else estimate_beside(run, unread)
    if weighed is not None:
        sources.append(weighed)
        run = with_decisions(run, weighed.run.estimates)
    run = _without(session, run, unread)
    demands = demands_of(session, fail_on, require, trees_of(run))
    refuse_unknown(demands.rules, run)
    run = judged(run, demands)
    page = Path(sources[0].name).stem
    if redact_hosts:
        run, sources, rename = redacted(run, sources)
        page = rename(page)
    view = view_of(run, sources, session.started, run.failures)
    for source, method in zip(sources, view.method, strict=True):
        session.note(described(source, method.age))
    if html:
        outputs.append(Output(format_named("html"), _page(page)))
        refuse_losses([each.path for each in outputs], (scan, probe, estimate))
    try:
        write_outputs(session, outputs, view)
        if issue:
            session.data(_issue(view, about or ()))
        elif json or not outputs:
            printed(session, narrowed_to(session, view, show), as_json=json)
        elif not is_taken(each.path for each in outputs):
            session.data("".join(f"{each.path}\n" for each in outputs))
    finally:  # a disk that is full hides no failure
        say_failures(session, run, demands, seen=not (json or issue or outputs) and session.screen)
    code = exit_of(sources[0].run) if demands.rules else Exit.INCOMPLETE if unread else Exit.OK
    leave(exit_with(run, demands.rules, code))


def _without(session: Session, run: "Run", unread: "list[Saved]") -> "Run":
    """The run with what is said of files that cannot be read, which may have had a part in it.

    In the run they go by kind and time alone: their names tell hosts, and a page is passed on.
    """
    from dataclasses import replace

    from recon.records.unknown import RUN_FILE, Unknown

    missed = []
    for each in dict.fromkeys(unread):
        session.note(
            f"warning: {each.path.name} cannot be read, so this report is without it;"
            f" `recon runs rm {each.path.name}` removes it"
        )
        missed.append(
            Unknown(RUN_FILE, f"{each.kind} of {each.started}", "it cannot be read; it may be newer than what is shown")
        )
    return replace(run, unknowns=(*run.unknowns, *missed)) if missed else run


def _sources(session: Session, scan: str, probe: str, unread: "list[Saved]") -> "list[Source]":
    from recon.cli.saved import named_or_newest

    if probe:
        named = named_or_newest(probe, "probe", "--probe")
        if named.kind != "probe" and not named.run.measurements:
            raise Usage(f"{probe} is a {named.kind} without a measurement, and no probe", "Is it that of --scan?")
    try:
        first = named_or_newest(scan, "scan", "--scan")
    except NotFound:
        second = None if scan else named if probe else _beside(session, (), unread)
        if second is None:
            raise
        return [second]
    if probe:
        return [first, named]
    second = _beside(session, first.run.hosts, unread)
    if second is None:
        session.note("probe: none of the same machine is saved; `recon probe-kernels` makes one, --probe names another")
        return [first]
    return [first, second]


def _estimate(name: str) -> "Source":
    from recon.cli.saved import named_or_newest

    found = named_or_newest(name, "estimate", "--estimate")
    if found.kind != "estimate":
        raise Usage(f"{name} is a {found.kind}, and no estimate", "`recon estimate --model` makes one.")
    return found


def _beside(session: Session, hosts: "tuple[Host, ...]", unread: "list[Saved]") -> "Source | None":
    """The newest probe that holds times, else the newest; that there is a newer one without is said."""
    from recon.cli.saved import described, probe_beside
    from recon.report.numbers import age

    taken, newer = probe_beside(hosts, unread)
    if newer is not None:
        told = described(newer, age(newer.run.started_at, session.started))
        session.note(f"not taken, since it holds no times: {told}; --probe {newer.name} shows it")
    return taken


def _joined(sources: "list[Source]") -> "Run":
    from recon.estimates.decision import decide
    from recon.report.join import joined

    first, *rest = sources
    return joined(first.run, rest[0].run, decide) if rest else first.run


def _refuse_odd(context: typer.Context, about: "Sequence[str] | None", *, issue: bool, json: bool) -> None:
    if issue:
        refuse_idle(context, ("show",), "has nothing to list with --issue", "Say --about CAPABILITY, or leave it out.")
    if about and not issue:
        raise Usage("--about says what an issue is about", "Add --issue.")
    if json and issue:
        raise Usage("standard output can be written only once", "Leave --json or --issue out.")


def _issue(view: "View", about: "Sequence[str]") -> str:
    from fnmatch import fnmatchcase

    from recon.report.issue import issue

    known = {each.capability for each in view.findings}
    for pattern in about:
        if not any(fnmatchcase(each, pattern) for each in known):
            raise NotFound(f"no capability {pattern!r} was judged", "`recon explain` lists them.")
    return issue(view, about)


def _extracted(path: Path) -> str:
    from recon.report.packed import taken_out
    from recon.runs.files import bytes_of, decoded

    page = bytes_of(path, "page")
    try:
        run = taken_out(page.decode())
        text = run.decode()
    except ValueError as error:
        raise Unreadable(f"{path} is no page of recon: {error}", "Pages are made by recon report --html") from error
    decoded(run, path)  # what a page holds may be anything
    return text


def _page(stem: str) -> Path:
    try:
        FOLDER.mkdir(exist_ok=True)
    except OSError as error:
        raise Unreadable(
            f"cannot make a folder {FOLDER} here: {error.strerror}", "Name a file: -o html=PATH"
        ) from error
    return FOLDER / f"{stem}.html"
