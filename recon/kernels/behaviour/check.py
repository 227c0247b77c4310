"""One function under test: how it is called, then which rule it follows under each setting of its switches."""

import itertools
import json
import tempfile
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch

from .call import Call
from .cases import soft_chains, soft_trees, sure_chains, sure_trees
from .interpreted import supply
from .laws import Situation
from .roles import SHORT
from .subject import Asked, Subject, Way, decode, load, modes, slots
from .trying import Found, Search, Slot

MOST_FOUND = 40
"""Readings that answer like a rule where all is certain, and are tried where it is not."""
LINKS = frozenset(("child", "sibling", "parent"))
_ROWS = frozenset(("target_rows", "rates"))


@dataclass(frozen=True)
class Shown:
    """One rule that a function was seen to follow."""

    rule: str
    """e.g. `chain greedy`; '' where the answers are those of no rule."""
    why: str
    """Why it is no rule, '' otherwise."""
    switches: dict[str, str]
    reading: dict[str, str]
    outputs: str
    call: dict[str, Any]
    """The same for a plan that times it."""
    sure: int
    """Crafted requests whose answers were exactly those of the rule."""
    soft: int
    """Requests whose answers follow the rule's probabilities; 0 where the rule leaves nothing to chance."""


@dataclass(frozen=True)
class Result:
    """What was learned of one function."""

    function: str
    how: str
    not_imported: str
    shown: tuple[Shown, ...]
    calls: int
    seconds: float
    why: str
    """Why nothing was shown; '' otherwise."""
    go_on: int = 0
    """The setting of switches, by number, at which another process is to go on; 0 for none.

    A call that breaks the device breaks it for its whole process: so does a null pointer, where a switch is turned
    without the array that belongs to it.
    """


def check(subject: Subject, folder: Path, device: torch.device, *, pretends: bool) -> Result:
    """Test one function. Whatever it does is a result."""
    begin, started = time.monotonic(), time.process_time()
    try:
        function, how, why = load(subject, folder)
    except Exception as error:  # noqa: BLE001  the engine's code may raise anything
        return Result(
            subject.function,
            "",
            "",
            (),
            0,
            time.monotonic() - begin,
            f"it cannot be loaded: {type(error).__name__}: {error}"[:500],
        )
    session = _Session(subject, Search(function, device, pretends, started + subject.seconds), _known(subject))
    shown = tuple(session.run())
    tried = session.search.tried
    reason = ""
    if not shown:
        lost = "; a wrong reading broke the device for this process" if session.search.lost else ""
        common = "; ".join(f"{words} ({times} times)" for words, times in tried.failures.most_common(3))
        reason = f"no reading of its parameters gives the answers of a rule, {tried.calls} calls tried: {common}{lost}"
    spent = time.monotonic() - begin
    return Result(subject.function, how, why, shown, tried.calls, spent, reason, session.go_on)


def _short(slot: Slot) -> Slot:
    """A slot whose drafted tokens are short integers."""
    return Slot(slot.name, tuple(replace(each, form=SHORT) if each.role == "draft" else each for each in slot.choices))


def _known(subject: Subject) -> Found | None:
    """What another process found of it."""
    call = subject.call
    return Found(call.reading, call.rooted, call.outputs, is_forced=False) if call else None


