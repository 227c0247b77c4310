"""A feature's file read and checked: every complaint names the file, the need and the word that is wrong."""

import tomllib
from collections.abc import Iterable, Mapping
from enum import Enum
from graphlib import CycleError, TopologicalSorter
from typing import TypeVar

from recon.errors import Usage
from recon.records.feature import Feature, Need, Part, Pointer, Purpose, Work

Choice = TypeVar("Choice", bound=Enum)

MOST_NEEDS = 200
"""Needs of one feature: what builds on what is told over any number of them, which takes their square."""
MOST_HOOKS = 50
"""Pointers of one need; five places are shown."""
_WHOLE = "the feature"
_FEATURE = frozenset({"id", "title", "what", "paper", "needs"})
_NEED = frozenset({"id", "title", "capabilities", "purpose", "core", "work", "after", "hooks"})
_HOOK = frozenset({"at", "task"})
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-_")


def feature_of(content: bytes, origin: str) -> Feature:
    """The feature that a file describes.

    Args:
        content: TOML.
        origin: Where it comes from, for complaints and lists.

    Raises:
        Usage: it is no TOML, or not a feature.
    """
    try:
        data = tomllib.loads(content.decode())
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise Usage(f"{origin} is not TOML: {error}") from error
    table = _Table(data, origin, _WHOLE, _FEATURE)
    needs = tuple(_need(each) for each in table.tables("needs", _NEED, MOST_NEEDS))
    _check(needs, table)
    return Feature(table.id(), table.text("title"), table.text("what"), table.text("paper"), needs, origin)


def _need(table: "_Table") -> Need:
    return Need(
        id=table.id(),
        title=table.text("title"),
        capabilities=table.texts("capabilities", least=1),
        purpose=table.choice("purpose", Purpose, Purpose.REQUIRED),
        core=table.flag("core"),
        work=table.choice("work", Work),
        after=table.texts("after"),
        hooks=tuple(_pointer(each) for each in table.tables("hooks", _HOOK, MOST_HOOKS)),
    )


def _pointer(table: "_Table") -> Pointer:
    capability, _, part = table.text("at").rpartition(".")
    if not capability or part not in {each.value for each in Part}:
        raise table.wrong(f"at = {table.text('at')!r} is not CAPABILITY.evidence or CAPABILITY.nearest")
    return Pointer(capability, Part(part), table.text("task"))


def _check(needs: Iterable[Need], table: "_Table") -> None:
    """Ids must differ, and what comes before what must have an end."""
    order: dict[str, tuple[str, ...]] = {}
    for need in needs:
        if need.id in order:
            raise table.wrong(f"two needs are called {need.id!r}")
        order[need.id] = need.after
    unknown = sorted({before for after in order.values() for before in after} - set(order))
    if unknown:
        raise table.wrong(f"a need comes after {unknown[0]!r}, which is no need of it")
    try:
        TopologicalSorter(order).prepare()
    except CycleError as error:
        circle = " after ".join(reversed(error.args[1]))
        raise table.wrong(f"its needs wait for one another: {circle}") from error
    if not any(need.core for need in needs):
        raise table.wrong("no need is its core: say core = true where nothing of it is there without the need")


class _Table:
    """A table of the file, asked for one key after the other."""

    def __init__(self, data: Mapping[str, object], origin: str, what: str, known: frozenset[str]) -> None:
        """Refuse keys that nobody reads: a misspelled one would be lost without a word."""
        self._data, self._origin, self._what = data, origin, what
        stray = sorted(set(data) - known)
        if stray:
            raise self.wrong(f"{stray[0]!r} means nothing here; known are {', '.join(sorted(known))}")

    def wrong(self, why: str) -> Usage:
        """A complaint about this table."""
        return Usage(f"{self._origin}: {self._what}: {why}")

    def id(self) -> str:
        """A name that can be typed."""
        name = self.text("id")
        if not set(name) <= _PLAIN:
            raise self.wrong(f"id = {name!r} may hold small letters, digits, - and _ only")
        return name

    def text(self, key: str) -> str:
        """A text that is not empty, on one line."""
        value = self._data.get(key)
        if not isinstance(value, str) or not value.strip():
            raise self.wrong(f"{key} must be a text")
        return " ".join(value.split())

    def texts(self, key: str, least: int = 0) -> tuple[str, ...]:
        """A list of texts."""
        value = self._data.get(key, [])
        if (
            not isinstance(value, list)
            or len(value) < least
            or not all(isinstance(each, str) and each for each in value)
        ):
            raise self.wrong(f"{key} must be a list of texts")
        return tuple(value)

    def flag(self, key: str) -> bool:
        """A choice of yes and no; no where nothing is said."""
        value = self._data.get(key, False)
        if not isinstance(value, bool):
            raise self.wrong(f"{key} must be true or false")
        return value

    def choice(self, key: str, choices: type[Choice], otherwise: Choice | None = None) -> Choice:
        """One of some words."""
        value = self._data.get(key, otherwise.value if otherwise is not None else None)
        for each in choices:
            if each.value == value:
                return each
        raise self.wrong(f"{key} must be one of {', '.join(str(each.value) for each in choices)}")

    def tables(self, key: str, known: frozenset[str], most: int) -> "list[_Table]":
        """The tables of a list, at least one."""
        value = self._data.get(key)
        if value is None or value == []:
            raise self.wrong(f"it has no {key}: at least one [[{key if self._is_whole else f'needs.{key}'}]] is needed")
        if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
            raise self.wrong(f"{key} must be a list of tables")
        if len(value) > most:
            raise self.wrong(f"it has {len(value):,} {key}; at most {most:,} are read")
        inside = "" if self._is_whole else f"{self._what}, "
        return [
            _Table(each, self._origin, f"{inside}{key} {each.get('id', number)}", known)
            for number, each in enumerate(value, 1)
        ]

    @property
    def _is_whole(self) -> bool:
        return self._what == _WHOLE
