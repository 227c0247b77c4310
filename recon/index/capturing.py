"""Functions around the capture of GPU graphs: chosen by what their file calls, which no function shows alone.

What a captured graph covers is decided where a runner is made, far from the capture itself and without a sign of its
own; but both stand in one file.
"""

import re

from recon.index.records import Call, Feature, Outline, ScopeKind

CAPTURES = Feature(1 << 30)
"""Stands in a file that captures GPU graphs. Found in a whole outline, so it is no part of the records of a scope."""
_SIGN = "raph"
"""In every name that `is_capture` knows; trees have hundreds of thousands of calls."""
_NAME = re.compile(r"_*(capture(_\w+)?_(cuda_?)?graphs?|(\w+_)?graph_capture)")
_METHOD = re.compile(r"_*capture_(model|graphs?|cuda_?graphs?)")


def captures(outline: Outline) -> bool:
    """Whether anything in a file captures a GPU graph, or is there to have it captured."""
    if any(map(is_capture, outline.calls)):
        return True
    return any(scope.kind is ScopeKind.FUNCTION and _METHOD.fullmatch(scope.name) for scope in outline.scopes)


def is_capture(call: Call) -> bool:
    """Whether a call makes a graph, records one, or enters what records one."""
    if _SIGN not in call.callee:
        return False
    base, _, last = call.callee.rpartition(".")
    if last.endswith(("CUDAGraph", "NPUGraph")) or last == "make_graphed_callables":
        return True
    if last == "graph" and base.endswith(("cuda", "npu", "accelerator")):
        return True
    return _NAME.fullmatch(last) is not None
