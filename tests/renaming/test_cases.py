"""Every case of the detectors that judge by what code does, under other names."""

from dataclasses import replace

import pytest

from recon.detectors.api import Case, Detector
from recon.detectors.registry import detectors
from recon.detectors.testing import findings_in
from recon.records.verdict import Searched
from recon.verdicts.judge import judge
from tests.renaming.parts import FAMILIES
from tests.renaming.scrambler import renamed

BY_ROLE = pytest.mark.xfail(strict=True, reason="three methods without a loop: only words tell a step among them")
WITHOUT_A_LOOP = ("a count alone that a runner reaches", "a count that a kernel stores")
CASES = [
    pytest.param(
        detector,
        case,
        id=f"{detector.capability}-{case.name.replace(' ', '_')}",
        marks=[BY_ROLE] if case.name in WITHOUT_A_LOOP else [],
    )
    for detector in detectors()
    if detector.capability.startswith(FAMILIES)
    for case in detector.cases
]


@pytest.mark.parametrize(("detector", "case"), CASES)
def test_a_case_keeps_its_standing_under_other_names(detector: Detector, case: Case) -> None:
    """Whatever its functions, parameters, fields and files are called."""
    files = dict(renamed({path: text.encode() for path, text in case.files.items()}, "a case"))
    other = replace(case, files={path: data.decode() for path, data in files.items()})
    verdict = judge(
        detector.capability, detector.title, findings_in(detector, other), Searched(len(files), 1, 1, 1, 0, (), ())
    )

    assert case.standing is verdict.standing, verdict.reason
