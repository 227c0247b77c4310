"""From a folder on disk to a verdict: small trees, judged whole."""

import os
from pathlib import Path

import pytest

from recon.judging import EXCERPT_COLUMNS, EXCERPT_LINES, MOST_NEAREST
from recon.kept.kept import opened
from recon.pipeline import Settings
from recon.records.install import Engine
from recon.records.unknown import CACHE
from recon.records.verdict import Standing
from recon.runs.files import load, save
from recon.sources.store import GRAPHS, BlobStore
from tests.pipeline.conftest import Scan
from tests.pipeline.engines import CHAIN, VLLM, WALK, tree, verdict
from tests.sources.made import library


@pytest.mark.parametrize("workers", [0, 2])
def test_a_tree_is_judged_with_places_and_their_source(scan: Scan, tmp_path: Path, workers: int) -> None:
    """Present: where, reached by whom, and the lines themselves."""
    run = scan(tree(tmp_path / "t", VLLM), workers=workers)
    (install,) = run.installs
    found = verdict(install, "accept.linear.greedy")
    (excerpt,) = (each for each in install.excerpts if each.path == "vllm/spec/accept.py")
    lines = excerpt.text.split("\n")

    assert (Engine.VLLM, "9.8.7", str(tmp_path / "t")) == (install.engine, install.version, install.location)
    assert Standing.PRESENT is found.standing
    assert [("vllm/spec/accept.py", "chain", 10, ("runner GPUModelRunner",))] == [
        (each.path, each.symbol, each.line, each.scope) for each in found.evidence
    ]
    assert (8, EXCERPT_LINES - 2) == (excerpt.line, len(lines))
    assert "if w != tl.load(draft" in lines[10 - excerpt.line]
    assert [capability.id for capability in run.capabilities] == [each.capability for each in install.verdicts]


def test_absence_comes_with_what_was_searched(scan: Scan, tmp_path: Path) -> None:
    """And with what came nearest."""
    run = scan(tree(tmp_path / "t", VLLM))
    found = verdict(run.installs[0], "accept.tree.greedy")
    (searched,) = run.searched

    assert (Standing.ABSENT, None) == (found.standing, found.reach)
    assert ["chain"] == [each.symbol for each in found.nearest]
    assert (6, 3, 2, 1, 0) == (
        found.searched.files,
        found.searched.functions,
        found.searched.kernels,
        found.searched.examined,
        found.searched.libraries,
    )
    assert 2 == len(found.searched.shapes)
    assert (run.installs[0].id, 5, 1, 3, 1, 2, 0, 0) == (
        searched.install,
        searched.python_files,
        searched.cuda_files,
        searched.functions,
        searched.classes,
        searched.kernels,
        searched.libraries,
        searched.unread,
    )


def test_a_run_can_be_saved_and_read_back(scan: Scan, tmp_path: Path) -> None:
    """All of it."""
    run = scan(tree(tmp_path / "t", {**VLLM, "vllm/tree.py": WALK}))

    assert run == load(save(run, tmp_path / "state"))
    assert run.complete


def test_every_reason_is_a_sentence(scan: Scan, tmp_path: Path) -> None:
    """They are printed one under the other."""
    reasons = [each.reason for each in scan(tree(tmp_path / "t", VLLM)).installs[0].verdicts]

    assert [] == [reason for reason in reasons if not (reason[:1].isupper() and reason.endswith("."))]


def test_near_misses_are_bounded(scan: Scan, tmp_path: Path) -> None:
    """A page of them says no more than eight."""
    many = {f"vllm/spec/c{n}.py": CHAIN.replace("def chain", f"def chain{n}") for n in range(MOST_NEAREST + 4)}
    run = scan(tree(tmp_path / "t", {**VLLM, **many}))

    assert MOST_NEAREST == len(verdict(run.installs[0], "accept.tree.greedy").nearest)


def test_excerpts_keep_their_lines_beside_odd_bytes(scan: Scan, tmp_path: Path) -> None:
    """A form feed ends no line of source; no line is longer than anyone reads; each place is shown once."""
    odd = "#\x0c\x85\u2028\n" + CHAIN.replace("bad = True", f"bad = True  # {'x' * 5000}")
    run = scan(tree(tmp_path / "t", {**VLLM, "vllm/spec/accept.py": odd}))
    found = verdict(run.installs[0], "accept.linear.greedy").evidence[0]
    (excerpt,) = (each for each in run.installs[0].excerpts if each.path == found.path)
    lines = excerpt.text.split("\n")

    assert "if w != tl.load(draft" in lines[found.line - excerpt.line]
    assert EXCERPT_COLUMNS == max(map(len, lines))
    assert len(lines) <= EXCERPT_LINES


