"""What can be done instead: the host is asked in every step, or torch does it all, an operation at a time."""

import heapq

import torch

from ..building import WORD_BITS, bits_of
from ..op import Work
from ..wire import Axes


def host(work: Work, _config: Axes) -> None:
    """Wait for each step's chances, choose on the host, and queue copies of the tree back."""
    nodes = work.outputs["parent"].shape[1]
    steps = [rows.tolist() for rows in work.inputs["logprob"].unbind(1)]  # a drafter lies between: one wait a step
    trees = [_tree([step[request] for step in steps], nodes) for request in range(len(steps[0]))]
    for number, name in enumerate(("candidate", "parent", "depth")):
        work.outputs[name].copy_(torch.tensor([tree[number] for tree in trees], dtype=torch.int32))
    work.outputs["ancestors"].copy_(torch.tensor([bits_of(tree[1]) for tree in trees], dtype=torch.int32))


def _tree(steps: list[list[list[float]]], nodes: int) -> tuple[list[int], list[int], list[int]]:
    """Candidates, parents and depths, by heaps."""
    topk = len(steps[0])
    known = [(-value, number, -1, 1) for number, value in enumerate(steps[0][0])]
    kept = known[:]
    for level, rows in enumerate(steps[1:], start=2):
        begin = len(known)
        known += [
            (worth - value, begin + topk * place + number, which, level)
            for place, ((worth, which, _, _), row) in enumerate(zip(kept, rows, strict=True))
            for number, value in enumerate(row)
        ]
        kept = heapq.nsmallest(topk, known[begin:])
    chosen = sorted(which for _, which, _, _ in heapq.nsmallest(nodes - 1, known))
    node_of = {-1: 0} | {which: node for node, which in enumerate(chosen, start=1)}
    padding = nodes - 1 - len(chosen)
    return (
        [-1, *chosen] + [-1] * padding,
        [-1] + [node_of[known[which][2]] for which in chosen] + [-1] * padding,
        [0] + [known[which][3] for which in chosen] + [0] * padding,
    )


def operations(work: Work, _config: Axes) -> None:
    """Queue it all in torch's own operations; sorts are stable, so that of equal sums the earlier is the better."""
    logprob, (batch, nodes) = work.inputs["logprob"], work.outputs["parent"].shape
    _, steps, topk, _ = logprob.shape
    scores, above = [logprob[:, 0, 0]], [torch.full_like(work.scratch["above"][:, :topk], -1, dtype=torch.int64)]
    kept_score, kept = _sorted(scores[0], topk)
    for step in range(1, steps):
        begin = topk + (step - 1) * topk * topk
        scores.append((kept_score[..., None] + logprob[:, step]).flatten(1))
        above.append(kept[..., None].expand(-1, -1, topk).flatten(1))
        kept_score, place = _sorted(scores[-1], topk)
        kept = begin + place
    chosen = _sorted(torch.cat(scores, dim=1), nodes - 1)[1].sort(dim=1).values  # [B, C]
    many = chosen.shape[1]
    node = torch.arange(nodes, device=chosen.device).expand(batch, nodes)
    candidates = torch.cat(above, dim=1)  # [B, M]
    node_of = torch.zeros_like(candidates).scatter(1, chosen, node[:, 1 : many + 1])
    parents = candidates.gather(1, chosen)
    parents = torch.where(parents < 0, 0, node_of.gather(1, parents.clamp(min=0)))
    depths = torch.where(chosen < topk, 1, 2 + (chosen - topk) // (topk * topk))
    for name, values, otherwise in (("candidate", chosen, -1), ("parent", parents, -1), ("depth", depths, 0)):
        work.outputs[name].fill_(otherwise)
        work.outputs[name][:, 1 : many + 1] = values
    _store_bits(work, node, steps)


def _sorted(scores: torch.Tensor, many: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The best of each row and where they are."""
    values, places = scores.sort(dim=1, descending=True, stable=True)
    return values[:, :many], places[:, :many]


def _store_bits(work: Work, node: torch.Tensor, steps: int) -> None:
    """Climb from all nodes at once, as many steps as there are."""
    bits, parent = work.outputs["ancestors"], work.outputs["parent"].long()
    word = torch.arange(bits.shape[2], device=bits.device)
    bits.zero_()
    at = node
    for _ in range(steps + 1):
        bit = (at.clamp(min=0) % WORD_BITS).int()
        bits |= torch.where((at // WORD_BITS)[..., None] == word, (1 << bit)[..., None], 0)
        at = torch.where(at > 0, parent.gather(1, at.clamp(min=0)), -1)
