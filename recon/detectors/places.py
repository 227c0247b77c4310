"""From sightings to evidence: places with the runners that reach them, the best first."""

from collections.abc import Iterable
from pathlib import PurePosixPath

from recon.detectors.api import Evidence, Function, Grade, Index, Reach, Sighting
from recon.detectors.flags import switched_off
from recon.index.graph import Edge
from recon.index.records import Outline, ScopeKind
from recon.index.steps import serves_other_platform
from recon.index.tables import Ref, is_python
from recon.index.values import Kind
from recon.records.findings import Outside
from recon.records.path import Tier

_MOST_STEPS = 4
"""Calls between the function that C++ registers and the kernel."""
BY_CHOICE = " by "
"""Stands in the label of a runner or worker that does not run by default: `runner V2 by environment`."""
_OUTSKIRTS = frozenset({"test", "tests", "testing", "benchmark", "benchmarks", "examples"})


def evidence(index: Index, function: Function, line: int, note: str, grade: Grade = Grade.SHAPED) -> Evidence:
    """One observation in a function."""
    scope = index.holders(function.ref)
    return Evidence(function.file, function.symbol, line, grade, scope, note)


def seen(index: Index, *shapes: str) -> list[Evidence]:
    """Evidence for all sightings of some shapes, one a function, code that a runner reaches first."""
    found: dict[Ref, tuple[Function, Sighting]] = {}
    for function, sighting in index.seen(*shapes):
        known = found.setdefault(function.ref, (function, sighting))
        if known[1] is not sighting and switched_off(index, *known) and not switched_off(index, function, sighting):
            found[function.ref] = (function, sighting)
    return ranked(shaped(index, function, sighting) for function, sighting in found.values())


def with_doors(index: Index, *shapes: str) -> list[Evidence]:
    """`seen`, with the Python functions through which code that is built at run time is called."""
    places = seen(index, *shapes)
    doors = [
        evidence(index, door, door.scope.line, f"calls {function.symbol}, built from {function.file}", Grade.DECLARED)
        for function, _ in index.seen(*shapes)
        if not is_python(function.path)
        for door in doors_of(index, function)
    ]
    return ranked([*places, *doors])


def shaped(index: Index, function: Function, sighting: Sighting) -> Evidence:
    """The evidence that a sighting is; no runner reaches what every caller switches off."""
    why = switched_off(index, function, sighting)
    if why:
        note = f"{sighting.note}, but {why}"
        return Evidence(function.file, function.symbol, sighting.line, Grade.SHAPED, (), note)
    return evidence(index, function, sighting.line, sighting.note)


def launchers(index: Index, function: Function, note: str, steps: int = 1) -> list[Evidence]:
    """The functions that call one, over a few steps; the note tells of each, with `{}` for what it calls."""
    found: dict[Ref, Evidence] = {}
    level = {function.ref: function}
    for _ in range(steps):
        onward: dict[Ref, Function] = {}
        for target in level.values():
            for edge in index.callers(target.ref):
                caller = index.function(edge.source)
                if caller.scope.kind is ScopeKind.FUNCTION and edge.source != function.ref:
                    onward[edge.source] = caller
                    place = evidence(index, caller, edge.line, note.format(target.symbol))
                    found.setdefault(edge.source, place)
        level = onward
    return list(found.values())


def outside(index: Index, *words: frozenset[str]) -> Outside:
    """Calls of functions that another distribution defines and whose names hold all words of a set.

    A name is no proof, neither that the function does it nor that it does not: they keep an answer from being "absent".
    """
    names: dict[str, None] = {}
    found: dict[tuple[Ref, str], Evidence] = {}
    lasts = {each.last for each in index.foreign_calls}
    fitting = {last for last in lasts if any(all(word in last.lower() for word in group) for group in words)}
    for each in index.foreign_calls:
        if each.last in fitting:
            caller = index.function(each.caller)
            note = f"calls {each.name}, which another distribution defines"
            found.setdefault((caller.ref, each.name), evidence(index, caller, each.call.line, note, Grade.DECLARED))
            names[each.name] = None
    return Outside(tuple(sorted(names)), tuple(ranked(found.values())))


