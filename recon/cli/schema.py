"""`recon schema`: the JSON Schema of a run file."""

from typing import Annotated

import typer

from recon.cli.session import session_of


def schema(
    context: typer.Context,
    *,
    json: Annotated[bool, typer.Option("--json", help="As without it: a schema is JSON.")] = False,  # noqa: ARG001 - as elsewhere
) -> None:
    """Print the JSON Schema of a run file, and of what `recon gap` and `recon diff` print with --json.

    Exit codes: 0 done.
    """
    from json import dumps

    from recon.runs.schema import schema as described

    session_of(context).data(dumps(described(), indent=1) + "\n")