def test_the_second_scan_reads_nothing_and_says_the_same(
    scan: Scan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Outlines and answers are kept by the bytes that they belong to."""
    folder = tree(tmp_path / "t", VLLM)
    first = scan(folder, workers=1)
    monkeypatch.setattr("recon.index.reading.ProcessPoolExecutor", None)
    second = scan(folder, workers=1)

    assert first.installs == second.installs


# What cannot be read


@pytest.mark.parametrize(
    ("text", "standing"),
    [
        (b"# caf\xe9\n" + WALK.encode(), Standing.PRESENT),
        (b"type Pair = tuple[int, int]\n" + WALK.encode(), Standing.PRESENT),
        (b"try:\n    pass\nexcept A, B:\n    pass\n" + WALK.encode(), Standing.PRESENT),
        (WALK.replace("\n", "\r\n").encode(), Standing.PRESENT),
        (b"\x00\x01\x02\xff" * 50, Standing.UNKNOWN),
        (b"", Standing.ABSENT),
    ],
    ids=["no UTF-8", "newer than this Python", "newer still", "line ends of Windows", "no text", "empty"],
)
def test_sources_of_all_kinds_are_read_or_reported(scan: Scan, tmp_path: Path, text: bytes, standing: Standing) -> None:
    """What is not text could have held the answer: then it is unknown, never absent."""
    run = scan(tree(tmp_path / "t", {**VLLM, "vllm/walk.py": text}))
    found = verdict(run.installs[0], "accept.tree.greedy")

    assert standing is found.standing, found.reason
    assert (standing is Standing.UNKNOWN) == bool(run.searched[0].unread)


def test_a_folder_that_cannot_be_listed_makes_unknown(
    scan: Scan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What lies in it could hold the answer; what was seen elsewhere stands."""
    folder = tree(tmp_path / "t", {**VLLM, "vllm/closed/walk.py": WALK})
    scandir = os.scandir

    def refusing(path: Path | int | str) -> object:
        if str(path).endswith("closed"):
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refusing)
    install = scan(folder).installs[0]

    assert Standing.PRESENT is verdict(install, "accept.linear.greedy").standing
    assert Standing.UNKNOWN is verdict(install, "accept.tree.greedy").standing
    assert "vllm/closed could hold it" in verdict(install, "accept.tree.greedy").reason


@pytest.mark.parametrize(("compiled", "standing"), [(True, Standing.ABSENT), (False, Standing.UNKNOWN)])
def test_a_compiled_library_could_hold_the_answer(
    scan: Scan, tmp_path: Path, compiled: bool, standing: Standing
) -> None:
    """Unless its names were read, and say nothing."""
    run = scan(tree(tmp_path / "t", {**VLLM, "vllm/_C.abi3.so": library().data}), compiled=compiled)
    found = verdict(run.installs[0], "accept.tree.greedy")

    assert (standing, int(compiled)) == (found.standing, found.searched.libraries)
    assert Standing.PRESENT is verdict(run.installs[0], "accept.linear.greedy").standing


@pytest.mark.parametrize("data", [b"", b"garbage" * 999, b"SQLite format 3\0" + b"\xff" * 5000])
def test_a_broken_cache_costs_time_not_the_scan(scan: Scan, settings: Settings, tmp_path: Path, data: bytes) -> None:
    """It is set aside, and said."""
    settings.cache_dir.mkdir()
    (settings.cache_dir / "index.sqlite").write_bytes(data)
    run = scan(tree(tmp_path / "t", VLLM))

    assert Standing.PRESENT is verdict(run.installs[0], "accept.linear.greedy").standing
    assert bool(data) == any("cache" in unknown.what for unknown in run.unknowns)


def test_the_graph_is_kept_for_later_questions(scan: Scan, settings: Settings, tmp_path: Path) -> None:
    """Once a tree: a second scan writes it no more."""
    (install,) = scan(tree(tmp_path / "t", VLLM)).installs
    (file,) = (settings.cache_dir / GRAPHS).iterdir()
    before = file.stat().st_ino
    scan(tmp_path / "t")
    with opened(settings.cache_dir, install.source_digest) as kept:
        (step,), (kernel,) = kept.named("GPUModelRunner.execute_model"), kept.named("chain")
        (path,) = kept.edges.paths({step.id}, {kernel.id}, 3)

    assert (before, BlobStore(settings.cache_dir).info().graphs) == (file.stat().st_ino, 1)
    assert ["launch"] == [edge.dispatch for edge in path]


def test_a_graph_that_cannot_be_kept_costs_no_verdict(scan: Scan, settings: Settings, tmp_path: Path) -> None:
    """The run says so; what follows from the verdicts is as complete as before."""
    settings.cache_dir.mkdir()
    (settings.cache_dir / GRAPHS).write_text("in the way")
    run = scan(tree(tmp_path / "t", VLLM))

    assert [(CACHE, True)] == [(each.what, "is not kept" in each.why) for each in run.unknowns]
    assert Standing.PRESENT is verdict(run.installs[0], "accept.linear.greedy").standing


def test_a_graph_is_kept_anew_where_something_else_was_read_of_the_libraries(
    scan: Scan, settings: Settings, tmp_path: Path
) -> None:
    """They count by their size alone in the digest of a tree, and a host may say of their names what it likes."""
    one, two = (library(text=(word + b"(Tensor x) -> ()",)).data for word in (b"ours", b"lies"))
    digests, found = [], []
    for name, data in (("one", one), ("two", two)):
        (tmp_path / name / "vllm").mkdir(parents=True)
        (tmp_path / name / "vllm/_C.abi3.so").write_bytes(data)
        (install,) = scan(tree(tmp_path / name, VLLM)).installs
        digests.append(install.source_digest)
        with opened(settings.cache_dir, install.source_digest) as kept:
            found.append([bool(kept.found(word, ("op",))) for word in ("ours", "lies")])

    assert digests[0] == digests[1]
    assert [[True, False], [False, True]] == found
