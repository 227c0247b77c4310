"""What torch.compile makes of a baseline's function, once for all sizes."""

from collections.abc import Callable
from functools import cache

import torch

from .wire import Axes

Function = Callable[..., torch.Tensor]


@cache
def compiled(function: Function) -> Function:
    """The function, compiled for sizes that change."""
    made: Function = torch.compile(function, dynamic=True)
    return made


def plain(axes: Axes) -> bool:
    """Whether a case needs no compilation of its own: many sizes, but one type and one layout."""
    return axes["dtype"] == "bf16" and "layout" not in axes and min(int(axes["batch"]), int(axes["nodes"])) > 1
