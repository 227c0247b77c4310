"""`recon collect`: a script for hosts that you may not log in to from here."""

from typing import Annotated

import typer

from recon.cli.session import session_of


def collect(
    context: typer.Context, *, json: Annotated[bool, typer.Option("--json", help="Print the script as JSON.")] = False
) -> None:
    """Print a POSIX sh script that a person runs on a host by hand; `recon scan --bundle` reads what it writes.

    recon collect > collect.sh, then there: sh collect.sh > bundle, and back here: recon scan --bundle bundle.
    `sh collect.sh --plan` says what it reads. It writes no file on the host, starts no Python and reaches no network.
    """
    from json import dumps

    from recon.collecting import collect_script

    script = collect_script()
    session_of(context).data(dumps({"script": script}) + "\n" if json else script)
