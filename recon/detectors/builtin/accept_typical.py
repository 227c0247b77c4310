"""Typical acceptance, by a threshold that follows the entropy; other lossy rules count in part.

What it is
    A drafted token stands where the target finds it likely enough: p(x) > min(epsilon, delta · exp(-H)), with H the
    entropy of the target's distribution. No draft probability and no draw take part, and the output no longer keeps the
    target's distribution.

What counts
    shaped: a probability looked up by a drafted token is set against a threshold that holds delta · exp(-H), limited by
    a second one; H is a sum of p · log p in the same function or another of the same folder.
    partial: another lossy rule that can be tuned. Beside the usual test a token also stands where its probability
    passes a parameter; or a mismatch may stand where an entropy passes one.

Blind spots
    A fixed threshold is seen only beside a draw or a comparison of tokens: alone it has the form of a rule that stops
    drafting. Whether a default switches a rule off is not asked. Operators of other distributions are not read.

Sources
    Cai et al., Medusa, 2024, section 3.2, after Hewitt et al., 2022.
"""

from pathlib import PurePosixPath

from recon.detectors.api import Case, Detector, Evidence, Findings, Index, Standing
from recon.detectors.handing import reaches, trail_of
from recon.detectors.places import evidence, outside, ranked, reach_of, seen, with_doors
from recon.detectors.shapes.catalog import GREEDY_CHAIN, LOSSY_RULE, STOCHASTIC_CHAIN

_ADAPTIVE, _FIXED, _GATE, _ENTROPY = "typical.adaptive", "typical.fixed", "typical.gate", "typical.entropy"
_WORDS = (frozenset({"typical"}), frozenset({"speculative", "sampling", "target"}))
_IS_FIXED = (
    "The threshold is a fixed one that can be tuned: it does not follow the entropy of the target's distribution."
)
_IS_GATED = (
    "An entropy decides whether a mismatch may stand; no probability is set against a threshold that falls with it."
)
_IS_BARE = "A threshold falls exponentially with a number that is handed over; no entropy is taken beside it."


def detect(index: Index) -> Findings:
    """Places that accept by a threshold; acceptance by draws or tokens is where one would be built in."""
    adaptive, bare = _adaptive(index)
    fixed, gated = with_doors(index, _FIXED), _gated(index)
    entropies = _feeding(seen(index, _ENTROPY), [*adaptive, *gated])
    lossy = ranked([*fixed, *gated])
    if adaptive:
        return Findings(evidence=(*adaptive, *entropies, *lossy), reach=reach_of(adaptive))
    if lossy or bare:
        lacks = _IS_FIXED if fixed else _IS_GATED if gated else _IS_BARE
        return Findings(evidence=(*lossy, *bare, *entropies), lacks=lacks, reach=reach_of([*lossy, *bare]))
    elsewhere = outside(index, *_WORDS)
    near = (*seen(index, STOCHASTIC_CHAIN.id), *seen(index, GREEDY_CHAIN.id))
    return Findings(nearest=near, external=elsewhere)


def _adaptive(index: Index) -> tuple[list[Evidence], list[Evidence]]:
    """Thresholds that fall with an entropy, and those of which nobody beside them takes one."""
    makers = {PurePosixPath(function.path).parent for function, _ in index.seen(_ENTROPY)}
    whole: list[Evidence] = []
    bare: list[Evidence] = []
    for function, sighting in index.seen(_ADAPTIVE):
        has_entropy = not sighting.detail or PurePosixPath(function.path).parent in makers
        place = evidence(index, function, sighting.line, sighting.note)
        (whole if has_entropy else bare).append(place)
    return ranked(whole), ranked(bare)


def _gated(index: Index) -> list[Evidence]:
    """Gates by a number that is an entropy: taken in place, or handed over by whoever takes it."""
    entropies = {function.ref for function, _ in index.seen(_ENTROPY)}
    found: dict[tuple[str, str], Evidence] = {}
    for function, sighting in index.seen(_GATE) if entropies else ():
        place = evidence(index, function, sighting.line, sighting.note.replace("a number", "the entropy"))
        is_entropy = not sighting.detail or any(
            reaches(index, maker, entropies, depth=1) for maker in trail_of(index, function.ref, sighting.detail).makers
        )
        if is_entropy:
            found.setdefault((place.path, place.symbol), place)
    return ranked(found.values())


def _feeding(entropies: list[Evidence], rules: list[Evidence]) -> list[Evidence]:
    """Entropies taken beside a rule, in other functions than its own."""
    own = {(rule.path, rule.symbol) for rule in rules}
    roots = {rule.path.split("/")[:3][-1] for rule in rules}
    return [each for each in entropies if (each.path, each.symbol) not in own and each.path.split("/")[:3][-1] in roots]


