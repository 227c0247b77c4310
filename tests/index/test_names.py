"""What names mean: imports, scopes, classes, types of variables and attributes."""

import pytest

from recon.index.names import Kind, Names, Value
from recon.index.tables import Ref, Table, tokens
from recon.records.path import Tier
from tests.index.trees import names, place, ref_of


def meant(files: dict[str, str], where: str, text: str) -> list[str]:
    """Definitions that a text means in a scope, as `path:Qual.name`."""
    tree = names(files)
    ref = ref_of(tree, where)
    return [place(tree, found) for found in tree.resolve(ref.path, ref.scope, text)]


def values(files: dict[str, str], where: str, text: str) -> tuple[Value, ...]:
    tree = names(files)
    ref = ref_of(tree, where)
    return tree.values(ref.path, ref.scope, text)


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("a", ("a",)),
        ("a.b", ("a", "b")),
        ("a.b[].c()", ("a", "b[]", "c", "()")),
        ("super().f", ("super", "()", "f")),
        ("k[]", ("k[]",)),
        ("a()()", ("a", "()", "()")),
        ("a()[].b", ("a", "()", "[]", "b")),
        ("d[][]", ("d[][]",)),
    ],
)
def test_a_text_is_taken_apart_into_steps(text: str, steps: tuple[str, ...]) -> None:
    assert steps == tokens(text)


@pytest.mark.parametrize(
    ("path", "module", "package"),
    [
        ("pkg/__init__.py", "pkg", "pkg"),
        ("pkg/sub/mod.py", "pkg.sub.mod", "pkg.sub"),
        ("top.py", "top", ""),
        ("pkg/stub.pyi", "pkg.stub", "pkg"),
        ("pkg/kernel.cu", "", ""),
    ],
)
def test_a_path_gives_a_module(path: str, module: str, package: str) -> None:
    tree = names({path: ""})
    table: Table = tree.tables[path]

    assert (module, package) == (table.module, table.package)


IMPORTS = {
    "p/__init__.py": "from .impl import exported as public\nfrom p.stars import *\n",
    "p/impl.py": "def exported(): pass\nclass C:\n    def m(self): pass\n",
    "p/stars.py": "def starred(): pass\nfrom .impl import C as D\n",
    "p/sub/__init__.py": "",
    "p/sub/deep.py": "def deep(): pass\n",
    "q.py": "",
}


@pytest.mark.parametrize(
    ("line", "text", "expected"),
    [
        ("from p.impl import exported", "exported", "p/impl.py:exported"),
        ("from p import public", "public", "p/impl.py:exported"),
        ("from p import starred as s", "s", "p/stars.py:starred"),
        ("from p import D", "D.m", "p/impl.py:C.m"),
        ("import p", "p.public", "p/impl.py:exported"),
        ("import p.sub.deep", "p.sub.deep.deep", "p/sub/deep.py:deep"),
        ("import p.sub.deep as x", "x.deep", "p/sub/deep.py:deep"),
        ("from p.sub import deep", "deep.deep", "p/sub/deep.py:deep"),
        ("from p import sub", "sub.deep.deep", "p/sub/deep.py:deep"),
        ("from p.stars import *", "starred", "p/stars.py:starred"),
        ("if TYPE_CHECKING:\n    from p.impl import C", "C.m", "p/impl.py:C.m"),
    ],
)
def test_imports_are_followed(line: str, text: str, expected: str) -> None:
    assert [expected] == meant({**IMPORTS, "q.py": line}, "q.py:", text)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("from .impl import exported as f", "p/impl.py:exported"),
        ("from . import impl\nf = impl.exported", "p/impl.py:exported"),
        ("from .sub.deep import deep as f", "p/sub/deep.py:deep"),
    ],
)
def test_relative_imports_start_at_the_package(line: str, expected: str) -> None:
    assert [expected] == meant({**IMPORTS, "p/here.py": line}, "p/here.py:", "f")


