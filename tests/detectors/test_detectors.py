"""Every case of every detector, judged as a tree on a disk is."""

import pytest

from recon.detectors.api import Case, Detector, Findings
from recon.detectors.registry import detectors
from recon.detectors.testing import findings_in
from recon.records.verdict import Searched
from recon.verdicts.judge import judge

CASES = [
    pytest.param(detector, case, id=f"{detector.capability}-{case.name.replace(' ', '_')}")
    for detector in detectors()
    for case in detector.cases
]


FOUND: dict[tuple[str, str], Findings] = {}


def found_in(detector: Detector, case: Case) -> Findings:
    """What a detector finds in a case; each is read once, and asked about twice."""
    key = detector.capability, case.name
    if key not in FOUND:
        FOUND[key] = findings_in(detector, case)
    return FOUND[key]


@pytest.mark.parametrize(("detector", "case"), CASES)
def test_a_case_gets_its_standing(detector: Detector, case: Case) -> None:
    """Everything in a case is read, so that what is not seen is absent."""
    searched = Searched(len(case.files), 1, 1, 1, 0, (), ())
    verdict = judge(detector.capability, detector.title, found_in(detector, case), searched)

    assert case.standing is verdict.standing, verdict.reason


@pytest.mark.parametrize(("detector", "case"), CASES)
def test_what_a_detector_says_is_one_sentence(detector: Detector, case: Case) -> None:
    """Reasons are printed one under the other; notes follow a place."""
    findings = found_in(detector, case)
    said = [text for text in (findings.reason, findings.lacks) if text]
    notes = [each.note for each in (*findings.evidence, *findings.nearest)]

    assert [] == [text for text in said if not (text[0].isupper() and text.endswith(".") and "\n" not in text)]
    assert [] == [note for note in notes if not (note[0].islower() and not note.endswith(".") and "\n" not in note)]
