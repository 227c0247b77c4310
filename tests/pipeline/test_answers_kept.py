"""An equal tree is not judged twice by the same code; whatever else changes, it is."""

from dataclasses import replace
from pathlib import Path

import pytest

from recon import judging, pipeline
from recon.index.index import Index
from recon.ports import Progress
from recon.records.run import Run
from recon.records.source import Snapshot
from recon.records.unknown import Unknown
from recon.records.verdict import Verdict
from recon.sources.store import GRAPHS
from tests.pipeline.conftest import Scan
from tests.pipeline.engines import VLLM, WALK, tree


@pytest.fixture
def judgings(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Digests of the trees that were really judged."""
    seen: list[str] = []
    real = judging.verdicts_of

    def counted(index: Index, progress: Progress) -> tuple[Verdict, ...]:
        seen.append(index.snapshot.digest)
        return real(index, progress)

    monkeypatch.setattr(judging, "verdicts_of", counted)
    return seen


def answers(run: Run) -> object:
    """Everything about the one install, times and names of folders left out."""
    (install,) = run.installs
    (searched,) = run.searched
    return install.verdicts, install.paths, install.excerpts, install.source_digest, replace(searched, seconds=0.0)


def test_the_second_scan_of_a_tree_gives_the_same_answers_without_judging(
    scan: Scan, tmp_path: Path, judgings: list[str]
) -> None:
    """Also where it lies elsewhere."""
    first = scan(tree(tmp_path / "t", VLLM))
    second = scan(tree(tmp_path / "u", VLLM))

    assert answers(first) == answers(second)
    assert str(tmp_path / "u") == second.installs[0].location
    assert 1 == len(judgings)


@pytest.mark.parametrize("change", ["file", "code", "graph", "answers"])
def test_a_tree_is_judged_anew_when_anything_that_counts_has_changed(
    scan: Scan, tmp_path: Path, judgings: list[str], monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    """A file of it, the code that judges, or what was kept is gone or damaged."""
    scan(tree(tmp_path / "t", VLLM))
    match change:
        case "file":
            tree(tmp_path / "t", {**VLLM, "vllm/tree.py": WALK})
        case "code":
            monkeypatch.setattr(pipeline, "_judging_version", lambda: "newer")
        case "graph":
            for file in next(tmp_path.rglob(GRAPHS)).iterdir():
                file.unlink()
        case _:
            for file in next(tmp_path.rglob("notes")).rglob("*"):
                if file.is_file():
                    file.write_bytes(b"damaged")
    scan(tmp_path / "t")

    assert 2 == len(judgings)


def test_what_could_not_be_read_counts_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without its libraries a tree may be given other answers, though its files are the same."""
    whole = Snapshot("d", (), (), ())
    blind = Snapshot("d", (), (), (Unknown("compiled library", "a.so", "not asked for"),))

    assert pipeline._key_of(whole) != pipeline._key_of(blind)
