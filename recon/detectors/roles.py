"""What the parameters of an acceptance function may stand for, read off the flow of its values into its kernels.

No name is interpreted. What flow leaves open stays open: a probe tries the rest, and takes an answer only if it is the
same on every crafted case.
"""

import ast
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet

from recon.detectors.uses import Used, functions_of, spread
from recon.records.cut import Parameter

_ARRAY = frozenset(
    [
        *("shape", "dtype", "device", "stride", "is_cuda", "ndim", "dim", "size", "numel", "contiguous", "to", "view"),
        *(
            "reshape",
            "new_empty",
            "new_zeros",
            "new_full",
            "is_contiguous",
            "softmax",
            "argmax",
            "float",
            "long",
            "int",
        ),
        *("log_softmax", "gather", "fill_", "copy_", "zero_", "flatten", "unsqueeze", "squeeze", "T", "item", "div_"),
        *(
            "scatter_",
            "sum",
            "max",
            "min",
            "clamp",
            "data_ptr",
            "expand",
            "cumprod",
            "cumsum",
            "clone",
            "tolist",
            "add_",
        ),
    ]
)
"""Attributes that arrays have: what has others is an object of the engine."""
_MAPPING = frozenset({"items", "get", "keys", "values"})


def parameters_of(text: str, function: str, annotations: Mapping[str, str]) -> tuple[Parameter, ...]:
    """The parameters of one function of a cut module.

    Args:
        text: The module.
        function: Its name in it.
        annotations: The engine's own annotations, by parameter.
    """
    functions = dict(functions_of(text))
    spread(functions, function, set())
    return tuple(_parameters(functions[function], annotations))


def _parameters(one: Used, annotations: Mapping[str, str]) -> Iterator[Parameter]:
    arguments = one.node.args
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults = dict(zip([each.arg for each in positional][::-1], arguments.defaults[::-1], strict=False))
    defaults |= {
        each.arg: d for each, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if d is not None
    }
    mentioned = {part.text for step in one.view.steps for part in step.term.walk() if part.op == "name"}
    for name in one.params:
        annotation = annotations.get(name, "")
        default = ast.unparse(defaults[name]) if name in defaults else ""
        optional = default == "None" or "None" in annotation or "Optional" in annotation
        own = one.attributes.get(name, {}).keys()
        if _is_object(annotation, own):
            yield from _fields(one, name, own)
            continue
        if name not in mentioned:
            yield Parameter(name, "unused", ("unused",), 0, 0, optional, default)
            continue
        yield _parameter(
            one, name, _kind(annotation, default, one.flags.get(name, set()), own), default, optional=optional
        )


def _is_object(annotation: str, attributes: AbstractSet[str]) -> bool:
    return bool(attributes - _ARRAY) and "Tensor" not in annotation and not attributes <= _ARRAY | _MAPPING


def _fields(one: Used, name: str, attributes: AbstractSet[str]) -> Iterator[Parameter]:
    for attribute in attributes:
        whole = f"{name}.{attribute}"
        own = one.attributes.get(whole, {}).keys()
        if own & _MAPPING:
            yield Parameter(whole, "mapping", (), 0, 0, optional=False, default="")
        else:
            yield _parameter(one, whole, _kind("", "", one.flags.get(whole, set()), own), "", optional=False)


def _kind(annotation: str, default: str, flags: AbstractSet[str], attributes: AbstractSet[str]) -> str:
    bare = annotation.replace("Optional[", "").replace("]", "").replace(" | None", "").strip("'\" ")
    if "tuple" in annotation.lower():
        return "any"
    if "Tensor" in annotation:
        return "tensor"
    if bare in ("int", "float", "bool", "str"):
        return bare
    if bare.lower().startswith(("list[", "sequence[")) or bare.lower() in ("list", "sequence"):
        return "list"
    if bare.endswith("device"):
        return "device"
    if default in ("True", "False"):
        return "bool"
    if attributes & _ARRAY or flags & {"loaded", "stored", "rows", "drawn"}:
        return "tensor"
    if "random" in flags:
        return "int"
    return "bool" if "tested" in flags else "any"


def _parameter(one: Used, name: str, kind: str, default: str, *, optional: bool) -> Parameter:
    if kind != "tensor":
        return Parameter(name, kind, (), 0, 0, optional, default, tuple(sorted(one.options.get(name, ()))))
    exact, least = one.ranks.get(name, 0), one.least.get(name, 0)
    return Parameter(name, kind, _roles(one.flags.get(name, set()), exact, least), exact, least, optional, default)


_LOGITS = ("target_logits", "draft_logits", "target_probs", "draft_probs")
_PROBS = ("target_probs", "draft_probs", "target_logits", "draft_logits")


_FEW = ("temperature", "uniform", "final", "rates", "forced")
_SURE: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("single", ("forced",)),
    ("stored", ("out", "prefix")),
    ("ends", ("ends", "starts")),
    ("starts", ("starts", "ends")),
    ("equal", ("draft", "target")),
    ("sideways", ("sibling", "child")),
    ("chased", ("child", "nodes", "sibling")),
    ("random", ("noise",)),
)
"""What decides alone, the strongest first."""


def _roles(flags: set[str], exact: int, least: int) -> tuple[str, ...]:
    many = max(exact, least)
    for flag, roles in _SURE:
        if flag in flags and not (many > 1 and flag in ("ends", "starts")):
            # A link is followed; what is also handed on to outputs names the nodes.
            return ("nodes", *roles[::2]) if flag == "chased" and "handed on" in flags else roles
    if "divisor" in flags and many < 2:
        return _FEW
    rows = _LOGITS if flags & {"exponent", "rows"} else _PROBS
    if many > 2 or flags & {"rows", "drawn"}:
        return rows
    if "index" in flags:
        return ("draft", "nodes") if many > 1 else tuple(dict.fromkeys((*_slots(flags), "nodes", "draft")))
    if "compared" in flags and not flags & {"real", "ordered"}:
        return ("draft", "target", "nodes", "temperature", "forced")
    if flags & {"real", "ordered"}:
        return _numbers(flags, exact, many, rows)
    if "handed on" in flags:
        return ("draft", "target", "bonus", "nodes", "prefix", "forced")
    if flags:
        return ("prefix", "temperature", "forced", "bonus", "nodes", "draft", "target")
    return ("unused",)


def _slots(flags: set[str]) -> tuple[str, ...]:
    """Roles of a vector whose entries are places in others; outputs are given nodes, never slots."""
    if "handed on" in flags:
        return ("nodes", "draft", "slots", "slots_flat", "steps_flat")
    if "ordered" in flags:
        return ("steps_flat", "slots_flat", "slots")
    return ("slots_flat", "steps_flat", "slots") if "looked up" in flags else ("slots", "slots_flat", "steps_flat")


def _numbers(flags: set[str], exact: int, many: int, rows: tuple[str, ...]) -> tuple[str, ...]:
    """Roles of an array that is calculated with."""
    few = ("final", "uniform", "rates", "temperature", "forced")
    if "real" in flags:
        few = _FEW
    if exact == 1:
        return few
    if many > 1:
        return (*rows, "uniform") if flags & {"wide", "exponent"} else ("uniform", *rows)
    return (*rows, *few) if "wide" in flags and flags & {"real", "exponent"} else (*few, *rows)
