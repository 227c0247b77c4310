"""What a card says of itself that configurations and forms are chosen by."""

from dataclasses import dataclass

BYTES_PER_S_AND_MULTIPROCESSOR = 30e9
"""Memory bandwidth where an older torch does not say more, between a consumer's card and one for servers."""


@dataclass(frozen=True, slots=True)
class Card:
    """A GPU, or what stands for one."""

    multiprocessors: int
    bytes_per_s: float
    """Of its memory, as its clock and width say."""


def card_of(multiprocessors: int) -> Card:
    """The current CUDA device."""
    import torch  # noqa: PLC0415  the interpreter must be chosen before this is imported

    properties = torch.cuda.get_device_properties(0)
    clock_khz, bits = getattr(properties, "memory_clock_rate", 0), getattr(properties, "memory_bus_width", 0)
    told = 2 * clock_khz * 1000 * bits / 8  # two transfers a clock
    return Card(multiprocessors, told or BYTES_PER_S_AND_MULTIPROCESSOR * multiprocessors)
