"""Acceptance exported as metrics.

What it is
    A server that speculates can say how well: how many drafted tokens were accepted at each position, how many in all,
    how long an accepted run is on average, or which share of what was drafted. Without it nobody can tell whether a
    tree, or a longer chain, would pay.

What counts
    declared: a counter, gauge, histogram or summary is created under a name that speaks of acceptance and of drafting
    (or in code whose own names speak of drafting), and something else hands it a value. The reason says which of the
    four it exports.
    partial: nothing hands it a value; or acceptance is only told with the answer to a request or in a state that is
    asked for.
    The name decides, because it is a promise to whoever reads it.

Blind spots
    A name that is put together at run time is not seen, and what is only written to a log is not exported.

Sources
    Prometheus, metric types: counters for totals, gauges for what goes up and down, histograms for distributions.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from recon.detectors.api import Case, Detector, Evidence, Findings, Grade, Index, Reach, Standing
from recon.detectors.places import evidence, is_outskirts, reach_of
from recon.detectors.words import apart
from recon.index.records import Call, Outline, ScopeKind, Text
from recon.index.tables import Ref, is_python

_ACCEPTANCE = re.compile("_(?:accept[a-z]*|correct_drafts?)_")
_SPECULATION = re.compile("_(?:spec|specul[a-z]*|draft[a-z]*|mtp|eagle[0-9]?)_")
_MEASURE = re.compile("_(?:rate|length|num|avg|mean|histogram)_")
_DATA = frozenset("<'0123456789")
_MAKER = re.compile("(?<!_perf)_(?:counter|gauge|histogram|summary)_(?:cls_|class_|type_)?$")
_KINDS = (
    ("for each position", re.compile("_(?:pos|positions?)_")),
    ("a rate", re.compile("_(?:rate|ratio|efficiency)_")),
    ("a mean length", re.compile("_(?:length|len)_")),
    ("totals", re.compile("")),
)


@dataclass(frozen=True, slots=True)
class _Export:
    """A metric, where it is created."""

    ref: Ref
    name: str
    line: int
    holders: frozenset[str]
    """Fields that hold it or its siblings."""


def detect(index: Index) -> Findings:
    """What is exported, who creates it, and who hands it a value."""
    exports = [
        each
        for path, outline in index.files.items()
        if is_python(path) and not is_outskirts(path)
        for each in _exports(path, outline)
    ]
    fed = _feeders(index, frozenset().union(*(each.holders for each in exports)), {each.ref for each in exports})
    told = list(_told(index))
    if not exports:
        reason = "Acceptance is told with an answer or a state that is asked for; no metric exports it."
        return Findings(tuple(told), lacks=reason if told else "", reason=reason if told else "", reach=reach_of(told))
    makers = [_place(index, each) for each in exports]
    kinds = ", ".join(kind for kind in dict(_KINDS) if any(_kind(each.name) == kind for each in exports))
    names = ", ".join(dict.fromkeys(each.name for each in exports))
    lacks = "" if fed else f"Nothing hands a value to {names}."
    places = _once([*makers[:1], *fed[:2], *makers[1:], *fed[2:], *told])
    called = any(each.scope for each in fed) or (fed and any(index.callers(each.ref) for each in exports))
    return Findings(
        tuple(places),
        lacks=lacks,
        reason=lacks or f"Acceptance is exported as {kinds}: {names}.",
        reach=Reach.WIRED if called else Reach.DEFINED,
    )


def _kind(name: str) -> str:
    return next(kind for kind, pattern in _KINDS if pattern.search(apart(name)))


def _exports(path: str, outline: Outline) -> Iterator[_Export]:
    """The metrics of acceptance that a file creates."""
    makers: dict[int, list[Call]] = {}
    for call in outline.calls:
        if _MAKER.search(apart(call.callee.rpartition(".")[2])):
            makers.setdefault(call.scope, []).append(call)
    for scope in makers:
        words = apart(f"{path} {_around(outline, scope)}")
        for text in outline.texts:
            if text.scope == scope and text.role in {"argument", "value"} and _speaks(text, words):
                binds = [bind for bind in outline.binds if bind.scope == scope and bind.value[:1] not in _DATA]
                fields = (bind.target.rpartition(".") for bind in binds)
                held = frozenset(name for owner, _, name in fields if owner and "[" not in name)
                spoken = frozenset(field for field in held if _ACCEPTANCE.search(apart(field)))
                yield _Export(Ref(path, scope), text.text, text.line, spoken or held)


def _speaks(text: Text, around: str) -> bool:
    """Whether a name speaks of acceptance, and it or the code around it of drafting."""
    name = apart(text.text)
    return bool(_ACCEPTANCE.search(name) and (_SPECULATION.search(name) or _SPECULATION.search(around)))


def _around(outline: Outline, scope: int) -> str:
    """The names of a scope and of all around it."""
    names: list[str] = []
    while scope > 0:
        names.append(outline.scopes[scope].name)
        scope = outline.scopes[scope].parent
    return " ".join(names)


def _feeders(index: Index, holders: frozenset[str], makers: set[Ref]) -> list[Evidence]:
    """Functions, other than those that create a metric, that use a field which holds one."""
    found: dict[Ref, int] = {}
    spelled = re.compile("|".join(map(re.escape, sorted(holders)))).search  # few texts pass, so few are taken apart
    for path, outline in index.files.items():
        if not is_python(path) or is_outskirts(path):
            continue
        for call in outline.calls:
            used = [call.callee.rpartition(".")[0], *(arg for arg in call.args if arg.startswith("self."))]
            if any(spelled(each) and _last(each) & holders for each in used):
                found.setdefault(Ref(path, call.scope), call.line)
        for bind in outline.binds:
            if bind.value.endswith("]") and _last(bind.value) & holders:
                found.setdefault(Ref(path, bind.scope), bind.line)
    note = "hands the metrics of acceptance their values"
    places = [
        evidence(index, index.function(ref), line, note, Grade.DECLARED)
        for ref, line in found.items()
        if ref not in makers and index.files[ref.path].scopes[ref.scope].kind is ScopeKind.FUNCTION
    ]
    return sorted(places, key=lambda each: not each.scope)


def _last(text: str) -> frozenset[str]:
    """The fields that a dotted text goes through, the first name left out."""
    return frozenset(part.partition("[")[0].rstrip("()") for part in text.split(".")[1:])


def _told(index: Index) -> Iterator[Evidence]:
    """Functions that put acceptance under a key of what they give back."""
    for path, outline in index.files.items():
        if not is_python(path) or is_outskirts(path):
            continue
        for text in outline.texts:
            name = apart(text.text)
            if text.role == "key" and all(p.search(name) for p in (_ACCEPTANCE, _SPECULATION, _MEASURE)):
                note = f"tells {text.text} under a key"
                yield evidence(index, index.function(Ref(path, text.scope)), text.line, note, Grade.DECLARED)


def _place(index: Index, export: _Export) -> Evidence:
    return evidence(index, index.function(export.ref), export.line, f"exports {export.name}", Grade.DECLARED)


def _once(places: Iterable[Evidence]) -> list[Evidence]:
    """The first of the places with the same symbol."""
    found: dict[tuple[str, str], Evidence] = {}
    for each in places:
        found.setdefault((each.path, each.symbol), each)
    return list(found.values())


_COUNTERS = """
import prometheus_client


