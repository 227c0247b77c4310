"""Calling a function whose parameters' parts are not all known: likeliest first, until its answers are consistent.

On requests of which target and draft are sure, all rules of acceptance give the same answers; so these find out how the
function is called, and the soft ones after that tell which rule it follows. A reading counts only if the answers are
exactly those of a rule on every crafted request.
"""

import itertools
import math
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import torch

from .answers import OutputReading, Outputs, outcomes, outputs_of, readings
from .batch import batch_of
from .call import Reading
from .fitting import judged
from .laws import LAWS, Outcome, Situation
from .roles import Choice, Requests

CALL_S = 40.0
"""What one call may take of this process's own time, its compilation counted: a busy machine is no slow function."""
MOST_TRIES = 4000
REPEATS = 15
"""How often each soft request is asked in one call."""
MOST_ROUNDS = 8
ONCE = frozenset(
    ("draft", "target", "child", "sibling", "parent", "target_rows", "draft_rows", "bonus", "rates", "nodes")
)
"""Roles that one parameter has at most."""


@dataclass(frozen=True)
class Slot:
    """One parameter with what it may be given, the likeliest first."""

    name: str
    choices: tuple[Choice, ...]


@dataclass
class Tried:
    """How a search went."""

    calls: int = 0
    failures: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True)
class Found:
    """A way of calling a function in which it answers like a rule."""

    reading: Reading
    rooted: bool
    outputs: OutputReading
    is_forced: bool
    """Whether its answers were those of a forced length, not those of the tokens."""


class TooLong(BaseException):
    """A call took too long."""


def likeliest_first(slots: Sequence[Slot], until: float = math.inf) -> Iterator[Reading]:
    """All readings, those with the likeliest choices first; roles that stand once stand once.

    Args:
        slots: The parameters.
        until: Moment of this process's own time at which it ends: there may be nothing to find.
    """
    most = sum(len(slot.choices) - 1 for slot in slots)
    for cost in range(most + 1):
        for reading in _costing(slots, cost, {}, frozenset(), until):
            yield {slot.name: reading[slot.name] for slot in slots}
        if time.process_time() > until:
            return


def _is_whole(reading: Reading) -> bool:
    """Whether a reading gives drafted tokens and something of the target."""
    roles = {choice.role for choice in reading.values()}
    return "draft" in roles and bool(roles & {"target", "target_rows"})


def _costing(
    slots: Sequence[Slot], cost: int, chosen: Reading, taken: frozenset[str], until: float
) -> Iterator[Reading]:
    """Readings of which the places of the choices add up to a cost."""
    if not slots:
        if cost == 0:
            yield chosen
        return
    first, rest = slots[0], slots[1:]
    left = sum(len(slot.choices) - 1 for slot in rest)
    # A role that is given away costs nothing: of two arrays that could be the target's, one is.
    open_ = [choice for choice in first.choices if choice.role not in taken]
    for place, choice in enumerate(open_[: cost + 1]):
        if cost - place <= left and time.process_time() <= until:
            now = taken | {choice.role} if choice.role in ONCE else taken
            yield from _costing(rest, cost - place, {**chosen, first.name: choice}, now, until)


