"""What a name means: dotted text, seen in a scope of a file, resolved to the definitions of a source tree."""

from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from recon.index.classes import Classes
from recon.index.elements import Elements, chosen_of, container_of, seen_from
from recon.index.made import patched, wrapped
from recon.index.questions import Questions
from recon.index.records import Bind, Import, Outline, Param, Scope
from recon.index.tables import Entry, Patch, Ref, Table, import_base, is_python, paused_gc, split_key, tokens
from recon.index.values import Kind, Value, together, weakened
from recon.records.path import Tier

__all__ = ["Kind", "Names", "Ref", "Value"]

_LONGEST_OUTSIDE = 200
_PROPERTIES = frozenset({"property", "cached_property", "lazy_property", "abstractproperty"})
_ANYTHING = frozenset({"", "Callable", "Any", "object"})
"""Annotations that leave open what a parameter is."""
_THROUGH = frozenset({"remote", "delay", "options", "fn", "run", "warmup", "__wrapped__", "__func__", "default"})
"""Attributes of a function that stand for the function itself."""
_MAKERS = frozenset({"__new__", "__init_subclass__", "__class_getitem__"})
_CLASS_ITSELF = "type["
_NONE: tuple[Value, ...] = ()
_D, _I, _M, _O, _C, _K = Kind.DEFINITION, Kind.INSTANCE, Kind.MODULE, Kind.OUTSIDE, Kind.CONTAINER, Kind.CONSTANT


