"""A table of ranks as a file: what `recon trace convert` makes of a trace, or a list of rates that were published."""

import json
from typing import Never

from recon.errors import BadTable
from recon.estimates.table import Rates, Table
from recon.estimates.trace import LONGEST, WIDEST

VERSION = 1
LARGEST = 1 << 22
"""Characters of a file."""
OVER = 1e-6


def encoded(table: Table, source: str) -> str:
    """A table as one line of JSON; `decoded` reads it."""
    return json.dumps({"v": VERSION, "source": source, "spine": table.spine, "off": table.off})


def decoded(text: str, length: int) -> Table:
    """A table out of that line, or out of a list of rates by rank, which then hold at each of `length` depths.

    Raises:
        BadTable: It is neither.
    """
    if len(text) > LARGEST:
        _refuse(f"more than {LARGEST} characters")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        _refuse("no JSON")
    if isinstance(value, list):
        (row,) = _rates([value])
        return Table((row,) * length, (row,) * length)
    if not isinstance(value, dict) or value.get("v") != VERSION or "spine" not in value:
        _refuse(f"neither a list of rates nor version {VERSION} of a table")
    spine, off = _rates(value["spine"]), value.get("off")
    told = None if off is None else _rates(off)
    if told is not None and (len(told), len(told[0])) != (len(spine), len(spine[0])):
        _refuse("rates off the spine for other depths or ranks than on it")
    return Table(spine, told)


def _rates(rows: object) -> Rates:
    if not isinstance(rows, list) or not 0 < len(rows) <= LONGEST or not all(isinstance(row, list) for row in rows):
        _refuse(f"no rows of rates for up to {LONGEST} depths")
    if not 0 < len(rows[0]) <= WIDEST or {len(row) for row in rows} != {len(rows[0])}:
        _refuse(f"rows that are not all of one length up to {WIDEST}")
    if not all(type(rate) in {int, float} and 0 <= rate <= 1 for row in rows for rate in row):
        _refuse("a rate that is no number from 0 to 1")
    if any(sum(row) > 1 + OVER for row in rows):
        _refuse("rates of one depth that add up to more than 1")
    return tuple(tuple(map(float, row)) for row in rows)


def _refuse(what: str) -> Never:
    raise BadTable(
        f"The table of ranks has {what}",
        "[0.63, 0.11, 0.06] says how often the best, second and third token are right; recon trace convert makes one.",
    )
