"""The definition of target-only tree acceptance. Pure torch in float64 and plain loops: it hides nothing."""

import torch


def reference(
    logits: torch.Tensor,
    token: torch.Tensor,
    parent: torch.Tensor,
    coin: torch.Tensor,
    last: torch.Tensor,  # noqa: ARG001  it is judged with `rest`, since many tokens may be right
    temperature: torch.Tensor,
) -> dict[str, torch.Tensor]:
    """Walk each draft tree from the root: one coin a node, set against the running sum of its children's chances.

    At each node its children are tried in the order in which they stand, and the first at which the sum of the target's
    probabilities of the children so far exceeds the node's coin is accepted. If none does, a last token is drawn from
    the target's probabilities without those children. So each token is emitted as often as the target would, whatever
    was drafted; siblings hold distinct tokens.

    Args:
        logits: float [B, N, V]. The target's logits at each node; node 0 is the last token accepted before.
        token: int64 [B, N]. Draft token at each node.
        parent: int32 [B, N]. Parent of each node, lower than the node; -1 for the root and for nodes that are padding.
        coin: float32 [B, N] in [0, 1). Decides at each node.
        last: float32 [B] in [0, 1). Draws the last token, by the running sum over the vocabulary.
        temperature: float32 [B], above zero.

    Returns:
        path: int32 [B, N]. Nodes visited, the root first, then -1.
        accepted: int32 [B]. Draft tokens accepted; neither root nor last token is counted.
        rest: float64 [B, V]. Weights that the last token is drawn with.
        margin: float64 [B]. How near a coin came to a chance: below rounding, another path is right as well.

    Source: SGLang's tree_speculative_sampling_target_only, with both of its thresholds at 1.
    """
    batch, nodes, vocab = logits.shape
    path = torch.full((batch, nodes), -1, dtype=torch.int32)
    accepted = torch.zeros(batch, dtype=torch.int32)
    rest = torch.zeros((batch, vocab), dtype=torch.float64)
    margin = torch.ones(batch, dtype=torch.float64)
    tokens, parents, coins = token.tolist(), parent.tolist(), coin.double().tolist()
    for request in range(batch):
        visited = [0]
        while True:
            here = visited[-1]
            chance = torch.softmax(logits[request, here].double() / temperature[request].double(), dim=-1)
            children = [node for node in range(1, nodes) if parents[request][node] == here]
            sums = torch.tensor([0.0] + [chance[tokens[request][node]].item() for node in children]).double().cumsum(0)
            taken = [
                node for node, so_far in zip(children, sums[1:].tolist(), strict=True) if coins[request][here] < so_far
            ]
            gaps = [abs(coins[request][here] - so_far) for so_far in sums[1:].tolist()]
            margin[request] = min([margin[request].item(), *gaps])
            if not taken:
                break
            visited.append(taken[0])
        rest[request] = chance
        rest[request, [tokens[request][node] for node in children]] = 0.0
        path[request, : len(visited)] = torch.tensor(visited, dtype=torch.int32)
        accepted[request] = len(visited) - 1
    return {"path": path, "accepted": accepted, "rest": rest, "margin": margin}
