"""What kernels that build trees share: sums of log-probabilities, and bits of ancestors, by which attention is told."""

import struct
from collections.abc import Iterable, Sequence

import triton
import triton.language as tl

LOWEST = tl.constexpr(-(1 << 31))
"""Below every sum in the order of integers, also below negative infinity."""
WORD_BITS = 32


def rounded(value: float) -> float:
    """To float32, as a device adds: a sum of two such numbers in double precision is exact enough for it."""
    single: float = struct.unpack("f", struct.pack("f", value))[0]
    return single


@triton.jit
def ordered(bits):
    """Bits of float32 numbers as integers of the same order, and back."""
    return bits ^ ((bits >> 31) & 0x7FFFFFFF)


def words_for(nodes: int) -> int:
    """Words of 32 bits for so many nodes.

    >>> words_for(33)
    2
    """
    return -(-nodes // WORD_BITS)


def bits_of(parents: Sequence[int]) -> list[list[int]]:
    """Words (int32, signed) of each node of a tree whose parents precede their children.

    Bit b of word w is node 32 * w + b. What is padding has its own bit alone, so that attention finds something to see.

    >>> bits_of([-1, 0, 0, 1, -1])
    [[1], [3], [5], [11], [16]]
    """
    seen: list[int] = []
    for node, parent in enumerate(parents):
        seen.append((seen[parent] if parent >= 0 else 0) | 1 << node)
    return [list(_words(bits, words_for(len(parents)))) for bits in seen]


def _words(bits: int, words: int) -> Iterable[int]:
    for word in range(words):
        value = bits >> (WORD_BITS * word) & 0xFFFFFFFF
        yield value - (1 << WORD_BITS) if value >> 31 else value


@triton.jit
def store_ancestors(parent_ptr, bits_ptr, base, nodes, node, words, most, LANES: tl.constexpr, WORDS: tl.constexpr):
    """Climb from each node to the root, at most so many steps, and store a word of bits for each 32 nodes.

    Parents of this request lie at `parent_ptr + base`, and every warp of this program may read them.
    """
    real = node < nodes
    word = tl.arange(0, WORDS)[None, :]
    at = node
    bits = tl.zeros([LANES, WORDS], tl.int32)
    for _ in range(most + 1):
        bits |= tl.where((at >= 0)[:, None] & ((at // 32)[:, None] == word), (1 << (at % 32))[:, None], 0)
        at = tl.where(at > 0, tl.load(parent_ptr + base + at, mask=real & (at > 0), other=-1), -1)
    place = (base + node)[:, None] * words + word
    tl.store(bits_ptr + place, bits, mask=real[:, None] & (word < words))