class Names(Questions):
    """The definitions of a source tree, and what dotted texts in it mean.

    Nothing is executed; where the tree leaves several meanings open, all of them are given and none is certain.

    Attributes:
        tables: The names of each file, by path.
        classes: The hierarchy of its classes.
    """

    def __init__(self, files: Mapping[str, Outline]) -> None:
        super().__init__()
        with paused_gc():
            packages = {path.rpartition("/")[0] for path in files if path.endswith("/__init__.py")}
            self.tables = {
                path: Table(path, outline, import_base(path, packages)) for path, outline in sorted(files.items())
            }
        self.classes = Classes(self.tables, self.values)
        self._elements = Elements(self)
        self._modules = {table.module: table for table in self.tables.values() if is_python(table.path)}
        self._packages = {
            ".".join(name.split(".")[:depth]) for name in self._modules for depth in range(1, name.count(".") + 2)
        }
        with paused_gc():
            self.classes.settle()
            if patched(self, self._modules):
                self.start_anew()

    # Questions --------------------------------------------------------------------------------------------------------

    def scope_of(self, ref: Ref) -> Scope:
        """The record of a definition."""
        return self.tables[ref.path].scopes[ref.scope]

    def qualname(self, ref: Ref) -> str:
        """Name of a definition inside its file, e.g. `Runner.step`; '' for the module."""
        return self.tables[ref.path].qualname(ref.scope)

    def find(self, dotted: str) -> tuple[Ref, ...]:
        """Definitions that an absolute name means: `pkg.mod.Class.method`, or `pkg.mod:Class`."""
        return _definitions(self.absolute(dotted))

    def resolve(self, path: str, scope: int, text: str) -> tuple[Ref, ...]:
        """Definitions that a dotted text means where it stands."""
        return _definitions(self.values(path, scope, text))

    def values(self, path: str, scope: int, text: str, line: int = 0) -> tuple[Value, ...]:
        """All that a dotted text can mean where it stands, without repetition.

        Args:
            path: The file.
            scope: The scope of it.
            text: The dotted text.
            line: The line that it stands on, so that assignments which do not reach it are left out; 0 for all.
        """
        root = text.partition(".")[0].partition("(")[0]
        if root == "super":
            return self.ask((path, scope, text))
        if root[:1] == "<" and root[:4] != "<lam":
            return (Value(_O, text=text),) if len(root) < len(text) else (Value(_C, Ref(path, scope), root),)
        table = self.tables[path]
        home = scope if root in table.entries[scope] else table.home(scope, root)
        if home is None:
            return _NONE
        rest = text[len(root) :]
        if line or home != scope:
            entries = table.entries[home].get(root)
            if entries is None or len(entries) > 1:
                root = seen_from(table, home, root, line if home == scope else 0)
        key = (path, home, root)  # asked where the name comes from, so that equal questions are one
        found = self.known.get(key)
        if found is None:
            found = self.ask(key)
        if not found or not rest:
            return found
        if len(found) == 1 and found[0].kind is _O:
            return (Value(_O, None, found[0].text + rest, found[0].tier),)
        return self.ask((path, home, root + rest))

    def absolute(self, dotted: str) -> tuple[Value, ...]:
        """What an absolute dotted name means."""
        parts = dotted.replace(":", ".").split(".")
        for count in range(len(parts), 0, -1):
            module = ".".join(parts[:count])
            if module in self._modules:
                values: tuple[Value, ...] = (Value(_M, text=module),)
                for name in parts[count:]:
                    values = self._attributes(values, name)
                return values
        return _NONE

    # Answers ----------------------------------------------------------------------------------------------------------

    def _answer(self, path: str, scope: int, text: str) -> tuple[Value, ...]:
        if scope >= 0:
            table = self.tables[path]
            return self._in_scope(table, scope, text) if text.isidentifier() else self._evaluate(table, scope, text)
        if scope == -1:
            return self._member(path, text)
        given = self._delegated if text[0] == "?" else self._assigned
        return together(given(self.tables[path].refs[-2 - scope], text.removeprefix("?")))

    def _evaluate(self, table: Table, scope: int, text: str) -> tuple[Value, ...]:
        steps = tokens(text)
        if not steps:
            return _NONE
        if steps[0] == "super" and len(steps) > 2 and steps[1] == "()":
            owner = table.class_around(scope)
            found = self.classes.after(Ref(table.path, owner), steps[2]) if owner is not None else ()
            values, rest = tuple(Value(_D, ref) for ref in found), steps[3:]
        elif len(steps) == 1:
            return self._in_scope(table, scope, steps[0])
        else:
            values, rest = self.ask((table.path, scope, steps[0])), steps[1:]
        for step in rest:
            if not values:
                break
            if step == "()":
                values = self.results_of(values)
            elif step[0] == "[":
                for key in step[1:-1].split("]["):
                    values = self._elements.subscripted(values, key)
            else:
                values = self._attributes(values, step)
        return values

    def _in_scope(self, table: Table, scope: int, name: str) -> tuple[Value, ...]:
        """What a scope gives a name."""
        entries = table.entries[scope].get(name)
        if entries is not None and len(entries) == 1 and name[-1] != "]":
            return self._entry(table, scope, entries[0])
        base, key = split_key(name)
        bare, _, reaching = name.partition("@")
        if reaching:
            entries = table.entries[scope].get(bare)
        found: list[tuple[Value, ...]] = []
        if entries:
            chosen = chosen_of(entries, int(reaching, 16) if reaching and key is None else 0)
            in_turn = all(isinstance(entry, Bind) and entry.around in {1, entry.line} for entry in chosen)
            found.append(together([self._entry(table, scope, entry) for entry in chosen], in_turn=in_turn))
        elif key is None:
            for star in table.stars.get(scope, ()):
                given = self.ask((self._module_of(table, star), -1, name))
                if any(value.kind is not _O for value in given):
                    return given
        if key is None:
            return found[0] if found else _NONE
        return self._elements.element(Ref(table.path, scope), base, key, found)

    # What gives a name its meaning ------------------------------------------------------------------------------------

    def _entry(self, table: Table, scope: int, entry: Entry) -> tuple[Value, ...]:
        """What one definition, import, parameter or assignment gives."""
        if isinstance(entry, Scope):
            return (Value(_D, table.refs[entry.id]),)
        if isinstance(entry, Bind):
            return self._bound(table, entry)
        if isinstance(entry, Patch):
            return weakened(self._bound(self.tables[entry.path], entry.bind), Tier.LIKELY)
        if isinstance(entry, Param):
            return self._given(table, scope, entry)
        module = self._module_of(table, entry)
        if entry.name:
            return self.ask((module, -1, entry.name))
        top = module.partition(".")[0]
        return self._module(top if entry.alias == top else module)

    def _bound(self, table: Table, bind: Bind) -> tuple[Value, ...]:
        """What an assignment gives."""
        if bind.annotation:
            return self._annotated(table.path, bind.scope, bind.annotation)
        first = bind.value[0]
        if first == "<" and bind.value[:4] != "<lam" and bind.value[-1] == ">":
            return (container_of(table, bind),)
        if first in "'0123456789":
            return (Value(_K, text=bind.value),)
        found = self.values(table.path, bind.scope, bind.value, bind.line)
        if bind.value.endswith("()") and all(value.kind is _O for value in found):
            return wrapped(self, table, bind) or found
        return found

    def _given(self, table: Table, scope: int, param: Param) -> tuple[Value, ...]:
        """What is known of a parameter: the object of a method, an annotated class, a default."""
        row = table.scopes[scope]
        if param is row.params[0] and table.is_method(row):
            owner = table.refs[row.parent]
            if "classmethod" in row.decorators or row.name in _MAKERS:
                return (Value(_D, owner, receiver=owner),)
            return (Value(_I, owner),)
        found: list[tuple[Value, ...]] = []
        if param.annotation.rpartition(".")[2] in _ANYTHING:
            found.append(self.handed.given((table.refs[scope], param.name)))
        else:
            found.append(self._annotated(table.path, row.parent, param.annotation))
        if param.default[:1].isalpha() or param.default[:1] == "_":
            defaults = self.values(table.path, row.parent, param.default)
            found.append(weakened([value for value in defaults if value.kind in {_D, _C}], Tier.LIKELY))
        elif param.default[:7] == "<lambda":
            found.append(weakened(self.values(table.path, row.parent, param.default), Tier.LIKELY))
        return together([values for values in found if values], in_turn=True)

    def _module_of(self, table: Table, item: Import) -> str:
        """Absolute name of the module that an import names."""
        bare = item.module.lstrip(".")
        level = len(item.module) - len(bare)
        if not level:
            return bare
        parts = table.package.split(".") if table.package else []
        kept = parts[: len(parts) - level + 1] if level <= len(parts) + 1 else []
        return ".".join([*kept, bare] if bare else kept)

    def _module(self, name: str) -> tuple[Value, ...]:
        return (Value(_M if name in self._packages else _O, text=name),)

    def _member(self, module: str, name: str) -> tuple[Value, ...]:
        """What a module has under a name: a definition, what it imports, or a submodule."""
        table = self._modules.get(module)
        dotted = f"{module}.{name}"
        found = _NONE
        if table is not None:
            found = self._in_scope(table, 0, seen_from(table, 0, name, 0))
        if found:
            return found
        if dotted in self._packages:
            return (Value(_M, text=dotted),)
        return _NONE if module in self._packages else (Value(_O, text=dotted),)

    # Steps of a dotted text -------------------------------------------------------------------------------------------

    def _attributes(self, values: Sequence[Value], name: str) -> tuple[Value, ...]:
        """What values have under a name."""
        if len(values) == 1:
            return self._attribute(values[0], name)
        found = [self._attribute(value, name) for value in values]
        return together([values for values in found if values])

    def _attribute(self, value: Value, name: str) -> tuple[Value, ...]:
        if value.kind is _M:
            return weakened(self.ask((value.text, -1, name)), value.tier)
        if value.kind is _O:
            is_short = len(value.text) < _LONGEST_OUTSIDE
            return (Value(_O, text=f"{value.text}.{name}", tier=value.tier),) if is_short else _NONE
        if value.kind is _C:
            return (Value(_O, text=f"{value.text.partition('>')[0]}>.{name}", tier=value.tier),)
        if value.kind is _K:
            kind = "str" if value.text[:1] in "'<" else "int"
            return (Value(_O, text=f"<{kind}>.{name}", tier=value.tier),)
        if self.classes.is_class(value.ref):
            return self._of_class(value, name)
        return (value,) if name in _THROUGH else _NONE

    def _of_class(self, value: Value, name: str) -> tuple[Value, ...]:
        """An attribute of a class or of its instance."""
        assert value.ref is not None
        receiver = value.receiver if value.kind is _D else None if value.exact else value.ref
        defined = [Value(_D, ref, receiver=receiver) for ref in self.classes.method(value.ref, name)]
        if value.kind is _I and defined and self._is_property(defined[0]):
            return weakened(self.results_of(defined), value.tier)
        assigned = self.ask((value.ref.path, -2 - value.ref.scope, name))
        found = [values for values in (tuple(defined), assigned) if values]
        base, key = split_key(name)
        if not found and key is not None:
            found = [self._elements.subscripted(self._of_class(value, base), key)]
        if not any(found) and not value.exact:
            found = self._below(value.ref, name)
        if not any(found) and value.kind is _I and name[:2] != "__":
            found = [self.ask((value.ref.path, -2 - value.ref.scope, f"?{name}"))]
        return weakened(together(found), value.tier)

    def _delegated(self, ref: Ref, name: str) -> list[tuple[Value, ...]]:
        """What an object whose `__getattr__` looks in another one has under a name."""
        found: list[tuple[Value, ...]] = []
        for method in self.classes.method(ref, "__getattr__"):
            asked = self.scope_of(method).params[1:2]
            for call in self.tables[method.path].calls_in(method.scope) if asked else ():
                if call.callee == "getattr" and len(call.args) > 1 and call.args[1] == asked[0].name and call.args[0]:
                    values = self.values(method.path, method.scope, f"{call.args[0]}.{name}")
                    found += [values] if values else []
        return found

    def _assigned(self, ref: Ref, name: str) -> list[tuple[Value, ...]]:
        """What assignments give an attribute, in the class, its bases and their methods."""
        found: list[tuple[Value, ...]] = []
        for one in self.classes.order(ref):
            table = self.tables[one.path]
            binds = table.attributes.get(one.scope, {}).get(name, ())
            found += [self._bound(table, bind) for bind in binds]
            entries = table.entries[one.scope].get(name, ())
            found += [self._entry(table, one.scope, entry) for entry in entries if not isinstance(entry, Scope)]
        base, key = split_key(name)
        if key is None:
            return found
        element = self._elements.element(Ref(ref.path, -2 - ref.scope), base, key, [together(found)] if found else [])
        return [element] if element else []

    def _below(self, ref: Ref, name: str) -> list[tuple[Value, ...]]:
        """What subclasses define or assign, where the class itself knows nothing of it."""
        methods = self.classes.overrides(ref, name)
        if methods:
            return [(Value(_D, one, tier=Tier.LIKELY),) for one in methods]
        found: list[tuple[Value, ...]] = []
        for one in self.classes.subclasses(ref):
            table = self.tables[one.path]
            binds = table.attributes.get(one.scope, {}).get(name, ())
            found += [weakened(self._bound(table, bind), Tier.LIKELY) for bind in binds]
        return found

    def _is_property(self, value: Value) -> bool:
        assert value.ref is not None
        words = self.scope_of(value.ref).decorators
        return any(word.rpartition(".")[2] in _PROPERTIES for word in words)

    def results_of(self, values: Iterable[Value]) -> tuple[Value, ...]:
        """What calling values gives: an instance of a class, what a function gives back."""
        found: list[tuple[Value, ...]] = []
        for value in values:
            if value.kind is _C or value.kind is _K:
                continue
            if value.kind is _O:
                found.append((replace(value, text=f"{value.text}()"),) if len(value.text) < _LONGEST_OUTSIDE else ())
            elif value.ref is None:
                continue
            elif value.kind is _I:
                called = self.classes.method(value.ref, self.classes.called(value.ref))
                found += [weakened(self.results(ref, value.ref), value.tier) for ref in called]
            elif self.classes.is_class(value.ref):
                found.append((Value(_I, value.ref, tier=value.tier, exact=value.receiver is None),))
            else:
                found.append(weakened(self.results(value.ref, value.receiver), value.tier))
        return together(found)

    def results(self, ref: Ref, receiver: Ref | None = None) -> tuple[Value, ...]:
        """What a function gives back: an instance of the class that it declares, else what its body returns."""
        row = self.scope_of(ref)
        if row.returns == "Self" and self.classes.is_class(Ref(ref.path, row.parent)):
            return (Value(_I, receiver or Ref(ref.path, row.parent)),)
        declared = self._annotated(ref.path, row.parent, row.returns) if row.returns else _NONE
        if any(value.kind is _I for value in declared) and not self._is_choice(ref):
            return declared
        found = self.ask((ref.path, ref.scope, "return"))
        if receiver is not None and receiver != Ref(ref.path, row.parent):  # `return self` of a base's method
            found = tuple(
                replace(v, ref=receiver) if v.kind is _I and v.ref == (ref.path, row.parent) else v for v in found
            )
        return together([each for each in (found, declared) if each])

    def _is_choice(self, ref: Ref) -> bool:
        """Whether a function makes one of several things, of which its annotation names only one."""
        made = self.tables[ref.path].entries[ref.scope].get("return", ())
        return len({entry.value for entry in made if isinstance(entry, Bind) and entry.value.endswith("()")}) > 1

    def _annotated(self, path: str, scope: int, text: str) -> tuple[Value, ...]:
        """What an annotation promises: an instance, or for `type[X]` the class or one below it."""
        if not text.startswith(_CLASS_ITSELF):
            return _instances(self.values(path, scope, text))
        found = self.values(path, scope, text[len(_CLASS_ITSELF) : -1])
        return tuple(replace(value, receiver=value.ref) for value in found if self.classes.is_class(value.ref))


def _instances(values: Iterable[Value]) -> tuple[Value, ...]:
    """Instances of classes; of a thing outside, a thing outside."""
    return tuple(
        Value(_I, value.ref, tier=value.tier) if value.kind is _D else value
        for value in values
        if value.kind in {_D, _O}
    )


def _definitions(values: Iterable[Value]) -> tuple[Ref, ...]:
    return tuple(value.ref for value in values if value.kind is _D and value.ref is not None)
