"""The definition of greedy linear acceptance. Pure torch and plain loops: it runs anywhere and hides nothing."""

import torch

from ..choice import choose


def reference(logits: torch.Tensor, token: torch.Tensor) -> dict[str, torch.Tensor]:
    """Accept drafts of a chain as long as each is what the target chooses after the one before it.

    Args:
        logits: float [B, N, V]. The target's logits at each position; position 0 is the last token accepted before.
        token: int64 [B, N]. Token at each position; drafts stand at 1..N-1.

    Returns:
        emitted: int64 [B, N]. The accepted drafts, then the token that the target chooses after them, then -1.
        accepted: int32 [B]. Drafts accepted; the bonus token is not counted.

    Source: Leviathan et al., Fast Inference from Transformers via Speculative Decoding, 2023, at temperature 0.
    """
    batch, nodes = token.shape
    emitted = torch.full((batch, nodes), -1, dtype=torch.int64)
    accepted = torch.zeros(batch, dtype=torch.int32)
    target = choose(logits).tolist()
    tokens = token.tolist()
    for request in range(batch):
        here = 0
        while here + 1 < nodes and tokens[request][here + 1] == target[request][here]:
            here += 1
        emitted[request, : here + 1] = torch.tensor(target[request][: here + 1])
        accepted[request] = here
    return {"emitted": emitted, "accepted": accepted}