def given(values: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments by name, of values by name: what is called `x.y` becomes the attribute y of what is given as x."""
    made: dict[str, Any] = {}
    for name, value in values.items():
        owner, dot, attribute = name.partition(".")
        if dot:
            setattr(made.setdefault(owner, SimpleNamespace()), attribute, value)
        else:
            made[name] = value
    return made


def called(function: Callable[..., Any], reading: Reading, batch: Requests) -> Outputs:
    """Call a function once.

    Raises:
        Exception: whatever the function raises.
        TooLong: it took too long.
    """
    values = {name: batch.value(choice) for name, choice in reading.items() if choice.role != "default"}
    arguments = given(values)
    returned = _within(lambda: function(**arguments))
    return outputs_of(returned, {name: values[name] for name, choice in reading.items() if choice.role == "out"})


def _within(call: Callable[[], Any]) -> Any:
    def late(_number: int, _frame: object) -> None:
        raise TooLong

    before = signal.signal(signal.SIGVTALRM, late)
    signal.setitimer(signal.ITIMER_VIRTUAL, CALL_S)
    try:
        return call()
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
        signal.signal(signal.SIGVTALRM, before)


@dataclass
class Search:
    """Tries readings of one function."""

    function: Callable[..., Any]
    device: torch.device
    pretends: bool
    until: float
    """Moment of this process's own time at which it ends."""
    tried: Tried = field(default_factory=Tried)
    lost: bool = False
    """Whether a wrong reading broke the device for this process: then nothing that follows says anything."""

    def find(
        self, slots: Sequence[Slot], situations: Sequence[Situation], fresh: Sequence[Situation]
    ) -> Iterator[Found]:
        """Readings in which the function answers like a rule, on one set of requests and on a fresh one."""
        for reading in itertools.islice(filter(_is_whole, likeliest_first(slots, self.until)), MOST_TRIES):
            for rooted in (True, False):
                if self.lost or time.process_time() > self.until:
                    return
                found = self.fits(reading, situations, rooted=rooted)
                if found is not None and self.fits(reading, fresh, rooted=rooted, only=found.outputs) is not None:
                    yield found

    def fits(
        self, reading: Reading, situations: Sequence[Situation], *, rooted: bool, only: OutputReading | None = None
    ) -> Found | None:
        """The way in which outputs are read, if a reading makes the function answer like a rule."""
        outputs = self.outputs(reading, situations, rooted=rooted)
        if outputs is None:
            return None
        for is_forced, expected in ((False, _matched(situations)), (True, _forced(situations))):
            for output in readings(outputs, expected, situations) if expected else ():
                if only is None or output == only:
                    return Found(reading, rooted, output, is_forced)
        self.tried.failures["its answers are those of no rule"] += 1
        return None

    def outputs(
        self,
        reading: Reading,
        situations: Sequence[Situation],
        *,
        rooted: bool,
        seed: int = 0,
        temperature: float = 1.0,
    ) -> Outputs | None:
        """What a call gives back; None where it fails."""
        batch = batch_of(
            situations, self.device, rooted=rooted, pretends=self.pretends, temperature=temperature, seed=seed
        )
        self.tried.calls += 1
        try:
            return called(self.function, reading, batch)
        except TooLong:
            self.tried.failures[f"a call took more than {CALL_S:.0f} s"] += 1
        except Exception as error:  # noqa: BLE001  a wrong reading may raise anything
            self.lost |= "CUDA error" in str(error)
            self.tried.failures[
                f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"[:200]
            ] += 1
        return None

    def rule(self, found: Found, situations: Sequence[Situation], temperature: float = 1.0) -> tuple[str, str, int]:
        """The rule whose law fits the answers to soft requests, why none does, and how many requests were asked."""
        said: list[Counter[Outcome | None]] = [Counter() for _ in situations]
        many = [each for each in situations for _ in range(REPEATS)]
        rule, why, asked = "", "no request was asked", 0
        for seed in range(1, MOST_ROUNDS + 1):
            outputs = self.outputs(found.reading, many, rooted=found.rooted, seed=seed, temperature=temperature)
            if outputs is None:
                return "", "a call on soft requests failed", asked
            asked += len(many)
            for number, outcome in enumerate(outcomes(outputs, found.outputs, many)):
                said[number // REPEATS][outcome] += 1
            rule, why = judged(said, situations)
            if rule or " alike" not in why or time.process_time() > self.until:
                break
        return rule, why, asked


def _matched(situations: Sequence[Situation]) -> list[Outcome]:
    return [next(iter(LAWS["greedy"](each))) for each in situations]


def _forced(situations: Sequence[Situation]) -> list[Outcome]:
    """What a forced length gives; nothing for trees, where it says no path."""
    return [next(iter(LAWS["forced"](each))) for each in situations if each.is_chain]
