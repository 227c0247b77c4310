"""What a card says of itself that configurations and forms are chosen by."""

from dataclasses import dataclass

BYTES_PER_S_AND_MULTIPROCESSOR = 30e9
"""Memory bandwidth where an older torch does not say more, between a consumer's card and one for servers."""
LEAST_SHARED_BYTES = 101_376
"""Shared memory of a block where torch does not say: what the smallest of today's cards allow."""
HOPPER = (9, 0)


@dataclass(frozen=True, slots=True)
class Card:
    """A GPU, or what stands for one."""

    multiprocessors: int
    bytes_per_s: float
    """Of its memory, as its clock and width say."""
    shared_bytes: int = LEAST_SHARED_BYTES
    """Most that one block may ask for."""
    capability: tuple[int, int] = (0, 0)
    library: str = ""
    """Path of an engine's library whose kernels may be called; empty where none may."""


def card_of(multiprocessors: int, library: str = "") -> Card:
    """The current CUDA device."""
    import torch  # noqa: PLC0415  the interpreter must be chosen before this is imported

    properties = torch.cuda.get_device_properties(0)
    clock_khz, bits = getattr(properties, "memory_clock_rate", 0), getattr(properties, "memory_bus_width", 0)
    told = 2 * clock_khz * 1000 * bits / 8  # two transfers a clock
    return Card(
        multiprocessors,
        told or BYTES_PER_S_AND_MULTIPROCESSOR * multiprocessors,
        getattr(properties, "shared_memory_per_block_optin", 0) or LEAST_SHARED_BYTES,
        (properties.major, properties.minor),
        library,
    )
