"""Tree attention in the draft's forward pass.

What it is
    While the draft grows a tree, each of its nodes sees its ancestors and none of its siblings: by a mask or bias, or
    by a key list of its own for each branch.

What counts
    shaped: the mask of ancestors is handed on to an attention kernel on a way that only a drafting loop uses; or a
    kernel writes, for each branch, a key list made of the shared prefix and the branch's own entries.

Blind spots
    Whether the key list of a branch stays that of its true ancestors once branches are re-ordered is not judged.
    Drafting loops are told by their form: a model run on what was chosen from its last output.

Sources
    Li et al., EAGLE-2, 2024: dynamic draft trees; Miao et al., SpecInfer, 2023.
"""

from collections.abc import Sequence

from recon.detectors.api import Case, Detector, Evidence, Findings, Index, Reach, Standing
from recon.detectors.places import evidence, ranked, seen
from recon.detectors.shapes.catalog import ANCESTOR_MASK, BRANCH_KEYS, DRAFT_LOOP, MASK_HOOK
from recon.detectors.trees import routes


def detect(index: Index) -> Findings:
    """Masks on the way of a drafting loop, and key lists for each branch."""
    branches = seen(index, BRANCH_KEYS.id)
    launchers = [
        evidence(index, caller, caller.scope.line, f"launches {function.symbol} for the drafting steps")
        for function, _ in index.seen(BRANCH_KEYS.id)
        for edge in index.callers(function.ref)
        if (caller := index.function(edge.source))
    ]
    masked = [
        place
        for route in routes(index)
        if route.draft
        for place in (*route.draft, *_loops(index, route.draft), *route.verify)
    ]
    places = list(dict.fromkeys([*ranked([*branches, *launchers]), *masked]))
    if not places:
        near = ranked([*seen(index, ANCESTOR_MASK.id), *seen(index, MASK_HOOK.id)])
        return Findings(nearest=tuple(near))
    how = "each branch has a key list of its own" if branches else "a drafting loop cuts the ancestor mask to its step"
    return Findings(
        evidence=tuple(places),
        reason=f"While the draft grows, {how}: {places[0].symbol}.",
        reach=Reach.WIRED if any(place.scope for place in places) else Reach.DEFINED,
    )


def _loops(index: Index, draft: Sequence[Evidence]) -> list[Evidence]:
    """The drafting loops that call one of these places."""
    places = {index.place(each.path, each.symbol) for each in draft}
    found = [
        evidence(index, function, sighting.line, "drafts in a loop, each round with that mask")
        for function, sighting in index.seen(DRAFT_LOOP.id)
        if any(edge.target in places for edge in index.graph.edges_from(function.ref))
    ]
    return [place for place in ranked(found) if place.symbol not in {each.symbol for each in draft}]


_BRANCHES = """
@triton.jit
def keys(table, lens, out, stride, steps, BLOCK: tl.constexpr):
    b = tl.program_id(0)
    branch = tl.program_id(1)
    n = tl.load(lens + b)
    row = out + branch * (n + steps)
    i = tl.arange(0, BLOCK)
    tl.store(row + i, tl.load(table + b * stride + i, mask=i < n), mask=i < n)
    own = tl.load(table + b * stride + n + branch * steps + i, mask=i < steps)
    tl.store(row + n + i, own, mask=i < steps)
"""
_COPY = """
@triton.jit
def keys(table, lens, out, stride, BLOCK: tl.constexpr):
    b = tl.program_id(0)
    part = tl.program_id(1)
    n = tl.load(lens + b)
    i = part * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + b * stride + i, tl.load(table + b * stride + i, mask=i < n), mask=i < n)
"""

CASES = (
    Case("a key list for each branch", {"a.py": _BRANCHES}, Standing.PRESENT),
    Case("a plain copy of a page table", {"a.py": _COPY}, Standing.ABSENT),
)
DETECTOR = Detector(
    "attn.tree.draft",
    "Tree attention in the draft's forward pass",
    __doc__,
    (BRANCH_KEYS, MASK_HOOK, ANCESTOR_MASK, DRAFT_LOOP),
    detect,
    CASES,
)
