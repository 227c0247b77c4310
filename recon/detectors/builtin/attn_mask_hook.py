"""An attention kernel that takes a mask from its caller.

What it is
    A kernel of the text model over the KV cache that accepts an arbitrary query-to-query mask, bias or mask function
    made by its caller, used or not. Without such a door no tree can be verified in one forward pass.

What counts
    shaped: in a Triton kernel that reads keys through a page table or a list of slots, something is loaded by query and
    by key together and added to the scores, or decides where they are cut off, before the exponential.
    A slope for each head, a window, a causal comparison and a scale for each key are no such thing.

Blind spots
    Masks given as a function (FlexAttention) and masks of compiled libraries are not judged by shape here. A mask that
    a wrapper accepts and its kernel ignores is not counted, on purpose.

Sources
    Miao et al., SpecInfer, 2023, section 4.1: the topology-aware causal mask.
"""

from recon.detectors.api import Case, Detector, Evidence, Findings, Grade, Index, Reach, Standing
from recon.detectors.handing import trail_of
from recon.detectors.places import evidence, ranked, seen
from recon.detectors.shapes.catalog import MASK_HOOK


def detect(index: Index) -> Findings:
    """Kernels with such a door, and the functions that launch them."""
    hooks = seen(index, MASK_HOOK.id)
    launchers: dict[tuple[str, str], Evidence] = {}
    fed = reached = False
    for function, sighting in index.seen(MASK_HOOK.id):
        trail = trail_of(index, function.ref, sighting.detail)
        fed |= trail.is_fed
        reached |= any(index.holders(ref) for ref in (function.ref, *trail.functions))
        for edge in index.callers(function.ref):
            caller = index.function(edge.source)
            note = f"launches {function.symbol}"
            place = evidence(index, caller, caller.scope.line, note, Grade.SHAPED)
            launchers.setdefault((place.path, place.symbol), place)
    if not hooks:
        return Findings()
    reach = Reach.WIRED if fed and reached else Reach.DEFINED
    names = ", ".join(dict.fromkeys(each.symbol for each in hooks[:3]))
    how = "callers hand one over" if fed else "every caller in this tree leaves it at None"
    return Findings(
        evidence=tuple(ranked([*hooks, *launchers.values()])),
        reason=f"Scores take a mask made by the caller in {names}; {how}.",
        reach=reach,
    )


_HOOK = """
@triton.jit
def attend(q, k, v, o, pages, bias, stride, n, BLOCK: tl.constexpr, D: tl.constexpr):
    i = tl.arange(0, BLOCK)
    d = tl.arange(0, D)
    Q = tl.load(q + i[:, None] * D + d[None, :])
    top = tl.full([BLOCK], -1e9, tl.float32)
    for start in range(0, n, BLOCK):
        j = start + tl.arange(0, BLOCK)
        page = tl.load(pages + j)
        K = tl.load(k + page[None, :] * D + d[:, None])
        S = tl.dot(Q, K)
        S += tl.load(bias + i[:, None] * stride + j[None, :])
        P = tl.exp(S - top[:, None])
        tl.store(o + i, tl.sum(P, 1))
"""
_SLOPES = """
@triton.jit
def attend(q, k, v, o, pages, slopes, n, BLOCK: tl.constexpr, D: tl.constexpr):
    h = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    d = tl.arange(0, D)
    Q = tl.load(q + i[:, None] * D + d[None, :])
    slope = tl.load(slopes + h)
    for start in range(0, n, BLOCK):
        j = start + tl.arange(0, BLOCK)
        page = tl.load(pages + j)
        K = tl.load(k + page[None, :] * D + d[:, None])
        S = tl.dot(Q, K)
        S += slope * (j[None, :] - i[:, None])
        S = tl.where(i[:, None] >= j[None, :], S, float("-inf"))
        P = tl.exp(S)
        tl.store(o + i, tl.sum(P, 1))
"""

CASES = (
    Case("a bias loaded by query and key", {"a.py": _HOOK}, Standing.PRESENT),
    Case("slopes for each head and a causal mask", {"a.py": _SLOPES}, Standing.ABSENT),
)
DETECTOR = Detector(
    "attn.mask_hook", "An attention kernel that takes a mask from its caller", __doc__, (MASK_HOOK,), detect, CASES
)
