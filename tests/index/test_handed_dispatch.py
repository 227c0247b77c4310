"""Calls that no name at the call site tells: by a name handed over, by a wrapper, by a class that is a parameter."""

from tests.index.trees import edges

EXECUTOR = """
import abc
from worker import Wrapper

def run_method(target, method, args):
    return getattr(target, method)(*args)

class Executor(abc.ABC):
    @abc.abstractmethod
    def rpc(self, method, args=()):
        raise NotImplementedError

    def step(self, batch):
        return self.rpc("run", (batch,))

class LocalExecutor(Executor):
    def __init__(self):
        self.driver = Wrapper()

    def rpc(self, method, args=()):
        return [run_method(self.driver, method, args)]
"""
WORKER = """
class WorkerBase:
    def run(self, batch):
        raise NotImplementedError

class Worker(WorkerBase):
    def run(self, batch):
        pass

def find(name):
    return globals()[name]

class Wrapper:
    def load(self, name):
        made: type[WorkerBase] = find(name)
        self.worker = made()

    def __getattr__(self, attr):
        return getattr(self.worker, attr)
"""


def test_a_name_handed_over_leads_to_the_method_that_is_looked_up_by_it() -> None:
    """Through an abstract method, a helper that reads it by `getattr`, and a wrapper that looks in another object."""
    found = edges({"executor.py": EXECUTOR, "worker.py": WORKER}, "executor.py:Executor.step")

    assert ("worker.py:Worker.run", "name", "likely") in found


def test_a_name_that_nothing_is_looked_up_by_leads_nowhere() -> None:
    """The helper only logs it."""
    source = EXECUTOR.replace("getattr(target, method)(*args)", "print(target, method, args)")

    found = edges({"executor.py": source, "worker.py": WORKER}, "executor.py:Executor.step")

    assert not [each for each in found if each[1] == "name"]


def test_a_class_that_is_a_parameter_makes_what_its_annotation_says() -> None:
    """And what is below that class, for a caller hands it over."""
    engine = """
    from executor import Executor

    class Engine:
        def __init__(self, executor_class: type[Executor]):
            self.executor = executor_class()

        def step(self, batch):
            self.executor.rpc("run", batch)
    """

    found = edges({"engine.py": engine, "executor.py": EXECUTOR, "worker.py": WORKER}, "engine.py:Engine.step")

    assert {
        ("executor.py:Executor.rpc", "method", "likely"),
        ("executor.py:LocalExecutor.rpc", "override", "likely"),
    } <= found


def test_a_method_that_another_base_brings_overrides_too() -> None:
    """`class Both(Local, Base)`: Local's method stands in the place of Base's."""
    source = """
    class Base:
        def rpc(self): raise NotImplementedError
        def step(self): self.rpc()

    class Local:
        def rpc(self): pass

    class Both(Local, Base):
        pass
    """

    assert ("a.py:Local.rpc", "override", "likely") in edges({"a.py": source}, "a.py:Base.step")


def test_a_call_of_a_module_of_which_only_subclasses_have_a_forward_leads_to_these() -> None:
    """The base class declares nothing."""
    source = """
    from torch import nn

    class Sampler(nn.Module):
        pass

    class Strict(Sampler):
        def forward(self): pass

    class Loose(Sampler):
        def forward(self): pass

    class Runner:
        def __init__(self, sampler: Sampler):
            self.sampler = sampler

        def step(self):
            self.sampler()
    """

    assert {
        ("a.py:Strict.forward", "override", "likely"),
        ("a.py:Loose.forward", "override", "likely"),
    } == edges({"a.py": source}, "a.py:Runner.step")


def test_a_function_given_to_a_decorator_runs_when_the_decorated_one_is_called() -> None:
    """A dispatcher launches its kernel; what it decorates gives back the grid only."""
    source = """
    import triton

    @triton.jit
    def kernel(x): pass

    def dispatcher(kernel):
        def wrap(function):
            return function
        return wrap

    @dispatcher(kernel=kernel)
    def accept(x):
        return (x.shape[0],)
    """

    assert ("a.py:kernel", "launch", "likely") in edges({"a.py": source}, "a.py:accept")


