"""`recon diff`: what changed between two saved runs, and with which exit code."""

import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

from recon.cli.session import cache_dir
from recon.records.run import Run
from recon.records.source import Snapshot, SourceFile
from recon.records.verdict import OwnWord, Standing
from recon.runs.files import save
from recon.sources.store import BlobStore
from tests.cli.conftest import Recon
from tests.report.hand import measurement, probe, scan
from tests.report.whole import MARKS, whole

SAMPLER = "vllm/v1/sample/rejection_sampler.py"


def later() -> Run:
    """The scan made by hand, a release later: a walk came, and the sampler changed."""
    run = scan()
    vllm = run.installs[1]
    verdicts = tuple(
        replace(each, standing=Standing.PRESENT, reason="It walks.", evidence=each.nearest, nearest=())
        if each.capability == "accept.tree.greedy"
        else each
        for each in vllm.verdicts
    )
    changed = replace(vllm, id="vllm-0.33.0-aa", version="0.33.0", source_digest="bb", verdicts=verdicts)
    return replace(run, installs=(run.installs[0], changed, run.installs[2]), started_at="2026-12-01T10:15:00Z")


def both(state: Path) -> tuple[str, str]:
    return str(save(scan(), state)), str(save(later(), state))


def test_verdicts_that_changed_are_told_with_their_places(recon_command: Recon, state: Path) -> None:
    ended = recon_command("diff", *both(state))
    rows = [row.split("\t") for row in ended.out.splitlines()]

    assert 0 == ended.code
    assert [
        "verdict",
        "vllm-0.20.1-3f2a91",
        "vllm-0.33.0-aa",
        "accept.tree.greedy",
        "no",
        "yes",
        "",
        f"{SAMPLER}:695 verify",
    ] in rows
    assert 1 == sum(row[0] == "verdict" for row in rows)


def test_files_are_compared_by_what_the_cache_knows(recon_command: Recon, state: Path) -> None:
    runs = both(state)
    without = recon_command("diff", *runs).out
    store = BlobStore(cache_dir())
    for digest, content in (("3f2a91", "1"), ("bb", "2")):
        store.save_snapshot(digest, Snapshot(digest, (SourceFile(SAMPLER, content, 1),), (), ()))

    assert "unread\tvllm-0.20.1-3f2a91\tvllm-0.33.0-aa\twhat the files of" in without
    assert (
        f"file\tvllm-0.20.1-3f2a91\tvllm-0.33.0-aa\t{SAMPLER}\tchanged\taccept.linear.greedy"
        in recon_command("diff", *runs).out
    )


def test_json_holds_what_rows_tell(recon_command: Recon, state: Path) -> None:
    slower = replace(probe(), started_at="2026-12-01T11:20:00Z", recon_version="0.2.0")
    slower = replace(slower, measurements=(measurement("linear_verify", "baseline", 17.2), *slower.measurements[1:]))
    words = ("diff", str(save(probe(), state)), str(save(slower, state)))
    made = json.loads(recon_command(*words, "--json").out)
    rows = [row.split("\t") for row in recon_command(*words).out.splitlines()]
    definitions = json.loads(recon_command("schema").out)["$defs"]
    jsonschema.validate(made, {"$ref": "#/$defs/RunDifference", "$defs": definitions})

    assert ["slower", "cannot_tell", "cannot_tell"] == [each["outcome"] for each in made["times"]]
    assert ["slower", "cannot tell", "cannot tell"] == [row[4] for row in rows if row[0] == "time"]
    assert ["recon: 0.1.0 before, 0.2.0 after"] == made["differs"] == [row[1] for row in rows if row[0] == "differs"]


def said(run: Run, word: OwnWord | None) -> Run:
    """The run with a word on greedy acceptance of trees in each engine."""
    return replace(
        run,
        installs=tuple(
            replace(
                install,
                verdicts=tuple(
                    replace(each, own_word=word) if each.capability == "accept.tree.greedy" else each
                    for each in install.verdicts
                ),
            )
            for install in run.installs
        ),
    )


def test_a_users_own_word_is_told_apart_from_what_was_judged(
    recon_command: Recon, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    word = OwnWord(Standing.PRESENT, "our patch walks", "recon.toml")
    words = ("diff", str(save(scan(), state)), str(save(said(scan(), word), state)))
    rows = [row.split("\t") for row in recon_command(*words).out.splitlines()]
    monkeypatch.setenv("COLUMNS", "120")
    screen = recon_command("--color", "always", *words).out
    made = json.loads(recon_command(*words, "--json").out)
    definitions = json.loads(recon_command("schema").out)["$defs"]
    jsonschema.validate(made, {"$ref": "#/$defs/RunDifference", "$defs": definitions})
    (change,) = made["installs"][1]["verdicts"]

    assert ["", "yes: our patch walks (recon.toml)"] == next(row[4:] for row in rows if row[0] == "word")
    assert [] == [row for row in rows if row[0] == "verdict"]
    assert "your own word changed on 3 verdicts" in screen
    assert "judged as before, your own word: nothing -> yes: our patch walks (recon.toml)" in screen
    assert ("absent", "absent") == (change["before"], change["after"])
    assert (None, "present") == (change["own_word_before"], change["own_word_after"]["standing"])


def test_an_answer_and_a_word_that_both_changed_are_both_told(recon_command: Recon, state: Path) -> None:
    word = OwnWord(Standing.PRESENT, "our patch walks", "recon.toml")
    out = recon_command("diff", str(save(said(scan(), word), state)), str(save(later(), state))).out
    kinds = [row.split("\t")[0] for row in out.splitlines() if row.split("\t")[1:2] == ["vllm-0.20.1-3f2a91"]]

    assert ["verdict", "word", "unread"] == kinds


def test_a_screen_begins_with_how_much_changed(
    recon_command: Recon, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, *_ = recon_command("--color", "always", "diff", *both(state)).out.splitlines()

    assert "1 answer changed, 0 rest on other places, 16 did not change; 0 files with a part in them changed" in first


def test_runs_full_of_attacks_are_shown_and_not_obeyed(recon_command: Recon, state: Path) -> None:
    one = str(save(whole(), state))
    two = str(save(replace(whole(), installs=whole().installs[:-1], started_at=MARKS), state))
    screen = recon_command("--color", "always", "diff", one, two)
    rows = recon_command("diff", two, one)

    assert (3, 3) == (screen.code, rows.code), "both are interrupted"
    assert set() == {each for each in rows.out if not each.isprintable()} - {"\n", "\t"}
    assert "\x1b[31mred" not in screen.out
    assert "\x07" not in screen.out


def test_a_run_that_is_not_there_is_told(recon_command: Recon, state: Path) -> None:
    assert 2 == recon_command("diff", str(save(scan(), state)), "nowhere.json").code


def test_a_run_that_is_not_whole_ends_with_3_after_the_answer(recon_command: Recon, state: Path) -> None:
    whole_, half = save(scan(), state), save(replace(scan(), complete=False), state)
    ended = recon_command("diff", str(whole_), str(half))

    assert 3 == ended.code
    assert "differs\trun: whole before, interrupted after\n" in ended.out
    assert "this run was interrupted" in ended.err
