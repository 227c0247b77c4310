"""What a condition asks in the end: an environment variable or the configuration, and what it is by default."""

import ast
from collections.abc import Callable
from typing import NamedTuple

from recon.index.names import Names
from recon.index.records import ScopeKind
from recon.index.tables import Ref
from recon.index.values import Kind

_FARTHEST = 5
_READS = frozenset({"environ", "getenv"})


class Switch(NamedTuple):
    """What a test depends on."""

    kind: str
    """`environment`, `configuration`, or empty where neither could be told."""
    default: bool
    """What the test gives when nobody says anything."""


_UNKNOWN = Switch("", default=False)


class Switches:
    """Follows the tests of a tree to what they ask."""

    def __init__(self, names: Names, parsed: Callable[[str], ast.Module | None]) -> None:
        self._names = names
        self._parsed = parsed

    def of(self, test: ast.expr, path: str, scope: int, depth: int = 0) -> Switch:
        """What a test in a scope asks."""
        if depth > _FARTHEST:
            return _UNKNOWN
        match test:
            case ast.UnaryOp(op=ast.Not(), operand=inner):
                found = self.of(inner, path, scope, depth + 1)
                return found._replace(default=not found.default) if found.kind else _UNKNOWN
            case ast.BoolOp(values=[first, *_]):
                return self.of(first, path, scope, depth + 1)
            case ast.Call(func=function, args=[inner, *_]) if isinstance(function, ast.Name) and function.id == "bool":
                return self.of(inner, path, scope, depth + 1)
            case ast.Call(func=function):
                return self._named(ast.unparse(function), path, scope, depth)
            case ast.Name() | ast.Attribute():
                return self._named(ast.unparse(test), path, scope, depth)
        return Switch("environment", default=False) if _asks_environment(test) else _UNKNOWN

    def _named(self, text: str, path: str, scope: int, depth: int) -> Switch:
        """What a dotted name asks."""
        owner, _, name = text.rpartition(".")
        if not _READS.isdisjoint(text.split(".")):
            return Switch("environment", default=False)
        for value in self._names.values(path, scope, owner) if owner else ():
            if value.kind is Kind.MODULE and name.isupper():
                return Switch("environment", self._default_of(value.text, name))
            if value.kind is Kind.INSTANCE and value.ref is not None:
                for method in self._names.classes.method(value.ref, name):
                    return self._function(method)
                if (found := self._assigned(value.ref, name, depth)).kind:
                    return found
        return Switch("configuration", default=False) if "." in text else _UNKNOWN

    def _assigned(self, owner: Ref, name: str, depth: int) -> Switch:
        """What an attribute asks, by the assignments to it."""
        for one in self._names.classes.order(owner):
            table = self._names.tables[one.path]
            for bind in table.attributes.get(one.scope, {}).get(name, ()):
                if bind.value and bind.value[0] not in "<'0123456789":
                    try:
                        value = ast.parse(bind.value, mode="eval").body
                    except SyntaxError:
                        continue
                    return self.of(value, one.path, bind.scope, depth + 1)
        return _UNKNOWN

    def _function(self, ref: Ref) -> Switch:
        """What a property or method asks: it gives by default what it returns at its end."""
        node = self._definition(ref)
        if node is None:
            return _UNKNOWN
        kind = "environment" if any(map(_asks_environment, ast.walk(node))) else "configuration"
        match node.body[-1]:
            case ast.Return(value=ast.Constant(value=bool() as default)):
                return Switch(kind, default)
        return Switch(kind, default=False)

    def _definition(self, ref: Ref) -> ast.FunctionDef | None:
        tree = self._parsed(ref.path)
        row = self._names.scope_of(ref)
        if tree is None or row.kind is not ScopeKind.FUNCTION:
            return None
        nodes = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.lineno == row.line)
        return next(nodes, None)

    def _default_of(self, module: str, name: str) -> bool:
        """What a module says a variable is at first: `NAME: bool = True`, or a text other than 0 or nothing."""
        found = self._names.absolute(module)
        path = (
            next((table.path for table in self._names.tables.values() if table.module == module), "") if found else ""
        )
        tree = self._parsed(path) if path else None
        for node in ast.walk(tree) if tree is not None else ():
            match node:
                case ast.AnnAssign(target=ast.Name(id=target), value=ast.Constant(value=value)) if target == name:
                    return value not in {None, False, "", "0"}
        return False


def _asks_environment(node: ast.AST) -> bool:
    match node:
        case ast.Attribute(value=ast.Name(id=module), attr=name):
            return (module in {"envs", "env"} and name.isupper()) or name in _READS
        case ast.Name(id=name):
            return name in _READS
    return False
