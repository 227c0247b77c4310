"""What torch offers: a product for each expert that is asked, or its own grouped product."""

from itertools import pairwise

import torch

from ..op import Work
from ..wire import Axes


def loop(work: Work, _config: Axes) -> None:
    """Queue one product for each expert that is asked, whose rows the host knows."""
    x, weight, offset = gathered(work), work.inputs["weight"], work.inputs["host_offset"].tolist()
    for expert, (begin, end) in enumerate(pairwise(offset)):
        if begin < end:
            torch.mm(x[begin:end], weight[expert].t(), out=work.outputs["y"][begin:end])


def grouped(work: Work, _config: Axes) -> None:
    """Queue torch's grouped product, and a copy of what it makes: it does not write where it is told."""
    weight = work.inputs["weight"].transpose(1, 2)
    made = torch._grouped_mm(gathered(work), weight, offs=work.inputs["offset"][1:])  # noqa: SLF001  its only name
    work.outputs["y"].copy_(made)


def gathered(work: Work) -> torch.Tensor:
    """Rows of the first operand in the order of the pairs; on the way out they lie so already."""
    x, row = work.inputs["x"], work.inputs["row"]
    return x[row] if work.axes["part"] == "up" else x
