"""`recon scan`: what it asks the stages, prints, saves, and how it ends."""

import json
import shutil
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from recon.cli.scan import held
from recon.errors import Interrupted, NoEngine, NotFound
from recon.pipeline import ScanTargets, Settings
from recon.records.run import Run
from recon.records.unknown import CACHE, Unknown
from recon.runs.files import listing, load
from tests.cli.conftest import Recon, Stages
from tests.pipeline.engines import VLLM, tree
from tests.report.hand import hostile, measurement, scan


def whole() -> Run:
    """A scan that left nothing unread."""
    run = scan()
    return replace(run, unknowns=(), searched=tuple(replace(each, unread=0) for each in run.searched))


def test_without_words_this_machine_is_scanned(recon_command: Recon, stages: Stages) -> None:
    recon_command("scan")

    assert ScanTargets((), (), local=True) == stages.asked[0][0]


def test_paths_and_releases_are_passed_on(recon_command: Recon, stages: Stages) -> None:
    words = ("scan", "a", "--path", "b", "--path", "c", "--release", "vllm==1", "--release", "sglang==2")
    recon_command(*words, "--no-compiled", "--workers", "3")
    targets, settings = stages.asked[0]
    assert isinstance(settings, Settings)

    assert ScanTargets(("a", "b", "c"), ("vllm==1", "sglang==2"), local=False) == targets
    assert (False, 3) == (settings.compiled, settings.workers)


def test_saved_runs_are_passed_on(recon_command: Recon, stages: Stages) -> None:
    recon_command("scan", "--rejudge", "a", "--rejudge", "b")

    assert ScanTargets((), (), local=False, runs=("a", "b")) == stages.asked[0][0]


def test_a_run_is_judged_anew_without_its_tree(recon_command: Recon, state: Path, tmp_path: Path) -> None:
    """From the command to the rows; then the cache is pruned, and that is said."""
    folder = tree(tmp_path / "t", VLLM)
    first = recon_command("scan", str(folder))
    shutil.rmtree(folder)
    (saved,) = listing(state)
    again = recon_command("scan", "--rejudge", saved.path.name)
    recon_command("cache", "prune", "--older-than", "0")
    gone = recon_command("scan", "--rejudge", saved.path.name)

    assert (first.code, first.out) == (again.code, again.out)
    assert (3, "") == (gone.code, gone.out)
    assert "not in the cache any more" in gone.err
    assert "hint: Scan it again." in gone.err


def test_folders_come_from_the_environment(recon_command: Recon, stages: Stages, tmp_path: Path) -> None:
    recon_command("scan")
    settings = stages.asked[0][1]
    assert isinstance(settings, Settings)

    assert (tmp_path / "recon-cache", tmp_path / "recon-state") == (settings.cache_dir, settings.state_dir)
    assert settings.workers >= 1


def test_the_run_is_saved_and_said_on_standard_error(recon_command: Recon, stages: Stages, state: Path) -> None:
    ended = recon_command("scan")
    (saved,) = listing(state)

    assert scan() == load(saved.path)
    assert f"saved {saved.path}" in ended.err
    assert str(saved.path) not in ended.out


def test_rows_for_a_pipe_and_nothing_else_go_to_standard_output(recon_command: Recon, stages: Stages) -> None:
    ended = recon_command("scan")

    assert {"decision", "verdict", "unknown"} == {row.split("\t")[0] for row in ended.out.splitlines()}


def test_json_is_the_run(recon_command: Recon, stages: Stages, state: Path) -> None:
    ended = recon_command("scan", "--json")
    (saved,) = listing(state)

    assert saved.path.read_text() == ended.out


def test_a_pager_that_was_promised_colour_gets_the_screen(recon_command: Recon, stages: Stages) -> None:
    assert "\x1b[1msglang 0.5.23 can run a draft tree" in recon_command("--color", "always", "scan").out


def test_quiet_says_nothing_on_standard_error(recon_command: Recon, stages: Stages) -> None:
    assert "" == recon_command("-q", "scan").err


@pytest.mark.parametrize(
    ("run", "code"),
    [
        (whole(), 0),
        (scan(), 3),
        (replace(whole(), complete=False), 3),
        (replace(whole(), installs=()), 3),
        (replace(whole(), measurements=(measurement("k", "subject", 1.0, mismatches=1),)), 3),
        (replace(whole(), measurements=(measurement("k", "subject", 1.0),)), 0),
    ],
    ids=["whole", "unread files", "not complete", "nothing found", "a kernel disagrees", "kernels agree"],
)
def test_the_exit_code_says_whether_something_is_missing(
    recon_command: Recon, stages: Stages, run: Run, code: int
) -> None:
    stages.answer = run

    assert code == recon_command("scan").code


