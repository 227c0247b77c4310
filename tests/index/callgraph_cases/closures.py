"""Functions in functions, and what they see of the outer ones."""

from tests.index.callgraph_cases.case import Case

CASES = (
    Case(
        "an inner function",
        "def outer():\n    def inner(): pass\n    inner()\nouter()\n",
        "main: .outer\n.outer: .outer.inner",
    ),
    Case(
        "an inner function that is given back",
        """
        def outer():
            def inner(): pass
            return inner
        outer()()
        """,
        "main: .outer .outer.inner",
    ),
    Case(
        "what the outer function was given",
        """
        def counted(f):
            def inner(): f()
            return inner
        def tick(): pass
        run = counted(tick)
        run()
        """,
        """
        main: .counted .counted.inner
        .counted.inner: .tick
        """,
    ),
    Case(
        "inner functions that call one another",
        """
        def outer():
            def even(): odd()
            def odd(): even()
            even()
        """,
        """
        .outer: .outer.even
        .outer.even: .outer.odd
        .outer.odd: .outer.even
        """,
    ),
    Case(
        "an inner name hides a global one",
        """
        def step(): pass
        def outer():
            def step(): pass
            step()
        """,
        ".outer: .outer.step",
    ),
    Case(
        "a local of the outer function",
        """
        class Log:
            def put(self): pass
        def outer():
            log = Log()
            def inner(): log.put()
            inner()
        """,
        """
        .outer: .outer.inner
        .outer.inner: .Log.put
        """,
    ),
    Case(
        "a class in a function",
        """
        def make():
            class Local:
                def go(self): pass
            return Local()
        make().go()
        """,
        "main: .make .make.Local.go",
    ),
    Case(
        "three deep",
        """
        def a(f):
            def b():
                def c(): f()
                return c
            return b
        def leaf(): pass
        a(leaf)()()
        """,
        """
        main: .a .a.b .a.b.c
        .a.b.c: .leaf
        """,
    ),
    Case(
        "a method sees no names of its class",
        """
        def f(): pass
        class A:
            def f(self): pass
            def m(self): f()
        """,
        ".A.m: .f",
    ),
    Case(
        "a name that the outer function binds after the inner one is written",
        """
        def a(): pass
        def outer():
            def inner(): late()
            late = a
            inner()
        """,
        """
        .outer: .outer.inner
        .outer.inner: .a
        """,
    ),
)
