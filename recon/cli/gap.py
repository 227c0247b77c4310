"""`recon gap`: what does this tree lack for that feature, and where would a patch go?"""

from typing import TYPE_CHECKING, Annotated

import typer

from recon.cli.session import Session, config_dir, session_of
from recon.errors import Exit, NotFound, Usage

if TYPE_CHECKING:
    from recon.features.shelf import Shelf
    from recon.records.feature import Feature
    from recon.records.gap import GapReport
    from recon.records.install import Install
    from recon.records.run import Run


def gap(
    context: typer.Context,
    *,
    feature: Annotated[
        list[str] | None,
        typer.Option("--feature", metavar="NAME", help="A feature of --list, or a TOML file; repeat for more."),
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="List the features that are known by name.")] = False,
    run: Annotated[
        str, typer.Option("--run", metavar="RUN", help="A file, or a name of `recon runs list`; else the newest scan.")
    ] = "",
    path: Annotated[
        list[str] | None,
        typer.Option("--path", metavar="PATH", help="Scan the tree, wheel or environment at PATH first; repeatable."),
    ] = None,
    release: Annotated[
        list[str] | None,
        typer.Option("--release", metavar="NAME==VERSION", help="Scan a published release first; repeatable."),
    ] = None,
    install: Annotated[
        str, typer.Option("--install", metavar="ID", help="Only this install: its id or a part of it, e.g. vllm.")
    ] = "",
    output: Annotated[
        list[str] | None,
        typer.Option("-o", "--output", metavar="FORMAT=PATH", help="Also write a file: markdown, text or tsv."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print features, answers and steps as JSON.")] = False,
) -> None:
    """Compare an engine tree with a feature: what is there, what is missing, and where a patch would go, in its order.

    Without --run, --path and --release the newest saved scan is asked. Every place is a line of the scanned source,
    taken from the verdicts of the scan.

    Exit codes: 0 done, 2 no such feature, run, path or release, 3 nothing found or files unread.
    """
    from recon.cli.outputs import is_taken, targets_of, write_file
    from recon.cli.scan import exit_of, leave
    from recon.features.shelf import named, shelf
    from recon.report.findings import unrecognised
    from recon.report.gap_files import gap_rows, writer_named
    from recon.report.gap_screen import gap_screen
    from recon.report.gap_words import view_of_gaps

    session = session_of(context)
    known = shelf(config_dir() / "features")
    for unknown in known.unknowns:
        session.note(f"warning: {unknown.what} ({unknown.where}): {unknown.why}")
    if listed:
        if feature or run or path or release or install or output:
            raise Usage("--list shows features and asks nothing of a tree", "Leave out the other options, or --list.")
        _list(session, known, as_json=json)
        return
    if not feature:
        raise Usage("no feature is named", f"For example: recon gap --feature {next(iter(known.features), 'NAME')}")
    targets = targets_of(output or (), as_json=json, read=(run, *(path or ())))
    writers = [writer_named(name) for name, _ in targets]
    features = named(tuple(feature), known)
    if path or release:
        _check(session, features)  # before a scan that would be in vain
    asked, name, scanned = _asked(session, run, tuple(path or ()), tuple(release or ()))
    _check(session, features, asked)
    chosen = _chosen(asked, install)
    report = _report(features, chosen, asked, name)
    view = view_of_gaps(report, asked)
    if json:
        session.data(_encoded(report))
    elif not is_taken(target for _, target in targets):
        planned = any(kind == "markdown" for kind, _ in targets)
        shown = gap_screen(view, session.width, color=session.colored, planned=planned) if session.screen else ""
        session.data(shown or gap_rows(view))
    if (sentence := unrecognised(chosen)) and (json or not session.screen):
        session.note(sentence)
    for (kind, target), writer in zip(targets, writers, strict=True):
        write_file(session, kind, target, writer(view))
    leave(exit_of(asked) if scanned else Exit.OK)


def _asked(session: Session, run: str, paths: tuple[str, ...], releases: tuple[str, ...]) -> "tuple[Run, str, bool]":
    """The run that is asked, its name, and whether it was made for this question."""
    from recon.cli.saved import named_or_newest, say_if_interrupted
    from recon.cli.scan import Named, scanned, settings

    if not paths and not releases:
        source = named_or_newest(run, "scan")
        say_if_interrupted(session, source.run)
        return source.run, source.name, False
    if run:
        raise Usage("--run names a saved scan, --path and --release ask for a new one", "Give one of them.")
    made, saved = scanned(session, Named(paths, releases), settings())
    return made, saved.name if saved else "", True


def _chosen(run: "Run", wanted: str) -> "list[Install]":
    """The engines that are asked; a kernel package only where it is named."""
    from recon.cli.asking import installs_of

    chosen = [each for each in installs_of(run, wanted) if wanted or not each.engine.is_companion]
    if not chosen:
        ids = ", ".join(each.id for each in run.installs)
        raise NotFound("this run holds no engine", f"Name a kernel package with --install: {ids}.")
    return chosen


def _report(features: "tuple[Feature, ...]", chosen: "list[Install]", run: "Run", name: str) -> "GapReport":
    from recon import __version__
    from recon.records.gap import GapReport
    from recon.records.run import SCHEMA_VERSION
    from recon.verdicts.gaps import gaps_of

    gaps = gaps_of(features, chosen, run.installs)
    return GapReport(SCHEMA_VERSION, __version__, name, run.started_at, features, gaps)


def _encoded(value: object) -> str:
    import msgspec

    return msgspec.json.format(msgspec.json.encode(value), indent=1).decode() + "\n"


def _list(session: Session, known: "Shelf", *, as_json: bool) -> None:
    from recon.report.gap_screen import features_screen
    from recon.report.text import visible

    features = list(known.features.values())
    if as_json:
        session.data(_encoded(features))
    elif session.screen:
        session.data(features_screen(features, session.width, color=session.colored))
    else:
        rows = ((each.id, each.title, each.origin, each.paper) for each in features)
        session.data("".join("\t".join(map(visible, row)) + "\n" for row in rows))


def _check(session: Session, features: "tuple[Feature, ...]", run: "Run | None" = None) -> None:
    """Refuse capabilities of features that are not ours which nobody judges: most often they are misspelled.

    Raises:
        Usage: there is such a one, and no detector that could not be loaded may be what judges it.
    """
    from difflib import get_close_matches

    from recon.features.shelf import OURS

    theirs = [each for each in features if each.origin != OURS]
    if not theirs:
        return
    from recon.pipeline import capabilities, detectors_unheard

    judged = {each.id for each in capabilities()}
    judged |= {verdict.capability for each in (run.installs if run else ()) for verdict in each.verdicts}
    for feature in theirs:
        asked = {name for need in feature.needs for name in need.capabilities}
        pointed = {hook.capability for need in feature.needs for hook in need.hooks}
        for name in sorted((asked | pointed) - judged):
            near = get_close_matches(name, sorted(judged), n=1, cutoff=0.5)
            hint = f"Did you mean {near[0]}?" if near else "`recon explain` lists all capabilities."
            said = f"{feature.origin}: no detector judges {name}"
            if not detectors_unheard():
                raise Usage(said, hint)
            session.note(f"warning: {said}; one that could not be loaded may. {hint}")