def test_a_place_without_an_engine_is_incomplete(recon_command: Recon, stages: Stages) -> None:
    stages.answer = NoEngine("no engine in /x", "name the folder that holds vllm")
    ended = recon_command("scan", "--json")

    assert 3 == ended.code
    assert "no_engine" == json.loads(ended.out)["error"]["kind"]


def test_a_release_that_does_not_exist_is_a_usage_error(recon_command: Recon, stages: Stages) -> None:
    stages.answer = NotFound("no release vllm==99", "the newest is 1")

    assert 2 == recon_command("scan", "--release", "vllm==99").code


def test_an_interrupted_scan_is_saved_and_ends_with_130(recon_command: Recon, stages: Stages, state: Path) -> None:
    partial = replace(scan(), complete=False)
    stages.answer = Interrupted(partial)
    ended = recon_command("scan")
    (saved,) = listing(state)

    assert (130, "") == (ended.code, ended.out)
    assert partial == load(saved.path)
    assert f"interrupted; {held(partial, 0, keeps_sources=True)}\n" in ended.err
    assert f"see it: recon runs show {saved.path.name}; as one page: recon report --html" in ended.err


@pytest.mark.parametrize(
    ("judged", "coming", "keeps", "words"),
    [
        (0, 0, True, "no install was judged yet; sources that came are in the cache"),
        (0, 2, False, "no install was judged yet; no source is kept, as asked"),
        (1, 3, True, "1 of 3 installs that were found is judged; sources that came are in the cache"),
        (1, 1, False, "1 of 1 installs that were found is judged"),
    ],
)
def test_what_an_interrupted_scan_holds_is_said(judged: int, coming: int, keeps: bool, words: str) -> None:
    """Nobody is told that something is kept where nothing is."""
    partial = replace(scan(), complete=False, installs=scan().installs[:judged])

    assert words == held(partial, coming, keeps_sources=keeps)


def test_an_interrupt_before_anything_is_known_saves_nothing(recon_command: Recon, stages: Stages, state: Path) -> None:
    stages.answer = KeyboardInterrupt()

    assert 130 == recon_command("scan").code
    assert () == listing(state)


def test_several_files_are_written_in_one_run(recon_command: Recon, stages: Stages, tmp_path: Path) -> None:
    page, data = tmp_path / "r.html", tmp_path / "r.json"
    ended = recon_command("scan", "-o", f"html={page}", "-o", f"json={data}")

    assert page.read_text().startswith("<!doctype html>")
    assert 17 == sum(len(each["verdicts"]) for each in json.loads(data.read_text())["installs"])
    assert f"wrote {page} (html)" in ended.err
    assert 0o644 == stat.S_IMODE(page.stat().st_mode)


@pytest.mark.parametrize("word", ["html", "html=", "htlm=x", "html=/no/such/folder/x", "html=/"])
def test_an_output_that_cannot_be_is_refused_before_the_work(recon_command: Recon, stages: Stages, word: str) -> None:
    ended = recon_command("scan", "-o", word)

    assert 2 == ended.code
    assert [] == stages.asked


def test_a_run_that_cannot_be_saved_is_printed_all_the_same(recon_command: Recon, stages: Stages, state: Path) -> None:
    stages.answer = whole()
    state.write_text("in the way")
    ended = recon_command("scan")

    assert 3 == ended.code
    assert "verdict\t" in ended.out
    assert "warning: cannot save the run" in ended.err


def test_hostile_text_does_not_reach_the_terminal(recon_command: Recon, stages: Stages) -> None:
    stages.answer = hostile()
    ended = recon_command("scan")

    assert "\x1b" not in ended.out + ended.err
    assert "\u202e" not in ended.out + ended.err


def test_a_cache_that_could_not_be_used_makes_no_run_incomplete(recon_command: Recon, stages: Stages) -> None:
    """It cost time and no answer."""
    stages.answer = replace(whole(), unknowns=(Unknown(CACHE, "index.sqlite", "not a database"),))

    assert 0 == recon_command("scan").code
