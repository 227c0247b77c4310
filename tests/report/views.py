"""The runs made by hand as views, at a fixed moment."""

from dataclasses import replace
from datetime import UTC, datetime

from recon.estimates.decision import decide
from recon.records.measurement import Measurement
from recon.records.policy import PolicyFailure
from recon.records.run import Run
from recon.records.verdict import Standing
from recon.report.join import joined
from recon.report.view import Source, View, compose
from tests.report.hand import hostile, measurement, probe, scan

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


def by_batch(chain: str, tree: str) -> tuple[Measurement, ...]:
    """Times of two kernels at three batches."""
    return tuple(
        measurement(kernel, role, factor * batch, case={"batch": batch, "nodes": 64, "dtype": "bf16"})
        for batch in (1, 8, 32)
        for kernel, role, factor in ((chain, "baseline", 8.6), (tree, "subject", 10.4))
    )


def charted_view() -> View:
    """As `both_view`, with times at three batches, which are enough for a chart."""
    made = replace(probe(), measurements=probe().measurements + by_batch("linear_verify", "tree_verify"))
    sources = (Source("scan", "scan.json", scan()), Source("probe", "probe.json", made))
    return compose(joined(scan(), made, decide), sources, NOW)


def hostile_view() -> View:
    """The scan in which every text is an attack."""
    return view_of(hostile())


def failed_view() -> View:
    """The scan and the probe made by hand, with two policies that failed."""
    vllm = scan().installs[1].id
    demand = "--fail-on absent:accept.tree.*"
    return replace(
        both_view(),
        failures=(
            PolicyFailure("fail-on", demand, vllm, "accept.tree.greedy", Standing.ABSENT, "It is absent."),
            PolicyFailure("require", "--require kv.path_compact", vllm, "kv.path_compact", Standing.ABSENT, "No."),
        ),
    )
