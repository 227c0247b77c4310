"""Block verification: the draft is judged as a whole.

What it is
    Rejection sampling stops at the first refusal. Block verification carries on: p = min(p · target / draft, 1) runs
    along the draft, and a prefix stands where a uniform number lies below mass / (mass + 1 - p), mass being what
    p · target leaves above the draft at the next place. The last place that stands is the accepted length. The output
    keeps the target's distribution, and more tokens are accepted on average.

What counts
    shaped: a uniform number is set against m / (m + 1 - p), and the last place at which the test holds wins (a scan
    from behind, or a scan forward that keeps the latest one); beside it, in the same function or another of the same
    folder, the running product held at one (or its logarithm held at zero) and the mass of its residual.
    partial: one of those two is missing.
    declared: whoever hands on the switch of a kernel in which this is one branch of several.

Blind spots
    Compiled libraries are read by symbol and schema only. A product taken by an operation over a whole vector, with no
    loop, is not seen.

Sources
    Sun et al., Block verification accelerates speculative decoding, 2024 (arXiv 2403.10444), algorithm 2.
"""

from collections.abc import Iterator
from pathlib import PurePosixPath

from recon.detectors.api import Case, Detector, Evidence, Findings, Function, Grade, Index, Reach, Sighting, Standing
from recon.detectors.handing import is_function, trail_of
from recon.detectors.places import evidence, reach_of, seen
from recon.detectors.shapes.catalog import BLOCK_PARTS, GREEDY_CHAIN, STOCHASTIC_CHAIN

_LAST, _PRODUCT, _MASS = "block.last", "block.product", "block.mass"
_NO_PRODUCT = "The joint test is made, but no running product held at one is taken beside it."
_NO_MASS = "The joint test is made, but no mass of the residual is summed up beside it."


def detect(index: Index) -> Findings:
    """Places that test a draft as a whole; rejection sampling and greedy chains are where it would be built in."""
    tests = list(index.seen(_LAST))
    if not tests:
        near = (*seen(index, STOCHASTIC_CHAIN.id), *seen(index, GREEDY_CHAIN.id))
        return Findings(nearest=near)
    last = seen(index, _LAST)
    products, masses = (_beside(last, seen(index, shape)) for shape in (_PRODUCT, _MASS))
    switches = [_switched(index, function, sighting) for function, sighting in tests]
    parts = [*last, *products, *masses, *(place for places in switches for place in places)]
    found: dict[tuple[str, str], Evidence] = {}
    for each in parts:
        found.setdefault((each.path, each.symbol), each)
    is_used = any(places or not sighting.detail for places, (_, sighting) in zip(switches, tests, strict=True))
    return Findings(
        evidence=tuple(found.values()),
        lacks=_NO_PRODUCT if not products else _NO_MASS if not masses else "",
        reach=reach_of(last) if is_used else Reach.DEFINED,
    )


def _beside(tests: list[Evidence], parts: list[Evidence]) -> list[Evidence]:
    """The parts that lie in the folder of a test."""
    folders = {PurePosixPath(test.path).parent for test in tests}
    return [part for part in parts if PurePosixPath(part.path).parent in folders]


def _switched(index: Index, function: Function, sighting: Sighting) -> list[Evidence]:
    """Who hands on the switch of the branch that the test stands in."""
    if not sighting.detail:
        return []
    trail = trail_of(index, function.ref, sighting.detail)
    handed = [
        evidence(index, index.function(ref), line, f"hands on the switch {sighting.detail}", Grade.DECLARED)
        for ref, line in trail.functions.items()
        if is_function(index, ref)
    ]
    names = {
        text
        for ref in trail.functions
        for call in index.calls_of(ref)
        for name, text in zip(call.keywords, call.args[call.positional :], strict=False)
        if name == sighting.detail and index.parameter(ref, text) is not None
    }
    return [*handed, *(place for name in sorted(names) for place in _bound(index, name))]


def _bound(index: Index, name: str) -> Iterator[Evidence]:
    """Where a parameter is bound beforehand: `partial(f, name=True)`."""
    for owner, call, text in index.keyword_uses.get(name, ()):
        if call.callee.rpartition(".")[2] == "partial" and text not in ("None", "False"):
            yield evidence(index, index.function(owner), call.line, f"binds the switch {name}", Grade.DECLARED)