class SpecDecodingProm:
    _counter_cls = prometheus_client.Counter

    def __init__(self, labels):
        self.counter_accepted = self._counter_cls(name="e:spec_decode_num_accepted_tokens", labelnames=labels)
        self.counter_accepted_per_pos = self._counter_cls(
            name="e:spec_decode_num_accepted_tokens_per_pos", labelnames=[*labels, "position"]
        )

    def observe(self, stats):
        self.counter_accepted.inc(stats.accepted)
        for pos, counter in enumerate(self.counter_accepted_per_pos):
            counter.inc(stats.per_pos[pos])
"""
_GAUGE = """
class Collector:
    def __init__(self, labels):
        from prometheus_client import Gauge

        self.accept_length = Gauge(name="e:spec_accept_length", labelnames=labels)

    def log_stats(self, stats):
        self._log_gauge(self.accept_length, stats.accept_length)

    def _log_gauge(self, gauge, value):
        gauge.labels(**self.labels).set(value)
"""
_UNFED = _GAUGE.partition("    def log_stats")[0]
_TOLD = """
class Manager:
    def answer(self, request):
        meta = {"id": request.id}
        meta["spec_accept_length"] = request.accepted / request.steps
        return meta
"""
_OTHER = """
from prometheus_client import Counter


class Frontend:
    def __init__(self):
        self.accepted = Counter(name="e:connections_accepted_total")
        self.drafts = Counter(name="e:mail_drafts_total")

    def accept(self, request):
        logger.info("spec_accept_length %f", request.accept_length)
        self.accepted.inc()
"""

CASES = (
    Case("counters, also for each position", {"metrics.py": _COUNTERS}, Standing.PRESENT),
    Case("a gauge for the mean length", {"collector.py": _GAUGE}, Standing.PRESENT),
    Case("a gauge that nobody sets", {"collector.py": _UNFED}, Standing.PARTIAL),
    Case("told with each answer only", {"manager.py": _TOLD}, Standing.PARTIAL),
    Case("acceptance of connections", {"frontend.py": _OTHER}, Standing.ABSENT),
)
DETECTOR = Detector("metrics.acceptance", "Acceptance exported as metrics", __doc__, (), detect, CASES)
