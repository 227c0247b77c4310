"""A statement without what only readers and type checkers need, and the names that it stands on."""

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

CONSTEXPR = "constexpr"


@dataclass(frozen=True, slots=True)
class Stripped:
    """A statement as it goes into a cut module."""

    node: ast.stmt
    free: tuple[str, ...]
    """Names that it reads and does not bind, in source order."""
    imports: tuple[tuple[str, str], ...]
    """What it imports inside itself: the name bound, and the dotted name of what it is."""
    dropped: tuple[str, ...]
    """What was dropped, in words."""
    calls: bool
    """Whether it calls something, wherever."""


def strip(node: ast.stmt, is_discarded: Callable[[str], bool], means: Callable[[str], str] = str) -> Stripped:
    """Drop annotations, docstrings, imports and calls for the record.

    Args:
        node: A definition or an assignment; it is left as it was.
        is_discarded: Whether calls of a name, their results unused, may go.
        means: What a name of the file stands for.
    """
    copied: ast.stmt = ast.parse(ast.unparse(node)).body[0]
    dropper = _Dropper(is_discarded, means)
    made: ast.stmt = ast.fix_missing_locations(dropper.visit(copied))
    imported = {name for name, _ in dropper.imports}
    local = {name for name in _locals(made) if name not in imported}
    read = [part.id for part in _reading_order(made) if isinstance(part.ctx, ast.Load)]
    free = tuple(dict.fromkeys(name for name in read if name not in local and name not in imported))
    used = set(read)
    return Stripped(
        made,
        free,
        tuple((name, dotted) for name, dotted in dict.fromkeys(dropper.imports) if name in used),
        tuple(dropper.dropped),
        any(isinstance(part, ast.Call) for part in ast.walk(made)),
    )


def bound_in(statement: ast.stmt) -> Iterator[str]:
    """Names that a statement at the top of a module binds."""
    match statement:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.Import(names=aliases):
            yield from (alias.asname or alias.name.split(".")[0] for alias in aliases)
        case ast.ImportFrom(names=aliases):
            yield from (alias.asname or alias.name for alias in aliases)
        case ast.Assign(targets=targets):
            parts = (part for target in targets for part in ast.walk(target) if isinstance(part, ast.Name))
            yield from (part.id for part in parts if isinstance(part.ctx, ast.Store))  # `x.y = 1` binds no x
        case ast.AnnAssign(target=ast.Name(id=name), value=value) if value is not None:
            yield name
        case _:
            return


def names_in(node: ast.AST) -> set[str]:
    """Names and attributes that an expression spells."""
    found = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    return found | {part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute)}


def _reading_order(node: ast.AST) -> list[ast.Name]:
    found = [part for part in ast.walk(node) if isinstance(part, ast.Name)]
    return sorted(found, key=lambda part: (part.lineno, part.col_offset))


def _locals(node: ast.stmt) -> set[str]:
    """Names that a definition binds inside itself; of a plain assignment none."""
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        inner = [part for part in ast.walk(node) if isinstance(part, ast.comprehension | ast.Lambda)]
        return {name for part in inner for name in _bound(part)}
    declared = {name for part in ast.walk(node) if isinstance(part, ast.Global) for name in part.names}
    return ({name for part in ast.iter_child_nodes(node) for name in _bound(part)} | {node.name}) - declared


def _bound(node: ast.AST) -> Iterator[str]:
    for part in ast.walk(node):
        match part:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.arg(arg=name):
                yield name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield name


class _Dropper(ast.NodeTransformer):
    def __init__(self, is_discarded: Callable[[str], bool], means: Callable[[str], str]) -> None:
        self._is_discarded = is_discarded
        self._means = means
        self.imports: list[tuple[str, str]] = []
        self.dropped: list[str] = []

    def visit_arg(self, node: ast.arg) -> ast.arg:
        if self._is_constexpr(node.annotation):
            # By this name: Triton's interpreter compares the text of annotations, and knows no alias of its module.
            node.annotation = ast.Name(CONSTEXPR, ast.Load())
            self.imports.append((CONSTEXPR, f"triton.language.{CONSTEXPR}"))
        else:
            node.annotation = None
        return node

    def _is_constexpr(self, annotation: ast.expr | None) -> bool:
        if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
            spelled = set(re.findall(r"\w+", annotation.value))
        else:
            spelled = names_in(annotation) if annotation is not None else set()
        return any(self._means(name).rpartition(".")[2] == CONSTEXPR for name in spelled)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        return self._body(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        node.returns = None
        return self._body(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        node.keywords = [each for each in node.keywords if each.arg == "metaclass"]
        return self._body(node, keeps_fields=True)

    def _body(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, *, keeps_fields: bool = False
    ) -> ast.AST:
        if isinstance(node.body[0], ast.Expr) and isinstance(node.body[0].value, ast.Constant):
            node.body = node.body[1:]
        if keeps_fields:
            fields = [each for each in node.body if isinstance(each, ast.AnnAssign)]
            for each in fields:
                each.annotation = ast.Name("object", ast.Load())
        self.generic_visit(node)
        node.body = node.body or [ast.Pass()]
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST | None:
        if self._is_constexpr(node.annotation) or (
            isinstance(node.annotation, ast.Name) and node.annotation.id == "object"
        ):
            self.generic_visit(node)
            return node
        if node.value is None:
            return None
        self.generic_visit(node)
        return ast.Assign([node.target], node.value, lineno=node.lineno, col_offset=node.col_offset)

    def visit_Import(self, node: ast.Import) -> ast.AST:
        self.imports += [(alias.asname or alias.name.split(".")[0], alias.name) for alias in node.names]
        return ast.copy_location(ast.Pass(), node)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST:
        module = "." * node.level + (node.module or "")
        self.imports += [(alias.asname or alias.name, f"{module}.{alias.name}") for alias in node.names]
        return ast.copy_location(ast.Pass(), node)

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        root: ast.AST = node.value
        while isinstance(root, ast.Call | ast.Attribute):
            root = root.func if isinstance(root, ast.Call) else root.value
        method = node.value.func if isinstance(node.value, ast.Call) else None
        if isinstance(method, ast.Attribute) and isinstance(root, ast.Name) and self._is_discarded(root.id):
            self.dropped.append(f"the call of {ast.unparse(method)} is dropped: nothing uses its result")
            return ast.copy_location(ast.Pass(), node)
        self.generic_visit(node)
        return node