def answer(subject: str, device: torch.device) -> str:
    """Test one function that came as JSON; what was learned, as JSON."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    if device.type == "cpu":
        supply()
    with tempfile.TemporaryDirectory(prefix="cut-") as folder:
        result = check(decode(subject), Path(folder), device, pretends=device.type == "cpu")
    return json.dumps(asdict(result))


@dataclass
class _Session:
    subject: Subject
    search: Search
    known: Found | None
    """A way of calling it that showed a rule."""
    go_on: int = 0

    def run(self) -> list[Shown]:
        """Go through the settings of the switches."""
        shown: list[Shown] = []
        every = [(mode, slots(self.subject.parameters, mode)) for mode in modes(self.subject.parameters)]
        every = [(mode, asked) for mode, asked in every if all(slot.choices for slot in asked)]
        end = self.search.until
        for number, (mode, asked) in enumerate(every):
            now = time.process_time()
            if now >= end:
                break
            if number < self.subject.begin:
                continue
            # A setting that leads nowhere must leave time for the others.
            self.search.until = end if number == len(every) - 1 else now + (end - now) * 0.5
            shown += self.under(mode, asked)
            if self.search.lost:
                self.go_on = number + 1 if number + 1 < len(every) else 0
                break
        return _distinct(shown)

    def under(self, mode: dict[str, Way], asked: list[Slot]) -> list[Shown]:
        """The rules under one setting: of the first reading that shows one; what is known from another is kept."""
        if self.known is not None:
            asked = [self.narrowed(slot) for slot in asked]
        shown = self.searched(mode, asked)
        if any(each.rule for each in shown):
            return shown
        # Types of tokens that differ are no fault to the interpreter, and one to the compiler.
        return self.searched(mode, [_short(slot) for slot in asked]) or shown

    def searched(self, mode: dict[str, Way], asked: list[Slot]) -> list[Shown]:
        """The rules of the first reading that shows one; those that follow none, where none does."""
        links = {choice.role for slot in asked for choice in slot.choices[:1]} & LINKS
        make = sure_trees if links else sure_chains
        poor: list[Shown] = []
        for found in itertools.islice(self.search.find(asked, make(1), make(2)), MOST_FOUND):
            shown = self.rules(found, mode)
            if any(each.rule for each in shown):
                self.known = self.known or found
                return shown
            poor = poor or shown
        return poor

    def narrowed(self, slot: Slot) -> Slot:
        """A slot with the choice that was found before, where it still may be given; a default is no finding."""
        assert self.known is not None
        before = self.known.reading.get(slot.name)
        may_be = (*slot.choices, *_short(slot).choices)
        if before is not None and before.role != "default" and before in may_be:
            return Slot(slot.name, (before,))
        return slot

    def rules(self, found: Found, mode: dict[str, Way]) -> list[Shown]:
        """The rule under this setting, and that at temperature 0 where there is one."""
        roles = {choice.role for choice in found.reading.values()}
        kind = "tree" if roles & LINKS else "chain"
        sure = 2 * len(sure_trees(1) if kind == "tree" else sure_chains(1))
        reading = {name: choice.words() for name, choice in found.reading.items()}
        plain = Shown("", "", self.switches(found, mode), reading, found.outputs.words(), {}, sure, 0)
        if not roles & _ROWS:
            return [_ruled(plain, found, _named(kind, "forced" if found.is_forced else "greedy"), 1.0)]
        soft: list[Situation] = soft_trees() if kind == "tree" else soft_chains()
        made = []
        for temperature in (1.0, 0.0) if "temperature" in roles else (1.0,):
            if temperature == 0.0:
                plain = replace(plain, switches={**plain.switches, "temperature": "0"})
            rule, why, asked = self.search.rule(found, soft, temperature)
            judged = replace(plain, why=why, soft=0 if rule == "greedy" else asked)
            made.append(_ruled(judged, found, _named(kind, rule), temperature))
            if not rule and temperature:
                break
        return made

    def switches(self, found: Found, mode: dict[str, Way]) -> dict[str, str]:
        """The setting in words."""
        kinds: dict[str, Asked] = {each.name: each for each in self.subject.parameters}
        return {
            name: "given" if kinds[name].kind == "tensor" and way else found.reading[name].words()
            for name, way in mode.items()
        }


def _ruled(shown: Shown, found: Found, rule: str, temperature: float) -> Shown:
    """What was shown, with the rule and the call that shows it."""
    call = Call(rule, found.reading, found.rooted, found.outputs, temperature)
    return replace(shown, rule=rule, call=call.plain() if rule else {})


def _named(kind: str, rule: str) -> str:
    """A rule of chains or of trees, as results say it."""
    return f"{kind} {rule if rule in ('greedy', 'block', 'forced') else f'stochastic {rule}'}" if rule else ""


def _distinct(shown: list[Shown]) -> list[Shown]:
    """One line a rule, the first setting that shows it; of settings that follow none the first alone."""
    kept: dict[str, Shown] = {}
    for each in shown:
        kept.setdefault(each.rule, each)
    return [each for each in kept.values() if each.rule or len(kept) == 1]
