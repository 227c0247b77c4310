"""Small device functions put in the place of their calls, so that a shape split over helpers is seen whole."""

from collections.abc import Callable
from dataclasses import dataclass, field

from recon.index.term import Term

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


def inlined(body: Term, resolve: Resolve) -> Term:
    """A function's Term with calls of small known functions replaced by what they do.

    Locals of a callee get a suffix of their own; its returns become assignments to one name. Loops and guards around
    the call hold for the inlined statements too.
    """
    for depth in range(MAX_DEPTH, 0, -1):
        try:
            return _Inliner(resolve, depth).statement(body, ())
        except _GrownTooLargeError:
            continue
    return body


class _GrownTooLargeError(Exception):
    """Helpers of helpers would multiply a function beyond reading."""


@dataclass
class _Inliner:
    resolve: Resolve
    depth: int
    count: int = 0
    grown: int = 0
    pending: list[Term] = field(default_factory=list)

    def statement(self, term: Term, active: tuple[str, ...]) -> Term:
        if term.op in ("block", "def"):
            return Term(term.op, term.text, tuple(self.statement(part, active) for part in term.parts), term.line)
        outer, self.pending = self.pending, []
        parts = tuple(
            self.statement(part, active) if part.op == "block" else self.expression(part, active) for part in term.parts
        )
        changed = Term(term.op, term.text, parts, term.line)
        before, self.pending = self.pending, outer
        return Term("block", "", (*before, changed), term.line) if before else changed

    def expression(self, term: Term, active: tuple[str, ...]) -> Term:
        parts = tuple(self.expression(part, active) for part in term.parts)
        changed = Term(term.op, term.text, parts, term.line)
        if term.op != "call" or term.parts[0].op != "name" or len(active) >= self.depth:
            return changed
        callee = self.resolve(term.parts[0].text)
        if callee is None or callee.key in active or callee.terms > MAX_TERMS:
            return changed
        self.grown += callee.terms
        if self.grown > MAX_GROWN:
            raise _GrownTooLargeError
        return self._replace(changed, callee, (*active, callee.key))

    def _replace(self, call: Term, callee: Callee, active: tuple[str, ...]) -> Term:
        self.count += 1
        suffix = f"·{self.count}"
        result = Term("name", f"return{suffix}", (), call.line)
        names = {name: Term("name", name + suffix, (), call.line) for name in _locals(callee)}
        bound = _bind(callee.params, call)
        saved, self.pending = self.pending, []
        for parameter, value in bound.items():
            saved.append(Term("assign", "", (names[parameter], value), call.line))
        body = _renamed(callee.body.parts[0], names, result, call.line)
        saved.append(self.statement(body, active))
        self.pending = saved
        return result


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


def _renamed(term: Term, names: dict[str, Term], result: Term, line: int) -> Term:
    """A callee's code with its own names; all lines are the call's, so that evidence points into the caller."""
    if term.op == "name":
        return names.get(term.text, term)
    if term.op == "return":
        if not term.parts:
            return Term("block", "", (), line)
        return Term("assign", "", (result, _renamed(term.parts[0], names, result, line)), line)
    parts = tuple(_renamed(part, names, result, line) for part in term.parts)
    return Term(term.op, term.text, parts, line)
