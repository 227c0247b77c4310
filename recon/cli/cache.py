"""`recon cache`: what is kept so that it need not be read twice."""

from dataclasses import asdict
from typing import Annotated

import typer

from recon.cli.session import cache_dir, session_of

app = typer.Typer(help="Count and prune what is kept of sources.", no_args_is_help=True)

_DAY_S = 86_400.0
_MIB = 1 << 20


@app.command("info")
def info(
    context: typer.Context,
    *,
    json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
) -> None:
    """Say where the cache is and how much it holds.

    Exit codes: 0 done.
    """
    import msgspec

    from recon.cli.lines import aligned, tabbed
    from recon.report.numbers import count, seconds, size
    from recon.sources.store import BlobStore

    session = session_of(context)
    found = BlobStore(cache_dir()).info()
    if json:
        session.data(msgspec.json.format(msgspec.json.encode(asdict(found)), indent=1).decode() + "\n")
        return
    rows = {
        "folder": found.root,
        "blobs": count(found.blobs),
        "snapshots": count(found.snapshots),
        "outlines": size(found.outlines_bytes),
        "graphs": f"{count(found.graphs)}, {size(found.graphs_bytes)}",
        "size": size(found.size_bytes),
        "least recently used": f"{seconds(found.oldest_s)} ago" if found.size_bytes else "-",
    }
    session.data(aligned(rows.items()) if session.screen else tabbed(rows.items()))


@app.command("prune")
def prune(
    context: typer.Context,
    *,
    older_than_days: Annotated[
        float, typer.Option("--older-than", min=0, metavar="DAYS", help="Remove what was not used for so many days.")
    ] = 30.0,
    keep_mib: Annotated[
        int | None, typer.Option("--keep", min=0, metavar="MIB", help="Then remove the least recently used above this.")
    ] = None,
) -> None:
    """Remove what was not used lately. Nothing is lost: what is needed again is read again.

    Exit codes: 0 done.
    """
    from recon.report.numbers import counted, size
    from recon.sources.store import BlobStore

    keep = None if keep_mib is None else keep_mib * _MIB
    gone = BlobStore(cache_dir()).prune(older_than_s=older_than_days * _DAY_S, keep_bytes=keep)
    session_of(context).note(f"removed {counted(gone.files, 'file')}, {size(gone.size_bytes)}")