@pytest.mark.parametrize("below", ["", "python/", "sub/src/"])
def test_a_checkout_keeps_its_package_in_a_folder_that_no_import_names(below: str) -> None:
    files = {
        f"{below}pkg/__init__.py": "",
        f"{below}pkg/part/a.py": "def f(): ...",
        f"{below}pkg/b.py": "from pkg.part.a import f\nfrom .part import a",
        "csrc/ops.cu": "",
    }

    assert [f"{below}pkg/part/a.py:f"] == meant(files, f"{below}pkg/b.py:", "f")
    assert [f"{below}pkg/part/a.py:f"] == meant(files, f"{below}pkg/b.py:", "a.f")


def test_relative_imports_climb() -> None:
    files = {**IMPORTS, "p/sub/here.py": "from ..impl import exported\nfrom ... import nowhere\n"}

    assert ["p/impl.py:exported"] == meant(files, "p/sub/here.py:", "exported")
    assert [] == meant(files, "p/sub/here.py:", "nowhere")


def test_an_import_inside_a_function_is_seen_there_only() -> None:
    files = {**IMPORTS, "q.py": "def f():\n    from p import public\ndef g(): pass\n"}

    assert ["p/impl.py:exported"] == meant(files, "q.py:f", "public")
    assert [] == meant(files, "q.py:g", "public")


def test_modules_that_import_one_another_end() -> None:
    files = {"a.py": "from b import x\n", "b.py": "from a import x\n", "c.py": "from c import *\n"}

    assert [] == meant(files, "a.py:", "x")
    assert [] == meant(files, "c.py:", "y")


def test_what_is_outside_keeps_its_dotted_name() -> None:
    found = values({"a.py": "import torch.nn as nn\nfrom torch import ops as o\n"}, "a.py:", "o.ns.f")

    assert [(Kind.OUTSIDE, "torch.ops.ns.f")] == [(value.kind, value.text) for value in found]


def test_the_innermost_scope_decides_and_classes_are_passed_over() -> None:
    files = {
        "a.py": """\
        def f(): pass
        class A:
            def f(self): pass
            def m(self):
                return f
        def g():
            def f(): pass
            def h(): pass
        def k(f): pass
        """
    }

    assert ["a.py:f"] == meant(files, "a.py:A.m", "f")
    assert ["a.py:A.f"] == meant(files, "a.py:A", "f")
    assert ["a.py:g.f"] == meant(files, "a.py:g.h", "f")
    assert [] == meant(files, "a.py:k", "f")


def test_definitions_in_branches_are_all_meant_and_none_is_certain() -> None:
    files = {"a.py": "if x:\n    def f(): pass\nelse:\n    def f(): pass\n"}

    found = values(files, "a.py:", "f")

    assert [Tier.LIKELY, Tier.LIKELY] == [value.tier for value in found]


def test_overloads_and_setters_are_not_the_definition() -> None:
    files = {
        "a.py": """\
        @overload
        def f(x: int): ...
        def f(x): pass
        class A:
            @property
            def p(self) -> "A": pass
            @p.setter
            def p(self, value): pass
            def m(self): pass
        """
    }

    assert 1 == len(values(files, "a.py:", "f"))
    assert ["a.py:A.m"] == meant(files, "a.py:A.m", "self.p.m")


CLASSES = {
    "a.py": """\
    class Base:
        def run(self): pass
        def over(self): pass
    class Left(Base):
        def over(self): pass
    class Right(Base):
        def over(self): pass
        def right(self): pass
    class Both(Left, Right):
        def m(self):
            super().over()
        @classmethod
        def make(cls): pass
        @staticmethod
        def free(self): pass
    """
}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("self.run", "a.py:Base.run"),
        ("self.over", "a.py:Left.over"),
        ("self.right", "a.py:Right.right"),
        ("super().over", "a.py:Left.over"),
        ("super().right", "a.py:Right.right"),
        ("Both.over", "a.py:Left.over"),
        ("Both().run", "a.py:Base.run"),
    ],
)
def test_methods_are_found_in_the_order_of_bases(text: str, expected: str) -> None:
    assert [expected] == meant(CLASSES, "a.py:Both.m", text)


