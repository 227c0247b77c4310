"""`recon doctor`: what works from here, and there."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from recon.cli.hosts import config_of, refuse_idle
from recon.cli.session import Session, session_of
from recon.errors import Exit, ReconError

if TYPE_CHECKING:
    from pathlib import Path

    from recon.cli.checks import Check
    from recon.hosts.connect import Options
    from recon.hosts.target import Target

Transport = Literal["auto", "paramiko", "openssh"]


def doctor(
    context: typer.Context,
    *,
    host: Annotated[
        list[str] | None,
        typer.Option("--host", metavar="[USER@]HOST[:PORT]", help="Look at this host, over SSH; repeat for more."),
    ] = None,
    transport: Annotated[Transport, typer.Option("--transport", help="What carries SSH.")] = "auto",
    ssh_config: Annotated[
        str, typer.Option("--ssh-config", metavar="FILE", help="Read this configuration instead of ~/.ssh/config.")
    ] = "",
    batch: Annotated[bool, typer.Option("--batch", help="Ask nobody for a passphrase or a password; fail.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the checks as JSON.")] = False,
) -> None:
    """Say what works: SSH and its keys here, and what this machine, or each host, has for scans and probes.

    Nothing is changed anywhere, and no key of a host is added. Without --host, this machine is looked at.

    What is missing keeps scans from working; a GPU, torch or a compiler that is not there is a warning, since only
    probes need it.

    Exit codes: 0 scans can work, 2 no such file or host name, 3 something that they need is missing.
    """
    from recon.cli.checks import MISSING
    from recon.hosts.connect import Options
    from recon.hosts.target import parse

    session = session_of(context)
    if not host:
        about = ("transport", "ssh_config", "batch")
        refuse_idle(context, about, "is about hosts, and none is named", "Add --host HOST, or leave it out.")
    targets = [parse(words) for words in host or ()]
    options = Options(transport=transport, config=config_of(ssh_config), batch=batch)
    checks = list(_here(options.config, alone=not targets))
    for target in targets:
        session.detail(f"asking {target.typed}")
        checks += _there(target, options)
    _say(session, checks, as_json=json)
    if any(each.standing == MISSING for each in checks):
        raise typer.Exit(int(Exit.INCOMPLETE))


def _here(config: "Path | None", *, alone: bool) -> "Iterator[Check]":
    """The client's side of SSH; and this machine, where no host is asked about."""
    import os
    from pathlib import Path

    from recon.cli.checks import MISSING, Check, machine, ssh_here
    from recon.hosts.local import LocalShell

    socket = os.environ.get("SSH_AUTH_SOCK")
    yield from ssh_here(Path(socket) if socket else None, config, os.environ.get("HOME", ""))
    if alone:
        try:
            yield from machine(LocalShell(), "here", afar=False)
        except ReconError as error:
            yield Check("here", f"sh: {error.word}", MISSING, error.message, error.hint)


def _there(target: "Target", options: "Options") -> "Iterator[Check]":
    """The way to a host, and the host; what fails ends the list with its reason."""
    from recon.cli.checks import MISSING, OK, Check, machine, way_to
    from recon.hosts.connect import connect
    from recon.hosts.effective import route

    try:
        yield from way_to(target.typed, route(target, config=options.config))
        with connect(target, options) as shell:
            shell.run("true")  # the system's ssh logs in for the first script
            yield Check(target.typed, "login", OK, f"by {shell.transport}")
            yield from machine(shell, target.typed)
    except ReconError as error:
        yield Check(target.typed, f"login: {error.word}", MISSING, error.message, error.hint)


def _say(session: Session, checks: "list[Check]", *, as_json: bool) -> None:
    """Print checks: as JSON, as a list for a person, or as rows for a pipe."""
    from dataclasses import asdict

    if as_json:
        import msgspec

        rows = [asdict(each) for each in checks]
        session.data(msgspec.json.format(msgspec.json.encode({"checks": rows}), indent=1).decode() + "\n")
        return
    if not session.screen:
        from recon.cli.lines import tabbed

        session.data(tabbed((each.standing, each.where, each.what, each.detail, each.hint) for each in checks))
        return
    from recon.report.terminal import table, text, written

    styles = {"ok": "green", "warn": "yellow", "missing": "red"}
    made = table("", "Where", "What", "Found")
    for each in checks:
        found = text(each.detail)
        if each.hint:
            found.append("\n").append_text(text(each.hint, "dim"))
        made.add_row(text(each.standing, styles[each.standing]), text(each.where), text(each.what), found)
    session.data(written([made], session.width, color=session.colored))
