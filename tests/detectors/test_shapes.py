"""Forms of acceptance as different people would write them, and code that only looks like one: `shapes/index.toml`."""

import ast
import tomllib
from functools import cache
from pathlib import Path
from typing import TypedDict

import pytest

from recon.detectors.registry import detectors
from recon.detectors.testing import indexed
from recon.index.outline import outline_cuda
from recon.records.verdict import Searched, Standing, Verdict
from recon.verdicts.judge import judge

SHAPES = Path(__file__).parent / "shapes"


class Form(TypedDict):
    """A form of acceptance."""

    about: str
    capability: str
    variants: dict[str, str]
    """The function that does it, by file."""


class Decoy(TypedDict, total=False):
    """Code that looks alike."""

    about: str
    file: str
    never: list[str]


INDEX = tomllib.loads((SHAPES / "index.toml").read_text())
FORMS: dict[str, Form] = {f"{kind}/{name}": form for kind in ("tree", "linear") for name, form in INDEX[kind].items()}
DECOYS: dict[str, Decoy] = INDEX["decoys"]
ACCEPTANCE = [detector.capability for detector in detectors() if detector.capability.startswith("accept.")]
VARIANTS = [(form, file) for form, row in FORMS.items() for file in row["variants"]]


@cache
def verdicts(file: Path) -> dict[str, Verdict]:
    """What all detectors say of a package that holds one file."""
    index = indexed({f"package/{file.name}": file.read_text()})
    searched = Searched(1, 1, 1, 1, 0, (), ())
    return {
        detector.capability: judge(detector.capability, detector.title, detector.detect(index), searched)
        for detector in detectors()
    }


def seen(file: Path) -> dict[str, Standing]:
    """What stands there at least in part."""
    found = {capability: verdict.standing for capability, verdict in verdicts(file).items()}
    return {capability: standing for capability, standing in found.items() if standing is not Standing.ABSENT}


@pytest.mark.parametrize(("form", "file"), VARIANTS)
def test_a_form_is_found_however_it_is_written(form: str, file: str) -> None:
    """And the first place that speaks for it is the function that does it."""
    capability = FORMS[form]["capability"]
    verdict = verdicts(SHAPES / form / file)[capability]

    assert Standing.PRESENT is verdict.standing, verdict.reason
    assert FORMS[form]["variants"][file] == verdict.evidence[0].symbol


@pytest.mark.parametrize(("form", "file"), VARIANTS)
def test_a_form_is_not_taken_for_another_one(form: str, file: str) -> None:
    """A chain is no tree, and a tree is a chain at most by its rule for one child."""
    own = FORMS[form]["capability"]
    others = {capability: standing for capability, standing in seen(SHAPES / form / file).items() if capability != own}
    trees = [capability for capability in others if capability.startswith("accept.tree.")]
    whole = [c for c, standing in others.items() if c in ACCEPTANCE and standing is Standing.PRESENT]

    assert ([], []) == (trees, whole)


@pytest.mark.parametrize("name", DECOYS)
def test_what_only_looks_alike_is_not_taken_for_acceptance(name: str) -> None:
    """Walks, prefixes, reductions and searches of every kind."""
    found = seen(SHAPES / "decoys" / DECOYS[name]["file"])

    assert {} == {c: standing for c, standing in found.items() if c in DECOYS[name].get("never", ACCEPTANCE)}


def test_there_are_enough_of_each_kind() -> None:
    """Twelve forms of trees, ten of chains, each in three variants, five of them in CUDA C++; 25 decoys."""
    trees, chains = ([form for form in FORMS if form.startswith(kind)] for kind in ("tree/", "linear/"))
    in_cuda = [form for form, row in FORMS.items() if all(file.endswith((".cu", ".cpp")) for file in row["variants"])]

    assert len(trees) >= 12
    assert len(chains) >= 10
    assert len(in_cuda) >= 5
    assert len(DECOYS) >= 25
    assert {3} == {len(row["variants"]) for row in FORMS.values()}


def test_every_file_is_listed() -> None:
    """A file that no row names would be judged by nobody."""
    listed = {SHAPES / form / file for form, file in VARIANTS}
    listed |= {SHAPES / "decoys" / row["file"] for row in DECOYS.values()}

    assert listed == {file for file in SHAPES.rglob("*") if file.suffix in (".py", ".cu", ".cpp")}


@pytest.mark.parametrize("form", FORMS)
def test_variants_of_a_form_share_no_names(form: str) -> None:
    """So that nothing is found by what it is called."""
    names = [bound(SHAPES / form / file) for file in FORMS[form]["variants"]]
    shared = {name for number, own in enumerate(names) for other in names[number + 1 :] for name in own & other}

    assert set() == shared


def bound(file: Path) -> set[str]:
    """Every name that a file gives to something."""
    if file.suffix in (".cu", ".cpp"):
        outline = outline_cuda(file.read_bytes())
        names = {scope.name for scope in outline.scopes} | {bind.target for bind in outline.binds}
        return (names | {param.name for scope in outline.scopes for param in scope.params}) - {"", "return"}
    names = set()
    for node in ast.walk(ast.parse(file.read_text())):
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.arg(arg=name):
                names.add(name)
            case ast.Name(id=name, ctx=ast.Store()):
                names.add(name)
    return names - {"self", "_", "__init__"}
