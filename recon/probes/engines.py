"""Behaviours in, entries out: each function of an engine that follows a rule is timed beside our kernel for it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from recon.kernels.wire import ENGINE, Axes, Entry, Plan
from recon.probes.behaviour import calls_of, named, read, subject_of
from recon.probes.linear_vs_tree import LINEAR, TREE_AUTO, awkward, case
from recon.probes.plan import QUICK, Level, held_bytes
from recon.probes.probe import Subject
from recon.probes.sampling import BLOCK, CHAIN, ROUNDS, TARGET_ONLY
from recon.records.cut import CutFunction
from recon.records.model import Model

_CHAINS = (case(1, 8), case(64, 8), case(16, 8), case(64, 8, accepted=0))
_TREES = (case(1, 64), case(64, 8), case(1, 8), case(16, 64), case(1, 256), case(64, 64))
_QUICK = 2
_SMALL: tuple[Axes, ...] = (
    awkward(3, 6, 300, "bf16", accepted=2, depth=4),
    awkward(2, 9, 131, "fp32", accepted=0, depth=4),
    awkward(1, 5, 2_100, "fp16", accepted=-1, depth=4),
)
"""Small enough for the interpreter."""


@dataclass(frozen=True, slots=True)
class Opponent:
    """What a rule of an engine is timed beside."""

    ours: Subject
    cases: tuple[Axes, ...]
    more: Axes
    """Axes of all its cases."""


_BY_CHANCE: Axes = {"temperature": 1}
OPPONENTS: Mapping[str, Opponent] = {
    "chain greedy": Opponent(LINEAR, _CHAINS, {}),
    "tree greedy": Opponent(TREE_AUTO, _TREES, {}),
    "chain stochastic with draft probabilities": Opponent(CHAIN, _CHAINS, _BY_CHANCE),
    "chain stochastic without draft probabilities": Opponent(CHAIN, _CHAINS, {**_BY_CHANCE, "drafter": "none"}),
    "chain block": Opponent(BLOCK, _CHAINS, {**_BY_CHANCE, "values": "drawn"}),
    "tree stochastic with draft probabilities": Opponent(ROUNDS, _TREES, {**_BY_CHANCE, "values": "drawn"}),
    "tree stochastic without draft probabilities": Opponent(TARGET_ONLY[-1], _TREES, _BY_CHANCE),
}
"""By rule, as a child says it. A forced length is no work that a kernel could do better."""


def with_engines(
    plan: Plan,
    functions: Sequence[CutFunction],
    answers: Mapping[int, str],
    level: Level,
    *,
    model: Model | None = None,
    tp: int = 1,
) -> Plan:
    """The plan with entries for the engines' functions behind its own, each beside ours.

    On a GPU both are timed; in the interpreter the engine's is compared on small cases of the same kind.

    Args:
        plan: What is done without them.
        functions: What was cut, as for the plan of behaviours.
        answers: What that plan's children said, by entry.
        level: How much of the GPU it may take.
        model: Whose shapes take the place of those of the cases.
        tp: GPUs that share it.
    """
    shapes = model.axes(tp) if model else {}
    entries, subjects = list(plan.entries), list(plan.subjects)
    for function, call in _calls(functions, answers):
        rule = str(call["rule"])
        opponent, place = OPPONENTS[rule], named(function)
        subject = len(subjects)
        subjects.append(subject_of(function, name=place, call=call))
        sides = [(Subject(opponent.ours.kernel, f"{ENGINE}{place}"), "baseline")]
        if plan.mode == "gpu":
            sides.append((opponent.ours, "subject"))
        for axes in _cases(opponent, plan, level, shapes):
            whole: Axes = {**axes, "rule": rule}
            for side, role in sides:
                entries.append(Entry(len(entries), place, role, side.kernel, side.variant, whole, subject))
    return replace(plan, entries=tuple(entries), subjects=tuple(subjects))


def _cases(opponent: Opponent, plan: Plan, level: Level, shapes: Axes) -> list[Axes]:
    """Cases of the level, each once, that fit the memory that the plan may take."""
    if plan.mode != "gpu":
        return [{**each, **opponent.more} for each in _SMALL]
    found: list[Axes] = []
    for each in opponent.cases[: _QUICK if level.name == QUICK.name else None]:
        whole = {**each, **{name: value for name, value in shapes.items() if name in each}, **opponent.more}
        if whole not in found and held_bytes(opponent.ours.kernel, whole) <= plan.memory_limit_bytes:
            found.append(whole)
    return found


def _calls(
    functions: Sequence[CutFunction], answers: Mapping[int, str]
) -> Iterator[tuple[CutFunction, dict[str, object]]]:
    """Functions with the ways of calling them that showed a rule; one that lies in two trees alike is taken once."""
    able = [function for function in functions if function.text]
    done: set[tuple[str, str, str]] = set()
    for number, function in enumerate(able):
        for call in calls_of(read(answers.get(number, ""))):
            key = (named(function), function.text, str(call["rule"]))
            if call["rule"] in OPPONENTS and key not in done:
                done.add(key)
                yield function, call
