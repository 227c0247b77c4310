"""The definition of block verification. Pure torch in float64 and plain loops: it hides nothing."""

import torch

from ..linear_stochastic.reference import distribution


def reference(
    logits: torch.Tensor,
    draft: torch.Tensor,
    token: torch.Tensor,
    coin: torch.Tensor,
    last: torch.Tensor,  # noqa: ARG001  it is judged with `rest`, since many tokens may be right
    temperature: torch.Tensor,
) -> dict[str, torch.Tensor]:
    """Accept the longest beginning of a chain whose coin allows it, judged as one block.

    With p and q the distributions of target and drafter at each position, the share of a beginning of i drafts is
    s(0) = 1, s(i) = min(1, s(i-1) p(x) / q(x)) for the i-th draft x. What it leaves is the sum S(i), over the
    vocabulary, of max(s(i) p - q, 0) at position i. Each beginning is accepted with the chance S / (S + 1 - s), the
    whole chain with s, and the longest that is accepted stands. A last token is then drawn from max(s p - q, 0), behind
    the whole chain from p. So tokens follow the target exactly, and no fewer drafts stand on average than one by one.

    Args:
        logits: float [B, N, V]. The target's logits at each position; position 0 is the last token accepted before.
        draft: float [B, N, V]. The drafter's logits at each position.
        token: int64 [B, N]. Token at each position; drafts stand at 1..N-1.
        coin: float32 [B, N] in [0, 1). The one at i decides about the beginning of i + 1 drafts.
        last: float32 [B] in [0, 1). Draws the last token, by the running sum over the vocabulary.
        temperature: float32 [B], above zero; of target and drafter.

    Returns:
        accepted: int32 [B]. Drafts accepted; the last token is not counted.
        rest: float64 [B, V]. Weights that the last token is drawn with.
        margin: float64 [B]. How near a coin came to a chance: below rounding, another count is right as well.

    Source: Sun et al., Block Verification Accelerates Speculative Decoding, 2024.
    """
    batch, nodes, vocab = logits.shape
    accepted = torch.zeros(batch, dtype=torch.int32)
    rest = torch.zeros((batch, vocab), dtype=torch.float64)
    margin = torch.ones(batch, dtype=torch.float64)
    for request in range(batch):
        share = 1.0
        for here in range(nodes):
            p, q = distribution(logits, temperature, request, here), distribution(draft, temperature, request, here)
            weights = (share * p - q).clamp(min=0.0) if here + 1 < nodes else p
            if here:
                left = weights.sum().item()
                chance = 1.0 if share == 1.0 else share if here + 1 == nodes else left / (left + 1.0 - share)
                flip = float(coin[request, here - 1])
                gap = abs(flip - chance) * (1.0 if here + 1 == nodes else min(1.0, left + 1.0 - share))
                margin[request] = min(margin[request].item(), gap if share < 1.0 or here + 1 == nodes else 1.0)
                if flip < chance:
                    accepted[request] = here
            if accepted[request] == here:
                rest[request] = weights
            if here + 1 < nodes:
                x = int(token[request, here + 1])
                ratio = (p[x] / q[x]).item() if q[x] > 0 else float(p[x] > 0)
                share = min(1.0, share * ratio)
    return {"accepted": accepted, "rest": rest, "margin": margin}
