"""Comparisons that are written as calls, as tensors have them."""

from recon.index.term import Term


def as_compare(call: Term) -> Term:
    """`a.eq(b)` and `torch.eq(a, b)` are comparisons; so are their five kin."""
    function, *arguments = call.parts
    sign = _COMPARE_CALLS.get(function.text) if function.op == "attr" else None
    if sign is None or any(argument.op in ("kw", "star") for argument in arguments):
        return call
    sides = [function.parts[0], *arguments] if len(arguments) == 1 else arguments
    return Term("compare", sign, tuple(sides), call.line) if len(sides) == 2 else call


_COMPARE_CALLS = {
    "eq": "==",
    "ne": "!=",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
    "equal": "==",
    "not_equal": "!=",
    "less": "<",
    "less_equal": "<=",
    "greater": ">",
    "greater_equal": ">=",
}
