"""Who calls whom: dispatch, tiers, and paths back to a root."""

import pytest

from recon.records.path import Hop, Tier
from tests.index.trees import edges, graph, names, place, ref_of

BASIC = """\
class A:
    def __init__(self): pass
    def m(self):
        f()
        self.n()
        A()
        B()
        B().go()
    def n(self): pass
class B:
    def go(self): pass
def f(): pass
@f
def decorated():
    A.m(1)
"""


def test_calls_methods_and_constructions_are_certain() -> None:
    assert {
        ("a.py:f", "call", "certain"),
        ("a.py:A.n", "method", "certain"),
        ("a.py:A.__init__", "construct", "certain"),
        ("a.py:B", "construct", "certain"),
        ("a.py:B.go", "method", "certain"),
    } == edges({"a.py": BASIC}, "a.py:A.m")


def test_a_decorator_is_called_where_it_stands() -> None:
    assert {("a.py:f", "call", "certain")} == edges({"a.py": BASIC}, "a.py:")


def test_an_edge_knows_the_line_of_the_call() -> None:
    made = graph({"a.py": BASIC})

    found = made.edges_to(ref_of(made.names, "a.py:B.go"))

    assert [(place(made.names, found[0].source), 8)] == [("a.py:A.m", edge.line) for edge in found]


OVERRIDDEN = """\
class Base:
    def step(self): self.inner()
    def inner(self): pass
class One(Base):
    def inner(self): pass
class Two(One):
    def inner(self): pass
def declared(b: Base): b.inner()
def exact():
    b = Base()
    b.inner()
def narrow(b: Two): b.inner()
"""


def test_a_declared_receiver_fans_out_to_overrides() -> None:
    assert {
        ("a.py:Base.inner", "method", "likely"),
        ("a.py:One.inner", "override", "likely"),
        ("a.py:Two.inner", "override", "likely"),
    } == edges({"a.py": OVERRIDDEN}, "a.py:declared")


def test_self_is_certain_of_its_own_and_fans_out_too() -> None:
    assert {
        ("a.py:Base.inner", "method", "certain"),
        ("a.py:One.inner", "override", "likely"),
        ("a.py:Two.inner", "override", "likely"),
    } == edges({"a.py": OVERRIDDEN}, "a.py:Base.step")


def test_a_constructed_receiver_does_not_fan_out() -> None:
    assert ("a.py:Base.inner", "method", "certain") in edges({"a.py": OVERRIDDEN}, "a.py:exact")
    assert not [edge for edge in edges({"a.py": OVERRIDDEN}, "a.py:exact") if edge[1] == "override"]


def test_a_declared_leaf_class_is_certain() -> None:
    assert {("a.py:Two.inner", "method", "certain")} == edges({"a.py": OVERRIDDEN}, "a.py:narrow")


def test_calling_a_module_of_torch_runs_its_forward() -> None:
    source = """\
    from torch import nn
    class Layer(nn.Module):
        def forward(self, x): pass
    class Model(nn.Module):
        def __init__(self):
            self.layer = Layer()
            self.layers = nn.ModuleList([Layer() for _ in range(2)])
        def forward(self, x):
            self.layer(x)
        def loop(self, x):
            for layer in self.layers: layer(x)
    """

    assert {("a.py:Layer.forward", "method", "certain")} == edges({"a.py": source}, "a.py:Model.forward")
    assert "a.py:Layer.forward" in {target for target, _, _ in edges({"a.py": source}, "a.py:Model.loop")}


KERNELS = """\
import triton
@triton.jit
def kernel(x): helper(x)
@triton.autotune(configs=[])
@triton.jit
def tuned(x): pass
@triton.jit
def helper(x): pass
def plain(): kernel[(1,)](0)
def aliased():
    k = kernel
    k[(1,)](0)
def chosen(flag):
    k = kernel if flag else tuned
    k[(1,)](0)
def launcher(fn, x):
    fn[(1,)](x)
def middle(one, x): launcher(one, x=x)
def top(): middle(kernel, 1)
def keyword(): launcher(x=1, fn=tuned)
def not_a_launch():
    list[int](1)
    table = {"a": plain}
    table["a"]()
"""


@pytest.mark.parametrize("source", ["plain", "aliased"])
def test_a_kernel_is_launched(source: str) -> None:
    assert {("k.py:kernel", "launch", "certain")} == edges({"k.py": KERNELS}, f"k.py:{source}")


