"""How near a result in floating point is to its reference in float64: node by node, so that one wrong node is seen."""

import torch

NODE = 3
"""How much further from the reference than the whole a single row may be."""
LEAST = 1e-2
"""Rows smaller than this share of the largest are held against it: what decayed to nothing has no digits."""
_TINY = 1e-30


def agreed(tolerance: float) -> str:
    """What agreeing means, in words."""
    return (
        f"within {tolerance:.0e} of the reference in norm beyond rounding, each node within {NODE * tolerance:.0e};"
        " outputs poisoned and guarded, launched twice"
    )


def near(name: str, got: torch.Tensor, want: torch.Tensor, tolerance: float) -> str:
    """Empty where the whole is within a tolerance of what was expected, and each row nearly so; else what is not.

    What rounding the exact result to the type of `got` may have cost, half a unit in its last place, is not counted.

    Args:
        name: What it is, for people.
        got: float [R, ...].
        want: float64 of the same shape.
        tolerance: Largest norm of the error over the norm of what was expected; a row's over its own may be `NODE`
            times as large.
    """
    found = got.double()
    errors = (found - want).abs() - _half_a_place(got)
    off = errors.clamp(min=0.0).where(~found.isnan(), torch.nan).flatten(1).norm(dim=1)
    size = want.flatten(1).norm(dim=1)
    share = off / size.clamp(min=max(LEAST * size.max().item(), _TINY))
    wrong = (~(share <= NODE * tolerance)).nonzero()[:, 0]
    if len(wrong):
        first = int(wrong[0])
        return (
            f"{name}[{first}] is {share[first].item():.2e} away from what the reference says, more than"
            f" {NODE * tolerance:.0e}; so are {len(wrong)} of {len(share)}"
        )
    whole = (off.norm() / size.norm().clamp(min=_TINY)).item()
    return "" if whole <= tolerance else f"{name} is {whole:.2e} away from what the reference says"


def _half_a_place(value: torch.Tensor) -> torch.Tensor:
    """Half a unit in the last place, float64; nothing for what holds as many digits as a kernel computes with."""
    if value.dtype == torch.float32:
        return torch.zeros_like(value, dtype=torch.float64)
    exponent = torch.frexp(value.float()).exponent.double()
    return torch.exp2(exponent - 1.0) * torch.finfo(value.dtype).eps / 2
