"""Which runner or worker a piece of code belongs to: who reaches it, looked for upwards along the calls."""

import re
from collections import deque
from typing import TYPE_CHECKING

from recon.index.records import ScopeKind
from recon.index.tables import Ref
from recon.records.path import Tier

if TYPE_CHECKING:
    from recon.index.index import Index

_HOLDER = re.compile(r"(?P<stem>\w*?)(?P<kind>Runner|Worker|Scheduler|EngineCore)(?P<suffix>V\d+)?$")
"""Classes that run an engine's step carry these words in both engines; nothing is judged by them, only labelled."""
_MOST_VISITED = 3000


def holders(index: "Index", ref: Ref) -> tuple[str, ...]:
    """Labels of the nearest runners and workers that reach a definition, sorted; guesses are not followed."""
    found: dict[str, None] = {}
    seen = {ref}
    queue = deque([ref])
    while queue and len(seen) < _MOST_VISITED:
        current = queue.popleft()
        owner = _owner(index, current)
        label = _label(index, owner) if owner is not None else ""
        if label:
            found[label] = None
            continue
        for edge in index.graph.edges_to(current):
            if edge.tier is not Tier.GUESS and edge.source not in seen:
                seen.add(edge.source)
                queue.append(edge.source)
    return tuple(sorted(found))


def root_of(index: "Index", ref: Ref) -> str:
    """The label of the runner or worker whose method a definition is; '' for everything else."""
    scopes = index.files[ref.path].scopes
    is_method = ref.scope > 0 and scopes[scopes[ref.scope].parent].kind is ScopeKind.CLASS
    if scopes[ref.scope].kind is not ScopeKind.FUNCTION or not is_method:
        return ""
    return _label(index, Ref(ref.path, scopes[ref.scope].parent))


def _owner(index: "Index", ref: Ref) -> Ref | None:
    """The class around a definition."""
    scopes = index.files[ref.path].scopes
    scope = ref.scope
    while scope > 0:
        if scopes[scope].kind is ScopeKind.CLASS:
            return Ref(ref.path, scope)
        scope = scopes[scope].parent
    return None


def _label(index: "Index", owner: Ref) -> str:
    name = index.files[owner.path].scopes[owner.scope].name
    match = _HOLDER.match(name)
    if match is None:
        return ""
    kind = match["kind"].lower()
    alias = index.aliases.get(owner, "")
    if alias.startswith(name) and alias != name:  # two classes of one name, told apart where they are imported
        return f"{kind} {alias.removeprefix(name).strip('_')}"
    return f"{kind} {name}"
