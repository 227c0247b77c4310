"""Small questions about single Terms: what is called, what is loaded, what a pointer starts from."""

from collections.abc import Iterable
from dataclasses import dataclass

from recon.index.term import Term

APPENDS = frozenset({"append", "push_back", "emplace_back"})
"""Methods that put one thing behind all others, in Python and C++."""
GROWERS = APPENDS | {"extend", "add", "insert", "fill_", "copy_", "scatter_", "masked_fill_", "update"}
"""Methods that change their receiver: their arguments flow into it."""
CASTS = frozenset(
    [
        *("to", "int", "long", "float", "half", "bool", "item", "astype", "cast", "type", "type_as", "tolist", "cpu"),
        *("numpy", "clone", "contiguous", "view", "reshape", "squeeze", "unsqueeze", "flatten", "expand", "detach"),
        *("as_tensor", "tensor", "asarray", "array", "int32_t", "int64_t", "abs", "transpose", "permute", "t"),
    ]
)
"""Calls that hand their subject on unchanged, or in another type or layout."""
LOADERS = frozenset({"gather", "take_along_dim", "index_select", "take", "take_along_axis"})
EQUALITY = ("==", "!=")
ORDER = ("<", "<=", ">", ">=")
SCANS = frozenset({"cumprod", "cummin", "cumsum", "cummax", "cumulative_prod", "associative_scan", "accumulate"})
MATHS = frozenset(
    [
        *("log", "exp", "exp2", "log2", "log1p", "minimum", "maximum", "min", "max", "clamp", "clamp_min", "clamp_max"),
        *("mul", "div", "sub", "add", "div_", "mul_", "fminf", "fmaxf", "logf", "expf", "true_divide", "where", "kw"),
        *("__logf", "__log2f", "log2f", "__expf", "exp2f", "clip", "square", "sqrt", "fmin", "fmax"),
    ]
)
"""Plain mathematics: the result is made of the arguments' values."""
LOGIC = frozenset(
    [
        *("logical_and", "logical_or", "logical_not", "logical_xor", "bitwise_and", "bitwise_not", "all", "any"),
        *("__ballot_sync", "ballot_sync", "__ballot"),
    ]
)
BEST = frozenset({"argmax", "nanargmax"})
"""Calls that give the place of a row's largest entry: a model's choice."""
MODULES = frozenset({"torch", "tl", "np", "numpy", "jnp", "math"})
"""Names under which functions are called as methods are."""
JOINS = frozenset({"cat", "concat", "concatenate", "stack", "hstack", "pad", "append"})
"""Calls that put vectors one behind the other, or beside one another."""
RANDOM = frozenset(
    [
        *("rand", "rand_like", "random", "uniform", "uniform_", "randint", "curand_uniform", "exponential_", "randn"),
        *("multinomial", "bernoulli", "bernoulli_", "philox", "normal", "rand4x", "randint4x", "rand_64"),
    ]
)


@dataclass(frozen=True, slots=True, eq=False)
class Load:
    """A read from memory at a computed place: a subscript, `tl.load`, a gather."""

    base: str
    """Dotted name that the address starts from."""
    keys: tuple[Term, ...]
    """The index expressions; for a pointer the whole address."""
    term: Term


def callee(term: Term) -> str:
    """Last name of what a call calls: `load` for `tl.load(...)`, `f` for `f[grid](...)`; '' for no call."""
    if term.op != "call":
        return ""
    function = term.parts[0]
    if function.op == "index":
        function = function.parts[0]
    return function.text if function.op in ("name", "attr") else ""


def arguments(term: Term) -> tuple[Term, ...]:
    """What a call works on: the receiver of a method, then its arguments."""
    function = term.parts[0]
    return (function.parts[0], *term.parts[1:]) if function.op == "attr" else term.parts[1:]


def subject(term: Term) -> str:
    """The dotted name that an address, a chain of subscripts or a cast starts from."""
    while True:
        dotted = term.dotted()
        if dotted:
            return dotted
        if term.op in ("index", "item", "bind", "star", "each") or (term.op == "op" and term.text in ("+", "-")):
            term = term.parts[0]
        elif term.op == "select":
            term = term.parts[1]
        elif term.op == "call" and term.parts[0].op == "attr" and callee(term) in CASTS:
            term = term.parts[0].parts[0]
        elif term.op == "call" and callee(term) in CASTS and len(term.parts) > 1:
            term = term.parts[1]
        else:
            return ""


def loads(term: Term, *, deep: bool = True) -> list[Load]:
    """The loads in a term, outermost first; with `deep` off only the one that the term itself is."""
    if not term.parts:
        return []
    if deep:
        return [load for part in _read(term) for load in loads(part, deep=False)]
    if term.op == "index":
        return _subscript(term)
    if term.op == "attr":
        return _field(term)
    if term.op != "call" or len(term.parts) < 2:
        return []
    name, function = callee(term), term.parts[0]
    if name == "load" and function.op == "attr":
        place = [part for part in term.parts[2:3] if part.op == "tuple"]  # load(tensor, [i, j])
        return [Load(subject(term.parts[1]), tuple(place[0].parts) if place else (term.parts[1],), term)]
    if name in LOADERS and function.op == "attr":
        positional = [part for part in term.parts[1:] if part.op != "kw"]
        receiver = subject(function.parts[0])
        if receiver in MODULES and positional:
            return [Load(subject(positional[0]), tuple(term.parts[2:]), term)]
        return [Load(receiver, tuple(term.parts[1:]), term)]
    if name == "get" and function.op == "attr":
        inner = function.parts[0]
        above = _subscript(inner) if inner.op == "index" else _field(inner) if inner.op == "attr" else []
        base, keys = (above[0].base, above[0].keys) if above else (subject(inner), ())
        return [Load(base, (*keys, term.parts[1]), term)] if base else []
    return []


