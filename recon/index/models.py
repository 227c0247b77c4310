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


def runs_a_model(table: Table, call: Call, values: tuple[Value, ...]) -> bool:
    """Whether a runner, or who drafts, runs a model of which it is known only that it is one: `self.model(...)`."""
    called = call.callee.removesuffix(_FORWARD)
    last = called.rpartition(".")[2]
    if last != "model" and not last.endswith("_model"):
        return False
    owner = table.class_around(call.scope)
    if owner is None or _RUNNERS.search(table.scopes[owner].name) is None:
        return False
    texts = [value.text.removesuffix(_FORWARD) for value in values if value.kind is Kind.OUTSIDE]
    return all(text.endswith((_MODULE, _ANYTHING)) for text in texts) and len(texts) == len(values)


def loaded_models(names: Names, made: Container[Ref]) -> Iterator[Ref]:
    """The `forward` of each class that can be loaded: a torch module that takes weights and is in no other's code.

    Args:
        names: The definitions of the tree.
        made: Classes of which something in the tree makes an instance by name.
    """
    for table in names.tables.values():
        if is_python(table.path):
            for row in table.scopes:
                owner = Ref(table.path, row.id)
                if row.kind is ScopeKind.CLASS and owner not in made and _loads(names, owner):
                    yield from names.classes.own(owner, "forward")


def _loads(names: Names, owner: Ref) -> bool:
    if not names.classes.own(owner, "forward") or not names.classes.method(owner, "load_weights"):
        return False
    return any(base.endswith(_MODULE) for base in names.classes.outside_bases(owner))
