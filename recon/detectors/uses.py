"""What a function does with the values that it is given: read off its Terms, and brought back from what it calls."""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from recon.detectors.shapes.flow import View
from recon.detectors.shapes.laid import within
from recon.detectors.shapes.terms import EQUALITY, ORDER, RANDOM, Load, callee, is_opaque, loads, subject
from recon.index.python_terms import read_function
from recon.index.term import Term

_DEEPEST = 6
_WRITERS = frozenset({"fill_", "copy_", "zero_", "scatter_"})
_REAL = frozenset({"exp", "exp2", "log", "log2", "log1p", "softmax", "log_softmax"})
_CHOICE = frozenset({"argmax"})
_DRAWN = frozenset({"multinomial", "bernoulli"})
"""Draws that are given the distribution, not a seed."""

Flags = dict[str, set[str]]


@dataclass(eq=False)
class Used:
    """One function of a cut module."""

    node: ast.FunctionDef
    view: View
    params: tuple[str, ...]
    gathers: str
    """Name of its `**kw`, '' if there is none."""
    flags: Flags = field(default_factory=dict)
    ranks: dict[str, int] = field(default_factory=dict)
    """Dimensions that an array must have."""
    least: dict[str, int] = field(default_factory=dict)
    """Dimensions that it has at least."""
    attributes: dict[str, dict[str, None]] = field(default_factory=dict)
    """In the order in which they are asked for: a name has no say in what is tried first."""
    options: dict[str, set[str]] = field(default_factory=dict)
    """Texts that a parameter is compared with."""


def functions_of(text: str) -> Iterator[tuple[str, Used]]:
    """The functions of a module by name, each with what it does by itself."""
    lines = text.encode().split(b"\n")
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef):
            term = read_function(b"\n".join(lines[node.lineno - 1 : node.end_lineno]) + b"\n", node.lineno)
            arguments = node.args
            names = tuple(each.arg for each in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs])
            made = Used(node, View(term, names), names, arguments.kwarg.arg if arguments.kwarg else "")
            _look(made)
            yield node.name, made


# What one function does with its values -------------------------------------------------------------------------------


def _look(one: Used) -> None:
    every = [load for step in one.view.steps for load in loads(step.term)]
    _read_from(one, every)
    _bounds(one, every)
    _written(one)
    for compare, _ in one.view.compares():
        _compared(one, compare)
    for step in one.view.steps:
        if step.term.op == "test" and step.term.text == "if":
            _tested(one, step.term.parts[0])
        for term in step.term.walk():
            _used(one, term)
    _chased(one)
    _ranked(one)


def _read_from(one: Used, every: list[Load]) -> None:
    ranges = [term for term, _ in one.view.calls("arange")]
    for load in every:
        _flag(one, load.base, "loaded")
        if any(one.view.holds(key, made) for key in load.keys for made in ranges):
            _flag(one, load.base, "wide")
        for key in load.keys:
            for inner in one.view.loads_of(key):
                if inner.term is not load.term:
                    _flag(one, inner.base, "index")
                    _flag(one, load.base, "looked up")


def _written(one: Used) -> None:
    for store in one.view.stores():
        # By a subscript a parameter itself is written, a name for a part of it may be a copy; a pointer is no copy.
        targets = store.step.term.parts[:-1] if store.step.term.op == "assign" else ()
        spelled = {subject(target) for target in targets} or {store.base}
        if store.base.split(".")[0] in one.params and store.base in spelled:
            _flag(one, store.base, "stored")
        for inner in one.view.loads_of(store.value):
            _flag(one, inner.base, "handed on")
        for key in store.keys:
            for inner in one.view.loads_of(key):
                _flag(one, inner.base, "index")


def _used(one: Used, term: Term) -> None:
    if term.op == "select":
        _tested(one, term.parts[0])
    elif term.op == "call":
        _called(one, term)
    elif term.op == "op" and term.text == "/":
        for load in [inner for part in term.parts for inner in one.view.loads_of(part)]:
            _flag(one, load.base, "real")
        for base in _bases(one, term.parts[1]):
            _flag(one, base, "divisor")
    elif term.op == "attr":
        _attribute(one, term)
        if term.text == "item" and (name := _given(one, term.parts[0])):
            _flag(one, name, "single")


def _flag(one: Used, name: str, flag: str) -> None:
    whole = one.view.root(name) if "." not in name else name
    one.flags.setdefault(whole, set()).add(flag)


def _bounds(one: Used, every: list[Load]) -> None:
    """Arrays read at two neighbouring places, one the end of a run and one its start."""
    found: dict[str, set[str]] = {}
    for load in every:
        found.setdefault(one.view.root(load.base), set()).add(_beside(load))
    for name, places in found.items():
        if "" in places and len(places) > 1 and "index" in one.flags.get(name, ()):
            _flag(one, name, "starts" if "+" in places else "ends")


