"""SECURITY.md, held against the tests that it names."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TEXT = (ROOT / "SECURITY.md").read_text()
NAMED = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", TEXT)


def test_every_test_that_is_named_exists() -> None:
    sources = {path: (ROOT / path).read_text() for path, _ in NAMED}

    assert len(NAMED) >= 25
    assert [] == [(path, name) for path, name in NAMED if f"def {name}(" not in sources[path]]


def test_every_promise_names_a_test() -> None:
    rows = [line for line in TEXT.splitlines() if line.startswith("| ") and not line.startswith(("| ---", "| Promise"))]

    assert len(rows) >= 15
    assert [] == [row for row in rows if "`tests/" not in row]


def test_the_situations_page_lists_what_is_tested_and_what_is_not() -> None:
    """Each test of the matrix has its line on the page, and each line its test."""
    page = (ROOT / "docs" / "hosts.md").read_text()
    shown = set(re.findall(r"`(test_\w+)`", page))
    written = {
        name
        for path in (ROOT / "tests/ssh/matrix").glob("test_*.py")
        for name in re.findall(r"^def (test_\w+)", path.read_text(), re.MULTILINE)
    }

    assert len(written) >= 25
    assert written == shown
    assert "## Not tested" in page
