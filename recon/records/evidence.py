"""Evidence: one observation that speaks for a capability, at one place."""

from dataclasses import dataclass
from enum import Enum


class Grade(Enum):
    """How strong a piece of evidence is; each grade outweighs the ones before it."""

    NAMED = "named"
    """Only a name says so. Never makes a capability present; it makes a nearest miss."""
    DECLARED = "declared"
    """A string or import on which the engine itself dispatches, with its consumer's place."""
    SHAPED = "shaped"
    """The code has the form of the algorithm, whatever its names."""

    @property
    def rank(self) -> int:
        """Position in the order named < declared < shaped."""
        return list(Grade).index(self)


@dataclass(frozen=True, slots=True)
class Evidence:
    """One observation at one place of an install."""

    path: str
    """File, relative to the folder that holds the package."""
    symbol: str
    """Innermost enclosing function or `Class.method`; `<module>` at module level."""
    line: int
    """First line, counted from 1."""
    grade: Grade
    scope: tuple[str, ...]
    """Roots that reach the place, e.g. `runner V1`; empty if unknown."""
    note: str
    """What was seen there, in one sentence."""
