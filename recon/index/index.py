"""The index of one source tree: the read-only questions that detectors ask."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from recon.errors import Unreadable
from recon.index.aliases import LibraryAliases
from recon.index.asleep import Asleep
from recon.index.cache import OutlineCache
from recon.index.choosing import choosers, of_file, with_inner
from recon.index.counts import Counts, counted
from recon.index.foreign_calls import ForeignCall, foreign_calls
from recon.index.graph import Edge, Graph
from recon.index.inline import LONGEST_HELPER, called_objects
from recon.index.measures import measured
from recon.index.names import Names
from recon.index.optable import Row, table_of
from recon.index.owners import owner
from recon.index.picks import Picks
from recon.index.pool import Asked, outline_of, outlines
from recon.index.reading import Ask, Job, Slice, answers
from recon.index.records import Bind, Call, Feature, Outline, Param, Scope, ScopeKind
from recon.index.refusals import Refusal, read_refusals
from recon.index.roots import holders, label
from recon.index.sharing import share
from recon.index.sighting import Sighting
from recon.index.steps import Steps
from recon.index.strings import MARK, WithStrings, file_of
from recon.index.tables import Ref, is_kernel, is_python
from recon.index.unread import unread
from recon.ports import Blobs, Progress
from recon.records.operator import Operator
from recon.records.path import Tier
from recon.records.source import Library, Snapshot
from recon.records.unknown import LIBRARY, Unknown

KERNEL = Feature.JIT | Feature.CUDA
_Row = TypeVar("_Row", Call, Bind)


@dataclass(frozen=True, slots=True)
class Function:
    """One function of the tree."""

    ref: Ref
    path: str
    symbol: str
    """Innermost enclosing function or `Class.method`, nested functions by their outer one."""
    scope: Scope

    @property
    def file(self) -> str:
        """The file in which its source stands: its path, but for a function in a string of a Python file."""
        return file_of(self.path)

    @property
    def is_kernel(self) -> bool:
        """Whether it runs on the device."""
        return is_kernel(self.scope)


@dataclass(eq=False)
class Index:
    """Everything that was read of one source tree."""

    files: Mapping[str, Outline]
    """By path."""
    snapshot: Snapshot
    sightings: dict[Ref, tuple[Sighting, ...]] = field(default_factory=dict)
    """What the shapes saw, by function."""
    examined: dict[str, set[tuple[str, int]]] = field(default_factory=dict)
    """Functions read in full (blob digest and scope), by the name of the choice that chose them."""
    refused: dict[Ref, str] = field(default_factory=dict)
    """Functions that were to be read in full and could not be."""
    refusals: dict[Ref, tuple[Refusal, ...]] = field(default_factory=dict)
    """Where functions refuse to go on, of those that were asked for it."""
    blobs: Blobs | None = None
    """Where the bytes of the files are; None for a tree of outlines alone."""
    _holders: dict[Ref, tuple[str, ...]] = field(default_factory=dict)
    _places: dict[str, dict[str, Ref]] = field(default_factory=dict)
    _calls: dict[str, Mapping[int, Sequence[Call]]] = field(default_factory=dict)
    _binds: dict[str, Mapping[int, Sequence[Bind]]] = field(default_factory=dict)

    @cached_property
    def names(self) -> Names:
        """What dotted names mean."""
        return Names(self.files)

    @cached_property
    def graph(self) -> Graph:
        """Who calls whom."""
        return Graph(self.names)

    @cached_property
    def steps(self) -> Steps:
        """The engine's step, and what it reaches."""
        return Steps(self.names, self.graph, self.sightings.keys())

    @cached_property
    def picks(self) -> Picks:
        """What decides which class is used."""
        return Picks(self.names, self.source)

    @cached_property
    def asleep(self) -> Asleep:
        """What never runs, by the flags of modules."""
        return Asleep(self.files, self.source)

    def source(self, path: str) -> bytes:
        """The bytes of a file, empty where they cannot be had any more."""
        try:
            return self.blobs.get(self._digests[path]) if self.blobs is not None else b""
        except Unreadable:
            return b""

    def place(self, path: str, symbol: str) -> Ref | None:
        """The function that a place of evidence names, None for code outside of functions."""
        if path not in self._places:
            scopes = self.files[path].scopes if path in self.files else ()
            named = ((symbol_of(self.files[path], row.id), row) for row in scopes if row.kind is ScopeKind.FUNCTION)
            self._places[path] = {}
            for name, row in named:
                self._places[path].setdefault(name, Ref(path, row.id))
        found = self._places[path].get(symbol)
        return self.place(f"{path}{MARK}", symbol) if found is None and f"{path}{MARK}" in self.files else found

    def outermost(self, ref: Ref) -> Ref:
        """The outermost function around a definition, itself where there is none."""
        scopes = self.files[ref.path].scopes
        scope = ref.scope
        while scope > 0:
            if scopes[scope].kind is ScopeKind.FUNCTION:
                ref = Ref(ref.path, scope)
            scope = scopes[scope].parent
        return ref

    @cached_property
    def aliases(self) -> dict[Ref, str]:
        """Other names under which definitions are imported somewhere in the tree."""
        found: dict[Ref, str] = {}
        for path, outline in self.files.items():
            for item in outline.imports:
                if item.name and item.alias not in (item.name, "*"):
                    for ref in self.names.resolve(path, item.scope, item.alias):
                        tells = item.alias.startswith(self.names.scope_of(ref).name)
                        found[ref] = item.alias if tells else found.get(ref, item.alias)
        return found

    @cached_property
    def foreign_calls(self) -> tuple[ForeignCall, ...]:
        """Calls of what other distributions define."""
        return tuple(foreign_calls(self))

    def holders(self, ref: Ref) -> tuple[str, ...]:
        """Labels of the runners and workers on the ways from the engine's step to a definition."""
        if ref not in self._holders:
            self._holders[ref] = holders(self, ref)
        return self._holders[ref]

    def label(self, holder: Ref) -> str:
        """What a runner or worker is called, e.g. `runner V1`."""
        return label(self, holder)

    @property
    def libraries(self) -> tuple[Library, ...]:
        """The compiled libraries of the tree."""
        return self.snapshot.libraries

    @cached_property
    def operator_rows(self) -> tuple[Row, ...]:
        """The operators of the tree, with the definitions that call them and that run for them."""
        is_blind = any(each.what == LIBRARY for each in self.snapshot.unread)
        return table_of(self.names, self.libraries, is_blind=is_blind, has_callers=lambda ref: bool(self.callers(ref)))

    @property
    def operators(self) -> tuple[Operator, ...]:
        """Every operator that the tree calls, registers, or holds the schema or symbol of."""
        return tuple(row.operator for row in self.operator_rows)

    @cached_property
    def counts(self) -> Counts:
        """How much was read."""
        return counted(self.files, len(self.libraries))

    @cached_property
    def unread(self) -> tuple[Unknown, ...]:
        """What could not be read as a whole: files, libraries, and parts that a parser gave up on."""
        refused = ((ref.path, self.names.scope_of(ref).line, why) for ref, why in self.refused.items())
        return unread(self.snapshot, self.files, refused)

    def calls_of(self, ref: Ref) -> Sequence[Call]:
        """The call sites in a definition, those of its lambdas among them."""
        return self._calls_in(ref.path).get(ref.scope, ())

    def binds_of(self, ref: Ref) -> Sequence[Bind]:
        """The assignments in a definition."""
        return self._binds_in(ref.path).get(ref.scope, ())

    def _calls_in(self, path: str) -> Mapping[int, Sequence[Call]]:
        """The call sites of a file by the definition that they stand in."""
        if path not in self._calls:
            self._calls[path] = by_owner(self.files[path], self.files[path].calls)
        return self._calls[path]

    def _binds_in(self, path: str) -> Mapping[int, Sequence[Bind]]:
        if path not in self._binds:
            self._binds[path] = by_owner(self.files[path], self.files[path].binds)
        return self._binds[path]

    @cached_property
    def field_binds(self) -> dict[str, list[tuple[Ref, Bind]]]:
        """Assignments to fields of objects, by the field's name, with the definition that makes them."""
        found: dict[str, list[tuple[Ref, Bind]]] = {}
        for path in self.files:
            for scope, binds in self._binds_in(path).items():
                ref = Ref(path, scope)
                for bind in binds:
                    owner, dot, name = bind.target.rpartition(".")
                    if dot and owner:
                        found.setdefault(name, []).append((ref, bind))
        return found

    @cached_property
    def keyword_uses(self) -> dict[str, list[tuple[Ref, Call, str]]]:
        """Keyword arguments by name: who calls, the call, and the text that is handed over."""
        found: dict[str, list[tuple[Ref, Call, str]]] = {}
        for path in self.files:
            for scope, calls in self._calls_in(path).items():
                ref = Ref(path, scope)
                for call in calls:
                    if call.keywords:
                        for name, text in zip(call.keywords, call.args[call.positional :], strict=False):
                            found.setdefault(name, []).append((ref, call, text))
        return found

    def parameter(self, ref: Ref, name: str) -> Param | None:
        """The parameter of a function that has a name."""
        params = self.files[ref.path].scopes[ref.scope].params
        return next((param for param in params if param.name.lstrip("*") == name), None)

    def constructs(self, ref: Ref, call: Call) -> bool:
        """Whether a call makes an instance of a class of the tree, or a changed copy of one."""
        if call.callee.rpartition(".")[2] == "replace":
            return True
        targets = self.names.resolve(ref.path, ref.scope, call.callee)
        return any(self.files[one.path].scopes[one.scope].kind is ScopeKind.CLASS for one in targets)

    def callers(self, ref: Ref) -> tuple[Edge, ...]:
        """The edges that lead to a definition, guesses left out."""
        return tuple(edge for edge in self.graph.edges_to(ref) if edge.tier is not Tier.GUESS)

    def examined_for(self, choices: Iterable[str]) -> int:
        """How many functions were read in full for one of these choices."""
        return len(set().union(*(self.examined.get(name, set()) for name in choices)))

    def calls_between(self, edge: Edge) -> Iterator[Call]:
        """All call sites that an edge stands for; the edge itself names only the first."""
        for call in self.calls_of(edge.source):
            targets = self.names.resolve(edge.source.path, edge.source.scope, call.callee)
            if call.line == edge.line or edge.target in targets:
                yield call

    def functions(self, paths: Iterable[str] | None = None) -> Iterator[Function]:
        """Every function and method of the tree, or of some of its files, in the order of files and lines."""
        chosen = self.files.keys() if paths is None else self.files.keys() & paths
        for path, outline in self.files.items():
            for scope in outline.scopes if path in chosen else ():
                if scope.kind is ScopeKind.FUNCTION:
                    yield self.function(Ref(path, scope.id))

    def function(self, ref: Ref) -> Function:
        """The function that a reference names; for a module or class, a stand-in of that name."""
        return Function(
            ref, ref.path, symbol_of(self.files[ref.path], ref.scope), self.files[ref.path].scopes[ref.scope]
        )

    def seen(self, *shapes: str) -> Iterator[tuple[Function, Sighting]]:
        """Functions in which one of these shapes was seen; a shape is named whole or by its first part."""
        for ref, found in self.sightings.items():
            for sighting in found:
                if sighting.shape in shapes or sighting.shape.partition(".")[0] in shapes:
                    yield self.function(ref), sighting

    def ask(
        self,
        ask: Ask,
        ask_version: str,
        choices: Mapping[str, Iterable[Feature]],
        blobs: Blobs,
        cache: OutlineCache,
        *,
        progress: Progress,
        workers: int,
    ) -> None:
        """Read the chosen functions in full and keep what the shapes see in them.

        Args:
            ask: The shapes, as a module-level function.
            ask_version: Digest of their sources.
            choices: Name of each choice, and the combinations of features that choose a function: any one, whole.
            blobs: Where the bytes are.
            cache: Where answers are kept.
            progress: Told of each file.
            workers: Processes to use; 0 reads in this process, for small trees of one's own.
        """
        paths: dict[str, list[str]] = {}
        for path, digest in self._digests.items():
            paths.setdefault(digest, []).append(path)
        chosen = choosers(choices)
        jobs = [job for digest, where in paths.items() if (job := self._job(digest, where[0], chosen)) is not None]
        answered = answers(jobs, ask, ask_version, WithStrings(blobs), cache, progress=progress, workers=workers)
        by_digest = {job.digest: answer for job, answer in answered}
        for job in jobs:  # not as the workers end: of equal places the first one speaks, and that must not be chance
            answer = by_digest[job.digest]
            for path in paths[job.digest]:
                self.sightings.update({Ref(path, scope): found for scope, found in answer.sightings.items()})
                self.refused.update({Ref(path, scope): why for scope, why in answer.refused.items()})

    def ask_refusals(
        self,
        wanted: Sequence[bytes],
        paths: Iterable[str],
        blobs: Blobs,
        cache: OutlineCache,
        progress: Progress,
    ) -> None:
        """Read where the functions of some Python files refuse to go on, if one of the wanted words stands in them."""
        files = {path: self.files[path] for path in paths if is_python(path)}
        self.refusals.update(read_refusals(files, self.snapshot, wanted, blobs=blobs, cache=cache, progress=progress))

    def _job(self, digest: str, path: str, choosing: Callable[[Feature], tuple[str, ...]]) -> Job | None:
        outline = self.files[path]
        measuring = measured(outline) if is_python(path) else {}
        more = of_file(outline, measuring) if is_python(path) else {}
        chosen, signs = list[Slice](), with_inner(outline.scopes)
        for scope in outline.scopes:
            if scope.kind is not ScopeKind.FUNCTION:
                continue
            own = signs.get(scope.id, scope.features)
            by = choosing(features := own | more[scope.id] if scope.id in more else own)
            for name in by:
                self.examined.setdefault(name, set()).add((digest, scope.id))
            if by:
                chosen.append(replace(self._slice(path, scope), features=features))
        beside = {each.name: self._slice(path, each) for part in chosen for each in measuring.get(part.scope, ())}
        helpers = self._helpers(path, chosen) | beside
        return Job(digest, not is_python(path), tuple(chosen), tuple(sorted(helpers.items()))) if chosen else None

    def _helpers(self, path: str, chosen: list[Slice]) -> dict[str, Slice]:
        """Small device functions that the chosen kernels call by a bare name."""
        kernels = {part.scope for part in chosen if part.features & KERNEL}
        found: dict[str, Slice] = {}
        todo = [(path, kernels)]
        for where, scopes in todo:
            for call in self.files[where].calls:
                if call.scope not in scopes or not call.callee.isidentifier() or call.callee in found:
                    continue
                target = self._device_function(where, call.scope, call.callee)
                if target is not None:
                    found[call.callee] = self._slice(target.path, self.files[target.path].scopes[target.scope])
                    todo.append((target.path, {target.scope}))
        if kernels and not is_python(path):
            found |= {name: self._slice(path, scope) for name, scope in called_objects(self.files[path]).items()}
        return found

    def _device_function(self, path: str, scope: int, name: str) -> Ref | None:
        if is_python(path):
            targets = self.names.resolve(path, scope, name)
        else:
            targets = tuple(
                Ref(path, s.id) for s in self.files[path].scopes if s.name == name and s.kind is ScopeKind.FUNCTION
            )
        if len(targets) != 1:
            return None
        found = self.files[targets[0].path].scopes[targets[0].scope]
        return targets[0] if found.end_line - found.line < LONGEST_HELPER and found.features & KERNEL else None

    def _slice(self, path: str, scope: Scope) -> Slice:
        params = tuple(param.name.lstrip("*") for param in scope.params)
        libraries = self._libraries.of(path)
        lines = (scope.first_line, scope.line, scope.end_line)
        return Slice(self._digests[path], scope.id, *lines, params, scope.features, libraries)

    @cached_property
    def _libraries(self) -> LibraryAliases:
        return LibraryAliases(self.names)

    @cached_property
    def _digests(self) -> dict[str, str]:
        found = {file.path: file.digest for file in self.snapshot.files}
        return found | {path: f"{found[file_of(path)]}{MARK}" for path in self.files if path.endswith(MARK)}


