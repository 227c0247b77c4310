"""Operators: functions called through a registry or a built module, and whether anything stands behind the call."""

from dataclasses import dataclass
from enum import Enum


class OperatorStatus(Enum):
    """What a call of an operator comes to."""

    CALLABLE = "callable"
    """A schema, a registration or a source defines it, and something calls it."""
    NOT_CALLED = "not called"
    """Defined, or its shapes told, and nothing that was read calls it."""
    WRAPPER_ALONE = "wrapper without operator"
    """Functions of the tree hand their parameters to it, nobody here calls them, and nothing defines it."""
    SYMBOL_ALONE = "symbol without operator"
    """A library exports a function on tensors that has neither schema nor caller."""
    MISSING = "missing in this build"
    """The tree's own code calls it, and nothing that was read defines it."""
    ELSEWHERE = "defined elsewhere"
    """Its namespace belongs to another distribution."""
    CANNOT_TELL = "cannot tell"
    """Nothing that was read defines it, but a library was not read, or exports a function of its name."""


@dataclass(frozen=True, slots=True)
class Site:
    """One place of the tree that has to do with an operator."""

    path: str
    symbol: str
    line: int
    """Counted from 1."""


@dataclass(frozen=True, slots=True)
class Operator:
    """All that a tree says of one operator, joined."""

    namespace: str
    """`k` of `torch.ops.k.f`; of a module built at run time the function that builds it; '' where it is not told."""
    name: str
    status: OperatorStatus
    schema: str
    """As a library holds it; '' where none was read."""
    calls: tuple[Site, ...]
    """Who calls it by name."""
    wrappers: tuple[Site, ...]
    """Of these the functions that hand their own parameters on to it, and all that they do is that."""
    fakes: tuple[Site, ...]
    """Functions that only tell the shapes of its results."""
    registrations: tuple[Site, ...]
    """Where the sources register or export it."""
    libraries: tuple[str, ...]
    """Compiled libraries that hold its schema or symbol, by path."""
