"""The architecture, kept by tools: who may import whom, what may travel, and how long a module may grow."""

import ast
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "recon"
PAYLOAD = PACKAGE / "kernels"
DETECTORS = PACKAGE / "detectors"
MOST_LINES = 450
# Modules of the standard library that Python 3.10, the oldest that a target may run, does not have.
YOUNGER = {"annotationlib", "compression", "concurrent.interpreters", "tomllib"}
TRAVELS = {*sys.stdlib_module_names} - YOUNGER | {"torch", "triton"}

VERSION = re.compile(r"\b\d+\.\d+\.\d+|\bv\d+\.\d+\b|[=<>~!]=\s*\d+\.\d+\b")
RELEASE_PATH = re.compile(
    r"(?:\b(?:vllm|sglang|sgl_kernel|flashinfer|lmdeploy|tensorrt_llm)[/.]\w+[/.]\w+)|(?:\w+/\w+\.(?:py|cuh?|cpp|h)\b)"
)


def lint(folder: Path, *words: str) -> tuple[int, str]:
    """Run import-linter over the package in a folder; its status and what it said."""
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache", "--no-logo", *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package and its contracts, to be broken."""
    folder = tmp_path_factory.mktemp("house")
    shutil.copytree(PACKAGE, folder / "recon", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


def test_every_contract_is_kept() -> None:
    """What `make check` proves, told by pytest alone too."""
    status, said = lint(ROOT)

    assert status == 0, said


@pytest.mark.parametrize(
    ("contract", "title", "file", "line"),
    [
        ("flow", "Stages meet only in the pipeline", "records/broken.py", "import recon.index"),
        ("flow", "Stages meet only in the pipeline", "report/broken.py", "import recon.detectors"),
        ("flow", "Stages meet only in the pipeline", "hosts/broken.py", "import recon.pipeline"),
        ("doors", "Who may open which stage", "probes/broken.py", "import recon.hosts"),
        ("doors", "Who may open which stage", "report/broken.py", "import recon.sources"),
        ("index-door", "Only detectors read the index", "report/broken.py", "import recon.index"),
        (
            "kept-door",
            "Questions are asked at the command line, and answers kept by the index",
            "report/broken.py",
            "import recon.kept",
        ),
        ("payload-door", "Only probes know the payload", "estimates/broken.py", "import recon.kernels"),
        ("payload", "The payload travels alone", "kernels/broken.py", "import recon.records.verdict"),
        ("payload", "The payload travels alone", "kernels/broken.py", "import rich"),
        ("recipes", "A recipe stands alone", "recipes/broken.py", "import recon.errors"),
        ("recipes", "A recipe stands alone", "recipes/broken.py", "import msgspec"),
        ("parsers", "Only the index parses source", "detectors/broken.py", "import libcst"),
        ("codec", "Records are encoded where they are kept or printed", "records/broken.py", "import msgspec"),
        ("command-line", "Only the command line knows typer", "report/broken.py", "import typer"),
        ("agents", "Only one module knows the package mcp", "cli/broken.py", "import mcp.types"),
        ("screen", "Only what is seen is drawn", "detectors/broken.py", "import rich"),
        ("page", "Only the report makes pages", "cli/broken.py", "import jinja2"),
        ("packages", "Only sources reason about wheels", "facts/broken.py", "import packaging.version"),
        ("no-torch-here", "Asking needs no torch", "probes/broken.py", "import torch"),
    ],
)
def test_a_broken_contract_is_caught(house: Path, contract: str, title: str, file: str, line: str) -> None:
    """A contract that cannot fail protects nothing."""
    broken = house / "recon" / file
    broken.write_text(f"{line}\n")
    try:
        status, said = lint(house, "--contract", contract)
    finally:
        broken.unlink()

    assert (1, True) == (status, f"{title} BROKEN" in said), said


def test_a_detector_that_leans_on_another_is_caught(house: Path) -> None:
    """What several need lives in recon.detectors.shapes."""
    builtin = house / "recon" / "detectors" / "builtin"
    (builtin / "broken_one.py").write_text("")
    (builtin / "broken_two.py").write_text("import recon.detectors.builtin.broken_one\n")
    try:
        status, said = lint(house, "--contract", "detectors-apart")
    finally:
        (builtin / "broken_one.py").unlink()
        (builtin / "broken_two.py").unlink()

    assert (1, True) == (status, "Detectors do not lean on one another BROKEN" in said), said


def test_a_package_without_a_layer_is_caught(house: Path) -> None:
    """The layers are exhaustive: a newcomer must say where it stands."""
    newcomer = house / "recon" / "newcomer"
    newcomer.mkdir()
    (newcomer / "__init__.py").write_text("")
    try:
        status, said = lint(house, "--contract", "flow")
    finally:
        shutil.rmtree(newcomer)

    assert (1, True) == (status, "newcomer" in said), said


def too_young(source: str) -> bool:
    """Whether source needs a younger grammar than that of Python 3.10."""
    try:
        ast.parse(source, feature_version=(3, 10))
    except SyntaxError:
        return True
    return False


def test_the_payload_is_written_in_the_oldest_python_of_a_target() -> None:
    """The engines still run on Python 3.10; the payload runs under their interpreter."""
    young = [path.name for path in sorted(PAYLOAD.rglob("*.py")) if too_young(path.read_text())]

    assert [] == young


def test_younger_grammar_would_be_noticed() -> None:
    """`except*` came with 3.11."""
    assert too_young("try:\n    pass\nexcept* OSError:\n    pass\n")


def foreign_imports(source: str) -> list[str]:
    """Modules that a source imports although a target may not have them."""
    wanted: list[str] = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            wanted.extend(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            wanted.append(node.module or "")
    return [name for name in wanted if name in YOUNGER or name.partition(".")[0] not in TRAVELS]


def test_the_payload_imports_nothing_that_a_target_lacks() -> None:
    """Standard library, torch, triton, and its own modules by relative imports: it runs below any parent folder."""
    foreign = {str(path): names for path in PAYLOAD.rglob("*.py") if (names := foreign_imports(path.read_text()))}

    assert {} == foreign


@pytest.mark.parametrize("line", ["import numpy", "from recon.records import run", "import tomllib", "import os, rich"])
def test_a_foreign_import_would_be_noticed(line: str) -> None:
    """Inside a function as well as at the top."""
    assert foreign_imports(f"def late():\n    {line}\n")


def release_marks(source: str) -> list[str]:
    """Version literals and paths of releases in a source, docstrings included."""
    return [match.group() for pattern in (VERSION, RELEASE_PATH) for match in pattern.finditer(source)]


def test_detectors_know_shapes_and_no_releases() -> None:
    """A detector that names a version or a file recognises that release, not the algorithm."""
    marks = {
        str(path.relative_to(ROOT)): found
        for path in sorted(DETECTORS.rglob("*.py"))
        if (found := release_marks(path.read_text()))
    }

    assert {} == marks


@pytest.mark.parametrize(
    "text",
    ['version == "0.20.1"', "since v0.11", "vllm/v1/sample", '"vllm.v1.sample"', "spec_decode/eagle.py", ">= 0.5"],
)
def test_a_release_mark_would_be_noticed(text: str) -> None:
    """Numbers of papers, thresholds and compute capabilities are none."""
    assert release_marks(text)


def test_other_numbers_are_not_taken_for_releases() -> None:
    """arXiv numbers, thresholds and architectures stand in many pages."""
    assert [] == release_marks("arXiv 2305.09781, threshold 0.3, x >= 2, sm_120, a / b, tl.load(x).to(y)")


def test_modules_stay_short() -> None:
    """A module that grows past this is two modules."""
    lengths = {
        str(path.relative_to(ROOT)): len(path.read_text().splitlines())
        for folder in (PACKAGE, ROOT / "tools", ROOT / "tests")
        for path in folder.rglob("*.py")
        if "trees" not in path.parts
    }
    long = {path: lines for path, lines in lengths.items() if lines >= MOST_LINES}

    assert {} == long
