"""The outline of what the strings of a Python file hold, and whether it is all that is compiled of them."""

from msgspec.structs import replace

from recon.index.cuda_outline import outline_cuda
from recon.index.records import Outline, Parsed, ScopeKind
from recon.index.strings import cuda_in, may_hold_cuda


def with_strings(outline: Outline, data: bytes) -> Outline:
    """The outline of a Python file, with that of the CUDA and C++ in its strings. Never raises."""
    if outline.parsed in (Parsed.PARTLY, Parsed.UNREAD) or not may_hold_cuda(data):
        return outline
    try:
        found = cuda_in(data)
    except ValueError as error:
        return replace(outline, parsed=Parsed.PARTLY, problem=str(error))
    if found is None:
        return outline
    strings = outline_cuda(found.text)
    lines = found.gaps or (() if any(s.kind is ScopeKind.FUNCTION for s in strings.scopes) else found.lines[:1])
    if lines:
        shown = ", ".join(map(str, lines))
        why = f"CUDA in strings is put together at run time, at line {shown}: not all of it stands there"
        strings = replace(strings, parsed=Parsed.JOINED, problem=why)
    return replace(outline, strings=strings)
