"""Imports, names from outside, definitions under conditions, patches."""

from tests.index.callgraph_cases.case import Case

IMPORTS = (
    Case("a module", "import m\nm.f()\n# m.py\ndef f(): pass\n", "main: m.f"),
    Case("a function", "from m import f\nf()\n# m.py\ndef f(): pass\n", "main: m.f"),
    Case(
        "by another name",
        "from m import f as g\nimport m as n\ng()\nn.h()\n# m.py\ndef f(): pass\ndef h(): pass\n",
        "main: m.f m.h",
    ),
    Case("a submodule", "import p.q\np.q.f()\n# p/__init__.py\n# p/q.py\ndef f(): pass\n", "main: p.q.f"),
    Case(
        "a module out of a package", "from p import q\nq.f()\n# p/__init__.py\n# p/q.py\ndef f(): pass\n", "main: p.q.f"
    ),
    Case(
        "what a package hands on",
        "from p import f\nf()\n# p/__init__.py\nfrom .q import f\n# p/q.py\ndef f(): pass\n",
        "main: p.q.f",
    ),
    Case("all names", "from m import *\nf()\n# m.py\ndef f(): pass\n", "main: m.f"),
    Case(
        "all names, handed on",
        "from p import *\nf()\n# p/__init__.py\nfrom .q import *\n# p/q.py\ndef f(): pass\n",
        "main: p.q.f",
    ),
    Case(
        "from beside",
        "import p.a\n# p/__init__.py\n# p/a.py\nfrom . import b\n"
        "from .b import g\nb.f()\ng()\n# p/b.py\ndef f(): pass\ndef g(): pass\n",
        "p.a: p.b.f p.b.g",
    ),
    Case(
        "from above",
        "# p/__init__.py\n# p/q/__init__.py\n# p/q/a.py\nfrom ..b import f\nf()\n# p/b.py\ndef f(): pass\n",
        "p.q.a: p.b.f",
    ),
    Case(
        "a chain",
        "from a import f\nf()\n# a.py\nfrom b import f\n# b.py\nfrom c import g as f\n# c.py\ndef g(): pass\n",
        "main: c.g",
    ),
    Case(
        "in a circle",
        "from a import f\nf()\n# a.py\nimport b\ndef f(): b.g()\n# b.py\nimport a\ndef g(): a.f()\n",
        "main: a.f\na.f: b.g\nb.g: a.f",
    ),
    Case("in a function", "def use():\n    from m import f\n    f()\n# m.py\ndef f(): pass\n", ".use: m.f"),
    Case("a module that is only imported", "import m\n# m.py\ndef f(): pass\nf()\n", "m: m.f"),
    Case(
        "an object of a module",
        "import m\nm.box.go()\n# m.py\nclass Box:\n    def go(self): pass\nbox = Box()\n",
        "main: m.Box.go",
    ),
    Case(
        "a module by a string",
        "from importlib import import_module\nm = import_module('p.q')\n"
        "m.f()\n# p/__init__.py\n# p/q.py\ndef f(): pass\n",
        "main: importlib.import_module p.q.f",
        "main p.q.f call likely",
    ),
    Case("a module in a variable", "import m\nx = m\nx.f()\n# m.py\ndef f(): pass\n", "main: m.f"),
    Case(
        "a module that is handed over",
        "import m\ndef use(x): x.f()\nuse(m)\n# m.py\ndef f(): pass\n",
        "main: .use\n.use: m.f",
    ),
)
OUTSIDE = (
    Case("a function", "from lib import f\nf()\n", "main: lib.f"),
    Case("by another name", "import lib.sub as s\ns.f()\n", "main: lib.sub.f"),
    Case("a method of an object", "from lib import A\na = A()\na.m()\n", "main: lib.A lib.A.m"),
    Case(
        "a method that is handed over",
        "from lib import A\ndef use(f): f()\nuse(A().m)\n",
        "main: .use lib.A\n.use: lib.A.m",
    ),
    Case(
        "a method of a base",
        "from lib import Base\nclass A(Base):\n    def m(self): self.n()\nA().m()\n",
        "main: .A.m lib.Base.__init__\n.A.m: lib.Base.n",
    ),
    Case(
        "a function that is handed out is likely called",
        "import lib\ndef f(): pass\nlib.run(f)\n",
        "main: lib.run .f",
        "main main.f argument likely",
    ),
    Case(
        "a thread",
        "import threading\nclass A:\n    def work(self): pass\n"
        "    def start(self): threading.Thread(target=self.work).start()\n",
        ".A.start: threading.Thread threading.Thread.start .A.work",
    ),
    Case("a decorator", "import lib\n@lib.cached\ndef f(): pass\nf()\n", "main: lib.cached .f"),
)
CONDITIONS = (
    Case(
        "one import or another",
        "try: from fast import f\nexcept ImportError: from slow import f\n"
        "f()\n# fast.py\ndef f(): pass\n# slow.py\ndef f(): pass\n",
        "main: fast.f slow.f",
        "main fast.f call likely\nmain slow.f call likely",
    ),
    Case(
        "by platform",
        "import sys\nif sys.platform == 'linux':\n    from a import f\nelse:\n"
        "    from b import f\nf()\n# a.py\ndef f(): pass\n# b.py\ndef f(): pass\n",
        "main: a.f b.f",
        "main a.f call likely",
    ),
    Case(
        "two definitions",
        "if input():\n    def f(): pass\nelse:\n    f = len\nf()\n",
        "main: .f <builtin>.input",
        "main main.f call likely",
    ),
    Case("a definition that replaces another", "def f(): pass\ndef g(): pass\nf = g\nf()\n", "main: .g"),
    Case(
        "a class under a condition",
        "if 1:\n    class A:\n        def m(self): pass\nelse:\n    class A:\n        def n(self): pass\nA().m()\n",
        "main: .A.m",
    ),
    Case(
        "a fallback for what is not installed",
        "try: import lib\nexcept ImportError: lib = None\ndef f(): lib.g()\n",
        ".f: lib.g",
    ),
)
PATCHES = (
    Case(
        "a function of a module",
        "import m\ndef mine(): pass\nm.f = mine\n# m.py\ndef f(): pass\ndef use(): f()\n",
        "m.use: m.f .mine",
        "m.use main.mine call likely",
    ),
    Case(
        "a method of a class",
        "from m import A\ndef mine(self): pass\nA.go = mine\n"
        "def use(a: A): a.go()\n# m.py\nclass A:\n    def go(self): pass\n",
        ".use: m.A.go .mine",
    ),
    Case(
        "a name that a module did not have",
        "import m\ndef mine(): pass\nm.extra = mine\nm.extra()\n# m.py\n",
        "main: .mine",
    ),
    Case(
        "in a function",
        "import m\ndef mine(): pass\ndef patch(): m.f = mine\n# m.py\ndef f(): pass\ndef use(): f()\n",
        "m.use: m.f .mine",
    ),
)
CASES = IMPORTS + OUTSIDE + CONDITIONS + PATCHES
