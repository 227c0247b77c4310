"""The definition of stochastic linear acceptance. Pure torch in float64 and plain loops: it hides nothing."""

import torch


def reference(
    logits: torch.Tensor,
    token: torch.Tensor,
    coin: torch.Tensor,
    last: torch.Tensor,  # noqa: ARG001  it is judged with `rest`, since many tokens may be right
    temperature: torch.Tensor,
    draft: torch.Tensor | None = None,
) -> dict[str, torch.Tensor]:
    """Accept drafts of a chain one by one, each with the chance min(1, p / q), until one is rejected.

    p is the target's distribution at the position before the draft, q the drafter's. Then a last token is drawn: from
    max(p - q, 0) where a draft was rejected, from p behind the last draft. Without the drafter's logits each draft is
    taken as certain (q = 1), so that a rejection leaves p without it. So tokens follow the target exactly.

    Args:
        logits: float [B, N, V]. The target's logits at each position; position 0 is the last token accepted before.
        token: int64 [B, N]. Token at each position; drafts stand at 1..N-1.
        coin: float32 [B, N] in [0, 1). Decides about the draft after each position.
        last: float32 [B] in [0, 1). Draws the last token, by the running sum over the vocabulary.
        temperature: float32 [B], above zero; of target and drafter.
        draft: float [B, N, V]. The drafter's logits at each position, or None.

    Returns:
        accepted: int32 [B]. Drafts accepted; the last token is not counted.
        rest: float64 [B, V]. Weights that the last token is drawn with.
        margin: float64 [B]. How near a coin came to a chance: below rounding, another count is right as well.

    Source: Leviathan et al., Fast Inference from Transformers via Speculative Decoding, 2023.
    """
    batch, nodes, vocab = logits.shape
    accepted = torch.zeros(batch, dtype=torch.int32)
    rest = torch.zeros((batch, vocab), dtype=torch.float64)
    margin = torch.ones(batch, dtype=torch.float64)
    for request in range(batch):
        here = 0
        p = distribution(logits, temperature, request, here)
        while here + 1 < nodes:
            x = int(token[request, here + 1])
            q = torch.zeros(vocab, dtype=torch.float64)
            q[x] = 1.0
            if draft is not None:
                q = distribution(draft, temperature, request, here)
            ratio = (p[x] / q[x]).item() if q[x] > 0 else float(p[x] > 0)
            flip = float(coin[request, here])
            margin[request] = min(margin[request].item(), abs(flip - ratio))
            if flip >= ratio:
                p = (p - q).clamp(min=0.0)
                break
            here += 1
            p = distribution(logits, temperature, request, here)
        accepted[request] = here
        rest[request] = p
    return {"accepted": accepted, "rest": rest, "margin": margin}


def distribution(logits: torch.Tensor, temperature: torch.Tensor, request: int, node: int) -> torch.Tensor:
    """Distribution [V] at a position."""
    return torch.softmax(logits[request, node].double() / temperature[request].double(), dim=-1).cpu()
