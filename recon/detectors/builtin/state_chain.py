"""Recurrent state taken back along a chain of draft tokens.

What it is
    A recurrent layer (Mamba, gated delta rule, short convolution) has no key for each token that could be ignored: its
    state has swallowed the drafts that were refused. To take them back, the next step starts from a state chosen by how
    many tokens were accepted, or one state a draft position is kept and the last accepted one becomes the state.

What counts
    shaped: a recurrence or convolution over tokens whose first state lies at a place found with a count less one; or a
    recurrence that keeps the state after each token in a buffer, and a copy that takes one of this buffer's entries by
    a step given for each request.

Blind spots
    States replayed from kept inputs, without a state a position, are seen only where a kernel starts from a count. The
    buffer is followed by name through calls and fields. Compiled libraries are not followed.

Sources
    Gu and Dao, Mamba, 2023; Yang et al., Gated Delta Networks, 2024; Wu et al., Snakes and Ladders: Accelerating SSM
    Inference with Speculative Decoding, 2024.
"""

from recon.detectors.api import Case, Detector, Evidence, Findings, Function, Index, Sighting, Standing
from recon.detectors.handing import Cell, Trail, trail_of
from recon.detectors.places import launchers, reach_of, seen, shaped
from recon.detectors.shapes.catalog import COUNTED_STATE, PICKED_STATE, STEPPED_STATE, UPDATED_STATE

_MOST_FUNCTIONS = 60
"""Functions on the way of a buffer; a longer way went astray over fields of common names."""


def detect(index: Index) -> Findings:
    """Recurrences that start from a count, and buffers of states of which one is copied back."""
    fed: list[Evidence] = []
    unfed: list[Evidence] = []
    for function, sighting in index.seen(COUNTED_STATE.id):
        places = fed if trail_of(index, function.ref, sighting.detail).is_fed else unfed
        places.append(shaped(index, function, sighting))
        places += launchers(index, function, "launches {} with the count of accepted tokens")
    found = list(dict.fromkeys([*_by_use(fed), *_kept_and_picked(index), *_by_use(unfed)]))
    if not found:
        return Findings(nearest=tuple(seen(index, UPDATED_STATE.id, STEPPED_STATE.id)))
    return Findings(evidence=tuple(found), reach=reach_of(found))


def _by_use(places: list[Evidence]) -> list[Evidence]:
    """What a runner reaches first; kernels before what launches them."""
    return sorted(places, key=lambda place: (not place.scope, place.note.startswith("launches")))


def _kept_and_picked(index: Index) -> list[Evidence]:
    """Copies of one of several kept states, their callers, and the recurrences that keep them."""
    kept = list(_followed(index, STEPPED_STATE.id))
    copies: list[Evidence] = []
    callers: list[Evidence] = []
    keepers: list[Evidence] = []
    for function, sighting, trail in _followed(index, PICKED_STATE.id):
        own = [keeper for keeper in kept if keeper[0].ref != function.ref and _share(trail, keeper[2], function)]
        if own:
            copies.append(shaped(index, function, sighting))
            callers += launchers(index, function, "calls {} for the step of the last accepted token", steps=2)
            keepers += [shaped(index, keeper, kept_here) for keeper, kept_here, _ in own]
    return list(dict.fromkeys([*_by_use(copies)[:2], *callers, *_by_use(keepers), *copies]))


def _followed(index: Index, shape: str) -> list[tuple[Function, Sighting, Trail]]:
    found = [(function, seen, trail_of(index, function.ref, seen.detail)) for function, seen in index.seen(shape)]
    return [each for each in found if len(each[2].functions) <= _MOST_FUNCTIONS]


def _share(trail: Trail, other: Trail, function: Function) -> set[Cell]:
    """Places in which both values lie, apart from the parameters of the function that copies."""
    return {cell for cell in trail.cells & other.cells if cell.ref != function.ref}


