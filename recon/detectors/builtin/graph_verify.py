"""Captured graphs that cover a verification step.

What it is
    A step that verifies drafts gives each request one token more than are drafted. Captured as a graph, with the whole
    forward pass or piece by piece, it is launched at once; otherwise every kernel of it is launched from Python.

What counts
    shaped: a class captures graphs, and on the way from its capture a size is computed from a field that it sets to
    one more than the number of drafted tokens; or the step that it captures runs in the mode of a verification, or
    with a stand-in for a verification's input.

Blind spots
    The capture and what decides its size must stand in one class, or the size is handed to the class that captures
    where that is made. Graphs of a compiler that finds its sizes by itself
    are not seen. What only a drafter captures is told by the words of its class and file.

Sources
    CUDA programming guide, chapter on graphs; Leviathan et al., 2023, section 2, for the number of tokens.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from recon.detectors.api import Case, Detector, Evidence, Findings, Function, Index, Reach, Sighting, Standing
from recon.detectors.handing import reaches
from recon.detectors.places import evidence, ranked
from recon.detectors.shapes.capture import words_of
from recon.detectors.shapes.catalog import CAPTURED_STEP
from recon.index.capturing import is_capture
from recon.index.records import ScopeKind
from recon.index.spell import words
from recon.index.tables import Ref, is_python

_DRAFTERS = words("draft drafter drafting speculator proposer")
_MOST_CALLS = 6
"""Calls between what captures and what the step is made of."""
_SAID = ("capture.width", "capture.mode", "capture.input")


@dataclass(frozen=True, slots=True)
class _Captured:
    """What one sighting says, and what shows that the capture covers it."""

    place: Evidence
    captures: tuple[Ref, ...]


def detect(index: Index) -> Findings:
    """Captured verification steps; functions that capture other steps are what comes nearest."""
    capturing = _capturing(index)
    found = list(_covered(index, capturing))
    steps = ranked(dict.fromkeys(each.place for each in found))
    if found:
        known = {(each.path, each.symbol) for each in steps}
        refs = dict.fromkeys(ref for each in found for ref in each.captures)
        captures = [
            evidence(index, index.function(ref), capturing[ref], "captures that step as a graph") for ref in refs
        ]
        doors = [each for each in ranked(captures) if (each.path, each.symbol) not in known]
        return Findings(evidence=(*steps[:3], *doors, *steps[3:]), reach=_reach(index, found))
    near = [
        evidence(index, index.function(ref), line, "captures a step as a graph, none of drafts that was seen")
        for ref, line in capturing.items()
    ]
    return Findings(nearest=tuple(ranked(near)))


def _reach(index: Index, found: Iterable[_Captured]) -> Reach:
    """Connected where a file other than its own has the graphs captured: a server does so before its first step."""
    level = {ref for each in found for ref in each.captures}
    for _ in range(_MOST_CALLS):
        callers = {(edge.source, edge.target) for ref in level for edge in index.callers(ref)}
        if any(source.path != target.path for source, target in callers):
            return Reach.WIRED
        level = {source for source, _ in callers}
    return Reach.DEFINED


def _capturing(index: Index) -> dict[Ref, int]:
    """Functions that capture graphs, with the line."""
    found: dict[Ref, int] = {}
    for path, outline in index.files.items():
        for call in outline.calls if is_python(path) else ():
            if is_capture(call) and outline.scopes[call.scope].kind is ScopeKind.FUNCTION:
                found.setdefault(Ref(path, call.scope), call.line)
    return found


def _covered(index: Index, capturing: dict[Ref, int]) -> Iterator[_Captured]:
    """What is said of a captured step where the capture gets there, or where it is handed to what captures."""
    uses: dict[tuple[str, str], list[Ref]] = {}
    for function, sighting in index.seen("capture.use"):
        uses.setdefault((function.path, sighting.detail), []).append(function.ref)
    for function, sighting in index.seen(*_SAID):
        if _drafts(index, function):
            continue
        starts = [ref for ref in capturing if ref.path == function.path and _together(index, ref, function.ref)]
        targets = _targets(function, sighting, uses)
        if sighting.shape == "capture.width" and not sighting.detail.startswith("self."):
            starts = [ref for ref in starts if ref == function.ref]  # elsewhere a local says nothing of the capture
        reached = [ref for ref in starts if targets and reaches(index, ref, targets, _MOST_CALLS)]
        reached += _handed(index, function, sighting, capturing)
        if reached:
            yield _Captured(evidence(index, function, sighting.line, sighting.note), tuple(reached))


def _handed(index: Index, function: Function, sighting: Sighting, capturing: dict[Ref, int]) -> list[Ref]:
    """What captures in the classes, and their bases, of which instances are made with a field."""
    if not sighting.detail.startswith("self."):
        return []
    made: dict[Ref, None] = {}
    for call in index.files[function.path].calls:
        if sighting.detail in call.args and _together(index, Ref(function.path, call.scope), function.ref):
            for ref in index.names.resolve(function.path, call.scope, call.callee):
                if index.names.classes.is_class(ref):
                    made.update(dict.fromkeys(index.names.classes.order(ref)))
    return [ref for ref in capturing if any(one.path == ref.path and _owner(index, ref) == one.scope for one in made)]


def _targets(function: Function, sighting: Sighting, uses: dict[tuple[str, str], list[Ref]]) -> set[Ref]:
    """Where the capture must get to: to what reads the field, or to the function itself for a local."""
    if sighting.detail.startswith("self."):
        return set(uses.get((function.path, sighting.detail), ()))
    return {function.ref}


def _together(index: Index, one: Ref, other: Ref) -> bool:
    """Whether two functions belong to one class, or to none."""
    return _owner(index, one) == _owner(index, other)


def _owner(index: Index, ref: Ref) -> int | None:
    return index.names.tables[ref.path].class_around(ref.scope)


def _drafts(index: Index, function: Function) -> bool:
    """Whether a function belongs to what drafts."""
    owner = _owner(index, function.ref)
    name = index.files[function.path].scopes[owner].name if owner is not None else ""
    stem = function.path.rpartition("/")[2].removesuffix(".py")
    return not _DRAFTERS.isdisjoint(words_of(name) | words_of(stem))


_WIDTH = """
class Runner:
    def __init__(self, config):
        self.query_len = 1 + config.num_speculative_tokens if config else 1

    def capture_model(self):
        with graph_capture():
            for n in self.sizes:
                self._dummy(n)

    def _dummy(self, n):
        return self.model(n * self.query_len)