def _read(term: Term) -> list[Term]:
    """What may load in a term, and below it, but for the method that a call names: `x[i].sum` is no field of `x[i]`."""
    found = []
    stack = [term]
    while stack:
        current = stack.pop()
        parts = current.parts
        if not parts:
            continue
        if current.op in _LOADING:
            found.append(current)
            if current.op == "call" and parts[0].op == "attr":
                parts = (*parts[0].parts, *parts[1:])
        stack += parts[::-1]
    return found


_LOADING = frozenset({"index", "attr", "call"})


def _field(term: Term) -> list[Load]:
    """`node[i].token`: a table of structures is read as one table a field."""
    path = ""
    while term.op == "attr":
        path = f".{term.text}{path}"
        inner = term
        term = term.parts[0]
    if term.op != "index":
        return []
    return [Load(load.base + path, load.keys, inner) for load in _subscript(term) if path not in SIZES]


SIZES = (".shape", ".stride", ".size", ".ndim", ".dtype", ".device")
"""Fields that say what an array is, not what it holds."""


def _subscript(term: Term) -> list[Load]:
    keys: tuple[Term, ...] = ()
    base = term
    while base.op == "index":
        keys = (*base.parts[1:], *keys)
        base = base.parts[0]
    if base.op == "call" and all(is_whole(key) or key.op == "const" for key in keys):
        return [Load(load.base, load.keys, term) for load in loads(base, deep=False)]  # `take_along(x, i)[:, 0]`
    name = subject(base)
    if not name or name.endswith((".shape", ".stride", ".size")):
        return []
    return [Load(name, keys, term)]


def piece_of(value: Term, position: int) -> Term:
    """What one of several names gets of a value: of what `zip` pairs off, the elements of one sequence alone."""
    paired = value.parts[0] if value.op == "each" else value
    given = paired.parts[1:]
    first = {"zip": 0, "zip_longest": 0, "enumerate": 1}.get(
        callee(paired), len(given) + position
    )  # `enumerate` counts first
    own = position - first
    is_plain = all(part.op not in ("star", "kw") for part in given[: own + 1])
    if value.op == "select" and all(arm.op == "tuple" and position < len(arm.parts) for arm in value.parts[1:]):
        one, other = (arm.parts[position] for arm in value.parts[1:])
        is_kept = one.dotted() == other.dotted() != ""
        return one if is_kept else Term("select", "", (value.parts[0], one, other), value.line)
    if value.op == "each" and 0 <= own < len(given) and is_plain:
        return Term("each", "", (given[own],), value.line)
    return Term("item", str(position), (value,), value.line)


def bare(term: Term) -> Term:
    """A value without the casts around it."""
    while callee(term) in CASTS and term.parts[0].op == "attr":
        term = term.parts[0].parts[0]
    return term


def names_in(term: Term) -> set[str]:
    """Dotted names that a term spells."""
    if not term.parts:
        return {term.text} if term.op == "name" else set()
    found: set[str] = set()
    for part in term.walk():
        if part.op == "name":
            found.add(part.text)
        elif part.op == "attr" and (dotted := part.dotted()):
            found.add(dotted)
    return found


def bounds(source: Term) -> list[Load]:
    """The load that a source is; of an element of `range(first[cur], last[cur])` those that bound it."""
    if source.op == "each" and callee(source.parts[0]) == "range" and len(source.parts[0].parts) > 2:
        return loads(source.parts[0].parts[1])
    return loads(source, deep=False)


def bases(found: Iterable[Load]) -> set[str]:
    """Where loads read from."""
    return {load.base for load in found}


def is_random(term: Term) -> bool:
    """Whether a term is a call that draws a random number."""
    return callee(term) in RANDOM


def is_opaque(term: Term) -> bool:
    """Whether a term is a call of a function of the tree by its bare name: it may draw, load or compute."""
    return term.op == "call" and term.parts[0].op == "name" and callee(term) not in _PYTHON


def is_own_call(term: Term) -> bool:
    """Whether a term is a call of a method of the object itself that was not read in place: likewise."""
    called = term.parts[0] if term.op == "call" else term
    return (
        called.op == "attr" and called.parts[0].op == "name" and called.parts[0].text == "self" and term is not called
    )


_PYTHON = frozenset(
    {"range", "len", "min", "max", "sum", "abs", "enumerate", "zip", "isinstance", "getattr", "list", "tuple"}
)


def is_whole(key: Term) -> bool:
    """Whether a key takes a whole axis or only adds one: `:`, `None`, `...`."""
    return (key.op == "slice" and all(part.op == "none" for part in key.parts)) or (
        key.op == "const" and key.text in ("None", "...")
    )


def is_constant(term: Term) -> bool:
    """Whether a term holds no name at all."""
    return all(part.op not in ("name", "attr", "call") for part in term.walk())


def is_change(name: str, value: Term) -> bool:
    """Whether a value is a name's last one raised or lowered, in one case at least: `n + 1`, `where(hit, n + 1, n)`."""
    if value.op == "select" or callee(value) == "where":
        return any(is_change(name, arm) for arm in value.parts[-2:])
    return value.op == "op" and value.text in ("+", "-") and value.parts[0].dotted() == name


def writes(name: str) -> bool:
    """Whether a function that is called so writes to memory."""
    return name == "store" or name.startswith("atomic")
