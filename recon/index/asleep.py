"""Code under a flag of a module that is one constant for good: `USE_TREE = False`, and nothing ever sets it."""

import ast
import re
from collections.abc import Callable, Mapping
from pathlib import PurePosixPath

from recon.index.conditions import conditions_at
from recon.index.records import Outline
from recon.index.tables import is_python

_TESTED = re.compile(rb"\bif[ \t]+(?:not[ \t]+)?([A-Za-z_]\w*)[ \t]*:")


class Asleep:
    """What never runs, by the flags of modules; a file is read when it is asked about."""

    def __init__(self, files: Mapping[str, Outline], source: Callable[[str], bytes]) -> None:
        self._files = files
        self._source = source
        self._trees: dict[str, ast.Module | None] = {}
        self._constants: dict[tuple[str, str], bool | None] = {}

    def flag_at(self, path: str, line: int) -> str:
        """The flag because of which a line never runs; '' where none can be told."""
        if not self._tested(path):
            return ""
        tree = self._parsed(path)
        for condition in conditions_at(tree, line) if tree is not None else ():
            test, holds = condition.test, condition.holds
            while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
                test, holds = test.operand, not holds
            if isinstance(test, ast.Name) and self.constant(path, test.id) is (not holds):
                return test.id
        return ""

    def constant(self, path: str, name: str) -> bool | None:
        """What a name of a module, or one that it imports, is for good; None where it may be anything."""
        key = path, name
        if key not in self._constants:
            self._constants[key] = None  # whoever imports from one another
            self._constants[key] = self._found(path, name)
        return self._constants[key]

    def _found(self, path: str, name: str) -> bool | None:
        tree = self._parsed(path)
        value = _only_value(tree, name) if tree is not None else None
        if value is not None:
            return None if any(self._sets(other, path, name) for other in self._files) else value
        for item in self._files[path].imports:
            if item.alias == name and item.name and item.scope == 0:
                tail = item.module.rpartition(".")[2]
                homes = [each for each in self._files if is_python(each) and _stem(each) == tail and each != path]
                values = {self.constant(home, item.name) for home in homes}
                return values.pop() if len(values) == 1 else None
        return None

    def _tested(self, path: str) -> bool:
        """Whether a file tests a name that could be a flag of its own, or one that it imports."""
        source = self._source(path)
        tested = set(_TESTED.findall(source))
        given = (re.search(rb"^%b\b[^=\n]*=(?!=)" % name, source, re.MULTILINE) for name in tested)
        return any(given) or any(item.name and item.alias.encode() in tested for item in self._files[path].imports)

    def _parsed(self, path: str) -> ast.Module | None:
        if path not in self._trees:
            try:
                self._trees[path] = ast.parse(self._source(path))
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                self._trees[path] = None
        return self._trees[path]

    def _sets(self, other: str, path: str, name: str) -> bool:
        """Whether a file may set a name of a module: as a field of something, or by a string that names it."""
        if not is_python(other):
            return False
        imported = (each for item in self._files[other].imports for each in (item.module.rpartition(".")[2], item.name))
        if other != path and _stem(path) not in imported:
            return False
        word = re.escape(name).encode()
        sets = rb"\.%b[ \t]*(?::[^=\n]*)?=(?!=)|['\"](?:[\w.]*\.)?%b['\"]" % (word, word)
        return re.search(sets, self._source(other)) is not None


def _only_value(tree: ast.Module, name: str) -> bool | None:
    """The constant that a module gives a name, if no other statement gives it anything."""
    found = [
        each.value for each in tree.body if isinstance(each, ast.Assign | ast.AnnAssign) and name in _targets(each)
    ]
    if len(found) != 1 or not isinstance(found[0], ast.Constant) or isinstance(found[0].value, str | bytes):
        return None
    given = sum(_gives(each, name) for each in ast.walk(tree))
    return bool(found[0].value) if given == 1 else None


def _gives(node: ast.AST, name: str) -> bool:
    """Whether a node gives a name a value, or says that a function may."""
    match node:
        case ast.Name(id=found, ctx=ast.Store() | ast.Del()) | ast.arg(arg=found) | ast.alias(asname=found):
            return found == name
        case ast.Global(names=names):
            return name in names
    return False


def _targets(node: ast.Assign | ast.AnnAssign) -> list[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return [each.id for each in targets if isinstance(each, ast.Name)]


def _stem(path: str) -> str:
    """The name under which a module is imported."""
    file = PurePosixPath(path)
    return file.parent.name if file.stem == "__init__" else file.stem