"""
_MODE = """
class Runner:
    def __init__(self, server):
        self.mode = Mode.DECODE
        if server.speculative_algorithm:
            self.mode = Mode.TARGET_VERIFY

    def capture(self, bs):
        graph = torch.cuda.CUDAGraph()
        batch = Batch(mode=self.mode, size=bs)
        with torch.cuda.graph(graph):
            self.model(batch)
"""
_INPUT = """
class Runner:
    def stand_in(self, tokens):
        spec = VerifyInput(draft_token=None, positions=None)
        return spec

    def capture(self, bs):
        with torch.cuda.graph(self.graph):
            self.model(bs, self.stand_in(bs))
"""
_LOCAL = """
def capture_steps(model, config, sizes):
    width = config.num_draft_tokens + 1
    for bs in sizes:
        with torch.cuda.graph(graphs[bs]):
            model(bs * width)
"""
_DECODE = """
class Runner:
    def __init__(self, config):
        self.query_len = 1
        self.most = config.max_batch_size + 1

    def capture(self, bs):
        with torch.cuda.graph(self.graph):
            self.model(bs * self.query_len)
"""
_BUFFERS = """
class Runner:
    def __init__(self, config):
        self.query_len = 1 + config.num_speculative_tokens

    def allocate(self, bs):
        self.out = torch.zeros(bs * self.query_len)

    def capture(self, bs):
        with torch.cuda.graph(self.graph):
            self.model(bs)
"""
_PREFILL = """
class Runner:
    def __init__(self, config):
        self.chunk = config.chunk_size

    def capture(self):
        for tokens in range(1, self.chunk + 1):
            with torch.cuda.graph(self.graph):
                self.model(tokens)
"""
_EAGER = """
class Runner:
    def __init__(self, config):
        self.query_len = 1 + config.num_speculative_tokens

    def step(self, bs):
        return self.model(bs * self.query_len)
"""

_MANAGER = """
from b import Manager


class Runner:
    def __init__(self, config):
        self.query_len = config.num_speculative_steps + 1

    def prepare(self):
        self.manager = Manager(query_len=self.query_len)

    def capture_model(self):
        self.manager.capture()
"""
_MANAGED = """
class Base:
    def __init__(self, query_len):
        self.query_len = query_len

    def capture(self):
        with torch.cuda.graph(self.graph):
            self.run(self.query_len)


class Manager(Base):
    pass
"""

CASES = (
    Case("handed to what captures", {"a.py": _MANAGER, "b.py": _MANAGED}, Standing.PRESENT),
    Case("one token more than are drafted", {"a.py": _WIDTH}, Standing.PRESENT),
    Case("the mode of a verification", {"a.py": _MODE}, Standing.PRESENT),
    Case("a stand-in for the drafts", {"a.py": _INPUT}, Standing.PRESENT),
    Case("in one function", {"a.py": _LOCAL}, Standing.PRESENT),
    Case("one token a request", {"a.py": _DECODE}, Standing.ABSENT),
    Case("only buffers are that wide", {"a.py": _BUFFERS}, Standing.ABSENT),
    Case("chunks of prompts", {"a.py": _PREFILL}, Standing.ABSENT),
    Case("a drafter's own steps", {"a.py": _WIDTH.replace("class Runner", "class DraftGraphRunner")}, Standing.ABSENT),
    Case("nothing is captured", {"a.py": _EAGER}, Standing.ABSENT),
)
DETECTOR = Detector(
    "graph.verify",
    "Captured graphs that cover a verification step",
    __doc__,
    (CAPTURED_STEP,),
    detect,
    CASES,
)
