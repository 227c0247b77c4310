"""Functions cut out of trees: what comes with them, what is replaced, and what is refused."""

import sys
import types
from textwrap import dedent

import pytest

from recon.index.cutting import Cut, Uncut, cut
from tests.index.trees import names, ref_of

TREE = {
    "eng/__init__.py": "",
    "eng/log.py": "def make(name):\n    import notthere\n    return notthere.get(name)\n",
    "eng/backends.py": """
        try:
            import triton
            import triton.language as tl
        except ImportError:
            triton = tl = None
        """,
    "eng/limits.py": "import math\nWIDE = 1 << 3\nTALL = math.floor(WIDE / 2.5)\n",
    "eng/parts.py": """
        from typing import TYPE_CHECKING
        from .limits import TALL
        from . import log
        if TYPE_CHECKING:
            from notthere import Huge
        def halved(x: "Huge") -> "Huge":
            '''Half of it.'''
            return x // 2 + TALL
        """,
    "eng/accept.py": """
        import json
        from dataclasses import dataclass
        import notthere
        from eng.backends import tl, triton
        from eng.log import make
        from eng.parts import halved as half
        logger = make(__name__)
        try:
            from notthere import fast
        except ImportError:
            fast = None
        @dataclass
        class Options:
            width: int
            scale: float = 2.0
        class Runner:
            def step(self, x):
                return x
        def whole(x: notthere.Tensor, options: Options) -> notthere.Tensor:
            '''What it does.'''
            logger.info("called %s", x)
            width: int = options.width
            if fast is not None:
                return fast(x)
            return json.loads(str(half(x) + width))
        def lazily(x):
            from eng.parts import halved
            import notthere.deep
            return halved(x) if x else notthere.deep.run(x)
        def unbound(x):
            return mystery(x)
        def launches(x):
            return triton.cdiv(x, tl.constexpr(2))
        """,
}


def made(function: str, path: str = "eng/accept.py", tree: dict[str, str] | None = None) -> Cut:
    files = tree or TREE
    meant = names(files)
    return cut(meant, lambda each: dedent(files[each]).encode(), ref_of(meant, f"{path}:{function}"))


def run(one: Cut) -> types.ModuleType:
    module = types.ModuleType("cut")
    exec(compile(one.text, "cut.py", "exec"), module.__dict__)
    return module


def test_a_function_comes_with_all_that_it_stands_on_and_runs_alone() -> None:
    one = made("whole")
    module = run(one)

    assert 8 == module.whole(6, types.SimpleNamespace(width=2))
    assert {"eng/accept.py:whole", "eng/parts.py:halved", "eng/limits.py:TALL"} <= set(one.taken)
    assert "notthere" not in one.text


def test_what_is_dropped_or_replaced_is_said() -> None:
    said = " ".join(made("whole").replaced)

    assert "the call of logger.info is dropped" in said
    assert "fast of eng/accept.py is what the file takes where its import fails" in said


def test_annotations_stay_behind_and_are_told() -> None:
    one = made("whole")

    assert {"x": "notthere.Tensor", "options": "Options"} == one.annotations
    assert "Tensor" not in one.text


def test_what_a_function_imports_inside_itself_comes_along_or_ends_the_call() -> None:
    module = run(made("lazily"))

    assert 5 == module.lazily(4)
    with pytest.raises(module.LeftOut, match="notthere"):
        module.lazily(0)


def test_a_name_that_means_a_known_library_is_that_library() -> None:
    one = made("launches")

    assert "import triton" in one.text
    assert not [line for line in one.text.splitlines() if "eng" in line]


def test_a_name_that_the_file_does_not_bind_ends_the_call() -> None:
    module = run(made("unbound"))

    with pytest.raises(module.LeftOut, match="mystery"):
        module.unbound(1)


def test_a_method_is_refused() -> None:
    with pytest.raises(Uncut, match="a part of a class"):
        made("Runner.step")


def test_two_things_of_one_name_are_refused() -> None:
    tree = {
        "m/__init__.py": "",
        "m/a.py": "from m.b import left\nfrom m.c import right\ndef both(x):\n    return left(x) + right(x)\n",
        "m/b.py": "def part(x):\n    return 1\ndef left(x):\n    return part(x)\n",
        "m/c.py": "def part(x):\n    return 2\ndef right(x):\n    return part(x)\n",
    }

    with pytest.raises(Uncut, match="are called part"):
        made("both", "m/a.py", tree)


def test_a_function_that_stands_on_half_the_tree_is_refused() -> None:
    chain = "".join(f"def f{n}(x):\n    return f{n + 1}(x)\n" for n in range(90)) + "def f90(x):\n    return x\n"

    with pytest.raises(Uncut, match="stands on more than"):
        made("f0", "long.py", {"long.py": chain})


def test_nothing_of_the_tree_runs_while_it_is_cut() -> None:
    tree = {"t.py": "import sys\nsys.modules['ran'] = sys\ndef f(x):\n    return x\n"}

    made("f", "t.py", tree)

    assert "ran" not in sys.modules


ENVIRONMENT = {
    "e/__init__.py": "",
    "e/env.py": """
        import os
        class Field:
            frozen = False
            def __init__(self, default):
                self.default = default
            def __set_name__(self, owner, name):
                self.name = name
            def get(self):
                return type(self.default)(os.getenv(self.name, self.default))
        def on_card():
            import json
            import os.path as paths
            return bool(json.loads("0")) and paths.exists("/")
        class All:
            E_LENGTH = Field(-1.0)
            E_CARD = Field(on_card)
        every = All()
        Field.frozen = True
        """,
    "e/accept.py": """
        import json
        from e.env import every
        LENGTH = every.E_LENGTH.get()
        def forced(x, length=LENGTH, kind=json.dumps("one")):
            return x, length, kind
        """,
}


def test_a_default_that_the_module_computes_when_it_is_imported_travels_along(monkeypatch: pytest.MonkeyPatch) -> None:
    """Out of an object whose class is changed further on, and whose functions import libraries inside themselves."""
    one = made("forced", "e/accept.py", ENVIRONMENT)
    monkeypatch.delenv("E_LENGTH", raising=False)
    unset = run(one)
    monkeypatch.setenv("E_LENGTH", "2.5")

    assert (3, -1.0, '"one"') == unset.forced(3)
    assert (3, 2.5, '"one"') == run(one).forced(3)
    assert () == one.replaced
    assert {"e/env.py:Field", "e/env.py:on_card", "e/accept.py:LENGTH"} <= set(one.taken)


def test_a_library_that_functions_of_two_files_import_inside_themselves_is_one() -> None:
    tree = {
        "m/__init__.py": "",
        "m/a.py": "from m.b import left\nimport json\ndef both(x):\n    return left(x) + json.dumps(x)\n",
        "m/b.py": "def left(x):\n    import json\n    import os.path\n    return json.dumps(x) + os.path.sep\n",
    }

    assert "1/1" == run(made("both", "m/a.py", tree)).both(1)


def test_what_is_known_when_a_kernel_is_compiled_goes_by_one_name_whatever_the_tree_calls_it() -> None:
    tree = {
        "m/__init__.py": "",
        "m/a.py": "from triton import language as l\nfrom m.b import part\ndef k(x, N: l.constexpr):\n    part(x, N)\n",
        "m/b.py": "from triton.language import constexpr as known\ndef part(x, N: 'known', W: known = 2):\n    pass\n",
    }
    text = made("k", "m/a.py", tree).text

    assert "def k(x, N: constexpr):" in text
    assert "W: constexpr=2" in text
    assert 1 == text.count("from triton.language import constexpr\n")
