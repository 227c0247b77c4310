"""Code below a flag that every caller holds against it: it is in the tree, and nothing runs it."""

from collections.abc import Iterator

from recon.detectors.api import Function, Index, Sighting
from recon.index.records import Call
from recon.index.tables import Ref, is_python

_DEEPEST = 3
"""Callers above callers that are asked what they hand on."""
_OFF = frozenset({"False", "None", "0"})
_ON = frozenset({"True", "1"})


def switched_off(index: Index, function: Function, sighting: Sighting) -> str:
    """Why no caller lets a place run, in words; '' where one does, or where it cannot be told."""
    for flag in sighting.flags:
        name, against = (flag.removeprefix("!"), _ON) if flag.startswith("!") else (flag, _OFF)
        given = _given(index, function.ref, name, _DEEPEST)
        if given and given <= against:
            return f"{name} is off in every call"
        is_own = index.parameter(function.ref, name) is None and is_python(function.path)
        if is_own and index.asleep.constant(function.path, name) is (against is _ON):
            return f"{name} never changes"
    flag = _keeping(index, function.ref)
    return f"{flag} never changes, and all calls stand under it" if flag else ""


def _keeping(index: Index, ref: Ref) -> str:
    """The flag of a module because of which no call that a runner reaches ever runs; '' where one may."""
    flags = dict[str, None]()
    for edge in (each for each in index.callers(ref) if index.holders(each.source)):
        flag = index.asleep.flag_at(edge.source.path, edge.line) if is_python(edge.source.path) else ""
        if not flag:
            return ""
        flags[flag] = None
    return next(iter(flags), "")


def _given(index: Index, ref: Ref, name: str, depth: int) -> set[str]:
    """What all callers hand to a parameter, as constants; what is none of them stands as ''. Empty without callers."""
    param = index.parameter(ref, name)
    if param is None or depth == 0:
        return {""}
    found: set[str] = set()
    for edge in index.graph.edges_to(ref):
        calls = [each for each in index.calls_between(edge) if _is_of(index, ref, each)]
        found |= set() if calls else {""}
        for call in calls:
            text = _argument(index, ref, call, name) or param.default
            is_handed_on = text.isidentifier() and index.parameter(edge.source, text) is not None
            found |= _given(index, edge.source, text, depth - 1) or {""} if is_handed_on else {text}
    return found


def _is_of(index: Index, ref: Ref, call: Call) -> bool:
    """Whether a call names a function, and is no other one on the same line; `f[]` launches f."""
    return call.callee.removesuffix("[]").rpartition(".")[2] == index.files[ref.path].scopes[ref.scope].name


def _argument(index: Index, ref: Ref, call: Call, name: str) -> str:
    """What a call hands to a parameter; '' where it hands nothing, `*` where that cannot be told."""
    if any(keyword == "**" for keyword in call.keywords):
        return "*"
    for keyword, text in zip(call.keywords, call.args[call.positional :], strict=False):
        if keyword == name:
            return text or "*"
    names = list(_names(index, ref, call))
    place = names.index(name) if name in names else call.positional
    return (call.args[place] or "*") if place < call.positional else ""


def _names(index: Index, ref: Ref, call: Call) -> Iterator[str]:
    """The parameters that a call's positional arguments go to."""
    names = [param.name for param in index.files[ref.path].scopes[ref.scope].params]
    bound = names[:1] in (["self"], ["cls"]) and "." in call.callee
    yield from names[1:] if bound else names
