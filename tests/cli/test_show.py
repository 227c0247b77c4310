"""`recon show` and `recon explain`: one capability in full."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from recon.detectors.registry import capabilities
from recon.records.unknown import TARGET, Unknown
from recon.runs.files import save
from tests.cli.conftest import Recon, Stages
from tests.report.hand import scan

pytestmark = pytest.mark.usefixtures("saved")


def test_the_newest_scan_is_shown_for_every_install_that_was_asked(recon_command: Recon) -> None:
    ended = recon_command("show", "accept.tree.greedy")

    assert 0 == ended.code
    assert ["○", "●", "-"] == [line[0] for line in ended.out.splitlines() if "Greedy acceptance over a tree:" in line]
    assert "Searched 1,723 files, 40,012 functions, 312 kernels, 9 libraries; 412 of the functions" in ended.out
    assert "vllm/v1/sample/rejection_sampler.py:695" in ended.out


def test_one_install_can_be_chosen_by_a_part_of_its_id(recon_command: Recon) -> None:
    ended = recon_command("show", "accept.linear.greedy", "--install", "vllm")

    assert "accept.linear.greedy in vllm 0.20.1 on localhost" in ended.out
    assert "sglang" not in ended.out
    assert ">   640              draft = tl.load(draft_ptr + start + pos)" in ended.out


def test_json_has_the_verdict_and_its_excerpts(recon_command: Recon) -> None:
    (row,) = json.loads(recon_command("show", "accept.linear.greedy", "--install", "vllm", "--json").out)

    assert ("vllm-0.20.1-3f2a91", "vllm", "present") == (row["install"], row["engine"], row["verdict"]["standing"])
    assert [638] == [each["line"] for each in row["excerpts"]]


def test_without_a_capability_all_are_listed_in_brief(recon_command: Recon) -> None:
    rows = [line.split("\t") for line in recon_command("show", "--install", "vllm").out.splitlines()]
    (found,) = json.loads(recon_command("show", "--install", "vllm", "--json").out)
    first = next(each for each in scan().installs if each.id == found["install"]).verdicts[0]

    assert {("vllm-0.20.1-3f2a91", 5)} == {(row[0], len(row)) for row in rows}
    assert {row[1] for row in rows} == {each["capability"] for each in found["verdicts"]}
    assert {row[3] for row in rows} == {each["place"] for each in found["verdicts"]}
    assert {
        "capability": first.capability,
        "standing": first.standing.value,
        "reach": first.reach and first.reach.value,
        "own_word": None,
        "reason": first.reason,
        "place": f"{first.evidence[0].path}:{first.evidence[0].line}",
    } == found["verdicts"][0]


def test_a_person_gets_all_in_columns(recon_command: Recon) -> None:
    out = recon_command("--color", "always", "show", "--install", "vllm").out

    assert "\t" not in out
    assert "  accept.tree.greedy  " in out


def test_places_are_links_on_demand(recon_command: Recon) -> None:
    """In colour and in JSON; never in a pipe."""
    words = ("show", "accept.linear.greedy", "--install", "vllm", "--link", "vscode")
    (row,) = json.loads(recon_command(*words, "--json").out)
    shown = recon_command("--color", "always", *words).out
    at, address = next(iter(row["links"].items()))
    found = next(each for each in scan().installs if each.id == row["install"])

    assert f"vscode://file{found.location}/{at}" == address
    assert f";{address}\x1b\\" in shown
    assert "vscode:" not in recon_command(*words).out
    assert "vscode:" not in recon_command("--color", "always", *words[:-2]).out
    assert "links" not in json.loads(recon_command(*words[:-2], "--json").out)[0]
    assert 2 == recon_command("show", "--link", "vscode").code


def test_another_run_can_be_named(recon_command: Recon, saved: tuple[Path, Path]) -> None:
    assert 0 == recon_command("show", "pos.tree", "--run", str(saved[0])).code
    assert 2 == recon_command("show", "pos.tree", "--run", "nonsense").code


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("accept.tree.gredy",), "Did you mean accept.tree.greedy?"),
        (("zzzzzzzzz",), "Judged were: accept.linear.greedy, accept.tree.greedy,"),
        (("pos.tree", "--install", "zzz"), "Installs: flashinfer-0.7.2-11, vllm-0.20.1-3f2a91, sglang-0.5.23-77aa00."),
    ],
)
def test_what_does_not_exist_gets_a_suggestion(recon_command: Recon, words: tuple[str, ...], hint: str) -> None:
    ended = recon_command("show", *words)

    assert 2 == ended.code
    assert hint in ended.err


@pytest.mark.parametrize(
    "words", [("show", "pos.tree"), ("gap", "--feature", "ddtree")], ids=lambda words: str(words[0])
)
def test_an_interrupted_run_says_what_it_holds_before_an_answer_rests_on_it(
    recon_command: Recon, state: Path, words: tuple[str, ...]
) -> None:
    left = Unknown(TARGET, "sglang==0.5.23", "the scan was stopped before it was judged")
    save(replace(scan(), installs=scan().installs[:1], complete=False, unknowns=(left,)), state)
    ended = recon_command(*words, "--install", scan().installs[0].id)
    missing = recon_command(*words, "--install", "sglang")
    sentence = "his run was interrupted: it holds flashinfer 0.7.2; not judged: sglang==0.5.23"

    assert f"warning: t{sentence}\n" in ended.err
    assert f"T{sentence}." in missing.err


def test_an_explanation_is_the_detectors_page(recon_command: Recon, stages: Stages) -> None:
    ended = recon_command("explain", "pos.tree")

    assert "pos.tree\nPositions by depth of the tree\n\nWhat it is\n    Positions by depth of the tree.\n" == ended.out


def test_no_explanation_says_its_title_twice(recon_command: Recon) -> None:
    for each in capabilities():
        name, first, second, *_ = recon_command("explain", each.id).out.splitlines()

        assert (each.id, "") == (name, second)
        assert first.startswith(each.title)


def test_an_explanation_is_set_by_the_width_of_the_screen(
    recon_command: Recon, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "72")
    for each in capabilities():
        piped = recon_command("explain", each.id).out
        shown = recon_command("--color", "always", "explain", each.id).out

        assert piped.split() == shown.split()
        assert max(map(len, piped.splitlines())) > 72 >= max(map(len, shown.splitlines()))
        assert points(piped) == points(shown)


def points(page: str) -> list[str]:
    """How lines that begin a point of a page begin."""
    return re.findall(r"^ +((?:shaped|declared|partial)[a-z, ]*): ", page, re.MULTILINE)


def test_without_a_name_all_capabilities_are_listed(recon_command: Recon, stages: Stages) -> None:
    ended = recon_command("explain")

    assert "pos.tree\tPositions by depth of the tree" in ended.out.splitlines()
    assert 8 == len(ended.out.splitlines())
    assert 8 == len(json.loads(recon_command("explain", "--json").out))


def test_a_misspelt_capability_is_answered_with_the_nearest(recon_command: Recon, stages: Stages) -> None:
    ended = recon_command("explain", "post.ree")

    assert (2, True) == (ended.code, "Did you mean pos.tree?" in ended.err)


def test_nothing_saved_is_said(recon_command: Recon, saved: tuple[Path, Path]) -> None:
    saved[0].unlink()
    ended = recon_command("show", "pos.tree")

    assert 2 == ended.code
    assert "error: no scan is saved\nhint: Run `recon scan` first.\n" == ended.err
