"""Names that are bound, bound again, and unpacked."""

from tests.index.callgraph_cases.case import Case

CASES = (
    Case("an alias", "def f(): pass\ng = f\nh = g\nh()\n", "main: .f"),
    Case("several names at once", "def f(): pass\na = b = c = f\na(); c()\n", "main: .f"),
    Case(
        "the last assignment before a call counts",
        """
        def old(): pass
        def new(): pass
        f = old
        f = new
        f()
        """,
        "main: .new",
        "main main.new call certain",
    ),
    Case(
        "a call between two assignments sees the first",
        """
        def old(): pass
        def new(): pass
        def use():
            f = old
            f()
            f = new
        use()
        """,
        """
        main: .use
        .use: .old
        """,
    ),
    Case(
        "what a branch assigns only adds",
        """
        def a(): pass
        def b(): pass
        f = a
        if input(): f = b
        f()
        """,
        "main: .a .b <builtin>.input",
        "main main.a call likely\nmain main.b call likely",
    ),
    Case(
        "both branches",
        """
        import sys
        def a(): pass
        def b(): pass
        if sys.argv: f = a
        else: f = b
        f()
        """,
        "main: .a .b",
    ),
    Case("a conditional expression", "def a(): pass\ndef b(): pass\nf = a if 1 else b\nf()\n", "main: .a .b"),
    Case("one or the other", "def a(): pass\ndef b(): pass\nf = a or b\nf()\n", "main: .a .b"),
    Case(
        "what a loop assigns is seen in its next round",
        """
        def a(): pass
        def b(): pass
        f = a
        while True:
            f()
            f = b
        """,
        "main: .a .b",
    ),
    Case("a pair", "def a(): pass\ndef b(): pass\nx, y = a, b\ny()\n", "main: .b"),
    Case("a list of names", "def a(): pass\ndef b(): pass\n[x, y] = b, a\nx()\n", "main: .b"),
    Case("pairs in pairs", "def a(): pass\ndef b(): pass\nx, (y, (z, w)) = 1, (a, (b, a))\nz()\n", "main: .b"),
    Case(
        "a star takes the middle",
        """
        def a(): pass
        def b(): pass
        def c(): pass
        def d(): pass
        first, *rest, last = a, b, c, d
        rest[1](); last()
        """,
        "main: .c .d",
    ),
    Case("two names change places", "def a(): pass\ndef b(): pass\nx, y = a, b\nx, y = y, x\nx()\n", "main: .b"),
    Case("a walrus", "def a(): pass\nif (f := a): f()\n", "main: .a"),
    Case(
        "a result is unpacked",
        """
        def pair(): return a, b
        def a(): pass
        def b(): pass
        x, y = pair()
        y()
        """,
        "main: .pair .b",
    ),
    Case("a name that is bound later in another way", "def f(): pass\ng = f\ng()\ng = 1\n", "main: .f"),
    Case(
        "a global that a function sets",
        """
        handler = None
        def ready(): pass
        def setup():
            global handler
            handler = ready
        setup()
        handler()
        """,
        "main: .setup .ready",
    ),
    Case(
        "a name of the outer function that an inner one sets",
        """
        def a(): pass
        def outer():
            f = None
            def inner():
                nonlocal f
                f = a
            inner()
            f()
        outer()
        """,
        """
        main: .outer
        .outer: .outer.inner .a
        """,
    ),
    Case("the type of a local", "class A:\n    def m(self): pass\ndef f():\n    a = A()\n    a.m()\n", ".f: .A.m"),
    Case(
        "a local of a type, then of another",
        """
        class A:
            def m(self): pass
        class B:
            def m(self): pass
        def f():
            x = A()
            x.m()
            x = B()
            x.m()
        """,
        ".f: .A.m .B.m",
        "main.f main.A.m method certain\nmain.f main.B.m method certain",
    ),
    Case(
        "a call that is spread over lines sees the value before it",
        """
        class A:
            def m(self): return B()
        class B:
            def m(self): return self
        def f():
            x = A()
            x = (
                x.m()
            )
            return x.m()
        """,
        ".f: .A.m .B.m",
    ),
    Case("an annotated local", "class A:\n    def m(self): pass\ndef f(x):\n    a: A = x\n    a.m()\n", ".f: .A.m"),
)