_TORCH = """
def posterior(probs, ids, epsilon, delta):
    px = torch.gather(probs, -1, ids.unsqueeze(-1)).squeeze(-1)
    entropy = -torch.sum(probs * torch.log(probs + 1e-5), dim=-1)
    bound = torch.minimum(torch.ones_like(entropy) * epsilon, torch.exp(-entropy) * delta)
    return px > bound
"""
_GUARDED = """
def posterior(probs, ids, epsilon, delta, tiny):
    safe = probs.clamp_min(tiny)
    entropy = -(probs * safe.log()).sum(-1)
    bound = torch.minimum(torch.full_like(entropy, epsilon), torch.exp(-entropy) * delta)
    return probs.gather(-1, ids[..., None]).squeeze(-1) > bound
"""
_TRITON = """
@triton.jit
def k(count, draft, p, n, V, cap, factor, BLOCK: tl.constexpr):
    b = tl.program_id(0)
    v = tl.arange(0, BLOCK)
    live = 1
    kept = 0
    for i in range(n):
        row = p + (b * n + i) * V
        x = tl.load(row + v, mask=v < V, other=0.0)
        h = -tl.sum(tl.where(x > 0, x * tl.log(x), 0.0), axis=0)
        t = tl.load(draft + b * n + i)
        live = live & (tl.load(row + t) > tl.minimum(cap, factor * tl.exp(-h)))
        kept += live
    tl.store(count + b, kept)
"""
_CUDA = """
__device__ float spread(const float* p, int V) {
  float s = 0.f;
  for (int v = 0; v < V; ++v) s -= p[v] * logf(p[v]);
  return s;
}
__global__ void k(int* n, const int* draft, const float* p, const float* h, float cap, float factor, int K, int V) {
  for (int i = 0; i < K; ++i) {
    float bound = fminf(cap, factor * expf(-h[i]));
    if (p[i * V + draft[i]] < bound) break;
    n[0] = i + 1;
  }
}
__global__ void spreads(float* h, const float* p, int V) { h[blockIdx.x] = spread(p + blockIdx.x * V, V); }
"""
_ALSO = """
__global__ void k(int* n, const int* draft, const float* p, const float* q, const float* u, float least, int K, int V) {
  for (int i = 0; i < K; ++i) {
    int t = draft[i];
    float x = p[i * V + t];
    if (u[i] * q[i * V + t] < x || x >= least) {
      n[0] = i + 1;
    } else {
      break;
    }
  }
}
"""
_DEFER = """
def spread(logs):
    p = logs.softmax(dim=-1)
    return -(p * logs.log_softmax(dim=-1)).sum(dim=-1)


@triton.jit
def k(want, draft, doubt, level, n):
    b = tl.program_id(0)
    for i in range(n):
        d = tl.load(draft + b * n + i)
        w = tl.load(want + b * n + i)
        stays = d != w and tl.load(doubt + b * n + i) >= level
        tl.store(want + b * n + i, d, mask=stays)


def relax(want, draft, logs, level):
    doubt = spread(logs)
    k[(len(want),)](want, draft, doubt, level, draft.shape[1])
"""
_ETA = """
def warp(scores, epsilon):
    probs = scores.softmax(dim=-1)
    entropy = torch.distributions.Categorical(logits=scores).entropy()
    other = -(probs * probs.log()).sum(dim=-1)
    eta = torch.min(epsilon, torch.sqrt(epsilon) * torch.exp(-other))[..., None]
    return scores.masked_fill(probs < eta, -float("inf"))
"""
_STOP = """
def steps(probs, ids, least):
    sure = probs.gather(-1, ids.unsqueeze(-1)).squeeze(-1)
    return (sure > least).int().cumprod(dim=1).sum(dim=1)
"""
_LOGGED = """
def accept(drafts, p, q, log):
    px = p.gather(-1, drafts.unsqueeze(-1))
    qx = q.gather(-1, drafts.unsqueeze(-1))
    log.info("entropy", -(p * p.log()).sum(dim=-1))
    return torch.rand_like(px) < px / qx
"""
_OUTSIDE = """
from kernels import tree_speculative_sampling_target_only


def accept(predicts, probs, least):
    tree_speculative_sampling_target_only(predicts, probs, threshold_single=least)
    return predicts
"""

CASES = (
    Case("an operator of another distribution", {"a.py": _OUTSIDE}, Standing.UNKNOWN),
    Case("the rule in torch", {"a.py": _TORCH}, Standing.PRESENT),
    Case("the logarithm kept from zero", {"a.py": _GUARDED}, Standing.PRESENT),
    Case("the rule in Triton", {"a.py": _TRITON}, Standing.PRESENT),
    Case("the rule in CUDA, the entropy taken before", {"a.cuh": _CUDA}, Standing.PRESENT),
    Case("a fixed threshold beside the draw", {"a.cuh": _ALSO}, Standing.PARTIAL),
    Case("a mismatch that stands where the entropy is high", {"a.py": _DEFER}, Standing.PARTIAL),
    Case("a filter of the vocabulary accepts nothing", {"a.py": _ETA}, Standing.ABSENT),
    Case("a threshold that ends drafting accepts nothing", {"a.py": _STOP}, Standing.ABSENT),
    Case("an entropy that is logged", {"a.py": _LOGGED}, Standing.ABSENT),
)
DETECTOR = Detector(
    "accept.typical",
    "Typical acceptance",
    __doc__,
    (LOSSY_RULE, STOCHASTIC_CHAIN, GREEDY_CHAIN),
    detect,
    CASES,
)
