"""A run that may be passed on: without the names of hosts and users, and without the ids of machines and cards."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from typing import TypeAlias, TypeVar, cast

from recon.records.behaviour import Behaviour
from recon.records.estimate import Estimate
from recon.records.evidence import Evidence
from recon.records.install import Excerpt
from recon.records.measurement import Measurement
from recon.records.path import Hop
from recon.records.policy import PolicyFailure
from recon.records.run import Run
from recon.records.unknown import Unknown
from recon.records.verdict import Capability, Gate, OwnWord, Verdict
from recon.report.names import names_of
from recon.report.view import Source

Rename: TypeAlias = Callable[[str], str]
_Value = TypeVar("_Value")

_OF_THE_TREE = (Evidence, Hop, Capability)
"""Records whose texts are those of an engine or of recon: a host that is called as a word there must not change it."""
_STAY = frozenset({"path", "symbol", "probe", "kernel", "case", "config", "role", "mode", "key"})
_STAY |= {"capability", "covers", "shapes", "rule"}
"""Fields that tell what was asked or timed, and places inside an engine."""
_IDS = frozenset({"id", "install", "subject", "companions"})
"""Fields by which records are found: one way for all of them."""
_PROSE = (Verdict, Estimate, Measurement, Behaviour, PolicyFailure)
"""Records of sentences of recon's own."""
_SOURCE = (Excerpt, Gate)


def redacted(run: Run, sources: Sequence[Source]) -> tuple[Run, list[Source], Rename]:
    """The run and those that it was made of, and what renames any other text in the same way.

    Hosts are called `host-1`, ids of machines `machine-1`, those of cards `GPU-1`, domains `domain-1`, users
    `someone`, as are their home folders. Logins, addresses and hosts of URLs that are not known otherwise become
    `someone@somewhere`, `address` and `somewhere`. Paths and symbols inside an engine stay, as do other folders.
    """
    runs = (run, *(source.run for source in sources))
    names = names_of(runs, (text for each in runs for text in _texts(each)))
    ways = _Ways(names.everywhere, names.in_prose, names.in_source)
    return (
        ways.renamed(run, names.everywhere),
        [
            replace(each, name=names.everywhere(each.name), run=ways.renamed(each.run, names.everywhere))
            for each in sources
        ],
        names.everywhere,
    )


def _texts(value: object) -> Iterator[str]:
    """All that is renamed of a value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, tuple):
        for each in value:
            yield from _texts(each)
    elif isinstance(value, dict):
        yield from _texts(tuple(value.values()))
    elif is_dataclass(value) and not isinstance(value, (type, Enum, *_OF_THE_TREE)):
        for each in fields(value):
            if each.name not in _STAY:
                yield from _texts(getattr(value, each.name))


class _Ways:
    """Which way of renaming is for which record."""

    def __init__(self, everywhere: Rename, in_prose: Rename, in_source: Rename) -> None:
        self._everywhere, self._in_prose, self._in_source = everywhere, in_prose, in_source

    def renamed(self, value: _Value, rename: Rename) -> _Value:
        """A value with its texts renamed, each by the way of the record that it stands in."""
        if isinstance(value, str):
            return cast("_Value", rename(value))
        if isinstance(value, tuple):
            return cast("_Value", tuple(self.renamed(each, rename) for each in value))
        if isinstance(value, dict):
            return cast("_Value", {key: self.renamed(each, rename) for key, each in value.items()})
        if is_dataclass(value) and not isinstance(value, (type, Enum, *_OF_THE_TREE)):
            way = self._way(value, rename)
            made = {
                each.name: self.renamed(getattr(value, each.name), self._in_prose if each.name in _IDS else way)
                for each in fields(value)
                if each.name not in _STAY
            }
            return cast("_Value", replace(value, **made))
        return value

    def _way(self, record: object, rename: Rename) -> Rename:
        if isinstance(record, _PROSE):
            return self._in_prose
        if isinstance(record, _SOURCE):
            return self._in_source
        return self._everywhere if isinstance(record, (Unknown, OwnWord)) else rename
