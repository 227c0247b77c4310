"""Compaction of the accepted path in the KV cache.

What it is
    The nodes of a verified tree lie side by side in the cache, those on the accepted path with gaps between them. The
    keys and values of the path are copied to the contiguous slots behind the prefix, where the next step expects them.

What counts
    shaped: in every layer's buffer, or in a layer's keys and values alike, entries are copied to other places of the
    same buffer, and the function nearest above from which calls lead there leads to acceptance along a tree as well.
    Where only the page table is rewritten to the accepted slots, and the others are given back, the standing is
    partial.

Blind spots
    That the copied places are those of accepted nodes is taken from calls, not from values; a copy of recurrent states
    between slots has the same form. A chain lies contiguous anyway and needs no copy. Copies inside compiled libraries
    are not seen.

Sources
    Miao et al., SpecInfer, 2023, section 5; Cai et al., Medusa, 2024, appendix.
"""

from recon.detectors.api import Case, Detector, Evidence, Findings, Index, Standing
from recon.detectors.compiled import compiled, draws_along_tree, walks_tree
from recon.detectors.meeting import acceptance, meetings
from recon.detectors.places import evidence, outside, ranked, reach_of, seen, shaped
from recon.detectors.shapes.catalog import (
    CACHE_MOVE,
    FREED_SLOTS,
    GREEDY_WALK,
    LOWERED_LENGTH,
    STOCHASTIC_WALK,
)
from recon.index.steps import serves_other_platform
from recon.index.tables import Ref

_WORDS = (frozenset({"tree", "verify"}), frozenset({"tree", "accept"}), frozenset({"tree", "sampling"}))
_MOST_STEPS = 6
"""Calls between the verification step and the copy: a worker, a pool, its layout, a launcher, a kernel."""
_MOST_STEPS_TO_ACCEPTANCE = 4
_TABLE = (
    "Only the page table is rewritten to the slots of accepted nodes and the other slots are given back; no bytes move."
)


def detect(index: Index) -> Findings:
    """Copies inside the cache that follow acceptance; else what becomes of the slots instead."""
    operators = [compiled(index, judge, *_WORDS).places for judge in (walks_tree, draws_along_tree)]
    accepting = acceptance(index, [*outside(index, *_WORDS).places, *(place for each in operators for place in each)])
    moved = _moves(index, accepting)
    near = [*seen(index, LOWERED_LENGTH.id), *seen(index, CACHE_MOVE.id)]
    if moved:
        return Findings(evidence=tuple(moved), reach=reach_of(moved))
    freed = [function.ref for function, _ in index.seen(FREED_SLOTS.id)]
    ends = {meeting.target for meeting in meetings(index, freed, accepting, 1, _MOST_STEPS_TO_ACCEPTANCE)}
    tables = ranked(
        shaped(index, function, each) for function, each in index.seen(FREED_SLOTS.id) if function.ref in ends
    )
    return Findings(evidence=tuple(tables), nearest=tuple(near), lacks=_TABLE if tables else "", reach=reach_of(tables))


def _moves(index: Index, accepting: list[Ref]) -> list[Evidence]:
    """The copies, and the functions on the way from verification to the nearest of them."""
    copies = {function.ref: (function, each) for function, each in index.seen(CACHE_MOVE.id)}
    found = sorted(
        meetings(index, copies, accepting, _MOST_STEPS, _MOST_STEPS_TO_ACCEPTANCE),
        key=lambda meeting: serves_other_platform(meeting.target.path),
    )
    ways = [
        evidence(index, index.function(edge.source), edge.line, "hands the accepted path on to be moved")
        for meeting in found[:1]
        for edge in reversed(meeting.way)
    ]
    places = [shaped(index, *copies[meeting.target]) for meeting in found]
    return list(dict.fromkeys([*places[:1], *ways, *places[1:]]))


