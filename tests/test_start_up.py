"""What a command imports before it knows what it is asked: it is typed often, and completion runs it at every key."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.pipeline.engines import VLLM, tree

ROOT = Path(__file__).resolve().parent.parent
HEAVY = {
    "jinja2", "libcst", "mcp", "msgspec", "networkx", "packaging", "platformdirs", "pydantic", "pygments", "rich",
    "sqlite3", "torch", "tree_sitter", "triton",
}  # fmt: skip


def imported(*words: str) -> set[str]:
    """Top-level packages that a command imports, counted by Python itself: steadier than a clock."""
    command = [sys.executable, "-X", "importtime", *words]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    return {name.partition(".")[0] for name in re.findall(r"\| +([\w.]+)$", said, re.MULTILINE)}


def test_asking_for_the_version_imports_nothing_heavy() -> None:
    """typer itself is light as long as it draws nothing."""
    assert set() == imported("-m", "recon", "--version") & HEAVY


@pytest.mark.parametrize(
    ("line", "word", "offered"), [("recon sc", 1, {"scan", "schema"}), ("recon scan --rej", 2, {"--rejudge"})]
)
def test_completion_offers_words_and_imports_nothing_heavy(
    monkeypatch: pytest.MonkeyPatch, line: str, word: int, offered: set[str]
) -> None:
    """A shell asks in this way at every key."""
    monkeypatch.setenv("_RECON_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", str(word))
    code = "import sys; sys.argv = ['recon']; from recon.cli.app import main; main()"
    done = subprocess.run([sys.executable, "-X", "importtime", "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.partition(".")[0] for name in re.findall(r"\| +([\w.]+)$", done.stderr, re.MULTILINE)}

    assert offered == set(done.stdout.split())
    assert set() == loaded & HEAVY


def test_a_heavy_import_would_be_counted() -> None:
    """Nested ones too."""
    assert {"msgspec"} <= imported("-c", "import msgspec.json") & HEAVY


def test_a_scan_whose_answers_are_known_loads_no_judge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first scan of the tree does, so that the test would see it."""
    monkeypatch.setenv("RECON_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("RECON_STATE_DIR", str(tmp_path / "state"))
    folder = tree(tmp_path / "t", VLLM)
    command = (sys.executable, "-X", "importtime", "-m", "recon", "scan", "--path", str(folder))
    first, second = (subprocess.run(command, capture_output=True, text=True, check=False).stderr for _ in range(2))
    judges = {"recon.judging", "recon.detectors.registry", "recon.index.index", "recon.probing", "recon.collecting"}
    libraries = {"jinja2", "libcst", "packaging", "paramiko", "pygments", "rich", "tree_sitter"}

    def loaded(said: str) -> set[str]:
        return set(re.findall(r"\| +([\w.]+)$", said, re.MULTILINE)) & (judges | libraries)

    assert {"recon.judging", "recon.detectors.registry", "recon.index.index", "tree_sitter"} <= loaded(first)
    assert set() == loaded(second)


def test_the_records_import_the_standard_library_alone() -> None:
    """They are read by scripts of others, and pickled between processes."""
    modules = "recon.records.run, recon.records.source, recon.errors, recon.ports"
    code = f"import sys; sys.path.insert(0, '.'); import {modules}; print(*sys.modules)"
    said = subprocess.run(
        [sys.executable, "-S", "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    loaded = {name.partition(".")[0] for name in said.split()} - {"__main__", "recon"}

    assert set() == {name for name in loaded if name not in sys.stdlib_module_names}
