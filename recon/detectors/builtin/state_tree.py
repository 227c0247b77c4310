"""Recurrent state along a draft tree.

What it is
    In the verification of a tree each node of a recurrent layer goes on from the state of its parent, not from that of
    the token before it, so that siblings fork the state. A convolution takes in the inputs of the node's ancestors.

What counts
    shaped: in a loop over nodes a parent is looked up at the node (or derived from links) and the state, or the inputs,
    are read at the place that it names; what comes of them is worked on and written. And a caller hands the parents
    over: where every caller leaves them at None, the standing is partial.

Blind spots
    A recurrence that is re-run for each path of the tree, without parents, is not seen. Parents are followed by name
    through calls and fields. Whether every recurrent layer of an engine takes parents is not judged.

Sources
    Wu et al., Snakes and Ladders: Accelerating SSM Inference with Speculative Decoding, 2024.
"""

from recon.detectors.api import Case, Detector, Evidence, Findings, Index, Standing
from recon.detectors.handing import trail_of
from recon.detectors.places import launchers, ranked, seen, shaped
from recon.detectors.shapes.catalog import COUNTED_STATE, PARENT_STATE, STEPPED_STATE, UPDATED_STATE
from recon.records.verdict import Reach

_UNFED = "Nodes can start from their parent's state, but every caller in this tree leaves the parents at None."


def detect(index: Index) -> Findings:
    """Recurrences that go on from parents, and who hands them over."""
    fed: list[Evidence] = []
    unfed: list[Evidence] = []
    is_reached = False
    for function, sighting in index.seen(PARENT_STATE.id):
        trail = trail_of(index, function.ref, sighting.detail)
        is_fed = trail.is_fed
        is_reached |= is_fed and any(index.holders(ref) for ref in trail.functions)
        how = "launches {} with the parents of a tree" if is_fed else "launches {} without parents"
        places = [shaped(index, function, sighting), *launchers(index, function, how)]
        (fed if is_fed else unfed).extend(places)
    found = [*ranked(fed), *ranked(unfed)]
    if not found:
        return Findings(nearest=tuple(seen(index, COUNTED_STATE.id) or seen(index, STEPPED_STATE.id, UPDATED_STATE.id)))
    reach = Reach.WIRED if is_reached or any(place.scope for place in fed) else Reach.DEFINED
    return Findings(evidence=tuple(dict.fromkeys(found)), lacks="" if fed else _UNFED, reach=reach)


