"""An fp8 product through torch, one scale for each operand, as engines ask for it."""

import torch

from ..gemm.kernel import double_product
from ..op import Op, Variant, Work
from ..wire import Axes
from . import spec

TOLERANCE = 1e-2  # operands are compared as they were rounded; the output is bf16
FIRST = (8, 9)
"""First compute capability whose matrix units take fp8."""


def launch(work: Work, _config: Axes) -> None:
    """Queue the product.

    Raises:
        NotImplementedError: the GPU has no fp8.
    """
    a, b, one = (work.inputs[name] for name in ("a", "b", "one"))
    if a.is_cuda and torch.cuda.get_device_capability(a.device) < FIRST:
        raise NotImplementedError("matrix units of this GPU take no fp8")
    torch._scaled_mm(  # noqa: SLF001  torch has no other name for it
        a, b, scale_a=one, scale_b=one, out_dtype=torch.bfloat16, use_fast_accum=True, out=work.outputs["c"]
    )


def work_of(axes: Axes, seed: int, device: torch.device) -> Work:
    """Standard normal operands, rounded; columns of the second one lie contiguous, as weights do."""
    generator = torch.Generator(device).manual_seed(seed)
    m, n, k = int(axes["m"]), int(axes["n"]), int(axes["k"])

    def normal(rows: int) -> torch.Tensor:
        made = torch.randn((rows, k), generator=generator, dtype=torch.bfloat16, device=device)
        return made.to(torch.float8_e4m3fn)

    inputs = {"a": normal(m), "b": normal(n).t(), "one": torch.ones((), dtype=torch.float32, device=device)}
    return Work(inputs, {"c": torch.empty((m, n), dtype=torch.bfloat16, device=device)})


def compare(work: Work) -> str:
    """Relative error in norm against a float64 product of the rounded operands, on sixteen rows."""
    a, b, got = work.inputs["a"], work.inputs["b"], work.outputs["c"]
    rows = torch.linspace(0, len(a) - 1, 16, device=a.device).long()
    want = double_product(a.float()[rows], b)
    error = ((got[rows].double() - want).norm() / want.norm()).item()
    written = not got.isnan().any().item()
    return "" if written and error < TOLERANCE else f"relative error {error:.2e} in norm, all written: {written}"


OP = Op(
    work=work_of,
    compare=compare,
    variants={"torch": Variant(launch, agreed=f"within {TOLERANCE:.0e} of a product in float64, in norm")},
    bytes_of=spec.bytes_of,
    point=lambda _axes: True,
)
