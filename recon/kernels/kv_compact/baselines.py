"""What engines do instead: torch's indexing layer by layer, and one tile for the rows of the whole batch."""

import triton
import triton.language as tl

from ..op import Work
from ..wire import Axes
from .inputs import buffers_of

_TILE_WORDS = 32
"""Columns of a tile: 128 bytes."""


@triton.jit(do_not_specialize=["moved"])
def kv_compact_tile(table_ptr, source_ptr, target_ptr, moved, row_words, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """Move a slice of columns of all requests' rows in one buffer; grid (buffers, slices)."""
    first = tl.load(table_ptr + tl.program_id(0))
    buffer = tl.multiple_of(first.to(tl.pointer_type(tl.int32)), 16)
    column = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    row = tl.arange(0, ROWS)
    listed = row < moved
    source = tl.load(source_ptr + row, mask=listed, other=0)
    target = tl.load(target_ptr + row, mask=listed, other=0)
    moves = listed[:, None] & (column < row_words)[None, :]
    held = tl.load(buffer + source[:, None] * row_words + column[None, :], mask=moves)
    tl.debug_barrier()
    tl.store(buffer + target[:, None] * row_words + column[None, :], held, mask=moves)


def batch_tile(work: Work, _config: Axes) -> None:
    """Queue one launch in which each program holds the rows of all requests, whose number the host knows."""
    source, words = work.inputs["flat_source"], work.scratch["cache"].shape[-1]
    kv_compact_tile[(len(work.inputs["table"]), triton.cdiv(words, _TILE_WORDS))](
        work.inputs["table"],
        source,
        work.inputs["flat_target"],
        len(source),
        words,
        ROWS=triton.next_power_of_2(max(len(source), 1)),
        COLUMNS=_TILE_WORDS,
        num_warps=4,
    )


def index(work: Work, _config: Axes) -> None:
    """Queue `x[target] = x[source]` for each buffer, with lists whose length the host knows."""
    source, target, cache = work.inputs["flat_source"], work.inputs["flat_target"], work.scratch["cache"]
    rows = cache.view(-1, cache.shape[-1])
    for buffer in buffers_of(cache):
        x = rows[(buffer.storage_offset() - cache.storage_offset()) // cache.shape[-1] :]
        x[target] = x[source]
