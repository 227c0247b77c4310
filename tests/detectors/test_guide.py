"""The guide and the list of detectors: what they show is true."""

import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from recon.detectors.api import Case, Detector
from recon.detectors.registry import ours
from recon.detectors.testing import findings_in
from recon.records.verdict import Searched
from recon.verdicts.judge import judge

ROOT = Path(__file__).resolve().parents[2]
GUIDE = ROOT / "docs" / "writing-a-detector.md"


def shown() -> str:
    """The example of the guide."""
    (source,) = re.findall(r"^```python\n(.*?)^```", GUIDE.read_text(), re.MULTILINE | re.DOTALL)
    return str(source)


def example() -> Detector:
    """The detector of the guide."""
    module = ModuleType("sampling_race")
    exec(compile(shown(), str(GUIDE), "exec"), module.__dict__)
    detector = module.__dict__["DETECTOR"]
    assert isinstance(detector, Detector)
    return detector


EXAMPLE = example()


@pytest.mark.parametrize("case", EXAMPLE.cases, ids=lambda case: case.name)
def test_the_example_of_the_guide_works(case: Case) -> None:
    """Both of its cases, the look-alike too."""
    searched = Searched(len(case.files), 1, 1, 1, 0, (), ())
    verdict = judge(EXAMPLE.capability, EXAMPLE.title, findings_in(EXAMPLE, case), searched)

    assert case.standing is verdict.standing, verdict.reason


def test_the_example_of_the_guide_is_of_the_house_style(tmp_path: Path) -> None:
    """Readers copy it."""
    file = tmp_path / "sampling_race.py"
    file.write_text(shown())
    command = [sys.executable, "-m", "ruff"]
    config = f"--config={ROOT / 'pyproject.toml'}"
    complaints = [
        subprocess.run([*command, *words, config, str(file)], capture_output=True, text=True, check=False).returncode
        for words in (["check", "--ignore=INP001"], ["format", "--check"])
    ]

    assert [0, 0] == complaints


def test_the_list_of_detectors_is_what_they_say() -> None:
    """`make docs` writes it."""
    command = [sys.executable, str(ROOT / "tools" / "detectors_page.py"), "--check"]
    done = subprocess.run(command, cwd=ROOT, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False)

    assert (0, "") == (done.returncode, done.stderr)


def test_the_list_has_every_detector_with_a_sentence() -> None:
    """None is left out, and none is silent."""
    listed = (ROOT / "docs" / "detectors.md").read_text()
    rows = re.findall(r"^\| \[`([\w.]+)`\]\(.*?\) \| (.+?) \| (.+) \|$", listed, re.MULTILINE)

    assert {each.capability: each.title for each in ours()} == {name: title for name, title, _ in rows}
    assert [] == [name for name, _, counts in rows if not (len(counts) > 30 and counts.endswith("."))]
