"""Greedy acceptance along a chain.

What it is
    Each drafted token is compared with what the target chose at its position (its argmax, or the sampled token that
    temperature 0 makes the argmax); acceptance ends at the first mismatch, where the target's own token is emitted.

What counts
    shaped: two token sequences are compared position by position, something ends acceptance at the first mismatch (a
    flag, a break, a running product, a scan, the place of the first mismatch, a call of the function itself that is not
    made), and one of the sequences is written out, read at the accepted length, or given back together with it.

    partial: there is no such comparison, and the behaviour follows from another rule: rejection sampling, which at
    temperature 0 accepts exactly the argmax, or a tree whose nodes have one child each. Partial as well where a runner
    reaches a function that gives back the number of leading matches alone, or a kernel that stores it.

Blind spots
    Whether the second sequence really is the argmax of the target is not followed into the caller. A comparison in one
    function and the end of acceptance in another are not joined, nor is a count with the tokens that a caller takes.
    The common prefix of any two lists, kept element by element, has the same form.

Sources
    Leviathan et al., 2023, at temperature 0; Stern et al., Blockwise parallel decoding, 2018.
"""

from recon.detectors.api import Case, Detector, Findings, Index, Reach, Standing
from recon.detectors.places import outside, reach_of, seen, with_doors
from recon.detectors.shapes.catalog import GREEDY_CHAIN, GREEDY_WALK, LEADING_COUNT, STOCHASTIC_CHAIN

_BY_RATIO = (
    "No comparison by equality: at temperature 0 the target's distribution is one-hot, and its rejection sampling then "
    "accepts exactly the argmax."
)
_BY_TREE = "No rule for chains of its own: a chain goes through the tree's walk as a tree with one child a node."
_COUNTED = (
    "Leading matches are counted and their number is handed back: where the target's own token is emitted was not seen."
)
_WORDS = (frozenset({"verify", "greedy"}), frozenset({"rejection", "greedy"}), frozenset({"accept", "greedy"}))