_WALK = """
def follow(children, posterior):
    node, path = 0, []
    token = posterior[node]
    while token in children[node]:
        node = children[node][token]
        path.append(node)
        token = posterior[node]
    return path, token
"""
_LAYERS = """
def move(keys, values, to, places):
    for k, v in zip(keys, values):
        k[to] = k[places]
        v[to] = v[places]
"""
_SWAP = """
def move(keys, values, to, places):
    for t in (keys, values):
        held = t[to].clone()
        t[to] = t[places]
        t[places] = held
"""
_STEP = """
from cache import move
from walk import follow


def verify(pool, tree, posterior, start):
    path, bonus = follow(tree.children, posterior)
    move(pool.keys, pool.values, start + torch.arange(len(path)), start + torch.tensor(path))
    return path, bonus
"""
_KERNEL = """
@triton.jit
def shift(buffers, sizes, to, places, n, BLOCK: tl.constexpr):
    layer = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    size = tl.load(sizes + layer)
    buffer = tl.cast(tl.load(buffers + layer), tl.pointer_type(tl.uint8))
    for t in range(n):
        source = tl.load(places + t)
        target = tl.load(to + t)
        tl.store(buffer + target * size + i, tl.load(buffer + source * size + i, mask=i < size), mask=i < size)


def move(keys, values, to, places):
    shift[(32,)](keys, values, to, places, 4, BLOCK=1024)
"""
_AXIS = """
from walk import follow


def verify(cache, tree, posterior, slots):
    path, bonus = follow(tree.children, posterior)
    cache[:, slots[: len(path)]] = cache[:, slots[path]]
    return path, bonus
"""
_TABLE_ONLY = """
from walk import follow


def verify(pool, table, tree, posterior, slots, rows, b, start):
    path, bonus = follow(tree.children, posterior)
    spare = torch.ones_like(slots)
    spare[path] = 0
    pool.release(slots[spare])
    table[rows[b], start : start + len(path)] = slots[path]
    return path, bonus
"""
_PREFIX = """
from cache import move


class Prefixes:
    def share(self, pool, node):
        move(pool.keys, pool.values, node.fresh, node.shared)
"""
_CHAIN = """
def update(requests, drafted, generated):
    for name, request in requests.items():
        accepted = len(generated[name]) - 1
        request.computed -= len(drafted[name]) - accepted
"""
_OFFLOAD = """
from walk import follow


def save(host, device, places, rows):
    for h, d in zip(host, device):
        h[places] = d[rows]


def verify(pool, tree, posterior):
    path, bonus = follow(tree.children, posterior)
    save(pool.host, pool.keys, path, path)
    return path, bonus
"""
_PAIR = """
from walk import follow


def compact(keys, values, slots, accepted):
    source = slots.gather(1, accepted)
    target = slots[:, : accepted.shape[1]]
    keys[target] = keys[source].clone()
    values[target] = values[source].clone()


def verify(layer, tree, posterior, slots):
    path, bonus = follow(tree.children, posterior)
    compact(layer.keys, layer.values, slots, torch.tensor(path)[None])
    return path, bonus
"""
_BEAMS = """
from walk import follow


def keep(tokens, scores, best):
    tokens[: len(best)] = tokens[best]
    scores[: len(best)] = scores[best]


def verify(tree, posterior, tokens, scores):
    path, bonus = follow(tree.children, posterior)
    keep(tokens, scores, path)
    return path, bonus
"""

CASES = (
    Case(
        "every layer's entries moved after a walk",
        {"walk.py": _WALK, "cache.py": _LAYERS, "step.py": _STEP},
        Standing.PRESENT,
    ),
    Case("places that change hands", {"walk.py": _WALK, "cache.py": _SWAP, "step.py": _STEP}, Standing.ABSENT),
    Case("moved by a kernel", {"walk.py": _WALK, "cache.py": _KERNEL, "step.py": _STEP}, Standing.PRESENT),
    Case("a layer's keys and values", {"walk.py": _WALK, "step.py": _PAIR}, Standing.PRESENT),
    Case("rows of beams", {"walk.py": _WALK, "step.py": _BEAMS}, Standing.ABSENT),
    Case("moved along an axis", {"walk.py": _WALK, "step.py": _AXIS}, Standing.PRESENT),
    Case("the page table alone", {"walk.py": _WALK, "step.py": _TABLE_ONLY}, Standing.PARTIAL),
    Case(
        "a copy for shared prefixes",
        {"walk.py": _WALK, "cache.py": _LAYERS, "prefixes.py": _PREFIX},
        Standing.ABSENT,
    ),
    Case("a copy to the host", {"walk.py": _WALK, "step.py": _OFFLOAD}, Standing.ABSENT),
    Case("a chain whose length is lowered", {"a.py": _CHAIN}, Standing.ABSENT),
)
DETECTOR = Detector(
    "kv.path_compact",
    "Compaction of the accepted path in the KV cache",
    __doc__,
    (CACHE_MOVE, FREED_SLOTS, LOWERED_LENGTH, GREEDY_WALK, STOCHASTIC_WALK),
    detect,
    CASES,
)
