"""Who calls whom in the Python of a source tree: every call site turned into edges."""

import builtins
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial

from recon.index.call_sites import CallSite, named_calls
from recon.index.context import carried
from recon.index.edge import Add, Edge, Outside
from recon.index.models import ModelRuns
from recon.index.names import Names
from recon.index.operators import Operators
from recon.index.passing import Passing
from recon.index.records import Bind, Call, Feature, Scope, ScopeKind
from recon.index.spell import words
from recon.index.tables import Ref, Table, is_python, tokens
from recon.index.values import Kind, Value, weaker
from recon.index.wrapping import Wrapping
from recon.records.path import Tier

__all__ = ["Add", "Edge", "PythonEdges", "nested"]

_MOST_GUESSES = 8
_MANY = 8  # with more meanings, as of an element of a long list, equal calls of a scope are read once
_LAUNCHED = Feature.JIT | Feature.CUDA
_BUILTIN_METHODS = frozenset(
    name
    for kind in (str, bytes, list, dict, set, tuple, int, float, io.TextIOWrapper, io.BytesIO, BaseException)
    for name in dir(kind)
)
_BUILTINS = frozenset(dir(builtins))
_APPLY = words("map filter sorted min max reduce")
"""Functions from outside that call what they are given: at once, or in the loop over what they give back."""
_KEEP = words(
    "isinstance issubclass super hasattr getattr setattr type id repr len print partial partialmethod wraps dict list "
    "tuple set frozenset enumerate zip append add insert setdefault update extend"
)
"""Functions from outside that do not call what they are given."""


