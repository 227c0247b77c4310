"""Greedy acceptance along a chain.

What it is
    Each drafted token is compared with what the target chose at its position (its argmax, or the sampled token that
    temperature 0 makes the argmax); acceptance ends at the first mismatch, where the target's own token is emitted.

What counts
    shaped: two token sequences are compared position by position, something ends acceptance at the first mismatch (a
    flag, a break, a running product, a scan, the place of the first mismatch), and one of the sequences is written out
    or read at the accepted length.

    partial: there is no such comparison, and the behaviour follows from another rule: rejection sampling, which at
    temperature 0 accepts exactly the argmax, or a tree whose nodes have one child each.

Blind spots
    Whether the second sequence really is the argmax of the target is not followed into the caller. A comparison in one
    function and the end of acceptance in another are not joined.

Sources
    Leviathan et al., 2023, at temperature 0; Stern et al., Blockwise parallel decoding, 2018.
"""

from recon.detectors.api import Case, Detector, Findings, Index, Standing
from recon.detectors.places import outside, reach_of, seen
from recon.detectors.shapes.catalog import GREEDY_CHAIN, GREEDY_WALK, STOCHASTIC_CHAIN

_BY_RATIO = (
    "No comparison by equality: at temperature 0 the target's distribution is one-hot, and its rejection sampling then "
    "accepts exactly the argmax."
)
_BY_TREE = "No rule for chains of its own: a chain goes through the tree's walk as a tree with one child a node."
_WORDS = (frozenset({"verify", "greedy"}), frozenset({"rejection", "greedy"}), frozenset({"accept", "greedy"}))


def detect(index: Index) -> Findings:
    """Places that accept a chain by equality, or another rule from which the same follows."""
    chains = seen(index, GREEDY_CHAIN.id)
    if chains:
        return Findings(evidence=tuple(chains), reach=reach_of(chains))
    walks, ratios = seen(index, GREEDY_WALK.id), seen(index, STOCHASTIC_CHAIN.id)
    others = walks or ratios
    lacks = _BY_TREE if walks else _BY_RATIO if ratios else ""
    elsewhere = outside(index, *_WORDS)
    return Findings(
        evidence=tuple(others),
        nearest=elsewhere.places,
        lacks=lacks,
        reach=reach_of(others),
        external=elsewhere.names,
    )


_FLAG = """
@triton.jit
def k(out, draft, want, n):
    b = tl.program_id(0)
    bad = False
    for i in range(n):
        if not bad:
            w = tl.load(want + b * n + i)
            tl.store(out + b * n + i, w)
            if w != tl.load(draft + b * n + i + 1):
                bad = True
"""
_PRODUCT = """
def count(drafts, wanted):
    same = drafts[:, 1:] == wanted[:, :-1]
    n = same.to(torch.int32).cumprod(dim=1).sum(dim=1)
    return n, wanted[torch.arange(len(n)), n]
"""
_FIRST = """
@triton.jit
def k(draft, want, out, bonus, n, BLOCK: tl.constexpr):
    b = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    d = tl.load(draft + b * n + 1 + i, mask=i < n - 1, other=-1)
    w = tl.load(want + b * n + i, mask=i < n - 1, other=-2)
    m = tl.min(tl.where(d == w, BLOCK, i), 0)
    tl.store(out + b, m)
    tl.store(bonus + b, tl.load(want + b * n + m))
"""
_PREFIX = """
def shared(a, b):
    n = 0
    for x, y in zip(a, b):
        if x != y:
            break
        n += 1
    return n
"""
_RATIO = """
def accept(ids, p, q):
    px = p.gather(-1, ids.unsqueeze(-1))
    qx = q.gather(-1, ids.unsqueeze(-1))
    return torch.rand_like(px) < px / qx
"""

CASES = (
    Case("rejection sampling alone", {"a.py": _RATIO}, Standing.PARTIAL),
    Case("a flag in Triton", {"a.py": _FLAG}, Standing.PRESENT),
    Case("a running product in torch", {"a.py": _PRODUCT}, Standing.PRESENT),
    Case("the place of the first mismatch", {"a.py": _FIRST}, Standing.PRESENT),
    Case("the length of a shared prefix emits nothing", {"a.py": _PREFIX}, Standing.ABSENT),
)
DETECTOR = Detector(
    "accept.linear.greedy",
    "Greedy acceptance along a chain",
    __doc__,
    (GREEDY_CHAIN, GREEDY_WALK, STOCHASTIC_CHAIN),
    detect,
    CASES,
)
