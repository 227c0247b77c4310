"""`recon report -o ... -o ...`: files of one run agree with each other and with the exit code."""

import csv
import json
from pathlib import Path

import pytest

from recon.report.text import visible
from recon.runs.files import save
from tests.cli.conftest import Recon
from tests.report.sarif_schema import results_of
from tests.report.whole import whole

FORMATS = ("csv", "html", "json", "markdown", "sarif", "text", "tsv")


def test_files_of_one_command_agree_with_each_other_and_with_the_exit_code(
    recon_command: Recon, state: Path, tmp_path: Path
) -> None:
    """Over a run with every standing, every failure and attacks in every text."""
    path = save(whole(), state)
    words = [word for name in FORMATS for word in ("-o", f"{name}={tmp_path / name}")]
    ended = recon_command("report", "--scan", str(path), "--fail-on", "absent,unknown:accept.*,odd.*", *words)
    made = {name: (tmp_path / name).read_bytes().decode() for name in FORMATS}
    run = json.loads(made["json"])
    known = {each["id"] for each in run["capabilities"] if each["id"].startswith(("accept.", "odd."))}
    failed = sorted(
        (each["id"], one["capability"])
        for each in run["installs"]
        for one in each["verdicts"]
        if one["capability"] in known and one["standing"] in {"absent", "unknown"}
    )
    results = results_of(made["sarif"])

    assert (1, [f"{tmp_path / name}" for name in FORMATS]) == (ended.code, ended.out.splitlines())
    assert 2 == len(failed)
    assert failed == sorted((each["install"], each["capability"]) for each in run["failures"])
    assert [visible(each["message"]) for each in run["failures"]] == [each["message"]["text"] for each in results]
    assert f"\n## Policies that failed: {len(failed)}\n" in made["markdown"]
    assert f"<h3>Policies that failed: {len(failed)}</h3>" in made["html"]
    assert len(failed) == made["text"].count("policy failed: ") == ended.err.count("policy failed: ")
    assert len(run["measurements"]) == len(list(csv.reader(made["csv"].splitlines()))) - 1


def test_where_every_policy_holds_there_is_no_result(recon_command: Recon, state: Path) -> None:
    save(whole(), state)
    ended = recon_command("report", "--fail-on", "not_applicable:drafter.dflash", "-o", "sarif=-")

    assert [] == results_of(ended.out)
    assert 1 != ended.code


def test_an_issue_is_printed_for_what_it_is_about(recon_command: Recon, saved: tuple[Path, Path]) -> None:
    ended = recon_command("report", "--issue", "--about", "accept.*")

    assert (0, True) == (ended.code, ended.out.startswith("### Versions\n"))
    assert "| `accept.tree.greedy` | vllm 0.20.1 | no |" in ended.out
    assert "pos.tree" not in ended.out


@pytest.mark.parametrize(
    "words",
    [
        ("--issue", "--about", "nothing.*"),
        ("--about", "pos.*"),
        ("--issue", "--json"),
        ("--issue", "--show", "absent"),
        ("--issue", "-o", "csv=-"),
    ],
)
def test_words_about_an_issue_that_make_no_sense_are_refused(
    recon_command: Recon, saved: tuple[Path, Path], words: tuple[str, ...]
) -> None:
    ended = recon_command("report", *words)

    assert (2, "") == (ended.code, ended.out if "--json" not in words else "")
