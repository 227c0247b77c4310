"""What a page puts on paper: every answer opened, or a line that says how many are left out."""

import hashlib
import re
import shutil
import subprocess
from base64 import b64encode
from dataclasses import replace
from pathlib import Path

import pytest

from recon.report import html
from recon.report.view import View
from tests.report.hand import scan
from tests.report.views import view_of

pytestmark = pytest.mark.system("chromium|google-chrome")

FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-dev-shm-usage")
PRINT = """
(function wait() {
  if (document.documentElement.dataset.ready !== "yes") return setTimeout(wait, 20);
  dispatchEvent(new Event("beforeprint"));
  const paper = document.querySelector("#unprinted");
  const open = document.querySelectorAll("details[open]").length;
  document.title = `line: ${paper.hidden ? "" : paper.textContent} open: ${open}`;
})();
"""
"""Printing begins as soon as the page is ready; what is then seen stands in its title."""


def fleet(installs: int) -> View:
    """Engines with eight answers each."""
    run = scan()
    many = tuple(replace(run.installs[2], id=f"sglang-{number}") for number in range(installs))
    return view_of(replace(run, installs=many))


def printed(view: View, folder: Path) -> str:
    """The title of a page that is about to be printed; a script of the test is let in beside its own."""
    page = html.render(view)
    digest = b64encode(hashlib.sha256(PRINT.encode()).digest()).decode()
    page = page.replace("script-src ", f"script-src 'sha256-{digest}' ", 1)
    file = folder / "page.html"
    file.write_text(page.replace("</body>", f"<script>{PRINT}</script></body>"), encoding="utf-8")
    program = shutil.which("chromium") or shutil.which("google-chrome")
    assert program is not None
    profile = f"--user-data-dir={folder / 'profile'}"
    words = [program, *FLAGS, profile, "--virtual-time-budget=60000", "--dump-dom", file.as_uri()]
    seen = subprocess.run(words, capture_output=True, text=True, check=True, timeout=120).stdout
    (title,) = re.findall("<title>(.*?)</title>", seen)
    return str(title)


def test_paper_that_holds_every_answer_says_nothing_of_it(tmp_path: Path) -> None:
    assert "line:  open: 1000" == printed(fleet(125), tmp_path)


def test_paper_that_leaves_answers_out_says_so_in_a_line(tmp_path: Path) -> None:
    line = "On paper: the first 100 of 1,008 answers, not opened. Up to 1,000 are printed whole: filter them first."

    assert f"line: {line} open: 0" == printed(fleet(126), tmp_path)
