"""Markdown and CSV: the counts of every other format, and nothing in them that a tree may have put there."""

import csv
import io
import json
import os
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from recon.report import csv_table, html, json_v1, markdown, sarif, terminal, tsv
from recon.report.marked import cell, code, plain
from recon.report.words import STANDINGS
from tests.report.hand import EVIL, scan
from tests.report.opened import scripts_of, unpacked
from tests.report.opened import words as shown
from tests.report.views import both_view, failed_view, hostile_view, scan_view, view_of
from tests.report.whole import MARKS, whole, whole_view

GOLDEN = Path(__file__).parent / "golden"
VIEWS = {"both": both_view, "hostile": hostile_view, "whole": whole_view}


def parsed(text: str) -> list[Token]:
    """Markdown as a reader of GitHub's kind takes it: tables, HTML, no more than that."""
    return MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).parse(text)


def flat(tokens: list[Token]) -> list[Token]:
    return [inner for token in tokens for inner in (token, *flat(token.children or []))]


def tables(text: str) -> list[list[list[str]]]:
    """The cells of each table, as they are read."""
    found: list[list[list[str]]] = []
    within = False
    for token in parsed(text):
        match token.type:
            case "table_open" | "table_close":
                within = not within
                found += [[]] * within
            case "tr_open":
                found[-1] = [*found[-1], []]
            case "inline" if within:
                found[-1][-1].append("".join(each.content for each in token.children or []))
    return found


def under(text: str, *headers: str) -> list[list[str]]:
    """Rows of the tables that begin with these headers."""
    return [row for rows in tables(text) if rows[0][: len(headers)] == list(headers) for row in rows[1:]]


@pytest.mark.parametrize("name", VIEWS)
def test_answers_are_counted_alike_by_every_format(name: str) -> None:
    view = VIEWS[name]()
    encoded = json.loads(json_v1.render(view))
    counts = Counter(verdict["standing"] for each in encoded["installs"] for verdict in each["verdicts"])
    summary = markdown.render(view)
    matrix = [answer for row in under(summary, "Capability", plain_of(view.columns[0].label)) for answer in row[1:]]
    page, rows = shown_by(html.render(view)), [row.split("\t") for row in tsv.render(view).splitlines()]
    for standing, word in STANDINGS.items():
        said = counts[standing.value]

        assert said == sum(each.startswith(f"{word.glyph} {word.text}") for each in matrix)
        assert said == page.count(word.text)
        assert said == sum(row[0] == "verdict" and row[4].split(",")[0] == word.text for row in rows)
    missing = sum(counts[each] for each in ("absent", "partial", "unknown"))

    assert f"\nIn all: {view.counts}.\n" in summary
    assert f"\n## What is missing: {missing}\n" in summary
    assert missing == len(under(summary, "Capability", "Tree", "Answer", "Place", "Why"))
    assert f"\n## Where the rest was seen: {counts['present']}\n" in summary
    assert counts["present"] == len(under(summary, "Capability", "Tree", "Answer", "Place", "In"))


def shown_by(page: str) -> list[str]:
    """The answers of a page, as they are shown."""
    return shown(unpacked(scripts_of(page))[0])


def plain_of(label: str) -> str:
    """A label as a reader of the summary sees it."""
    return "".join(
        each.content
        for each in flat(parsed(markdown.words(label)))
        if each.type in {"text", "code_inline", "text_special"}
    )


@pytest.mark.parametrize("name", VIEWS)
def test_measurements_are_counted_alike_by_every_format(name: str) -> None:
    view = VIEWS[name]()
    measured = json.loads(json_v1.render(view))["measurements"]
    table = list(csv.DictReader(io.StringIO(csv_table.render(view))))
    summary, rows = markdown.render(view), tsv.render(view).splitlines()
    timed = [each for each in measured if each["mode"] != "compile"]
    told = sum(int(number) for number in re.findall(r"^([\d,]+) measurements?[:,]", summary, re.MULTILINE))
    built = sum(int(number) for number in re.findall(r"^([\d,]+) builds?[:,]", summary, re.MULTILINE))

    assert len(measured) == len(table)
    assert len(timed) == told == sum(row.startswith("measurement\t") for row in rows)
    assert sum(len(each["resources"]) for each in measured) == built == sum(row.startswith("build\t") for row in rows)
    assert [(each["agreement"] or {}).get("mismatches", "") for each in measured] == [
        int(row["mismatches"]) for row in table
    ]
    assert [each["spread"]["median_us"] if each["spread"] else "" for each in measured] == [
        float(row["median_us"]) if row["median_us"] else "" for row in table
    ]
    assert sum(row["mismatches"] not in {"", "0"} for row in table) == terminal.screen(view, 400).count("disagrees in")


