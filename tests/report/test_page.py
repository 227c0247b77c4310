"""The page in a real browser: quiet, offline, and it does what its buttons say."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, expect

from recon.report import html
from recon.report.view import View
from tests.report.browser import Tab, chromium
from tests.report.views import charted_view
from tests.report.whole import whole_view

pytestmark = pytest.mark.system("chromium|google-chrome")

AXE = Path(__file__).parent / "vendored" / "axe.min.js"
"""axe-core, which looks for what keeps people out; `tools/charts/build` brings it."""
LINK = "v-vllm-0.20.1-3f2a91--attn.tree.verify"
SHEET = 717
"""Width of A4 between Chromium's margins, in CSS pixels."""

Scheme = Literal["light", "dark"]
Media = Literal["screen", "print"]
each_page = pytest.mark.parametrize("name", ["both", "whole"])
SEEN: list[tuple[int, Scheme, Media]] = [
    (390, "dark", "screen"),
    (1280, "light", "screen"),
    (390, "light", "screen"),
    (1280, "dark", "screen"),
    (SHEET, "dark", "print"),
]
"""How a page is looked at; paper is white, whatever the reader prefers."""
each_way = pytest.mark.parametrize(("width", "scheme", "media"), SEEN)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


@pytest.fixture(scope="module")
def tab(browser: Browser) -> Tab:
    return Tab(browser)


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The ordinary page, with charts; and the one with every kind of result, whose texts are attacks."""
    folder = tmp_path_factory.mktemp("pages")
    views: dict[str, View] = {"both": charted_view(), "whole": whole_view()}
    for name, view in views.items():
        (folder / f"{name}.html").write_text(html.render(view), encoding="utf-8")
    return {name: folder / f"{name}.html" for name in views}


def open_all(tab: Tab) -> None:
    """Open every answer, as printing does."""
    tab.page.evaluate("dispatchEvent(new Event('beforeprint'))")


def barriers(tab: Tab) -> list[Any]:
    """What axe finds: each rule that is broken, with the first element that breaks it."""
    tab.page.evaluate(AXE.read_text(encoding="utf-8"))
    found: list[Any] = tab.page.evaluate("""axe.run({ resultTypes: ["violations"] }).then((all) =>
        all.violations.map((each) => [each.id, each.nodes[0].html]))""")
    return found


@each_page
@each_way
def test_the_page_is_quiet_asks_for_nothing_and_fits(
    tab: Tab, pages: dict[str, Path], name: str, width: int, scheme: Scheme, media: Media
) -> None:
    """Once every answer is open, too."""
    tab.open(pages[name], width=width, scheme=scheme, media=media)
    open_all(tab)

    assert tab.page.evaluate("document.documentElement.scrollWidth") <= width
    assert [] == tab.messages
    assert [pages[name].as_uri()] == tab.requests


def test_the_policy_stops_what_got_in(tab: Tab, pages: dict[str, Path], tmp_path: Path) -> None:
    """And the stop is among the messages that the other test looks for."""
    broken = tmp_path / "broken.html"
    page = pages["both"].read_text(encoding="utf-8")
    broken.write_text(
        page.replace("</main>", "</main><script>window.in = 1</script><img src='x.png'>"), encoding="utf-8"
    )
    tab.open(broken)

    assert None is tab.page.evaluate("window['in'] || null")
    assert 2 == sum("Content Security Policy" in message for message in tab.messages)


def test_what_a_page_without_a_policy_says_and_asks_for_would_be_seen(tab: Tab, tmp_path: Path) -> None:
    loud = tmp_path / "loud.html"
    loud.write_text(
        "<html data-ready='yes'><img src='x.png'><script>new WebSocket('ws://127.0.0.1:9/')</script>"
        "<script>console.debug('a word')</script><script>throw Error('a fault')</script>",
        encoding="utf-8",
    )
    tab.open(loud)

    assert {loud.as_uri(), (tmp_path / "x.png").as_uri(), "ws://127.0.0.1:9/"} == set(tab.requests)
    assert {"a word", "a fault"} <= set(tab.messages)


def expect_landed(tab: Tab, link: str) -> None:
    """The answer is open, written, on the screen, and where the keyboard is."""
    answer = f"details[open][id='{link[1:]}']"
    expect(tab.find(f"{answer} > .in")).to_be_visible()
    expect(tab.find(f"{answer} > summary")).to_be_focused()
    expect(tab.find(f"{answer} > summary")).to_be_in_viewport()


def test_a_deep_link_opens_its_answer(tab: Tab, pages: dict[str, Path]) -> None:
    tab.open(pages["both"], fragment=f"#{LINK}")

    expect(tab.find("details[open]")).to_have_id(LINK)
    expect_landed(tab, f"#{LINK}")


def test_every_deep_link_lands(tab: Tab, pages: dict[str, Path]) -> None:
    tab.open(pages["both"])
    links = tab.page.evaluate("[...document.querySelectorAll('#matrix a')].map((link) => link.getAttribute('href'))")

    assert 17 == len(set(links))
    for link in links:
        tab.find(f'#matrix a[href="{link}"]').click()
        expect_landed(tab, link)


def test_every_deep_link_lands_as_an_address(tab: Tab, pages: dict[str, Path]) -> None:
    """Whatever the names in it."""
    tab.open(pages["whole"])
    links = tab.page.evaluate("[...document.querySelectorAll('#matrix a')].map((link) => link.getAttribute('href'))")

    assert 30 == len(set(links))
    for link in links:
        tab.page.goto(pages["whole"].as_uri() + link)
        expect_landed(tab, link)


@pytest.mark.parametrize("width", [390, 1280])
def test_every_section_is_reached_from_the_top(tab: Tab, pages: dict[str, Path], width: int) -> None:
    tab.open(pages["whole"], width=width)
    sections = tab.page.evaluate("[...document.querySelectorAll('nav a')].map((link) => link.hash)")

    assert ["#decision", "#matrix", "#times", "#behaviour", "#evidence", "#limits", "#hosts", "#method"] == sections
    for section in sections:
        tab.find(f'nav a[href="{section}"]').click()
        expect(tab.find(f"{section} h2").first).to_be_in_viewport(ratio=1)


def test_times_are_drawn_and_named(tab: Tab, pages: dict[str, Path]) -> None:
    tab.open(pages["both"])
    chart = tab.find("#times figure svg[role=img]")

    expect(chart).to_have_attribute("aria-label", "linear-vs-tree: time by batch; the numbers are in the table")
    assert ["tree_verify", "linear_verify"] == [
        each for each in chart.locator("text").all_text_contents() if "_" in each
    ]


def test_search_and_filters_work_by_keyboard_alone(tab: Tab, pages: dict[str, Path]) -> None:
    """And a cell of the matrix opens its answer even when it is filtered away."""
    tab.open(pages["both"])
    shown, cell = tab.find("#shown"), tab.find(f'#matrix a[href="#{LINK}"]')
    tab.press("/")
    tab.page.keyboard.type("zzz")
    expect(shown).to_have_text("0 of 17 answers")
    tab.press("Backspace", "Backspace", "Backspace")
    tab.page.keyboard.type("PATH kv")
    expect(shown).to_have_text("2 of 17 answers")
    tab.press("Tab", "ArrowDown", "ArrowDown", "ArrowDown")
    expect(tab.find("#by-standing")).to_have_value("no")
    expect(shown).to_have_text("1 of 17 answers")
    tab.press("Tab", "Tab", "Enter")
    expect(tab.find("details[open] .in h3").first).to_be_visible()
    while not cell.evaluate("(link) => link === document.activeElement"):
        tab.press("Shift+Tab")
        expect(tab.find("main :focus")).to_be_visible()  # or the way back has missed it
    tab.press("Enter")
    expect_landed(tab, f"#{LINK}")


def test_source_lines_are_searched_and_shown_in_colours(tab: Tab, pages: dict[str, Path]) -> None:
    tab.open(pages["both"])
    tab.press("/")
    tab.page.keyboard.type("tl.load(draft_ptr")
    expect(tab.find("#shown")).to_have_text("1 of 17 answers")
    tab.press("Tab", "Tab", "Tab", "Enter")
    expect(tab.find("details[open] .hit")).to_be_visible()

    assert "            draft = tl.load(draft_ptr + start + pos)" == tab.find("details[open] .hit pre").text_content()
    assert tab.find("details[open] pre .tk").count() >= 2


def test_the_theme_button_turns_dark_into_light_and_back(browser: Browser, pages: dict[str, Path]) -> None:
    """And what was chosen is still so when the page is opened again."""
    tab = Tab(browser)  # of its own, since it remembers
    dark, light = "rgb(15, 19, 24)", "rgb(255, 255, 255)"
    body, button = tab.find("body"), tab.find("#theme")
    tab.open(pages["both"], scheme="dark")
    expect(body).to_have_css("background-color", dark)
    button.click()
    expect(body).to_have_css("background-color", light)
    tab.open(pages["both"], scheme="dark")
    expect(body).to_have_css("background-color", light)
    button.click()
    expect(body).to_have_css("background-color", dark)


@each_way
def test_no_word_in_a_table_is_broken(
    tab: Tab, pages: dict[str, Path], width: int, scheme: Scheme, media: Media
) -> None:
    """A table scrolls sideways before its columns hold a letter a line. Paths may break anywhere."""
    tab.open(pages["both"], width=width, scheme=scheme, media=media)
    broken = tab.page.evaluate("""[...document.querySelectorAll(".scroll th, .scroll td")].flatMap((cell) => {
        const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT), found = [], range = new Range();
        for (let text = texts.nextNode(); text; text = texts.nextNode()) {
            if (text.parentElement.closest("code")) continue;
            for (const word of text.data.matchAll(/[a-z0-9]+/gi)) {
                range.setStart(text, word.index);
                range.setEnd(text, word.index + word[0].length);
                if (new Set([...range.getClientRects()].map((part) => part.top)).size > 1) found.push(word[0]);
            }
        }
        return found;
    })""")

    assert [] == broken


@each_page
def test_a_printed_page_is_light_and_cuts_nothing(tab: Tab, pages: dict[str, Path], name: str) -> None:
    tab.open(pages[name], width=SHEET, scheme="dark", media="print")
    open_all(tab)
    wide = f"""[...document.querySelectorAll('main *')]
        .filter((node) => node.checkVisibility() && node.getBoundingClientRect().right > {SHEET})
        .map((node) => node.outerHTML.slice(0, 99))"""

    assert [] == tab.page.evaluate(wide)
    expect(tab.find("nav")).to_be_hidden()
    expect(tab.find(".filters")).to_be_hidden()
    expect(tab.find("body")).to_have_css("background-color", "rgb(255, 255, 255)")


def test_printing_opens_every_answer_and_closes_it_again(tab: Tab, pages: dict[str, Path]) -> None:
    tab.open(pages["both"], fragment=f"#{LINK}")
    count = "document.querySelectorAll('details[open] > .in').length"
    tab.page.evaluate(f"addEventListener('beforeprint', () => {{ window.opened = {count}; }})")
    tab.page.pdf(format="A4")

    assert 17 == tab.page.evaluate("window.opened")
    expect(tab.find("details[open]")).to_have_id(LINK)


@each_way
def test_axe_finds_no_barrier(tab: Tab, pages: dict[str, Path], width: int, scheme: Scheme, media: Media) -> None:
    """With every answer open, in the page that has all that the other has."""
    tab.open(pages["whole"], width=width, scheme=scheme, media=media)
    open_all(tab)

    assert [] == barriers(tab)


def test_axe_would_find_a_barrier(tab: Tab, pages: dict[str, Path]) -> None:
    tab.open(pages["both"])
    tab.find("#q").evaluate("(field) => ['aria-label', 'placeholder'].forEach((name) => field.removeAttribute(name))")

    assert ["label"] == [rule for rule, _ in barriers(tab)]
