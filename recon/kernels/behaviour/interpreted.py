"""What Triton's interpreter lacks: functions of CUDA's mathematical library, which are stubs there that give None."""

import importlib
from collections.abc import Callable
from typing import Any

import torch

_ONE = ("log1p", "expm1", "exp2", "log2", "trunc")
"""Those of one argument that torch has under the same name."""


def supply() -> None:
    """Give the stubs torch's answers; where this version of Triton is made otherwise, nothing is done."""
    try:
        import triton.language as tl  # noqa: PLC0415

        handle = importlib.import_module("triton.runtime.interpreter").TensorHandle
        library = importlib.import_module("triton.language.extra.libdevice")
    except (ImportError, AttributeError):
        return
    for name in _ONE:
        if hasattr(library, name):
            setattr(library, name, _by_torch(getattr(torch, name), handle, tl.core.tensor))


def _by_torch(function: Callable[[Any], Any], handle: Any, tensor: Any) -> Callable[[Any], Any]:
    def computed(value: Any) -> Any:
        data = function(torch.from_numpy(value.handle.data)).numpy()
        return tensor(handle(data, value.handle.dtype), value.type)

    return computed