_COUNT = """
@triton.jit
def scan(x, decay, pool, slots, taken, out, n, W: tl.constexpr, BLOCK: tl.constexpr):
    b = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    first = tl.load(taken + b) - 1
    home = tl.load(slots + b * W + first)
    h = tl.load(pool + home * BLOCK + i)
    for t in range(n):
        h = h * tl.load(decay + b * n + t) + tl.load(x + (b * n + t) * BLOCK + i)
        tl.store(out + (b * n + t) * BLOCK + i, h)
        tl.store(pool + tl.load(slots + b * W + t) * BLOCK + i, h)


def forward(x, decay, cache, meta, out):
    scan[(8,)](x, decay, cache.pool, meta.slots, meta.accepted, out, 4, W=4, BLOCK=64)
"""
_WINDOW = """
@triton.jit
def shift(x, weight, window, lines, taken, out, n, L: tl.constexpr, BLOCK: tl.constexpr):
    b = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    line = window + tl.load(lines + b) * L * BLOCK + i
    start = line + (tl.load(taken + b) - 1) * BLOCK
    older = tl.load(start)
    newer = tl.load(start + BLOCK)
    for t in range(n):
        now = tl.load(x + (b * n + t) * BLOCK + i)
        acc = older * tl.load(weight + i) + newer * tl.load(weight + BLOCK + i) + now * tl.load(weight + 2 * BLOCK + i)
        tl.store(out + (b * n + t) * BLOCK + i, acc)
        tl.store(line + (t + 2) * BLOCK, now)
        older = newer
        newer = now
"""
_TORCH = """
def advance(states, slots, lengths, x, decay, out):
    for b in range(x.shape[0]):
        h = states[slots[b, lengths[b] - 1]]
        for t in range(x.shape[1]):
            h = h * decay[b, t] + x[b, t]
            states[slots[b, t]] = h
            out[b, t] = h.sum(-1)
"""
_KEEP = """
@triton.jit
def scan(x, decay, pool, lines, trace, out, n, BLOCK: tl.constexpr):
    b = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    h = tl.load(pool + tl.load(lines + b) * BLOCK + i)
    for t in range(n):
        h = h * tl.load(decay + b * n + t) + tl.load(x + (b * n + t) * BLOCK + i)
        tl.store(out + (b * n + t) * BLOCK + i, h)
        tl.store(trace + (b * n + t) * BLOCK + i, h)


def forward(x, decay, caches, lines, out):
    scan[(8,)](x, decay, caches.pool, lines, caches.trace, out, 4, BLOCK=64)
"""
_PICK = """
@triton.jit
def settle(trace, pool, rows, lines, last, n, BLOCK: tl.constexpr):
    b = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    step = tl.load(last + b)
    if step < 0:
        return
    row = tl.load(rows + b)
    line = tl.load(lines + b)
    tl.store(pool + line * BLOCK + i, tl.load(trace + (row * n + step) * BLOCK + i))


def after_verification(caches, rows, lines, path, lengths):
    settle[(8,)](caches.trace, caches.pool, rows, lines, path[range(8), lengths - 1], 4, BLOCK=64)
"""
_PICK_IN_TORCH = """
def after_verification(caches, rows, lines, path, lengths):
    kept = caches.trace
    caches.pool[lines] = kept[rows, path[rows, lengths - 1]]
"""
_PICK_ROWS = """
def after_verification(caches, table, taken):
    live = taken > 0
    rows = table[live].long()
    last = (taken - 1)[live].long()
    kept = caches.trace
    caches.pool[:, rows] = kept[:, rows, last].to(caches.pool.dtype)
    caches.ends[table[rows]] = last
"""
_LAST = """
@triton.jit
def scan(x, decay, pool, lines, starts, out, BLOCK: tl.constexpr):
    b = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    first = tl.load(starts + b)
    end = tl.load(starts + b + 1)
    h = tl.load(pool + tl.load(lines + b) * BLOCK + i)
    for t in range(first, end):
        h = h * tl.load(decay + t) + tl.load(x + t * BLOCK + i)
        tl.store(out + t * BLOCK + i, h)
    tl.store(pool + tl.load(lines + b) * BLOCK + i, h)
"""
_CHUNKS = """
@triton.jit
def prefill(x, weight, window, chunks, out, n, BLOCK: tl.constexpr):
    b = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    chunk = tl.load(chunks + b)
    if chunk == 0:
        at = window + b * BLOCK + i
        older = tl.load(at)
    else:
        at = x + (chunk - 1) * BLOCK + i
        older = tl.load(at)
    for t in range(n):
        now = tl.load(x + (chunk + t) * BLOCK + i)
        tl.store(out + (chunk + t) * BLOCK + i, older * tl.load(weight + i) + now)
        older = now
    tl.store(window + b * BLOCK + i, older)
"""
_PAGES = """
@triton.jit
def swap(pages, host, slots, places, steps, n, BLOCK: tl.constexpr):
    b = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    slot = tl.load(slots + b)
    row = tl.load(places + b)
    step = tl.load(steps + b)
    tl.store(host + slot * BLOCK + i, tl.load(pages + (row * n + step) * BLOCK + i))


def offload(cache, slots, places, steps):
    swap[(8,)](cache.pages, cache.host, slots, places, steps, 4, BLOCK=64)
"""
_ATTENTION = """
@triton.jit
def attend(q, k, v, pages, lens, out, W: tl.constexpr, BLOCK: tl.constexpr):
    b = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    last = tl.load(lens + b) - 1
    page = tl.load(pages + b * W + last // 16)
    query = tl.load(q + b * BLOCK + i)
    acc = tl.zeros([BLOCK], dtype=tl.float32)
    for t in range(last + 1):
        place = tl.load(pages + b * W + t)
        weight = tl.exp(tl.sum(query * tl.load(k + place * BLOCK + i)))
        acc = acc + weight * tl.load(v + place * BLOCK + i)
    tl.store(out + page * BLOCK + i, acc)
"""

CASES = (
    Case("a slot chosen by a count", {"a.py": _COUNT}, Standing.PRESENT),
    Case("a window that starts at a count", {"a.py": _WINDOW}, Standing.PRESENT),
    Case("a slot chosen by a count in torch", {"a.py": _TORCH}, Standing.PRESENT),
    Case("states kept and one picked", {"scan.py": _KEEP, "settle.py": _PICK}, Standing.PRESENT),
    Case("states kept and one picked in torch", {"scan.py": _KEEP, "settle.py": _PICK_IN_TORCH}, Standing.PRESENT),
    Case(
        "states kept and one picked, row by row",
        {"scan.py": _KEEP, "settle.py": _PICK_ROWS},
        Standing.PRESENT,
    ),
    Case("states kept and none picked", {"scan.py": _KEEP}, Standing.ABSENT),
    Case("a copy of pages is no copy of states", {"scan.py": _KEEP, "swap.py": _PAGES}, Standing.ABSENT),
    Case("a scan that keeps the last state", {"a.py": _LAST}, Standing.ABSENT),
    Case("a chunk that goes on from the inputs before it", {"a.py": _CHUNKS}, Standing.ABSENT),
    Case("the page of the last token", {"a.py": _ATTENTION}, Standing.ABSENT),
)
DETECTOR = Detector(
    "state.chain",
    "Recurrent state taken back along a chain of draft tokens",
    __doc__,
    (COUNTED_STATE, STEPPED_STATE, PICKED_STATE, UPDATED_STATE),
    detect,
    CASES,
)
