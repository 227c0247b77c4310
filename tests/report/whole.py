"""One run that holds everything at once: each standing, each kind of failure, and attacks in every text."""

from dataclasses import replace

from recon.estimates.decision import decide
from recon.records.behaviour import Behaviour, Claim, ShownRule
from recon.records.install import Install
from recon.records.measurement import Measurement, Resources
from recon.records.policy import PolicyFailure
from recon.records.run import Run
from recon.records.unknown import Unknown
from recon.records.verdict import Capability, Reach, Standing
from recon.report.view import Source, View, compose
from tests.report.hand import CAPABILITIES, DEVICE, EVIL, evidence, hostile, install, measurement, probe, scan, verdict
from tests.report.views import NOW, by_batch

MARKS = (
    "=cmd|' /C calc'!A0 | ``` `` # h **b** [x](http://y.example) ![i](javascript:z) <!-- c --> $m$ ~~s~~"
    f" www.z.example @somebody #1 {EVIL}"
)
"""What Markdown, spreadsheets, terminals and browsers would obey."""


def whole() -> Run:
    """Hostile trees beside ordinary ones; charts, a kernel that disagrees, one that does not fit, and behaviours."""
    base, measured = hostile(), probe()
    installs = (*base.installs, odd_install())
    spilling = Resources("sm_120", 255, 106_496, 0, 640, 708, 101_376, fits=False)
    measurements: tuple[Measurement, ...] = (
        *base.measurements,
        *measured.measurements,
        measurement(MARKS, "subject", 7.0, device=DEVICE, case={MARKS: MARKS}),
        measurement(MARKS, "subject", 7.0, device=replace(DEVICE, name=MARKS), mismatches=3),
        measurement(MARKS, "subject", 0.0, mode="compile", device=None, resources=(spilling, spilling)),
        *by_batch(f"chain {MARKS}", f"tree {MARKS}"),
    )
    return replace(
        base,
        installs=installs,
        measurements=measurements,
        estimates=decide(installs, base.hosts, measurements),
        capabilities=(*CAPABILITIES, *base.capabilities, Capability("odd.absent.unasked", MARKS, MARKS)),
        unknowns=tuple(Unknown(MARKS, f"{number} {MARKS}", MARKS) for number in range(12)),
        behaviours=(odd_behaviour(),),
        complete=False,
    )


def odd_install() -> Install:
    """A tree whose verdicts have every standing and reach, and attacks for words."""
    place = evidence(f"{MARKS}.py", 3, symbol=MARKS, scope=(MARKS,), note=MARKS)
    verdicts = tuple(
        verdict(
            f"odd.{standing.value}.{reach.value if reach else 'unasked'}",
            standing,
            reach,
            reason=MARKS,
            evidence=(place,) if standing in (Standing.PRESENT, Standing.PARTIAL) else (),
            nearest=(place,),
        )
        for standing in Standing
        for reach in (None, *Reach)
        if reach is None or standing in (Standing.PRESENT, Standing.PARTIAL)
    )
    known = scan().installs[1]
    return install(f"odd {MARKS}", known.engine, MARKS, verdicts, location=f"/odd/{MARKS}")


def odd_behaviour() -> Behaviour:
    """A function that contradicts its verdict."""
    rule = ShownRule(MARKS, {MARKS: MARKS}, {MARKS: MARKS}, MARKS, 12, 0)
    claim = Claim(MARKS, MARKS, "contradicts", MARKS)
    return Behaviour(
        f"odd {MARKS}", MARKS, MARKS, 3, (MARKS,), MARKS, "interpret", (rule,), (claim,), (MARKS,), (MARKS,), ""
    )


def failures(run: Run) -> tuple[PolicyFailure, ...]:
    """A failure for each verdict that is absent or unknown, one of no tree, and one twice."""
    each = [
        PolicyFailure("fail-on", f"--fail-on absent,unknown {MARKS}", one.id, judged.capability, judged.standing, MARKS)
        for one in run.installs
        for judged in one.verdicts
        if judged.standing in (Standing.ABSENT, Standing.UNKNOWN)
    ]
    none = PolicyFailure("require", f"--require {MARKS}", "", MARKS, None, "")
    return (*each, none, each[0])


def whole_view() -> View:
    """The run with its failures, arranged."""
    run = replace(whole(), failures=failures(whole()))
    return compose(run, (Source("scan", f"{MARKS}.json", run),), NOW, run.failures)
