"""What a file about acceptance is: told from its first line, and read accordingly. Files may come from strangers."""

import json
from collections.abc import Iterable
from enum import Enum
from itertools import chain

from recon.errors import BadMetrics, BadTrace
from recon.estimates import exposition, responses
from recon.estimates.counts import Counts
from recon.estimates.saved_counts import decoded
from recon.estimates.trace import LINE


class Kind(Enum):
    """What a file about acceptance is."""

    TRACE = "trace"
    """What a drafter thought at every position: recon/estimates/trace.py."""
    COUNTS = "counts"
    """Counts as `recon trace convert` writes them."""
    TABLE = "table"
    """How often ranks are right, as `recon trace convert` writes it."""
    EXPOSITION = "exposition"
    """Metrics in the text form of Prometheus."""
    RESPONSES = "responses"
    """Saved responses of a server, each with a histogram of its request."""


def kind_of(first: str) -> Kind:
    """What a file is that begins with this line, blank ones left out.

    >>> kind_of("# HELP vllm:spec_decode_num_drafts_total Number of spec decoding drafts.")
    <Kind.EXPOSITION: 'exposition'>

    Raises:
        BadMetrics: Nothing that is known begins so.
    """
    text = first.strip()
    if text.startswith(("{", "[")):
        return _kind_of_json(text)
    if exposition.looks_like(text):
        return Kind.EXPOSITION
    raise BadMetrics(
        "The file is nothing that recon knows acceptance from",
        "recon trace formats lists what is read: traces, metrics of Prometheus, responses.",
    )


def _kind_of_json(text: str) -> Kind:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None  # the first line of a longer text
    if not isinstance(value, dict):
        return Kind.RESPONSES
    if "v" not in value:  # a position, where the header is lacking
        return Kind.TRACE if {"rank", "lp"} <= set(value) else Kind.RESPONSES
    if "spine" in value:
        return Kind.TABLE
    return Kind.COUNTS if "reached" in value else Kind.TRACE


def counts_of(lines: Iterable[str]) -> Counts:
    """Counts out of anything but a trace.

    Raises:
        BadMetrics: It is malformed, is a trace, or says nothing of chains.
    """
    left = iter(lines)
    skipped = 0
    for first in left:
        if first.strip():
            break
        skipped += 1
    else:
        raise BadMetrics("The file is empty")
    kind, whole = kind_of(first), chain([""] * skipped, [first], left)
    if kind is Kind.TRACE:
        raise BadMetrics("This is a trace, which tells more than counts do", "Give it to recon estimate --trace.")
    if kind is Kind.TABLE:
        raise BadMetrics("This is a table of ranks, and no counts", "Give it to recon estimate --ranks.")
    if kind is Kind.COUNTS:
        if any(line.strip() for line in left):
            raise BadMetrics("The counts have text behind their line", "recon trace convert writes one line.")
        return decoded(first)
    return exposition.read(whole) if kind is Kind.EXPOSITION else responses.read(whole)


def refuse_others(first: str) -> None:
    """Refuse a file that is known, and is no trace.

    Raises:
        BadTrace: It holds counts.
    """
    if first.strip() and not first.lstrip().startswith("{"):
        raise BadTrace("The file is no trace", "Metrics and responses go to recon estimate --metrics.")
    if first.strip() and len(first) <= LINE and (kind := kind_of(first)) is not Kind.TRACE:
        option = "--ranks" if kind is Kind.TABLE else "--metrics"
        raise BadTrace("The file holds counts, and no trace", f"Give it to recon estimate {option}.")