def _beside(load: Load) -> str:
    """`+` or `-` where a load reads one place after or before another."""
    steps = {
        part.text
        for key in load.keys
        for part in key.walk()
        if part.op == "op" and part.text in ("+", "-") and part.parts[1].op == "const" and part.parts[1].text == "1"
    }
    return next(iter(sorted(steps)), "")


def _compared(one: Used, compare: Term) -> None:
    sides = [[load.base for load in one.view.loads_of(part)] for part in compare.parts]
    if compare.text in EQUALITY:
        for ours, theirs in (sides, sides[::-1]):
            for base in ours:
                _flag(one, base, "equal" if set(theirs) - {base} else "compared")
    elif compare.text in ORDER:
        for base in [base for side in sides for base in side]:
            _flag(one, base, "ordered")
    texts = {literal for part in compare.parts if (literal := _literal(part))}
    for part in compare.parts:
        if name := _given(one, part):
            _flag(one, name, "compared")
            if compare.text in EQUALITY:
                one.options.setdefault(name, set()).update(texts)


def _literal(term: Term) -> str:
    """The text of a string that stands in the source; '' for anything else."""
    text = term.text
    is_text = term.op == "const" and text[:1] in ("'", '"') and text[-1:] == text[:1] and "\\" not in text
    return text[1:-1] if is_text else ""


def _tested(one: Used, test: Term) -> None:
    if test.op in ("not", "and", "or"):
        for part in test.parts:
            _tested(one, part)
    elif (name := _given(one, test)) and one.view.root(name) == name:
        _flag(one, name, "tested")


def _called(one: Used, term: Term) -> None:
    name = callee(term)
    receiver = term.parts[0].parts[0] if term.parts[0].op == "attr" else None
    given = [receiver, *term.parts[1:]] if receiver is not None else list(term.parts[1:])
    if name in _WRITERS and receiver is not None and subject(receiver):
        _flag(one, subject(receiver), "stored")
    for wanted, flag in (
        (_REAL, "real"),
        (_REAL, "exponent"),
        (_CHOICE, "rows"),
        (_DRAWN, "drawn"),
        (RANDOM - _DRAWN, "random"),
    ):
        if name in wanted:
            for part in given:
                for base in _bases(one, part) | (_drawn(one, part) if flag == "random" else set()):
                    _flag(one, base, flag)
                if name in ("softmax", "log_softmax"):
                    for base in _bases(one, part):
                        _flag(one, base, "rows")


def _drawn(one: Used, term: Term) -> set[str]:
    """Parameters that a function of the same module makes the seed of a draw from."""
    return {
        name
        for source in one.view.operands(term)
        if is_opaque(source)
        for part in source.parts[1:]
        if (name := _given(one, part))
    }


def _bases(one: Used, term: Term) -> set[str]:
    """What a value is made of: loads, and whole arrays that parameters hold."""
    found = {load.base for load in one.view.loads_of(term)}
    return found | {name for source in one.view.operands(term) if (name := _given(one, source))}


def _attribute(one: Used, term: Term) -> None:
    base = term.parts[0].dotted()
    root = base.split(".")[0]
    if base and root in one.params and one.view.root(root) == root:
        one.attributes.setdefault(base, {})[term.text] = None


def _chased(one: Used) -> None:
    """Links that loops follow; those that the innermost of them follows lead sideways."""
    view = one.view
    depth: dict[str, int] = {}
    for loop in view.all_loops():
        around = sum(any(part is loop for part in other.walk()) for other in view.all_loops())
        for name, found in view.chased(loop).items():
            own = [d.value for d in view.definitions[name] if within(d.step, loop)]
            direct = {id(each.term) for value in own for each in view.loads_of(value)}
            for load in found:
                if id(load.term) in direct and name not in view.counters(loop):
                    base = view.root(load.base)
                    depth[base] = max(depth.get(base, 0), around)
    deepest = max(depth.values(), default=0)
    for base, nested in depth.items():
        _flag(one, base, "sideways" if nested == deepest and min(depth.values()) < deepest else "chased")


def _ranked(one: Used) -> None:
    for step in one.view.steps:
        for term in step.term.walk():
            base, least, exact = _rank_said(term)
            name = _given(one, base) if base is not None else ""
            if name and exact:
                one.ranks[name] = exact
            elif name:
                one.least[name] = max(one.least.get(name, 0), least)
        whole = step.term.parts[-1] if step.term.op == "assign" else None
        if whole is not None and whole.op == "attr" and whole.text == "shape" and step.term.parts[0].op == "tuple":
            name = _given(one, whole.parts[0])
            if name:
                one.ranks[name] = len(step.term.parts[0].parts)


