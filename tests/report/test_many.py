"""Ten thousand answers, each with a source excerpt of its own: how large the page is, and how long its script runs."""

import random
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest
from playwright.sync_api import expect

from recon.records.install import Excerpt, Install
from recon.records.run import Run
from recon.report import html
from tests.report.browser import Tab, chromium
from tests.report.hand import scan
from tests.report.views import view_of

pytestmark = [pytest.mark.slow, pytest.mark.system("chromium|google-chrome")]

ANSWERS = 10_000
ROOT = Path(__file__).resolve().parents[2]


def pieces() -> Iterator[str]:
    """Six lines of Python, again and again others: of our own source, cut anywhere."""
    chance = random.Random(1)
    sources = [path.read_text().split("\n") for path in sorted((ROOT / "recon").rglob("*.py"))]
    long = [lines for lines in sources if len(lines) > 20]
    while True:
        lines = chance.choice(long)
        start = chance.randrange(len(lines) - 6)
        yield "\n".join(lines[start : start + 6])


def many() -> Run:
    """A run of as many answers: each engine again and again, its places each time on other lines."""
    run, some = scan(), pieces()
    installs: list[Install] = []
    while sum(len(each.verdicts) for each in installs) < ANSWERS:
        number = len(installs)
        base = run.installs[1 + number % 2]
        verdicts = tuple(
            replace(
                verdict,
                reason=f"{verdict.reason} Of install {number}.",
                evidence=tuple(
                    replace(each, line=number * 10 + at, path=f"{index}_{each.path}")
                    for at, each in enumerate(verdict.evidence or verdict.nearest or base.verdicts[0].evidence)
                ),
            )
            for index, verdict in enumerate(base.verdicts)
        )
        excerpts = tuple(
            Excerpt(verdict.evidence[0].path, verdict.evidence[0].line, text)
            for verdict, text in zip(verdicts, islice(some, len(verdicts)), strict=True)
        )
        installs.append(replace(base, id=f"{base.id}-{number}", verdicts=verdicts, excerpts=excerpts))
    return replace(run, installs=tuple(installs))


def test_ten_thousand_answers_fit_and_open_at_once(tmp_path: Path) -> None:
    view = view_of(many())
    page = tmp_path / "many.html"
    page.write_text(html.render(view), encoding="utf-8")
    with chromium() as browser:
        tab = Tab(browser)
        devtools = tab.page.context.new_cdp_session(tab.page)
        devtools.send("Performance.enable")
        tab.open(page, fragment=f"#{view.findings[-1].anchor}")
        metrics = {each["name"]: each["value"] for each in devtools.send("Performance.getMetrics")["metrics"]}
        opened = tab.find("details[open] .hit").count()
        tab.press("/")
        tab.page.keyboard.type("install 17.")

        # Those of 17, 117, ... 1217: a word is found inside of others, too.
        expect(tab.find("#shown")).to_have_text(f"{13 * 8} of {len(view.findings)} answers")
    assert sum(bool(finding.places[0].excerpt) for finding in view.findings) >= ANSWERS
    assert page.stat().st_size <= 6_000_000
    assert metrics["ScriptDuration"] <= 0.4
    assert 1 == opened
