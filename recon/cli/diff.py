"""`recon diff`: two saved runs against each other."""

from typing import TYPE_CHECKING, Annotated

import typer

from recon.cli.session import cache_dir, session_of, state_dir
from recon.errors import Exit

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recon.records.difference import RunDifference, RunName
    from recon.records.install import Install
    from recon.records.run import Run
    from recon.report.view import Source


def diff(
    context: typer.Context,
    before: Annotated[str, typer.Argument(metavar="BEFORE", help="A run: a file, or a name of `recon runs list`.")],
    after: Annotated[str, typer.Argument(metavar="AFTER", help="The run that it is compared with.")],
    *,
    json: Annotated[bool, typer.Option("--json", help="Print the differences as JSON.")] = False,
) -> None:
    """Compare two saved runs: verdicts, their places, your own words on them, their files, and times of kernels.

    A time is called faster, slower or the same by the intervals of both medians, and only where card, driver,
    libraries, limits and the way of timing are equal; else it is said what differs, and nothing is told.

    Exit codes: 0 done, whatever changed; 2 no such run; 3 a run cannot be read, or is not whole.
    """
    import msgspec

    from recon.cli.saved import say_if_interrupted, source_of
    from recon.runs.files import resolve

    session = session_of(context)
    sources = [source_of(resolve(name, state_dir())) for name in (before, after)]
    for each in sources:
        say_if_interrupted(session, each.run)
    made = difference_of(*sources)
    if json:
        session.data(msgspec.json.format(msgspec.json.encode(made), indent=1).decode() + "\n")
    elif session.screen:
        from recon.report.diff_words import diff_screen

        session.data(diff_screen(made, session.width, color=session.colored))
    else:
        from recon.report.diff_words import diff_rows

        session.data(diff_rows(made))
    if not all(each.run.complete for each in sources):  # what the rest would have held is not gone, but not known
        raise typer.Exit(int(Exit.INCOMPLETE))


def difference_of(before: "Source", after: "Source") -> "RunDifference":
    """What two runs say otherwise; files are compared where the cache still knows what they held."""
    from recon import __version__
    from recon.estimates.changes import times_changed
    from recon.records.difference import RunDifference
    from recon.records.run import SCHEMA_VERSION
    from recon.verdicts.changes import installs_changed

    times, only_before, only_after = times_changed(before.run.measurements, after.run.measurements)
    return RunDifference(
        schema_version=SCHEMA_VERSION,
        recon_version=__version__,
        before=_name(before),
        after=_name(after),
        differs=tuple(_differing(before.run, after.run)),
        installs=installs_changed(before.run.installs, after.run.installs, _digests),
        times=times,
        only_before=only_before,
        only_after=only_after,
    )


def _name(source: "Source") -> "RunName":
    from recon.records.difference import RunName

    run = source.run
    return RunName(source.name, run.started_at, run.recon_version, run.complete)


def _differing(before: "Run", after: "Run") -> list[str]:
    pairs = {
        "recon": (before.recon_version, after.recon_version),
        "run": tuple("whole" if each.complete else "interrupted" for each in (before, after)),
    }
    return [f"{name}: {one} before, {other} after" for name, (one, other) in pairs.items() if one != other]


def _digests(install: "Install") -> "Mapping[str, str] | None":
    from recon.sources.store import BlobStore

    snapshot = BlobStore(cache_dir()).load_snapshot(install.source_digest)
    return {each.path: each.digest for each in snapshot.files} if snapshot else None