def test_an_object_of_no_known_class_has_the_methods_of_the_class_that_is_asked_for() -> None:
    """`isinstance` tells what it is in one branch."""
    builders = "".join(f"class B{n}:\n    def build(self): pass\n" for n in range(12))
    source = f"{builders}def draft(thing):\n    if isinstance(thing.builder, B7):\n        thing.builder.build()\n"

    assert {("a.py:B7.build", "method", "likely")} == edges({"a.py": source}, "a.py:draft")


BACKEND = """
class Metadata:
    pass

class Other:
    pass

class Builder:
    def build(self) -> Metadata:
        return Metadata()
    def forget(self) -> Other:
        return Other()

class Layer:
    def forward(self, query, metadata: Metadata):
        pass

class Stranger:
    def forward(self, metadata: Metadata):
        pass

class Backend:
    @staticmethod
    def layer():
        return Layer
    @staticmethod
    def builder():
        return Builder
"""


def test_metadata_that_a_builder_makes_leads_to_the_layer_of_the_same_backend() -> None:
    """No call does: the layer finds it in a context."""
    assert ("a.py:Layer.forward", "context", "likely") in edges({"a.py": BACKEND}, "a.py:Builder.build")


def test_metadata_leads_to_no_layer_of_another_backend_and_only_from_who_makes_it() -> None:
    """One class must hand out both."""
    made = edges({"a.py": BACKEND}, "a.py:Builder.build") | edges({"a.py": BACKEND}, "a.py:Builder.forget")

    assert {"a.py:Layer.forward"} == {target for target, dispatch, _ in made if dispatch == "context"}


MODEL = """
from torch import nn

class Inner(nn.Module):
    def load_weights(self): pass
    def forward(self, x): pass

class Causal(nn.Module):
    def __init__(self):
        self.inner = Inner()
    def load_weights(self): pass
    def forward(self, x): self.inner(x)

class Layer(nn.Module):
    def forward(self, x): pass

class {name}:
    def load(self, loader) -> None:
        self.model: nn.Module = loader.load()
    def step(self, x):
        return self.model(x)
"""


def test_a_runner_runs_the_models_that_can_be_loaded() -> None:
    """Those that take weights and that no other class makes."""
    found = edges({"a.py": MODEL.format(name="ModelRunner")}, "a.py:ModelRunner.step")

    assert {("a.py:Causal.forward", "model", "likely")} == found


def test_a_model_that_may_be_anything_is_run_too() -> None:
    """One annotation says `Any`, another one names a module."""
    source = MODEL.format(name="ModelRunner").replace(
        "x):\n        return self.model(x)", "x):\n        self.model.forward(x)"
    )
    source += "    def reset(self, model: Any):\n        self.model = model\n"

    assert {("a.py:Causal.forward", "model", "likely")} == edges(
        {"a.py": f"from typing import Any\n{source}"}, "a.py:ModelRunner.step"
    )


def test_what_is_no_runner_runs_no_model_of_the_tree() -> None:
    """A tool that has some module runs it, whatever it is."""
    assert set() == edges({"a.py": MODEL.format(name="Balancer")}, "a.py:Balancer.step")


def test_a_field_is_also_of_the_classes_that_other_methods_ask_for() -> None:
    """What one branch gives it does not say what the others do."""
    source = """
    class Known:
        def prepare(self): pass

    class Asked:
        def prepare(self): pass

    class Drafter:
        def __init__(self, table, key):
            self.backend = Known() if key is None else table[key]()

        def size(self):
            return isinstance(self.backend, Asked)

        def draft(self):
            self.backend.prepare()
    """
    found = edges({"a.py": source}, "a.py:Drafter.draft")

    assert {"a.py:Known.prepare", "a.py:Asked.prepare"} == {target for target, _, _ in found}