def detect(index: Index) -> Findings:
    """Places that accept a chain by equality, or another rule from which the same follows."""
    walks, ratios = seen(index, GREEDY_WALK.id), seen(index, STOCHASTIC_CHAIN.id)
    of_trees = {(walk.path, walk.line) for walk in walks}  # a row of a table of paths is matched as a chain is
    chains = [chain for chain in seen(index, GREEDY_CHAIN.id) if (chain.path, chain.line) not in of_trees]
    counts = seen(index, LEADING_COUNT.id)
    if chains:
        return Findings(evidence=tuple(chains), nearest=tuple(counts), reach=reach_of(chains))
    counted = with_doors(index, LEADING_COUNT.id)
    others = walks or ratios or (counted if reach_of(counted) is Reach.WIRED else [])
    lacks = _BY_TREE if walks else _BY_RATIO if ratios else _COUNTED if others else ""
    elsewhere = outside(index, *_WORDS)
    return Findings(
        evidence=tuple(others),
        nearest=tuple(place for place in counts if place not in others),
        lacks=lacks,
        reach=reach_of(others),
        external=elsewhere,
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
_HANDED_OUT = """
def accept(draft, target):
    for d, t in zip(draft, target):
        yield t
        if t != d:
            return
    yield target[len(draft)]
"""
_NEXT = """
def accept(draft, target):
    it = iter(target)
    for d in draft:
        t = next(it)
        yield t
        if t != d:
            return
    yield next(it)
"""
_PLACES = """
def accept(draft, target):
    bad = np.flatnonzero(draft != target[:-1])
    n = bad[0] if bad.size else len(draft)
    return np.append(draft[:n], target[n])
"""
_CHANGES = """
def changes(old, new):
    for a, b in zip(old, new):
        if a != b:
            yield b
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
_LIST = """
def accept(wanted, drafts):
    out = []
    for w, d in zip(wanted, drafts):
        out.append(w)
        if w != d:
            break
    return out
"""
_INDEX = """
def accept(wanted, drafts, k):
    out = []
    for i in range(k):
        out.append(wanted[i])
        if not wanted[i] == drafts[i]:
            return out
    return out
"""
_MATCHED = """
def accept(logits, drafts):
    wanted = logits.argmax(dim=-1).tolist()
    out = []
    for i, (w, d) in enumerate(zip(wanted, drafts)):
        if w != d:
            break
        out.append(d)
    return out + wanted[len(out) : len(out) + 1]
"""
_WITH_COUNT = """
def count(wanted, drafts):
    n = (wanted[:, :-1] == drafts).int().cumprod(dim=1).sum(dim=1)
    return wanted, n
"""
_COUNT = """
class Rule:
    def count(self, logits, drafts):
        wanted = logits.argmax(-1)
        n = (wanted[:, :-1] == drafts).int().cumprod(1).sum(1)
        return n


class Runner:
    def __init__(self):
        self.rule = Rule()

    def execute_model(self):
        return self.rule.count(self.logits, self.drafts)


class EngineCore:
    def __init__(self):
        self.runner = Runner()

    def step(self):
        return self.runner.execute_model()
"""
_STORED = """
@triton.jit
def first(draft, said, n, K, BLOCK: tl.constexpr):
    r = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    d = tl.load(draft + r * K + i, mask=i < K, other=-1)
    s = tl.load(said + r * (K + 1) + i, mask=i < K, other=-2)
    tl.store(n + r, tl.min(tl.where(d == s, BLOCK, i), axis=0))


class Rule:
    def count(self, logits, drafts):
        n = torch.empty(len(drafts))
        first[(len(drafts),)](drafts, logits.argmax(-1), n, 4, 8)
        return n
"""
_ACCURACY = """
def prefix_accuracy(logits, labels):
    return (logits.argmax(-1) == labels).cumprod(-1).sum(-1).float().mean()
"""
_UNTIL = """
def head(tokens, ends):
    out = []
    for token, end in zip(tokens, ends):
        out.append(token)
        if token == end:
            break
    return out
"""
_CHECK = """
def same(tokens, others):
    seen = []
    for one, other in zip(tokens, others):
        seen.append(one)
        if one != other:
            return False
    return True
"""
_MARKERS = """
def expand(parts, closing):
    out, end = [], None
    for part in parts:
        if end is not None:
            out.append(part)
            if part == end:
                end = None
        elif part in closing:
            end = closing[part]
    return out
"""

CASES = (
    Case("a generator up to the first mismatch", {"a.py": _HANDED_OUT}, Standing.PRESENT),
    Case("a generator beside an iterator", {"a.py": _NEXT}, Standing.PRESENT),
    Case("the first of all places that differ", {"a.py": _PLACES}, Standing.PRESENT),
    Case("a generator of all that differs", {"a.py": _CHANGES}, Standing.ABSENT),
    Case("rejection sampling alone", {"a.py": _RATIO}, Standing.PARTIAL),
    Case("a flag in Triton", {"a.py": _FLAG}, Standing.PRESENT),
    Case("a running product in torch", {"a.py": _PRODUCT}, Standing.PRESENT),
    Case("the place of the first mismatch", {"a.py": _FIRST}, Standing.PRESENT),
    Case("lists in plain Python", {"a.py": _LIST}, Standing.PRESENT),
    Case("lists by index", {"a.py": _INDEX}, Standing.PRESENT),
    Case("a loop left before the match is kept", {"a.py": _MATCHED}, Standing.PRESENT),
    Case("a count beside the target's tokens", {"a.py": _WITH_COUNT}, Standing.PRESENT),
    Case("a count alone that a runner reaches", {"a.py": _COUNT}, Standing.PARTIAL),
    Case("a count alone that no runner reaches", {"a.py": _COUNT.partition("class Runner")[0]}, Standing.ABSENT),
    Case(
        "a count that a kernel stores",
        {"a.py": f"{_STORED}\n\nclass Runner{_COUNT.partition('class Runner')[2]}"},
        Standing.PARTIAL,
    ),
    Case("a count that a kernel stores for nobody", {"a.py": _STORED}, Standing.ABSENT),
    Case("an accuracy over leading matches", {"a.py": _ACCURACY}, Standing.ABSENT),
    Case("a list that ends at the first match", {"a.py": _UNTIL}, Standing.ABSENT),
    Case("a marker that ends a run", {"a.py": _MARKERS}, Standing.ABSENT),
    Case("a check of two lists", {"a.py": _CHECK}, Standing.ABSENT),
    Case("the length of a shared prefix emits nothing", {"a.py": _PREFIX}, Standing.ABSENT),
)
DETECTOR = Detector(
    "accept.linear.greedy",
    "Greedy acceptance along a chain",
    __doc__,
    (GREEDY_CHAIN, GREEDY_WALK, STOCHASTIC_CHAIN, LEADING_COUNT),
    detect,
    CASES,
)
