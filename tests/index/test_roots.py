"""Which runner or worker a piece of code belongs to."""

from textwrap import dedent

import pytest

from recon.index.index import Index, symbol_of
from recon.index.pool import outline_of
from recon.records.source import Snapshot
from tests.index.trees import ref_of


def index_of(files: dict[str, str]) -> Index:
    """The first pass over a tree given as path to source."""
    outlines = {path: outline_of(path, dedent(source).encode()) for path, source in files.items()}
    return Index(outlines, Snapshot("", (), (), ()))


def holders(files: dict[str, str], spelled: str) -> tuple[str, ...]:
    """Who reaches a definition."""
    index = index_of(files)
    return index.holders(ref_of(index.names, spelled))


CODE = "def accept():\n    pass\n"


def test_code_belongs_to_the_runner_that_reaches_it() -> None:
    """Over calls, however many functions lie between."""
    runner = """
        from code import accept

        def middle():
            accept()

        class GPUModelRunner:
            def step(self):
                self.sample()

            def sample(self):
                middle()
    """

    assert ("runner GPUModelRunner",) == holders({"code.py": CODE, "runner.py": runner}, "code.py:accept")


def test_code_in_a_runner_belongs_to_it() -> None:
    """Nobody need call it."""
    source = "class DraftWorker:\n    def draft(self):\n        def inner():\n            pass\n"

    assert ("worker DraftWorker",) == holders({"a.py": source}, "a.py:DraftWorker.draft")


def test_all_that_reach_it_are_named() -> None:
    """Sorted; what lies above the nearest is not asked."""
    source = """
        from code import accept

        class AWorker:
            def step(self):
                accept()

        class BScheduler:
            def step(self):
                accept()

        class TopRunner:
            def step(self, a: AWorker):
                a.step()
    """

    assert ("scheduler BScheduler", "worker AWorker") == holders({"code.py": CODE, "a.py": source}, "code.py:accept")


def test_two_runners_of_one_name_are_told_apart_by_how_they_are_imported() -> None:
    """An engine may carry two, side by side."""
    files = {
        "code.py": CODE,
        "one.py": "from code import accept\nclass ModelRunner:\n    def step(self):\n        accept()\n",
        "two.py": "from code import accept\nclass ModelRunner:\n    def step(self):\n        accept()\n",
        "main.py": "from one import ModelRunner as ModelRunnerV1\nfrom two import ModelRunner as ModelRunnerV2\n",
    }

    assert ("runner V1", "runner V2") == holders(files, "code.py:accept")


def test_code_that_nobody_reaches_belongs_to_nobody() -> None:
    """And recursion ends."""
    source = "def accept():\n    other()\n\n\ndef other():\n    accept()\n"

    assert () == holders({"a.py": source}, "a.py:accept")


@pytest.mark.parametrize(
    ("name", "symbol"),
    [("", "<module>"), ("f", "f"), ("g", "f"), ("C", "C"), ("m", "C.m"), ("h", "C.m"), ("D", "C.D"), ("n", "C.D.n")],
)
def test_a_symbol_is_the_outermost_function_with_its_classes(name: str, symbol: str) -> None:
    """Nested functions go by their outer one."""
    source = """
        def f():
            def g():
                pass

        class C:
            def m(self):
                def h():
                    pass

            class D:
                def n(self):
                    pass
    """
    outline = outline_of("a.py", dedent(source).encode())
    (scope,) = (scope.id for scope in outline.scopes if scope.name == name)

    assert symbol == symbol_of(outline, scope)
