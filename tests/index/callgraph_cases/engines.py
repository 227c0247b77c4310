"""What inference engines do: kernels, operators, modules, registries, remote calls, partial functions."""

from tests.index.callgraph_cases.case import Case

CASES = (
    Case(
        "a kernel with its grid",
        """
        import triton
        @triton.jit
        def kernel(x): pass
        def run(x): kernel[(1,)](x)
        """,
        """
        main: triton.jit
        .run: .kernel
        """,
        "main.run main.kernel launch certain",
    ),
    Case(
        "a kernel calls a device function",
        """
        import triton
        @triton.jit
        def helper(x): return x
        @triton.jit
        def kernel(x): helper(x)
        """,
        """
        main: triton.jit
        .kernel: .helper
        """,
    ),
    Case(
        "a kernel that is chosen",
        """
        import triton
        @triton.jit
        def small(x): pass
        @triton.jit
        def large(x): pass
        def run(x, n):
            kernel = small if n < 8 else large
            kernel[(n,)](x)
        """,
        """
        main: triton.jit
        .run: .small .large
        """,
        "main.run main.small launch likely",
    ),
    Case(
        "a kernel that is handed over",
        """
        import triton
        @triton.jit
        def kernel(x): pass
        def launch(fn, x): fn[(1,)](x)
        def run(x): launch(kernel, x)
        """,
        """
        main: triton.jit
        .run: .launch
        .launch: .kernel
        """,
        "main.launch main.kernel launch certain",
    ),
    Case(
        "a kernel under two decorators",
        """
        import triton
        @triton.autotune(configs=[], key=[])
        @triton.jit
        def kernel(x): pass
        def run(x): kernel[lambda meta: (1,)](x)
        """,
        """
        main: triton.autotune triton.jit
        .run: .kernel
        """,
    ),
    Case(
        "a kernel that a decorator launches",
        """
        import triton
        @triton.jit
        def kernel(x): pass
        def dispatch(kernel):
            def wrap(grid):
                def inner(x): kernel[grid(x)](x)
                return inner
            return wrap
        @dispatch(kernel=kernel)
        def op(x): return (1,)
        def run(x): op(x)
        """,
        """
        main: triton.jit .dispatch .dispatch.wrap
        .run: .dispatch.wrap.inner
        .dispatch.wrap.inner: .kernel .op
        .op: .kernel
        """,
        "main.dispatch.wrap.inner main.kernel launch certain\nmain.op main.kernel launch likely",
    ),
    Case(
        "an operator that a call registers",
        """
        import torch
        from lib import direct_register_custom_op
        def impl(x): pass
        def fake(x): pass
        direct_register_custom_op(op_name='halve', op_func=impl, fake_impl=fake)
        def run(x): torch.ops.ns.halve(x)
        """,
        """
        main: lib.direct_register_custom_op .impl .fake
        .run: torch.ops.ns.halve .impl
        """,
        "main.run main.impl operator certain",
    ),
    Case(
        "an operator that a decorator registers",
        """
        import torch
        @torch.library.custom_op('ns::halve', mutates_args=())
        def impl(x): pass
        @impl.register_fake
        def fake(x): pass
        def run(x): torch.ops.ns.halve(x)
        """,
        """
        main: torch.library.custom_op
        .run: torch.ops.ns.halve .impl
        """,
    ),
    Case(
        "a module of torch is called",
        """
        from torch import nn
        class Layer(nn.Module):
            def forward(self, x): return x
        class Net(nn.Module):
            def __init__(self): self.layer = Layer()
            def forward(self, x): return self.layer(x)
        """,
        """
        .Net.__init__: torch.nn.Module.__init__
        .Net.forward: .Layer.forward
        """,
        "main.Net.forward main.Layer.forward method certain",
    ),
    Case(
        "modules in a list of modules",
        """
        from torch import nn
        class Layer(nn.Module):
            def __init__(self): pass
            def forward(self, x): return x
        class Net(nn.Module):
            def __init__(self): self.layers = nn.ModuleList([Layer() for _ in (1, 2)])
            def forward(self, x):
                for layer in self.layers: x = layer(x)
        """,
        """
        .Net.__init__: torch.nn.ModuleList .Layer.__init__
        .Net.forward: .Layer.forward
        """,
    ),
    Case(
        "partial",
        """
        from functools import partial
        def f(a, b): b()
        def g(): pass
        p = partial(f, 1, g)
        p()
        """,
        """
        main: functools.partial .f
        .f: .g
        """,
    ),
    Case(
        "a registry that a decorator fills",
        """
        TABLE = {}
        def register(name):
            def put(fn):
                TABLE[name] = fn
                return fn
            return put
        @register('a')
        def a(): pass
        def run(name): TABLE[name]()
        """,
        """
        main: .register .register.put
        .run: .a
        """,
    ),
    Case(
        "a registry of classes",
        """
        TABLE = {}
        def register(cls):
            TABLE[cls.__name__] = cls
            return cls
        @register
        class Worker:
            def __init__(self): pass
            def step(self): pass
        def run(name):
            worker = TABLE[name]()
            worker.step()
        """,
        """
        main: .register
        .run: .Worker.__init__ .Worker.step
        """,
    ),
    Case(
        "a registry object",
        """
        class Registry:
            def __init__(self): self.known = {}
            def register(self, name):
                def put(fn):
                    self.known[name] = fn
                    return fn
                return put
            def get(self, name): return self.known[name]
        REGISTRY = Registry()
        @REGISTRY.register('a')
        def a(): pass
        def run(name): REGISTRY.get(name)()
        """,
        """
        main: .Registry.__init__ .Registry.register .Registry.register.put
        .run: .Registry.get .a
        """,
    ),
    Case(
        "classes by name, one key looked up",
        """
        from backends import Flash, Paged
        BACKENDS = {'flash': Flash, 'paged': Paged}
        def run(): BACKENDS['paged']().forward()
        # backends.py
        class Flash:
            def forward(self): pass
        class Paged:
            def forward(self): pass
        """,
        ".run: backends.Paged.forward",
    ),
    Case(
        "a class by a dotted string",
        """
        from utils import resolve_obj_by_qualname
        def run():
            cls = resolve_obj_by_qualname('pkg.worker.Worker')
            cls().step()
        # utils.py
        import importlib
        def resolve_obj_by_qualname(name):
            module, attribute = name.rsplit('.', 1)
            return getattr(importlib.import_module(module), attribute)
        # pkg/__init__.py
        # pkg/worker.py
        class Worker:
            def __init__(self): pass
            def step(self): pass
        """,
        """
        .run: utils.resolve_obj_by_qualname pkg.worker.Worker.__init__ pkg.worker.Worker.step
        utils.resolve_obj_by_qualname: <builtin>.getattr importlib.import_module
        """,
    ),
    Case(
        "workers are told a name",
        """
        class Worker:
            def load(self): pass
        class Executor:
            def start(self): self.collective_rpc('load')
            def collective_rpc(self, method, args=()): pass
        """,
        ".Executor.start: .Executor.collective_rpc .Worker.load",
        "main.Executor.start main.Worker.load rpc likely",
    ),
    Case(
        "a runner by its base class",
        """
        class Runner:
            def execute(self): self.prepare()
            def prepare(self): pass
        class GpuRunner(Runner):
            def prepare(self): super().prepare()
        class Engine:
            def __init__(self, runner: Runner): self.runner = runner
            def step(self): self.runner.execute()
        """,
        """
        .Runner.execute: .Runner.prepare .GpuRunner.prepare
        .GpuRunner.prepare: <builtin>.super .Runner.prepare
        .Engine.step: .Runner.execute
        """,
    ),
    Case(
        "hooks in a list",
        """
        class Engine:
            def __init__(self): self.hooks = []
            def on_step(self, hook): self.hooks.append(hook)
            def step(self):
                for hook in self.hooks: hook()
        def log(): pass
        engine = Engine()
        engine.on_step(log)
        """,
        """
        main: .Engine.__init__ .Engine.on_step
        .Engine.on_step: <**PyList**>.append
        .Engine.step: .log
        """,
    ),
    Case(
        "a factory that chooses by a flag",
        """
        class Eager:
            def run(self): pass
        class Graph:
            def run(self): pass
        class Engine:
            def __init__(self, fast):
                if fast: self.mode = Graph()
                else: self.mode = Eager()
            def step(self): self.mode.run()
        """,
        ".Engine.step: .Eager.run .Graph.run",
        "main.Engine.step main.Graph.run method likely",
    ),
)
