"""Saved runs judged anew: the same answers without the tree, and a sentence where what was read is gone."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from recon import pipeline
from recon.errors import NotFound, Unreadable
from recon.pipeline import ScanTargets, Settings
from recon.ports import Silent
from recon.records.run import Run
from recon.records.unknown import Unknown
from recon.rejudging import keep_whole
from recon.runs.files import save
from recon.sources.store import BlobStore
from tests.pipeline.conftest import Scan
from tests.pipeline.engines import VLLM, WALK, tree
from tests.sources.made import library

Rejudge = Callable[[Run], Run]


@pytest.fixture
def rejudge(settings: Settings) -> Rejudge:
    """Saves a run and judges it anew."""

    def again(run: Run, *, compiled: bool = True) -> Run:
        name = str(save(run, settings.state_dir))
        targets = ScanTargets((), (), local=False, runs=(name,))
        return pipeline.scan(targets, replace(settings, compiled=compiled), Silent())

    return again


def alike(run: Run) -> Run:
    """A run without what tells one from another: when and how it was asked, and how long it took."""
    searched = tuple(replace(each, seconds=0.0) for each in run.searched)
    return replace(run, started_at="", command=(), searched=searched)


def remove(cache: Path, folder: str) -> None:
    """Take away a part of the cache."""
    shutil.rmtree(cache / folder)


def test_a_run_is_judged_anew_when_its_tree_is_gone(
    scan: Scan, rejudge: Rejudge, tmp_path: Path, settings: Settings
) -> None:
    """The same records, ids and places included, also where nothing but what was read is kept."""
    folder = tree(tmp_path / "t", {**VLLM, "vllm/_C.abi3.so": library().data})
    first = scan(folder)
    shutil.rmtree(folder)
    for part in ("notes", "graphs"):
        remove(settings.cache_dir, part)

    assert alike(first) == alike(rejudge(first))


def test_a_tree_of_no_known_engine_keeps_its_id(scan: Scan, rejudge: Rejudge, tmp_path: Path) -> None:
    first = scan(tree(tmp_path / "fork", {"mine/__init__.py": "", "mine/walk.py": WALK}))

    assert alike(first) == alike(rejudge(first))


def test_newer_code_judges_what_was_read_then(
    scan: Scan, rejudge: Rejudge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not what lies there now."""
    first = scan(tree(tmp_path / "t", VLLM))
    tree(tmp_path / "t", {"vllm/spec/accept.py": "x = 1\n"})
    monkeypatch.setattr(pipeline, "_judging_version", lambda: "newer")

    assert first.installs == rejudge(first).installs


def test_what_a_run_did_not_learn_stays_unlearned(scan: Scan, rejudge: Rejudge, tmp_path: Path) -> None:
    first = scan(tree(tmp_path / "t", VLLM))
    down = Unknown("unreachable", "gpu08", "nothing answers there")
    mine = Unknown("python source", f"{first.installs[0].id}:a.py", "it is no Python")

    assert (down,) == rejudge(replace(first, unknowns=(down, mine))).unknowns


@pytest.mark.parametrize(
    ("folder", "said"), [("blobs", "6 of 6 sources are not in the cache"), ("snapshots", "any more")]
)
def test_it_is_said_that_what_was_read_is_gone(
    scan: Scan, rejudge: Rejudge, tmp_path: Path, settings: Settings, folder: str, said: str
) -> None:
    first = scan(tree(tmp_path / "t", VLLM))
    remove(settings.cache_dir, folder)
    with pytest.raises(Unreadable) as refused:
        rejudge(first)

    assert said in refused.value.message
    assert "Scan it again." == refused.value.hint


def test_what_is_gone_of_one_tree_leaves_the_others(scan: Scan, rejudge: Rejudge, tmp_path: Path) -> None:
    first = scan(tree(tmp_path / "t", VLLM), tree(tmp_path / "u", {**VLLM, "vllm/tree.py": WALK}))
    lost, held = first.installs
    again = rejudge(replace(first, installs=(replace(lost, read="0" * 32), held)))

    assert (held,) == again.installs
    assert [("unreadable", lost.id)] == [(each.what, each.where) for each in again.unknowns]


def test_a_run_from_before_it_was_kept_cannot_be_judged_anew(scan: Scan, rejudge: Rejudge, tmp_path: Path) -> None:
    first = scan(tree(tmp_path / "t", VLLM))
    with pytest.raises(Unreadable, match="it was not kept what was read"):
        rejudge(replace(first, installs=tuple(replace(each, read="") for each in first.installs)))


def test_no_other_machine_can_put_in_names_of_libraries(
    scan: Scan, rejudge: Rejudge, tmp_path: Path, settings: Settings
) -> None:
    """A tree of the same digest, whose library is of the same size and tells other names, changes nothing."""
    first = scan(tree(tmp_path / "t", {**VLLM, "vllm/_C.abi3.so": library().data}))
    store = BlobStore(settings.cache_dir)
    digest = first.installs[0].source_digest
    snapshot = store.load_snapshot(digest)
    assert snapshot is not None
    told = replace(snapshot, libraries=tuple(replace(each, symbols=("verify",) * 9) for each in snapshot.libraries))
    store.save_snapshot(digest, told)
    other = keep_whole(told, store)

    assert other != first.installs[0].read
    assert alike(first) == alike(rejudge(first))


def test_a_run_of_no_tree_is_refused(rejudge: Rejudge, scan: Scan, tmp_path: Path) -> None:
    first = scan(tree(tmp_path / "t", VLLM))
    with pytest.raises(NotFound, match="holds no install"):
        rejudge(replace(first, installs=(), searched=()))
