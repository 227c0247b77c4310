"""The function under test as it comes over the wire, and what its parameters may be given."""

import importlib
import importlib.util
import itertools
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .call import Call, call_of
from .roles import Choice
from .trying import Slot

MOST_MODES = 16
Way = bool | str
"""What a switch is set to: on or off, given or not, or a text."""
_RANKS: Mapping[str, tuple[int, ...]] = {
    "draft": (2, 1),
    "target": (2, 1),
    "nodes": (2, 1),
    "child": (2, 1),
    "sibling": (2, 1),
    "parent": (2, 1),
    "target_rows": (2, 3),
    "draft_rows": (3, 2),
    "uniform": (2, 1),
    "bonus": (1, 2),
    "temperature": (1, 2),
    "unused": (2, 1),
}
"""Dimensions in which a role is given, the usual ones first; others are vectors."""
_FORMS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "target_logits": (("target_rows", "logits"),),
    "target_probs": (("target_rows", "probs"),),
    "draft_logits": (("draft_rows", "logits"),),
    "draft_probs": (("draft_rows", "probs"),),
    "ends": (("bounds", "ends"),),
    "starts": (("bounds", "starts"),),
}
"""Roles that come in forms."""
_GIVEN: Mapping[str, Choice] = {
    "list": Choice("lengths"),
    "mapping": Choice("value", value={}),
    "device": Choice("value", value="device"),
}
"""What is given whatever the default is."""
_OTHERWISE: Mapping[str, Choice] = {"unused": Choice("unused", 2), "float": Choice("value", value=1.0)}
"""What is given where there is no default."""
_NUMBERS = ("drafts", "nodes", "forced", "vocab", "batch")


class BadSubject(ValueError):
    """What came is no function to test."""


@dataclass(frozen=True)
class Asked:
    """One parameter, as `recon` read it off the source."""

    name: str
    kind: str
    roles: tuple[str, ...]
    rank: int
    least: int
    optional: bool
    default: str
    options: tuple[str, ...] = ()
    """Texts that it is compared with."""

    @property
    def ways(self) -> tuple[Way, ...]:
        """What it may be switched to, the usual first: on or off, given or not, a text; empty where it is no switch."""
        if self.kind == "bool":
            return (True, False) if self.default == "True" else (False, True)
        if self.kind == "tensor" and self.optional:
            return (False, True) if self.default == "None" else (True, False)
        if self.kind in ("str", "any") and self.options:
            known = self.default.strip("'\"")
            others = tuple(each for each in self.options if each != known)
            return ("", *others) if self.default else others
        return ()


@dataclass(frozen=True)
class Subject:
    """One function to test."""

    function: str
    module: str
    text: str
    parameters: tuple[Asked, ...]
    seconds: float
    """What the search for its reading may take."""
    name: str = ""
    """Its place in the engine."""
    call: Call | None = None
    """How it was found to be called, where it is to be timed, or was begun by another process."""
    begin: int = 0
    """The setting of its switches, by number, to begin at."""


def decode(text: str) -> Subject:
    """A subject from JSON.

    Raises:
        BadSubject: it is none.
    """
    try:
        data = json.loads(text)
        parameters = tuple(
            Asked(**{**each, "roles": tuple(map(str, each["roles"])), "options": tuple(map(str, each["options"]))})
            for each in data.pop("parameters")
        )
        call = data.pop("call", None)
        return Subject(parameters=parameters, call=call_of(call) if call else None, **data)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise BadSubject(f"no subject: {error}") from None


def load(subject: Subject, folder: Path) -> tuple[Callable[..., Any], str, str]:
    """The function, how it was come by (`imported` or `cut`), and why it was not imported.

    Raises:
        Exception: the cut module does not run either.
    """
    why = ""
    if subject.module:
        try:
            function = getattr(importlib.import_module(subject.module), subject.function)
        except Exception as error:  # noqa: BLE001  an engine may raise anything while it is imported
            why = f"{type(error).__name__}: {error}"[:300]
        else:
            return function, "imported", ""
    path = folder / f"cut_{subject.function.lstrip('_')}.py"
    path.write_text(subject.text, encoding="utf-8")  # a file, since Triton reads the source of its functions
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise BadSubject(f"{path} cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return getattr(module, subject.function), "cut", why


def modes(parameters: Sequence[Asked]) -> Iterator[dict[str, Way]]:
    """Settings of the switches, the default setting first, then those in which the fewest are turned."""
    yield from itertools.islice(_modes({each.name: each.ways for each in parameters if each.ways}), MOST_MODES)


def _modes(ways: Mapping[str, tuple[Way, ...]]) -> Iterator[dict[str, Way]]:
    usual = {name: each[0] for name, each in ways.items()}
    names = sorted(ways, key=lambda name: not name.count("."))  # attributes of an object say what is asked for
    for many in range(len(names) + 1):
        for turned in itertools.combinations(names, many):
            for taken in itertools.product(*(ways[name][1:] for name in turned)):
                yield usual | dict(zip(turned, taken, strict=True))


def slots(parameters: Sequence[Asked], mode: Mapping[str, Way]) -> list[Slot]:
    """What each parameter may be given in one setting of the switches."""
    return [Slot(each.name, tuple(_choices(each, mode))) for each in parameters]


def _choices(asked: Asked, mode: Mapping[str, Way]) -> Iterator[Choice]:
    way = mode.get(asked.name)
    if way is not None and asked.kind == "bool":
        yield Choice("value", value=way)
    elif isinstance(way, str):
        yield Choice("text", value=way) if way else Choice("default")
    elif asked.name in mode and not mode[asked.name]:
        yield Choice("value", value=None)
    elif asked.kind == "tensor":
        yield from _tensors(asked)
    elif asked.kind in _GIVEN:
        yield _GIVEN[asked.kind]
    elif asked.default:
        yield Choice("default")
        if asked.kind in ("int", "float"):  # the default may be one that asks for nothing
            yield from (Choice("value", value=name) for name in _NUMBERS)
    elif asked.kind in _OTHERWISE:
        yield _OTHERWISE[asked.kind]
    else:
        vector = [Choice("temperature")] if asked.kind == "any" else []
        counts = [Choice("value", value=name) for name in _NUMBERS]
        # An attribute is rather an array of the batch's requests, a parameter rather a number.
        yield from (*vector, *counts) if "." in asked.name else (*counts, *vector)


def _tensors(asked: Asked) -> Iterator[Choice]:
    for role in asked.roles:
        if role == "out":
            yield from (Choice("out", rank, form) for rank, form in _outs(asked))
            continue
        for kind, form in _FORMS.get(role, ((role, ""),)):
            for rank in _RANKS.get(kind, (1,)):
                if rank >= asked.least and asked.rank in (0, rank):
                    yield Choice(kind, rank, form)


def _outs(asked: Asked) -> Iterator[tuple[int, str]]:
    if asked.rank == 2 or asked.least == 2:
        yield from ((2, "depth"), (2, "nodes"))
    else:
        yield 1, "flat"
        if not asked.rank:
            yield 2, "nodes"
