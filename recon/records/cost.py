"""What a round of speculative decoding costs: times with their intervals, and memory."""

from dataclasses import dataclass
from enum import Enum


class Ground(Enum):
    """What a number rests on, the firmest first."""

    MEASURED = "measured"
    """Timed at just this case."""
    BETWEEN = "between"
    """Not timed here: it lies between cases that were, and the interval reaches from the one to the other."""
    GIVEN = "given"
    """Told by the user."""
    BOUND = "bound"
    """The least that the hardware could take."""
    ASSUMED = "assumed"
    """A plausible range; what follows from it says so."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number with its 95 % interval and where it comes from."""

    value: float
    low: float
    high: float
    ground: Ground
    """The weakest of those that it was made of."""
    source: str
    """One phrase."""


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a round."""

    name: str
    """e.g. `weights`, `attention`, `acceptance`."""
    us: Quantity
    """Of all its layers, once a round."""


@dataclass(frozen=True, slots=True)
class Round:
    """One round, without what chain and tree have in common and nobody measured: the draft, and the host."""

    shape: str
    """`chain` or `tree`."""
    drafts: int
    """The root not counted: a pass of the target sees one token more."""
    us: Quantity
    parts: tuple[Part, ...]
    """None where the whole was given."""


@dataclass(frozen=True, slots=True)
class Memory:
    """What drafts take of a GPU's memory, and how many sequences that leaves room for."""

    state_bytes: int
    """Recurrent state of one node and sequence, in all layers; 0 where there is none."""
    window_bytes: int
    """Window of the convolutions, likewise."""
    replay_bytes: int
    """What must be kept of a node instead, where the state behind the accepted path is computed again."""
    kv_bytes: int
    """Keys and values of a token, in all layers."""
    weight_bytes: int
    context: int
    nodes: int
    """Drafts of the tree that is counted with."""
    chain: int
    """Drafts of the chain."""
    sequences_chain: int
    """That fit, each with a state for each token of its chain; 0 where the GPU's memory is not known."""
    sequences_tree: int
    """That fit, each with a state for each node."""
    sequences_replayed: int
    """That fit, where states of nodes are computed again."""
    source: str
