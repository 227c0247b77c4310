"""Programs that the graph does not understand, with the reason."""

from tests.index.callgraph_cases.case import Limit

LIMITS = (
    Limit(
        "code in a string",
        "def f(): pass\neval('f()')\n",
        "main: <builtin>.eval",
        "main: <builtin>.eval .f",
        "Nothing that stands in a string is parsed as code.",
    ),
    Limit(
        "a key in a variable",
        "def a(): pass\ndef b(): pass\nd = {'x': a, 'y': b}\nk = 'y'\nd[k]()\n",
        "main: .a .b",
        "main: .b",
        "Keys count only where they are written into the subscript.",
    ),
    Limit(
        "what two callers hand over is one",
        "def same(f): return f\ndef a(): pass\ndef b(): pass\nx = same(a)\ny = same(b)\nx()\n",
        "main: .same .a .b",
        "main: .same .a",
        "A function is understood once, not once for each of its callers.",
    ),
    Limit(
        "the class of a class method",
        """
        class A:
            @classmethod
            def make(cls): return cls()
            def m(self): pass
        class B(A):
            def m(self): pass
        B.make().m()
        """,
        "main: .A.make .A.m .B.m",
        "main: .A.make .B.m",
        "As above: `cls` is the class that defines the method, or any below it.",
    ),
    Limit(
        "an operator of an object",
        "class A:\n    def __add__(self, other): pass\nA() + A()\n",
        "",
        "main: .A.__add__",
        "Operators are not recorded: almost all of them are arithmetic.",
    ),
    Limit(
        "what a property runs",
        "class A:\n    @property\n    def p(self): return 1\ndef f(a: A): return a.p\n",
        "",
        ".f: .A.p",
        "Reading an attribute is not recorded as a call.",
    ),
    Limit(
        "a name that is computed",
        "class A:\n    def m1(self): pass\ngetattr(A(), 'm' + str(1))()\n",
        "main: <builtin>.getattr <builtin>.str",
        "main: <builtin>.getattr <builtin>.str .A.m1",
        "Only names that are written out are looked up.",
    ),
    Limit(
        "what map makes",
        "def a(): pass\ndef pick(n): return a\nfor f in map(pick, [1]): f()\n",
        "main: <builtin>.map .pick",
        "main: <builtin>.map .pick .a",
        "What builtins give back is not followed.",
    ),
    Limit(
        "a display that is handed over",
        "def a(): pass\ndef use(fs): fs[0]()\nuse([a])\n",
        "main: .use",
        "main: .use\n.use: .a",
        "Arguments are recorded by name; a list that is written into a call has none.",
    ),
    Limit(
        "a test of the type",
        """
        class A:
            def m(self): pass
        class B:
            def m(self): pass
        def f(x):
            if isinstance(x, A): x.m()
        f(B())
        """,
        "main: .f\n.f: <builtin>.isinstance .B.m",
        "main: .f\n.f: <builtin>.isinstance",
        "Conditions are not evaluated.",
    ),
    Limit(
        "arguments that are unpacked",
        "def a(): pass\ndef use(f): f()\nargs = (a,)\nuse(*args)\n",
        "main: .use",
        "main: .use\n.use: .a",
        "What a star spreads is not laid out over the parameters.",
    ),
    Limit(
        "a closure that is called before its name is bound again",
        """
        def a(): pass
        def b(): pass
        f = a
        def use(): f()
        use()
        f = b
        """,
        "main: .use\n.use: .b",
        "main: .use\n.use: .a",
        "From outside of its scope a name is what it is in the end.",
    ),
)
