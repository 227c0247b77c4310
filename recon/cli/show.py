"""`recon show`: one capability in full, from a saved run."""

from difflib import get_close_matches
from typing import TYPE_CHECKING, Annotated

import typer

from recon.cli.session import session_of
from recon.errors import NotFound

if TYPE_CHECKING:
    from recon.records.install import Install
    from recon.records.run import Run


def show(
    context: typer.Context,
    capability: Annotated[str, typer.Argument(metavar="CAPABILITY", help="Its id, e.g. accept.tree.greedy.")],
    *,
    run: Annotated[
        str, typer.Option("--run", metavar="RUN", help="A file, or a name of `recon runs list`; else the newest scan.")
    ] = "",
    install: Annotated[
        str, typer.Option("--install", metavar="ID", help="Only this install: its id or a part of it, e.g. vllm.")
    ] = "",
    json: Annotated[bool, typer.Option("--json", help="Print verdicts and excerpts as JSON.")] = False,
) -> None:
    """Show why: the reason, the places with their lines, the nearest misses, what was searched, gates and members.

    Reads a saved run; the source need not be there any more.

    Exit codes: 0 done, 2 no such capability, install or run, 3 the run cannot be read.
    """
    import msgspec

    from recon.cli.asking import installs_of
    from recon.cli.saved import named_or_newest, say_if_interrupted
    from recon.report.detail import UNBOUNDED, detail
    from recon.report.view import compose

    session = session_of(context)
    source = named_or_newest(run, "scan")
    say_if_interrupted(session, source.run)
    chosen = installs_of(source.run, install)
    _check(source.run, capability)
    if json:
        rows = [_row(each, capability) for each in chosen]
        session.data(msgspec.json.format(msgspec.json.encode([row for row in rows if row]), indent=1).decode() + "\n")
        return
    ids = {each.id for each in chosen}
    findings = [
        finding
        for finding in compose(source.run, [source], session.started).findings
        if finding.capability == capability and finding.install in ids
    ]
    width = session.width if session.screen else UNBOUNDED
    session.data(detail(findings, width, color=session.colored))


def _check(run: "Run", capability: str) -> None:
    judged = {verdict.capability for each in run.installs for verdict in each.verdicts}
    if capability in judged:
        return
    near = get_close_matches(capability, sorted(judged), n=1, cutoff=0.5)
    hint = f"Did you mean {near[0]}?" if near else f"Judged were: {', '.join(sorted(judged))}."
    raise NotFound(f"no capability {capability!r} in this run", hint)


def _row(install: "Install", capability: str) -> dict[str, object]:
    verdict = next((each for each in install.verdicts if each.capability == capability), None)
    if verdict is None:
        return {}
    places = {(each.path, each.line) for each in (*verdict.evidence, *verdict.nearest)}
    shown = [
        each
        for each in install.excerpts
        if any(
            path == each.path and each.line <= line < each.line + len(each.text.split("\n")) for path, line in places
        )
    ]
    return {
        "install": install.id,
        "host": install.host,
        "engine": install.engine,
        "version": install.version,
        "verdict": verdict,
        "excerpts": shown,
    }
