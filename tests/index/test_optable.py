"""The table of operators: what a call by name comes to."""

import pytest

from recon.index.optable import Row, exported, table_of
from recon.records.operator import Operator, OperatorStatus
from recon.records.source import Library
from tests.index.trees import graph

WRAPPER = """
def walk(out, links):
    torch.ops.k.walk.default(out, links)
"""
SCHEMA = "walk(Tensor! out, Tensor links) -> ()"
EXPORT = """
void walk(TensorView out) { out.data()[0] = 1; }
TVM_FFI_DLL_EXPORT_TYPED_FUNC(walk, walk);
"""


def library(*schemas: str, symbols: tuple[str, ...] = (), path: str = "k/ops.abi3.so") -> Library:
    """A compiled library of which only names are known."""
    return Library(path, 1, symbols, schemas, ())


def rows(files: dict[str, str], *libraries: Library, is_blind: bool = False) -> dict[str, Row]:
    """The rows of a tree by `namespace.name`."""
    made = graph(files)
    found = table_of(made.names, libraries, is_blind=is_blind, has_callers=lambda ref: bool(made.edges_to(ref)))
    return {f"{row.operator.namespace}.{row.operator.name}": row for row in found}


def status(files: dict[str, str], name: str, *libraries: Library, is_blind: bool = False) -> OperatorStatus:
    """The status of one operator of a tree."""
    return rows(files, *libraries, is_blind=is_blind)[name].operator.status


def test_a_schema_that_a_wrapper_calls_is_callable() -> None:
    """The row joins the call, the wrapper, the schema and the library."""
    found: Operator = rows({"k/a.py": WRAPPER}, library(SCHEMA))["k.walk"].operator

    assert (OperatorStatus.CALLABLE, SCHEMA, ("k/ops.abi3.so",)) == (found.status, found.schema, found.libraries)
    assert [("k/a.py", "walk", 3)] == [(each.path, each.symbol, each.line) for each in found.calls]
    assert [("walk", 2)] == [(each.symbol, each.line) for each in found.wrappers]


def test_a_schema_that_nobody_calls_is_not_called() -> None:
    """It is defined all the same."""
    assert OperatorStatus.NOT_CALLED is status({"k/a.py": ""}, ".walk", library(SCHEMA))


def test_a_wrapper_without_an_operator_stands_alone() -> None:
    """It is exported, and a call of it fails."""
    assert OperatorStatus.WRAPPER_ALONE is status({"k/a.py": WRAPPER}, "k.walk", library("other(Tensor x) -> ()"))


def test_a_wrapper_that_the_tree_calls_misses_its_operator() -> None:
    """The tree's own code runs into it, on a platform that this build is not for."""
    files = {"k/a.py": WRAPPER, "k/b.py": "from k.a import walk\ndef step(x):\n    walk(x, x)\n"}

    assert OperatorStatus.MISSING is status(files, "k.walk", library("other(Tensor x) -> ()"))


def test_nothing_is_missing_while_a_library_is_unread() -> None:
    """It could hold the schema."""
    assert OperatorStatus.CANNOT_TELL is status({"k/a.py": WRAPPER}, "k.walk", is_blind=True)


def test_a_function_exported_under_the_name_of_a_call_may_be_its_operator() -> None:
    """Operators that are registered by a bare name leave no schema behind."""
    symbols = ("_Z4walkN2at6TensorES0_",)

    assert OperatorStatus.CANNOT_TELL is status({"k/a.py": WRAPPER}, "k.walk", library(symbols=symbols))


def test_a_function_exported_without_a_caller_is_no_operator() -> None:
    """Whatever its name says."""
    symbols = ("_Z26chain_speculative_samplingN2at6TensorES0_b", "_Z6helperi")
    found = rows({"k/a.py": ""}, library(symbols=symbols))

    assert [OperatorStatus.SYMBOL_ALONE] == [row.operator.status for row in found.values()]
    assert [".chain_speculative_sampling"] == list(found)


@pytest.mark.parametrize("namespace", ["aten", "another_kernel"])
def test_an_operator_of_a_namespace_that_the_tree_does_not_fill_is_defined_elsewhere(namespace: str) -> None:
    """By PyTorch, or by another distribution."""
    source = WRAPPER.replace("ops.k", f"ops.{namespace}")

    assert OperatorStatus.ELSEWHERE is status({"k/a.py": source}, f"{namespace}.walk", is_blind=True)


@pytest.mark.parametrize(
    "source",
    [
        "ops = torch.ops.k\ndef f(x):\n    ops.walk(x)\n",
        "from torch.ops import k\ndef f(x):\n    k.walk(x)\n",
        "def f(x):\n    op = torch.ops.k.walk.default\n    return op(x)\n",
    ],
)
def test_an_operator_is_found_under_the_names_that_a_file_gives_it(source: str) -> None:
    """By alias, by import, and taken to be called later."""
    assert OperatorStatus.CALLABLE is status({"k/a.py": f"import torch\n{source}"}, "k.walk", library(SCHEMA))


