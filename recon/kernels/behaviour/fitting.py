"""Which rule explains what was said: the laws set against frequencies."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from .laws import LAWS, Law, Outcome, Situation

SURE_ENOUGH = math.log(1e6)
"""How much likelier, as a logarithm, the best rule must be than the next."""


def judged(said: Sequence[Mapping[Outcome | None, int]], situations: Sequence[Situation]) -> tuple[str, str]:
    """The rule that explains what was said, or '' and why none does.

    The rules' laws are set against each other by the likelihood of the accepted paths, and the best one must also
    give each outcome, token included, as often as it was seen.
    """
    chances: dict[str, float] = {}
    laws: dict[str, list[Law]] = {}
    for name, law in LAWS.items():
        if name in ("block", "forced") and not all(each.is_chain for each in situations):
            continue
        laws[name] = [law(each) for each in situations]
        chances[name] = sum(_likelihood(counted, each) for counted, each in zip(said, laws[name], strict=True))
    ranked = sorted(chances, key=lambda name: -chances[name])
    best = ranked[0]
    measured = [_strays(counted, law) for counted, law in zip(said, laws[best], strict=True)]
    strays, freedom = sum(each for each, _ in measured), sum(each for _, each in measured)
    if strays > freedom + 5.0 * math.sqrt(2.0 * freedom) + 15.0:  # less than one in a million by chance
        return (
            "",
            f"{best} comes nearest, yet its paths stray from it by G = {strays:.0f} at {freedom} degrees of freedom",
        )
    compared = zip(said, laws[best], situations, strict=True)
    wrong = next(filter(None, (_off(counted, law, each) for counted, law, each in compared)), "")
    if wrong:
        return "", f"{best} comes nearest, yet {wrong}"
    rivals = [name for name in ranked[1:] if chances[best] - chances[name] < SURE_ENOUGH]
    if rivals:
        return "", f"{best} and {' and '.join(rivals)} explain the answers alike"
    return best, ""


def _likelihood(counted: Mapping[Outcome | None, int], law: Law) -> float:
    by_path: dict[Any, float] = {}
    for (path, _), chance in law.items():
        by_path[path] = by_path.get(path, 0.0) + chance
    total = 0.0
    for outcome, times in counted.items():
        total += times * math.log(max(by_path.get(outcome[0], 0.0) if outcome else 0.0, 1e-9))
    return total


def _strays(counted: Mapping[Outcome | None, int], law: Law) -> tuple[float, int]:
    """The G statistic of the accepted paths against a law, and its degrees of freedom."""
    total = sum(counted.values())
    chances: Counter[Any] = Counter()
    times: Counter[Any] = Counter()
    for (path, _), chance in law.items():
        chances[path] += chance  # type: ignore[assignment]
    for outcome, seen in counted.items():
        times[outcome[0] if outcome else None] += seen
    strays = sum(2.0 * seen * math.log(seen / (total * max(chances[path], 1e-9))) for path, seen in times.items())
    return strays, max(0, len([path for path in chances if chances[path] > 0]) - 1)


def _off(counted: Mapping[Outcome | None, int], law: Law, situation: Situation) -> str:
    """Where the frequencies are not those of a law; '' where they are, up to five standard deviations."""
    total = sum(counted.values())
    merged: Counter[Any] = Counter()
    loose = any(token is None for _, token in law)
    for outcome, times in counted.items():
        merged[(outcome[0], None) if outcome and loose else outcome] += times
    for outcome in {*merged, *law}:
        chance, times = (law.get(outcome, 0.0) if outcome else 0.0), merged[outcome]
        bound = 5.0 * math.sqrt(total * chance * (1.0 - chance)) + (3.0 if chance > 1e-4 else 0.0)
        if abs(times - total * chance) > bound:
            what = f"path {list(outcome[0])} then {outcome[1]}" if outcome else "no outcome"
            return f"on `{situation.name}` {what} came {times} times of {total}, by that rule {total * chance:.1f}"
    return ""
