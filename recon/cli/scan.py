"""`recon scan`: what can these trees do?"""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from recon.cli.hosts import Transport, Ways, access_of, planned, refuse_idle
from recon.cli.session import Session, cache_dir, session_of, state_dir
from recon.errors import Exit, Fault, Interrupted, Unreadable

if TYPE_CHECKING:
    from recon.pipeline import Settings
    from recon.records.run import Run
    from recon.targets import Access


def scan(
    context: typer.Context,
    paths: Annotated[
        list[str] | None, typer.Argument(metavar="[PATH]...", help="Source trees or environments, as --path.")
    ] = None,
    *,
    path: Annotated[
        list[str] | None,
        typer.Option("--path", metavar="PATH", help="Read the tree, wheel or environment at PATH; repeat for more."),
    ] = None,
    release: Annotated[
        list[str] | None,
        typer.Option(
            "--release",
            metavar="NAME==VERSION",
            help="Read a published release without installing it, e.g. vllm==0.20.1; without a version the newest.",
        ),
    ] = None,
    host: Annotated[
        list[str] | None,
        typer.Option(
            "--host", metavar="[USER@]HOST[:PORT]", help="Look for engines on a host, over SSH; repeat for more."
        ),
    ] = None,
    bundle: Annotated[
        list[str] | None,
        typer.Option(
            "--bundle", metavar="FILE", help="Read what the script of recon collect wrote on a host; repeat for more."
        ),
    ] = None,
    environment: Annotated[
        list[str] | None,
        typer.Option(
            "--environment",
            metavar="FOLDER",
            help="Look into the Python environment at FOLDER of the hosts, too, found or not; repeat for more.",
        ),
    ] = None,
    transport: Annotated[
        Transport, typer.Option("--transport", help="What carries SSH; auto takes the system's ssh where it must.")
    ] = Transport.AUTO,
    accept_new: Annotated[
        bool, typer.Option("--accept-new", help="Trust hosts of which no key is known yet, and append their keys.")
    ] = False,
    ssh_config: Annotated[
        str, typer.Option("--ssh-config", metavar="FILE", help="Read this configuration instead of ~/.ssh/config.")
    ] = "",
    batch: Annotated[bool, typer.Option("--batch", help="Ask nobody for a passphrase or a password; fail.")] = False,
    no_source: Annotated[
        bool,
        typer.Option(
            "--no-source",
            help="Of hosts and bundles keep outlines and cited lines, no source; each scan then brings it anew.",
        ),
    ] = False,
    host_timeout: Annotated[
        float, typer.Option("--host-timeout", min=1.0, metavar="SECONDS", help="Longest that one host is asked.")
    ] = 300.0,
    max_load: Annotated[
        float,
        typer.Option(
            "--max-load",
            min=0.0,
            metavar="LOAD",
            help="Leave a host alone whose load for each core is higher, e.g. 0.9.",
        ),
    ] = 0.0,
    plan: Annotated[
        bool, typer.Option("--plan", help="Print every command that a host would be asked to run, and stop.")
    ] = False,
    output: Annotated[
        list[str] | None,
        typer.Option("-o", "--output", metavar="FORMAT=PATH", help="Also write a file: html, json, text or tsv."),
    ] = None,
    no_compiled: Annotated[
        bool,
        typer.Option(
            "--no-compiled", help="Do not read the names in compiled libraries; what they could hold is then unknown."
        ),
    ] = False,
    workers: Annotated[
        int, typer.Option("--workers", min=0, help="Processes that read sources; 0 means one for each core.")
    ] = 0,
    json: Annotated[bool, typer.Option("--json", help="Print the run as JSON.")] = False,
) -> None:
    """Judge what engine trees can do in speculative decoding: yes, partly, no, or cannot tell, each with its places.

    Without PATH, --release, --host and --bundle, the engines installed on this machine are read. Nothing of them is
    imported or run, here or on a host. Each run is saved; `recon runs list` shows them, `recon report` arranges them.

    Exit codes: 0 done, 2 a path or release does not exist, 3 nothing found, files unread or a host that failed,
    130 interrupted and saved.
    """
    from recon.cli.outputs import outputs_of, show_and_write, view_of
    from recon.report.findings import unrecognised
    from recon.report.view import Source

    session = session_of(context)
    outputs = outputs_of(output or (), as_json=json)
    refuse_what_does_nothing(context, hosts=bool(host), foreign=bool(host or bundle), plan=plan)
    ways = Ways(transport, accept_new, ssh_config, batch, host_timeout, max_load, tuple(environment or ()))
    if plan:
        session.data(planned(tuple(host or ()), ways, as_json=json))
        return
    targets = Named((*(paths or ()), *(path or ())), tuple(release or ()), tuple(host or ()), tuple(bundle or ()))
    told = settings(
        compiled=not no_compiled, workers=workers, access=access_of(targets.hosts, ways), keeps=not no_source
    )
    run, saved = scanned(session, targets, told)
    view = view_of(run, [Source("scan", saved.name if saved else "", run)], session.started)
    show_and_write(session, view, outputs, as_json=json)
    if (sentence := unrecognised(run.installs)) and (json or not session.screen):
        session.note(sentence)
    leave(exit_of(run) if saved else Exit.INCOMPLETE)


