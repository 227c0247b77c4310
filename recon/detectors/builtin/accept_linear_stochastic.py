"""Stochastic acceptance along a chain: rejection sampling.

What it is
    A drafted token x stands when a random number u satisfies u · q(x) < p(x), with q the draft's and p the target's
    probability; at the first refusal a token is drawn from max(p - q, 0). The output keeps the target's distribution.

What counts
    shaped: one comparison sets two numbers looked up by the same token (p and q), joined by a quotient, a product or
    logarithms, against a random number, and ends acceptance.
    shaped, too: a call of a compiled operator whose schema takes drafted tokens and the probabilities of both models,
    and no links between nodes.
    The tree must also take a residual somewhere; without one the standing is partial.
    shaped, too: the target's probability of the drafted token alone against a random number. Where the residual takes
    away one at the token, that q is stated; where the token is only struck out, the standing is partial.

Blind spots
    A test whose two probabilities are looked up in another function than the one that compares them.

Sources
    Leviathan et al., Fast inference from transformers via speculative decoding, 2023; Chen et al., 2023.
"""

from recon.detectors.api import Case, Detector, Findings, Index, Library, Standing
from recon.detectors.compiled import compiled, draws_along_chain
from recon.detectors.places import outside, ranked, reach_of, seen, with_doors
from recon.detectors.shapes.catalog import GREEDY_CHAIN, RESIDUAL, STOCHASTIC_CHAIN, TARGET_CHAIN

_WORDS = (frozenset({"chain", "sampling"}), frozenset({"rejection", "sampl"}), frozenset({"chain", "reject"}))
_TARGET_ONLY = (
    "Only the target's probability of a drafted token is tested, and the token struck out once it is refused: no draft "
    "distribution has a part in it."
)


def detect(index: Index) -> Findings:
    """Places that test p against u · q, and residuals in the same files."""
    tests = seen(index, STOCHASTIC_CHAIN.id)
    files = {each.path for each in tests}
    residuals = [each for each in seen(index, RESIDUAL.id) if each.path in files]
    known = {(each.path, each.symbol) for each in tests}
    rest = [each for each in residuals if (each.path, each.symbol) not in known]
    lacks = (
        "" if residuals or not tests else "No residual max(p - q, 0) is taken beside the test: no token is recovered."
    )
    behind = compiled(index, draws_along_chain, *_WORDS)
    if tests:
        doors = [each for each in with_doors(index, STOCHASTIC_CHAIN.id) if each not in tests]
        return Findings(evidence=(*tests, *doors, *ranked(rest)), lacks=lacks, reach=reach_of((*tests, *doors)))
    if behind.places:
        return Findings(evidence=behind.places, nearest=behind.nearest, reach=reach_of(behind.places))
    if alone := seen(index, TARGET_CHAIN.id):
        stated = seen(index, "target.one_hot")
        return Findings(
            evidence=tuple(stated or alone), lacks="" if stated else _TARGET_ONLY, reach=reach_of(stated or alone)
        )
    elsewhere = outside(index, *_WORDS)
    near = (*behind.nearest, *seen(index, GREEDY_CHAIN.id))
    return Findings(nearest=near, reason=behind.reason, external=elsewhere, unread=behind.unread)


_RATIO = """
@triton.jit
def k(out, draft, p, q, u, rec, n, V, BLOCK: tl.constexpr):
    b = tl.program_id(0)
    bad = False
    for i in range(n):
        if not bad:
            d = tl.load(draft + b * n + i)
            ok = tl.load(p + (b * n + i) * V + d) / tl.load(q + (b * n + i) * V + d) >= tl.load(u + b * n + i)
            t = d if ok else tl.load(rec + b * n + i)
            bad = not ok
            tl.store(out + b * n + i, t)


@triton.jit
def r(p, q, rec, V, BLOCK: tl.constexpr):
    v = tl.arange(0, BLOCK)
    left = tl.maximum(tl.load(p + v) - tl.load(q + v), 0.0)
    tl.store(rec, tl.argmax(left, axis=0))
"""
_GATHER = """
def accept(ids, p, q):
    px = p.gather(-1, ids.unsqueeze(-1))
    qx = q.gather(-1, ids.unsqueeze(-1))
    keep = torch.rand_like(px) < px / qx
    rest = torch.clamp(p - q, min=0).sum(-1)
    return keep, torch.multinomial(rest, 1)
"""
_BY_A_METHOD = """
class Sampler:
    def coins(self, seeded, b, k):
        if not seeded:
            return torch.rand(b, k)
        out = torch.empty(b, k)
        for i in range(b):
            out[i] = torch.rand(k, generator=seeded[i])
        return out

    def accepted(self, p, q, ids, seeded):
        b, k, _ = q.shape
        row, place = torch.arange(b)[:, None], torch.arange(k)
        coins = self.coins(seeded, b, k)
        return coins < torch.minimum(p[row, place, ids] / q[row, place, ids], torch.full((1,), 1))

    def rest(self, p, q):
        left = torch.clamp(p - q, min=self.tiny)
        return left / torch.sum(left, dim=-1).reshape(-1, 1, 1)
"""
_STRUCK_OUT = """
def accept(draft, probs, coins):
    out = []
    for i, t in enumerate(draft):
        if coins[i] < probs[i, t]:
            out.append(t)
        else:
            break
    rest = probs[len(out)].clone()
    if len(out) < len(draft):
        rest[draft[len(out)]] = 0
    return out, torch.multinomial(rest / rest.sum(), 1)
"""
_NUCLEUS = """
def draw(probs, u, ids):
    total = 0.0
    for i, t in enumerate(ids):
        total += probs[i, t]
        if u[i] < total:
            break
    probs[0, 0] = 0
    return t, torch.multinomial(probs, 1)
"""
_EXACT = """
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
_WRAPPER = """
def draw(draft_probs, draft_ids, target_probs, seed):
    return torch.ops.ops.draw.default(draft_probs, draft_ids, target_probs, seed)
"""
_SCHEMA = "draw(Tensor draft_probs, Tensor draft_ids, Tensor target_probs, int seed) -> Tensor"
_LIBRARY = Library("ops.abi3.so", 1, (), (_SCHEMA,), ())
_SYMBOL = Library("ops.abi3.so", 1, ("_Z26chain_speculative_samplingN2at6TensorES0_S0_b",), (), ())

CASES = (
    Case("a compiled operator that is called", {"a.py": _WRAPPER}, Standing.PRESENT, (_LIBRARY,)),
    Case("a symbol that nothing calls", {"a.py": ""}, Standing.ABSENT, (_SYMBOL,)),
    Case("a quotient in Triton, the residual beside it", {"a.py": _RATIO}, Standing.PRESENT),
    Case("the target's probability alone, the token struck out", {"a.py": _STRUCK_OUT}, Standing.PARTIAL),
    Case("a sum of probabilities is no test of one", {"a.py": _NUCLEUS}, Standing.ABSENT),
    Case("gathers in torch", {"a.py": _GATHER}, Standing.PRESENT),
    Case("numbers drawn by a method of its own", {"a.py": _BY_A_METHOD}, Standing.PRESENT),
    Case("exact match is no rejection sampling", {"a.py": _EXACT}, Standing.ABSENT),
)
DETECTOR = Detector(
    "accept.linear.stochastic",
    "Stochastic acceptance along a chain",
    __doc__,
    (STOCHASTIC_CHAIN, TARGET_CHAIN, RESIDUAL, GREEDY_CHAIN),
    detect,
    CASES,
)
