"""What no run file of ours holds, though its types are right: endless texts and numbers, and lines before the first."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from typing import TypeVar, cast

from recon.records.run import Run

LONGEST = 1 << 16
"""Characters of one text: the longest that is written, a detector's page, has two thousand."""
LAST_LINE = 1 << 31
LARGEST = 1 << 63
_LINES = frozenset({"line"})
_MORE = " [cut]"
_Value = TypeVar("_Value")


def beyond(run: Run) -> str:
    """What of a run is impossible, in one sentence that names its place; '' where nothing is."""
    return next(_beyond(run), "")


def within(run: Run) -> Run:
    """The run with its endless texts cut, so that what is written is read again.

    A command line may hold any text, and a program may say one.
    """
    return _cut(run) if beyond(run) else run


def _cut(value: _Value) -> _Value:
    if isinstance(value, str):
        return cast("_Value", value if len(value) <= LONGEST else f"{value[: LONGEST - len(_MORE)]}{_MORE}")
    if isinstance(value, tuple):
        return cast("_Value", tuple(_cut(each) for each in value))
    if isinstance(value, dict):
        return cast("_Value", {_cut(key): _cut(each) for key, each in value.items()})
    if is_dataclass(value) and not isinstance(value, Enum | type):
        return cast("_Value", replace(value, **{each.name: _cut(getattr(value, each.name)) for each in fields(value)}))
    return value


def _beyond(run: Run) -> Iterator[str]:
    stack: list[tuple[str, str, object]] = [("$", "", run)]
    while stack:
        where, name, value = stack.pop()
        if isinstance(value, str):
            if len(value) > LONGEST:
                yield f"a text of {len(value):,} characters at `{where}`"
        elif isinstance(value, int):
            if name in _LINES and not 1 <= value <= LAST_LINE:
                yield f"a line {value} at `{where}`"
            elif abs(value) > LARGEST:
                yield f"a number beyond {LARGEST} at `{where}`"
        elif isinstance(value, tuple):
            stack += [(f"{where}[{place}]", "", each) for place, each in enumerate(value)]
        elif isinstance(value, dict):
            stack += [(f"{where}.{key}"[:LONGEST], "", each) for key, each in value.items()]
            stack += [(f"{where}: a key", "", key) for key in value]
        elif is_dataclass(value) and not isinstance(value, Enum | type):
            stack += [(f"{where}.{each.name}", each.name, getattr(value, each.name)) for each in fields(value)]
