"""Tab-separated rows, full paths, no colour: what a pipe gets. The first column says what a row is."""

from collections.abc import Iterable

from recon.report.findings import Finding
from recon.report.format import Format
from recon.report.text import visible
from recon.report.view import View


def render(view: View) -> str:
    """One row for each decision, verdict, measurement and unknown, in that order.

    Columns by kind of row:
        decision     install, whether a tree pays, sentence, whether one can run
        verdict      install, host, capability, answer, assuming, place, reason, searched
        measurement  GPU, kernel, case, role, check, median, interval, over floor, over baseline
        unknown      what, where, why
    """
    rows: list[Iterable[str]] = [
        ("decision", each.label, each.word, each.sentence, each.runs) for each in view.decisions
    ]
    rows += [_verdict(finding) for finding in view.findings]
    rows += [
        (
            "measurement",
            group.heading,
            each.kernel,
            each.case,
            each.role,
            each.check,
            each.median,
            each.interval,
            each.over_floor,
            each.over_baseline,
        )
        for group in view.timings
        for each in group.timings
    ]
    rows += [("unknown", each.what, each.where, each.why) for each in view.unknowns]
    return "".join("\t".join(map(visible, row)) + "\n" for row in rows)


def _verdict(finding: Finding) -> tuple[str, ...]:
    place = finding.speaks
    near = "" if finding.places or not place else "nearest "
    return (
        "verdict",
        finding.label,
        finding.host,
        finding.capability,
        finding.answer,
        finding.assuming,
        f"{near}{place.at}" if place else "",
        finding.reason,
        finding.searched,
    )


FORMAT = Format("tsv", "text/tab-separated-values", render)
