"""The page in a real browser: quiet, offline, and it does what its buttons say."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from recon.report import html
from recon.report.view import View
from tests.report.browser import Browser
from tests.report.views import charted_view, hostile_view

pytestmark = pytest.mark.system("chromium|google-chrome", "bash")

AXE = Path(__file__).parent / "vendored" / "axe.min.js"
"""axe-core, which looks for what keeps people out; `tools/charts/build` brings it."""
LINK = "v-vllm-0.20.1-3f2a91--attn.tree.verify"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with Browser() as started:
        yield started


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    views: dict[str, View] = {"both": charted_view(), "hostile": hostile_view()}
    for name, view in views.items():
        (folder / f"{name}.html").write_text(html.render(view), encoding="utf-8")
    return {name: folder / f"{name}.html" for name in views}


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("name", ["both", "hostile"])
def test_the_page_is_quiet_asks_for_nothing_and_fits(
    browser: Browser, pages: dict[str, Path], name: str, width: int, dark: bool
) -> None:
    browser.open(pages[name], width=width, dark=dark)

    assert "yes" == browser.evaluate("document.documentElement.dataset.ready")
    assert [] == browser.messages()
    assert [pages[name].as_uri()] == browser.requests()
    assert browser.evaluate("document.documentElement.scrollWidth") <= width


def test_the_policy_stops_a_script_that_got_in(browser: Browser, pages: dict[str, Path], tmp_path: Path) -> None:
    """And the stop is among the messages that the other test looks for."""
    broken = tmp_path / "broken.html"
    page = pages["both"].read_text(encoding="utf-8")
    broken.write_text(
        page.replace("</main>", "</main><script>window.in = 1</script><img src='x.png'>"), encoding="utf-8"
    )
    browser.open(broken)
    browser.evaluate("1")

    assert None is browser.evaluate("window['in'] || null")
    assert any("Content Security Policy" in message for message in browser.messages())


def test_a_deep_link_opens_its_answer(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["both"], fragment=f"#{LINK}")

    assert [LINK] == browser.evaluate("[...document.querySelectorAll('details[open]')].map((row) => row.id)")


def test_times_are_drawn_and_named(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["both"])
    chart = "document.querySelector('#times figure svg[role=img]')"

    assert "linear-vs-tree: time by batch; the numbers are in the table" == browser.evaluate(f"{chart}.ariaLabel")
    names = f"[...{chart}.querySelectorAll('text')].map((text) => text.textContent)"

    assert ["tree_verify", "linear_verify"] == [each for each in browser.evaluate(names) if "verify" in each]


def test_every_deep_link_lands(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["both"])
    links = browser.evaluate("[...document.querySelectorAll('#matrix a')].map((link) => link.getAttribute('href'))")
    opened = "[...document.querySelectorAll('details[open]')].some((row) => row.childElementCount === 2 && row.id === "

    assert 17 == len(set(links))
    for link in links:
        browser.evaluate(f"document.querySelector('#matrix a[href=\"{link}\"]').click()")
        browser.wait(f"{opened} '{link[1:]}')")
        browser.wait("document.activeElement.parentElement.id === '" + link[1:] + "'")


def test_search_and_filters_work_by_keyboard_alone(browser: Browser, pages: dict[str, Path]) -> None:
    """And a cell of the matrix opens its answer even when it is filtered away."""
    shown = "document.querySelector('#shown').textContent"
    browser.open(pages["both"])
    browser.press("/")
    browser.type("zzz")
    browser.wait(f"{shown} === '0 of 17 answers'")
    browser.press("Backspace", "Backspace", "Backspace")
    browser.type("PATH kv")
    browser.wait(f"{shown} === '2 of 17 answers'")
    browser.press("Tab", "ArrowDown", "ArrowDown", "ArrowDown")

    assert "no" == browser.evaluate("document.querySelector('#by-standing').value")
    browser.wait(f"{shown} === '1 of 17 answers'")
    browser.press("Tab", "Tab", "Enter")
    browser.wait("document.querySelector('details[open] .in h3')")
    browser.evaluate(f"document.querySelector('#matrix a[href=\"#{LINK}\"]').focus()")
    browser.press("Enter")
    browser.wait(f"document.getElementById('{LINK}')?.open && document.getElementById('{LINK}').checkVisibility()")


def test_source_lines_are_searched_and_shown_in_colours(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["both"])
    browser.press("/")
    browser.type("tl.load(draft_ptr")
    browser.wait("document.querySelector('#shown').textContent === '1 of 17 answers'")
    browser.press("Tab", "Tab", "Tab", "Enter")
    browser.wait("document.querySelector('details[open] .hit')")

    assert "            draft = tl.load(draft_ptr + start + pos)" == browser.evaluate(
        "document.querySelector('details[open] .hit pre').textContent"
    )
    assert browser.evaluate("document.querySelectorAll('details[open] pre .tk').length") >= 2


def test_the_theme_button_turns_dark_into_light_and_back(browser: Browser, pages: dict[str, Path]) -> None:
    background = "getComputedStyle(document.body).backgroundColor"
    browser.open(pages["both"], dark=True)
    dark = browser.evaluate(background)
    browser.evaluate("document.querySelector('#theme').click()")
    light = browser.evaluate(background)
    browser.evaluate("document.querySelector('#theme').click()")

    assert ("rgb(15, 19, 24)", "rgb(255, 255, 255)") == (dark, light)
    assert dark == browser.evaluate(background)
    browser.evaluate("localStorage.clear()")


def test_a_printed_page_shows_every_answer_and_cuts_nothing(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["both"], width=794)
    browser.call("Emulation.setEmulatedMedia", media="print")
    browser.evaluate("dispatchEvent(new Event('beforeprint'))")
    wide = "[...document.querySelectorAll('main *')].filter((node) => node.getBoundingClientRect().right > 794).length"

    assert 17 == browser.evaluate("document.querySelectorAll('details[open]').length")
    assert 0 == browser.evaluate(wide)
    assert "none" == browser.evaluate("getComputedStyle(document.querySelector('nav')).display")


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (1280, True), (390, False)])
def test_axe_finds_no_barrier(browser: Browser, pages: dict[str, Path], width: int, dark: bool) -> None:
    """With every answer open."""
    browser.open(pages["both"], width=width, dark=dark)
    browser.evaluate("dispatchEvent(new Event('beforeprint'))")
    browser.evaluate(f"{AXE.read_text()};0")
    found = "axe.run().then((all) => all.violations.map((each) => [each.id, each.nodes[0].html]))"

    assert [] == browser.evaluate(found)


def test_axe_would_find_a_barrier(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["both"])
    browser.evaluate("document.querySelector('#q').removeAttribute('aria-label')")
    browser.evaluate("document.querySelector('#q').removeAttribute('placeholder')")
    browser.evaluate(f"{AXE.read_text()};0")

    assert ["label"] == browser.evaluate("axe.run('#evidence').then((all) => all.violations.map((each) => each.id))")


CONTRAST = """
(() => {
  const channel = (v) => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; };
  const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const parse = (text) => text.match(/[\\d.]+/g).map(Number);
  const behind = (node) => {
    for (; node; node = node.parentElement) {
      const color = parse(getComputedStyle(node).backgroundColor);
      if (color.length < 4 || color[3] > 0) return color;
    }
    return [255, 255, 255];
  };
  dispatchEvent(new Event("beforeprint"));
  const low = [];
  for (const node of document.querySelectorAll("main *, header *, nav *")) {
    if (![...node.childNodes].some((child) => child.nodeType === 3 && child.textContent.trim())) continue;
    const ink = getComputedStyle(node)[node.ownerSVGElement ? "fill" : "color"];
    const [one, other] = [light(parse(ink)), light(behind(node))].sort((a, b) => b - a);
    const ratio = (one + 0.05) / (other + 0.05);
    if (ratio < 4.5) low.push(`${node.tagName}.${node.className} ${ratio.toFixed(2)}`);
  }
  return low;
})()
"""


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_every_text_has_enough_contrast(browser: Browser, pages: dict[str, Path], dark: bool) -> None:
    """WCAG AA: 4.5 to 1."""
    browser.open(pages["both"], dark=dark)

    assert [] == browser.evaluate(CONTRAST)
