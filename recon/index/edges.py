"""Who calls whom in the Python of a source tree: every call site turned into edges."""

import builtins
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from recon.index.call_sites import CallSite, named_calls, parameter_of
from recon.index.context import carried
from recon.index.models import loaded_models, runs_a_model
from recon.index.names import Names
from recon.index.operators import Operators
from recon.index.records import Call, Feature, Param, Scope, ScopeKind
from recon.index.tables import Ref, Table, is_python, tokens
from recon.index.values import Kind, Value, weaker
from recon.records.path import Tier

_MOST_GUESSES = 8
_LAUNCHED = Feature.JIT | Feature.CUDA
_BUILTIN_METHODS = frozenset(
    name
    for kind in (str, bytes, list, dict, set, tuple, int, float, io.TextIOWrapper, io.BytesIO, BaseException)
    for name in dir(kind)
)
_BUILTINS = frozenset(dir(builtins))


class Edge(NamedTuple):
    """One step of the call graph."""

    source: Ref
    """The function (or module, or class body) that holds the call."""
    target: Ref
    line: int
    """Line of the call in the source's file, counted from 1."""
    dispatch: str
    """`call`, `method`, `construct`, `launch` (a kernel with its grid), `operator` (torch.ops), `string` (named by a
    dotted string), `by name` (a method looked up by a name that the caller hands over), `context` (it finds what the
    source has made, without a call), `model` (one of those that can be loaded), or `override` (a subclass's method,
    reached through the base class's)."""
    tier: Tier


Add = Callable[[Edge], None]


class _Use(NamedTuple):
    """A parameter that is called."""

    source: Ref
    line: int
    is_launch: bool


