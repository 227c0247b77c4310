"""Call paths: how the engine's step reaches a place."""

from dataclasses import dataclass
from enum import Enum


class Tier(Enum):
    """How sure an edge of the call graph is."""

    CERTAIN = "certain"
    LIKELY = "likely"
    GUESS = "guess"


@dataclass(frozen=True, slots=True)
class Hop:
    """One station of a call path."""

    path: str
    symbol: str
    line: int
    """Line of the definition, counted from 1."""
    dispatch: str
    """How this hop calls the next one: `call`, `method`, `construct`, `launch`, `operator`, `override`, `by name`,
    `context`, `model`, `string`; empty at the end."""
    tier: Tier
    """How sure the step to the next hop is."""


@dataclass(frozen=True, slots=True)
class CallPath:
    """A chain of calls from the engine's step to the code that a verdict rests on."""

    capability: str
    hops: tuple[Hop, ...]
    through: tuple[str, ...] = ()
    """The runner, worker or method that the path leads through, e.g. `runner V1`; empty if none is known."""
