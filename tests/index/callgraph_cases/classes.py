"""Objects: their methods, attributes, and what they are made of."""

from tests.index.callgraph_cases.case import Case

CASES = (
    Case("a method of a new object", "class A:\n    def m(self): pass\nA().m()\n", "main: .A.m"),
    Case("a constructor", "class A:\n    def __init__(self): pass\nA()\n", "main: .A.__init__"),
    Case("no constructor, no edge", "class A: pass\nA()\n", ""),
    Case(
        "the constructor of a base",
        "class A:\n    def __init__(self): pass\nclass B(A): pass\nB()\n",
        "main: .A.__init__",
    ),
    Case(
        "__new__ where there is no __init__",
        "class A:\n    def __new__(cls): return object.__new__(cls)\nA()\n",
        "main: .A.__new__",
    ),
    Case("self", "class A:\n    def m(self): self.n()\n    def n(self): pass\n", ".A.m: .A.n"),
    Case(
        "an object by another name",
        "class A:\n    def m(me):\n        x = me\n        x.n()\n    def n(me): pass\n",
        ".A.m: .A.n",
    ),
    Case(
        "an attribute that the constructor makes",
        """
        class Wheel:
            def turn(self): pass
        class Car:
            def __init__(self): self.wheel = Wheel()
            def go(self): self.wheel.turn()
        """,
        ".Car.go: .Wheel.turn",
        "main.Car.go main.Wheel.turn method certain",
    ),
    Case(
        "an attribute of an attribute",
        """
        class Tyre:
            def fill(self): pass
        class Wheel:
            def __init__(self): self.tyre = Tyre()
        class Car:
            def __init__(self): self.wheel = Wheel()
        def service(car: Car): car.wheel.tyre.fill()
        """,
        """
        .Car.__init__: .Wheel.__init__
        .service: .Tyre.fill
        """,
    ),
    Case(
        "a function kept in an attribute",
        """
        def beep(): pass
        class Horn:
            def __init__(self): self.sound = beep
            def press(self): self.sound()
        """,
        ".Horn.press: .beep",
    ),
    Case(
        "a function as a class attribute",
        """
        def beep(x): pass
        class Horn:
            sound = staticmethod(beep)
        Horn.sound()
        """,
        "main: .beep <builtin>.staticmethod",
    ),
    Case(
        "an attribute that is set from outside",
        """
        def f(): pass
        class Box: pass
        def use(box: Box): box.job()
        box = Box()
        box.job = f
        use(box)
        """,
        """
        main: .use
        .use: .f
        """,
    ),
    Case(
        "a class attribute that is another class",
        """
        class Reader:
            def read(self): pass
        class Shop:
            reader = Reader
            def open(self): return self.reader()
        Shop().open().read()
        """,
        "main: .Shop.open .Reader.read",
    ),
    Case(
        "nested classes",
        """
        class Outer:
            class Inner:
                def m(self): pass
        Outer.Inner().m()
        """,
        "main: .Outer.Inner.m",
    ),
    Case(
        "a class method that makes its class",
        """
        class A:
            @classmethod
            def make(cls): return cls()
            def m(self): pass
        A.make().m()
        """,
        "main: .A.make .A.m",
    ),
    Case(
        "a method given back",
        """
        class A:
            def pick(self): return self.work
            def work(self): pass
        A().pick()()
        """,
        "main: .A.pick .A.work",
    ),
    Case(
        "an object given back",
        """
        class A:
            def m(self): pass
        def make(): return A()
        make().m()
        """,
        "main: .make .A.m",
    ),
    Case(
        "methods that give back self",
        """
        class Q:
            def where(self): return self
            def all(self): return self
        Q().where().all()
        """,
        "main: .Q.where .Q.all",
    ),
    Case(
        "an object that is called",
        "class A:\n    def __call__(self): pass\na = A()\na()\n",
        "main: .A.__call__",
    ),
    Case(
        "a property gives an object",
        """
        class Wheel:
            def turn(self): pass
        class Car:
            @property
            def wheel(self): return Wheel()
        def f(car: Car): car.wheel.turn()
        """,
        """
        .f: .Wheel.turn
        """,
    ),
    Case(
        "the annotation of an attribute",
        """
        class Wheel:
            def turn(self): pass
        class Car:
            wheel: Wheel
            def go(self): self.wheel.turn()
        """,
        ".Car.go: .Wheel.turn",
    ),
    Case(
        "the annotation of a result",
        """
        class A:
            def m(self): pass
        def f() -> 'A': return table[0]
        table = []
        f().m()
        """,
        "main: .f .A.m",
    ),
    Case(
        "an optional annotation",
        """
        from typing import Optional
        class A:
            def m(self): pass
        def f(a: Optional[A] = None):
            if a: a.m()
        """,
        ".f: .A.m",
    ),
    Case(
        "a factory by a class's name",
        """
        class A:
            def m(self): pass
        class B:
            def m(self): pass
        def make(flag): return A() if flag else B()
        make(1).m()
        """,
        "main: .make .A.m .B.m",
        "main main.A.m method likely",
    ),
    Case(
        "the class body runs where it stands",
        "def f(): pass\nclass A:\n    x = f()\n",
        "main: .f",
    ),
    Case(
        "a method that hands on its own method",
        """
        class A:
            def run(self): each(self.one)
            def one(self): pass
        def each(f): f()
        A().run()
        """,
        """
        main: .A.run
        .A.run: .each
        .each: .A.one
        """,
    ),
    Case(
        "delegation by __getattr__",
        """
        class Engine:
            def step(self): pass
        class Proxy:
            def __init__(self): self.inner = Engine()
            def __getattr__(self, name): return getattr(self.inner, name)
        Proxy().step()
        """,
        """
        main: .Proxy.__init__ .Engine.step
        .Proxy.__getattr__: <builtin>.getattr
        """,
        "main main.Engine.step method certain",
    ),
    Case(
        "two objects of two classes under one name in two functions",
        """
        class A:
            def m(self): pass
        class B:
            def m(self): pass
        def f():
            x = A()
            x.m()
        def g():
            x = B()
            x.m()
        """,
        """
        .f: .A.m
        .g: .B.m
        """,
    ),
)
