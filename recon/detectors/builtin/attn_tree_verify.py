"""Tree attention in the target's verification pass.

What it is
    The forward pass in which the target scores a draft tree applies each request's ancestor mask (or a key list for
    each node), and acceptance follows the same tree.

What counts
    shaped: a mask in which ancestors are marked is handed on, through calls and fields, to an attention kernel that
    takes a mask, or to torch's own attention, outside of the loops that draft; and somewhere a walk accepts along a
    tree, reached by the step where the mask is.
    Without such a walk the standing is partial: nodes see the right keys, and are judged as a chain.

Blind spots
    Fields are followed by name, whatever object holds them. Whether positions follow the depth is asked by its own
    capability. Masks of compiled libraries are not followed.

Sources
    Miao et al., SpecInfer, 2023, section 4.1.
"""

from recon.detectors.api import Case, Detector, Findings, Index, Reach, Standing
from recon.detectors.places import outside, ranked, seen
from recon.detectors.shapes.catalog import ANCESTOR_MASK, DRAFT_LOOP, GREEDY_WALK, MASK_HOOK, STOCHASTIC_WALK
from recon.detectors.trees import accepts_trees, routes

_WORDS = (frozenset({"build", "tree"}), frozenset({"tree", "mask"}), frozenset({"tree", "attention"}))
_CHAIN = (
    "The ancestor mask reaches the target's pass, but nothing in this tree accepts along a tree: what was masked as a "
    "tree is judged as a chain."
)
_UNREACHED = (
    "The ancestor mask reaches the target's pass, but no step leads to the walk that would accept along the tree: what "
    "was masked as a tree is judged as a chain."
)


def detect(index: Index) -> Findings:
    """Ways of an ancestor mask into the verification pass."""
    found = routes(index)
    places = list(dict.fromkeys(place for route in found for place in route.verify))
    if not places:
        elsewhere = outside(index, *_WORDS)
        near = tuple(ranked([*seen(index, ANCESTOR_MASK.id), *seen(index, MASK_HOOK.id)]))
        return Findings(nearest=near, external=elsewhere)
    is_wired = any(place.scope for place in places)
    accepted = accepts_trees(index, wired=is_wired)
    lacks = _UNREACHED if accepts_trees(index, wired=False) else _CHAIN
    kernels = ", ".join(dict.fromkeys(index.function(route.kernel).symbol for route in found[:3]))
    whole = f"The ancestor mask of the draft tree reaches {kernels}, and a walk accepts along the same tree."
    return Findings(
        evidence=tuple(ranked(places)),
        lacks="" if accepted else lacks,
        reason=whole if accepted else "",
        reach=Reach.WIRED if is_wired else Reach.DEFINED,
    )


_TREE = """
from kernel import attend


def ancestors(paths, n):
    mask = torch.full((n, n), float("-inf"))
    for i in range(n):
        mask[i, i] = 0
        for c in range(len(paths[i]) - 1):
            mask[i, paths.index(paths[i][: c + 1])] = 0
    return mask


class Builder:
    def __init__(self, paths):
        self.tree_bias = ancestors(paths, len(paths))

    def forward(self, q, k, v, o, pages, n):
        attend[(1,)](q, k, v, o, pages, self.tree_bias, 8, n, BLOCK=16, D=64)
"""
_KERNEL = """
@triton.jit
def attend(q, k, v, o, pages, bias, stride, n, BLOCK: tl.constexpr, D: tl.constexpr):
    i = tl.arange(0, BLOCK)
    d = tl.arange(0, D)
    Q = tl.load(q + i[:, None] * D + d[None, :])
    for start in range(0, n, BLOCK):
        j = start + tl.arange(0, BLOCK)
        page = tl.load(pages + j)
        K = tl.load(k + page[None, :] * D + d[:, None])
        S = tl.dot(Q, K)
        S += tl.load(bias + i[:, None] * stride + j[None, :])
        P = tl.exp(S)
        tl.store(o + i, tl.sum(P, 1))
"""
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
_TORCH = """
def ancestors(parents):
    mask = torch.eye(len(parents), dtype=torch.bool)
    for i in range(1, len(parents)):
        mask[i] |= mask[parents[i]]
    return mask


def attend(q, k, v, parents):
    mask = ancestors(parents)
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
"""

CASES = (
    Case("a mask and a walk", {"tree.py": _TREE, "kernel.py": _KERNEL, "walk.py": _WALK}, Standing.PRESENT),
    Case("a mask for torch's attention, and a walk", {"a.py": _TORCH, "walk.py": _WALK}, Standing.PRESENT),
    Case("a mask without a walk", {"tree.py": _TREE, "kernel.py": _KERNEL}, Standing.PARTIAL),
    Case("a hook that nobody feeds", {"kernel.py": _KERNEL}, Standing.ABSENT),
)
DETECTOR = Detector(
    "attn.tree.verify",
    "Tree attention in the target's verification pass",
    __doc__,
    (MASK_HOOK, ANCESTOR_MASK, DRAFT_LOOP, GREEDY_WALK, STOCHASTIC_WALK),
    detect,
    CASES,
)
