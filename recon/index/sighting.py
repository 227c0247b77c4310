"""What a shape reports: where it was seen, and which form of it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Sighting:
    """One shape seen in one function."""

    shape: str
    """Id of the form, e.g. `walk.links`."""
    line: int
    """Line of the test or store that decides, counted from 1 in the file."""
    note: str
    """One clause for a reader: what was seen."""
    detail: str = ""
    """A name that later questions need, e.g. the parameter that a mask comes through."""
    flags: tuple[str, ...] = ()
    """Parameters of the function whose tests stand above the place, with a `!` where they must not hold."""
