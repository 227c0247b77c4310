"""An attention kernel that takes a mask from its caller.

What it is
    A kernel of the text model over the KV cache that accepts an arbitrary query-to-query mask, bias or mask function
    made by its caller, used or not. Without such a door no tree can be verified in one forward pass.

What counts
    shaped: in a Triton kernel that reads keys through a page table or a list of slots, something is loaded by query and
    by key together and added to the scores, or decides where they are cut off, before the exponential.
    A slope for each head, a window, a causal comparison and a scale for each key are no such thing.
    shaped, too: in CUDA C++, a function whose answer is the bit at query * length + key of a packed array. Attention
    that is put together from such functions asks it for each score.
    shaped, too: torch's scaled_dot_product_attention, where the mask that it is given is one in which the ancestors of
    a draft tree are marked. Engines in plain torch gather the keys and verify in that way; given any other mask, or
    none, the call stands for no door, since encoders and samplers of images hold the same one.

Blind spots
    A mask that torch is given after further arithmetic is not traced back to the code that builds it. Masks given as a
    function (FlexAttention) and masks of compiled libraries are not judged by shape here. C++ that is compiled when it
    is needed is not followed to the Python that calls it. A mask that a wrapper accepts and its kernel ignores is not
    counted, on purpose.

Sources
    Miao et al., SpecInfer, 2023, section 4.1: the topology-aware causal mask.
"""

from recon.detectors.api import Case, Detector, Evidence, Findings, Grade, Index, Reach, Standing
from recon.detectors.hooks import hooks
from recon.detectors.places import evidence, ranked, shaped
from recon.detectors.shapes.catalog import ANCESTOR_MASK, MASK_BITS, MASK_HOOK
from recon.index.tables import Ref


def detect(index: Index) -> Findings:
    """Attention with such a door, and the functions that call it."""
    doors: dict[Ref, Evidence] = {}
    launchers: dict[tuple[str, str], Evidence] = {}
    fed = reached = False
    for hook in hooks(index):
        function, trail = hook.function, hook.trail
        doors.setdefault(function.ref, evidence(index, function, hook.line, hook.note))
        fed |= trail.is_fed or bool(trail.makers and not function.is_kernel)
        reached |= any(index.holders(ref) for ref in (function.ref, *trail.functions))
        for edge in index.callers(function.ref):
            caller = index.function(edge.source)
            note = f"launches {function.symbol}" if function.is_kernel else f"calls {function.symbol}"
            place = evidence(index, caller, caller.scope.line, note, Grade.SHAPED)
            launchers.setdefault((place.path, place.symbol), place)
    bits = {function.ref: shaped(index, function, each) for function, each in index.seen(MASK_BITS.id)}
    doors = {**bits, **doors}
    if not doors:
        return Findings()
    found = ranked(doors.values())
    reach = Reach.WIRED if fed and reached else Reach.DEFINED
    names = ", ".join(dict.fromkeys(each.symbol for each in found[:3]))
    if fed:
        how = "callers hand one over"
    else:
        how = "its callers are not seen" if bits else "every caller in this tree leaves it at None"
    return Findings(
        evidence=tuple(ranked([*found, *launchers.values()])),
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
_TORCH = """
def ancestors(parents):
    mask = torch.eye(len(parents), dtype=torch.bool)
    for i in range(1, len(parents)):
        mask[i] |= mask[parents[i]]
    return mask


def attend(q, cache, slots, parents):
    mask = ancestors(parents)
    k, v = cache[0, slots], cache[1, slots]
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask[None])
"""
_WINDOW = """
def window(n, width):
    mask = torch.ones(n, n, dtype=torch.bool).tril()
    for i in range(width, n):
        mask[i, : i - width] = False
    return mask


def attend(q, k, v, width):
    return F.scaled_dot_product_attention(q, k, v, attn_mask=window(len(q), width))
"""
_APART = _TORCH.replace(", attn_mask=mask[None]", ", is_causal=True")
_BITS = """
template <bool custom>
struct Variant : Base {
  uint8_t* marks;
  uint32_t rows, columns;

  REGISTER_KEEP(params, batch, row, column, {
    bool keep = true;
    if constexpr (custom) {
      const uint64_t at = static_cast<uint64_t>(row) * columns + column;
      keep &= ((marks[at / 8] >> (at % 8)) & 1);
    }
    return keep;
  })
};
"""
_PLAIN_BITS = """
__device__ bool visited(const uint32_t* seen, int node) {
  return (seen[node >> 5] >> (node & 31)) & 1;
}
"""

CASES = (
    Case("a bias loaded by query and key", {"a.py": _HOOK}, Standing.PRESENT),
    Case("a bit looked up by query and key", {"a.cuh": _BITS}, Standing.PRESENT),
    Case("a bit looked up by node", {"a.cuh": _PLAIN_BITS}, Standing.ABSENT),
    Case("a tree's mask given to torch's attention", {"a.py": _TORCH}, Standing.PRESENT),
    Case("a window given to torch's attention", {"a.py": _WINDOW}, Standing.ABSENT),
    Case("a tree's mask beside torch's causal attention", {"a.py": _APART}, Standing.ABSENT),
    Case("slopes for each head and a causal mask", {"a.py": _SLOPES}, Standing.ABSENT),
)
DETECTOR = Detector(
    "attn.mask_hook",
    "An attention kernel that takes a mask from its caller",
    __doc__,
    (MASK_HOOK, MASK_BITS, ANCESTOR_MASK),
    detect,
    CASES,
)
