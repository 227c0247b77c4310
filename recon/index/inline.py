"""Small device functions put in the place of their calls, so that a shape split over helpers is seen whole."""

from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass, field

from recon.index.inner import copy
from recon.index.records import Outline, Scope, ScopeKind
from recon.index.term import Term

_CALLED = "operator()"
"""Of an object of a class of C++, what a call of it runs."""
LONGEST_HELPER = 90
"""Lines of a function above which a call of it stays a call."""

MAX_TERMS = 900
"""A callee with more terms stays a call."""
MAX_DEPTH = 3
MAX_GROWN = 10_000
"""Terms that a function may gain; one that would gain more is inlined less deeply, at last not at all."""


@dataclass(frozen=True, slots=True)
class Callee:
    """A function that can be put in the place of its call."""

    params: tuple[str, ...]
    body: Term
    """Its `def` Term."""
    key: str
    """Names it uniquely, so that recursion ends."""
    terms: int
    """How many Terms its body has."""


Resolve = Callable[[str], Callee | None]
"""From the bare name of a call to the function that it calls, where that is known and small."""


def called_objects(outline: Outline) -> dict[str, Scope]:
    """What runs where an object of a class of a C++ file is called like a function, by the class.

    Under the number of its parameters too, if no other has as many: what calls a parameter may call that.
    """
    scopes = outline.scopes
    found = [each for each in scopes if each.name == _CALLED and scopes[each.parent].kind is ScopeKind.CLASS]
    found = [each for each in found if each.end_line - each.line < LONGEST_HELPER]
    counts = Counter(len(each.params) for each in found)
    alone = {f"{_CALLED}/{len(each.params)}": each for each in found if counts[len(each.params)] == 1}
    return {f"{scopes[each.parent].name}::{_CALLED}": each for each in found} | alone


def inlined(body: Term, resolve: Resolve, params: Collection[str] = ()) -> Term:
    """A function's Term with calls of small known functions replaced by what they do.

    Locals of a callee get a suffix of their own; its returns become assignments to one name. Loops and guards around
    the call hold for the inlined statements too.
    """
    for depth in range(MAX_DEPTH, 0, -1):
        try:
            return _Inliner(resolve, depth, params, body.text).statement(body, ())
        except _GrownTooLargeError:
            continue
    return body


class _GrownTooLargeError(Exception):
    """Helpers of helpers would multiply a function beyond reading."""


@dataclass
class _Inliner:
    resolve: Resolve
    depth: int
    params: Collection[str]
    """Of the function itself: what it calls of them is handed to it."""
    own: str
    """The function's name: a call of itself stays one."""
    count: int = 0
    grown: int = 0
    pending: list[Term] = field(default_factory=list)
    objects: dict[str, Term] = field(default_factory=dict)
    """Names of what is called like a function: a lambda, or a list of values with the class that is made of it."""

    def statement(self, term: Term, active: tuple[str, ...]) -> Term:
        if term.op in ("block", "def"):
            return Term(term.op, term.text, tuple(self.statement(part, active) for part in term.parts), term.line)
        outer, self.pending = self.pending, []
        parts = tuple(
            self.statement(part, active) if part.op == "block" else self.expression(part, active) for part in term.parts
        )
        before, self.pending = self.pending, outer
        if term.op == "while" and before:  # its test is made anew in each round
            parts = (parts[0], Term("block", "", (*parts[1].parts, *map(copy, before)), term.line))
        changed = Term(term.op, term.text, parts, term.line)
        if term.op == "assign" and len(parts) == 2:
            self._note(parts[0], parts[1])
        return Term("block", "", (*before, changed), term.line) if before else changed

    def expression(self, term: Term, active: tuple[str, ...]) -> Term:
        parts = tuple(self.expression(part, active) for part in term.parts)
        changed = Term(term.op, term.text, parts, term.line)
        if term.op != "call" or term.parts[0].op != "name" or len(active) >= self.depth:
            return changed
        callee = self._called(term.parts[0].text, len(parts) - 1)
        if callee is None or term.parts[0].text == self.own or callee.key in active or callee.terms > MAX_TERMS:
            return changed
        self.grown += callee.terms
        if self.grown > MAX_GROWN:
            raise _GrownTooLargeError
        return self._replace(changed, callee, (*active, callee.key))

    def _note(self, target: Term, value: Term) -> None:
        """Remember a name of something that can be called."""
        found = self.objects.get(value.text) if value.op == "name" else value
        if target.op == "name" and found is not None and ((found.op == "tuple" and found.text) or _answers(found)):
            self.objects[target.text] = found

    def _called(self, name: str, given: int) -> Callee | None:
        """The function that a call of a name runs."""
        found = self.objects.get(name)
        if found is None:
            return self.resolve(name if name not in self.params else f"{_CALLED}/{given}")
        if found.op == "tuple":
            return self.resolve(f"{found.text}::{_CALLED}")
        body, *params = found.parts
        whole = Term("def", "", (body,), found.line)
        return Callee(tuple(each.text for each in params), whole, f"lambda:{id(found)}", len(whole.walk()))

    def _replace(self, call: Term, callee: Callee, active: tuple[str, ...]) -> Term:
        self.count += 1
        suffix = f"·{self.count}"
        result = Term("name", f"return{suffix}", (), call.line)
        names = {name: Term("name", name + suffix, (), call.line) for name in _locals(callee)}
        bound = _bind(callee.params, call)
        saved, self.pending = self.pending, []
        for parameter, value in bound.items():
            saved.append(Term("assign", "", (names[parameter], value), call.line))
            self._note(names[parameter], value)
        body = _renamed(callee.body.parts[0], names, result, call.line)
        saved.append(self.statement(body, active))
        self.pending = saved
        return result


def _answers(value: Term) -> bool:
    """Whether a value is a lambda that gives something back: one that is called for its effects stays a call."""
    return value.op == "lambda" and any(part.op == "return" and part.parts for part in value.parts[0].walk())


def _locals(callee: Callee) -> set[str]:
    found = set(callee.params)
    for term in callee.body.walk():
        if term.op in ("assign", "for"):
            targets = term.parts[:-1] if term.op == "assign" else term.parts[:1]
            found |= {part.text for target in targets for part in _plain_targets(target)}
    return found


def _plain_targets(target: Term) -> list[Term]:
    if target.op in ("tuple", "star"):
        return [name for part in target.parts for name in _plain_targets(part)]
    return [target] if target.op == "name" else []


def _bind(params: tuple[str, ...], call: Term) -> dict[str, Term]:
    bound: dict[str, Term] = {}
    positional = [part for part in call.parts[1:] if part.op not in ("kw", "star")]
    bound.update(zip(params, positional, strict=False))
    bound.update({part.text: part.parts[0] for part in call.parts[1:] if part.op == "kw" and part.text in params})
    return bound


def _renamed(term: Term, names: dict[str, Term], result: Term, line: int, *, looped: bool = False) -> Term:
    """A callee's code with its own names; all lines are the call's, so that evidence points into the caller."""
    if term.op == "name":
        return names.get(term.text, term)
    if term.op == "return":
        given = [Term("assign", "", (result, _renamed(part, names, result, line)), line) for part in term.parts]
        leaves = [Term("break", "", (), line)] if looped else []
        return given[0] if given and not looped else Term("block", "", (*given, *leaves), line)
    looped = looped or term.op in ("for", "while")
    parts = tuple(_renamed(part, names, result, line, looped=looped) for part in term.parts)
    return Term(term.op, term.text, parts, line)
