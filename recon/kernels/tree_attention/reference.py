"""The definition of verification attention, in single precision, one request and one key head after the other."""

import torch

from .spec import PAGE, WORD


def reference(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, table: torch.Tensor, length: torch.Tensor, mask: torch.Tensor
) -> torch.Tensor:
    """Attention of each draft node to its request's context, and to the nodes that its mask has bits for.

    The tokens of a request are its context and then its draft, node by node; token t lies in page `table[b, t // 16]`,
    at place t mod 16. Scores are divided by the square root of the head size.

    Args:
        q: bf16 [B, N, H, D]. Queries of the draft's nodes.
        k: bf16 or fp8 [P, 16, G, D]. Keys; H / G query heads share one.
        v: Likewise, values.
        table: int32 [B, T]. Pages of each request.
        length: int32 [B]. Tokens of each context.
        mask: int64 [B, N, W]. Bit j mod 64 of word j div 64 says whether the node sees node j.

    Returns:
        float32 [B, N, H, D].

    Source: Vaswani et al., 2017; the mask of a tree: Miao et al., SpecInfer, 2023.
    """
    batch, nodes, heads, dim = q.shape
    kv_heads = k.shape[2]
    out = torch.empty((batch, nodes, heads, dim), dtype=torch.float32, device=q.device)
    column = torch.arange(nodes, device=q.device)
    for request in range(batch):
        context = int(length[request])
        token = torch.arange(context + nodes, device=q.device)
        page, place = table[request, token // PAGE].long(), token % PAGE
        seen = torch.ones((nodes, context + nodes), dtype=torch.bool, device=q.device)
        seen[:, context:] = (mask[request][:, column // WORD] >> (column % WORD) & 1).bool()
        for kv_head in range(kv_heads):
            rows = q[request].view(nodes, kv_heads, heads // kv_heads, dim)[:, kv_head].float()
            key, value = k[page, place, kv_head].float(), v[page, place, kv_head].float()
            score = torch.einsum("ngd,td->gnt", rows, key) / dim**0.5
            weight = score.masked_fill(~seen, float("-inf")).softmax(-1)
            share = out[request].view(nodes, kv_heads, heads // kv_heads, dim)
            share[:, kv_head] = torch.einsum("gnt,td->ngd", weight, value)
    return out


def chain_mask(nodes: int, device: torch.device) -> torch.Tensor:
    """Masks of a chain, int64 [N, W]: each node sees itself and all before it."""
    node, column = torch.arange(nodes, device=device), torch.arange(-(-nodes // WORD) * WORD, device=device)
    bits = (column <= node[:, None]).view(nodes, -1, WORD).long() << torch.arange(WORD, device=device)
    return bits.sum(-1)