_FORWARD = """
@triton.jit
def k(out, count, draft, p, q, u, n, V, JOINT: tl.constexpr, BLOCK: tl.constexpr):
    b = tl.program_id(0)
    r = 1.0
    kept = 0
    if JOINT:
        for i in range(n):
            t = tl.load(draft + b * n + i)
            r = tl.minimum(r * tl.load(p + (b * n + i) * V + t) / tl.load(q + (b * n + i) * V + t), 1.0)
            m = 0.0
            for s in range(0, V, BLOCK):
                v = s + tl.arange(0, BLOCK)
                row = (b * n + i + 1) * V
                m += tl.sum(tl.maximum(r * tl.load(p + row + v) - tl.load(q + row + v), 0))
            h = m / (m + 1.0 - r)
            kept = tl.where(tl.load(u + b * n + i) <= h, i + 1, kept)
            tl.store(out + b * n + i, t)
    tl.store(count + b, kept)


def verify(out, count, draft, p, q, u):
    k[(len(draft),)](out, count, draft, p, q, u, draft.shape[1], p.shape[-1], JOINT=True, BLOCK=1024)
"""
_SPLIT = """
@triton.jit
def ratios(run, draft, target, drafted, n, V):
    b = tl.program_id(0)
    total = tl.zeros((), tl.float32)
    for step in range(n):
        token = tl.load(draft + b * n + step)
        if token >= 0:
            gain = tl.load(target + (b * n + step) * V + token) - tl.load(drafted + (b * n + step) * V + token)
            total = tl.minimum(total + gain, 0.0)
        tl.store(run + b * n + step, total)


@triton.jit
def left(mass, run, target, drafted, rows, V, BLOCK: tl.constexpr):
    row = tl.load(rows + tl.program_id(0))
    v = tl.arange(0, BLOCK)
    ratio = tl.exp(tl.load(run + row - 1))
    above = ratio * tl.exp(tl.load(target + row * V + v)) - tl.exp(tl.load(drafted + row * V + v))
    tl.store(mass + row, tl.sum(tl.where(above > 0, above, 0.0), axis=0))


def length(ratio, mass, coins):
    stands = coins < mass / (1 - ratio + mass)
    return torch.where(stands, torch.arange(1, len(stands) + 1), 0).max(dim=-1).values
"""
_CUDA = """
__global__ void accept(int* n, const int* draft, const float* p, const float* q, const float* coins, int K, int V) {
  float run[16];
  float r = 1.f;
  for (int i = 0; i < K; ++i) {
    int t = draft[i];
    r = fminf(r * (p[i * V + t] / q[i * V + t]), 1.f);
    run[i] = r;
  }
  n[0] = 0;
  for (int i = K - 1; i >= 0; --i) {
    float mass = 0.f;
    for (int v = 0; v < V; ++v) mass += fmaxf(run[i] * p[(i + 1) * V + v] - q[(i + 1) * V + v], 0.f);
    float h = mass / (mass + 1.f - run[i]);
    if (coins[i] < h) {
      n[0] = i + 1;
      break;
    }
  }
}
"""
_FIRST = """
def length(draft, p, q, coins):
    r, n = 1.0, 0
    for i, token in enumerate(draft):
        r = min(r * p[i, token] / q[i, token], 1.0)
        mass = torch.relu(r * p[i + 1] - q[i + 1]).sum()
        h = mass / (mass + 1 - r)
        if coins[i] > h:
            break
        n += 1
    return n
"""
_NO_RUN = """
def length(ratio, mass, coins):
    stands = coins < mass / (mass + 1 - ratio)
    return torch.where(stands, torch.arange(1, len(stands) + 1), 0).max()
"""
_REJECTION = """
@triton.jit
def blockwise_rejection(out, draft, p, q, u, rec, n, V):
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

CASES = (
    Case("a branch of a kernel in Triton, forward", {"a.py": _FORWARD}, Standing.PRESENT),
    Case("split over functions, in logarithms", {"a.py": _SPLIT}, Standing.PRESENT),
    Case("a scan from behind in CUDA", {"a.cuh": _CUDA}, Standing.PRESENT),
    Case("the joint test without a running product", {"a.py": _NO_RUN}, Standing.PARTIAL),
    Case("the first refusal ends it", {"a.py": _FIRST}, Standing.ABSENT),
    Case("rejection sampling under another name", {"a.py": _REJECTION}, Standing.ABSENT),
)
DETECTOR = Detector(
    "accept.block",
    "Block verification",
    __doc__,
    (BLOCK_PARTS, STOCHASTIC_CHAIN, GREEDY_CHAIN),
    detect,
    CASES,
)
