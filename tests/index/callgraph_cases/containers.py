"""Dictionaries, lists and tuples that hold functions or objects."""

from tests.index.callgraph_cases.case import Case

CASES = (
    Case("a key of a dictionary", "def a(): pass\ndef b(): pass\nd = {'x': a, 'y': b}\nd['y']()\n", "main: .b"),
    Case(
        "numbers and strings are different keys",
        "def a(): pass\ndef b(): pass\nd = {7: a, '7': b}\nd[7]()\n",
        "main: .a",
    ),
    Case("a key that is added", "def a(): pass\nd = {}\nd['x'] = a\nd['x']()\n", "main: .a"),
    Case("a key that is replaced", "def a(): pass\ndef b(): pass\nd = {'x': a}\nd['x'] = b\nd['x']()\n", "main: .b"),
    Case(
        "a key that is replaced in a branch",
        "def a(): pass\ndef b(): pass\nd = {'x': a}\nif d: d['x'] = b\nd['x']()\n",
        "main: .a .b",
    ),
    Case(
        "an unknown key means any entry",
        "def a(): pass\ndef b(): pass\nd = {'x': a, 'y': b}\nd[input()]()\n",
        "main: .a .b <builtin>.input",
    ),
    Case(
        "what is added under an unknown key is under every one",
        "def a(): pass\nd = {}\nfor k in 'pq': d[k] = a\nd['x']()\n",
        "main: .a",
    ),
    Case(
        "a dictionary in a dictionary",
        "def a(): pass\ndef b(): pass\nd = {'x': {'y': a, 'z': b}}\nd['x']['z']()\n",
        "main: .b",
    ),
    Case("a list in a dictionary", "def a(): pass\ndef b(): pass\nd = {'x': [a, b]}\nd['x'][1]()\n", "main: .b"),
    Case("keywords of dict", "def a(): pass\ndef b(): pass\nd = dict(x=a, y=b)\nd['x']()\n", "main: .a <builtin>.dict"),
    Case("an alias of a dictionary", "def a(): pass\nd = {'x': a}\ne = d\ne['x']()\n", "main: .a"),
    Case(
        "update",
        "def a(): pass\ndef b(): pass\nd = {'x': a}\nd.update({'x': b})\nd['x']()\n",
        "main: .b <**PyDict**>.update",
    ),
    Case(
        "a dictionary that is handed over",
        """
        def a(): pass
        def b(): pass
        def use(table): table['y']()
        use({'x': a} if 0 else DEFAULT)
        DEFAULT = {'x': a, 'y': b}
        def main(): use(DEFAULT)
        """,
        """
        main: .use
        .main: .use
        .use: .b
        """,
    ),
    Case(
        "a dictionary that is given back",
        "def a(): pass\ndef make():\n    d = {'x': a}\n    return d\nmake()['x']()\n",
        "main: .make .a",
    ),
    Case(
        "a dictionary written out in the return",
        "def a(): pass\ndef b(): pass\ndef make(): return {'x': a, 'y': b}\nt = make()\nt['y']()\n",
        "main: .make .b",
    ),
    Case(
        "a dictionary in an attribute",
        """
        class Menu:
            def __init__(self): self.items = {'a': self.add, 'b': self.drop}
            def choose(self): self.items['b']()
            def add(self): pass
            def drop(self): pass
        """,
        ".Menu.choose: .Menu.drop",
    ),
    Case(
        "a dictionary in a class",
        """
        def a(): pass
        class Menu:
            TABLE = {'a': a}
            def choose(self): self.TABLE['a']()
        """,
        ".Menu.choose: .a",
    ),
    Case(
        "a table in another module",
        """
        import tables
        from tables import TABLE
        TABLE['x']()
        tables.TABLE['y']()
        # tables.py
        def a(): pass
        def b(): pass
        TABLE = {'x': a, 'y': b}
        """,
        "main: tables.a tables.b",
    ),
    Case(
        "the values of a dictionary",
        "def a(): pass\ndef b(): pass\nd = {'x': a, 'y': b}\nfor f in d.values(): f()\n",
        "main: .a .b <**PyDict**>.values",
    ),
    Case(
        "the items of a dictionary",
        "def a(): pass\nd = {'x': a}\nfor k, f in d.items(): f()\n",
        "main: .a <**PyDict**>.items",
    ),
    Case(
        "classes by name",
        "class A:\n    def m(self): pass\nclass B:\n    def m(self): pass\nd = {'a': A, 'b': B}\nd['b']().m()\n",
        "main: .B.m",
    ),
    Case("a place in a list", "def a(): pass\ndef b(): pass\nx = [a, b]\nx[1]()\n", "main: .b"),
    Case("a place in a tuple", "def a(): pass\ndef b(): pass\nx = (a, b)\nx[0]()\n", "main: .a"),
    Case("the last place", "def a(): pass\ndef b(): pass\nx = [a, b]\nx[-1]()\n", "main: .a .b"),
    Case("a place that is replaced", "def a(): pass\ndef b(): pass\nx = [a]\nx[0] = b\nx[0]()\n", "main: .b"),
    Case(
        "a part of a list",
        "def a(): pass\ndef b(): pass\ndef c(): pass\nx = [a, b, c]\ny = x[1:]\ny[1]()\n",
        "main: .c",
    ),
    Case("a list in a list", "def a(): pass\ndef b(): pass\nx = [a, [b, a]]\nx[1][0]()\n", "main: .b"),
    Case("append", "def a(): pass\nx = []\nx.append(a)\nx[0]()\n", "main: .a <**PyList**>.append"),
    Case(
        "every element",
        "def a(): pass\ndef b(): pass\nfor f in [a, b]: f()\n",
        "main: .a .b",
        "main main.a call certain",
    ),
    Case("every element of a named list", "def a(): pass\ndef b(): pass\nx = (a, b)\nfor f in x: f()\n", "main: .a .b"),
    Case("pairs in a list", "def a(): pass\ndef b(): pass\nfor n, f in [(1, a), (2, b)]: f()\n", "main: .a .b"),
    Case(
        "elements with their places", "def a(): pass\nfor i, f in enumerate([a]): f()\n", "main: .a <builtin>.enumerate"
    ),
    Case(
        "two lists at once",
        "def a(): pass\ndef b(): pass\nx = [a]\ny = [b]\nfor f, g in zip(x, y): g()\n",
        "main: .b <builtin>.zip",
    ),
    Case("the elements of a comprehension", "def a(): pass\nx = [f for f in (a,)]\nx[0]()\n", "main: .a"),
    Case("a call in a comprehension", "def a(n): return n\nx = {a(n) for n in (1, 2)}\n", "main: .a"),
    Case("the condition of a comprehension", "def a(n): return n\nx = [n for n in (1, 2) if a(n)]\n", "main: .a"),
    Case(
        "a comprehension in a comprehension",
        "def a(n): return n\ndef b(n): return n\nx = [a(n) for n in [b(m) for m in (1,)]]\n",
        "main: .a .b",
    ),
    Case(
        "objects in a list by annotation",
        """
        class Layer:
            def forward(self): pass
        class Net:
            layers: list[Layer]
            def run(self):
                for layer in self.layers: layer.forward()
        """,
        ".Net.run: .Layer.forward",
    ),
    Case(
        "objects that a comprehension makes",
        """
        class Layer:
            def forward(self): pass
        class Net:
            def __init__(self): self.layers = [Layer() for _ in (1, 2)]
            def run(self):
                for layer in self.layers: layer.forward()
        """,
        ".Net.run: .Layer.forward",
    ),
)
