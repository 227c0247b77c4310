"""The definition of a grouped product. Pure torch and plain loops: it runs anywhere and hides nothing."""

import torch


def reference(
    x: torch.Tensor, weight: torch.Tensor, row: torch.Tensor, offset: torch.Tensor, some: torch.Tensor
) -> torch.Tensor:
    """Rows of the products, in double precision.

    Pairs of a token and an expert are sorted by expert: those of expert e are `offset[e]` to `offset[e + 1]`. The
    product of pair p is `x[row[p]] @ weight[e].T`.

    Args:
        x: bf16 [R, K].
        weight: bf16 [E, N, K].
        row: int32 [P].
        offset: int32 [E + 1], ascending from 0 to P.
        some: int64 [S]. The pairs that are asked for.

    Returns:
        float64 [S, N].
    """
    expert = torch.searchsorted(offset, some.to(offset.dtype), right=True) - 1
    products = [x[row[pair]].double() @ weight[e].double().T for pair, e in zip(some, expert, strict=True)]
    return torch.stack(products)
