"""What is named in a source tree, and what it is called instead."""

import ast
import hashlib
import keyword
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath

KEPT = frozenset(Path(__file__).with_name("kept_names.txt").read_text(encoding="utf-8").split())
HOLDING = frozenset({"register_buffer", "register_parameter", "register_module", "attrgetter", "methodcaller"})
"""Methods of torch, and functions of Python, that take the name of a field as a string."""
_CONSONANTS, _VOWELS = "bfgjkvwxz", "aiou"
"""Of these no English word is made that an engine would use."""


@dataclass(eq=False)
class Facts:
    """What one file says of names."""

    imports: list[tuple[int, str, str, str]] = field(default_factory=list)
    """Leading dots, module, name ('' for a module) and what is bound."""
    bound: set[str] = field(default_factory=set)
    fields: list[tuple[str, str]] = field(default_factory=list)
    """Names that are assigned behind a dot, each with what stands first before it."""
    mentioned: set[str] = field(default_factory=set)
    functions: set[str] = field(default_factory=set)
    classes: set[str] = field(default_factory=set)
    operators: set[str] = field(default_factory=set)

    def read(self, tree: ast.Module) -> None:
        """Take note of every node of a file."""
        for node in ast.walk(tree):
            reader = _READERS.get(node.__class__)
            if reader is not None:
                reader(self, node)

    def function(self, node: ast.FunctionDef) -> None:
        self.functions.add(node.name)
        self.bound.add(node.name)

    def a_class(self, node: ast.ClassDef) -> None:
        self.classes.add(node.name)
        self.bound.add(node.name)

    def argument(self, node: ast.arg) -> None:
        self.bound.add(node.arg)

    def name(self, node: ast.Name) -> None:
        (self.mentioned if node.ctx.__class__ is ast.Load else self.bound).add(node.id)

    def attribute(self, node: ast.Attribute) -> None:
        self.mentioned.add(node.attr)
        if node.ctx.__class__ is ast.Store:
            self.fields.append((dotted(node).partition(".")[0], node.attr))
        elif node.value.__class__ is ast.Attribute and dotted(node).startswith("torch.ops."):
            self.operators.add(node.attr)

    def keyword(self, node: ast.keyword) -> None:
        if node.arg is not None:
            self.mentioned.add(node.arg)

    def modules(self, node: ast.Import) -> None:
        for each in node.names:
            self.imports.append((0, each.name, "", each.asname or each.name.partition(".")[0]))
            self.alias(each)

    def taken(self, node: ast.ImportFrom) -> None:
        for each in node.names:
            self.imports.append((node.level, node.module or "", each.name, each.asname or each.name))
            self.alias(each)

    def alias(self, node: ast.alias) -> None:
        self.mentioned.update(node.name.split("."))
        if node.asname is not None:
            self.bound.add(node.asname)

    def captured(self, node: ast.ExceptHandler | ast.MatchAs | ast.MatchStar) -> None:
        if node.name is not None:
            self.bound.add(node.name)

    def rest(self, node: ast.MatchMapping) -> None:
        if node.rest is not None:
            self.bound.add(node.rest)

    def call(self, node: ast.Call) -> None:
        match node:
            case ast.Call(func=ast.Attribute(attr=last), args=[ast.Constant(value=str() as name), *_]):
                if last in HOLDING:
                    self.bound.update(name.split("."))


_READERS: Mapping[type[ast.AST], Callable[..., None]] = {
    ast.FunctionDef: Facts.function,
    ast.AsyncFunctionDef: Facts.function,
    ast.ClassDef: Facts.a_class,
    ast.arg: Facts.argument,
    ast.Name: Facts.name,
    ast.Attribute: Facts.attribute,
    ast.keyword: Facts.keyword,
    ast.Import: Facts.modules,
    ast.ImportFrom: Facts.taken,
    ast.ExceptHandler: Facts.captured,
    ast.MatchAs: Facts.captured,
    ast.MatchStar: Facts.captured,
    ast.MatchMapping: Facts.rest,
    ast.Call: Facts.call,
}