class PythonEdges:
    """Turns the calls of all Python files into edges.

    A call that leans on a parameter is read again when it turns out what its callers hand over.
    """

    def __init__(self, names: Names, operators: Operators, add: Add, outside: Outside | None = None) -> None:
        self._names = names
        self._operators = operators
        self._add = add
        self._outside = outside
        self._passing = Passing(names, outside=outside is not None)
        self._wrapping = Wrapping(names, self._passing)
        self._open: dict[int, Callable[[], None]] = {}
        self._runs = ModelRuns(names)
        self._many: dict[tuple[str, int, str], Sequence[Value]] = {}
        self._made: set[Ref] = set()
        self._narrowings: dict[Ref, dict[str, list[tuple[int, str]]]] = {}
        self._functions, self._methods = _index(names)

    def build(self) -> None:
        """Add all edges."""
        for table in self._names.tables.values():
            if is_python(table.path):
                for call in table.outline.calls:
                    if self._outside is not None or self._can_lead(call.callee):
                        self._passing.read(self._read, table, call)
                    else:
                        self._read(table, call)
                self._decorators(table)
                self._strings(table)
                for bind in table.outline.binds:
                    self._bind(table, bind)
        self._passing.settle()
        for guess in self._open.values():
            guess()
        self._by_name()
        self._names.forget()
        for table, call, model in self._runs.runs(self._made):
            self._edge(table, call, model, "model", Tier.LIKELY)
        for maker, taker, line in carried(self._names):
            self._add(Edge(maker, taker, line, "context", Tier.LIKELY))

    def _can_lead(self, callee: str) -> bool:
        """Whether what parameters are given can make a callee lead to a function of the tree: not for `x.view`."""
        last = callee.rpartition(".")[2]
        return last in self._functions or len(last) == len(callee) or last[-1:] in {"]", ")"}

    # Calls ------------------------------------------------------------------------------------------------------------

    def _read(self, table: Table, call: Call) -> None:
        callee = call.callee
        if not callee:
            self._arguments(table, call, is_inside=False)
            return
        values = self._names.values(table.path, call.scope, callee, call.line)
        if not values and callee in _BUILTINS and self._names.tables[table.path].home(call.scope, callee) is None:
            self._tell(table, call, f"<builtin>.{callee}", Tier.CERTAIN)
            self._arguments(table, call, is_inside=False)
            return
        known = inside = self._runs.read(table, call, values)
        for value in self._unread(table, call, values) if not known else ():
            reached = self._reach(table, call, value)
            known = reached or known
            inside = inside or (reached and value.kind is not Kind.OUTSIDE)
        if known:
            self._open.pop(id(call), None)
            self._arguments(table, call, is_inside=inside)
            if callee.startswith("self.") and callee.count(".") > 1:  # the type of a field is seldom known whole
                self._narrowed(table, call, callee.rpartition(".")[2])
        else:
            self._open[id(call)] = partial(self._guess, table, call, values)

    def _unread(self, table: Table, call: Call, values: Sequence[Value]) -> Sequence[Value]:
        """The meanings of a callee that lead to something new: where many do, an equal call hands nothing else on."""
        if len(values) <= _MANY or any(call.args):
            return values
        key = (table.path, call.scope, call.callee)
        before, self._many[key] = self._many.get(key), values
        return values if before != values else [value for value in values if value.kind is Kind.OUTSIDE] or values[:1]

    def _reach(self, table: Table, call: Call, value: Value) -> bool:
        """Add the edges to one meaning of a callee; False where it is nothing that can be called."""
        if value.kind is Kind.OUTSIDE:
            self._operator(table, call, value)
            self._tell(table, call, value.text, value.tier)
            return True  # what is outside is not guessed
        if value.kind is Kind.CONTAINER or value.ref is None:
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
            self._passing.add(target, CallSite(table.path, call, is_bound=True))
        if not makers:
            self._edge(table, call, value.ref, "construct", value.tier)
            for base in sorted(classes.outside_bases(value.ref)) if self._outside is not None else ():
                if base not in _PLAIN_BASES:
                    self._tell(table, call, f"{base}.__init__", weaker(value.tier, Tier.CERTAIN))

    def _method(self, table: Table, call: Call, value: Value) -> None:
        """Add the edge to a function or method, and to what overrides it."""
        assert value.ref is not None
        scopes = self._names.tables[value.ref.path].scopes
        row = scopes[value.ref.scope]
        is_method = scopes[row.parent].kind is ScopeKind.CLASS
        dispatch = "method" if is_method else "call"
        if call.callee.endswith("]") and row.features & _LAUNCHED:
            dispatch = "launch"
        overrides = self._names.classes.overrides(value.receiver, row.name) if value.receiver is not None else ()
        tier = value.tier
        if overrides and not self._is_self(table, call):
            tier = weaker(tier, Tier.LIKELY)
        wrappers = () if value.exact else self._wrapping.of(value.ref)
        for wrapper in wrappers:
            assert wrapper.ref is not None
            self._edge(table, call, wrapper.ref, "decorator", weaker(tier, wrapper.tier))
            self._passing.add(wrapper.ref, CallSite(table.path, call, is_bound=False))
        self._edge(table, call, value.ref, "behind" if wrappers and dispatch != "launch" else dispatch, tier)
        is_bound = is_method and "staticmethod" not in row.decorators and not self._by_class(table, call)
        site = CallSite(table.path, call, is_bound)
        self._passing.add(value.ref, site)
        for target in overrides:
            if target != value.ref:
                self._edge(table, call, target, "override", Tier.LIKELY)
                self._passing.add(target, site)

    def _is_self(self, table: Table, call: Call) -> bool:
        root, _, rest = call.callee.partition(".")
        return bool(rest) and "." not in rest and table.class_of_self(call.scope, root) is not None

    def _by_class(self, table: Table, call: Call) -> bool:
        """Whether a method is called as `Class.method(object, ...)`."""
        base = call.callee.rpartition(".")[0]
        values = self._names.values(table.path, call.scope, base) if base and base != "super()" else ()
        return any(self._names.classes.is_class(v.ref) for v in values if v.kind is Kind.DEFINITION and not v.receiver)

    def _edge(self, table: Table, call: Call, target: Ref, dispatch: str, tier: Tier) -> None:
        self._add(Edge(table.refs[call.scope], target, call.line, dispatch, tier))

    def _tell(self, table: Table, call: Call, name: str, tier: Tier) -> None:
        """Tell of a call that leaves the tree, if anybody listens."""
        if self._outside is not None:
            self._outside(Ref(table.path, call.scope), name, call.line, tier)

    def _inherited(self, table: Table, call: Call) -> None:
        """A method that only a base outside of the tree can have."""
        base, _, name = call.callee.rpartition(".")
        if self._outside is None or not base:
            return
        for value in self._names.values(table.path, call.scope, base, call.line):
            if value.kind is Kind.INSTANCE and value.ref is not None:
                for outer in sorted(self._names.classes.outside_bases(value.ref)):
                    self._tell(table, call, f"{outer}.{name}", value.tier)

    # What is not resolved ---------------------------------------------------------------------------------------------

    def _guess(self, table: Table, call: Call, values: Iterable[Value]) -> None:
        """A method of which only the name is known."""
        self._inherited(table, call)
        self._arguments(table, call, is_inside=False)
        steps = tokens(call.callee)
        name = steps[-1]
        if len(steps) == 1 or name in _BUILTIN_METHODS or any(value.kind is Kind.MODULE for value in values):
            return
        if self._narrowed(table, call, name):
            return
        candidates: Sequence[Ref] = self._methods.get(name, ())
        dispatch = "method"
        if not candidates:
            candidates, dispatch = self._operators.compiled(name), "operator"
        if len(candidates) <= _MOST_GUESSES:
            for target in candidates:
                self._edge(table, call, target, dispatch, Tier.GUESS)

    def _narrowed(self, table: Table, call: Call, name: str) -> bool:
        """Add the edges to a method of the classes that `isinstance` asks for: in the same function, or class."""
        owner = call.callee.rpartition(".")[0]
        around = table.class_around(call.scope) if owner.startswith("self.") else None
        targets = [
            target
            for scope, text in self._asked(table, call.scope if around is None else around).get(owner, ())
            for ref in self._names.resolve(table.path, scope, text)
            for target in self._names.classes.method(ref, name)
        ]
        for target in targets:
            self._edge(table, call, target, "method", Tier.LIKELY)
        return bool(targets)

    def _asked(self, table: Table, scope: int) -> Mapping[str, list[tuple[int, str]]]:
        """Classes that `isinstance` asks for in a function or in all methods of a class, by the name it asks of."""
        key = Ref(table.path, scope)
        if key not in self._narrowings:
            found = self._narrowings[key] = {}
            for inner in (scope, *(row.id for row in table.scopes_in(scope))):
                for call in table.calls_in(inner):
                    if call.callee == "isinstance" and len(call.args) > 1 and all(call.args[:2]):
                        found.setdefault(call.args[0], []).append((inner, call.args[1]))
        return self._narrowings[key]

    # Functions that are handed on -------------------------------------------------------------------------------------

    def _arguments(self, table: Table, call: Call, *, is_inside: bool) -> None:
        """A function given as an argument is likely called by whom it is given to."""
        last = call.callee.rpartition(".")[2]
        if last.endswith("rpc") and call.args:
            self._remote(table, call)
        if last in _KEEP:
            if last == "partial" and call.args:
                self._partial(table, call)
            dispatch = "handed"
        else:
            dispatch = "handed" if is_inside else "builtin" if last in _APPLY else "argument"
        for place, arg in enumerate(call.args):
            if not arg or (arg.rpartition(".")[2] not in self._functions and arg[:7] != "<lambda"):
                continue
            for value in self._names.values(table.path, call.scope, arg, call.line):
                if value.kind is Kind.DEFINITION and not self._names.classes.is_class(value.ref):
                    assert value.ref is not None
                    applies = dispatch == "builtin" and (place == 0 or place >= call.positional)
                    tier = value.tier if applies else weaker(Tier.LIKELY, value.tier)
                    self._edge(table, call, value.ref, dispatch, tier)

    def _partial(self, table: Table, call: Call) -> None:
        """What `partial(f, x)` hands to f, once it is called."""
        for value in self._names.values(table.path, call.scope, call.args[0], call.line):
            if value.kind is Kind.DEFINITION and value.ref is not None and not self._names.classes.is_class(value.ref):
                row = self._names.scope_of(value.ref)
                is_bound = self._names.classes.is_class(Ref(value.ref.path, row.parent)) and value.receiver is not None
                self._passing.add(value.ref, CallSite(table.path, call, is_bound, given=1))

    def _remote(self, table: Table, call: Call) -> None:
        """A method that workers are told to run by its name."""
        name = call.args[0]
        if name[:1] == "'" and name[-1:] == "'":
            for target in self._methods.get(name[1:-1], ()):
                if "Worker" in self._names.scope_of(Ref(target.path, self._names.scope_of(target).parent)).name:
                    self._edge(table, call, target, "rpc", Tier.LIKELY)

    def _by_name(self) -> None:
        """A method whose name is handed over as a string is called on behalf of whoever hands it over."""
        for site, value in named_calls(self._names, self._passing.sites):
            assert value.ref is not None
            source = Ref(site.path, site.call.scope)
            name = self._names.scope_of(value.ref).name
            overrides = self._names.classes.overrides(value.receiver, name) if value.receiver is not None else ()
            for target in dict.fromkeys((value.ref, *overrides)):
                self._add(Edge(source, target, site.call.line, "name", Tier.LIKELY))

    # Decorators, strings, collections ---------------------------------------------------------------------------------

    def _decorators(self, table: Table) -> None:
        for row in table.scopes:
            if row.decorators:
                self._passing.read(self._decorate, table, row)
                self._given_to(table, row)
            elif row.kind is ScopeKind.LAMBDA:
                self._add(Edge(table.refs[row.parent], table.refs[row.id], row.line, "kept", Tier.LIKELY))

    def _decorate(self, table: Table, row: Scope) -> None:
        for step in self._wrapping.steps(table, row):
            for value in step.functions:
                if value.kind is Kind.OUTSIDE:
                    if self._outside is not None:
                        self._outside(Ref(table.path, row.parent), value.text, row.first_line, value.tier)
                elif value.ref is not None and value.kind is Kind.DEFINITION:
                    dispatch = "construct" if self._names.classes.is_class(value.ref) else "call"
                    self._decorated(table, row, value, dispatch)

    def _decorated(self, table: Table, row: Scope, value: Value, dispatch: str) -> None:
        assert value.ref is not None
        source = table.refs[row.parent]
        tier = Tier.CERTAIN if value.tier is Tier.CERTAIN else Tier.LIKELY
        self._add(Edge(source, value.ref, row.first_line, dispatch, tier))
        if dispatch == "construct":
            for target in self._names.classes.method(value.ref, "__init__"):
                self._add(Edge(source, target, row.first_line, dispatch, tier))

    def _given_to(self, table: Table, row: Scope) -> None:
        """A function given to a decorator likely runs when the decorated one is called: a dispatcher's kernel."""
        for call in table.calls_in(row.parent):
            if row.first_line <= call.line <= row.line and call.callee in row.decorators:
                for arg in call.args:
                    if arg.rpartition(".")[2] in self._functions:
                        for ref in self._names.resolve(table.path, call.scope, arg):
                            is_kernel = bool(self._names.scope_of(ref).features & _LAUNCHED)
                            dispatch = "launch" if is_kernel else "handed"
                            self._add(Edge(table.refs[row.id], ref, call.line, dispatch, Tier.LIKELY))

    def _strings(self, table: Table) -> None:
        """A dotted string that names a definition is likely looked up and used."""
        for text in table.outline.texts:
            if text.role == "dotted":
                for ref in self._names.find(text.text):
                    self._add(Edge(table.refs[text.scope], ref, text.line, "string", Tier.LIKELY))
                    for maker in (
                        self._names.classes.method(ref, "__init__") if self._names.classes.is_class(ref) else ()
                    ):
                        self._add(Edge(ref, maker, self._names.scope_of(ref).line, "kept", Tier.LIKELY))

    def _bind(self, table: Table, bind: Bind) -> None:
        """What runs without a call being written: `raise Class`, `with x`, a loop over an object; and what is kept."""
        if bind.target == "raise":
            self._passing.read(self._raised, table, bind)
        elif bind.target == "with":
            self._passing.read(self._implied, table, bind, bind.value, ("__enter__", "__exit__"))
        elif "[*]" in bind.value:
            base = bind.value.partition("[*]")[0]
            self._passing.read(self._implied, table, bind, base, ("__iter__",))
        elif bind.target[-1] == "]" and bind.value.rpartition(".")[2] in self._functions:
            self._kept(table, bind)

    def _kept(self, table: Table, bind: Bind) -> None:
        """A function kept in a table or list is likely called by whoever fills it, or on its behalf."""
        for value in self._names.values(table.path, bind.scope, bind.value, bind.line):
            if value.kind is Kind.DEFINITION and value.ref is not None and not self._names.classes.is_class(value.ref):
                tier = weaker(Tier.LIKELY, value.tier)
                self._add(Edge(table.refs[bind.scope], value.ref, bind.line, "kept", tier))

    def _raised(self, table: Table, bind: Bind) -> None:
        for value in self._names.values(table.path, bind.scope, bind.value, bind.line):
            if value.kind is Kind.DEFINITION and self._names.classes.is_class(value.ref):
                call = Call(bind.scope, bind.value, bind.line, 0, (), ())
                self._construct(table, call, value)

    def _implied(self, table: Table, bind: Bind, text: str, methods: Sequence[str]) -> None:
        """The methods of an object that a statement calls."""
        classes = self._names.classes
        source = table.refs[bind.scope]
        for value in self._names.values(table.path, bind.scope, text, bind.line):
            if value.kind is not Kind.INSTANCE or value.ref is None:
                continue
            for name in methods:
                for target in classes.method(value.ref, name):
                    self._add(Edge(source, target, bind.line, "protocol", value.tier))
                    for other in self._names.results(target, value.ref) if name == "__iter__" else ():
                        if other.kind is Kind.INSTANCE and other.ref is not None:
                            for step in classes.method(other.ref, "__next__"):
                                self._add(Edge(source, step, bind.line, "protocol", weaker(value.tier, other.tier)))


_PLAIN_BASES = frozenset({"object", "abc.ABC", "typing.Protocol", "typing.Generic", "typing.NamedTuple"})


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
                        methods.setdefault(row.name, []).append(table.refs[row.id])
    return frozenset(functions), methods


def nested(names: Names) -> Iterator[Edge]:
    """A function inside a function likely runs on its behalf, though nothing says so: guesses all."""
    for table in names.tables.values():
        for row in table.scopes:
            if _is_nested(table, row):
                yield Edge(table.refs[row.parent], table.refs[row.id], row.line, "call", Tier.GUESS)


def _is_nested(table: Table, row: Scope) -> bool:
    return row.kind is not ScopeKind.CLASS and row.parent > 0 and table.scopes[row.parent].kind is ScopeKind.FUNCTION
