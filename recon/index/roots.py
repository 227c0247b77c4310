"""The roots that reach a piece of code, in words: the runner or worker with what chooses it, and the backend."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from recon.index.context import handed_out
from recon.index.picks import Pick
from recon.index.records import ScopeKind
from recon.index.tables import Ref
from recon.records.path import Tier

if TYPE_CHECKING:
    from recon.index.index import Index

_KIND = re.compile(r"\w*?(?P<kind>Runner|Worker|Scheduler|Executor|EngineCore|Engine|ModelAgent)")
_BACKEND = re.compile(r"\w*Backend")
_MOST_VISITED = 400
_MOST_BACKENDS = 4
_WEIGHTS = ("method", "backend", "environment", "platform", "configuration")


def holders(index: "Index", ref: Ref) -> tuple[str, ...]:
    """Labels of the last worker or runner on each way to a definition, sorted, and of the backends it takes.

    Of the root's class where no worker or runner lies on the way; nothing where no root reaches it.
    """
    found: dict[str, None] = {}
    for way in index.steps.ways(ref):
        holder = way.through or index.steps.driver_of(way.root or ref)
        if holder is not None:
            found[label(index, holder)] = None
    return (*sorted(found), *(backends(index, ref) if found else ()))


def root_of(index: "Index", ref: Ref) -> str:
    """The label of the holder whose step a definition is; '' for everything else."""
    holder = index.steps.driver_of(ref)
    return label(index, holder) if holder is not None else ""


def label(index: "Index", holder: Ref) -> str:
    """What a holder is called: its kind, what tells it from others of that kind, and who chooses it if not the default.

    E.g. `runner V1`, `runner V2 by environment`, `worker NGRAMWorker by method ngram`.
    """
    pick = pick_of(index, holder)
    return f"{name_of(index, holder)} by {pick.by}" if pick and not pick.is_default else name_of(index, holder)


def name_of(index: "Index", holder: Ref) -> str:
    """What a holder is called, whoever chooses it."""
    scope = index.files[holder.path].scopes[holder.scope]
    name, match = scope.name, _KIND.match(scope.name)
    kind = match["kind"].lower() if match is not None else "class" if scope.kind is ScopeKind.CLASS else "function"
    alias = index.aliases.get(holder, "")
    if alias.startswith(name) and alias != name:  # two classes of one name, told apart where they are imported
        return f"{kind} {alias.removeprefix(name).strip('_')}"
    return f"{kind} {name}"


def pick_of(index: "Index", owner: Ref) -> Pick | None:
    """What decides that a class is used, None where nothing does."""
    decided = [pick for pick in index.picks.of(owner) if pick.by]
    return min(decided, key=lambda pick: _WEIGHTS.index(pick.by.partition(" ")[0]), default=None)


def backends(index: "Index", ref: Ref) -> tuple[str, ...]:
    """The backends without which nothing leads to a definition; () where another way does, or there are too many."""
    found: dict[str, None] = {}
    seen = {ref}
    todo = [ref]
    while todo:
        one = todo.pop()
        key = _key_of(index, one)
        if key:
            found[key] = None
            continue
        if one in index.steps.roots or index.steps.holder_of(one) is not None or len(seen) > _MOST_VISITED:
            return ()
        callers = [edge.source for edge in index.graph.edges_to(one) if edge.tier is not Tier.GUESS]
        fresh = [caller for caller in callers if caller not in seen]
        seen.update(fresh)
        todo += fresh
    return tuple(sorted(found)) if len(found) <= _MOST_BACKENDS else ()


def _key_of(index: "Index", ref: Ref) -> str:
    """The key of the backend to which the class around a definition belongs."""
    scopes = index.files[ref.path].scopes
    owner = next((scope for scope in _upwards(index, ref) if scopes[scope].kind is ScopeKind.CLASS), None)
    if owner is None:
        return ""
    for one in (Ref(ref.path, owner), *_kits(index, Ref(ref.path, owner))):
        if _BACKEND.match(scopes[one.scope].name):
            pick = pick_of(index, one)
            if pick is not None and pick.by.startswith("backend "):
                return pick.by
    return ""


def _upwards(index: "Index", ref: Ref) -> Iterator[int]:
    scope = ref.scope
    while scope > 0:
        yield scope
        scope = index.files[ref.path].scopes[scope].parent


def _kits(index: "Index", owner: Ref) -> Iterator[Ref]:
    """Classes of the same file whose methods hand a class out."""
    table = index.names.tables[owner.path]
    for row in table.scopes:
        if row.kind is ScopeKind.CLASS and owner in handed_out(index.names, table, row.id):
            yield Ref(owner.path, row.id)
