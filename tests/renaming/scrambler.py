"""Renames everything that is named in a source tree, and nothing that it does.

One name gets one new name wherever it stands: as a function, a class, a parameter, a local, a field, a module or a
folder. So arguments follow their parameters and imports their modules without anybody resolving them. Comments and
docstrings go. What stays:

*   the names in kept_names.txt, names between double underscores, and whatever the tree only reads and never binds;
*   what comes from another distribution, where it is imported and behind a dot of it;
*   operators, as `torch.ops.ns.name`, and every file of C++ and CUDA: its names are what it exports;
*   strings, unless they name a definition: what `getattr` is asked for, `package.module.Class`, `("module", "Class")`,
    `__all__`, a method that is to be called elsewhere, an option that becomes a field, parameters that triton is told.
"""

import ast
import re
from collections.abc import Iterator, Mapping

from tests.renaming.naming import HOLDING, KEPT, Naming, dotted, parsed

_WORDS = re.compile(r"\.?[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*(?::[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)?\.?\Z")
_ASKING = frozenset({"getattr", "setattr", "hasattr", "delattr"})
_LISTS = frozenset({"__all__", "__slots__", "__match_args__"})
_TYPED = frozenset({"cast", "TypeVar", "ForwardRef"})
_FOLLOWING = frozenset({"partial", "replace", "partialmethod", "namedtuple"})
"""Functions from outside whose keywords are those of the tree's own."""
_NAMING = frozenset({"mutates_args", "donate_argnames", "static_argnames"})


def renamed(files: Mapping[str, bytes], seed: str) -> Iterator[tuple[str, bytes]]:
    """The files of a tree with other names.

    Args:
        files: The tree's files by path, relative to the folder that holds its packages.
        seed: Another seed gives other names.

    Raises:
        SyntaxError: a file is not Python, before or after.
    """
    naming = Naming(files, seed)
    for path, data in files.items():
        yield naming.path(path), source(naming, path, data) if path in naming.facts else data


def source(naming: Naming, path: str, data: bytes) -> bytes:
    """The renamed text of a Python file."""
    tree = _File(naming, naming.outside[path]).visit(parsed(data))
    text = (ast.unparse(ast.fix_missing_locations(tree)) + "\n").encode()
    parsed(text)
    return text


