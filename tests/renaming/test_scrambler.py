"""The scrambler: one new name for each old one, wherever it stands, and nothing else."""

import ast
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.renaming.naming import KEPT, Naming
from tests.renaming.scrambler import renamed

TREE = {
    "engine/__init__.py": '"""An engine."""\nfrom .draft.walker import Walker, walk_tree\n',
    "engine/draft/__init__.py": "",
    "engine/draft/walker.py": '''
"""Walks."""
import dataclasses
import math as numeric
from typing import ClassVar, Literal

__all__ = ["Walker", "walk_tree"]

class Walker:
    """Walks a tree."""

    default_steps: ClassVar["int"] = 2
    kind: Literal["greedy_walk"] = "greedy_walk"

    def __init__(self, first_step: int = 1) -> None:
        self._first_step = first_step  # where it begins
        self.__hidden = numeric.floor(2.5)

    @property
    def hidden(self):
        return self.__hidden

    def take_step(self, token: "int", *, times=1) -> "list[int]":
        """Docs."""
        return [token + self._first_step * numeric.floor(times) for index in range(times)]

def walk_tree(walker: "Walker", method_name="take_step"):
    """Only docs."""
    return getattr(walker, "take_step")(1, times=Walker.default_steps)

@dataclasses.dataclass
class Settings:
    draft_depth: int = 3

def deeper(settings):
    return dataclasses.replace(settings, draft_depth=settings.draft_depth + 1).draft_depth
''',
    "engine/main.py": """
import importlib
import engine.draft.walker as walking

REGISTRY = {"walker": ("walker", "Walker"), "full": "engine.draft.walker.Walker"}

def load_class(key):
    module, name = REGISTRY["full"].rsplit(".", 1)
    return getattr(importlib.import_module(module), name)

def run_all():
    stepper = load_class("walker")(first_step=4)
    short, long = REGISTRY["walker"]
    named = getattr(importlib.import_module(f"engine.draft.{short}"), long)
    match stepper.take_step(1, times=2):
        case [first, *others]:
            total = first + sum(others)
    try:
        raise ValueError(f"{total:>3} of {stepper.hidden!r}")
    except ValueError as problem:
        return walking.walk_tree(stepper), str(problem), named is walking.Walker, walking.deeper(walking.Settings())
""",
    "engine/csrc/tree/walk.cuh": "__global__ void take_step(int token) {}\n",
}
ANSWER = ([9, 9], " 18 of 2", True, 4)


def files() -> dict[str, bytes]:
    """The tree as bytes."""
    return {path: text.encode() for path, text in TREE.items()}


def ran(folder: Path, tree: dict[str, bytes], module: str, function: str) -> object:
    """What a function of a tree gives, the tree imported from a folder."""
    for path, data in tree.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    known = set(sys.modules)
    sys.path.insert(0, str(folder))
    try:
        found: ModuleType = __import__(module, fromlist=[function])
        return getattr(found, function)()
    finally:
        sys.path.remove(str(folder))
        for name in set(sys.modules) - known:
            del sys.modules[name]


@pytest.mark.parametrize("seed", ["", "another", "third"])
def test_a_renamed_tree_does_what_it_did(tmp_path: Path, seed: str) -> None:
    """Imports, keywords, strings that name definitions, patterns and fields all follow."""
    naming = Naming(files(), seed)
    module = naming.path("engine/main.py").removesuffix(".py").replace("/", ".")

    before = ran(tmp_path / "before", files(), "engine.main", "run_all")
    after = ran(tmp_path / "after", dict(renamed(files(), seed)), module, naming.names["run_all"])

    assert before == after == ANSWER


def test_no_name_of_the_tree_is_left() -> None:
    """Neither bound nor mentioned; folders of C++ have theirs."""
    own = set(Naming(files(), "").names)
    said: set[str] = set()
    for path, data in renamed(files(), ""):
        said |= set(path.removesuffix(".py").split("/"))
        if path.endswith(".py"):
            for node in ast.walk(ast.parse(data)):
                said |= {str(getattr(node, each)) for each in ("id", "attr", "arg", "name") if hasattr(node, each)}

    assert {"take_step", "Walker", "walker", "engine", "draft", "first_step", "numeric", "others", "problem"} <= own
    assert not own & KEPT
    assert not own & said - {"tree", "csrc", "walk"}


def test_what_is_not_the_trees_own_stays() -> None:
    """C++ with its folders, the standard library, docstrings not at all."""
    tree = dict(renamed(files(), ""))
    text = b"\n".join(data for path, data in tree.items() if path.endswith(".py"))
    naming = Naming(files(), "")

    assert tree[f"{naming.names['engine']}/csrc/tree/walk.cuh"] == files()["engine/csrc/tree/walk.cuh"]
    assert [b"docs" in text.lower(), b"greedy_walk" in text, b"import math as" in text] == [False, True, True]
    assert b"take_step" not in text.replace(b"'take_step'", b"", 1)  # a default that nobody reads as a name


def test_triton_is_told_the_new_names_of_parameters() -> None:
    """In the keys of an autotuner; its own words stay, through a module of the tree that hands it on as well."""
    tree = {
        "e/compat.py": b"import triton\nimport triton.language as tl\n",
        "e/kernel.py": b"""
from e.compat import tl, triton

@triton.autotune([triton.Config({"BLOCK": 64}, num_warps=4)], key=["width"])
@triton.jit
def kernel(mask_ptr, width, BLOCK: tl.constexpr):
    tl.store(mask_ptr, tl.load(mask_ptr + tl.arange(0, BLOCK), mask=width > 0, other=0))

def load(mask, other, num_warps):
    kernel[(1,)](mask, width=other, num_warps=num_warps)
""",
    }
    names = Naming(tree, "").names
    text = dict(renamed(tree, ""))[Naming(tree, "").path("e/kernel.py")].decode()

    assert f"'{names['BLOCK']}': 64" in text
    assert f"key=['{names['width']}']" in text
    assert f"({names['mask']}, {names['width']}={names['other']}, " in text
    assert f"{names['tl']}.load(" in text
    assert ", mask=" in text
    assert ", other=0" in text


def test_a_seed_decides() -> None:
    """The same names for the same seed, others for another."""
    assert dict(renamed(files(), "1")) == dict(renamed(files(), "1"))
    assert set(dict(renamed(files(), "1"))) != set(dict(renamed(files(), "2")))
