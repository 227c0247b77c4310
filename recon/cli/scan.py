"""`recon scan`: what can these trees do?"""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from recon.cli.hosts import Transport, Ways, access_of, planned, refuse_empty, refuse_idle
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
    rejudge: Annotated[
        list[str] | None,
        typer.Option(
            "--rejudge",
            metavar="RUN",
            help="Judge the trees of a saved run anew, as they were read then, without their host; repeat for more.",
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
        typer.Option(
            "-o",
            "--output",
            metavar="FORMAT=PATH",
            help="Also write a file: html, json, markdown, sarif, csv, text or tsv.",
        ),
    ] = None,
    no_compiled: Annotated[
        bool,
        typer.Option(
            "--no-compiled", help="Do not read the names in compiled libraries; what they could hold is then unknown."
        ),
    ] = False,
    fail_on: FailOn = None,
    require: Require = None,
    show: Show = "",
    workers: Annotated[
        int, typer.Option("--workers", min=0, help="Processes that read sources; 0 means one for each core.")
    ] = 0,
    json: Annotated[bool, typer.Option("--json", help="Print the run as JSON.")] = False,
) -> None:
    """Judge what engine trees can do in speculative decoding: yes, partly, no, or cannot tell, each with its places.

    Where nothing is named, the engines installed on this machine are read. Nothing of them is imported or run, here or
    on a host. Each run is saved; `recon runs list` shows them, `recon report` arranges them.

    Exit codes: 0 done, 1 a policy failed, 2 a path, release or capability does not exist, 3 nothing found, files unread
    or a host that failed, 130 interrupted and saved.
    """
    from recon.cli.outputs import is_taken, outputs_of, show_and_write, view_of
    from recon.report.findings import unrecognised
    from recon.report.view import Source

    session = session_of(context)
    refuse_empty(context)
    read = [*(paths or ()), *(path or ()), *(bundle or ()), *(rejudge or ())]
    outputs = outputs_of(output or (), as_json=json, read=read)
    refuse_what_does_nothing(context, hosts=bool(host), foreign=bool(host or bundle), plan=plan)
    refuse_show(context, as_json=json)
    ways = Ways(transport, accept_new, ssh_config, batch, host_timeout, max_load, tuple(environment or ()))
    trees = [Path(each) for each in (*(paths or ()), *(path or ()))]
    shown_standings(show)
    demands = demands_of(session, fail_on, require, trees)
    refuse_unknown(demands.rules)
    if plan:
        session.data(planned(tuple(host or ()), ways, as_json=json))
        return
    targets = Named((*(paths or ()), *(path or ())), *(tuple(each or ()) for each in (release, host, bundle, rejudge)))
    told = settings(
        compiled=not no_compiled, workers=workers, access=access_of(targets.hosts, ways), keeps=not no_source
    )
    run = learned(session, targets, told)
    if targets.is_nothing or targets.runs:  # it is known only now which trees those are
        demands = demands_of(session, fail_on, require, (*trees, *trees_of(run)))
    run = judged(run, demands)
    saved = kept(session, run, told)
    view = view_of(run, [Source("scan", saved.name if saved else "", run)], session.started, run.failures)
    try:
        show_and_write(session, view, outputs, as_json=json, shown=narrowed_to(session, view, show))
    finally:  # a disk that is full hides no failure
        seen = session.screen and not json and not is_taken(each.path for each in outputs)
        say_failures(session, run, demands, seen=seen)
    if (sentence := unrecognised(run.installs)) and (json or not session.screen):
        session.note(sentence)
    leave(exit_with(run, demands.rules, exit_of(run) if saved else Exit.INCOMPLETE))


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
        others = ("paths", "path", "release", "bundle", "rejudge")
        refuse_idle(context, others, "is no host, and --plan says what hosts would be asked", "Leave one of them out.")
        for names, does in ((("output",), "write"), (("show",), "list"), (("fail_on", "require"), "judge")):
            why = f"has nothing to {does} with --plan: nothing is scanned"
            refuse_idle(context, names, why, "Leave one of them out.")
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
    runs: tuple[str, ...] = ()

    @property
    def is_nothing(self) -> bool:
        """Whether the engines of this machine are meant."""
        return not (self.paths or self.releases or self.hosts or self.bundles or self.runs)


def scanned(session: Session, named: Named, told: "Settings") -> "tuple[Run, Path | None]":
    """Scan what is named, or this machine where nothing is, and save the run; the path is None where it cannot be.

    Raises:
        typer.Exit: it was interrupted; what was learned is saved.
    """
    run = learned(session, named, told)
    return run, kept(session, run, told)


def learned(session: Session, named: Named, told: "Settings") -> "Run":
    """Scan what is named, or this machine where nothing is.

    Raises:
        typer.Exit: it was interrupted; what was learned is saved.
    """
    from recon import pipeline
    from recon.cli.progress import progress_of
    from recon.cli.stopping import stoppable

    session.detail(f"cache {cache_dir()}, state {state_dir()}")
    targets = pipeline.ScanTargets(
        named.paths, named.releases, named.is_nothing, hosts=named.hosts, bundles=named.bundles, runs=named.runs
    )
    try:
        with progress_of(session) as shown, stoppable(shown) as progress:
            return pipeline.scan(targets, told, progress)
    except Interrupted as stopped:
        keep_partial(session, stopped, keeps_sources=told.keeps_sources)


def kept(session: Session, run: "Run", told: "Settings") -> Path | None:
    """Save a run; None where it cannot be saved. What was not kept of sources is said."""
    saved = keep(session, run)
    if not told.keeps_sources and run.installs:
        session.note("sources of hosts and bundles were not kept, as asked: the next scan brings them anew")
    return saved


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

    if isinstance(stopped.partial, Run) and not is_empty_probe(stopped.partial):
        with unstoppable():
            saved = keep(session, stopped.partial)
        session.note(f"interrupted; {held(stopped.partial, stopped.coming, keeps_sources=keeps_sources)}")
        if saved and (stopped.partial.installs or stopped.partial.measurements or stopped.partial.behaviours):
            session.note(f"see it: recon runs show {saved.name}; as one page: recon report --html")
    else:
        session.note("interrupted; nothing was measured yet" if isinstance(stopped.partial, Run) else "interrupted")
    raise typer.Exit(int(Exit.INTERRUPTED))


def is_empty_probe(run: "Run") -> bool:
    """Whether a run is a probe that learned nothing: then there is nothing to save."""
    from recon.runs.files import kind_of

    return kind_of(run) == "probe" and not (run.measurements or any(each.how for each in run.behaviours))


def held(run: "Run", coming: int, *, keeps_sources: bool) -> str:
    """What an interrupted command has in its hands.

    Args:
        run: What it learned.
        coming: How many installs it had found.
        keeps_sources: Whether sources that came stay here.
    """
    if run.measurements or run.behaviours:
        called = sum(bool(each.how) for each in run.behaviours)
        also = f", {called:,} of {len(run.behaviours):,} functions of engines answered" if run.behaviours else ""
        return f"{len(run.measurements):,} measurements were taken until then{also}"
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
    from recon.records.unknown import CACHE

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
