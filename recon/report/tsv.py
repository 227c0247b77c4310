"""Tab-separated rows, full paths, no colour: what a pipe gets. The first column says what a row is."""

from collections.abc import Iterable

from recon.report.findings import Finding
from recon.report.format import Format
from recon.report.text import visible
from recon.report.view import View


def render(view: View) -> str:
    """One row for each decision, verdict, measurement, build, knee, behaviour, failure and unknown, in that order.

    Columns by kind of row:
        decision     install, whether a tree pays, sentence, whether one can run
        verdict      install, host, capability, answer, assuming, place, reason, searched, the user's own word
        measurement  GPU, kernel, case, role, check, median, interval, over floor, over baseline, how it was timed
        build        heading, kernel, case and choices, target, registers, shared memory of its limit, spills, whether
                     a block fits
        knee         GPU, kernel, case, time at the fewest tokens, tokens up to which more are nearly free, then
        behaviour    install, place, rules seen, what that says of each verdict, how it was called or why not
        failure      install, capability, standing, policy, what was demanded and found
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
            each.way,
        )
        for group in view.timings
        for each in group.timings
    ]
    rows += [
        ("build", group.heading, each.kernel, each.case, each.arch, each.registers, each.shared, each.spills, fits)
        for group in view.timings
        for each in group.built
        for fits in ("fits" if each.fits else "does not fit",)
    ]
    rows += [
        ("knee", group.heading, each.kernel, each.case, each.first, each.free, each.then)
        for group in view.timings
        for each in group.curves
    ]
    rows += [
        ("behaviour", each.install, each.place, each.rules or "none", each.verdicts, each.how)
        for each in view.behaviours
    ]
    rows += [
        (
            "failure",
            each.install,
            each.capability,
            each.standing.value if each.standing else "",
            each.demand,
            each.message,
        )
        for each in view.failures
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
        finding.own_word,
    )


FORMAT = Format("tsv", "text/tab-separated-values", render)
