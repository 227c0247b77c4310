"""Functions and objects that are handed to parameters."""

from tests.index.callgraph_cases.case import Case

CASES = (
    Case(
        "a function by position",
        """
        def apply(step): step()
        def tick(): pass
        apply(tick)
        """,
        """
        main: .apply
        .apply: .tick
        """,
        "main.apply main.tick call certain",
    ),
    Case(
        "a function by keyword",
        """
        def apply(count, step=None): step(count)
        def tick(n): pass
        apply(3, step=tick)
        """,
        """
        main: .apply
        .apply: .tick
        """,
    ),
    Case(
        "keywords in another order",
        """
        def both(first, second):
            first()
            second.go()
        class Car:
            def go(self): pass
        def start(): pass
        both(second=Car(), first=start)
        """,
        """
        main: .both
        .both: .start .Car.go
        """,
    ),
    Case(
        "through two hands",
        """
        def outer(job): middle(job)
        def middle(task): inner(task=task)
        def inner(*, task): task()
        def work(): pass
        outer(work)
        """,
        """
        main: .outer
        .outer: .middle
        .middle: .inner
        .inner: .work
        """,
        "main.inner main.work call certain",
    ),
    Case(
        "two callers hand over two functions",
        """
        def run(job): job()
        def read(): run(load)
        def write(): run(save)
        def load(): pass
        def save(): pass
        read(); write()
        """,
        """
        main: .read .write
        .read: .run
        .write: .run
        .run: .load .save
        """,
    ),
    Case(
        "the rest of the arguments",
        """
        def every(*jobs):
            for job in jobs: job()
        def a(): pass
        def b(): pass
        every(a, b)
        """,
        """
        main: .every
        .every: .a .b
        """,
    ),
    Case(
        "only the rest goes to the rest",
        """
        def each(first, *others):
            for other in others: other()
        def a(): pass
        def b(): pass
        each(a, b)
        """,
        """
        main: .each
        .each: .b
        """,
    ),
    Case(
        "keywords that no parameter takes",
        """
        def open_all(**hooks):
            hooks['ready']()
        def on_ready(): pass
        open_all(ready=on_ready)
        """,
        """
        main: .open_all
        .open_all: .on_ready
        """,
    ),
    Case(
        "a default that is a function",
        """
        def plain(): pass
        def show(render=plain): render()
        show()
        """,
        """
        main: .show
        .show: .plain
        """,
        "main.show main.plain call likely",
    ),
    Case(
        "a result that is handed on",
        """
        def make(): return made
        def made(): pass
        def use(it): it()
        use(make())
        """,
        """
        main: .use .make
        .use: .made
        """,
    ),
    Case(
        "an object, by the class of what is handed over",
        """
        class Tank:
            def fill(self): pass
        class Cup:
            def fill(self): pass
        def pour(into): into.fill()
        pour(Tank())
        """,
        """
        main: .pour
        .pour: .Tank.fill
        """,
    ),
    Case(
        "an annotation says more than a name",
        """
        class Tank:
            def fill(self): pass
        class Cup:
            def fill(self): pass
        def pour(into: Cup): into.fill()
        """,
        """
        .pour: .Cup.fill
        """,
    ),
    Case(
        "a bound method",
        """
        class Bell:
            def ring(self): self.sound()
            def sound(self): pass
        def later(what): what()
        bell = Bell()
        later(bell.ring)
        """,
        """
        main: .later
        .later: .Bell.ring
        .Bell.ring: .Bell.sound
        """,
    ),
    Case(
        "a class that the callee makes",
        """
        class Node:
            def __init__(self): pass
            def walk(self): pass
        def build(kind):
            node = kind()
            node.walk()
        build(Node)
        """,
        """
        main: .build
        .build: .Node.__init__ .Node.walk
        """,
    ),
    Case(
        "to a constructor, kept, and called later",
        """
        class Timer:
            def __init__(self, action): self.action = action
            def fire(self): self.action()
        def beep(): pass
        Timer(beep).fire()
        """,
        """
        main: .Timer.__init__ .Timer.fire
        .Timer.fire: .beep
        """,
    ),
    Case(
        "a function that calls itself with another",
        """
        def turn(step, left):
            step()
            turn(other, left - 1)
        def first(): pass
        def other(): pass
        turn(first, 3)
        """,
        """
        main: .turn
        .turn: .first .other .turn
        """,
    ),
    Case(
        "a parameter of an inner function hides that of the outer one",
        """
        def outer(f):
            def inner(f): f()
            inner(b)
        def a(): pass
        def b(): pass
        outer(a)
        """,
        """
        main: .outer
        .outer: .outer.inner
        .outer.inner: .b
        """,
    ),
    Case(
        "a static method takes its first argument",
        """
        class Tool:
            @staticmethod
            def use(f): f()
        def job(): pass
        Tool.use(job)
        """,
        """
        main: .Tool.use
        .Tool.use: .job
        """,
    ),
    Case(
        "a method called through its class is given its object first",
        """
        class Tool:
            def use(self, f): f()
        def job(): pass
        Tool.use(Tool(), job)
        """,
        """
        main: .Tool.use
        .Tool.use: .job
        """,
    ),
)
