"""The definition of multi-round tree acceptance. Pure torch in float64 and plain loops: it hides nothing."""

import torch

APART = "apart"
"""As the axis `siblings`: each was drawn from what its elder siblings had left of the drafter's distribution."""
ALIKE = "alike"
"""Likewise: all were drawn from the same distribution, so that tokens may come twice."""

NEARLY = 1e-3
"""A chance above one by more than this is never mistaken for one below a coin."""


def reference(
    logits: torch.Tensor,
    draft: torch.Tensor,
    token: torch.Tensor,
    parent: torch.Tensor,
    coin: torch.Tensor,
    last: torch.Tensor,  # noqa: ARG001  it is judged with `rest`, since many tokens may be right
    temperature: torch.Tensor,
    *,
    apart: bool,
) -> dict[str, torch.Tensor]:
    """Walk each draft tree from the root, trying the children of a node in turn.

    p is the target's distribution at the node, q the drafter's. A child with token x is accepted with the chance
    min(1, p(x) / q(x)). If it is not, p becomes max(p - q, 0), normalised, and the next child is tried; where siblings
    were drawn without putting back (`apart`), x leaves q, which is normalised as well. If all are rejected, a last
    token is drawn from p as it then is. So tokens follow the target exactly when the drafts were drawn from q.

    Args:
        logits: float [B, N, V]. The target's logits at each node; node 0 is the last token accepted before.
        draft: float [B, N, V]. The drafter's logits at each node, which its children were drawn with.
        token: int64 [B, N]. Draft token at each node.
        parent: int32 [B, N]. Parent of each node, lower than the node; -1 for the root and for nodes that are padding.
        coin: float32 [B, N] in [0, 1). Decides about each draft.
        last: float32 [B] in [0, 1). Draws the last token, by the running sum over the vocabulary.
        temperature: float32 [B], above zero; of target and drafter.
        apart: How siblings were drawn.

    Returns:
        path: int32 [B, N]. Nodes visited, the root first, then -1.
        accepted: int32 [B]. Draft tokens accepted; neither root nor last token is counted.
        rest: float64 [B, V]. Weights that the last token is drawn with; their sum is the chance of coming so far.
        margin: float64 [B]. How near a coin came to a chance: below rounding, another path is right as well.

    Sources: Miao et al., SpecInfer, 2023, multi-step speculative sampling (alike); Li et al., EAGLE, 2024 (apart).
    """
    batch, nodes, vocab = logits.shape
    path = torch.full((batch, nodes), -1, dtype=torch.int32)
    accepted = torch.zeros(batch, dtype=torch.int32)
    rest = torch.zeros((batch, vocab), dtype=torch.float64)
    margin = torch.ones(batch, dtype=torch.float64)
    tokens, parents, coins = token.tolist(), parent.tolist(), coin.double().tolist()
    for request in range(batch):
        visited = [0]
        p, q = _at(logits, temperature, request, 0), _at(draft, temperature, request, 0)
        whole, rounds, reached = (p, q), 0, 1.0
        for node in range(1, nodes):
            if parents[request][node] != visited[-1]:
                continue
            x = tokens[request][node]
            chance = p[x] / q[x] if q[x] > 0 else torch.tensor(float(p[x] > 0))
            # What rounding disturbs are whole probabilities, of which `reached` is left after so many rounds.
            terms = (whole[0][x] + rounds * whole[1][x]).item()
            if terms > 0 and chance.item() < 1.0 + NEARLY:
                gap = abs(coins[request][node] - chance.item()) * q[x].item() * reached / terms
                margin[request] = min(margin[request].item(), gap)
            if coins[request][node] < chance.item():
                visited.append(node)
                p, q = _at(logits, temperature, request, node), _at(draft, temperature, request, node)
                whole, rounds, reached = (p, q), 0, 1.0
                continue
            p = (p - q).clamp(min=0.0)
            rounds, reached = rounds + 1, reached * p.sum().item()
            p = p / p.sum() if p.sum() > 0 else p
            if apart:
                q = q.clone()
                q[x] = 0.0
                q = q / q.sum() if q.sum() > 0 else q
        rest[request] = p * reached
        path[request, : len(visited)] = torch.tensor(visited, dtype=torch.int32)
        accepted[request] = len(visited) - 1
    return {"path": path, "accepted": accepted, "rest": rest, "margin": margin}


def _at(logits: torch.Tensor, temperature: torch.Tensor, request: int, node: int) -> torch.Tensor:
    """Distribution [V] at a node."""
    return torch.softmax(logits[request, node].double() / temperature[request].double(), dim=-1).cpu()
