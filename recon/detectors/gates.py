"""Gates: what an engine refuses or overrides on the way to a capability, or under the options that choose it.

A gate never changes a standing: it says when code that is there may run. Which refusals belong to a capability is told
by two things: where they stand (in the code that the verdict rests on, in what calls it, in what makes its objects) and
which options they test. The words below are those of options and messages; no engine, release or file is among them.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from recon.detectors.api import Evidence, Gate, Index
from recon.detectors.places import is_outskirts
from recon.index.records import ScopeKind
from recon.index.refusals import Refusal
from recon.index.tables import Ref
from recon.records.path import Tier

MOST_GATES = 8
WANTED = (b"specul", b"spec_", b"draft", b"eagle", b"medusa", b"tree_attn", b"rejection_sampl")
"""What must stand in a function for its refusals to be read."""
_MOST_CONDITION = 120
_MOST_VISITED = 600
_SPEAKS = re.compile(r"specul|(?<![a-z])spec_|draft|eagle|medusa|tree_attn|tree verif|rejection_sampl", re.IGNORECASE)
"""Speculation is spoken of."""
_GOVERNS = re.compile(
    r"speculative_|(?<![a-z])spec_(?:config|algo)|top_?k|num_(?:spec|draft|steps)|method|algorithm|backend|page_size|"
    r"hybrid|mamba|recurrent|inner_state|device|platform|is_(?:cuda|hip|rocm|npu|xpu|cpu|musa)|runner|graph|eager|"
    r"overlap|async|determin|threshold|temperature|_pp|parallel",
    re.IGNORECASE,
)
"""An option decides, or what the server runs on: not the shape of a tensor."""
_GROUND = re.compile(
    r"backend|page_size|hybrid|mamba|recurrent|inner_state|device|platform|is_(?:cuda|hip|rocm|npu|xpu|cpu)|graph|eager",
    re.IGNORECASE,
)
"""What every server has, however it speculates."""
_OPTION = re.compile(r"specul|(?<![a-z])spec_|draft|method|algorithm", re.IGNORECASE)
_TENSOR = re.compile(r"isinstance|\b(?:ndim|dim|shape|dtype|numel|is_contiguous|stride|len)\b")
"""What is asked of a value at hand, not of an option."""
_ASIDE = re.compile(
    r"deprecat|renamed|replaced|(?:should|must|can) (?:not|never) (?:happen|be reached)|should only be|internal error|"
    r"unreachable|initialized",
    re.IGNORECASE,
)
"""An old spelling, or a fault of the engine itself."""
_TRIVIAL = re.compile(r"(?:not \()?[^()\s]+ (?:is (?:not )?None|[<>]=? -?[01])\)?$")
"""A value that is missing or out of range says nothing of a capability."""
_TREES = r"top_?k|tree|branch|breadth"
_TOPICS = (
    ("state.", r"mamba|hybrid|recurrent|inner_state|linear_attn|(?<![a-z])(?:gdn|kda|ssm)"),
    ("state.tree", _TREES),
    ("tree.", _TREES),
    ("accept.tree.", _TREES),
    ("attn.tree.", _TREES),
    ("pos.tree", _TREES),
    ("kv.path_compact", _TREES),
    ("graph.verify", r"graph|eager"),
    ("accept.linear.stochastic", r"rejection|accept\w*threshold|determin"),
    ("accept.tree.stochastic", r"rejection|accept\w*threshold|determin"),
    ("accept.typical", r"typical|accept\w*threshold|lossy"),
    ("accept.synthetic", r"synthetic|simulat"),
    ("accept.block", r"block_?(?:verif|accept|reject)|(?:verif|accept|reject)\w*_block"),
)
_SHARED = re.compile(r"top_?k|num_(?:steps|draft|spec)|threshold", re.IGNORECASE)
"""Options of all drafters, whichever gave them its name."""
_CHOICE = re.compile(r"(?:^|\.)(?:spec[a-z]*_(?:decod[a-z]*_)?)?(?:method|algorithm|algo)(?:\.|$)", re.IGNORECASE)
"""The option by which a drafter is chosen; how it samples is another."""
_ALIASES = {"mtp": "mtp|nextn", "draft_model": "draft_model|standalone"}


@dataclass(frozen=True, slots=True)
class _Standing:
    """A refusal with the function in which it stands."""

    ref: Ref
    symbol: str
    refusal: Refusal


def asked_paths(index: Index) -> Iterator[str]:
    """Files whose refusals are read: tests and benchmarks refuse in their own affairs."""
    return (path for path in index.files if not is_outskirts(path))


def gates_of(index: Index, capability: str, places: Iterable[Evidence]) -> tuple[Gate, ...]:
    """The gates of a capability, the most specific first.

    Args:
        index: The tree.
        capability: What was judged present or partial.
        places: What the verdict rests on.
    """
    shown = list(places)
    near = _near(index, shown)
    ranked: list[tuple[int, int, str, int, Gate]] = []
    for each in _speaking(index):
        weight = _weight(capability, each, near)
        if weight > 0:
            gate = _gate(each)
            ranked.append((-weight, near.get(each.ref, _MOST_VISITED), gate.path, gate.line, gate))
    found = {(gate.condition, gate.message): gate for *_, gate in sorted(ranked, key=lambda row: row[:4], reverse=True)}
    graphs = _without_graphs(index, shown) if capability.startswith(("attn.", "graph.")) else ()
    return tuple(islice((*graphs, *reversed(found.values())), MOST_GATES))


def _speaking(index: Index) -> Iterator[_Standing]:
    """Refusals that speak of speculation and test what governs it."""
    for ref, refusals in index.refusals.items():
        symbol = index.function(ref).symbol
        for each in refusals:
            said = " ".join((*each.tests, each.message, symbol, ref.path))
            if _SPEAKS.search(said) and _is_of_an_option(each):
                yield _Standing(ref, symbol, each)


def _is_of_an_option(refusal: Refusal) -> bool:
    """Whether a refusal tests an option that somebody chose: no value at hand, unknown word or old spelling."""
    last = refusal.tests[-1]
    silent = refusal.form == "assert" and not refusal.message  # what its author believes, not what a user chose
    guards = refusal.form == "leftover" or silent or _TENSOR.search(last) or _TRIVIAL.match(last)
    return bool(_GOVERNS.search(last)) and not guards and not _ASIDE.search(refusal.message)


def _weight(capability: str, each: _Standing, near: Mapping[Ref, int]) -> int:
    """How closely a refusal belongs to a capability; 0 where it does not."""
    refusal = each.refusal
    topic = _of_drafter(capability, each) if capability.startswith("drafter.") else _of_topic(capability, refusal)
    on_way = each.ref in near
    if topic < 0 or not (topic or on_way):
        return 0
    central = _SPEAKS.search(f"{each.ref.path} {each.symbol}") is not None
    signs = any(map(_OPTION.search, refusal.words)), bool(_GROUND.search(refusal.tests[-1])), refusal.form != "assert"
    return topic + 3 * on_way + 3 * central + sum(signs)


def _of_topic(capability: str, refusal: Refusal) -> int:
    """Whether the tests ask for the options that choose a capability; the innermost says most."""
    patterns = [re.compile(pattern, re.IGNORECASE) for prefix, pattern in _TOPICS if capability.startswith(prefix)]
    if any(pattern.search(refusal.tests[-1]) for pattern in patterns):
        return 6
    return 3 * any(pattern.search(word) for pattern in patterns for word in refusal.words)


def _of_drafter(capability: str, each: _Standing) -> int:
    """Whether a refusal takes a drafter, or spares others and not this one; negative where it takes others alone."""
    refusal = each.refusal
    own = capability.partition(".")[2]
    name = re.compile(rf"(?<![a-z])(?:{_ALIASES.get(own, own)})(?![a-z0-9])", re.IGNORECASE)
    taken = [choice.value for choice in refusal.taken if _CHOICE.search(choice.asked)]
    spared = [choice.value for choice in refusal.spared if _CHOICE.search(choice.asked)]
    if taken:
        return 6 if any(map(name.search, taken)) else -1
    if spared:  # what asks for one drafter alone is an option of that one
        return 6 * (len(spared) > 1 and not any(map(name.search, (*spared, refusal.message))))
    words = [word for word in refusal.words if not _SHARED.search(word)]
    return 4 * any(map(name.search, (*words, each.symbol.rpartition(".")[2])))


def _near(index: Index, places: Iterable[Evidence]) -> dict[Ref, int]:
    """Functions that hold the evidence or lead to it, and what makes their objects, with the calls between."""
    found = {ref: 0 for each in places for ref in _around(index, each)}
    queue = list(found)
    for ref in queue:
        if len(found) > _MOST_VISITED:
            break
        makers = _makers(index, ref)
        callers = [edge.source for edge in index.graph.edges_to(ref) if edge.tier is Tier.CERTAIN]
        for one in (*makers, *callers):
            if one not in found:
                found[one] = found[ref] + 1
                queue.append(one)
    return found


def _around(index: Index, place: Evidence) -> Iterator[Ref]:
    """The function around a place."""
    outline = index.files.get(place.path)
    if outline is not None:
        inside = [
            scope
            for scope in outline.scopes
            if scope.kind is ScopeKind.FUNCTION and scope.first_line <= place.line <= scope.end_line
        ]
        yield from (Ref(place.path, scope.id) for scope in inside[-1:])


def _makers(index: Index, ref: Ref) -> Iterator[Ref]:
    """What makes the object of a method."""
    owner = Ref(ref.path, index.files[ref.path].scopes[ref.scope].parent)
    if owner.scope > 0 and index.names.classes.is_class(owner):
        for name in ("__init__", "__post_init__"):
            yield from index.names.classes.method(owner, name)


_GRAPHS = re.compile(r"cuda_?graph\w*support|support\w*cuda_?graph", re.IGNORECASE)
_NEVER = frozenset({"NEVER", "False", "NONE"})


def _without_graphs(index: Index, places: Iterable[Evidence]) -> Iterator[Gate]:
    """Classes beside the evidence whose constant says that no graph captures them, their own or inherited."""
    for path in dict.fromkeys(each.path for each in places):
        for scope in index.files[path].scopes if path in index.files else ():
            if scope.kind is not ScopeKind.CLASS:
                continue
            for one in index.names.classes.order(Ref(path, scope.id)):
                binds = [bind for bind in index.binds_of(one) if _GRAPHS.search(bind.target)]
                if binds:
                    if binds[-1].value.rpartition(".")[2] in _NEVER:
                        said = f"{scope.name} has {binds[-1].target} = {binds[-1].value}"
                        yield Gate(said, path, scope.line, "no CUDA graph captures it")
                    break


def _gate(each: _Standing) -> Gate:
    refusal = each.refusal
    condition = ""
    several = len(refusal.tests) > 1
    for test in reversed(refusal.tests):
        part = f"({test})" if several and " or " in test else test
        longer = f"{part} and {condition}" if condition else part
        if condition and len(longer) > _MOST_CONDITION:
            condition = f"… and {condition}"
            break
        condition = longer
    if len(condition) > _MOST_CONDITION:
        condition = f"{condition[: _MOST_CONDITION - 2].rpartition(' ')[0]} …"
    return Gate(condition, each.ref.path, refusal.line, refusal.message)
