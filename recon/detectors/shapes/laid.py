"""Statements as they are laid out: where each stands, what it defines, what it writes."""

from dataclasses import dataclass

from recon.detectors.shapes.terms import callee, loads
from recon.index.term import Term


@dataclass(frozen=True, slots=True)
class Guard:
    """A test that must hold (or fail) for a step to run."""

    test: Term
    holds: bool


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """One statement and where it stands."""

    term: Term
    """assign, do, return, break, continue, assert, raise, or `test` around the condition of an if or a loop."""
    loops: tuple[Term, ...]
    """Enclosing loops, outermost first."""
    guards: tuple[Guard, ...]
    order: int
    terms: list[Term]
    """The term and all below it, in source order: walked once for all who ask."""


@dataclass(frozen=True, slots=True, eq=False)
class Definition:
    """One way in which a name gets a value."""

    value: Term
    step: Step
    weak: bool
    """The name is only changed in part: a store into it, an append."""

    @property
    def loops(self) -> tuple[Term, ...]:
        """Enclosing loops, outermost first."""
        return self.step.loops


@dataclass(frozen=True, slots=True, eq=False)
class Store:
    """A write to memory at a computed place."""

    base: str
    keys: tuple[Term, ...]
    value: Term
    step: Step


def within(step: Step, loop: Term | None) -> bool:
    """Whether a step stands inside a loop; every step stands inside None."""
    if loop is None:
        return True
    for outer in step.loops:  # noqa: SIM110 - asked half a million times in a tree, and a generator takes twice as long
        if outer is loop:
            return True
    return False


def early_exit(part: Term) -> tuple[Guard, ...]:
    """The test under which all that follows a statement stands, if one of its branches leaves."""
    if part.op != "if" or len(part.parts) < 3:
        return ()
    test, body, orelse = part.parts
    if _leaves(body):
        return (Guard(test, holds=False),)
    return (Guard(test, holds=True),) if _leaves(orelse) else ()


def _leaves(block: Term) -> bool:
    return bool(block.parts) and block.parts[-1].op in ("return", "break", "continue", "raise")


def all_keys(target: Term) -> tuple[Term, ...]:
    """The keys of a chain of subscripts."""
    keys: tuple[Term, ...] = ()
    while target.op == "index":
        keys = (*target.parts[1:], *keys)
        target = target.parts[0]
    return keys


def elements(iterable: Term) -> list[Term] | None:
    """What the elements of an iterable are read from; None where they are made up, as by `range`."""
    if callee(iterable) in ("enumerate", "zip", "reversed", "list", "tuple", "sorted", "iter"):
        return list(iterable.parts[1:])
    return [iterable] if iterable.op == "index" or loads(iterable, deep=False) or iterable.dotted() else None
