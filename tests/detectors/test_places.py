"""Places of evidence: doors of code built at run time, functions of other distributions, the order of places."""

import pytest

from recon.detectors.places import doors_of, launchers, outside, ranked, reach_of
from recon.detectors.testing import indexed
from recon.records.evidence import Evidence, Grade
from recon.records.verdict import Reach
from tests.index.trees import ref_of

CUDA = """
__global__ void Walk(int* p) { p[0] = 1; }
void launch(int* p) { Walk<<<1, 1>>>(p); }
void other(int* p) { p[0] = 2; }
"""
WORDS = frozenset({"verify", "tree"})


def place(path: str = "e/a.py", symbol: str = "f", grade: Grade = Grade.SHAPED, *scope: str) -> Evidence:
    """A place of evidence."""
    return Evidence(path, symbol, 1, grade, scope, "")


def doors(source: str) -> list[str]:
    """Python functions that call the kernel which a module builds."""
    index = indexed({"ops.py": source, "csrc/walk.cuh": CUDA})
    kernel = index.function(ref_of(index.names, "csrc/walk.cuh:Walk"))
    return [door.symbol for door in doors_of(index, kernel)]


def test_a_function_that_calls_what_a_builder_built_is_a_door() -> None:
    """The builder names the file; its callers call the code."""
    source = """
def _module():
    return load_jit("walk", cuda_files=["speculative/walk.cuh"])


def verify(p):
    _module().launch(p)


def unrelated(p):
    return p
"""

    assert ["verify"] == doors(source)


def test_a_function_that_calls_something_else_of_the_file_is_none() -> None:
    """One file may hold several operators."""
    source = """
def _module():
    return load_jit("walk", cuda_files=["walk.cuh"])


def verify(p):
    _module().launch(p)


def count(p):
    _module().other(p)
"""

    assert ["verify"] == doors(source)


def test_whoever_calls_through_the_name_that_a_module_gives_to_what_it_builds_is_a_door() -> None:
    """The name is imported; what else is called through it has no part in the kernel."""
    files = {
        "ops.py": "from torch.utils.cpp_extension import load\n\nbuilt = load('walk', sources=['walk.cuh'])\n",
        "engine.py": "from ops import built\n\ndef step(p):\n    built.launch(p)\n\ndef tell(p):\n    built.count(p)\n",
        "other.py": "import built\n\ndef run(p):\n    built.launch(p)\n",
        "csrc/walk.cuh": CUDA,
    }
    index = indexed(files)
    found = doors_of(index, index.function(ref_of(index.names, "csrc/walk.cuh:Walk")))

    assert ["step"] == [door.symbol for door in found if door.path != "ops.py"]


@pytest.mark.parametrize("name", ["sidewalk.cuh", "walk.cu", "a walk.cuh in words"])
def test_another_file_has_no_door_here(name: str) -> None:
    """The name must be the file's, whole."""
    builder = f"def _module():\n    return load_jit('walk', cuda_files=['{name}'])\n"
    source = f"{builder}\n\ndef verify(p):\n    _module().launch(p)\n"

    assert [] == doors(source)


def test_a_function_of_another_distribution_is_named_with_its_callers() -> None:
    """By all words of a set, in the name of the function itself."""
    source = """
from other_kernel import build_tree, verify_tree_greedy
from other_kernel.ops import VerifyTree as walk
from e.ops import verify_tree
from .near import verify_tree_here


def step(x):
    build_tree(x)
    verify_tree(x)
    verify_tree_here(x)
    return verify_tree_greedy(x)
"""
    found = outside(indexed({"e/a.py": source, "e/ops.py": "def verify_tree(x):\n    pass\n"}), WORDS)

    assert ("other_kernel.verify_tree_greedy",) == found.names
    assert [("step", 12, Grade.DECLARED)] == [(each.symbol, each.line, each.grade) for each in found.places]


def test_several_are_named_apart() -> None:
    """And each is a place of its own."""
    source = """
from k import tree_verify
from m.n import verify_tree as v


def step(x):
    tree_verify(x)
    v(x)
"""
    found = outside(indexed({"e/a.py": source}), frozenset({"nothing", "of"}), WORDS)

    assert ("k.tree_verify", "m.n.verify_tree") == found.names
    assert [7, 8] == sorted(each.line for each in found.places)


def test_an_import_that_nobody_calls_is_none() -> None:
    """It may be left over."""
    found = outside(indexed({"e/a.py": "from k import verify_tree\n"}), WORDS)

    assert ((), ()) == (found.names, found.places)


def test_places_that_a_runner_reaches_come_first_and_tests_last() -> None:
    """Within these, what is shaped before what is declared; otherwise the order stays."""
    reached = place("e/a.py", "one", Grade.SHAPED, "runner V1")
    door = place("e/a.py", "two", Grade.DECLARED, "runner V1")
    lone, later = place("e/a.py", "three"), place("e/a.py", "four")
    test = place("e/tests/a.py", "five", Grade.SHAPED, "runner V1")

    assert [reached, door, lone, later, test] == ranked([test, lone, door, later, reached])


def test_code_of_another_platform_comes_after_that_for_cuda() -> None:
    elsewhere = place("e/hardware/npu/a.py", "one", Grade.SHAPED, "runner V1")
    here = place("e/pool.py", "two", Grade.SHAPED, "runner V1")

    assert [here, elsewhere] == ranked([elsewhere, here])


def test_the_runner_that_runs_by_default_comes_first() -> None:
    chosen = place("e/a.py", "one", Grade.SHAPED, "runner V2 by environment")
    default = place("e/a.py", "two", Grade.SHAPED, "runner V1")
    both = place("e/a.py", "three", Grade.SHAPED, "runner V1", "runner V2 by environment")

    assert [default, both, chosen] == ranked([chosen, default, both])


def test_reach_is_that_of_the_best_place() -> None:
    """Wired where a runner reaches any of them."""
    wired = place("e/a.py", "f", Grade.SHAPED, "runner V1")

    assert (None, Reach.DEFINED, Reach.WIRED) == (reach_of([]), reach_of([place()]), reach_of([place(), wired]))


def test_launchers_are_the_functions_that_call_over_some_steps() -> None:
    """Each with what it calls; a function does not launch itself, and a module is no function."""
    source = """
def kernel(n):
    return kernel(n - 1) if n else 0


def launch(n):
    return kernel(n)


def run():
    return launch(3)


run()
"""
    index = indexed({"a.py": source})
    function = index.function(ref_of(index.names, "a.py:kernel"))
    near, far = (launchers(index, function, "calls {}", steps=steps) for steps in (1, 3))

    assert [("launch", 7, "calls kernel")] == [(each.symbol, each.line, each.note) for each in near]
    assert ["launch", "run"] == [each.symbol for each in far]