class PythonEdges:
    """Turns the calls of all Python files into edges."""

    def __init__(self, names: Names, operators: Operators, add: Add) -> None:
        self._names = names
        self._operators = operators
        self._add = add
        self._sites: dict[Ref, list[CallSite]] = {}
        self._uses: dict[tuple[Ref, str], list[_Use]] = {}
        self._runs: list[tuple[Table, Call]] = []
        self._made: set[Ref] = set()
        self._functions, self._methods = _index(names)

    def build(self) -> None:
        """Add all edges."""
        for table in self._names.tables.values():
            if is_python(table.path):
                for call in table.outline.calls:
                    self._read(table, call)
                self._decorators(table)
                self._strings(table)
                self._entries(table)
        self._through_parameters()
        self._by_name()
        models = list(loaded_models(self._names, self._made))
        for table, call in self._runs:
            for model in models:
                self._edge(table, call, model, "model", Tier.LIKELY)
        for maker, taker, line in carried(self._names):
            self._add(Edge(maker, taker, line, "context", Tier.LIKELY))

    # Calls ------------------------------------------------------------------------------------------------------------

    def _read(self, table: Table, call: Call) -> None:
        callee = call.callee
        known = False
        if callee and callee not in _BUILTINS:
            values = self._names.values(table.path, call.scope, callee)
            if runs_a_model(table, call, values):
                self._runs.append((table, call))
                known = True
            else:
                for value in values:
                    known = self._reach(table, call, value) or known
            if not known:
                known = self._unresolved(table, call, values)
        if callee != "super" and "isinstance" not in callee:
            self._arguments(table, call)

    def _reach(self, table: Table, call: Call, value: Value) -> bool:
        """Add the edges to one meaning of a callee; False where it is outside."""
        if value.kind is Kind.OUTSIDE:
            self._operator(table, call, value)
            return True  # what is outside is not guessed
        if value.ref is None:
            return False
        if value.kind is Kind.INSTANCE:
            name = self._names.classes.called(value.ref)
            receiver = None if value.exact else value.ref
            methods = self._names.classes.method(value.ref, name)
            if not methods and not value.exact:  # the base leaves it to the classes below
                return self._below(table, call, value.ref, name)
            for target in methods:
                self._method(table, call, Value(Kind.DEFINITION, target, tier=value.tier, receiver=receiver))
            return bool(methods)
        if self._names.classes.is_class(value.ref):
            self._construct(table, call, value)
        else:
            self._method(table, call, value)
        return True

    def _below(self, table: Table, call: Call, base: Ref, name: str) -> bool:
        """Add the edges to what subclasses define under a name."""
        targets = self._names.classes.overrides(base, name)
        for target in targets:
            self._edge(table, call, target, "override", Tier.LIKELY)
        return bool(targets)

    def _operator(self, table: Table, call: Call, value: Value) -> None:
        """Add the edges to what torch.ops, or a module compiled from sources of the tree, calls by a name."""
        targets = self._operators.of(value.text)
        tier = Tier.CERTAIN if len(targets) == 1 else Tier.LIKELY
        name = value.text.rpartition(".")[2]
        if not targets and name in table.words:  # the file names what it has compiled
            targets, tier = self._operators.compiled(name), Tier.LIKELY
        if len(targets) <= _MOST_GUESSES:
            for target in targets:
                self._edge(table, call, target, "operator", weaker(tier, value.tier))

    def _construct(self, table: Table, call: Call, value: Value) -> None:
        assert value.ref is not None
        classes = self._names.classes
        self._made.add(value.ref)
        makers = classes.method(value.ref, "__init__") or classes.method(value.ref, "__new__")
        for target in (*makers, *classes.method(value.ref, "__post_init__")):
            self._edge(table, call, target, "construct", value.tier)
            self._sites.setdefault(target, []).append(CallSite(table.path, call, is_bound=True))
        if not makers:
            self._edge(table, call, value.ref, "construct", value.tier)

    def _method(self, table: Table, call: Call, value: Value) -> None:
        """Add the edge to a function or method, and to what overrides it."""
        assert value.ref is not None
        row = self._names.scope_of(value.ref)
        owner = Ref(value.ref.path, row.parent)
        is_method = self._names.classes.is_class(owner)
        dispatch = "method" if is_method else "call"
        if call.callee.endswith("[]") and row.features & _LAUNCHED:
            dispatch = "launch"
        overrides = self._names.classes.overrides(value.receiver, row.name) if value.receiver is not None else ()
        tier = value.tier
        if overrides and not self._is_self(table, call):
            tier = weaker(tier, Tier.LIKELY)
        self._edge(table, call, value.ref, dispatch, tier)
        is_bound = is_method and "staticmethod" not in row.decorators and not self._by_class(table, call)
        site = CallSite(table.path, call, is_bound)
        self._sites.setdefault(value.ref, []).append(site)
        for target in overrides:
            if target != value.ref:
                self._edge(table, call, target, "override", Tier.LIKELY)
                self._sites.setdefault(target, []).append(site)

    def _is_self(self, table: Table, call: Call) -> bool:
        root, _, rest = call.callee.partition(".")
        return bool(rest) and "." not in rest and table.class_of_self(call.scope, root) is not None

    def _by_class(self, table: Table, call: Call) -> bool:
        """Whether a method is called as `Class.method(object, ...)`."""
        base = call.callee.rpartition(".")[0]
        values = self._names.values(table.path, call.scope, base) if base and base != "super()" else ()
        return any(self._names.classes.is_class(v.ref) for v in values if v.kind is Kind.DEFINITION and not v.receiver)

    def _edge(self, table: Table, call: Call, target: Ref, dispatch: str, tier: Tier) -> None:
        self._add(Edge(Ref(table.path, call.scope), target, call.line, dispatch, tier))

    # What is not resolved ---------------------------------------------------------------------------------------------

    def _unresolved(self, table: Table, call: Call, values: Iterable[Value]) -> bool:
        """A parameter that is called, or a method of which only the name is known."""
        steps = tokens(call.callee)
        if len(steps) == 1:
            base = steps[0].partition("[")[0]
            for scope in table.nesting(call.scope):
                entries = table.entries[scope].get(base)
                if entries is not None:
                    if any(isinstance(entry, Param) for entry in entries):
                        use = _Use(Ref(table.path, call.scope), call.line, "[" in steps[0])
                        self._uses.setdefault((Ref(table.path, scope), base), []).append(use)
                    return True
            return False
        name = steps[-1]
        if name in _BUILTIN_METHODS or any(value.kind is Kind.MODULE for value in values):
            return False
        if self._narrowed(table, call, name):
            return False
        candidates: Sequence[Ref] = self._methods.get(name, ())
        dispatch = "method"
        if not candidates:
            candidates, dispatch = self._operators.compiled(name), "operator"
        if len(candidates) <= _MOST_GUESSES:
            for target in candidates:
                self._edge(table, call, target, dispatch, Tier.GUESS)
        return False

    def _narrowed(self, table: Table, call: Call, name: str) -> bool:
        """Add the edges to a method of the class that `isinstance` asks for in the same scope."""
        owner = call.callee.rpartition(".")[0]
        targets = [
            target
            for asked in self._asked(table, call.scope)
            if asked.callee == "isinstance"
            and len(asked.args) > 1
            and asked.args[0] == owner
            and (asked.scope == call.scope or owner.startswith("self."))
            for ref in (self._names.resolve(table.path, call.scope, asked.args[1]) if asked.args[1] else ())
            for target in self._names.classes.method(ref, name)
        ]
        for target in targets:
            self._edge(table, call, target, "method", Tier.LIKELY)
        return bool(targets)

    def _asked(self, table: Table, scope: int) -> Iterator[Call]:
        """Calls in a function, and in the other methods of its class: an attribute is of one class in all of them."""
        yield from table.calls_in(scope)
        owner = table.class_around(scope)
        for method in table.scopes_in(owner) if owner is not None else ():
            if method.id != scope:
                yield from table.calls_in(method.id)

    # Functions that are handed on -------------------------------------------------------------------------------------

    def _arguments(self, table: Table, call: Call) -> None:
        """A function given as an argument is likely called by whom it is given to."""
        for arg in call.args:
            if arg.rpartition(".")[2] in self._functions:
                for value in self._names.values(table.path, call.scope, arg):
                    if value.kind is Kind.DEFINITION and not self._names.classes.is_class(value.ref):
                        assert value.ref is not None
                        self._edge(table, call, value.ref, "call", weaker(Tier.LIKELY, value.tier))

    def _through_parameters(self) -> None:
        """Follow functions that callers pass into parameters which are called, through any number of hands."""
        todo = list(self._uses)
        seen = set(todo)
        while todo:
            owner, name = todo.pop()
            params = self._names.scope_of(owner).params
            for site in self._sites.get(owner, ()):
                given = site.argument(params, name)
                if not given:
                    continue
                table = self._names.tables[site.path]
                for value in self._names.values(site.path, site.call.scope, given):
                    if value.kind is Kind.DEFINITION and not self._names.classes.is_class(value.ref):
                        self._pass(self._uses[owner, name], value)
                outer = parameter_of(table, site.call.scope, given)
                if outer is not None and (outer not in seen or outer == (owner, name)):
                    self._uses.setdefault(outer, []).extend(self._uses[owner, name])
                    if outer not in seen:
                        seen.add(outer)
                        todo.append(outer)

    def _pass(self, uses: Iterable[_Use], value: Value) -> None:
        assert value.ref is not None
        is_kernel = bool(self._names.scope_of(value.ref).features & _LAUNCHED)
        for use in uses:
            dispatch = "launch" if use.is_launch and is_kernel else "call"
            self._add(Edge(use.source, value.ref, use.line, dispatch, weaker(Tier.LIKELY, value.tier)))

    def _by_name(self) -> None:
        """A method whose name is handed over as a string is called on behalf of whoever hands it over."""
        for site, value in named_calls(self._names, self._sites):
            assert value.ref is not None
            source = Ref(site.path, site.call.scope)
            name = self._names.scope_of(value.ref).name
            overrides = self._names.classes.overrides(value.receiver, name) if value.receiver is not None else ()
            for target in dict.fromkeys((value.ref, *overrides)):
                self._add(Edge(source, target, site.call.line, "by name", Tier.LIKELY))

    # Decorators, strings, collections ---------------------------------------------------------------------------------

    def _decorators(self, table: Table) -> None:
        for row in table.scopes:
            for word in row.decorators:
                for ref in self._names.resolve(table.path, row.parent, word):
                    dispatch = "construct" if self._names.classes.is_class(ref) else "call"
                    self._add(Edge(Ref(table.path, row.parent), ref, row.first_line, dispatch, Tier.CERTAIN))
            if row.decorators:
                self._decorated(table, row)

    def _decorated(self, table: Table, row: Scope) -> None:
        """A function given to a decorator likely runs when the decorated one is called: a dispatcher's kernel."""
        for call in table.calls_in(row.parent):
            if row.first_line <= call.line <= row.line and call.callee in row.decorators:
                for arg in call.args:
                    if arg.rpartition(".")[2] in self._functions:
                        for ref in self._names.resolve(table.path, call.scope, arg):
                            is_kernel = bool(self._names.scope_of(ref).features & _LAUNCHED)
                            dispatch = "launch" if is_kernel else "call"
                            self._add(Edge(Ref(table.path, row.id), ref, call.line, dispatch, Tier.LIKELY))

    def _strings(self, table: Table) -> None:
        """A dotted string that names a definition is likely looked up and used."""
        for text in table.outline.texts:
            if text.role == "dotted":
                for ref in self._names.find(text.text):
                    self._add(Edge(Ref(table.path, text.scope), ref, text.line, "string", Tier.LIKELY))
                    for maker in (
                        self._names.classes.method(ref, "__init__") if self._names.classes.is_class(ref) else ()
                    ):
                        self._add(Edge(ref, maker, self._names.scope_of(ref).line, "construct", Tier.LIKELY))

    def _entries(self, table: Table) -> None:
        """A function kept in a table or list is likely called by whoever fills it, or on its behalf."""
        for bind in table.outline.binds:
            if bind.target.endswith("[]") and bind.value.rpartition(".")[2] in self._functions:
                for value in self._names.values(table.path, bind.scope, bind.value):
                    if value.kind is Kind.DEFINITION and not self._names.classes.is_class(value.ref):
                        assert value.ref is not None
                        tier = weaker(Tier.LIKELY, value.tier)
                        self._add(Edge(Ref(table.path, bind.scope), value.ref, bind.line, "call", tier))


def _index(names: Names) -> tuple[frozenset[str], Mapping[str, list[Ref]]]:
    """Names of all functions, and methods by name."""
    functions: set[str] = set()
    methods: dict[str, list[Ref]] = {}
    for table in names.tables.values():
        if is_python(table.path):
            for row in table.scopes:
                if row.kind is ScopeKind.FUNCTION:
                    functions.add(row.name)
                    if table.scopes[row.parent].kind is ScopeKind.CLASS:
                        methods.setdefault(row.name, []).append(Ref(table.path, row.id))
    return frozenset(functions), methods


def nested(names: Names) -> Iterator[Edge]:
    """A function inside a function likely runs on its behalf, though nothing says so: guesses all."""
    for table in names.tables.values():
        for row in table.scopes:
            if _is_nested(table, row):
                yield Edge(Ref(table.path, row.parent), Ref(table.path, row.id), row.line, "call", Tier.GUESS)


def _is_nested(table: Table, row: Scope) -> bool:
    return row.kind is ScopeKind.FUNCTION and table.scopes[row.parent].kind is ScopeKind.FUNCTION
