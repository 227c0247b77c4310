"""A bf16 product through torch, which hands it to the vendor's library."""

import torch

from ..op import Op, Variant, Work
from ..wire import Axes
from . import spec

TOLERANCE = 1e-2  # bf16 operands and output: 1e-3 to 1e-2 in norm
COLUMNS = 1 << 14


def launch(work: Work, _config: Axes) -> None:
    """Queue the product."""
    torch.mm(work.inputs["a"], work.inputs["b"], out=work.outputs["c"])


def work_of(axes: Axes, seed: int, device: torch.device) -> Work:
    """Standard normal operands: zeros draw less power and run faster.

    With the layout `linear` the second one lies as engines hold weights, each of its columns contiguous.
    """
    generator = torch.Generator(device).manual_seed(seed)
    m, n, k = int(axes["m"]), int(axes["n"]), int(axes["k"])
    a = torch.randn((m, k), generator=generator, dtype=torch.bfloat16, device=device)
    shape = (n, k) if axes.get("layout") == "linear" else (k, n)
    b = torch.randn(shape, generator=generator, dtype=torch.bfloat16, device=device)
    b = b.t() if axes.get("layout") == "linear" else b
    return Work({"a": a, "b": b}, {"c": torch.empty((m, n), dtype=torch.bfloat16, device=device)})


def compare(work: Work) -> str:
    """Relative error in norm against a float64 product, on sixteen rows spread over the matrix."""
    rows = torch.linspace(0, len(work.inputs["a"]) - 1, 16, device=work.inputs["a"].device).long()
    want = double_product(work.inputs["a"][rows], work.inputs["b"])
    error = ((work.outputs["c"][rows].double() - want).norm() / want.norm()).item()
    written = not work.outputs["c"].isnan().any().item()
    return "" if written and error < TOLERANCE else f"relative error {error:.2e} in norm, all written: {written}"


def double_product(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """A product in double precision, some columns at a time: the second operand may be a vocabulary wide."""
    return torch.cat([a.double() @ part.float().double() for part in b.split(COLUMNS, dim=1)], dim=1)


OP = Op(
    work=work_of,
    compare=compare,
    variants={"torch": Variant(launch, agreed=f"within {TOLERANCE:.0e} of a product in float64, in norm")},
    bytes_of=spec.bytes_of,
    point=lambda axes: "weight" in axes,
)
