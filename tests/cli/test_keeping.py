"""`recon runs`, `recon cache` and `recon schema`: what is kept, and in which form."""

import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

from recon.records.unknown import REST, TARGET, Unknown
from recon.runs.files import listing, save
from recon.sources.store import BlobStore
from tests.cli.conftest import Recon
from tests.report.hand import probe, scan


def test_runs_are_listed_newest_first(recon_command: Recon, saved: tuple[Path, Path]) -> None:
    rows = [row.split("\t") for row in recon_command("runs", "list").out.splitlines()]

    assert [["probe", str(saved[1])], ["scan", str(saved[0])]] == [[row[1], row[3]] for row in rows]


def test_runs_are_listed_as_json_and_for_a_screen(recon_command: Recon, saved: tuple[Path, Path]) -> None:
    as_json = json.loads(recon_command("runs", "list", "--json").out)

    assert [str(saved[1]), str(saved[0])] == [row["path"] for row in as_json]
    assert saved[0].name in recon_command("--color", "always", "runs", "list").out


@pytest.mark.usefixtures("saved")
def test_the_newest_runs_alone_can_be_listed(recon_command: Recon) -> None:
    every = json.loads(recon_command("runs", "list", "--json").out)
    ended = recon_command("runs", "list", "--json", "--limit", "1")

    assert (every[:1], "left out: 1 older run\n") == (json.loads(ended.out), ended.err)
    assert {"scan": [each.id for each in scan().installs], "probe": []} == {
        row["kind"]: row["installs"] for row in every
    }


def test_an_interrupted_run_is_marked_in_the_list(recon_command: Recon, state: Path) -> None:
    left = (Unknown(TARGET, "sglang==0.5.23", "the scan was stopped before it was judged"),)
    lost = (Unknown("check of copy", "gpu", "no"), Unknown(REST, "gpu07", "the payload ended early: exit status 9"))
    save(replace(scan(), complete=False, unknowns=left), state)
    save(replace(probe(), complete=False, unknowns=lost), state)
    rows = [row.split("\t")[4:] for row in recon_command("runs", "list").out.splitlines()]
    screen = recon_command("--color", "always", "runs", "list")

    assert [
        ["interrupted", "the payload ended early: exit status 9"],
        ["interrupted", "sglang==0.5.23: the scan was stopped before it was judged"],
    ] == rows
    assert [False, False] == [row["complete"] for row in json.loads(recon_command("runs", "list", "--json").out)]
    assert "scan, interrupted" in screen.out
    assert "is interrupted: the payload ended early: exit status 9\n" in screen.err


def test_no_runs_are_no_error(recon_command: Recon) -> None:
    assert (0, "") == (recon_command("runs", "list").code, recon_command("runs", "list").out)
    assert "no runs in" in recon_command("--color", "always", "runs", "list").err


def test_a_run_is_shown_again(recon_command: Recon, saved: tuple[Path, Path]) -> None:
    assert recon_command("runs", "show", saved[0].name).out.startswith("decision\tsglang 0.5.23\t")
    assert saved[0].read_text() == recon_command("runs", "show", "localhost-scan", "--json").out


def test_runs_are_removed_by_name_or_all(recon_command: Recon, saved: tuple[Path, Path], state: Path) -> None:
    recon_command("runs", "rm", saved[0].name)
    left = [each.path for each in listing(state)]
    recon_command("runs", "rm", "--all")

    assert [saved[1]] == left
    assert () == listing(state)


@pytest.mark.parametrize("words", [(), ("--all", "x"), ("nonsense",)])
def test_nothing_is_removed_by_mistake(
    recon_command: Recon, saved: tuple[Path, Path], state: Path, words: tuple[str, ...]
) -> None:
    assert 2 == recon_command("runs", "rm", *words).code
    assert 2 == len(listing(state))


def test_what_is_no_run_is_not_removed(recon_command: Recon, saved: tuple[Path, Path], tmp_path: Path) -> None:
    """Nor anything that was named with it; a run that is damaged goes where runs are kept."""
    for name, content in {"notes.txt": "notes", "data.json": "[]", "config.json": '{"schema_version": 1}'}.items():
        (tmp_path / name).write_text(content)

        assert 3 == recon_command("runs", "rm", saved[0].name, str(tmp_path / name)).code
        assert (tmp_path / name).read_text() == content
    assert saved[0].exists()
    copy = tmp_path / "copy.json"
    copy.write_bytes(saved[0].read_bytes())
    saved[1].write_text("damaged")

    assert 0 == recon_command("runs", "rm", saved[1].name, str(copy), str(saved[0])).code
    assert [] == [each for each in (copy, *saved) if each.exists()]


def test_the_cache_is_counted_and_pruned(recon_command: Recon, tmp_path: Path) -> None:
    BlobStore(tmp_path / "recon-cache").put(b"x" * 10_000)
    before = json.loads(recon_command("cache", "info", "--json").out)
    kept = recon_command("cache", "prune").err
    ended = recon_command("cache", "prune", "--older-than", "0")

    assert (1, str(tmp_path / "recon-cache")) == (before["blobs"], before["root"])
    assert "removed 0 files, 0 bytes\n" == kept
    assert ended.err.startswith("removed 1 file, ")
    assert "blobs\t0\n" in recon_command("cache", "info").out
    assert "  blobs                0\n" in recon_command("--color", "always", "cache", "info").out


def test_the_schema_names_the_commands_that_it_describes(recon_command: Recon) -> None:
    assert {"GapReport", "RunDifference"} <= json.loads(recon_command("schema").out)["$defs"].keys()
    assert "`recon gap` and `recon diff` print" in " ".join(recon_command("schema", "--help").out.split())


def test_the_schema_fits_what_is_printed(recon_command: Recon, saved: tuple[Path, Path]) -> None:
    schema = json.loads(recon_command("schema").out)

    jsonschema.validate(json.loads(recon_command("report", "--json").out), schema)
