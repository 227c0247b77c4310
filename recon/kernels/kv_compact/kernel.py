"""The Triton claim about the reference: one launch for all layers.

A program moves a slice of columns of one request's rows in one buffer. It holds all of them before it stores any, and
no other program touches those columns, so it does not matter how sources and targets overlap. More rows than a program
can hold are moved in turn along the list. That is right for what compaction is: slots of a path ascend along the
sequence and none lies before its target, so that a later source, which lies behind its own target and therefore behind
all earlier ones, was not overwritten.
"""

import triton
import triton.language as tl

from ..card import Card
from ..op import Build, Op, Variant, Work, compare_exactly
from ..wire import Axes
from . import spec
from .baselines import batch_tile, index, kv_compact_tile
from .inputs import buffers_of, content, reset, work_of
from .reference import reference

HELD_ROWS = 512
"""Most rows that are held at once: any overlap is safe among so many."""
LEAST_COLUMNS = 4
"""Least words of a row that are moved together: 16 bytes."""


@triton.jit
def moved(buffer, source, target, moves, column, row_words, page_words, inside, PAGE: tl.constexpr):
    """Hold all rows of a slice of columns, then store them."""
    here = (source // PAGE).to(tl.int64) * page_words + source % PAGE * row_words
    there = (target // PAGE).to(tl.int64) * page_words + target % PAGE * row_words
    moves = (moves & (source != target))[:, None] & inside[None, :]
    held = tl.load(buffer + here[:, None] + column[None, :], mask=moves)
    tl.debug_barrier()  # all warps hold their rows before one stores
    tl.store(buffer + there[:, None] + column[None, :], held, mask=moves)


@triton.jit(do_not_specialize=["width"])
def kv_compact_rows(
    table_ptr,
    source_ptr,
    target_ptr,
    count_ptr,
    width,
    page_words,
    row_words,
    PAGE: tl.constexpr,
    FEW: tl.constexpr,
    COLUMNS: tl.constexpr,
    ROWS: tl.constexpr,
    NARROW: tl.constexpr,
):
    """Move a slice of columns of a request's rows in one buffer; grid (slices, buffers, batch).

    A few rows are moved at once; where there are more, narrower slices of up to ROWS one after the other.
    """
    request = tl.program_id(2).to(tl.int64)
    begin = tl.program_id(0) * COLUMNS
    # Nothing here waits for anything else: lists are read as far as they may hold, whatever the count.
    first = tl.load(table_ptr + tl.program_id(1))
    count = tl.load(count_ptr + request)
    source_ptr += request * width
    target_ptr += request * width
    row = tl.arange(0, FEW)
    source = tl.load(source_ptr + row, mask=row < width, other=0)
    target = tl.load(target_ptr + row, mask=row < width, other=0)
    buffer = tl.multiple_of(first.to(tl.pointer_type(tl.int32)), 16)
    if count <= FEW:
        column = begin + tl.arange(0, COLUMNS)
        moved(buffer, source, target, row < count, column, row_words, page_words, column < row_words, PAGE)
    else:
        rows = tl.arange(0, ROWS)
        for start in range(begin, begin + COLUMNS, NARROW):
            column = start + tl.arange(0, NARROW)
            for done in range(0, count, ROWS):
                some = done + rows < count
                source_rows = tl.load(source_ptr + done + rows, mask=some, other=0)
                target_rows = tl.load(target_ptr + done + rows, mask=some, other=0)
                moved(buffer, source_rows, target_rows, some, column, row_words, page_words, column < row_words, PAGE)


def rows(work: Work, config: Axes) -> None:
    """Queue the launch."""
    source, cache = work.inputs["source"], work.scratch["cache"]
    batch, width = source.shape
    *_, page, words = cache.shape
    few, columns = int(config["few"]), min(int(config["columns"]), triton.next_power_of_2(words))
    held = min(HELD_ROWS, max(few, triton.next_power_of_2(width)))
    kv_compact_rows[(triton.cdiv(words, columns), len(work.inputs["table"]), batch)](
        work.inputs["table"],
        source,
        work.inputs["target"],
        work.inputs["count"],
        width,
        cache.stride(1),
        words,
        PAGE=page,
        FEW=few,
        COLUMNS=columns,
        ROWS=held,
        NARROW=max(min(few * columns // held, columns), min(LEAST_COLUMNS, columns)),
        num_warps=int(config["warps"]),
    )


CONFIGS: tuple[Axes, ...] = tuple(
    {"few": 4, "columns": columns, "warps": warps}
    for columns, warps in ((512, 1), (512, 2), (512, 4), (256, 2), (256, 4))
)


def configs(_axes: Axes, _card: Card) -> tuple[Axes, ...]:
    """Slices of one or two kilobytes, for few warps where there are many programs, for more where there are few."""
    return CONFIGS


def compare(work: Work) -> str:
    """The cache as it was made, with the reference's moves and nothing else."""
    cache = work.scratch["cache"]
    before = content(cache, int(work.axes["seed"]))
    reference(buffers_of(before), *(work.inputs[name] for name in ("source", "target", "count")))
    return compare_exactly({"cache": cache}, {"cache": before})


def note(work: Work) -> str:
    """What is moved."""
    moved = work.inputs["count"].float().mean().item()
    return f"rows moved per request and buffer: {moved:.2f}"


def builds() -> tuple[Build, ...]:
    """Few and many rows, and what does not fit at once."""
    pointers = {"table_ptr": "*i64", "source_ptr": "*i32", "target_ptr": "*i32", "count_ptr": "*i32"}
    integers = dict.fromkeys(("width", "page_words", "row_words"), "i32")
    aligned = frozenset(("page_words", "row_words"))
    sizes = ((512, 1, 16, 128), (512, 1, HELD_ROWS, LEAST_COLUMNS))
    return (
        *(
            Build(
                "rows",
                kv_compact_rows,
                pointers | integers,
                {"PAGE": 16, "FEW": 4, "COLUMNS": columns, "ROWS": held, "NARROW": narrow},
                aligned,
                warps,
            )
            for columns, warps, held, narrow in sizes
        ),
        Build(
            "batch_tile",
            kv_compact_tile,
            {"table_ptr": "*i64", "source_ptr": "*i64", "target_ptr": "*i64", "moved": "i32", "row_words": "i32"},
            {"ROWS": 64, "COLUMNS": 32},
            frozenset(("row_words",)),
            4,
        ),
    )


OP = Op(
    work=work_of,
    compare=compare,
    variants={
        "rows": Variant(rows, configs),
        "batch_tile": Variant(batch_tile, checked=lambda axes: int(axes["nodes"]) <= 64),
        "index": Variant(index),
        "index_eager": Variant(index, captured=False),
    },
    bytes_of=spec.bytes_of,
    held_bytes_of=spec.held_bytes_of,
    reset=reset,
    in_cache=lambda axes: axes.get("cache") == "warm",
    note=note,
    builds=builds,
)
