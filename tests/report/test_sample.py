"""`reports/sample/`: real runs, and what `recon report` makes of them, made anew and compared."""

import gzip
import json
import os
import re
from base64 import b64decode
from datetime import datetime
from pathlib import Path

import pytest

from recon.estimates.decision import decide
from recon.report import csv_table, html, markdown, terminal
from recon.report.join import joined
from recon.report.packed import taken_out
from recon.report.view import Source, View, compose
from recon.runs.files import kind_of, load
from tests.report.opened import scripts_of, unpacked

SAMPLE = Path(__file__).parents[2] / "reports" / "sample"
PROBES = ("kernels", "attention")
PAGE = "kernels"
"""The probe of which the page is kept, too."""
SCREEN = 100
"""Columns of the screen that the text is for."""


def source_of(name: str) -> Source:
    run = load(SAMPLE / name)
    return Source(kind_of(run), name, run)


def view_of(probe: str) -> View:
    """The releases joined with a probe, as `recon report --scan --probe` does, at the moment of the scan."""
    scan, measured = source_of("releases.json"), source_of(f"{probe}.json")
    run = joined(scan.run, measured.run, decide)
    return compose(run, (scan, measured), datetime.fromisoformat(scan.run.started_at))


def rendered(probe: str) -> dict[str, str]:
    """What is kept of a probe beside the releases, by file name."""
    view = view_of(probe)
    return {
        f"{probe}.md": markdown.render(view),
        f"{probe}.csv": csv_table.render(view),
        f"{probe}.txt": terminal.screen(view, SCREEN),
    }


@pytest.mark.parametrize("probe", PROBES)
def test_renderings_are_those_that_are_kept(probe: str) -> None:
    """RECON_REWRITE=1 writes them anew, to be looked at before they are committed."""
    made = {name: text.encode() for name, text in rendered(probe).items()}
    for name, text in made.items() if os.environ.get("RECON_REWRITE") else ():
        (SAMPLE / name).write_bytes(text)

    assert made == {name: (SAMPLE / name).read_bytes() for name in made}


def said_by(page: str) -> dict[str, object]:
    """What a page says and holds, and not how it looks.

    Its style, its script and the colours of source may have changed since it was kept, and other builds of zlib and xz
    pack other bytes: for that alone it is not written anew.
    """
    body = page[page.index("<header>") : page.index("</main>")]
    scripts = scripts_of(page)
    rows, details = unpacked(scripts)
    sources = [[first, re.sub("\ue000.|\ue001", "", text)] for first, text in details.pop("sources")]
    return {
        "body": re.sub(r"\s+", " ", re.sub("<[^>]*>", "", body)),
        "rows": rows,
        "details": details,
        "sources": sources,
        "run": taken_out(page),
        "charts": gzip.decompress(b64decode(scripts[3])),
    }


def said_before() -> dict[str, object]:
    """What the page that is kept says; nothing where there is none, or one that was packed in another way."""
    try:
        return said_by((SAMPLE / f"{PAGE}.html").read_text(encoding="utf-8"))
    except (OSError, ValueError, LookupError):
        return {}


def test_the_page_says_what_the_one_that_is_kept_says() -> None:
    """RECON_REWRITE=1 writes it anew if it says something else."""
    made = html.render(view_of(PAGE))
    now = said_by(made)
    if os.environ.get("RECON_REWRITE") and said_before() != now:
        (SAMPLE / f"{PAGE}.html").write_text(made, encoding="utf-8")
    before = said_before()

    assert [] == [name for name in now if now[name] != before.get(name)]


def test_the_page_of_the_sample_is_small_and_gives_its_run_back() -> None:
    view = view_of(PAGE)
    page = (SAMPLE / f"{PAGE}.html").read_text(encoding="utf-8")
    held = json.loads(taken_out(page))

    assert len(page.encode()) < 1_000_000
    assert len(view.run.measurements) == len(held["measurements"])
    assert [each.id for each in view.run.installs] == [each["id"] for each in held["installs"]]


def test_the_sample_names_no_machine() -> None:
    """Releases are read by no host, and neither a home folder nor a temporary one is in what is kept of them."""
    run = source_of("releases.json").run

    assert {"releases"} == {host.name for host in run.hosts}
    assert not re.search(r"/(?:home|Users|root|tmp|work|srv)/", words_beside_sources())


def words_beside_sources() -> str:
    """The saved scan without the lines of the engines that it cites, whose paths are theirs."""
    run = json.loads((SAMPLE / "releases.json").read_text())
    for install in run["installs"]:
        del install["excerpts"]
    return json.dumps(run)


def test_what_is_cited_of_engines_is_short() -> None:
    excerpts = [each for install in source_of("releases.json").run.installs for each in install.excerpts]

    assert excerpts
    assert max(len(each.text.splitlines()) for each in excerpts) <= 6


def test_the_folder_is_small_and_every_file_of_it_is_described() -> None:
    page = (SAMPLE / "README.md").read_text()
    files = [path for path in SAMPLE.iterdir() if path.name != "README.md"]

    assert [] == [path.name for path in files if path.stat().st_size >= 1_000_000]
    assert [] == [path.name for path in files if f"`{path.name}`" not in page]