def doors_of(index: Index, function: Function) -> list[Function]:
    """Python functions that call code of a CUDA file: an operator, or a module built from the file by its name."""
    name = PurePosixPath(function.path).name
    above = _above(index, function.ref)
    doors = [
        index.function(caller.ref)
        for row in index.operator_rows
        if not above.isdisjoint(row.functions)
        for caller in row.callers
    ]
    for path, outline in index.files.items():
        builders = (
            {text.scope for text in outline.texts if name in text.text and PurePosixPath(text.text).name == name}
            if is_python(path)
            else ()
        )
        for builder in builders:
            if not builder:
                doors += _users(index, path, function, above)
            callers = [call.scope for call in outline.calls if _calls(outline.scopes[builder].name, call.callee)]
            doors += [
                index.function(Ref(path, scope))
                for scope in callers or [builder]
                if _leads(index, path, scope, function)
            ]
    return list({door.ref: door for door in doors}.values())


def _users(index: Index, builder: str, function: Function, above: set[Ref]) -> list[Function]:
    """Functions that call code of a CUDA file through the name that a module gives to what it builds: `ops.run()`."""
    made = [index.names.values(builder, 0, bind.target) for bind in index.binds_of(Ref(builder, 0))]
    built = [values for values in made if values and all(value.kind is Kind.OUTSIDE for value in values)]
    exported = {row.operator.name for row in index.operator_rows if not above.isdisjoint(row.functions)}
    exported |= _launchers(index, function)
    found = []
    for path, outline in index.files.items() if built else ():
        if not is_python(path) or (path != builder and not _imports(outline, builder)):
            continue
        for call in outline.calls:
            base, _, name = call.callee.rpartition(".")
            if name in exported and base and index.names.values(path, call.scope, base, call.line) in built:
                found.append(index.function(Ref(path, call.scope)))
    return found


def _imports(outline: Outline, module: str) -> bool:
    """Whether a file imports a module, or something of it, as far as the module's own name tells."""
    path = PurePosixPath(module)
    name = path.parent.name if path.stem == "__init__" else path.stem
    return any(name in (each.module.rpartition(".")[2], each.name) for each in outline.imports)


def _above(index: Index, ref: Ref) -> set[Ref]:
    """A function of C++ or CUDA and those that call it, over a few steps."""
    level, seen = {ref}, {ref}
    for _ in range(_MOST_STEPS):
        edges = [edge for one in level for edge in index.graph.edges_to(one) if not is_python(edge.source.path)]
        level = {edge.source for edge in edges if _is_told(index, edge)} - seen
        seen |= level
    return seen


def _is_told(index: Index, edge: Edge) -> bool:
    """Whether a call by name means one function, or overloads that stand in one file."""
    if edge.tier is not Tier.GUESS:
        return True
    also = (other for other in index.graph.edges_from(edge.source) if other.line == edge.line)
    return {other.target.path for other in also if other.tier is Tier.GUESS} == {edge.target.path}


def _calls(builder: str, callee: str) -> bool:
    return bool(builder) and callee.split("()", maxsplit=1)[0].rsplit(".", maxsplit=1)[-1] == builder


def _leads(index: Index, path: str, scope: int, function: Function) -> bool:
    """Whether a function of the module calls what launches the kernel in the CUDA file, if that can be told."""
    exported = _launchers(index, function)
    called = {call.callee.rpartition(".")[2] for call in index.files[path].calls if call.scope == scope}
    defined = {s.name for s in index.files[function.path].scopes}
    return bool(called & exported) or not called & defined


def _launchers(index: Index, function: Function) -> set[str]:
    """Names of the functions of the same file that reach a kernel."""
    outline = index.files[function.path]
    names = {function.scope.name}
    for _ in range(4):
        names |= {
            outline.scopes[call.scope].name
            for call in outline.calls
            if call.callee.rstrip("[]").split("::")[-1] in names
        }
    return names


def ranked(places: Iterable[Evidence]) -> list[Evidence]:
    """The order in which places speak: those that most servers run first; where nothing decides, the order stays.

    Tests and benchmarks come last, what no runner reaches before them; then shaped code before what is only declared,
    code for CUDA before that of other platforms, and what runs by default before what must be chosen.
    """
    return sorted(
        places,
        key=lambda each: (
            is_outskirts(each.path),
            not each.scope,
            -each.grade.rank,
            serves_other_platform(each.path),
            _is_chosen(each.scope),
        ),
    )


def _is_chosen(scope: Iterable[str]) -> bool:
    """Whether something must be chosen before a place is reached: no runner that runs by default leads there."""
    return all(BY_CHOICE in label for label in scope)


def reach_of(places: Iterable[Evidence]) -> Reach | None:
    """How far the best of these places is connected."""
    found = list(places)
    if not found:
        return None
    return Reach.WIRED if any(each.scope for each in found) else Reach.DEFINED


def is_outskirts(path: str) -> bool:
    """Whether a file belongs to tests, benchmarks or examples."""
    return bool(_OUTSKIRTS & set(PurePosixPath(path).parts))
