"""Several targets, this machine, and a scan that is stopped."""

import sqlite3
import weakref
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from recon import pipeline, targets
from recon.errors import Interrupted, NoEngine, NotFound, Unreadable
from recon.index.index import Index, index_of
from recon.index.names import Names
from recon.judging import excerpts_of
from recon.pipeline import ScanTargets, Settings
from recon.ports import Silent
from recon.records.host import PythonEnv
from recon.records.install import Engine, Found, Provenance
from recon.records.run import Run
from recon.records.unknown import TARGET, Unknown
from recon.records.verdict import Standing
from recon.runs.files import load, save
from recon.sources.store import BlobStore
from recon.targets import Source
from tests.pipeline.conftest import Scan
from tests.pipeline.engines import VLLM, WALK, tree, verdict
from tests.sources.made import library, wheel


def test_a_target_that_fails_leaves_the_others(scan: Scan, tmp_path: Path) -> None:
    """It becomes an unknown of the run, in words."""
    one, two = tree(tmp_path / "one", VLLM), tree(tmp_path / "two", {**VLLM, "vllm/walk.py": WALK})
    run = scan(one, tmp_path / "nowhere", two)

    assert [Standing.ABSENT, Standing.PRESENT] == [
        verdict(install, "accept.tree.greedy").standing for install in run.installs
    ]
    assert [("not_found", str(tmp_path / "nowhere"))] == [(each.what, each.where) for each in run.unknowns]
    assert "does not exist" in run.unknowns[0].why


@pytest.mark.parametrize(("name", "error"), [("nowhere", NotFound), ("empty", NoEngine)])
def test_a_target_that_fails_alone_is_an_error(
    scan: Scan, tmp_path: Path, name: str, error: type[NotFound | NoEngine]
) -> None:
    """There is nothing else to say."""
    (tmp_path / "empty").mkdir()

    with pytest.raises(error):
        scan(tmp_path / name)


def test_folders_side_by_side_are_told_apart(scan: Scan, tmp_path: Path) -> None:
    """By their places and by their ids, though all are of no engine that is known."""
    names = ("first", "second fork")
    for name in names:
        tree(tmp_path / name, {"eng/walk.py": WALK})
    run = scan(*(tmp_path / name for name in names))

    assert [str(tmp_path / name) for name in names] == [each.location for each in run.installs]
    assert ["first", "second_fork"] == [each.id.partition("-")[0] for each in run.installs]