_KERNEL = """
@triton.jit
def scan(x, decay, pool, lines, above, trace, out, n, FORK: tl.constexpr, BLOCK: tl.constexpr):
    b = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    h = tl.load(pool + tl.load(lines + b) * BLOCK + i)
    t = 0
    for _ in range(n):
        if FORK:
            if t != 0:
                up = tl.load(above + b * n + t)
                h = tl.load(trace + (b * n + up) * BLOCK + i)
        h = h * tl.load(decay + b * n + t) + tl.load(x + (b * n + t) * BLOCK + i)
        tl.store(out + (b * n + t) * BLOCK + i, h)
        tl.store(trace + (b * n + t) * BLOCK + i, h)
        t += 1


def run(x, decay, caches, lines, out, above=None):
    scan[(8,)](x, decay, caches.pool, lines, above, caches.trace, out, 4, FORK=above is not None, BLOCK=64)
"""
_CALLER = """
from kernel import run


def verify(batch, tree, caches):
    run(batch.x, batch.decay, caches, batch.lines, batch.out, above=tree.parents)
"""
_NONE = """
from kernel import run


def verify(batch, caches):
    run(batch.x, batch.decay, caches, batch.lines, batch.out, above=None)
"""
_VECTOR = """
@triton.jit
def scan(x, decay, above, trace, out, n, N: tl.constexpr, BLOCK: tl.constexpr):
    b = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    places = tl.arange(0, N)
    ups = tl.load(above + b * N + places, mask=places < n, other=0)
    for t in range(1, n):
        up = tl.sum(tl.where(places == t, ups, 0))
        at = trace + (b * N + up) * BLOCK + i
        h = tl.load(at)
        h *= tl.load(decay + b * N + t)
        h += tl.load(x + (b * N + t) * BLOCK + i)
        at = trace + (b * N + t) * BLOCK + i
        tl.store(at, h)
        tl.store(out + (b * N + t) * BLOCK + i, h)


def verify(batch, tree, caches):
    scan[(8,)](batch.x, batch.decay, tree.parents, caches.trace, batch.out, 4, N=8, BLOCK=64)
"""
_TORCH = """
def fork(trace, root, parents, x, decay, readout):
    given = []
    for node in range(len(parents)):
        h = root if node == 0 else trace[parents[node]]
        h = h * decay[node] + torch.outer(x[node], readout[node])
        trace[node] = h
        given.append(h @ readout[node])
    return torch.stack(given)


def verify(tree, caches, batch):
    return fork(caches.trace, caches.root, tree.parents, batch.x, batch.decay, batch.c)
"""
_CLIMB = """
@triton.jit
def convolve(x, weight, above, out, n, WIDTH: tl.constexpr, BLOCK: tl.constexpr):
    b = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    for t in range(n):
        acc = tl.zeros([BLOCK], dtype=tl.float32)
        at = t
        for tap in range(WIDTH):
            acc += tl.load(x + (b * n + at) * BLOCK + i) * tl.load(weight + tap * BLOCK + i)
            at = tl.load(above + b * n + at)
        tl.store(out + (b * n + t) * BLOCK + i, acc)


def verify(batch, tree):
    convolve[(8,)](batch.x, batch.weight, tree.parents, batch.out, 4, WIDTH=4, BLOCK=64)
"""
_IGNORED = """
@triton.jit
def scan(x, decay, pool, slots, taken, above, next, out, n, W: tl.constexpr, BLOCK: tl.constexpr):
    b = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    h = tl.load(pool + tl.load(slots + b * W + tl.load(taken + b) - 1) * BLOCK + i)
    for t in range(n):
        h = h * tl.load(decay + b * n + t) + tl.load(x + (b * n + t) * BLOCK + i)
        tl.store(out + (b * n + t) * BLOCK + i, h)
        tl.store(pool + tl.load(slots + b * W + t) * BLOCK + i, h)


def verify(batch, tree, caches):
    pool, slots = caches.pool, batch.slots
    scan[(8,)](batch.x, batch.decay, pool, slots, batch.taken, tree.parents, tree.next, batch.out, 4, W=4, BLOCK=64)
"""
_DEPTHS = """
def levels(parents, scores):
    depth, total, order = [0], [1.0], []
    for node in range(1, len(parents)):
        depth.append(depth[parents[node]] + 1)
        total.append(total[parents[node]] * scores[node])
        order.append(node)
    return depth, total, order
"""
_EXPERTS = """
@triton.jit
def combine(rows, weights, index, out, n, BLOCK: tl.constexpr):
    b = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    acc = tl.zeros([BLOCK], dtype=tl.float32)
    for t in range(n):
        row = tl.load(index + b * n + t)
        acc += tl.load(rows + row * BLOCK + i) * tl.load(weights + b * n + t)
        tl.store(out + b * BLOCK + i, acc)
"""

CASES = (
    Case("a parent loaded for each node", {"kernel.py": _KERNEL, "caller.py": _CALLER}, Standing.PRESENT),
    Case("parents that nobody hands over", {"kernel.py": _KERNEL, "caller.py": _NONE}, Standing.PARTIAL),
    Case("a parent picked out of a vector", {"a.py": _VECTOR}, Standing.PRESENT),
    Case("a recurrence in torch", {"a.py": _TORCH}, Standing.PRESENT),
    Case("a convolution over ancestors", {"a.py": _CLIMB}, Standing.PRESENT),
    Case("a chain that ignores its links", {"a.py": _IGNORED}, Standing.ABSENT),
    Case("depths and scores are no states", {"a.py": _DEPTHS}, Standing.ABSENT),
    Case("a sum over the rows of experts", {"a.py": _EXPERTS}, Standing.ABSENT),
)
DETECTOR = Detector(
    "state.tree",
    "Recurrent state along a draft tree",
    __doc__,
    (PARENT_STATE, COUNTED_STATE, STEPPED_STATE, UPDATED_STATE),
    detect,
    CASES,
)
