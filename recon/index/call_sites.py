"""Call sites, and methods that are called by a name which callers hand over as a string."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from recon.index.names import Names
from recon.index.records import Call, Param
from recon.index.tables import Ref, Table, is_python
from recon.index.values import Kind, Value

_READ = "getattr"


class CallSite(NamedTuple):
    """A call whose callee is a function of the tree."""

    path: str
    call: Call
    is_bound: bool
    """Whether the first parameter is given by the object."""
    given: int = 0
    """How many of the first arguments are not for the function: the function itself in `partial(f, x)`."""

    def arguments(self, params: tuple[Param, ...], name: str) -> list[str]:
        """What the call passes for a parameter, as far as that is spelled; several for one that takes the rest."""
        call = self.call
        named = dict(zip(call.keywords, call.args[call.positional :], strict=True))
        if name in named:
            return [named[name]] if named[name] else []
        if name[:2] == "**":
            own = {param.name for param in params}
            return [text for key, text in named.items() if key not in own and text]
        given = call.args[self.given : call.positional]
        place = next((place for place, param in enumerate(params) if param.name == name), None)
        if place is None or any(arg.startswith("*") for arg in given):
            return []
        is_positional = not any(param.name[:1] == "*" for param in params[:place])
        place -= self.is_bound
        if name[:1] == "*":
            return [text for text in given[max(place, 0) :] if text]
        return [given[place]] if is_positional and 0 <= place < len(given) and given[place] else []

    def argument(self, params: tuple[Param, ...], name: str) -> str:
        """What the call passes for a parameter, '' where that is not known."""
        call = self.call
        for keyword, arg in zip(call.keywords, call.args[call.positional :], strict=True):
            if keyword == name:
                return arg
        position = next((place for place, param in enumerate(params) if param.name == name), None)
        if position is None:
            return ""
        position -= self.is_bound
        given = call.args[: call.positional]
        if any(arg.startswith("*") for arg in given[: position + 1]):
            return ""
        return given[position] if 0 <= position < len(given) else ""


class _Lookup(NamedTuple):
    """`getattr(object, parameter)`: the parameter of a function, and the object as it is seen where it stands."""

    owner: Ref
    parameter: str
    path: str
    scope: int
    text: str


def named_calls(names: Names, sites: Mapping[Ref, Sequence[CallSite]]) -> Iterator[tuple[CallSite, Value]]:
    """Calls that hand over the name of a method, with each method that is looked up by it.

    `self.collective_rpc("step")` leads to `Worker.step`, because `collective_rpc` passes its first parameter on to
    `getattr(self.worker, method)`, through any number of hands.
    """
    todo = [lookup for table in names.tables.values() if is_python(table.path) for lookup in _lookups(table)]
    seen = set(todo)
    while todo:
        lookup = todo.pop()
        params = names.scope_of(lookup.owner).params
        for site in sites.get(lookup.owner, ()):
            given = site.argument(params, lookup.parameter)
            moved = _seen_from(lookup, site, params)
            if given[:1] in {"'", '"'} and (name := given.strip("'\"")).isidentifier():
                for value in names.values(moved.path, moved.scope, f"{moved.text}.{name}"):
                    if value.kind is Kind.DEFINITION and not names.classes.is_class(value.ref):
                        yield site, value
            elif (outer := parameter_of(names.tables[site.path], site.call.scope, given)) is not None:
                further = moved._replace(owner=outer[0], parameter=outer[1])
                if further not in seen:
                    seen.add(further)
                    todo.append(further)


def parameter_of(table: Table, scope: int, name: str) -> tuple[Ref, str] | None:
    """The function that owns a name as its parameter."""
    for one in table.nesting(scope):
        entries = table.entries[one].get(name)
        if entries is not None:
            is_param = any(isinstance(entry, Param) for entry in entries)
            return (Ref(table.path, one), name) if is_param else None
    return None


def _lookups(table: Table) -> Iterator[_Lookup]:
    for call in table.outline.calls:
        if call.callee == _READ and call.positional > 1 and call.args[0] and call.args[1].isidentifier():
            owner = parameter_of(table, call.scope, call.args[1])
            if owner is not None and table.scopes[owner[0].scope].name != "__getattr__":
                yield _Lookup(owner[0], owner[1], table.path, call.scope, call.args[0])


def _seen_from(lookup: _Lookup, site: CallSite, params: tuple[Param, ...]) -> _Lookup:
    """The lookup with its object as the caller names it, where the caller hands that over too."""
    root, dot, rest = lookup.text.partition(".")
    if Ref(lookup.path, lookup.scope) != lookup.owner or all(param.name != root for param in params):
        return lookup
    given = site.argument(params, root)
    if not given or given[:1] in {"'", '"', "*"}:
        return lookup
    return lookup._replace(path=site.path, scope=site.call.scope, text=f"{given}{dot}{rest}")
