"""What engines do instead: the chances are brought to the host, a heap expands the tree, and the tree is sent back."""

import heapq

import torch

from ..building import bits_of
from ..op import Work
from ..wire import Axes


def host_heap(work: Work, _config: Axes) -> None:
    """Wait for the chances, build each request's tree on the host, and queue the copies back."""
    nodes = work.outputs["parent"].shape[1]
    trees = [_tree(rows, nodes) for rows in work.inputs["logprob"].tolist()]
    for number, name in enumerate(("parent", "rank", "depth", "score")):
        output = work.outputs[name]
        output.copy_(torch.tensor([tree[number] for tree in trees], dtype=output.dtype))
    bits = torch.tensor([bits_of(tree[0]) for tree in trees], dtype=torch.int32)
    work.outputs["ancestors"].copy_(bits)


def _tree(rows: list[list[float]], nodes: int) -> tuple[list[int], list[int], list[int], list[float]]:
    """Parents, ranks, depths and scores, by pops: a node that is popped pushes its next sibling and its first child."""
    parents, ranks, depths, scores = [-1], [-1], [0], [0.0]
    ready = [(-rows[0][0], 1, 0, 0)]
    deepest, most = len(rows), len(rows[0])
    while ready and len(parents) < nodes:
        worth, depth, rank, parent = heapq.heappop(ready)
        if rank + 1 < most:
            heapq.heappush(ready, (-(scores[parent] + rows[depth - 1][rank + 1]), depth, rank + 1, parent))
        if depth < deepest:
            heapq.heappush(ready, (worth - rows[depth][0], depth + 1, 0, len(parents)))
        parents.append(parent)
        ranks.append(rank)
        depths.append(depth)
        scores.append(-worth)
    padding = nodes - len(parents)
    return (
        parents + [-1] * padding,
        ranks + [-1] * padding,
        depths + [0] * padding,
        scores + [float("-inf")] * padding,
    )
