"""From a folder on disk to a run: small trees, judged whole."""

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from recon import pipeline
from recon.errors import Interrupted, NoEngine, NotFound
from recon.pipeline import EXCERPT_COLUMNS, EXCERPT_LINES, MOST_NEAREST, ProbeRequest, ScanTargets, Settings
from recon.ports import Progress, Silent
from recon.probes.run import ProbeResult
from recon.records.host import PythonEnv
from recon.records.install import Engine, Found, Install, Provenance
from recon.records.run import Run
from recon.records.unknown import Unknown
from recon.records.verdict import Standing, Verdict
from recon.runs.files import load, save
from tests.sources.made import library, wheel

CHAIN = """
@triton.jit
def chain(out, draft, want, n):
    b = tl.program_id(0)
    bad = False
    for i in range(n):
        if not bad:
            w = tl.load(want + b * n + i)
            tl.store(out + b * n + i, w)
            if w != tl.load(draft + b * n + i + 1):
                bad = True
"""
WALK = """
def follow(children, posterior):
    node, path = 0, []
    token = posterior[node]
    while token in children[node]:
        node = children[node][token]
        path.append(node)
        token = posterior[node]
    return path, token
"""
RUNNER = """
from vllm.spec.accept import chain


class GPUModelRunner:
    def execute_model(self, out, draft, want, n):
        chain[(1,)](out, draft, want, n)
"""
VLLM: Mapping[str, str | bytes] = {
    "vllm/__init__.py": "",
    "vllm/_version.py": "__version__ = version = '9.8.7'\n",
    "vllm/spec/__init__.py": "",
    "vllm/spec/accept.py": CHAIN,
    "vllm/runner.py": RUNNER,
    "vllm/csrc/k.cu": "__global__ void k(int* p) { p[0] = 1; }\n",
}

Scan = Callable[..., Run]


def tree(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    """A source tree on disk."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
    return folder


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Folders of this test."""
    return Settings(tmp_path / "cache", tmp_path / "state", compiled=True, workers=1)


@pytest.fixture
def scan(settings: Settings) -> Scan:
    """Scans folders and wheels."""

    def run(*paths: Path | str, progress: Progress | None = None, compiled: bool = True) -> Run:
        targets = ScanTargets(tuple(map(str, paths)), (), local=False)
        return pipeline.scan(targets, replace(settings, compiled=compiled), progress or Silent())

    return run


def verdict(install: Install, capability: str) -> Verdict:
    """The verdict on one capability."""
    (found,) = (each for each in install.verdicts if each.capability == capability)
    return found


# One tree


def test_a_tree_is_judged_with_places_and_their_source(scan: Scan, tmp_path: Path) -> None:
    """Present: where, reached by whom, and the lines themselves."""
    run = scan(tree(tmp_path / "t", VLLM))
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
    first = scan(folder)
    monkeypatch.setattr("recon.index.reading.ProcessPoolExecutor", None)
    second = scan(folder)

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


# Several targets


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

    monkeypatch.setattr(pipeline, "discover", found)
    run = pipeline.scan(ScanTargets((), (), local=True), settings, Silent())

    assert [environments[0]] == [host.environments for host in run.hosts]
    assert environments[0]
    assert "half installed" in [unknown.why for unknown in run.unknowns]
    assert Standing.PRESENT is verdict(run.installs[0], "accept.linear.greedy").standing


def test_a_machine_without_engines_is_told_so(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """With what to try."""
    monkeypatch.setattr(pipeline, "discover", lambda _shell, _known: ((), ()))

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
        self.left -= task == self.task
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
    assert partial == load(save(partial, tmp_path / "state"))


# Probes

REQUEST = ProbeRequest("gpu", "quick", "", allow_busy=False, archs=(), python="")


@pytest.mark.parametrize("complete", [True, False])
def test_a_probe_that_was_stopped_hands_over_what_it_measured(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, complete: bool
) -> None:
    """Inside the error, as a scan does."""
    result = ProbeResult((), (), (Unknown("kernel", "tree_greedy", "it was stopped"),), complete)
    monkeypatch.setattr(pipeline, "probe_gpu", lambda *_words, **_named: result)
    if complete:
        run = pipeline.probe(REQUEST, settings, Silent())
    else:
        with pytest.raises(Interrupted) as stopped:
            pipeline.probe(REQUEST, settings, Silent())
        assert isinstance(stopped.value.partial, Run)
        run = stopped.value.partial

    assert (complete, result.unknowns, ()) == (run.complete, run.unknowns, run.installs)


@pytest.mark.parametrize(("mode", "door"), [("interpret", "probe_interpret"), ("compile", "compile_only")])
def test_each_mode_of_a_probe_has_its_door(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, mode: str, door: str
) -> None:
    """Without a GPU, kernels are interpreted or compiled."""
    asked: list[object] = []

    def answer(*words: object, **named: object) -> ProbeResult:
        asked.append((words, named["python"]))
        return ProbeResult((), (), ())

    monkeypatch.setattr(pipeline, door, answer)
    pipeline.probe(replace(REQUEST, mode=mode, archs=(90,), python="/p"), settings, Silent())

    assert [((((90,),) if mode == "compile" else ()), "/p")] == asked


@pytest.mark.parametrize("mode", ["gpu", "interpret", "compile"])
def test_a_plan_can_be_had_without_running_it(mode: str) -> None:
    """It says what would be done."""
    assert pipeline.plan(replace(REQUEST, mode=mode)) is not None
