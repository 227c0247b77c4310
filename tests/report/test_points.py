"""One batch and one size of the tree: what the page says of each pair, and its buttons in a real browser."""

from collections.abc import Iterator
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest
from playwright.sync_api import expect

from recon.records.cost import Ground
from recon.records.estimate import Estimate
from recon.report import html
from recon.report.numbers import ratio, ratios
from recon.report.speedups import points_of
from recon.report.view import View
from tests.estimates.test_prospect import VLLM, estimate
from tests.report.browser import Tab, chromium
from tests.report.hand import scan
from tests.report.test_page import barriers
from tests.report.views import view_of

BATCHES = (1, 4, 16)


@pytest.fixture(scope="module")
def made() -> Estimate:
    return estimate(installs=(VLLM,), batches=BATCHES)


def view(made: Estimate) -> View:
    return view_of(replace(scan(), estimates=(made,)))


def test_trees_of_each_size_are_weighed_as_if_that_size_was_asked_for(made: Estimate) -> None:
    alone = estimate(installs=(VLLM,), batches=(4,), budget=32)
    ratios = [(each.kernels, each.ratio) for each in made.sizes if (each.batch, each.nodes) == (4, 32)]

    assert ratios == [(each.kernels, each.ratio) for each in alone.outlooks]
    assert () == alone.sizes


def test_every_pair_is_said_with_its_interval(made: Estimate) -> None:
    points = points_of(made)
    sizes = {0, *(each.nodes for each in made.sizes)}
    page = unescape(html.render(view(made)))

    assert len(sizes) > 3
    assert {(batch, nodes) for batch in BATCHES for nodes in sizes} == {(each.batch, each.nodes) for each in points}
    assert [] == [each for each in points if each.says not in page]
    for outlook in made.sizes:
        (point,) = [each for each in points if (each.batch, each.nodes) == (outlook.batch, outlook.nodes)]
        assert outlook.ratio
        if outlook.ratio.ground is Ground.BOUND:
            assert f"at most {ratio(outlook.ratio.high)}" in point.says
        else:
            assert ratio(outlook.ratio.value) in point.says
            assert ratios(outlook.ratio.low, outlook.ratio.high) in point.says


def test_where_there_is_nothing_to_choose_from_nothing_is_offered() -> None:
    alone = estimate(installs=(VLLM,), batches=(4,), budget=32)

    assert () == points_of(alone)
    assert "data-batch" not in html.render(view(alone)).split("<script", 1)[0]


@pytest.fixture(scope="module")
def tab() -> Iterator[Tab]:
    with chromium() as browser:
        yield Tab(browser)


@pytest.fixture
def page(made: Estimate, tmp_path: Path) -> Path:
    path = tmp_path / "page.html"
    path.write_text(html.render(view(made)), encoding="utf-8")
    return path


@pytest.mark.system("chromium|google-chrome")
def test_the_buttons_show_what_python_said_of_the_pair(tab: Tab, page: Path, made: Estimate) -> None:
    tab.open(page)
    shown = tab.page.locator(".points p:visible")
    group = tab.page.locator(".points").get_by_role("group")
    says = {(each.batch, each.nodes): each.says for each in points_of(made)}

    expect(shown).to_have_count(1)
    expect(shown).to_contain_text(says[1, 0])
    group.filter(has_text="Batch").get_by_role("button", name="16", exact=True).click()
    tab.page.keyboard.press("Tab")
    expect(shown).to_contain_text(says[16, 0])
    tab.page.locator("button[data-kind=nodes][value='32']").focus()
    tab.page.keyboard.press("Enter")
    expect(shown).to_have_count(1)
    expect(shown).to_contain_text(says[16, 32])
    expect(tab.page.locator(".points button[aria-pressed=true]")).to_have_text(["16", "32"])
    assert [] == tab.messages
    assert [] == barriers(tab)


@pytest.mark.system("chromium|google-chrome")
def test_a_pair_is_in_the_address_and_a_broken_one_is_the_first(tab: Tab, page: Path, made: Estimate) -> None:
    tab.open(page)
    says = {(each.batch, each.nodes): each.says for each in points_of(made)}
    tab.page.locator("button[data-kind=batch][value='4']").click()
    tab.page.locator("button[data-kind=nodes][value='16']").click()
    tab.page.reload()
    shown = tab.page.locator(".points p:visible")

    expect(shown).to_contain_text(says[4, 16])
    tab.open(page, fragment="#at:batch0=7&nodes0=<b>")
    expect(shown).to_contain_text(says[1, 0])