def test_a_choice_of_kernels_is_likely() -> None:
    assert {
        ("k.py:kernel", "launch", "likely"),
        ("k.py:tuned", "launch", "likely"),
    } == edges({"k.py": KERNELS}, "k.py:chosen")


def test_a_kernel_is_launched_through_a_parameter() -> None:
    """Through two hands by position, and through one by keyword."""
    assert {
        ("k.py:kernel", "launch", "certain"),
        ("k.py:tuned", "launch", "certain"),
    } == edges({"k.py": KERNELS}, "k.py:launcher")


def test_a_subscript_that_is_no_grid_is_no_launch() -> None:
    assert {("k.py:plain", "call", "certain")} == {
        edge for edge in edges({"k.py": KERNELS}, "k.py:not_a_launch") if edge[2] == "certain"
    }


def test_a_kernel_calls_its_helper() -> None:
    assert {("k.py:helper", "call", "certain")} == edges({"k.py": KERNELS}, "k.py:kernel")


OPERATORS = {
    "reg.py": """\
    import torch
    from lib import direct_register_custom_op, register_custom_op
    def impl(x): pass
    def fake(x): pass
    direct_register_custom_op(op_name="one", op_func=impl, fake_impl=fake)
    def second(x): pass
    direct_register_custom_op("two", second, ["x"])
    @register_custom_op(mutates_args=["x"])
    def three(x): pass
    @torch.library.custom_op("ns::four", mutates_args=())
    def fourth(x): pass
    @register_custom_op(op_name="five")
    def fifth(x): pass
    my_lib.impl("six", impl, "CUDA")
    my_lib.impl("aten::mm", second, "CUDA")
    """,
    "use.py": """\
    import torch
    from torch import ops
    def one(): torch.ops.ns.one(1)
    def two(): ops.ns.two.default(1)
    def three(): torch.ops.ns.three(1)
    def four(): getattr(torch.ops.ns, "four")(1)
    def five():
        f = torch.ops.ns.five
        f(1)
    def six(): torch.ops.ns.six(1)
    def none(): torch.ops.ns.nothing(1)
    def mm(): torch.ops.aten.mm(1)
    def verify(): torch.ops.sgl_kernel.verify_tree(1)
    """,
    "ops.cu": """\
    __global__ void kernel(int* x) {}
    void verify_impl(at::Tensor x) { kernel<<<1, 1>>>(x.data_ptr<int>()); }
    TORCH_LIBRARY_FRAGMENT(sgl_kernel, m) {
      m.def("verify_tree(Tensor x) -> ()");
      m.impl("verify_tree", torch::kCUDA, &verify_impl);
    }
    """,
}


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("one", "reg.py:impl"),
        ("two", "reg.py:second"),
        ("three", "reg.py:three"),
        ("four", "reg.py:fourth"),
        ("five", "reg.py:fifth"),
        ("six", "reg.py:impl"),
        ("verify", "ops.cu:verify_impl"),
    ],
)
def test_an_operator_is_the_function_that_was_registered(source: str, target: str) -> None:
    assert {(target, "operator", "certain")} == edges(OPERATORS, f"use.py:{source}")


@pytest.mark.parametrize("source", ["none", "mm"])
def test_an_operator_that_the_tree_does_not_register_is_nothing(source: str) -> None:
    assert set() == edges(OPERATORS, f"use.py:{source}")


def test_an_operator_in_cuda_launches_its_kernel() -> None:
    assert {("ops.cu:kernel", "launch", "certain")} == edges(OPERATORS, "ops.cu:verify_impl")


def test_a_module_compiled_from_the_tree_is_followed_by_the_names_it_exports() -> None:
    files = {
        "jit.py": """\
        from tvm import load
        def module(): return load("tree", names=["verify"])
        def call(): module().verify(1)
        """,
        "tree.cuh": "void verify(int x) {}\n",
    }

    assert ("tree.cuh:verify", "operator", "likely") in edges(files, "jit.py:call")


def test_functions_of_cuda_are_found_by_name_across_files() -> None:
    files = {
        "a.cu": """\
        __global__ void k(int* x) { step(x); }
        template <typename T> void run(int* x) { auto f = k; f<<<1, 1>>>(x); LaunchKernel(1, 1)(k, x); }
        """,
        "b.cuh": "__device__ void step(int* x) {}\nvoid k_twin() { run<int>(nullptr); }\n",
    }

    assert {("b.cuh:step", "call", "likely")} == edges(files, "a.cu:k")
    assert {("a.cu:k", "launch", "certain")} == edges(files, "a.cu:run")
    assert {("a.cu:run", "call", "likely")} == edges(files, "b.cuh:k_twin")


