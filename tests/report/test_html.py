"""The page as text: its policy, its data, and nothing in it that a tree or a host could have put there."""

import hashlib
import json
import re
from base64 import b64decode
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from recon.report import html
from recon.report.charts import charts_of
from recon.report.coloured import CLOSE, OPEN, coloured
from recon.report.packed import kept, taken_out
from recon.report.view import View
from recon.runs.files import load
from tests.report.hand import hostile, scan
from tests.report.opened import anchors, unpacked
from tests.report.views import both_view, charted_view, hostile_view, scan_view, view_of

OURS = {"a", "b", "body", "br", "button", "code", "details", "div", "h1", "h2", "h3", "h4", "head", "header", "html"}
OURS |= {
    "input",
    "li",
    "link",
    "main",
    "meta",
    "nav",
    "noscript",
    "ol",
    "option",
    "p",
    "pre",
    "script",
    "section",
    "select",
}
OURS |= {"small", "span", "style", "summary", "table", "tbody", "td", "th", "thead", "title", "tr", "ul", "wbr"}


class Read(HTMLParser):
    """What a parser of HTML finds."""

    def __init__(self) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self._in_script = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._in_script = tag == "script"
        if self._in_script:
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:
        if tag == "script":
            self._in_script = False

    def handle_data(self, data: str) -> None:
        if self._in_script:
            self.scripts[-1] += data


def read(view: View) -> Read:
    parser = Read()
    parser.feed(html.render(view))
    parser.close()
    return parser


def policy_of(page: Read) -> str:
    (policy,) = [
        attrs["content"] for tag, attrs in page.elements if attrs.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policy is not None
    return policy


@pytest.mark.parametrize("view", [scan_view(), charted_view(), hostile_view()], ids=["scan", "charted", "hostile"])
def test_the_policy_lets_only_the_pages_own_script_run(view: View) -> None:
    page = read(view)
    digests = re.findall(r"'sha256-([^']+)'", policy_of(page))
    data = [script for script in page.scripts if re.fullmatch("[A-Za-z0-9+/=]+", script)]
    scripts = [script for script in page.scripts if script not in data]

    assert policy_of(page).startswith("default-src 'none';")
    assert [b64decode(digest) for digest in digests] == [hashlib.sha256(each.encode()).digest() for each in scripts]
    assert "unsafe-inline" not in policy_of(page).replace("style-src 'unsafe-inline'", "")
    assert (4, 2) == (len(data), len(scripts)) if charts_of(view.run.measurements, ()) else (3, 1)


@pytest.mark.parametrize("view", [scan_view(), charted_view(), hostile_view()], ids=["scan", "charted", "hostile"])
def test_the_page_asks_for_nothing(view: View) -> None:
    page = read(view)
    addresses = [
        value
        for _, attrs in page.elements
        for name, value in attrs.items()
        if name in ("src", "href", "srcset", "action", "data", "poster", "background", "style")
    ]

    assert ["data:,"] == [each for each in addresses if not (each or "").startswith("#")]
    assert "@import" not in html.render(view).partition("</style>")[0]
    assert "url(" not in html.render(view).partition("</style>")[0]


def test_hostile_text_makes_no_element_and_no_handler() -> None:
    page = read(hostile_view())

    assert set() == {tag for tag, _ in page.elements} - OURS
    assert set() == {name for _, attrs in page.elements for name in attrs if name.startswith("on")}
    assert 4 == len(page.scripts)


def test_hostile_text_is_written_out_and_not_sent_on() -> None:
    page = html.render(hostile_view())
    shown = page + json.dumps(unpacked(read(hostile_view()).scripts), ensure_ascii=False)

    assert [] == re.findall("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", shown)
    assert "\\x1b[31mred" in page
    assert "\\u202egnp.exe" in page


def test_no_source_can_bring_the_marks_of_colours() -> None:
    assert f"\\{ascii(OPEN)[2:-1]}kx\\{ascii(CLOSE)[2:-1]}" == coloured("a.txt", [f"{OPEN}kx{CLOSE}"])


def test_the_run_can_be_taken_out_of_the_page_again(tmp_path: Path) -> None:
    for run in (scan(), hostile()):
        path = tmp_path / "run.json"
        path.write_bytes(taken_out(html.render(view_of(run))))

        assert run == load(path)


@pytest.mark.parametrize("damage", ["", "AAAA", "x", kept(scan())[:-8]])
def test_a_page_without_a_whole_run_is_told(damage: str) -> None:
    page = html.render(scan_view()).replace(kept(scan()), damage)

    with pytest.raises(ValueError, match="the run in it is damaged"):
        taken_out(page)
    with pytest.raises(ValueError, match="it holds no run"):
        taken_out("<html>")


def test_ids_are_unique_and_every_link_leads_somewhere() -> None:
    for view in (both_view(), hostile_view()):
        page = read(view)
        rows, _ = unpacked(page.scripts)
        ids = [attrs["id"] for _, attrs in page.elements if "id" in attrs] + anchors(rows)
        links = {str(attrs["href"])[1:] for tag, attrs in page.elements if tag == "a"}

        assert [finding.anchor for finding in view.findings] == anchors(rows)
        assert len(set(ids)) == len(ids)
        assert set() == links - set(ids)


def test_the_sections_stand_in_the_order_of_reading() -> None:
    ids = [attrs.get("id") for tag, attrs in read(both_view()).elements if tag == "section"]

    assert ["decision", "matrix", "times", "evidence", "limits", "hosts", "method"] == ids


def test_a_standing_is_told_by_word_and_glyph_not_by_colour_alone() -> None:
    page = html.render(scan_view())
    for glyph, word in (("●", "yes"), ("◐", "partly"), ("○", "no"), ("?", "cannot tell"), ("-", "does not apply")):
        assert f'<span aria-hidden="true">{glyph}</span>{word}</span>' in page


def test_source_is_coloured_line_by_line() -> None:
    first, second, third = coloured("a.py", ["def f():", '    """a', '    b"""']).split("\n")

    assert f"{OPEN}kdef{CLOSE} {OPEN}ff{CLOSE}():" == first
    assert f'    {OPEN}s"""a{CLOSE}' == second
    assert f'{OPEN}s    b"""{CLOSE}' == third


@pytest.mark.parametrize("path", ["a.py", "a.cu", "a.h", "a", "a.<b>"])
@pytest.mark.parametrize(
    "text", ["", "\n\n", "x\n\ny", "\t<b>&\x1b", "'''", '"\\', "#include <x>\n/*", "\u2028", "x" * 999]
)
def test_any_source_keeps_its_lines(path: str, text: str) -> None:
    made = coloured(path, text.split("\n")).split("\n")
    plain = [re.sub(f"{OPEN}.|{CLOSE}", "", line) for line in made]

    assert len(text.split("\n")) == len(made)
    assert all("\x1b" not in line and len(line) <= 240 for line in plain)


def test_equal_answers_of_many_installs_stand_in_a_page_once() -> None:
    """Ten thousand would not open if each weighed much."""
    run = scan()
    many = tuple(replace(run.installs[2], id=f"sglang-{number}") for number in range(100))
    page = html.render(view_of(replace(run, installs=many)))
    rows, details = unpacked(read(view_of(replace(run, installs=many))).scripts)

    assert 4 * 800 == len(rows["rows"])
    assert 8 >= len(details["details"])
    assert len(page) < 105_000