@pytest.mark.parametrize(
    "source",
    [
        '@torch.library.custom_op("k::walk", mutates_args=())\ndef impl(x):\n    return x\n',
        'def impl(x):\n    return x\ndirect_register_custom_op(op_name="walk", op_func=impl, fake_impl=shape)\n',
        'lib.define("walk(Tensor x) -> Tensor")\n',
    ],
)
def test_a_registration_in_python_defines_an_operator(source: str) -> None:
    """With the namespace in its text, with a library object, or by a schema alone."""
    assert OperatorStatus.CALLABLE is status({"k/a.py": WRAPPER, "k/b.py": source}, "k.walk")


def test_a_registration_in_another_namespace_defines_another_operator() -> None:
    """Of the same name."""
    source = '@torch.library.custom_op("other::walk", mutates_args=())\ndef impl(x):\n    return x\n'
    found = rows({"k/a.py": WRAPPER, "k/b.py": source})

    assert OperatorStatus.WRAPPER_ALONE is found["k.walk"].operator.status
    assert OperatorStatus.NOT_CALLED is found["other.walk"].operator.status


def test_telling_shapes_defines_nothing() -> None:
    """A fake is for tracing."""
    source = '@torch.library.register_fake("k::walk")\ndef shape(out, links):\n    return None\n'
    found = rows({"k/a.py": WRAPPER, "k/b.py": source})["k.walk"].operator

    assert OperatorStatus.WRAPPER_ALONE is found.status
    assert [("k/b.py", "shape")] == [(each.path, each.symbol) for each in found.fakes]


def test_a_registration_in_cuda_sources_defines_an_operator() -> None:
    """In the namespace of the macro around it."""
    source = """
void walk_impl(at::Tensor out) { out.zero_(); }
TORCH_LIBRARY_FRAGMENT(k, m) {
  m.def("walk(Tensor! out, Tensor links) -> ()");
  m.impl("walk", torch::kCUDA, &walk_impl);
}
"""
    found = rows({"k/a.py": WRAPPER, "csrc/w.cu": source})["k.walk"]

    assert OperatorStatus.CALLABLE is found.operator.status
    assert [("csrc/w.cu", "TORCH_LIBRARY_FRAGMENT")] == [
        (each.path, each.symbol) for each in found.operator.registrations
    ][:1]
    assert ["walk_impl"] == [graph({"csrc/w.cu": source}).names.scope_of(ref).name for ref in found.functions]


def test_a_function_of_a_module_that_is_built_at_run_time_is_callable() -> None:
    """Under the name of the builder, through the function that dresses the module."""
    files = {
        "k/build.py": 'def build():\n    return make("walk", [HERE / "walk.cu"])\n',
        "k/a.py": """
from k.build import build

def get():
    module = build().load()
    def walk(out):
        module.walk(out)
    return SimpleNamespace(walk=walk)

def verify(out):
    return get().walk(out)
""",
        "csrc/walk.cu": EXPORT,
    }
    found = rows(files)["k.build.build.walk"]

    assert OperatorStatus.CALLABLE is found.operator.status
    assert {"get.walk", "verify"} == {each.symbol for each in found.operator.calls}
    assert ["csrc/walk.cu"] == [ref.path for ref in found.functions]
    assert ["k.build.build.walk"] == list(rows(files))


def test_a_module_built_from_other_sources_lacks_the_function() -> None:
    """A namesake in a file that the builder does not name is nothing."""
    source = 'def build():\n    return make("m", ["other.cu"])\ndef verify(x):\n    build().walk(x)\n'
    found = rows({"k/a.py": source, "csrc/walk.cu": EXPORT, "csrc/other.cu": "void f(int* p) { p[0] = 1; }"})

    assert OperatorStatus.CALLABLE is not found["k.a.build.walk"].operator.status


@pytest.mark.parametrize(
    ("symbol", "expected"),
    [
        ("_Z4walkRKN2at6TensorES2_", ("walk", True)),
        ("_ZN2my4walkEN2at6TensorE", ("walk", True)),
        ("_ZN2my4walkEi", ("walk", False)),
        ("_Z4walkN5torch6stable6TensorE", ("walk", True)),
        ("_ZN5torch6stable5emptyEN2at6TensorE", ("", False)),
        ("PyInit_walk", ("", False)),
        ("_Z", ("", False)),
        ("_Z99walk", ("walk", False)),
    ],
)
def test_a_mangled_symbol_tells_its_function_and_whether_it_takes_a_tensor(
    symbol: str, expected: tuple[str, bool]
) -> None:
    """What a library exports is untrusted text."""
    assert expected == exported(symbol)