def test_a_dotted_string_is_an_edge_to_what_it_names() -> None:
    files = {
        "p/__init__.py": "",
        "p/w.py": "class Worker:\n    def __init__(self): pass\n",
        "p/main.py": 'def start(): load("p.w.Worker")\ndef other(): load("p.w:Worker", "p.nothing.here")\n',
    }

    assert {("p/w.py:Worker", "string", "likely")} == edges(files, "p/main.py:start")
    assert {("p/w.py:Worker", "string", "likely")} == edges(files, "p/main.py:other")
    assert {("p/w.py:Worker.__init__", "kept", "likely")} == edges(files, "p/w.py:Worker")


def test_a_function_that_is_handed_on_is_likely_called() -> None:
    source = """\
    import threading
    class A:
        def run(self): pass
        def start(self):
            threading.Thread(target=self.run).start()
            self.table = [self.kept]
        def kept(self): pass
    """

    assert {
        ("a.py:A.run", "argument", "likely"),
        ("a.py:A.kept", "kept", "likely"),
    } == edges({"a.py": source}, "a.py:A.start")


def test_entries_of_a_table_are_likely_called() -> None:
    source = (
        "def f(): pass\nclass A:\n    def m(self):\n        self.t = Dispatch({1: self.n})\n    def n(self): pass\n"
    )

    assert {("a.py:A.n", "kept", "likely")} == edges({"a.py": source}, "a.py:A.m")


def test_a_method_of_an_unknown_object_is_a_guess_while_few_have_the_name() -> None:
    few = "class A:\n    def rare(self): pass\ndef f(x): x.rare()\ndef g(x): x.append(1)\n"
    many = "".join(f"class A{number}:\n    def rare(self): pass\n" for number in range(9)) + "def f(x): x.rare()\n"

    assert {("a.py:A.rare", "method", "guess")} == edges({"a.py": few}, "a.py:f")
    assert set() == edges({"a.py": few}, "a.py:g")
    assert set() == edges({"a.py": many}, "a.py:f")


def test_what_is_outside_is_not_guessed() -> None:
    source = "import torch\nclass A:\n    def rare(self): pass\ndef f(): torch.rare()\n"

    assert set() == edges({"a.py": source}, "a.py:f")


def test_a_nested_function_that_nobody_calls_is_a_guess() -> None:
    source = "def f():\n    def inner(): pass\n    return inner\ndef g():\n    def inner(): pass\n    inner()\n"

    assert {("a.py:f.inner", "call", "guess")} == edges({"a.py": source}, "a.py:f")
    assert {("a.py:g.inner", "call", "certain")} == edges({"a.py": source}, "a.py:g")


PATHS = """\
class Runner:
    def step(self): a()
    def other(self): self.helper.rare()
def a(): b()
def b(): target()
def target(): pass
class Helper:
    def rare(self): target()
"""


def test_a_path_is_written_as_hops() -> None:
    made = graph({"a.py": PATHS})
    (first,) = made.edges_from(ref_of(made.names, "a.py:Runner.step"))
    (second,) = made.edges_from(first.target)

    assert (
        Hop("a.py", "Runner.step", 2, "call", Tier.CERTAIN),
        Hop("a.py", "a", 4, "call", Tier.CERTAIN),
        Hop("a.py", "b", 5, "", Tier.CERTAIN),
    ) == made.hops((first, second))
    assert () == made.hops(())


def test_edges_lead_both_ways() -> None:
    made = graph({"a.py": PATHS, **OPERATORS})

    for edge in made.edges():
        assert edge in made.edges_from(edge.source)
        assert edge in made.edges_to(edge.target)


def test_the_graph_does_not_depend_on_the_order_of_files() -> None:
    files = {"a.py": BASIC, "o.py": OVERRIDDEN, "k.py": KERNELS, **OPERATORS}

    assert set(graph(files).edges()) == set(graph(dict(reversed(files.items()))).edges())


def test_a_broken_file_takes_nothing_with_it() -> None:
    made = graph({"a.py": BASIC, "b.py": "def g(:\n", "c.rs": "fn f() {}", "d.py": "\0"})

    assert "a.py:f" in {place(made.names, edge.target) for edge in made.edges()}
    assert ["b.py", "c.rs", "d.py"] == sorted(set(names({"b.py": "", "c.rs": "", "d.py": ""}).tables))
