"""What is drawn of times, and with what."""

import hashlib
import json
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

from recon.records.cost import Ground, Quantity, Round
from recon.records.estimate import Decision, Outlook
from recon.report.charts import charts_of
from tests.report.hand import DEVICE, measurement, scan

TOOLS = Path(__file__).resolve().parents[2] / "tools" / "charts"
BY_BATCH = [
    measurement(kernel, role, factor * batch, case={"batch": batch, "nodes": 64, "dtype": "bf16"})
    for batch in (32, 1, 8)
    for kernel, role, factor in (("linear", "baseline", 8.0), ("tree", "subject", 10.0))
]


def test_the_axis_with_the_most_points_is_drawn_with_the_others_held() -> None:
    by_nodes = [measurement("tree", "subject", nodes, case={"batch": 1, "nodes": nodes}) for nodes in (8, 16, 32, 64)]
    (first,) = charts_of(BY_BATCH, ())
    (second,) = charts_of(BY_BATCH + by_nodes, ())

    assert (DEVICE.name, "linear-vs-tree: time by batch") == (first.device, first.title)
    assert "nodes 64, dtype bf16" == first.note
    assert [("linear", False), ("tree", True)] == [(line.name, line.dashed) for line in first.lines]
    assert [(1.0, 8.0), (8.0, 64.0), (32.0, 256.0)] == [point[:2] for point in first.lines[0].points]
    assert "linear-vs-tree: time by nodes" == second.title


def test_two_points_floors_and_what_was_not_timed_are_no_lines() -> None:
    floors = [replace(each, role="floor") for each in BY_BATCH]
    checked = [replace(each, mode="interpret") for each in BY_BATCH]
    wrong = [replace(each, spread=None) for each in BY_BATCH]

    assert () == charts_of([*BY_BATCH[:4], *floors, *checked, *wrong], ())


def test_the_rounds_of_an_estimate_are_drawn_by_batch() -> None:
    def outlook(batch: int, us: float) -> Outlook:
        chain = Round("chain", 7, Quantity(us, us, us, Ground.MEASURED, ""), ())
        tree = replace(chain, shape="tree", us=Quantity(2 * us, us, 3 * us, Ground.MEASURED, ""))
        return Outlook(
            "bundled",
            batch,
            8192,
            Decision.TOO_CLOSE,
            None,
            "",
            16,
            7,
            None,
            None,
            tree,
            chain,
            None,
            None,
            None,
            None,
            "",
            "",
        )

    (estimate, *_) = scan().estimates
    (chart,) = charts_of((), [replace(estimate, outlooks=(outlook(8, 50.0), outlook(1, 20.0)))])

    assert ("", "A round by batch", "batch") == (chart.device, chart.title, chart.axis)
    assert [("best chain", False), ("best tree", True)] == [(line.name, line.dashed) for line in chart.lines]
    assert ((1.0, 40.0, 20.0, 60.0), (8.0, 100.0, 50.0, 150.0)) == chart.lines[1].points


def test_what_charts_are_drawn_with_is_the_file_that_was_built() -> None:
    vendored = files("recon.report").joinpath("vendored")
    bundle = vendored.joinpath("plot.min.js").read_bytes()

    assert vendored.joinpath("plot.sha256").read_text().strip() == hashlib.sha256(bundle).hexdigest()
    assert b"</script" not in bundle.lower()


def test_each_package_of_the_bundle_is_pinned_without_an_address_and_has_its_licence() -> None:
    lock = (TOOLS / "package-lock.json").read_text()
    packages = {
        name.removeprefix("node_modules/"): about for name, about in json.loads(lock)["packages"].items() if name
    }
    licences = files("recon.report").joinpath("vendored", "plot.LICENSES.txt").read_text()
    named = [part.split("\n")[0] for part in licences.split("-" * 80 + "\n\n")]

    assert "://" not in lock
    assert [] == [name for name, about in packages.items() if "integrity" not in about]
    assert len(named) >= 30
    assert [] == [
        each for each in named if each.split(" ")[1] != packages[each.split(" ")[0]]["version"] or "Licence:" in each
    ]