def refuse_what_does_nothing(context: typer.Context, *, hosts: bool, foreign: bool, plan: bool) -> None:
    """Refuse options that were typed and would have no effect beside the others.

    Args:
        context: Of the command.
        hosts: Whether any host is named.
        foreign: Whether any host or bundle is named.
        plan: Whether the plan is asked for instead of a scan.

    Raises:
        Usage: one was typed.
    """
    if plan:
        others = ("paths", "path", "release", "bundle")
        refuse_idle(context, others, "is no host, and --plan says what hosts would be asked", "Leave one of them out.")
        refuse_idle(
            context, ("output",), "has nothing to write with --plan: nothing is scanned", "Leave one of them out."
        )
    if not hosts:
        about = ("environment", "transport", "accept_new", "ssh_config", "batch", "host_timeout", "max_load")
        refuse_idle(context, about, "is about hosts, and none is named", "Add --host HOST, or leave it out.")
    if not foreign:
        why = "is about hosts and bundles, and none is named"
        refuse_idle(context, ("no_source",), why, "Add --host HOST or --bundle FILE, or leave it out.")


@dataclass(frozen=True, slots=True)
class Named:
    """What a user named to be scanned; nothing means this machine."""

    paths: tuple[str, ...]
    releases: tuple[str, ...]
    hosts: tuple[str, ...] = ()
    bundles: tuple[str, ...] = ()


def scanned(session: Session, named: Named, told: "Settings") -> "tuple[Run, Path | None]":
    """Scan what is named, or this machine where nothing is, and save the run; the path is None where it cannot be.

    Raises:
        typer.Exit: it was interrupted; what was learned is saved.
    """
    from recon import pipeline
    from recon.cli.progress import progress_of
    from recon.cli.stopping import stoppable

    session.detail(f"cache {cache_dir()}, state {state_dir()}")
    local = not (named.paths or named.releases or named.hosts or named.bundles)
    targets = pipeline.ScanTargets(named.paths, named.releases, local=local, hosts=named.hosts, bundles=named.bundles)
    try:
        with progress_of(session) as shown, stoppable(shown) as progress:
            run = pipeline.scan(targets, told, progress)
    except Interrupted as stopped:
        keep_partial(session, stopped, keeps_sources=told.keeps_sources)
    saved = keep(session, run)
    if not told.keeps_sources and run.installs:
        session.note("sources of hosts and bundles were not kept, as asked: the next scan brings them anew")
    return run, saved


def settings(
    *, compiled: bool = True, workers: int = 0, access: "Access | None" = None, keeps: bool = True
) -> "Settings":
    """What a stage needs to know besides its targets."""
    import os

    from recon import pipeline

    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return pipeline.Settings(
        cache_dir(), state_dir(), compiled=compiled, workers=workers or cores, access=access, keeps_sources=keeps
    )


def keep(session: Session, run: "Run") -> Path | None:
    """Save a run and say where; None, said on standard error, where it cannot be saved: the answer is worth more."""
    from recon.runs.files import save

    try:
        saved = save(run, state_dir())
    except Unreadable as error:
        session.note(f"warning: {error.message}")
        return None
    session.note(f"saved {saved}")
    return saved


def keep_partial(session: Session, stopped: Interrupted, *, keeps_sources: bool = True) -> NoReturn:
    """Save what an interrupted command learned, and leave.

    Raises:
        typer.Exit: always.
    """
    from recon.cli.stopping import unstoppable
    from recon.records.run import Run

    if isinstance(stopped.partial, Run):
        with unstoppable():
            saved = keep(session, stopped.partial)
        session.note(f"interrupted; {held(stopped.partial, stopped.coming, keeps_sources=keeps_sources)}")
        if saved and (stopped.partial.installs or stopped.partial.measurements):
            session.note(f"see it: recon runs show {saved.name}; as one page: recon report --html")
    else:
        session.note("interrupted")
    raise typer.Exit(int(Exit.INTERRUPTED))


def held(run: "Run", coming: int, *, keeps_sources: bool) -> str:
    """What an interrupted command has in its hands.

    Args:
        run: What it learned.
        coming: How many installs it had found.
        keeps_sources: Whether sources that came stay here.
    """
    if run.measurements:
        return f"{len(run.measurements):,} measurements were taken until then"
    judged = len(run.installs)
    words = ["no install was judged yet"]
    if judged:
        found = f"{judged:,} of {max(coming, judged):,} installs that were found"
        words = [f"{found} {'is' if judged == 1 else 'are'} judged"]
    if judged < coming or not judged:
        words.append("sources that came are in the cache" if keeps_sources else "no source is kept, as asked")
    return "; ".join(words)


def exit_of(run: "Run") -> Exit:
    """Whether a run is all that was asked for: something was found, everything was read, every kernel agreed.

    A cache that could not be used costs time and no answer.
    """
    from recon.pipeline import CACHE

    if any(each.what == Fault.kind for each in run.unknowns):
        return Exit.INTERNAL
    disagrees = any(each.agreement is not None and each.agreement.mismatches for each in run.measurements)
    unread = any(each.what != CACHE for each in run.unknowns) or any(each.unread for each in run.searched)
    found = bool(run.installs or run.measurements)
    return Exit.OK if run.complete and found and not unread and not disagrees else Exit.INCOMPLETE


def leave(code: Exit) -> None:
    """End the command with an exit code.

    Raises:
        typer.Exit: unless the code is 0.
    """
    if code is not Exit.OK:
        raise typer.Exit(int(code))
