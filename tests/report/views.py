"""The runs made by hand as views, at a fixed moment."""

from datetime import UTC, datetime

from recon.estimates.decision import decide
from recon.records.run import Run
from recon.report.join import joined
from recon.report.view import Source, View, compose
from tests.report.hand import hostile, probe, scan

NOW = datetime(2026, 11, 30, 14, 0, tzinfo=UTC)


def view_of(run: Run, kind: str = "scan") -> View:
    """A view of one run."""
    return compose(run, (Source(kind, f"{kind}.json", run),), NOW)


def scan_view() -> View:
    """The scan alone."""
    return view_of(scan())


def both_view() -> View:
    """The scan and the probe of its host."""
    sources = (Source("scan", "scan.json", scan()), Source("probe", "probe.json", probe()))
    return compose(joined(scan(), probe(), decide), sources, NOW)


def hostile_view() -> View:
    """The scan in which every text is an attack."""
    return view_of(hostile())
