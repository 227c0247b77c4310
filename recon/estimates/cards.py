"""What data sheets say of cards: no kernel is faster, so they bound what nobody measured."""

from dataclasses import dataclass

GIB = 1 << 30


@dataclass(frozen=True, slots=True)
class Card:
    """One model of GPU, as its maker describes it."""

    words: str
    """Part of its name that no other card has."""
    memory_bytes: int
    bytes_per_us: float
    """Of its memory."""
    flops_per_us: float
    """Dense bf16 with sums in single precision."""


CARDS = (
    Card("H200", 141 * 10**9, 4.8e6, 989e6),
    Card("H100 80GB HBM3", 80 * GIB, 3.35e6, 989e6),
    Card("B200", 180 * GIB, 8.0e6, 2250e6),
    Card("A100-SXM4-80GB", 80 * GIB, 2.039e6, 312e6),
    Card("L40S", 48 * GIB, 0.864e6, 362e6),
    Card("RTX A6000", 48 * GIB, 0.768e6, 154.8e6),
    Card("RTX 4090", 24 * GIB, 1.008e6, 165.2e6),
    Card("RTX 5090", 32 * GIB, 1.792e6, 209.5e6),
    Card("RTX PRO 6000 Blackwell", 96 * GIB, 1.792e6, 503.8e6),
)


def card_of(name: str) -> Card | None:
    """The card that a name means, as drivers or people write it; None for one whose data are not here.

    >>> card_of("NVIDIA GeForce RTX 5090").memory_bytes >> 30, card_of("a6000").words, card_of("T4")
    (32, 'RTX A6000', None)
    """
    plain = _plain(name)
    known = [card for card in CARDS if _plain(card.words) in plain or (len(plain) > 3 and plain in _plain(card.words))]
    return max(known, key=lambda card: len(card.words), default=None)


def _plain(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())
