"""A function cut out of an engine, and what is known of its parameters: what a probe needs to call it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Parameter:
    """What may be given to one parameter, or to one attribute of an object that is given."""

    name: str
    """`x`, or `x.y` for the attribute y of what is given as x."""
    kind: str
    """`tensor`, `int`, `float`, `bool`, `list`, `mapping`, `device`, `any`, or `unused`."""
    roles: tuple[str, ...]
    """What it may stand for, the likeliest first; empty where nothing is known."""
    rank: int
    """Dimensions that a tensor must have; 0 where the source does not say."""
    least: int
    """Dimensions that it has at least."""
    optional: bool
    """Whether None may be given."""
    default: str
    """Source text of the default, '' if there is none."""
    options: tuple[str, ...] = ()
    """Texts that it is compared with, where it chooses a way by its text."""


@dataclass(frozen=True, slots=True)
class CutFunction:
    """One acceptance function as a module of its own."""

    install: str
    path: str
    symbol: str
    line: int
    module: str
    """Dotted name of the engine's own module, for where it can be imported."""
    text: str
    """The cut module; '' where the function could not be cut."""
    parameters: tuple[Parameter, ...]
    covers: tuple[str, ...]
    """Places of evidence that it holds, as `path:symbol`."""
    capabilities: tuple[str, ...]
    """What the scan says these places are."""
    taken: tuple[str, ...]
    """What was cut, as `path:name`."""
    replaced: tuple[str, ...]
    """What stands in the place of something else, or was left out."""
    refused: str = ""
    """Why it could not be cut; '' where it was."""
