"""Which runner or worker a piece of code belongs to."""

from textwrap import dedent

import pytest

from recon.index.index import Index, symbol_of
from recon.index.pool import outline_of
from recon.records.source import Snapshot, SourceFile
from tests.index.trees import ref_of


def index_of(files: dict[str, str]) -> Index:
    """The first pass over a tree given as path to source."""
    texts = {path: dedent(source).encode() for path, source in files.items()}
    outlines = {path: outline_of(path, text) for path, text in texts.items()}
    listed = tuple(SourceFile(path, path, len(text)) for path, text in texts.items())
    return Index(outlines, Snapshot("", listed, (), ()), blobs=Texts(texts))


class Texts:
    """Blobs by the path of their file."""

    def __init__(self, texts: dict[str, bytes]) -> None:
        self.texts = texts

    def get(self, digest: str) -> bytes:
        """The bytes of a file."""
        return self.texts[digest]


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
    """Sorted."""
    source = """
        from code import accept

        class AWorker:
            def step(self):
                accept()

        class BScheduler:
            def step(self):
                accept()
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


SWITCHES = """
    import envs

    class Config:
        method: str

        @property
        def newest(self):
            if envs.ENGINE_NEWEST is not None:
                return envs.ENGINE_NEWEST
            return True
"""
SWITCHED = """
    import envs
    from config import Config

    class Worker:
        def __init__(self, config: Config):
            self.newer = {switch}
            if self.newer:
                from two import ModelRunner as ModelRunnerV2
                self.runner = ModelRunnerV2()
            else:
                from one import ModelRunner as ModelRunnerV1
                self.runner = ModelRunnerV1()

        def step(self):
            self.runner.step()
"""
RUNNER = "from code import accept\nclass ModelRunner:\n    def step(self):\n        accept()\n"


def switched(switch: str, default: str = "False") -> tuple[str, ...]:
    """Who reaches a definition, with two runners of which a switch chooses one."""
    files = {
        "code.py": CODE,
        "one.py": RUNNER,
        "two.py": RUNNER,
        "envs.py": f"ENGINE_NEWER: bool = {default}\nENGINE_NEWEST: bool | None = None\n",
        "config.py": SWITCHES,
        "worker.py": SWITCHED.format(switch=switch),
    }
    return holders(files, "code.py:accept")


def test_the_runner_that_an_environment_variable_chooses_says_so() -> None:
    """The other one is the default, and says nothing."""
    assert ("runner V1", "runner V2 by environment") == switched("envs.ENGINE_NEWER")


def test_a_variable_that_is_on_by_default_makes_the_other_runner_the_chosen_one() -> None:
    """The default is read where the variable is declared."""
    assert ("runner V1 by environment", "runner V2") == switched("envs.ENGINE_NEWER", "True")


def test_a_property_gives_by_default_what_it_returns_at_its_end() -> None:
    """It may ask the environment before."""
    assert ("runner V1 by environment", "runner V2") == switched("config.newest")


def test_an_option_of_the_configuration_is_off_by_default() -> None:
    """As far as the source tells."""
    assert ("runner V1", "runner V2 by configuration") == switched("config.newer")


def test_a_worker_that_a_method_chooses_names_the_method() -> None:
    """Whether the branch makes it, or a factory hands it out."""
    files = {
        "code.py": CODE,
        "a.py": """
            from code import accept

            class TreeWorker:
                def step(self): accept()

            class LineWorker:
                def step(self): accept()

            class SpecAlgorithm:
                def make(self):
                    if self.is_tree():
                        return TreeWorker
                    if self.name == "line":
                        return LineWorker
                    raise ValueError

            class Scheduler:
                def __init__(self, algorithm: SpecAlgorithm):
                    self.worker = algorithm.make()()

                def step(self):
                    self.worker.step()
        """,
    }

    assert ("worker LineWorker by configuration", "worker TreeWorker by method tree") == holders(
        files, "code.py:accept"
    )


BACKENDS = """
    from code import accept

    class TreeBackend:
        @staticmethod
        def layer():
            return TreeLayer

    class TreeLayer:
        def forward(self): accept()

    class PlainLayer:
        def forward(self): {plain}

    class BackendNames:
        TREE_ATTN = "a.TreeBackend"

    class ModelRunner:
        def step(self, layer: TreeLayer, plain: PlainLayer):
            layer.forward()
            plain.forward()
"""


def test_a_place_behind_one_backend_names_its_key() -> None:
    """The key under which the class that hands the layer out is kept."""
    files = {"code.py": CODE, "a.py": BACKENDS.format(plain="pass")}

    assert ("runner ModelRunner", "backend TREE_ATTN") == holders(files, "code.py:accept")


def test_a_place_that_is_reached_without_the_backend_does_not_name_it() -> None:
    """Any other way is enough."""
    files = {"code.py": CODE, "a.py": BACKENDS.format(plain="accept()")}

    assert ("runner ModelRunner",) == holders(files, "code.py:accept")