def test_the_first_parameter_is_the_object_or_its_class() -> None:
    assert ["a.py:Base.run"] == meant(CLASSES, "a.py:Both.make", "cls.run")
    assert ["a.py:Base.run"] == meant(CLASSES, "a.py:Both.make", "cls().run")
    assert [] == meant(CLASSES, "a.py:Both.free", "self.run")


def test_bases_that_cannot_be_ordered_or_are_circular_end() -> None:
    files = {"a.py": "class A(B):\n    def m(self): pass\nclass B(A): pass\nclass X(object, B, A): pass\n"}

    assert ["a.py:A.m"] == meant(files, "a.py:A.m", "self.m")
    assert ["a.py:A.m"] == meant(files, "a.py:", "X().m")


TYPED = """\
from typing import Optional
class Item:
    def use(self): pass
class Sub(Item):
    def use(self): pass
class Maker:
    def make(self) -> Item: pass
    def again(self): return self.make()
    def __call__(self, x) -> Item: pass
    def __getitem__(self, x) -> Item: pass
def plain(): return Sub()
def choose(flag):
    if flag: return Item
    return Sub
def self_made(): return self_made()
class User:
    field: Item
    many: list[Item]
    def __init__(self, given: "Item", optional: Optional[Item] = None):
        self.given = given
        self.optional = optional
        self.built = Item()
        self.made = Maker().make()
        self.list = [Item() for _ in range(3)]
        self.by_name = {"a": Item()}
        self.chosen = choose(True)()
        self.later = None
    def late(self):
        self.later = plain()
    @property
    def prop(self) -> Item: pass
    def m(self, arg: Item, items: dict[str, Item], fn=plain, *rest: Item):
        local = Item()
        alias = local
        one, two = Item(), Maker()
        with Item() as entered: pass
        for looped in items.values(): pass
        if (walrus := Item()): pass
        called = two(1)
        got = two[1]
        again = Maker().again()
        loop = loop.next()
"""


@pytest.mark.parametrize(
    "text",
    [
        "self.field",
        "self.many[]",
        "self.given",
        "self.optional",
        "self.built",
        "self.made",
        "self.list[]",
        "self.by_name[]",
        "self.prop",
        "arg",
        "items[]",
        "rest[]",
        "local",
        "alias",
        "one",
        "entered",
        "looped",
        "walrus",
        "called",
        "got",
        "again",
    ],
)
def test_variables_and_attributes_have_types(text: str) -> None:
    assert ["t.py:Item.use"] == meant({"t.py": TYPED}, "t.py:User.m", f"{text}.use")


@pytest.mark.parametrize("text", ["self.later", "plain()", "fn()"])
def test_what_a_function_returns_gives_a_type(text: str) -> None:
    assert ["t.py:Sub.use"] == meant({"t.py": TYPED}, "t.py:User.m", f"{text}.use")


def test_a_factory_of_classes_gives_each_of_them() -> None:
    found = values({"t.py": TYPED}, "t.py:User.m", "self.chosen.use")

    assert {Tier.LIKELY} == {value.tier for value in found}
    assert ["t.py:Item.use", "t.py:Sub.use"] == meant({"t.py": TYPED}, "t.py:User.m", "self.chosen.use")


def test_what_is_defined_by_itself_means_nothing() -> None:
    assert [] == meant({"t.py": TYPED}, "t.py:User.m", "loop.use")
    assert [] == meant({"t.py": TYPED}, "t.py:User.m", "self_made().use")


def test_a_constructed_object_is_exact_and_an_annotated_one_is_not() -> None:
    exact = values({"t.py": TYPED}, "t.py:User.m", "self.built")
    declared = values({"t.py": TYPED}, "t.py:User.m", "self.given")

    assert [True] == [value.exact for value in exact]
    assert [False] == [value.exact for value in declared]


def test_one_unknown_assignment_takes_certainty_away() -> None:
    files = {"a.py": "class A:\n    def m(self): pass\ndef f(p):\n    x = A()\n    y = A()\n    y = p\n"}

    assert [Tier.CERTAIN] == [value.tier for value in values(files, "a.py:f", "x.m")]
    assert [Tier.LIKELY] == [value.tier for value in values(files, "a.py:f", "y.m")]


