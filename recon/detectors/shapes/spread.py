"""One row that is laid over many: whom a comparison sets side by side when its two sides differ in their axes."""

from recon.detectors.shapes.flow import View
from recon.detectors.shapes.terms import CASTS, arguments, callee
from recon.index.term import Term

_LONGEST_TRAIL = 8
_WIDENS = {
    **dict.fromkeys(("unsqueeze", "expand_dims"), "0"),
    **dict.fromkeys(("view", "reshape"), "1"),
    **dict.fromkeys(("expand", "expand_as", "repeat", "tile", "broadcast_to"), ""),
}
"""What gives a row a first axis, by the first thing it is given; '' for any."""


def is_of_one_row(view: View, compare: Term) -> bool:
    """Whether many rows are held against one, as answers are against a reference: no target chose in each of them."""
    return sum(_is_spread(view, side) for side in compare.parts) == 1


def _is_spread(view: View, side: Term) -> bool:
    """Whether a row is given a first axis: `x[None]`, `x.unsqueeze(0)`, `x.view(1, -1)`, `x.expand_as(rows)`."""
    for _ in range(_LONGEST_TRAIL):
        name, given = callee(side), arguments(side) if side.op == "call" else side.parts[:1]
        if side.op == "name":
            given = tuple(each.value for each in view.definitions.get(side.text, ()))
            if len(given) != 1:
                return False
        elif side.op == "index":
            if side.parts[1].text in ("None", "newaxis"):
                return True
            if any(key.op != "slice" for key in side.parts[1:]):
                return False
        elif name in _WIDENS and len(given) > 1:
            if given[1].text != "-1":
                return _WIDENS[name] in ("", given[1].text)
        elif name not in CASTS or side.parts[0].op != "attr":
            return False
        side = given[0]
    return False
