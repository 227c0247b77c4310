"""What a function was seen to do, set against what its source was read to be."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ShownRule:
    """One rule of acceptance that a function's answers follow."""

    rule: str
    """e.g. `tree greedy`, `chain stochastic with draft probabilities`, `chain block`, `chain forced`."""
    switches: dict[str, str]
    """Setting of the function's switches under which it was seen; empty where it has none."""
    reading: dict[str, str]
    """What each parameter was given, by its name."""
    outputs: str
    """How its outputs were read."""
    cases: int
    """Crafted requests, all of which it answered exactly by the rule."""
    draws: int
    """Requests that leave something to chance, whose answers came as often as the rule says; 0 where none does."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A verdict that rests on the function, and what its answers say of it."""

    capability: str
    standing: str
    agreement: str
    """`agrees`, `contradicts` or `cannot_tell`."""
    reason: str


@dataclass(frozen=True, slots=True)
class Behaviour:
    """One acceptance function of an engine, called on crafted chains and trees."""

    install: str
    path: str
    symbol: str
    line: int
    covers: tuple[str, ...]
    """Places of evidence that ran in it, as `path:symbol`."""
    how: str
    """`imported` from the engine's package, `cut` out of its source, or empty where it could not be called."""
    mode: str
    """`gpu` or `interpret`."""
    rules: tuple[ShownRule, ...]
    claims: tuple[Claim, ...]
    taken: tuple[str, ...]
    """What was cut, as `path:name`; empty where it was imported."""
    replaced: tuple[str, ...]
    """What stood in the place of something else, or was left out."""
    why: str
    """Why nothing can be said; empty otherwise."""
