"""Counts as a file of their own, small enough to hand on: what `recon trace convert` writes and `--metrics` reads."""

import json
from typing import Never

from recon.errors import BadMetrics
from recon.estimates.counts import LONGEST, Counts, of_histograms

VERSION = 1


def encoded(counts: Counts) -> str:
    """Counts as one line of JSON; `decoded` reads it."""
    return json.dumps(
        {
            "v": VERSION,
            "source": counts.source,
            "L": counts.length,
            "rounds": counts.rounds,
            "reached": counts.reached,
            "tau": counts.mean,
            "cut": counts.cut,
            "requests": counts.requests,
            "notes": counts.notes,
        }
    )


def decoded(text: str) -> Counts:
    """Counts out of that line.

    Raises:
        BadMetrics: It is not what `encoded` writes.
    """
    try:
        value = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        _refuse("no JSON")
    source, notes = value.get("source"), value.get("notes", [])
    length, reached, requests = value.get("L"), value.get("reached"), value.get("requests", [])
    tau, rounds = value.get("tau"), value.get("rounds")
    if value["v"] != VERSION or type(length) is not int or not 0 <= length <= LONGEST:
        _refuse(f"another version than {VERSION}, or no number of drafts up to {LONGEST} as L")
    if not isinstance(source, str) or len(source) > 1000 or not _are(notes, str) or any(len(n) > 1000 for n in notes):
        _refuse("no short texts as source and notes")
    if not _are(reached, int) or not _are(requests, list) or not all(_are(each, int) for each in requests):
        _refuse("no lists of counts as reached and requests")
    if any(len(each) > (length or LONGEST) + 1 for each in requests):
        _refuse("requests with more drafts than L")
    if type(tau) not in {int, float} or not _are([rounds], int):
        _refuse("no number as tau or rounds")
    if not 1 <= tau <= (length or LONGEST) + 1:
        _refuse(f"no tau from 1 to {(length or LONGEST) + 1}")
    told = Counts(source or "counts", length, rounds, tuple(reached), float(tau), cut=bool(value.get("cut")))
    _check(told)
    if requests and told.reached and not _add_up(requests, told):
        _refuse("requests that do not add up to its rounds and what was reached")
    return Counts(
        told.source,
        length,
        rounds,
        told.reached,
        told.mean,
        tuple(tuple(each) for each in requests),
        cut=told.cut,
        notes=tuple(notes),
    )


def _add_up(requests: list[list[int]], told: Counts) -> bool:
    if not any(map(sum, requests)):
        return False
    whole = of_histograms(told.source, requests, told.length)
    return (whole.rounds, whole.reached) == (told.rounds, told.reached)


def _check(counts: Counts) -> None:
    levels = (counts.rounds, *counts.reached)
    if any(above < below for above, below in zip(levels, counts.reached, strict=False)) or min(levels) < 0:
        _refuse("counts that rise")
    if counts.reached and (len(counts.reached) != counts.length or not counts.rounds):
        _refuse("not as many counts as L, or no rounds")
    if counts.reached and abs(counts.mean - 1 - sum(counts.reached) / counts.rounds) > 1e-6:
        _refuse("another tau than its counts give")


def _are(values: object, kind: type) -> bool:
    return isinstance(values, list) and all(
        type(each) is kind and (not isinstance(each, int) or 0 <= each < 1 << 53) for each in values
    )


def _refuse(what: str) -> Never:
    raise BadMetrics(f"The counts have {what}", "recon trace convert writes them.")
