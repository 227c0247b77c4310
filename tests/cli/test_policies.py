"""`--fail-on` and `--require`: what they print, what is saved, and how they join the other exit codes."""

import json
import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from recon.cli.outputs import view_of
from recon.errors import Fault
from recon.records.run import Run
from recon.records.unknown import Unknown
from recon.runs.files import listing, load, save
from tests.cli.conftest import Recon, Stages
from tests.report.hand import probe, scan

LACKING = "accept.tree.greedy"
HELD = "accept.linear.greedy"


def whole() -> Run:
    """A scan that left nothing unread."""
    run = scan()
    return replace(run, unknowns=(), searched=tuple(replace(each, unread=0) for each in run.searched))


def faulty() -> Run:
    return replace(whole(), unknowns=(Unknown(Fault.kind, "x", "y"),))


@pytest.mark.parametrize(
    ("run", "required", "code"),
    [
        (whole(), HELD, 0),
        (whole(), LACKING, 1),
        (scan(), HELD, 3),
        (scan(), LACKING, 1),
        (faulty(), LACKING, 4),
        (replace(whole(), installs=()), LACKING, 3),
    ],
    ids=["held", "failed", "held, files unread", "failed, files unread", "a fault of recon", "nothing judged"],
)
def test_a_policy_that_failed_comes_before_what_is_missing(
    recon_command: Recon, stages: Stages, run: Run, required: str, code: int
) -> None:
    stages.answer = run

    assert code == recon_command("scan", "--require", required).code


def test_each_failure_is_a_line_on_standard_error_quiet_or_not(recon_command: Recon, stages: Stages) -> None:
    ended = recon_command("-q", "scan", "--fail-on", "absent:accept.*", "--require", "accept.tree.greedy")
    found = "policy failed: vllm 0.20.1: accept.tree.greedy is absent"
    why = "No function walks a tree of drafts. [nearest vllm/v1/sample/rejection_sampler.py:695]"

    assert [
        f"{found} (--fail-on absent:accept.*): {why}",
        f"{found} (--require accept.tree.greedy): {why}",
    ] == ended.err.splitlines()


def test_what_is_shown_is_the_same_but_for_the_failures(recon_command: Recon, stages: Stages) -> None:
    plain = recon_command("scan").out
    judged = recon_command("scan", "--require", LACKING).out
    rows = [line for line in judged.splitlines(keepends=True) if not line.startswith("failure\t")]

    assert plain == "".join(rows)
    assert len(judged.splitlines()) == len(rows) + 1


def test_the_screen_tells_failures_itself_and_once(recon_command: Recon, stages: Stages) -> None:
    ended = recon_command("--color", "always", "scan", "--require", LACKING)

    assert "Policies: 1 failure" in ended.out
    assert "policy failed" not in ended.err


def test_a_failure_that_takes_several_lines_stays_set_in(recon_command: Recon, stages: Stages) -> None:
    told = re.sub(r"\x1b\[[0-9;]*m", "", recon_command("--color", "always", "scan", "--require", LACKING).out)
    _, _, below = told.partition("Policies: 1 failure\n")
    lines, _, _ = below.partition("\n\n")

    assert len(lines.splitlines()) > 1
    assert all(line.startswith("  ") for line in lines.splitlines())


def test_failures_are_saved_and_in_the_json(recon_command: Recon, stages: Stages, state: Path) -> None:
    ended = recon_command("scan", "--json", "--require", LACKING)
    (saved,) = listing(state)

    assert saved.path.read_text() == ended.out
    assert [(LACKING, "absent")] == [
        (each["capability"], each["standing"]) for each in json.loads(ended.out)["failures"]
    ]
    assert 1 == len(load(saved.path).failures)


def test_a_saved_run_shows_the_failures_that_it_was_saved_with(
    recon_command: Recon, stages: Stages, state: Path
) -> None:
    first = recon_command("scan", "--require", LACKING)
    (saved,) = listing(state)

    assert first.out == recon_command("runs", "show", saved.path.name).out


def test_a_report_judges_by_its_own_policies(recon_command: Recon, stages: Stages, state: Path) -> None:
    stages.answer = whole()
    recon_command("scan", "--require", LACKING)
    plain = recon_command("report", "--json")
    asked = recon_command("report", "--json", "--require", LACKING)

    assert (0, []) == (plain.code, json.loads(plain.out)["failures"])
    assert (1, 1) == (asked.code, len(json.loads(asked.out)["failures"]))


def test_a_report_without_an_engine_holds_no_policy(recon_command: Recon, state: Path) -> None:
    save(replace(probe(), capabilities=scan().capabilities), state)
    ended = recon_command("report", "--require", LACKING)

    assert (3, "policy not judged: no engine is in this run") == (ended.code, ended.err.splitlines()[-1])


def test_a_slip_of_the_pen_is_found_before_the_work(recon_command: Recon, stages: Stages) -> None:
    ended = recon_command("scan", "--require", "accept.tree.gredy")

    assert (2, []) == (ended.code, stages.asked)
    assert "hint: Did you mean accept.tree.greedy?" in ended.err


def test_an_output_that_cannot_be_written_hides_no_failure(
    recon_command: Recon, stages: Stages, tmp_path: Path
) -> None:
    gone = tmp_path / "gone"
    gone.symlink_to(tmp_path / "no" / "folder")
    ended = recon_command("scan", "--require", LACKING, "-o", f"json={gone}")

    assert 3 == ended.code
    assert "policy failed: vllm 0.20.1" in ended.err


def test_what_is_listed_is_narrowed_apart_from_policies(recon_command: Recon, stages: Stages, tmp_path: Path) -> None:
    """Counts, failures, files and the exit code are about all."""
    stages.answer = whole()
    words = ("scan", "--require", LACKING, "--show", "unknown,partial")
    rows, screen = recon_command(*words, "-o", f"tsv={tmp_path / 'all'}"), recon_command("--color", "always", *words)
    listed = [line.split("\t") for line in rows.out.splitlines()]
    verdicts = [row for row in listed if row[0] == "verdict"]
    everything = view_of(stages.answer, (), datetime.now(UTC))

    assert (1, 1) == (rows.code, screen.code)
    assert {"partly", "cannot tell"} == {row[4].partition(",")[0] for row in verdicts}
    assert 1 == sum(row[0] == "failure" for row in listed)
    assert (tmp_path / "all").read_text() == recon_command("scan", "--require", LACKING).out
    assert f"In all: {everything.counts}" in screen.out
    assert "Greedy acceptance along a chain" not in screen.out
    assert f"unknown,partial: {len(verdicts)} of {len(everything.findings)} answers are listed" in rows.err


def test_a_report_is_narrowed_in_the_same_way(recon_command: Recon, state: Path) -> None:
    save(whole(), state)
    rows = [line.split("\t") for line in recon_command("report", "--show", "absent").out.splitlines()]

    assert {"no"} == {row[4] for row in rows if row[0] == "verdict"}


@pytest.mark.parametrize("command", ["scan", "report"])
def test_narrowing_by_no_standing_or_of_a_whole_run_is_refused(
    recon_command: Recon, stages: Stages, state: Path, command: str
) -> None:
    save(whole(), state)
    wrong, idle = recon_command(command, "--show", "no"), recon_command(command, "--show", "absent", "--json")

    assert (2, 2, []) == (wrong.code, idle.code, stages.asked)
    assert "hint: Did you mean absent?" in wrong.err
    assert "--show has nothing to list with --json" in idle.err