ALIASES = """\
import functools, triton
from functools import partial
def g(x): pass
def wrap(fn): return lambda *a: fn(*a)
same = g
part = partial(g, 1)
kernel = triton.jit(g)
cached = functools.lru_cache(maxsize=None)(g)
wrapped = wrap(g)
TABLE = {"a": g}
NESTED = {"a": (g, 1)}
class A:
    fn = staticmethod(g)
    def __init__(self): self.f = g
    def m(self): getattr(self, "f")()
"""


@pytest.mark.parametrize("text", ["same", "part", "kernel", "cached", "TABLE[]", "NESTED[][]", "A.fn", "A().f", "g[]"])
def test_aliases_of_a_function_are_followed(text: str) -> None:
    assert ["a.py:g"] == meant({"a.py": ALIASES}, "a.py:", text)


def test_what_a_function_of_the_tree_makes_of_another_is_what_it_gives_back() -> None:
    assert ["a.py:wrap.<lambda1>"] == meant({"a.py": ALIASES}, "a.py:", "wrapped")


def test_a_table_is_found_through_its_import() -> None:
    files = {"a.py": ALIASES, "b.py": "from a import TABLE as T\nimport a\nX = T\n"}

    assert ["a.py:g"] == meant(files, "b.py:", "T[]")
    assert ["a.py:g"] == meant(files, "b.py:", "a.TABLE[]")
    assert ["a.py:g"] == meant(files, "b.py:", "X[]")


def test_dotted_names_are_found_from_the_root() -> None:
    tree = names({**IMPORTS, "a.py": ALIASES})

    assert ["p/impl.py:C.m"] == [place(tree, ref) for ref in tree.find("p.impl.C.m")]
    assert ["p/impl.py:C"] == [place(tree, ref) for ref in tree.find("p.impl:C")]
    assert ["p/impl.py:exported"] == [place(tree, ref) for ref in tree.find("p.public")]
    assert () == tree.find("p.impl.nothing")
    assert () == tree.find("elsewhere.C")


def test_answers_do_not_depend_on_the_order_of_asking() -> None:
    """Names that lean on one another are asked in both orders."""
    source = (
        "class A:\n    def m(self): pass\ndef f():\n    while 1:\n        a = A()\n"
        "        a = b.x\n        b = a\n        b = c\n        c = b\n"
    )
    texts = ["a", "b", "c", "a.m", "b.m", "c.m"]
    one, other = names({"a.py": source}), names({"a.py": source})
    scope = ref_of(one, "a.py:f").scope

    forward = {text: one.values("a.py", scope, text) for text in texts}
    backward = {text: other.values("a.py", scope, text) for text in reversed(texts)}

    assert forward == backward
    assert ["a.py:A.m"] == [place(one, value.ref) for value in forward["c.m"] if value.ref]


def test_files_may_come_in_any_order() -> None:
    files = {**IMPORTS, "a.py": ALIASES, "t.py": TYPED}
    tree, turned = names(files), names(dict(reversed(files.items())))

    for path, table in tree.tables.items():
        for call in table.outline.calls:
            assert tree.values(path, call.scope, call.callee) == turned.values(path, call.scope, call.callee)


def test_subclasses_and_overrides_are_known() -> None:
    tree: Names = names(CLASSES)
    base = ref_of(tree, "a.py:Base")

    assert ["a.py:Left", "a.py:Right", "a.py:Both"] == [place(tree, ref) for ref in tree.classes.subclasses(base)]
    assert ["a.py:Left.over", "a.py:Right.over"] == [place(tree, ref) for ref in tree.classes.overrides(base, "over")]


def test_bases_outside_the_tree_are_named() -> None:
    tree = names({"a.py": "from torch import nn\nclass A(nn.Module): pass\nclass B(A): pass\n"})

    assert {"torch.nn.Module"} == tree.classes.outside_bases(Ref("a.py", 2))