def test_what_was_made_for_a_tree_is_gone_when_the_next_one_is_read(
    scan: Scan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody looks through a tree's index for garbage while it is of use, but two of them are never held at once."""
    made: list[weakref.ref[Names]] = []
    held = []

    def noted(*given: Any, **named: Any) -> Index:
        held.append(sum(one() is not None for one in made))
        index = index_of(*given, **named)
        made.append(weakref.ref(index.names))
        return index

    monkeypatch.setattr("recon.judging.index_of", noted)
    scan(*(tree(tmp_path / name, {"eng/walk.py": WALK, f"eng/{name}.py": b""}) for name in ("one", "two", "three")))

    assert [0, 0, 0] == held


def test_a_folder_of_several_names_is_one_install(scan: Scan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Named twice, another way, through a link, and from inside it."""
    one = tree(tmp_path / "one", VLLM)
    tree(tmp_path / "loose", {"eng/walk.py": WALK})
    (tmp_path / "link").symlink_to("loose")
    monkeypatch.chdir(tmp_path)
    run = scan(one, one, Path("one"), one / "vllm", tmp_path / "loose", tmp_path / "link")

    assert [str(one), str(tmp_path / "loose")] == [each.location for each in run.installs]


def test_what_of_a_tree_is_not_read_is_said(scan: Scan, tmp_path: Path) -> None:
    """What, where and why, anew and from the answers that were kept: the exit code says that something is missing."""
    (tree(tmp_path / "one", VLLM) / "vllm" / "odd.py").write_bytes(b"a = 1\0")
    runs = [scan(tmp_path / "one") for _ in range(2)]

    for run in runs:
        (unknown,) = run.unknowns
        assert ("source", f"{run.installs[0].id}:vllm/odd.py") == (unknown.what, unknown.where)
        assert "NUL" in unknown.why


def test_equal_trees_get_ids_of_their_own(scan: Scan, tmp_path: Path) -> None:
    """Ids name installs within a run."""
    run = scan(tree(tmp_path / "one", VLLM), tree(tmp_path / "two", VLLM))
    first, second = (install.id for install in run.installs)

    assert first.startswith("vllm-9.8.7-")
    assert f"{first}-2" == second
    assert [first, second] == [each.install for each in run.searched]
    assert 1 == len(run.hosts)


def test_kernel_packages_beside_an_engine_are_its_companions(scan: Scan, tmp_path: Path) -> None:
    """Those of the same environment, or named beside it; a companion has none."""
    files = {"sglang/__init__.py": "", "sglang/a.py": WALK, "sgl_kernel/__init__.py": "", "flashinfer/__init__.py": ""}
    by_engine = {install.engine: install for install in scan(tree(tmp_path / "t", files)).installs}
    companions = by_engine[Engine.SGLANG].companions

    assert {by_engine[Engine.SGL_KERNEL].id, by_engine[Engine.FLASHINFER].id} == set(companions)
    assert () == by_engine[Engine.SGL_KERNEL].companions


def test_kernel_packages_of_another_environment_are_none(scan: Scan, tmp_path: Path) -> None:
    """Two environments may hold two versions."""
    files = {"sglang/__init__.py": "", "sglang/a.py": WALK, "sgl_kernel/__init__.py": ""}
    installs = scan(tree(tmp_path / "t", files)).installs
    apart = tuple(
        replace(each, provenance=replace(each.provenance, environment=f"/env/{each.engine.value}")) for each in installs
    )

    assert [(), ()] == [each.companions for each in pipeline.with_companions(apart)]


ENGINE = {
    "sglang/__init__.py": "",
    "sglang/accept.py": """
from sgl_kernel import verify_tree


def accept(out, links):
    verify_tree(out, links)
""",
}
KERNEL = {
    "sgl_kernel/__init__.py": "from sgl_kernel.spec import verify_tree\n",
    "sgl_kernel/spec.py": """
import torch


def verify_tree(out, candidates, siblings, target_predict):
    torch.ops.sgl_kernel.verify_tree.default(out, candidates, siblings, target_predict)
""",
}
SCHEMA = b"verify_tree(Tensor! out, Tensor candidates, Tensor siblings, Tensor target_predict) -> ()"


@pytest.mark.parametrize(
    ("schema", "standing", "said"),
    [
        (SCHEMA, Standing.PRESENT, "has: calls torch.ops.sgl_kernel.verify_tree"),
        (b"sort(Tensor! x) -> ()", Standing.ABSENT, "lacks: nothing can be called that does this"),
    ],
)
def test_a_kernel_package_named_beside_an_engine_settles_what_it_calls(
    scan: Scan, tmp_path: Path, schema: bytes, standing: Standing, said: str
) -> None:
    """By the schema in its library; alone the engine's answer is open."""
    alone = tree(tmp_path / "engine", ENGINE)
    kernel = tree(tmp_path / "kernel", {**KERNEL, "sgl_kernel/ops.abi3.so": library(text=(schema,)).data})
    (before,) = scan(alone).installs
    after, beside = scan(alone, kernel).installs
    found = verdict(after, "accept.tree.greedy")

    assert Standing.UNKNOWN is verdict(before, "accept.tree.greedy").standing
    assert standing is found.standing is verdict(beside, "accept.tree.greedy").standing
    assert said in found.reason
    assert ["accept"] == [each.symbol for each in (*found.evidence, *found.nearest)]


def test_a_wheel_is_read_as_a_tree_is(scan: Scan, tmp_path: Path) -> None:
    """Without unpacking it."""
    members = {name: str(text).encode() for name, text in VLLM.items()}
    path = wheel(tmp_path, "vllm-9.8.7-cp311-cp311-linux_x86_64.whl", members)
    (install,) = scan(path).installs

    assert ("wheel", "9.8.7") == (install.provenance.kind, install.version)
    assert Standing.PRESENT is verdict(install, "accept.linear.greedy").standing


def test_an_edit_of_an_installed_file_is_seen(scan: Scan, tmp_path: Path) -> None:
    """Against what the installer wrote down."""
    record = "vllm/spec/accept.py,sha256=AAAA,10\nvllm/gone.py,sha256=AAAA,10\n"
    dist = {
        "vllm-9.8.7.dist-info/METADATA": "Metadata-Version: 2.1\nName: vllm\nVersion: 9.8.7\n",
        "vllm-9.8.7.dist-info/RECORD": record,
    }
    (install,) = scan(tree(tmp_path / "site-packages", {**VLLM, **dist})).installs

    assert (("vllm/spec/accept.py",), ("vllm/gone.py",)) == (install.edits.modified, install.edits.missing)


# This machine


def test_installs_of_this_machine_carry_its_environments(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was not asked for by name is looked for."""
    folder = tree(tmp_path / "t", VLLM)
    environments: list[tuple[PythonEnv, ...]] = []

    def found(_: object, known: tuple[PythonEnv, ...]) -> tuple[tuple[Found, ...], tuple[Unknown, ...]]:
        environments.append(known)
        provenance = Provenance("wheel", "/env", "pip", "", "", "")
        one = Found(Engine.VLLM, "9.8.7", str(folder), ("vllm",), "", provenance)
        return (one,), (Unknown("package", "/env", "half installed"),)

    monkeypatch.setattr(targets, "discover", found)
    run = pipeline.scan(ScanTargets((), (), local=True), settings, Silent())

    assert [environments[0]] == [host.environments for host in run.hosts]
    assert environments[0]
    assert "half installed" in [unknown.why for unknown in run.unknowns]
    assert Standing.PRESENT is verdict(run.installs[0], "accept.linear.greedy").standing


def test_a_machine_without_engines_is_told_so(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """With what to try."""
    monkeypatch.setattr(targets, "discover", lambda _shell, _known: ((), ()))

    with pytest.raises(NoEngine, match="no engine is installed in the") as raised:
        pipeline.scan(ScanTargets((), (), local=True), settings, Silent())
    assert "--path" in raised.value.hint


# Interrupted


class Impatient(Silent):
    """A user who presses Ctrl-C when some task starts for the n-th time."""

    def __init__(self, task: str, number: int) -> None:
        self.task = task
        self.left = number

    def start(self, task: str, total: int | None) -> None:
        self.left -= task.endswith(self.task)
        if not self.left:
            raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("task", "number", "kept"),
    [
        ("indexing files", 1, 0),
        ("reading functions", 1, 0),
        ("judging", 1, 0),
        ("indexing files", 2, 1),
        ("judging", 2, 1),
    ],
)
def test_ctrl_c_keeps_what_was_judged(scan: Scan, tmp_path: Path, task: str, number: int, kept: int) -> None:
    """An install is in the run when all of its verdicts are."""
    one, two = tree(tmp_path / "one", VLLM), tree(tmp_path / "two", {**VLLM, "vllm/walk.py": WALK})

    with pytest.raises(Interrupted) as stopped:
        scan(one, two, progress=Impatient(task, number))
    partial = stopped.value.partial

    assert isinstance(partial, Run)
    assert (False, kept, kept) == (partial.complete, len(partial.installs), len(partial.searched))
    assert [str(one), str(two)][kept:] == [each.where for each in partial.unknowns if each.what == TARGET]
    assert partial == load(save(partial, tmp_path / "state"))


class Swallowed(Silent):
    """A stop that a library made an error of: it is known of, and the next word about progress says so."""

    stopped = False

    def advance(self, amount: int = 1, note: str = "") -> None:
        if self.stopped:
            raise KeyboardInterrupt


def test_a_stop_that_became_an_error_is_still_a_stop(
    scan: Scan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = tree(tmp_path / "one", VLLM), tree(tmp_path / "two", {**VLLM, "vllm/walk.py": WALK})
    progress, judge_into = Swallowed(), pipeline._judge_into

    def lose(learned: pipeline._Learned, *rest: object) -> None:
        if learned.installs:
            progress.stopped = True
            raise ValueError("a library was interrupted")
        judge_into(learned, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(pipeline, "_judge_into", lose)
    with pytest.raises(Interrupted) as stopped:
        scan(one, two, progress=progress)
    partial = stopped.value.partial

    assert isinstance(partial, Run)
    assert (False, 1) == (partial.complete, len(partial.installs))


def test_a_fault_is_no_stop(scan: Scan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise ValueError("a fault")

    monkeypatch.setattr(pipeline, "_judge_into", fail)
    with pytest.raises(ValueError, match="a fault"):
        scan(tree(tmp_path / "one", VLLM))


def test_a_tree_that_cannot_be_judged_leaves_the_others(
    scan: Scan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = tree(tmp_path / "one", VLLM), tree(tmp_path / "two", {**VLLM, "vllm/walk.py": WALK})
    judge_into = pipeline._judge_into

    def fail(learned: pipeline._Learned, source: Source, *rest: object) -> None:
        if source.found.root == str(one):
            raise Unreadable("the disk failed")
        judge_into(learned, source, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(pipeline, "_judge_into", fail)
    run = scan(one, two)

    assert [str(two)] == [each.location for each in run.installs]
    assert [Unknown("unreadable", str(one), "the disk failed")] == list(run.unknowns)


# The cache


def damaged_rows(cache: Path, value: object) -> None:
    with closing(sqlite3.connect(cache / "index.sqlite")) as connection, connection:
        connection.execute("UPDATE payloads SET payload = ?", (value,))


@pytest.mark.parametrize("value", [b"\xff\x00", b"", b"\xc0", "text", 7, 1.5])
def test_damaged_rows_of_the_cache_are_read_anew(scan: Scan, tmp_path: Path, value: object) -> None:
    folder = tree(tmp_path / "one", VLLM)
    first = scan(folder)
    damaged_rows(tmp_path / "cache", value)

    assert first.installs == scan(folder).installs


def test_damaged_blobs_of_the_cache_are_mended(scan: Scan, tmp_path: Path) -> None:
    folder = tree(tmp_path / "one", VLLM)
    first = scan(folder)
    for blob in (tmp_path / "cache" / "blobs").rglob("*"):
        if blob.is_file():
            blob.write_bytes(b"damaged")

    assert first.installs == scan(folder).installs


def test_lines_that_the_cache_lost_cost_no_verdict(scan: Scan, tmp_path: Path) -> None:
    """The place stands; only its excerpt is gone."""
    (install,) = scan(tree(tmp_path / "one", VLLM)).installs
    snapshot = BlobStore(tmp_path / "cache").load_snapshot(install.source_digest)
    assert snapshot is not None

    assert (install.excerpts, True) == excerpts_of(install.verdicts, snapshot, BlobStore(tmp_path / "cache"))
    assert ((), False) == excerpts_of(install.verdicts, snapshot, BlobStore(tmp_path / "emptied"))