@pytest.mark.parametrize("name", VIEWS)
def test_what_is_not_known_is_counted_alike(name: str) -> None:
    view = VIEWS[name]()
    number = len(json.loads(json_v1.render(view))["unknowns"])
    noun = "thing" if number == 1 else "things"

    assert number == sum(row.startswith("unknown\t") for row in tsv.render(view).splitlines())
    assert f"- Not known: {number} {noun}\n" in markdown.render(view)
    assert f"Not known: {number} {noun}" in terminal.screen(view)


@pytest.mark.parametrize("name", VIEWS)
def test_nothing_of_a_tree_becomes_a_mark_in_the_summary(name: str) -> None:
    """Read by a parser of Markdown: no HTML, no link, no picture, and tables with as many cells in each row."""
    summary = markdown.render(VIEWS[name]())
    tokens = flat(parsed(summary))

    assert not {"html_block", "html_inline", "link_open", "image", "fence", "code_block", "s_open", "em_open"} & {
        each.type for each in tokens
    }
    assert all(len(row) == len(rows[0]) for rows in tables(summary) for row in rows)
    assert set() == {each for each in summary if not each.isprintable()} - {"\n"}
    assert not re.search(r"@somebody", "".join(each.content for each in tokens if each.type == "text"))
    assert {"h1": 1} == dict(Counter(each.tag for each in tokens if each.type == "heading_open" and each.tag == "h1"))


@pytest.mark.parametrize("words", [MARKS, EVIL, "a\\|b", "|", "`", "\\", "x `` | y", "- a", "www.a.example", "a@b |"])
def test_words_are_read_as_they_were_said(words: str) -> None:
    """However they are marked up, in a cell or as code, a reader sees the words and nothing else."""
    from recon.report.text import visible

    for made in (plain(words), cell(words)):
        ((*_, row),) = tables(f"| a |\n| --- |\n| {made} |\n")

        assert [visible(words).strip()] == [each.strip() for each in row]
    if "\n" not in words and words.strip() == words:
        (shown,) = [each.content for each in flat(parsed(f"x {code(words)}")) if each.type == "code_inline"]

        assert visible(words) == shown


def test_no_cell_of_the_table_is_a_formula() -> None:
    text = csv_table.render(whole_view())
    rows = list(csv.reader(io.StringIO(text)))

    assert "'=cmd" in text
    assert [] == [each for row in rows for each in row if re.match(r"\s*[=+\-@]", each)]
    assert all(len(row) == len(rows[0]) for row in rows)
    assert set() == {each for each in text if not each.isprintable()} - {"\r", "\n"}


def test_a_run_without_measurements_is_a_row_of_headers() -> None:
    header, *rows = csv.reader(io.StringIO(csv_table.render(scan_view())))

    assert ("probe", []) == (header[0], rows)
    assert header == next(csv.reader(io.StringIO(csv_table.render(both_view()))))


def test_a_summary_fits_a_comment() -> None:
    """A site for code takes 65,536 characters; what is left out is counted."""
    run = whole()
    many = tuple(replace(run.measurements[0], kernel=f"k{number}", key=str(number)) for number in range(2000))
    view = view_of(replace(scan(), measurements=many, unknowns=run.unknowns * 400))
    summary = markdown.render(view)

    assert len(summary) < 65_536
    assert "2,000 measurements, 24 shown; the CSV and the page have all:" in summary
    assert "and 4,792 more, in the page and the JSON" in summary


@pytest.mark.parametrize(
    ("name", "render"),
    [("summary.md", markdown.render), ("failures.sarif", sarif.render), ("measurements.csv", csv_table.render)],
)
def test_files_are_those_that_are_kept(name: str, render: Any) -> None:
    """RECON_REWRITE=1 writes them anew, to be looked at before they are committed."""
    made = render(failed_view()).encode()
    if os.environ.get("RECON_REWRITE"):
        (GOLDEN / name).write_bytes(made)

    assert (GOLDEN / name).read_bytes() == made
