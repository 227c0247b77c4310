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
