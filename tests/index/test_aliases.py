"""Libraries of arrays under any name."""

import pytest

from recon.index.aliases import LibraryAliases
from recon.index.names import Names
from recon.index.outline import outline_python
from recon.index.python_terms import read_function
from recon.index.records import Feature
from tests.index.spelled import spelled


def aliases(**files: str) -> dict[str, dict[str, str]]:
    """The aliases in each file of a package `e`."""
    outlines = {"e/__init__.py": outline_python(b"")}
    outlines |= {f"e/{name}.py": outline_python(text.encode()) for name, text in files.items()}
    found = LibraryAliases(Names(outlines))
    return {name: dict(found.of(f"e/{name}.py")) for name in files}


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("import triton.language as lang", {"lang": "tl"}),
        ("from triton import language", {"language": "tl"}),
        ("import torch.nn.functional as fun, numpy", {"fun": "F", "numpy": "np"}),
        ("def f():\n    import numpy as n", {"n": "np"}),
        ("import torch, math\nimport triton.language as tl\nimport numpy as np", {}),
        ("import torch.nn.functional\nimport triton.language\nfrom numpy import sum as total", {}),
    ],
)
def test_an_alias_is_brought_to_what_most_call_the_library(text: str, known: dict[str, str]) -> None:
    """Whatever form the import has; usual names need no entry."""
    assert {"a": known} == aliases(a=text)


def test_a_module_of_the_tree_hands_an_alias_on() -> None:
    """Also where it stands in for the library on hosts without it, and over two modules."""
    compat = "if found():\n    import triton.language as lang\nelse:\n    lang = Stand_in()"
    found = aliases(compat=compat, middle="from e.compat import lang", far="from .middle import lang as la")

    assert {"lang": "tl"} == found["compat"]
    assert {"lang": "tl"} == found["middle"]
    assert {"la": "tl"} == found["far"]
    assert {} == aliases(a="from e.other import lang", other="lang = 1")["a"]


def test_signs_do_not_depend_on_an_alias() -> None:
    """A maximum over an axis gives indices in torch, and none in numpy."""
    text = "import {0} as lib\ndef f(x):\n    return lib.max(x, 1)"
    torch, numpy = (outline_python(text.format(name).encode()).scopes[1].features for name in ("torch", "numpy"))

    assert Feature.REDUCE | Feature.ARGMAX == torch & (Feature.REDUCE | Feature.ARGMAX)
    assert Feature.REDUCE == numpy & (Feature.REDUCE | Feature.ARGMAX)


def test_what_is_read_does_not_depend_on_an_alias() -> None:
    """Nor does a parameter of the same name take part."""
    text = "def kernel(out, {0}_ptr):\n    {0}.store(out, {0}.load({0}_ptr))\n"
    usual, unusual = (read_function(text.format(name).encode(), 1, {"lang": "tl"}) for name in ("tl", "lang"))

    assert spelled(usual).replace("tl_ptr", "lang_ptr") == spelled(unusual)
