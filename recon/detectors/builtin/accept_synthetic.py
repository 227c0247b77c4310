"""Forced acceptance, for benchmarking.

What it is
    Acceptance by a rate or a length given from outside, whatever the model says, so that a server can be measured at an
    acceptance of one's choice. What it emits is not the target's text.

What counts
    shaped: inside an acceptance loop a random number is set against a number that depends on the position alone, and
    the outcome picks between the drafted and the target's token; or rows of accepted places are filled up to a count
    that no token has a part in, and that count is written as the accepted length.

Blind spots
    A forced length drawn by Python code far from where it is used is seen only at the place of use.

Sources
    The two forms are named after what engines offer: rates for each position, and a length.
"""

from recon.detectors.api import Case, Detector, Findings, Index, Standing
from recon.detectors.places import reach_of, seen
from recon.detectors.shapes.catalog import SYNTHETIC_CHAIN


def detect(index: Index) -> Findings:
    """Places that force acceptance."""
    forced = seen(index, SYNTHETIC_CHAIN.id)
    return Findings(evidence=tuple(forced), reach=reach_of(forced))


_RATE = """
@triton.jit
def k(out, draft, want, coins, rates, n):
    b = tl.program_id(0)
    bad = False
    for i in range(n):
        if not bad:
            if tl.load(coins + b * n + i) < tl.load(rates + i):
                t = tl.load(draft + b * n + i)
            else:
                t = tl.load(want + b * n + i)
                bad = True
            tl.store(out + b * n + i, t)
"""
_LENGTH = """
def force(index, tokens, drafts, count, rows, length):
    first = index[:, 0].view(-1, 1)
    out = torch.full((rows, 8), -1)
    out[:, :length] = first + torch.arange(length)
    count.fill_(length - 1)
    if length > 1:
        taken = out[:, : length - 1].long()
        tokens[taken] = drafts[:, 1:length]
    return out
"""
_DRAWN = """
def force(index, count, mean, rows, steps):
    drawn = torch.clamp(torch.normal(mean=mean, std=1.0, size=(1,)), min=1.0, max=steps)
    length = int(drawn.round().item())
    out = torch.full((rows, steps + 1), -1)
    out[:, :length] = index[:, 0].view(-1, 1) + torch.arange(length)
    count.fill_(length - 1)
    return out
"""
_HONEST = """
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

CASES = (
    Case("a rate for each position", {"a.py": _RATE}, Standing.PRESENT),
    Case("a length from outside", {"a.py": _LENGTH}, Standing.PRESENT),
    Case("a length drawn around a mean", {"a.py": _DRAWN}, Standing.PRESENT),
    Case("acceptance by tokens", {"a.py": _HONEST}, Standing.ABSENT),
)
DETECTOR = Detector(
    "accept.synthetic", "Forced acceptance, for benchmarking", __doc__, (SYNTHETIC_CHAIN,), detect, CASES
)