def _rank_said(term: Term) -> tuple[Term | None, int, int]:
    """An array, with the fewest dimensions that a term supposes, and the number that it demands."""
    if (
        term.op == "compare"
        and term.text in EQUALITY
        and term.parts[1].op == "const"
        and term.parts[1].text.isdecimal()
    ):
        asked = term.parts[0]
        if callee(asked) == "dim":
            asked = asked.parts[0]
        if asked.op == "attr" and asked.text in ("ndim", "dim"):
            return asked.parts[0], 0, int(term.parts[1].text)
    if callee(term) in ("stride", "size") and len(term.parts) > 1 and term.parts[1].text.isdecimal():
        return term.parts[0].parts[0], int(term.parts[1].text) + 1, 0
    if term.op == "index":
        base, *keys = term.parts
        keys = list(keys[0].parts) if len(keys) == 1 and keys[0].op == "tuple" else keys
        if base.op == "attr" and base.text == "shape" and keys[0].text.isdecimal():
            return base.parts[0], int(keys[0].text) + 1, 0
        if len(keys) > 1:
            return base, len(keys), 0
    return None, 0, 0


# From kernels to those that call them ---------------------------------------------------------------------------------


def spread(functions: dict[str, Used], name: str, above: set[str]) -> None:
    """Bring what is done with the values of a function in those that it calls back to its parameters."""
    one = functions[name]
    for step in one.view.steps:
        for term in step.term.walk():
            if term.op != "call":
                continue
            for called in _callees(one, term, functions):
                if called in above or len(above) > _DEEPEST:
                    continue
                spread(functions, called, above | {name})
                _bring(one, functions[called], term)


def _callees(one: Used, term: Term, functions: Mapping[str, Used]) -> list[str]:
    name = callee(term)
    if name in functions:
        return [name]
    if term.parts[0].op != "name":
        return []
    return [
        source.text for source in one.view.sources(term.parts[0]) if source.op == "name" and source.text in functions
    ]


def _bring(one: Used, other: Used, call: Term) -> None:
    positional = [part for part in call.parts[1:] if part.op != "kw"]
    named = {part.text: part.parts[0] for part in call.parts[1:] if part.op == "kw"}
    given = dict(zip(other.params, positional, strict=False)) | named
    for param, value in given.items():
        key = f"{other.gathers}[{param}]" if other.gathers and param not in other.params else param
        for name in _sources(one, value):
            _take_on(one, name, other, key)
        for source in one.view.sources(value):
            for load in loads(source, deep=False):  # a value that was read goes on as an argument
                for flag in other.flags.get(key, set()) & {"random", "real", "ordered", "exponent", "divisor"}:
                    _flag(one, load.base, flag)
            if callee(source) in _REAL | _CHOICE:
                for base in _bases(one, source):
                    _flag(one, base, "rows")


def _take_on(one: Used, name: str, other: Used, key: str) -> None:
    """Give a parameter what is known of the one that it is handed to, and of its attributes."""
    for known in [key, *(each for each in other.flags if each.startswith(key + "."))]:
        _join(one, name + known[len(key) :], other, known)
    for known, attributes in other.attributes.items():
        if known == key or known.startswith(key + "."):
            one.attributes.setdefault(name + known[len(key) :], {}).update(attributes)


def _sources(one: Used, value: Term) -> list[str]:
    """Parameters that an argument is; of `x if x is not None else y` only x."""
    if value.op == "select":
        asked = {part.dotted() for part in value.parts[0].walk()} - {""}
        kept = [part for part in value.parts[1:] if part.dotted() in asked]
        return [name for part in kept or value.parts[1:] for name in _sources(one, part)]
    found = [_given(one, source) for source in one.view.sources(value)]
    root = subject(value)
    if root.split(".")[0] in one.params:
        found.append(root)
    return list(dict.fromkeys(name for name in found if name))


def _join(one: Used, name: str, other: Used, known: str) -> None:
    one.flags.setdefault(name, set()).update(other.flags.get(known, ()))
    one.options.setdefault(name, set()).update(other.options.get(known, ()))
    if known in other.ranks:
        one.ranks[name] = other.ranks[known]
    one.least[name] = max(one.least.get(name, 0), other.least.get(known, 0))


def _given(one: Used, source: Term) -> str:
    """The parameter, or the attribute of one, that a value is; an entry of `**kw` is a parameter as well."""
    if source.op == "index" and one.gathers and source.parts[0].dotted() == one.gathers:
        return f"{one.gathers}[{source.parts[1].text.strip(chr(34) + chr(39))}]"
    dotted = source.dotted()
    return dotted if dotted and dotted.split(".")[0] in one.params else ""
