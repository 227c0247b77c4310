"""`recon schema`: the JSON Schema of a run file."""

import typer

from recon.cli.session import session_of


def schema(context: typer.Context) -> None:
    """Print the JSON Schema of a run file, and of what `recon gap --json` prints.

    Exit codes: 0 done.
    """
    import json

    from recon.runs.schema import schema as described

    session_of(context).data(json.dumps(described(), indent=1) + "\n")