def index_of(
    snapshot: Snapshot, blobs: Blobs, cache: OutlineCache, progress: Progress, workers: int, *, asked: Asked = None
) -> Index:
    """The first pass over a snapshot: an outline of every file.

    Args:
        snapshot: What to index.
        blobs: Where the bytes are.
        cache: Where outlines are kept.
        progress: Told of each file.
        workers: Processes to use; 0 reads in this process, for small trees of one's own.
        asked: All combinations that `Index.ask` will be given, if they are known: no C++ beside them is parsed.
    """
    progress.start("indexing files", len(snapshot.files))
    if workers:
        by_digest = dict(outlines(snapshot.files, blobs, cache, progress, workers, asked=asked))
    else:
        by_digest = {file.digest: outline_of(file.path, blobs.get(file.digest), asked) for file in snapshot.files}
    progress.finish()
    share(by_digest.values())
    files = {file.path: by_digest[file.digest] for file in snapshot.files}
    inside = {f"{path}{MARK}": each.strings for path, each in files.items() if each.strings is not None}
    return Index(files | inside, snapshot, blobs=WithStrings(blobs))


def open_cache(path: Path) -> OutlineCache:
    """The cache of outlines and sightings in a file."""
    return OutlineCache(path)


def by_owner(outline: Outline, rows: Iterable[_Row]) -> dict[int, list[_Row]]:
    """Records of a file by the scope that they are counted to, in their order."""
    owners = [owner(outline, scope) for scope in range(len(outline.scopes))]
    found: dict[int, list[_Row]] = {}
    for row in rows:
        found.setdefault(owners[row.scope], []).append(row)
    return found


def symbol_of(outline: Outline, scope: int) -> str:
    """Name of the outermost function around a scope, with its classes: `Class.method`; `<module>` outside."""
    chain: list[Scope] = []
    scope = owner(outline, scope)
    while scope > 0:
        chain.append(outline.scopes[scope])
        scope = outline.scopes[scope].parent
    chain.reverse()
    for position, part in enumerate(chain):
        if part.kind is ScopeKind.FUNCTION:
            return ".".join(each.name for each in chain[: position + 1])
    return ".".join(each.name for each in chain) or "<module>"
