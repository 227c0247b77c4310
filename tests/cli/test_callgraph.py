"""`recon callgraph` on folders without any engine."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Recon

SOURCE = "from pkg.m import f\ndef g(x):\n    return x.rare()\nf(g)\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a module and a package."""
    made = tmp_path / "code"
    (made / "pkg").mkdir(parents=True)
    (made / "main.py").write_text(SOURCE)
    (made / "pkg" / "__init__.py").write_text("")
    (made / "pkg" / "m.py").write_text("class A:\n    def rare(self): pass\ndef f(h): h()\n")
    return made


def test_edges_are_rows_for_people_and_pipes(recon_command: Recon, folder: Path) -> None:
    ended = recon_command("callgraph", str(folder))

    assert (0, "") == (ended.code, ended.err)
    assert [
        "source\ttarget\tline\tdispatch\ttier",
        "main\tmain.g\t4\thanded\tlikely",
        "main\tpkg.m.f\t4\tcall\tcertain",
        "pkg.m.f\tmain.g\t3\tcall\tcertain",
    ] == ended.out.splitlines()


def test_pycg_format_is_every_node_with_what_it_calls(recon_command: Recon, folder: Path) -> None:
    ended = recon_command("callgraph", str(folder), "--format", "pycg")

    assert {
        "main": ["pkg.m.f"],
        "main.g": [],
        "pkg": [],
        "pkg.m": [],
        "pkg.m.A.rare": [],
        "pkg.m.f": ["main.g"],
    } == json.loads(ended.out)


def test_guesses_are_told_on_request_only(recon_command: Recon, folder: Path) -> None:
    edges = json.loads(recon_command("callgraph", str(folder), "--tier", "guess", "--json").out)

    assert [("main.g", "pkg.m.A.rare")] == [(e["source"], e["target"]) for e in edges if e["tier"] == "guess"]
    assert "rare" not in recon_command("callgraph", str(folder)).out


def test_files_are_written_beside_what_is_shown(recon_command: Recon, folder: Path, tmp_path: Path) -> None:
    ended = recon_command("callgraph", str(folder), "-o", f"pycg={tmp_path / 'graph.json'}")

    assert 0 == ended.code
    assert ["main.g"] == json.loads((tmp_path / "graph.json").read_text())["pkg.m.f"]


def test_what_does_not_exist_and_what_is_no_output_are_errors_of_use(recon_command: Recon, folder: Path) -> None:
    assert 2 == recon_command("callgraph", str(folder / "nowhere")).code
    assert 2 == recon_command("callgraph", str(folder), "-o", "svg=x.svg").code
    assert 2 == recon_command("callgraph", str(folder), "-o", f"pycg={folder}").code


def test_a_file_that_cannot_be_read_makes_the_answer_incomplete(recon_command: Recon, folder: Path) -> None:
    (folder / "broken.py").write_bytes(b"def f(:\0")
    ended = recon_command("callgraph", str(folder))

    assert 3 == ended.code
    assert "pkg.m.f" in ended.out
    assert "not read: source" in ended.err
