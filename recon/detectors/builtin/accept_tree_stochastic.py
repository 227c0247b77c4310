"""Stochastic acceptance of a draft tree.

What it is
    The children of a node are tried one after the other against a random number; when none is accepted, the token is
    sampled from what is left of the target's distribution. The output keeps the target's distribution, and several
    candidates share one position.

What counts
    shaped: a walk from node to node whose test sets the target's probability of the drafted token (looked up by that
    token) against a random number, with a residual max(p - q, 0) in the same function, or with the tokens that were
    tried taken out of the rest; siblings in turn where a refused one loses its probability and the rest is
    renormalised, or leaves the residual for the next one; or nodes tried from the leaves upwards by the weight of their
    whole path (traversal verification).
    shaped, too: a call of a compiled operator whose schema takes drafted tokens, links between nodes, the target's
    probabilities and random numbers.
    declared: a Python function that calls such code in a CUDA file that its module builds.

Blind spots
    Compiled libraries are read by symbol and schema only. A residual taken in another function than the walk is not
    joined to it. Sets of chains from which one is drawn at random at each position (host code in C++) are not seen.

Sources
    Miao et al., SpecInfer, 2023, algorithm 2; Li et al., EAGLE, 2024; Leviathan et al., 2023 for the residual.
"""

from recon.detectors.api import Case, Detector, Findings, Index, Library, Standing
from recon.detectors.compiled import compiled, draws_along_tree
from recon.detectors.places import outside, reach_of, seen, with_doors
from recon.detectors.shapes.catalog import STOCHASTIC_CHAIN, STOCHASTIC_WALK

_WORDS = (frozenset({"tree", "sampling"}), frozenset({"tree", "reject"}), frozenset({"tree", "stochastic"}))


def detect(index: Index) -> Findings:
    """Places that draw along a tree; operators of other distributions and rejection sampling are what comes nearest."""
    behind = compiled(index, draws_along_tree, *_WORDS)
    walks = [*with_doors(index, STOCHASTIC_WALK.id), *behind.places]
    elsewhere = outside(index, *_WORDS)
    near = (*behind.nearest, *seen(index, STOCHASTIC_CHAIN.id))
    return Findings(
        evidence=tuple(walks),
        nearest=near,
        reason="" if walks else behind.reason,
        reach=reach_of(walks),
        external=elsewhere,
        unread=behind.unread,
    )


_DRAWS = """
__global__ void walk(int* out, int* n, int* tok, int* child, int* sib, float* coins, float* p, float* q, int N, int V) {
  int b = blockIdx.x;
  int cur = 0, count = 0;
  float mass = 0, coin = coins[b * N];
  int row = b * N * V;
  for (int j = 1; j < N; ++j) {
    cur = child[b * N + cur];
    while (cur != -1) {
      int t = tok[b * N + cur];
      mass += p[row + t];
      if (coin < mass) {
        mass = 0;
        row = (b * N + cur) * V;
        coin = coins[b * N + cur];
        ++count;
        out[b * N + count] = t;
        break;
      }
      q[row + t] = p[row + t];
      cur = sib[b * N + cur];
    }
    if (cur == -1) break;
  }
  float left = 0;
  for (int v = 0; v < V; ++v) left += max(p[row + v] - q[row + v], 0.0f);
  n[b] = count;
}
"""
_RENORMALISE = """
def evaluate(candidates, p, depth):
    accepted = []
    for i in range(1, depth):
        for j in range(candidates.shape[0]):
            x = candidates[j, i]
            r = random.random()
            if r <= p[x]:
                accepted.append(x)
                break
            p[x] = 0
            p = p / p.sum()
    return accepted
"""
_CHAIN = """
@triton.jit
def k(out, draft, p, q, u, rec, n, V):
    b = tl.program_id(0)
    bad = False
    for i in range(n):
        if not bad:
            d = tl.load(draft + b * n + i)
            ok = tl.load(p + (b * n + i) * V + d) / tl.load(q + (b * n + i) * V + d) >= tl.load(u + b * n + i)
            t = d if ok else tl.load(rec + b * n + i)
            bad = not ok
            tl.store(out + b * n + i, t)
"""
_OUTSIDE = """
from kernels import tree_sampling_target_only


def accept(predicts, links, probs):
    tree_sampling_target_only(predicts, links, probs)
    return predicts
"""
_WRAPPER = """
def draw(out, candidates, siblings, uniform, target_probs):
    torch.ops.ops.draw.default(out, candidates, siblings, uniform, target_probs)
"""
_SCHEMA = "draw(Tensor! out, Tensor candidates, Tensor siblings, Tensor uniform, Tensor target_probs) -> ()"
_LIBRARY = Library("ops.abi3.so", 1, (), (_SCHEMA,), ())
_GREEDY = "draw(Tensor! out, Tensor candidates, Tensor siblings, Tensor target_predict) -> ()"
_ANOTHER = Library("ops.abi3.so", 1, (), (_GREEDY,), ())

CASES = (
    Case("a compiled operator that is called", {"a.py": _WRAPPER}, Standing.PRESENT, (_LIBRARY,)),
    Case("a compiled operator without chance", {"a.py": _WRAPPER}, Standing.ABSENT, (_ANOTHER,)),
    Case("an operator of another distribution", {"a.py": _OUTSIDE}, Standing.UNKNOWN),
    Case("a probability mass over siblings in CUDA", {"a.cuh": _DRAWS}, Standing.PRESENT),
    Case("siblings in turn, renormalised", {"a.py": _RENORMALISE}, Standing.PRESENT),
    Case("rejection sampling along a chain", {"a.py": _CHAIN}, Standing.ABSENT),
)
DETECTOR = Detector(
    "accept.tree.stochastic",
    "Stochastic acceptance of a draft tree",
    __doc__,
    (STOCHASTIC_WALK, STOCHASTIC_CHAIN),
    detect,
    CASES,
)
