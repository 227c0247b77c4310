"""Which runner or worker a piece of code belongs to, in words."""

import re
from typing import TYPE_CHECKING

from recon.index.tables import Ref

if TYPE_CHECKING:
    from recon.index.index import Index

_KIND = re.compile(r"\w*?(?P<kind>Runner|Worker|Scheduler|Executor|EngineCore|Engine|ModelAgent)")


def holders(index: "Index", ref: Ref) -> tuple[str, ...]:
    """Labels of the last worker or runner on each way to a definition, sorted; of the root where there is none."""
    found: dict[str, None] = {}
    for way in index.steps.ways(ref):
        holder = way.through or index.steps.holder_of(way.root or ref)
        if holder is not None:
            found[label(index, holder)] = None
    return tuple(sorted(found))


def root_of(index: "Index", ref: Ref) -> str:
    """The label of the holder whose step a definition is; '' for everything else."""
    holder = index.steps.holder_of(ref) if ref in index.steps.roots else None
    return label(index, holder) if holder is not None else ""


def label(index: "Index", holder: Ref) -> str:
    """What a holder is called: its kind, and what tells it from the others of that kind."""
    name = index.files[holder.path].scopes[holder.scope].name
    match = _KIND.match(name)
    kind = match["kind"].lower() if match is not None else "class"
    alias = index.aliases.get(holder, "")
    if alias.startswith(name) and alias != name:  # two classes of one name, told apart where they are imported
        return f"{kind} {alias.removeprefix(name).strip('_')}"
    return f"{kind} {name}"
