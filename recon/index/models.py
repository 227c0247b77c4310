"""Models that nobody in the tree makes by name: a loader finds their class by what a checkpoint says."""

import re
from collections.abc import Container, Iterator

from recon.index.names import Names
from recon.index.records import Call, ScopeKind
from recon.index.tables import Ref, Table, is_python
from recon.index.values import Kind, Value

_RUNNERS = re.compile(r"Runner|Worker|Proposer|Speculator|Drafter|Executor|Engine|Agent")
_MODULE = "nn.Module"
_ANYTHING = "typing.Any"
_FORWARD = ".forward"
_FEWEST = 2
"""Keywords by which a call is known as that of a model: one alone is handed to much else."""


class ModelRuns:
    """Calls of models of which it is known only that they are some, as a graph is made.

    A runner, or who drafts, calls `self.model(...)`. Where no class bears such a name, a call counts that fits the
    models there are: of a field, by the keywords of their `forward` or by its name, in no module.

    Args:
        names: The definitions of the tree.
    """

    def __init__(self, names: Names) -> None:
        self._names = names
        self._named: dict[int, tuple[Table, Call]] = {}
        self._fitting: dict[int, tuple[Table, Call]] = {}

    def read(self, table: Table, call: Call, values: tuple[Value, ...]) -> bool:
        """Note a call, or that more is known of it by now; whether it runs a model for sure."""
        callee = call.callee
        if "model" not in callee and callee[:5] != "self.":
            return False
        self._named.pop(id(call), None)
        self._fitting.pop(id(call), None)
        called = callee.removesuffix(_FORWARD)
        owner, _, last = called.rpartition(".")
        is_named = last == "model" or last.endswith("_model")
        if not is_named and owner != "self":
            return False
        texts = [value.text.removesuffix(_FORWARD) for value in values if value.kind is Kind.OUTSIDE]
        if len(texts) < len(values) or not all(text.endswith((_MODULE, _ANYTHING)) for text in texts):
            return False
        if is_named and self._is_runner(table, call):
            self._named[id(call)] = (table, call)
            return True
        if owner == "self" and (called != call.callee or len(call.keywords) >= _FEWEST):
            self._fitting[id(call)] = (table, call)
        return False

    def _is_runner(self, table: Table, call: Call) -> bool:
        owner = table.class_around(call.scope)
        return owner is not None and _RUNNERS.search(table.scopes[owner].name) is not None

    def runs(self, made: Container[Ref]) -> Iterator[tuple[Table, Call, Ref]]:
        """Each call with the `forward` of each model that it may run.

        Args:
            made: Classes of which something in the tree makes an instance by name.
        """
        models = tuple(_loaded_models(self._names, made))
        if self._named:
            yield from ((*run, model) for run in self._named.values() for model in models)
            return
        keywords = {param.name for model in models for param in self._names.scope_of(model).params}
        for table, call in self._fitting.values():
            given = set(call.keywords) - {"**"}
            is_one = call.callee.endswith(_FORWARD) or (len(given) >= _FEWEST and given <= keywords)
            owner = table.class_around(call.scope)
            if is_one and owner is not None and not _is_module(self._names, Ref(table.path, owner)):
                yield from ((table, call, model) for model in models)


def _loaded_models(names: Names, made: Container[Ref]) -> Iterator[Ref]:
    """The `forward` of each class that can be loaded: a torch module that takes weights and is in no other's code.

    Where nothing is called what engines call the taking of weights, it is not asked for.
    """
    owners = [
        Ref(table.path, row.id)
        for table in names.tables.values()
        if is_python(table.path)
        for row in table.scopes
        if row.kind is ScopeKind.CLASS and names.classes.own(Ref(table.path, row.id), "forward")
    ]
    free = [owner for owner in owners if owner not in made and _is_module(names, owner)]
    for owner in [one for one in free if names.classes.method(one, "load_weights")] or free:
        yield from names.classes.own(owner, "forward")


def _is_module(names: Names, owner: Ref) -> bool:
    return any(base.endswith(_MODULE) for base in names.classes.outside_bases(owner))
