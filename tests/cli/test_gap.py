"""`recon gap`: features against saved and fresh scans."""

import json
import re
from pathlib import Path

import jsonschema
import pytest

from recon.errors import NotFound
from recon.pipeline import ScanTargets
from recon.runs.schema import schema
from tests.cli.conftest import Recon, Stages
from tests.features.test_reading import FILE


@pytest.mark.usefixtures("saved")
def test_the_newest_scan_is_asked_engine_by_engine(recon_command: Recon) -> None:
    ended = recon_command("gap", "--feature", "ddtree")
    gaps = [line.split("\t") for line in ended.out.splitlines() if line.startswith("gap\t")]

    assert 0 == ended.code
    assert [("vllm 0.20.1", "no"), ("sglang 0.5.23", "yes")] == [(row[1], row[3]) for row in gaps]


@pytest.mark.usefixtures("saved")
def test_several_features_are_asked_in_their_order(recon_command: Recon, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(FILE)
    words = ("--feature", "medusa", "--feature", str(tmp_path / "mine.toml"), "--install", "vllm")
    ended = recon_command("gap", *words)

    assert ["medusa", "mine"] == [line.split("\t")[2] for line in ended.out.splitlines() if line.startswith("gap\t")]


@pytest.mark.usefixtures("saved")
def test_json_is_what_the_schema_says(recon_command: Recon, saved: tuple[Path, Path]) -> None:
    ended = recon_command("gap", "--feature", "ddtree", "--json")
    report = json.loads(ended.out)
    definitions = schema()["$defs"]
    assert isinstance(definitions, dict)

    jsonschema.validate(report, {"$ref": "#/$defs/GapReport", "$defs": definitions})

    assert saved[0].name == report["run"]
    assert ["vllm-0.20.1-3f2a91", "sglang-0.5.23-77aa00"] == [gap["install"] for gap in report["gaps"]]
    assert {"present": 1, "absent": 4, "partial": 1, "unknown": 2} == report["gaps"][0]["counts"]


@pytest.mark.usefixtures("saved")
def test_files_are_written_beside_what_is_printed(recon_command: Recon, tmp_path: Path) -> None:
    plan, screen = tmp_path / "plan.md", tmp_path / "plan.txt"
    ended = recon_command("gap", "--feature", "ddtree", "-o", f"markdown={plan}", "-o", f"text={screen}")

    assert 0 == ended.code
    assert plan.read_text().startswith("# DDTree in vllm 0.20.1\n")
    assert "Patch, in order" in screen.read_text()
    assert f"wrote {plan} (markdown)" in ended.err


@pytest.mark.usefixtures("saved")
def test_a_person_sees_a_screen(recon_command: Recon, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    shown = recon_command("--color", "always", "gap", "--feature", "ddtree").out

    assert "\x1b[1mPatch, in order" in shown
    assert "K kernel, P plumbing, C configuration" in shown


def test_a_tree_is_scanned_in_the_same_command(recon_command: Recon, stages: Stages, state: Path) -> None:
    """And the scan is saved as `recon scan` saves it."""
    ended = recon_command("gap", "--feature", "ddtree", "--path", "/src/vllm", "--release", "sglang==0.5.23")
    (targets, _) = stages.asked[0]

    assert ScanTargets(("/src/vllm",), ("sglang==0.5.23",), local=False) == targets
    assert 1 == len(list((state / "runs").iterdir()))
    assert 3 == ended.code  # a file of this scan was not read, as `recon scan` says too
    assert "gap\tvllm 0.20.1\tddtree\tno\t" in ended.out


def test_an_error_of_the_scan_is_the_error_of_the_command(recon_command: Recon, stages: Stages) -> None:
    stages.answer = NotFound("no folder /src/vllm")

    assert 2 == recon_command("gap", "--feature", "ddtree", "--path", "/src/vllm").code


def test_a_saved_run_and_a_new_scan_exclude_each_other(recon_command: Recon) -> None:
    ended = recon_command("gap", "--feature", "ddtree", "--path", "/src", "--run", "x")

    assert 2 == ended.code
    assert "--run names a saved scan" in ended.err


def test_features_are_listed_with_the_users_own(
    recon_command: Recon, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECON_CONFIG_DIR", str(tmp_path))
    (tmp_path / "features").mkdir()
    (tmp_path / "features" / "mine.toml").write_text(FILE)
    (tmp_path / "features" / "bad.toml").write_text("nonsense")
    ended = recon_command("gap", "--list")
    listed = json.loads(recon_command("gap", "--list", "--json").out)

    assert ["ddtree", "dflash", "eagle-tree", "medusa", "specinfer", "mine"] == [
        line.split("\t")[0] for line in ended.out.splitlines()
    ]
    assert "bad.toml is not TOML" in ended.err
    assert "walk the tree" in {need["title"] for need in listed[0]["needs"]}


@pytest.mark.usefixtures("stages")
def test_a_person_sees_what_features_are(recon_command: Recon, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    lines = recon_command("--color", "always", "gap", "--list").out.splitlines()

    assert any("SpecInfer" in line for line in lines)
    assert [] == [line for line in lines if len(re.sub(r"\x1b\[[0-9;]*m", "", line)) > 100]


@pytest.mark.usefixtures("saved", "stages")
def test_a_capability_that_nobody_judges_is_told(recon_command: Recon, tmp_path: Path) -> None:
    """A misspelled pointer would be lost without a word."""
    (tmp_path / "mine.toml").write_text(FILE.replace("accept.linear.greedy", "accept.lineal.greedy"))
    ended = recon_command("gap", "--feature", str(tmp_path / "mine.toml"))

    assert (2, "") == (ended.code, ended.out)
    assert f"error: {tmp_path}/mine.toml: no detector judges accept.lineal.greedy\n" in ended.err
    assert "hint: Did you mean accept.linear.greedy?" in ended.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "For example: recon gap --feature ddtree"),
        (("--list", "--feature", "ddtree"), "--list shows features and asks nothing of a tree"),
        (("--feature", "ddtre"), "Did you mean ddtree?"),
        (("--feature", "ddtree", "-o", "html=x.html"), "Formats: markdown, text, tsv; --json prints JSON."),
        (("--feature", "ddtree", "-o", "plan.md"), "-o plan.md is not FORMAT=PATH"),
        (("--feature", "ddtree", "--install", "zzz"), "Installs: flashinfer-0.7.2-11, vllm-0.20.1-3f2a91,"),
        (("--feature", "ddtree", "--run", "zzz"), "no run file 'zzz'"),
    ],
)
@pytest.mark.usefixtures("saved")
def test_a_mistake_gets_a_hint(recon_command: Recon, words: tuple[str, ...], said: str) -> None:
    ended = recon_command("gap", *words)

    assert 2 == ended.code
    assert said in ended.err
