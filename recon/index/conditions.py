"""The conditions under which a line of a file runs, and the key under which what stands on it is kept."""

import ast
from collections.abc import Iterator, Sequence
from typing import NamedTuple


class Condition(NamedTuple):
    """A test above a line, and whether it has to hold."""

    test: ast.expr
    holds: bool


def conditions_at(tree: ast.Module, line: int) -> list[Condition]:
    """The tests that decide whether a line runs, the nearest first: the `if`s around it, and early exits before it."""
    found: list[Condition] = []
    body: Sequence[ast.stmt] = tree.body
    while True:
        around = next((each for each in body if each.lineno <= line <= (each.end_lineno or each.lineno)), None)
        if around is None:
            break
        if isinstance(around, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found = []  # what decides that a definition is made says nothing of its calls
        else:
            found += [Condition(each.test, holds=False) for each in _exits(body, around)]
        if isinstance(around, ast.If):
            holds = around.body[0].lineno <= line <= (around.body[-1].end_lineno or line)
            found.append(Condition(around.test, holds))
            body = around.body if holds else around.orelse
        else:
            body = [*_bodies(around)]
    return found[::-1]


def key_at(tree: ast.Module, line: int) -> tuple[str, str]:
    """The key of a registry under which a line stands, and the registry's name; ('', '') where it is under none.

    A member of an enumeration, an entry of a dictionary, or a decorator's string above the function.
    """
    name, body = "", tree.body
    key = ("", "")
    while True:
        around = next((each for each in body if _first_line(each) <= line <= (each.end_lineno or each.lineno)), None)
        match around:
            case None:
                return key
            case ast.ClassDef():
                name = around.name
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                key = next(_decorated(around), key)
            case ast.Assign(targets=[ast.Name(id=target), *_], value=ast.Constant(value=str())) if name:
                return target, name
            case ast.Assign(targets=[target], value=ast.Dict() as value):
                return _entry(value, line), ast.unparse(target)
            case ast.AnnAssign(target=target, value=ast.Dict() as value):
                return _entry(value, line), ast.unparse(target)
        body = [*_bodies(around)]


def _first_line(node: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(each.lineno for each in decorators)])


def _decorated(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[tuple[str, str]]:
    for each in node.decorator_list:
        match each:
            case ast.Call(func=function, args=[ast.Constant(value=str() as key), *_]):
                yield key, ast.unparse(function)


def _entry(node: ast.Dict, line: int) -> str:
    for key, value in zip(node.keys, node.values, strict=True):
        if value.lineno <= line <= (value.end_lineno or value.lineno):
            match key:
                case ast.Constant(value=str() as text):
                    return text
                case ast.Attribute(attr=name):
                    return name
    return ""


def _exits(body: Sequence[ast.stmt], until: ast.stmt) -> Iterator[ast.If]:
    """The `if`s before a statement whose body leaves the block."""
    for each in body:
        if each is until:
            return
        if isinstance(each, ast.If) and not each.orelse and isinstance(each.body[-1], ast.Return | ast.Continue):
            yield each


def _bodies(node: ast.stmt) -> Iterator[ast.stmt]:
    for field in ("body", "orelse", "finalbody"):
        yield from getattr(node, field, [])
    for handler in getattr(node, "handlers", []):
        yield from handler.body
    for case in getattr(node, "cases", []):
        yield from case.body
