"""Measurements as a table for spreadsheets and data frames: one row each, numbers as they were recorded, not rounded.

Cells of text that a spreadsheet would take for a formula begin with an apostrophe, as their makers advise.
"""

import csv
import io
import re
from collections.abc import Mapping
from typing import TypeAlias

from recon.records.measurement import Device, Measurement, Spread
from recon.report.format import Format
from recon.report.text import visible
from recon.report.view import View

Cell: TypeAlias = str | int | float | None

_FORMULA = re.compile(r"\s*[=+\-@|%]")
_NOBODY = Device("", "", (0, 0), 0, 0, "", "", "", "", "")


def render(view: View) -> str:
    """A row of headers, then one row for each measurement of the run, in its order.

    Times are microseconds. What was not measured is empty; `mismatches` above 0 says that a kernel gave other answers
    than its reference, and then it has no times. `case` and `config` are `name=value` pairs, apart by semicolons.
    """
    file = io.StringIO()
    writer = csv.writer(file, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\r\n")
    rows = [_row(each) for each in view.run.measurements]
    writer.writerow(rows[0] if rows else _row(None))
    for row in rows:
        writer.writerow([_safe(value) for value in row.values()])
    return file.getvalue()


def _row(each: Measurement | None) -> dict[str, Cell]:
    """The cells of a measurement by the names of their columns; of None, the names alone."""
    spread: Spread | None = each.spread if each else None
    agreement, floor = (each.agreement, each.floor) if each else (None, None)
    device = (each.device if each else None) or _NOBODY
    burst = each.burst.spread if each and each.burst else None
    return {
        "probe": each.probe if each else "",
        "kernel": each.kernel if each else "",
        "case": _pairs(each.case) if each else "",
        "role": each.role if each else "",
        "mode": each.mode if each else "",
        "gpu": device.name,
        "cases": agreement.cases if agreement else None,
        "mismatches": agreement.mismatches if agreement else None,
        "median_us": spread.median_us if spread else None,
        "low_us": spread.low_us if spread else None,
        "high_us": spread.high_us if spread else None,
        "p10_us": spread.p10_us if spread else None,
        "p90_us": spread.p90_us if spread else None,
        "samples": spread.samples if spread else None,
        "floor_us": floor.us if floor else None,
        "floor_bound": floor.bound if floor else "",
        "burst_median_us": burst.median_us if burst else None,
        "bytes_moved": each.bytes_moved if each else None,
        "captured": int(each.captured) if each and spread else None,
        "method": each.method if each else "",
        "config": _pairs(each.config) if each else "",
        "driver": device.driver,
        "cuda": device.cuda,
        "torch": device.torch,
        "triton": device.triton,
        "python": device.python,
        "key": each.key if each else "",
    }


def _pairs(named: Mapping[str, Cell]) -> str:
    return "; ".join(f"{name}={value}" for name, value in named.items())


def _safe(value: Cell) -> Cell:
    if not isinstance(value, str):
        return value
    shown = visible(value)
    return f"'{shown}" if _FORMULA.match(shown) else shown


FORMAT = Format("csv", "text/csv", render)
