"""Attention that takes a mask from its caller: kernels by their form, torch's own where the mask of a tree arrives."""

from collections.abc import Iterator
from dataclasses import dataclass

from recon.detectors.api import Function, Index
from recon.detectors.handing import Trail, argument_of_call, reaches, trail_from, trail_of
from recon.detectors.shapes.catalog import ANCESTOR_MASK, MASK_HOOK
from recon.index.records import Call
from recon.index.tables import Ref, is_python

_TORCH = "scaled_dot_product_attention"
_PLACE, _KEYWORD = 3, "attn_mask"


@dataclass(frozen=True, slots=True)
class Hook:
    """One attention that takes a mask."""

    function: Function
    line: int
    note: str
    trail: Trail
    """Where the mask comes from."""


def hooks(index: Index) -> Iterator[Hook]:
    """Kernels with such a door, then calls of torch's attention that the mask of a draft tree reaches.

    A mask that torch is given may be any: an encoder's padding, a window. Only what arrives there tells.
    """
    for function, sighting in index.seen(MASK_HOOK.id):
        trail = trail_of(index, function.ref, sighting.detail)
        yield Hook(function, sighting.line, sighting.note, trail)
    builders = {function.ref for function, _ in index.seen(ANCESTOR_MASK.id)}
    for ref, call in _torch_calls(index) if builders else ():
        text = argument_of_call(call, _KEYWORD, _PLACE)
        trail = trail_from(index, ref, _unwrapped(text or "None"), call.line)
        if any(reaches(index, maker, builders, depth=1) for maker in trail.makers):
            note = "torch's attention is given the mask in which a tree's ancestors are marked"
            yield Hook(index.function(ref), call.line, note, trail)


def _torch_calls(index: Index) -> Iterator[tuple[Ref, Call]]:
    for path, outline in index.files.items():
        if is_python(path):
            for call in outline.calls:
                if call.callee.endswith(_TORCH) and call.callee.rpartition(".")[2] == _TORCH:
                    yield Ref(path, call.scope), call


def _unwrapped(text: str) -> str:
    """What a mask is called before axes are added and methods change its type: `m` of `m[None].to(dtype)`."""
    name = text.partition("[")[0]
    return name.rpartition(".")[0] if name.endswith("()") and "." in name else name
