"""The acceptance functions behind the verdicts of a tree, each cut out as a module that can be called."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from recon.detectors.roles import parameters_of
from recon.index.cutting import Cut, Uncut, cut
from recon.index.index import Index
from recon.index.names import Ref
from recon.index.owners import owner
from recon.index.records import ScopeKind
from recon.index.tables import is_python
from recon.records.cut import CutFunction
from recon.records.evidence import Evidence
from recon.records.verdict import Verdict

ACCEPT = "accept."
_MOST = 40


@dataclass(eq=False)
class _Wanted:
    """A function to cut, and the places of evidence that it is cut for."""

    ref: Ref
    capabilities: dict[str, list[str]] = field(default_factory=dict)
    """By the place, `path:symbol`, of evidence."""
    is_evidence: bool = False
    launches: bool = False
    """Whether it launches a kernel that is evidence."""


def acceptors(index: Index, install: str, verdicts: Iterable[Verdict]) -> tuple[CutFunction, ...]:
    """Cut the functions that acceptance verdicts rest on; a kernel comes with the function that launches it.

    Args:
        index: Of the tree.
        install: Its id.
        verdicts: Of the tree.
    """
    wanted: dict[Ref, _Wanted] = {}
    for verdict in verdicts:
        if verdict.capability.startswith(ACCEPT):
            for place in verdict.evidence:
                _want(index, wanted, verdict.capability, place)
    some = list(wanted.values())[:_MOST]
    made = [_made(index, install, each) for each in some]
    return tuple(_without_parts(made, some))


def _want(index: Index, wanted: dict[Ref, _Wanted], capability: str, place: Evidence) -> None:
    ref = index.place(place.path, place.symbol)
    if ref is None or not is_python(ref.path):  # a kernel in a string is in a Python file, and is none
        return
    callers = list(_launchers(index, ref)) if index.function(ref).is_kernel else []
    for target in callers or [ref]:
        one = wanted.setdefault(target, _Wanted(target))
        one.is_evidence |= not callers
        one.launches |= bool(callers)
        one.capabilities.setdefault(f"{place.path}:{place.symbol}", []).append(capability)


def _launchers(index: Index, kernel: Ref) -> Iterator[Ref]:
    """Functions that launch a kernel; of one that hands on all it is given, those that call it."""
    name = index.names.scope_of(kernel).name
    for path, outline in index.files.items():
        for call in outline.calls:
            if not call.callee.endswith("[]") or call.callee[:-2].rpartition(".")[2] != name:
                continue
            if kernel in index.names.resolve(path, call.scope, call.callee[:-2]):
                yield from _speaking(index, Ref(path, owner(outline, call.scope)))


def _speaking(index: Index, ref: Ref) -> list[Ref]:
    """The function itself, or, where its parameters have no names of their own, those of its file that name it."""
    scope = index.names.scope_of(ref)
    if any(not param.name.startswith("*") for param in scope.params):
        return [ref]
    lines = index.source(ref.path).decode("utf-8", "replace").splitlines()
    spelled = re.compile(rf"\b{re.escape(scope.name)}\b")
    return [
        Ref(ref.path, other.id)
        for other in index.files[ref.path].scopes
        if other.kind is ScopeKind.FUNCTION
        and other.id != ref.scope
        and spelled.search("\n".join(lines[other.first_line - 1 : other.end_line]))
    ] or [ref]


def _made(index: Index, install: str, wanted: _Wanted) -> CutFunction:
    ref = wanted.ref
    made: Cut | None = None
    refused = ""
    try:
        made = cut(index.names, index.source, ref)
        parameters = parameters_of(made.text, made.function, made.annotations)
    except (Uncut, ValueError, RecursionError) as error:
        refused, parameters = str(error), ()
    taken = made.taken if made else ()
    return CutFunction(
        install=install,
        path=ref.path,
        symbol=index.names.qualname(ref),
        line=index.names.scope_of(ref).line,
        module=index.names.tables[ref.path].module,
        text=made.text if made and not refused else "",
        parameters=parameters,
        covers=tuple(wanted.capabilities),
        capabilities=tuple(dict.fromkeys(each for some in wanted.capabilities.values() for each in some)),
        taken=taken,
        replaced=made.replaced if made else (),
        refused=refused,
    )


def _without_parts(made: list[CutFunction], wanted: list[_Wanted]) -> Iterator[CutFunction]:
    """Those that are not a mere part of another one: a launcher that another launcher calls is tested with it."""
    whole = [one for one, want in zip(made, wanted, strict=True) if want.launches]
    for one, want in zip(made, wanted, strict=True):
        place = f"{one.path}:{one.symbol}"
        if want.is_evidence or not any(place in other.taken for other in whole if other is not one):
            yield one
