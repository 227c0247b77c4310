"""Whether to read all rows at once, or one level after another the rows alone that are visited: a rule, not a trial.

Either form has a time of its own and a time for bytes. What the forms cost on an H200 stands with each kernel; it is
mostly launches and the latency of memory, which differ little from card to card, while the bandwidth is the card's own.
"""

from dataclasses import dataclass

from .card import Card
from .trees import depth_of
from .wire import Axes

EXPECTED = 3
"""Accepted drafts that a choice is made for: how many it will be is not known before."""
ELEMENT_BYTES = {"bf16": 2, "fp16": 2, "fp32": 4}


@dataclass(frozen=True, slots=True)
class Costs:
    """What the two forms of a kernel take."""

    fused_us: float
    """All rows at once, bytes left out."""
    launch_us: float
    """One launch of the lazy form, for a level that nobody reaches."""
    level_us: float
    """What a level that is reached takes beyond that, bytes left out."""
    fused_passes: float
    """Time for bytes of the fused form over the least that the bandwidth allows."""
    lazy_passes: float


def prefers_lazy(axes: Axes, card: Card, costs: Costs) -> bool:
    """Whether the lazy form should be the faster."""
    row_us = int(axes["vocab"]) * ELEMENT_BYTES[str(axes["dtype"])] / card.bytes_per_s * 1e6
    batch, nodes, levels = int(axes["batch"]), int(axes["nodes"]), depth_of(axes) + 1
    visited = min(EXPECTED + 1, levels)
    fused_us = costs.fused_us + costs.fused_passes * batch * nodes * row_us
    lazy_us = costs.launch_us * (levels + 1) + visited * (costs.level_us + costs.lazy_passes * batch * row_us)
    return lazy_us < fused_us
