"""Every case of every detector, judged as a tree on a disk is."""

import pytest

from recon.detectors.api import Case, Detector
from recon.detectors.registry import detectors
from recon.detectors.testing import findings_in
from recon.records.verdict import Searched
from recon.verdicts.judge import judge

CASES = [
    pytest.param(detector, case, id=f"{detector.capability}-{case.name.replace(' ', '_')}")
    for detector in detectors()
    for case in detector.cases
]


@pytest.mark.parametrize(("detector", "case"), CASES)
def test_a_case_gets_its_standing(detector: Detector, case: Case) -> None:
    """Everything in a case is read, so that what is not seen is absent."""
    searched = Searched(len(case.files), 1, 1, 1, 0, (), ())
    verdict = judge(detector.capability, detector.title, findings_in(detector, case), searched)

    assert case.standing is verdict.standing, verdict.reason
