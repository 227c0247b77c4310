"""A run that may be passed on: without the names of hosts and users, and without the ids of machines and cards."""

import re
from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import TypeAlias, TypeVar, cast

from recon.records.evidence import Evidence
from recon.records.path import Hop
from recon.records.run import Run
from recon.report.view import Source

Rename: TypeAlias = Callable[[str], str]
_Value = TypeVar("_Value")

_KNOWN = frozenset({"localhost", "releases", "root", ""})
"""Names that tell nothing."""
_OF_THE_TREE = (Evidence, Hop)
"""Records whose texts are those of an engine's source: a host that is called as a word there must not change it."""
_HOME = re.compile(r"(?<![\w.-])/(?P<homes>home|Users|export/home)/[^/\s:'\",;]+")
_WHOLE = r"(?<![A-Za-z0-9])(?:{})(?![A-Za-z0-9])"


def redacted(run: Run, sources: Sequence[Source]) -> tuple[Run, list[Source], Rename]:
    """The run and those that it was made of, and what renames any other text in the same way.

    Hosts are called `host-1`, ids of machines `machine-1`, those of cards `GPU-1`, users `someone`, as are
    their home folders. Paths and symbols inside an engine stay as they are.
    """
    rename = _rename((run, *(source.run for source in sources)))
    return (
        _renamed(run, rename),
        [replace(each, name=rename(each.name), run=_renamed(each.run, rename)) for each in sources],
        rename,
    )


def _rename(runs: Sequence[Run]) -> Rename:
    names: dict[str, str] = {}
    hosts = {host.name: host for run in runs for host in run.hosts}
    for number, host in enumerate(hosts.values(), 1):
        user, _, address = host.name.rpartition("@")
        names[user] = "someone"
        for name in (host.name, address, address.partition(":")[0], address.partition(".")[0]):
            if not name.isdecimal():  # the first number of an address would stand in too many places
                names.setdefault(name, f"host-{number}")
        names.setdefault(host.id, f"machine-{number}")
    cards = dict.fromkeys(gpu.uuid for host in hosts.values() for gpu in host.gpus)
    cards |= dict.fromkeys(each.device.uuid for run in runs for each in run.measurements if each.device)
    names |= {uuid: f"GPU-{number}" for number, uuid in enumerate(cards, 1)}
    known = {name: new for name, new in names.items() if name not in _KNOWN}
    pattern = (
        re.compile(_WHOLE.format("|".join(map(re.escape, sorted(known, key=len, reverse=True))))) if known else None
    )

    def rename(text: str) -> str:
        text = _HOME.sub(r"/\g<homes>/someone", text)
        return pattern.sub(lambda found: known[found[0]], text) if pattern else text

    return rename


def _renamed(value: _Value, rename: Rename) -> _Value:
    if isinstance(value, str):
        return cast("_Value", rename(value))
    if isinstance(value, tuple):
        return cast("_Value", tuple(_renamed(each, rename) for each in value))
    if isinstance(value, dict):
        return cast("_Value", {key: _renamed(each, rename) for key, each in value.items()})
    if is_dataclass(value) and not isinstance(value, (type, *_OF_THE_TREE)):
        return cast(
            "_Value",
            replace(value, **{each.name: _renamed(getattr(value, each.name), rename) for each in fields(value)}),
        )
    return value
