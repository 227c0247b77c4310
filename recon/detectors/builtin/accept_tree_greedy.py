"""Greedy acceptance of a draft tree.

What it is
    A walk over a tree of candidates that keeps the longest path whose tokens are what the target would have chosen,
    each at the node before it. One forward pass then yields the best of many branches, not only of one chain.

What counts
    shaped: in one function the next node is found from the current one (by links, dictionaries, parents, a frontier, a
    table or a set of paths) and its drafted token is compared with the target's choice at the node reached; a match
    is counted or written out.
    shaped, too: a call of a compiled operator whose schema takes drafted tokens, links between nodes and the target's
    choices, and nothing random.
    declared: a Python function that calls such code in a CUDA file that its module builds.

Blind spots
    Compiled libraries are read by symbol and schema only. A walk split over several launches, one a level, is seen
    only if one of them holds both the step to the next node and the comparison.

Sources
    Miao et al., SpecInfer, 2023, section 4.2; Cai et al., Medusa, 2024; Li et al., EAGLE, 2024.
"""

from recon.detectors.api import Case, Detector, Findings, Index, Library, Standing
from recon.detectors.compiled import compiled, walks_tree
from recon.detectors.places import outside, reach_of, seen, with_doors
from recon.detectors.shapes.catalog import GREEDY_CHAIN, GREEDY_WALK

_WORDS = (frozenset({"tree", "verify"}), frozenset({"tree", "accept"}), frozenset({"tree", "greedy"}))


def detect(index: Index) -> Findings:
    """Places that walk a tree; operators of other distributions and chains are what comes nearest."""
    behind = compiled(index, walks_tree, *_WORDS)
    walks = [*with_doors(index, GREEDY_WALK.id), *behind.places]
    elsewhere = outside(index, *_WORDS)
    near = (*elsewhere.places, *behind.nearest, *seen(index, GREEDY_CHAIN.id))
    return Findings(
        evidence=tuple(walks),
        nearest=near,
        reason="" if walks else behind.reason,
        reach=reach_of(walks),
        external=elsewhere.names,
        unread=behind.unread,
    )


_LINKS = """
@triton.jit
def k(out, count, ids, tok, child, sib, want, N: tl.constexpr, D: tl.constexpr):
    b = tl.program_id(0)
    last = tl.load(ids + b * N)
    cur = 0
    n = 0
    go = 1
    for _ in range(D):
        if go:
            cur = tl.load(child + b * N + cur)
            hit = 0
            for _ in range(N):
                if hit == 0 and cur != -1:
                    if tl.load(tok + b * N + cur) == tl.load(want + last):
                        last = tl.load(ids + b * N + cur)
                        n += 1
                        tl.store(out + b * D + n, last)
                        hit = 1
                    else:
                        cur = tl.load(sib + b * N + cur)
            if hit == 0:
                go = 0
    tl.store(count + b, n)
"""
_DICTIONARY = """
def follow(children, posterior):
    node, path = 0, []
    token = posterior[node]
    while token in children[node]:
        node = children[node][token]
        path.append(node)
        token = posterior[node]
    return path, token
"""
_PATHS = """
def pick(logits, candidates):
    match = (candidates[:, 1:] == torch.argmax(logits[:, :-1], dim=-1)).int()
    length = torch.cumprod(match, dim=1).sum(dim=1)
    best = torch.argmax(length)
    return candidates[best], length[best]
"""
_CHAIN = """
@triton.jit
def k(out, draft, want, bonus, n):
    b = tl.program_id(0)
    bad = False
    for i in range(n):
        if not bad:
            d = tl.load(draft + b * n + i)
            w = tl.load(want + b * n + i)
            tl.store(out + b * (n + 1) + i, w)
            bad = d != w
    if not bad:
        tl.store(out + b * (n + 1) + n, tl.load(bonus + b))
"""
_GRAMMAR = """
def allow(child, sib, tokens, grammar, mask):
    stack = [(0, None)]
    cur = child[0]
    while cur != -1:
        if grammar.accept(tokens[cur]):
            grammar.fill(mask, cur)
            cur = child[cur]
        else:
            cur = sib[cur]
"""
_REPLAY = """
def replay(children, accepted):
    node, out = 0, []
    for depth in range(len(accepted)):
        node = children[node][accepted[depth]]
        out.append(node)
    return out
"""

_OUTSIDE = """
from kernels import verify_tree_greedy


def accept(predicts, links, wanted):
    verify_tree_greedy(predicts, links, wanted)
    return predicts
"""
_OUTSIDE_MODULE = """
import kernels


def accept(predicts, links, wanted):
    kernels.verify_tree_greedy(predicts, links, wanted)
    return predicts
"""
_WRAPPER = """
def verify(out, accepted, candidates, next_token, next_sibling, target_predict):
    torch.ops.ops.verify.default(out, accepted, candidates, next_token, next_sibling, target_predict)
"""
_SCHEMA = "verify(Tensor! out, Tensor! n, Tensor candidates, Tensor next_sibling, Tensor target_predict) -> ()"
_LIBRARY = Library("ops.abi3.so", 1, (), (_SCHEMA,), ())
_ANOTHER = Library("ops.abi3.so", 1, (), ("verify(Tensor candidates, Tensor target_predict) -> ()",), ())
_EMPTY = Library("ops.abi3.so", 1, (), ("sort(Tensor! x) -> ()",), ())

CASES = (
    Case("a compiled operator that is called", {"a.py": _WRAPPER}, Standing.PRESENT, (_LIBRARY,)),
    Case("a compiled operator that nobody calls", {"a.py": ""}, Standing.ABSENT, (_LIBRARY,)),
    Case("a compiled operator without links", {"a.py": _WRAPPER}, Standing.ABSENT, (_ANOTHER,)),
    Case("a wrapper whose operator is gone", {"a.py": _WRAPPER}, Standing.ABSENT, (_EMPTY,)),
    Case("an operator of another distribution, by its module", {"a.py": _OUTSIDE_MODULE}, Standing.UNKNOWN),
    Case("an operator of another distribution", {"a.py": _OUTSIDE}, Standing.UNKNOWN),
    Case("links in Triton", {"a.py": _LINKS}, Standing.PRESENT),
    Case("a dictionary of children", {"a.py": _DICTIONARY}, Standing.PRESENT),
    Case("a table of paths", {"a.py": _PATHS}, Standing.PRESENT),
    Case("a chain is no tree", {"a.py": _CHAIN}, Standing.ABSENT),
    Case("a grammar walk accepts nothing", {"a.py": _GRAMMAR}, Standing.ABSENT),
    Case("a replay of accepted tokens accepts nothing", {"a.py": _REPLAY}, Standing.ABSENT),
)
DETECTOR = Detector(
    "accept.tree.greedy",
    "Greedy acceptance of a draft tree",
    __doc__,
    (GREEDY_WALK, GREEDY_CHAIN),
    detect,
    CASES,
)
