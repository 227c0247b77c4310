"""`recon show`: one capability in full, or all in brief, from a saved run."""

from difflib import get_close_matches
from enum import Enum
from typing import TYPE_CHECKING, Annotated

import typer

from recon.cli.session import session_of
from recon.errors import NotFound, Usage

if TYPE_CHECKING:
    from recon.cli.session import Session
    from recon.records.install import Install
    from recon.records.run import Run
    from recon.report.findings import Finding


class Link(Enum):
    """What opens a place."""

    NONE = "none"
    VSCODE = "vscode"


def show(
    context: typer.Context,
    capability: Annotated[
        str | None,
        typer.Argument(metavar="[CAPABILITY]", help="Its id, e.g. accept.tree.greedy; without it, all in brief."),
    ] = None,
    *,
    run: Annotated[
        str, typer.Option("--run", metavar="RUN", help="A file, or a name of `recon runs list`; else the newest scan.")
    ] = "",
    install: Annotated[
        str, typer.Option("--install", metavar="ID", help="Only this install: its id or a part of it, e.g. vllm.")
    ] = "",
    link: Annotated[
        Link,
        typer.Option("--link", help="Make places links that an editor opens, over SSH too: in colour and in JSON."),
    ] = Link.NONE,
    json: Annotated[bool, typer.Option("--json", help="Print verdicts and excerpts as JSON.")] = False,
) -> None:
    """Show why: the reason, the places with their lines, the nearest misses, what was searched, gates and members.

    Reads a saved run; the source need not be there any more. Without a capability: the answer, the first place and the
    reason of each verdict.

    Exit codes: 0 done, 2 usage, or no such capability, install or run, 3 the run cannot be read.
    """
    import msgspec

    from recon.cli.asking import installs_of
    from recon.cli.saved import named_or_newest, say_if_interrupted
    from recon.report.detail import UNBOUNDED, detail
    from recon.report.view import compose

    if capability is None and link is not Link.NONE:
        raise Usage("links are made of one capability's places", "Name it: recon show CAPABILITY --link vscode")
    session = session_of(context)
    source = named_or_newest(run, "scan")
    say_if_interrupted(session, source.run)
    chosen = installs_of(source.run, install)
    if capability is not None:
        _check(source.run, capability)
    links = _links(source.run, chosen) if link is Link.VSCODE else {}
    if json:
        rows = [_brief(each) if capability is None else _row(each, capability, links) for each in chosen]
        session.data(msgspec.json.format(msgspec.json.encode([row for row in rows if row]), indent=1).decode() + "\n")
        return
    ids = {each.id for each in chosen}
    findings = [
        finding
        for finding in compose(source.run, [source], session.started).findings
        if capability in {finding.capability, None} and finding.install in ids
    ]
    if capability is None:
        _list(session, findings)
        return
    width = session.width if session.screen else UNBOUNDED
    session.data(detail(findings, width, color=session.colored, links=links))


def _check(run: "Run", capability: str) -> None:
    judged = {verdict.capability for each in run.installs for verdict in each.verdicts}
    if capability in judged:
        return
    near = get_close_matches(capability, sorted(judged), n=1, cutoff=0.5)
    hint = f"Did you mean {near[0]}?" if near else f"Judged were: {', '.join(sorted(judged))}."
    raise NotFound(f"no capability {capability!r} in this run", hint)


def _list(session: "Session", findings: "list[Finding]") -> None:
    from recon.cli.lines import aligned, tabbed

    rows = [
        (each.install, each.capability, each.answer, each.speaks.at if each.speaks else "", each.reason)
        for each in findings
    ]
    session.data(aligned(rows, session.width, place=3) if session.screen else tabbed(rows))


def _brief(install: "Install") -> dict[str, object]:
    return {
        **_named(install),
        "location": install.location,
        "verdicts": [
            {
                "capability": each.capability,
                "standing": each.standing,
                "reach": each.reach,
                "own_word": each.own_word,
                "reason": each.reason,
                "place": next((f"{place.path}:{place.line}" for place in (*each.evidence, *each.nearest)), ""),
            }
            for each in install.verdicts
        ],
    }


def _named(install: "Install") -> dict[str, object]:
    return {"install": install.id, "host": install.host, "engine": install.engine, "version": install.version}


def _links(run: "Run", installs: "list[Install]") -> dict[str, dict[str, str]]:
    """Of each install, the places that an editor can open, with the address."""
    from recon.records.host import by_name
    from recon.report.links import vscode

    hosts = by_name(run.hosts)
    return {
        install.id: {
            f"{place.path}:{place.line}": address
            for verdict in install.verdicts
            for place in (*verdict.evidence, *verdict.nearest)
            if (address := vscode(install, hosts[install.host], place.path, place.line))
        }
        for install in installs
        if install.host in hosts
    }


def _row(install: "Install", capability: str, links: dict[str, dict[str, str]]) -> dict[str, object]:
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
    row = {**_named(install), "verdict": verdict, "excerpts": shown}
    if links:
        ats = [f"{path}:{line}" for path, line in sorted(places)]
        known = links.get(install.id, {})
        row["links"] = {at: known[at] for at in ats if at in known}
    return row
