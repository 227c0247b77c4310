"""Lambdas, decorators, generators, results, exceptions and what builtins call."""

from tests.index.callgraph_cases.case import Case

LAMBDAS = (
    Case("a named lambda", "f = lambda x: x\nf(2)\n", "main: .<lambda1>"),
    Case("a lambda that is called at once", "(lambda x: x)(2)\n", "main: .<lambda1>"),
    Case("a lambda calls", "def g(): pass\nf = lambda: g()\nf()\n", "main: .<lambda1>\n.<lambda1>: .g"),
    Case(
        "a lambda calls what it is given",
        "def g(): pass\nf = lambda h: h()\nf(g)\n",
        "main: .<lambda1>\n.<lambda1>: .g",
    ),
    Case("a lambda that is handed over", "def use(f): f()\nuse(lambda: 1)\n", "main: .use\n.use: .<lambda1>"),
    Case(
        "two lambdas by their order", "def use(f, g): g()\nuse(lambda: 1, lambda: 2)\n", "main: .use\n.use: .<lambda2>"
    ),
    Case("a lambda that is given back", "def make(): return lambda: 1\nmake()()\n", "main: .make .make.<lambda1>"),
    Case("a lambda in a lambda", "f = lambda: lambda: 1\nf()()\n", "main: .<lambda1> .<lambda1>.<lambda1>"),
    Case("a lambda as a default", "def use(f=lambda: 1): f()\nuse()\n", "main: .use\n.use: .<lambda1>"),
    Case("the default of a lambda", "def g(): pass\nf = lambda h=g: h()\nf()\n", "main: .<lambda1>\n.<lambda1>: .g"),
    Case(
        "a lambda in a method",
        "class A:\n    def m(self):\n        f = lambda: self.n()\n        f()\n    def n(self): pass\n",
        ".A.m: .A.m.<lambda1>\n.A.m.<lambda1>: .A.n",
    ),
    Case("lambdas in a dictionary", "d = {'a': lambda: 1, 'b': lambda: 2}\nd['b']()\n", "main: .<lambda2>"),
    Case(
        "a lambda in an attribute",
        "class A:\n    def __init__(self): self.f = lambda: 1\n    def m(self): self.f()\n",
        ".A.m: .A.__init__.<lambda1>",
    ),
    Case("chosen of two lambdas", "f = (lambda: 1) if 1 else (lambda: 2)\nf()\n", "main: .<lambda1> .<lambda2>"),
    Case("a lambda gives back a function", "def g(): pass\nf = lambda: g\nf()()\n", "main: .<lambda1> .g"),
)
DECORATORS = (
    Case("it is called where it stands", "def d(f): return f\n@d\ndef g(): pass\n", "main: .d"),
    Case(
        "what gives its function back",
        "def d(f): return f\n@d\ndef g(): pass\ng()\n",
        "main: .d .g",
        "main main.g call certain",
    ),
    Case(
        "what puts another in its place",
        """
        def d(f):
            def inner(*args): return f(*args)
            return inner
        @d
        def g(): pass
        def use(): g()
        """,
        """
        main: .d
        .use: .d.inner
        .d.inner: .g
        """,
        "main.use main.d.inner decorator certain\nmain.use main.g behind certain",
    ),
    Case(
        "with arguments",
        """
        def times(n):
            def d(f):
                def inner(): f()
                return inner
            return d
        @times(3)
        def g(): pass
        g()
        """,
        """
        main: .times .times.d .times.d.inner
        .times.d.inner: .g
        """,
    ),
    Case(
        "two of them",
        """
        def one(f):
            def first(): f()
            return first
        def two(f):
            def second(): f()
            return second
        @one
        @two
        def g(): pass
        g()
        """,
        """
        main: .one .two .one.first
        .one.first: .two.second
        .two.second: .g
        """,
    ),
    Case(
        "it calls its function itself",
        "def d(f):\n    f()\n    return f\n@d\ndef g(): pass\n",
        "main: .d\n.d: .g",
    ),
    Case(
        "of a method",
        """
        def d(f):
            def inner(self): f(self)
            return inner
        class A:
            @d
            def m(self): pass
        A().m()
        """,
        """
        main: .d .d.inner
        .d.inner: .A.m
        """,
    ),
    Case(
        "kept by functools.wraps",
        """
        from functools import wraps
        def d(f):
            @wraps(f)
            def inner(): f()
            return inner
        @d
        def g(): pass
        g()
        """,
        """
        main: .d .d.inner
        .d: functools.wraps
        .d.inner: .g
        """,
    ),
    Case(
        "one from outside changes nothing that is known",
        "from lib import d\n@d\ndef g(): pass\ng()\n",
        "main: lib.d .g",
    ),
    Case(
        "one of two by an assignment",
        "def one(f): return f\ndef two(f): return f\nd = one\nd = two\n@d\ndef g(): pass\n",
        "main: .two",
    ),
    Case(
        "two functions with one decorator",
        """
        def d(f):
            def inner(): f()
            return inner
        @d
        def a(): pass
        @d
        def b(): pass
        a()
        """,
        """
        main: .d .d.inner
        .d.inner: .a .b
        """,
    ),
    Case("of a class", "def d(c): return c\n@d\nclass A:\n    def m(self): pass\nA().m()\n", "main: .d .A.m"),
    Case(
        "a class as a decorator",
        "class D:\n    def __init__(self, f): self.f = f\n@D\ndef g(): pass\n",
        "main: .D.__init__",
    ),
    Case("a lambda as a decorator", "d = lambda f: f\n@d\ndef g(): pass\n", "main: .<lambda1>"),
    Case(
        "in a function",
        "def use():\n    def d(f): return f\n    @d\n    def g(): pass\n    g()\n",
        ".use: .use.d .use.g",
    ),
    Case(
        "applied by hand",
        "def d(f):\n    def inner(): f()\n    return inner\ndef g(): pass\nh = d(g)\nh()\n",
        "main: .d .d.inner\n.d.inner: .g",
    ),
)
GENERATORS = (
    Case("what is yielded", "def a(): pass\ndef gen():\n    yield a\nfor f in gen(): f()\n", "main: .gen .a"),
    Case(
        "two yields",
        "def a(): pass\ndef b(): pass\ndef gen():\n    yield a\n    yield b\nfor f in gen(): f()\n",
        "main: .gen .a .b",
    ),
    Case(
        "yield from",
        "def a(): pass\ndef inner():\n    yield a\ndef gen():\n    yield from inner()\nfor f in gen(): f()\n",
        "main: .gen .a\n.gen: .inner",
    ),
    Case(
        "objects that are yielded",
        "class A:\n    def m(self): pass\ndef gen():\n    yield A()\nfor x in gen(): x.m()\n",
        "main: .gen .A.m",
    ),
    Case(
        "a generator that is kept",
        "def a(): pass\ndef gen():\n    yield a\ng = gen()\nfor f in g: f()\n",
        "main: .gen .a",
    ),
    Case(
        "an object that a loop goes through",
        """
        class Count:
            def __iter__(self): return self
            def __next__(self): return 1
        for n in Count(): pass
        """,
        "main: .Count.__iter__ .Count.__next__",
        "main main.Count.__next__ protocol certain",
    ),
    Case(
        "an iterator of another class",
        """
        class Steps:
            def __next__(self): return go
        class Path:
            def __iter__(self): return Steps()
        def go(): pass
        for step in Path(): step()
        """,
        "main: .Path.__iter__ .Steps.__next__ .go",
    ),
    Case(
        "an object in a comprehension",
        "class Path:\n    def __iter__(self): yield 1\nx = [n for n in Path()]\n",
        "main: .Path.__iter__",
    ),
    Case("no loop, no iteration", "class Path:\n    def __iter__(self): return self\np = Path()\n", ""),
    Case(
        "a generator expression",
        "def a(): pass\nx = (f for f in (a,))\nfor g in x: g()\n",
        "main: .a",
    ),
)
RESULTS = (
    Case("a function", "def a(): pass\ndef make(): return a\nmake()()\n", "main: .make .a"),
    Case("through a name", "def a(): pass\ndef make(): return a\nf = make()\nf()\n", "main: .make .a"),
    Case(
        "through two functions",
        "def a(): pass\ndef one(): return a\ndef two(): return one()\ntwo()()\n",
        "main: .two .a\n.two: .one",
    ),
    Case(
        "one of two",
        "def a(): pass\ndef b(): pass\ndef make(x):\n    if x: return a\n    return b\nmake(1)()\n",
        "main: .make .a .b",
    ),
    Case("what it was given", "def a(): pass\ndef same(f): return f\nsame(a)()\n", "main: .same .a"),
    Case(
        "from another module",
        "from m import make\nmake()()\n# m.py\ndef make(): return a\ndef a(): pass\n",
        "main: m.make m.a",
    ),
    Case("a bound method", "class A:\n    def m(self): pass\ndef make(): return A().m\nmake()()\n", "main: .make .A.m"),
    Case(
        "of a coroutine",
        "class A:\n    def m(self): pass\nasync def make(): return A()\nasync def use(): (await make()).m()\n",
        ".use: .make .A.m",
    ),
    Case("nothing of use", "def f(): return 1 + 1\nf()\n", "main: .f"),
)
EXCEPTIONS = (
    Case("a class that is raised", "class E(Exception):\n    def __init__(self): pass\nraise E\n", "main: .E.__init__"),
    Case(
        "an object that is raised",
        "class E(Exception):\n    def __init__(self, t): pass\ndef f(): raise E('x')\n",
        ".f: .E.__init__",
    ),
    Case(
        "what is caught and raised again calls nothing",
        "def f():\n    try: g()\n    except ValueError as e: raise e\ndef g(): pass\n",
        ".f: .g",
    ),
    Case("a builtin exception", "def f(): raise ValueError('x')\n", ".f: <builtin>.ValueError"),
    Case(
        "in every part of a try",
        "def a(): pass\ndef b(): pass\ndef c(): pass\ndef d(): pass\n"
        "try: a()\nexcept OSError: b()\nelse: c()\nfinally: d()\n",
        "main: .a .b .c .d",
    ),
    Case(
        "by another name",
        "class E(Exception):\n    def __init__(self): pass\nD = E\ndef f(): raise D\n",
        ".f: .E.__init__",
    ),
)
BUILTINS = (
    Case("a builtin", "len([])\n", "main: <builtin>.len"),
    Case("a builtin that a definition hides", "def len(x): pass\nlen([])\n", "main: .len"),
    Case("a builtin by another name is not told", "size = len\nsize([])\n", ""),
    Case(
        "map calls its function",
        "def f(x): pass\nmap(f, [1])\n",
        "main: <builtin>.map .f",
        "main main.f builtin certain",
    ),
    Case("filter", "def f(x): pass\nlist(filter(f, [1]))\n", "main: <builtin>.list <builtin>.filter .f"),
    Case("the key of sorted", "def f(x): pass\nsorted([1], key=f)\n", "main: <builtin>.sorted .f"),
    Case("a lambda as key", "max([1], key=lambda x: -x)\n", "main: <builtin>.max .<lambda1>"),
    Case("isinstance does not call", "class A: pass\ndef f(): pass\nisinstance(f, A)\n", "main: <builtin>.isinstance"),
    Case("a method of a string", "' '.join(['a'])\n", "main: <**PyStr**>.join"),
    Case("a method of a named string", "x = 'a-b'\nx.split('-')\n", "main: <**PyStr**>.split"),
    Case("a method of a dictionary", "d = {}\nd.items()\n", "main: <**PyDict**>.items"),
    Case("a method of a list", "[2, 1].sort()\n", "main: <**PyList**>.sort"),
    Case("a method of an f-string", "f'{1}'.upper()\n", "main: <**PyStr**>.upper"),
    Case(
        "with",
        "class A:\n    def __enter__(self): return self\n"
        "    def __exit__(self, *e): pass\n    def m(self): pass\nwith A() as a: a.m()\n",
        "main: .A.__enter__ .A.__exit__ .A.m",
    ),
    Case(
        "getattr with a written name",
        "class A:\n    def m(self): pass\ngetattr(A(), 'm')()\n",
        "main: <builtin>.getattr .A.m",
    ),
)
CASES = LAMBDAS + DECORATORS + GENERATORS + RESULTS + EXCEPTIONS + BUILTINS