def parsed(data: bytes) -> ast.Module:
    """The syntax tree of a stranger's file, whose odd escapes are its own affair.

    Raises:
        SyntaxError: it is not Python.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(data)


class Naming:
    """The new names of a tree.

    Args:
        files: The tree's files by path, relative to the folder that holds its packages.
        seed: Another seed gives other names.
    """

    def __init__(self, files: Mapping[str, bytes], seed: str) -> None:
        self._seed = seed
        self.facts: dict[str, Facts] = {}
        for path, data in files.items():
            if path.endswith(".py"):
                self.facts[path] = Facts()
                self.facts[path].read(parsed(data))
        self.packages = frozenset(PurePosixPath(path).parts[0].removesuffix(".py") for path in self.facts)
        self._folders = {str(folder) for path in self.facts for folder in PurePosixPath(path).parents}
        self._modules = {module_of(path): path for path in self.facts}
        self.operators = frozenset().union(*(each.operators for each in self.facts.values()))
        self.functions = frozenset().union(*(each.functions for each in self.facts.values()))
        self.classes: dict[str, set[str]] = {}
        for path, each in self.facts.items():
            self.classes.setdefault(PurePosixPath(path).stem, set()).update(each.classes)

    def is_own(self, level: int, module: str) -> bool:
        """Whether an import is one of the tree's own modules."""
        return level > 0 or module.partition(".")[0] in self.packages

    @cached_property
    def outside(self) -> Mapping[str, frozenset[str]]:
        """What each file calls things of other distributions, those among them that a module of the tree hands on."""
        found = {
            path: {alias for level, module, _, alias in each.imports if not self.is_own(level, module)}
            for path, each in self.facts.items()
        }
        handed = {path: list(self._handed(path)) for path in self.facts}
        changed = True
        while changed:
            changed = False
            for path, items in handed.items():
                for module, name, alias in items:
                    if name in found[module] and alias not in found[path]:
                        found[path].add(alias)
                        changed = True
        return {path: frozenset(names) for path, names in found.items()}

    def _handed(self, path: str) -> Iterator[tuple[str, str, str]]:
        """What a file takes from other modules of the tree: their file, the name there, and the name here."""
        around = PurePosixPath(path).parent.parts
        for level, module, name, alias in self.facts[path].imports:
            base = around[: len(around) - level + 1] if level else ()
            file = self._modules.get(".".join((*base, *module.split("."))).rstrip("."))
            if file is not None and name:
                yield file, name, alias

    @cached_property
    def names(self) -> Mapping[str, str]:
        """The new names by the old ones."""
        bound: set[str] = set()
        taken = set(KEPT)
        for path, facts in self.facts.items():
            outside = self.outside[path]
            bound |= facts.bound
            bound.update(name for root, name in facts.fields if root not in outside)
            bound.update(PurePosixPath(path).with_suffix("").parts)
            taken |= facts.mentioned
        taken |= bound
        found: dict[str, str] = {}
        for name in sorted(bound - KEPT):
            if name.strip("_") and not (name.startswith("__") and name.endswith("__")):
                found[name] = new = self._made(name, taken)
                taken.add(new)
        return found

    def _made(self, name: str, taken: set[str]) -> str:
        """A word that nobody has used, written as the old one: in capitals, as a class, with underscores before it."""
        core = name.lstrip("_")
        before = name[: len(name) - len(core)]
        turn = 0
        while True:
            digest = hashlib.blake2b(f"{self._seed} {turn} {name}".encode(), digest_size=8).digest()
            word = "".join(_CONSONANTS[a % 9] + _VOWELS[a // 9 % 4] for a in digest[: 3 + turn // 4])
            word = word.upper() if core.isupper() else word.title() if core[:1].isupper() else word
            if f"{before}{word}" not in taken and not keyword.iskeyword(word):
                return f"{before}{word}"
            turn += 1

    def path(self, path: str) -> str:
        """The new path of a file: folders that hold Python are renamed, others are what C++ names in its includes."""
        file = PurePosixPath(path)
        parts = [
            self.names.get(folder.name, folder.name) if str(folder) in self._folders else folder.name
            for folder in reversed(file.parents[:-1])
        ]
        stem = self.names.get(file.stem, file.stem) if path in self.facts else file.stem
        return "/".join((*parts, f"{stem}{file.suffix}"))


def dotted(node: ast.AST) -> str:
    """`a.b.c` of what is written so; '' for the part before what is not a name."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    parts.append(node.id if isinstance(node, ast.Name) else "")
    return ".".join(reversed(parts))


def module_of(path: str) -> str:
    """The dotted name under which a file is imported."""
    parts = PurePosixPath(path).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