class _File(ast.NodeTransformer):
    """Renames one file."""

    def __init__(self, naming: Naming, outside: frozenset[str]) -> None:
        self._all = naming
        self._names = naming.names
        self._outside = outside
        self._answers = False
        """Whether the module answers for names that it does not bind, from a table of strings."""

    def _new(self, name: str) -> str:
        return self._names.get(name, name)

    # Definitions ------------------------------------------------------------------------------------------------------

    def visit_Module(self, node: ast.Module) -> ast.AST:
        self._answers = any(isinstance(each, ast.FunctionDef) and each.name == "__getattr__" for each in node.body)
        return self._undocumented(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.name = self._new(node.name)
        return self._undocumented(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        node.name = self._new(node.name)
        return self._undocumented(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        node.name = self._new(node.name)
        return self._undocumented(node)

    def _undocumented(self, node: ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> ast.AST:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.returns is not None:
            node.returns = self._annotation(node.returns)
        self.generic_visit(node)
        node.body = [each for each in node.body if not _is_text(each)]
        if not node.body and not isinstance(node, ast.Module):
            node.body = [ast.Pass()]
        return node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.arg = self._new(node.arg)
        if node.annotation is not None:
            node.annotation = self._annotation(node.annotation)
        return self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        node.annotation = self._annotation(node.annotation)
        return self.generic_visit(node)

    def _annotation(self, node: ast.expr) -> ast.expr:
        """An annotation whose strings are read as the types that they name."""
        return _Unquoted().visit(node)  # type: ignore[no-any-return]  # an expression stays one

    # Names ------------------------------------------------------------------------------------------------------------

    def visit_Name(self, node: ast.Name) -> ast.AST:
        node.id = self._new(node.id)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        text = dotted(node)
        if text.partition(".")[0] in self._outside or text.startswith("torch.ops."):
            root: ast.expr = node
            while isinstance(root, ast.Attribute):
                root = root.value
            self.visit(root)
            return node
        node.attr = self._new(node.attr)
        return self.generic_visit(node)

    def visit_Global(self, node: ast.Global) -> ast.AST:
        node.names = [self._new(name) for name in node.names]
        return node

    def visit_Nonlocal(self, node: ast.Nonlocal) -> ast.AST:
        node.names = [self._new(name) for name in node.names]
        return node

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.AST:
        node.name = self._new(node.name) if node.name else None
        return self.generic_visit(node)

    def visit_MatchAs(self, node: ast.MatchAs) -> ast.AST:
        node.name = self._new(node.name) if node.name else None
        return self.generic_visit(node)

    def visit_MatchStar(self, node: ast.MatchStar) -> ast.AST:
        node.name = self._new(node.name) if node.name else None
        return node

    def visit_MatchMapping(self, node: ast.MatchMapping) -> ast.AST:
        node.rest = self._new(node.rest) if node.rest else None
        return self.generic_visit(node)

    def visit_MatchClass(self, node: ast.MatchClass) -> ast.AST:
        node.kwd_attrs = [self._new(name) for name in node.kwd_attrs]
        return self.generic_visit(node)

    # Imports ----------------------------------------------------------------------------------------------------------

    def visit_Import(self, node: ast.Import) -> ast.AST:
        for each in node.names:
            first = each.name.partition(".")[0]
            if first in self._all.packages:
                each.name = self._dotted(each.name)
            elif each.asname is None and first in self._names:
                each.asname = self._new(first) if first == each.name else None
            if each.asname is not None:
                each.asname = self._new(each.asname)
        return node

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST:
        is_own = bool(node.level) or (node.module or "").partition(".")[0] in self._all.packages
        if is_own and node.module:
            node.module = self._dotted(node.module)
        for each in node.names:
            if is_own:
                each.name = self._new(each.name)
            elif each.asname is None and each.name in self._names:
                each.asname = each.name
            if each.asname is not None:
                each.asname = self._new(each.asname)
        return node

    # Calls and strings ------------------------------------------------------------------------------------------------

    def visit_Call(self, node: ast.Call) -> ast.AST:
        callee = dotted(node.func)
        root, last = callee.partition(".")[0], callee.rpartition(".")[2]
        own = last in self._all.functions or last not in KEPT or last in _FOLLOWING
        is_outside = root in self._outside and last not in _FOLLOWING
        for each in node.keywords:
            if each.arg in _NAMING:
                each.value = self._told(each.value)
            if each.arg is not None and not is_outside and own:
                each.arg = self._new(each.arg)
        if last in _ASKING and len(node.args) > 1:
            node.args[1] = self._told(node.args[1])
        elif last in HOLDING or (root == "triton" and root in self._outside):
            node.args = [self._told(each) for each in node.args]
            node.keywords = [ast.keyword(each.arg, self._told(each.value)) for each in node.keywords]
        elif last in _TYPED:
            node.args = [self._annotation(each) for each in node.args]
        elif last == "add_argument":
            self._option(node)
        elif root not in self._outside:
            node.args = [self._method(each) for each in node.args]
        return self.generic_visit(node)

    def _option(self, node: ast.Call) -> None:
        """An option keeps its name, and what it is read as follows the field."""
        texts = [each.value for each in node.args if isinstance(each, ast.Constant) and isinstance(each.value, str)]
        text = next((text for text in texts if text.startswith("--")), texts[0] if texts else "")
        name = text.lstrip("-").replace("-", "_")
        for each in node.keywords:
            if each.arg == "dest":
                each.value = self._told(each.value)
                return
        if name in self._names and text.startswith("-"):
            node.keywords.append(ast.keyword("dest", ast.Constant(self._new(name))))

    def _method(self, node: ast.expr) -> ast.expr:
        """A method of the tree that somebody is told by its name to call; no operator, no plain word."""
        match node:
            case ast.Constant(value=str() as text) if "_" in text.strip("_") and text not in self._all.operators:
                return ast.Constant(self._new(text)) if text in self._all.functions else node
        return node

    def _told(self, node: ast.expr) -> ast.expr:
        """An expression in which every string is a name."""
        for each in ast.walk(node):
            if isinstance(each, ast.Constant) and isinstance(each.value, str):
                each.value = ".".join(map(self._new, each.value.split(".")))
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        if any(isinstance(each, ast.Name) and each.id in _LISTS for each in node.targets):
            node.value = self._told(node.value)
        return self.generic_visit(node)

    def visit_Dict(self, node: ast.Dict) -> ast.AST:
        if self._answers:
            node.keys = [each if each is None else self._told(each) for each in node.keys]
        return self.generic_visit(node)

    def visit_Tuple(self, node: ast.Tuple) -> ast.AST:
        match node.elts:
            case [ast.Constant(value=str() as module), ast.Constant(value=str() as name)]:
                if name in self._all.classes.get(module.rpartition(".")[2], ()):
                    node.elts = [ast.Constant(self._dotted(module)), ast.Constant(self._new(name))]
        return self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if isinstance(node.value, str) and _WORDS.match(node.value) and ("." in node.value or ":" in node.value):
            first = re.split(r"[.:]", node.value)[0]
            if first in self._all.packages or (not first and ":" in node.value):
                node.value = "".join(map(self._new, re.split(r"([.:])", node.value)))
        return node

    def _dotted(self, text: str) -> str:
        return ".".join(map(self._new, text.split(".")))


class _Unquoted(ast.NodeTransformer):
    """Turns the strings of an annotation into the expressions that they are."""

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        return node if dotted(node.value).rpartition(".")[2] == "Literal" else self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if isinstance(node.value, str):
            try:
                return ast.parse(node.value.strip(), mode="eval").body
            except SyntaxError:
                return node
        return node


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
