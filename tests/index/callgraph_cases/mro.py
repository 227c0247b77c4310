"""Inheritance: which definition runs."""

from tests.index.callgraph_cases.case import Case

CASES = (
    Case("an inherited method", "class A:\n    def m(self): pass\nclass B(A): pass\nB().m()\n", "main: .A.m"),
    Case(
        "an own method", "class A:\n    def m(self): pass\nclass B(A):\n    def m(self): pass\nB().m()\n", "main: .B.m"
    ),
    Case(
        "super",
        "class A:\n    def m(self): pass\nclass B(A):\n    def m(self): super().m()\n",
        ".B.m: <builtin>.super .A.m",
    ),
    Case(
        "super with its arguments written out",
        "class A:\n    def m(self): pass\nclass B(A):\n    def m(self): super(B, self).m()\n",
        ".B.m: <builtin>.super .A.m",
    ),
    Case(
        "a base by its name",
        "class A:\n    def m(self): pass\nclass B(A):\n    def m(self): A.m(self)\n",
        ".B.m: .A.m",
    ),
    Case(
        "the first base first",
        """
        class A:
            def m(self): pass
        class B:
            def m(self): pass
            def n(self): pass
        class C(A, B): pass
        C().m(); C().n()
        """,
        "main: .A.m .B.n",
    ),
    Case(
        "a diamond",
        """
        class Top:
            def m(self): pass
        class Left(Top): pass
        class Right(Top):
            def m(self): pass
        class Bottom(Left, Right): pass
        Bottom().m()
        """,
        "main: .Right.m",
    ),
    Case(
        "super skips what defines nothing",
        """
        class A:
            def m(self): pass
        class B(A): pass
        class C(B):
            def m(self): super().m()
        """,
        ".C.m: <builtin>.super .A.m",
    ),
    Case(
        "a base calls what subclasses define",
        """
        class Base:
            def run(self): self.step()
        class One(Base):
            def step(self): pass
        class Two(Base):
            def step(self): pass
        """,
        ".Base.run: .One.step .Two.step",
        "main.Base.run main.One.step method likely",
    ),
    Case(
        "a base calls its own method, or that of a subclass",
        """
        class Base:
            def run(self): self.step()
            def step(self): pass
        class One(Base):
            def step(self): pass
        """,
        ".Base.run: .Base.step .One.step",
        "main.Base.run main.Base.step method certain\nmain.Base.run main.One.step override likely",
    ),
    Case(
        "an object that was made here is of no subclass",
        """
        class Base:
            def step(self): pass
        class One(Base):
            def step(self): pass
        Base().step()
        """,
        "main: .Base.step",
    ),
    Case(
        "a parameter may be of a subclass",
        """
        class Base:
            def step(self): pass
        class One(Base):
            def step(self): pass
        def f(b: Base): b.step()
        """,
        ".f: .Base.step .One.step",
    ),
    Case(
        "an attribute that a base sets",
        """
        class Wheel:
            def turn(self): pass
        class Base:
            def __init__(self): self.wheel = Wheel()
        class Car(Base):
            def go(self): self.wheel.turn()
        """,
        ".Car.go: .Wheel.turn",
    ),
    Case(
        "an attribute that only subclasses set",
        """
        class Wheel:
            def turn(self): pass
        class Base:
            def go(self): self.wheel.turn()
        class Car(Base):
            def __init__(self): self.wheel = Wheel()
        """,
        ".Base.go: .Wheel.turn",
    ),
    Case(
        "a generic base",
        """
        from typing import Generic, TypeVar
        T = TypeVar('T')
        class A(Generic[T]):
            def m(self): pass
        class B(A[int]): pass
        B().m()
        """,
        "main: .A.m typing.TypeVar",
    ),
    Case(
        "a base in another module",
        """
        from base import A
        class B(A): pass
        B().m()
        # base.py
        class A:
            def m(self): self.n()
            def n(self): pass
        """,
        """
        main: base.A.m
        base.A.m: base.A.n
        """,
    ),
    Case(
        "mixins call one another through self",
        """
        class Load:
            def load(self): self.parse()
        class Parse:
            def parse(self): pass
        class Both(Load, Parse): pass
        Both().load()
        """,
        """
        main: .Load.load
        .Load.load: .Parse.parse
        """,
    ),
)
