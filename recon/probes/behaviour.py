"""Cut functions in, behaviours out: each is called in a child of its own, and its answers are set against verdicts."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from recon.kernels.wire import SCHEMA_VERSION, Entry, Plan
from recon.records.behaviour import Behaviour, Claim, ShownRule
from recon.records.cut import CutFunction

ROLE = "behaviour"
SECONDS = 120.0
"""What the search for one function's reading may take of its process's own time."""
PATIENCE_S = 900.0
"""How long a child may say nothing: it imports an engine, and searches."""
GRACE_S = 60.0
RULE_OF: Mapping[str, tuple[str, ...]] = {
    "accept.linear.greedy": ("chain greedy",),
    "accept.linear.stochastic": (
        "chain stochastic with draft probabilities",
        "chain stochastic without draft probabilities",
    ),
    "accept.block": ("chain block",),
    "accept.synthetic": ("chain forced",),
    "accept.tree.greedy": ("tree greedy",),
    "accept.tree.stochastic": (
        "tree stochastic with draft probabilities",
        "tree stochastic without draft probabilities",
    ),
}
"""Rules that show a capability. What is missing here has no law yet: of it the check can say nothing."""


_KNOWN = frozenset(rule for rules in RULE_OF.values() for rule in rules)


def plan_behaviours(
    functions: Sequence[CutFunction],
    mode: str,
    *,
    gpu: str = "",
    allow_busy: bool = False,
    seconds: float = SECONDS,
) -> Plan:
    """What the payload is to call: functions that could not be cut are left out.

    Args:
        functions: What was cut.
        mode: `interpret` or `gpu`.
        gpu: Index or UUID.
        allow_busy: Whether others may be on the GPU.
        seconds: What the search for one function's reading may take.
    """
    able = [function for function in functions if function.text]
    entries = tuple(Entry(number, ROLE, ROLE, f"engine_{number}", str(number), {}) for number, _ in enumerate(able))
    return Plan(
        schema_version=SCHEMA_VERSION,
        mode=mode,
        gpu=gpu,
        allow_busy=allow_busy,
        entries=entries,
        checks=(),
        archs=(),
        seed=0,
        samples=0,
        memory_limit_bytes=0,
        memory_fraction=0.0,
        deadline_s=len(able) * (seconds + GRACE_S),
        patience_s=max(PATIENCE_S, 4 * seconds),
        subjects=tuple(subject_of(function, seconds=seconds) for function in able),
    )


def subject_of(function: CutFunction, *, seconds: float = SECONDS, imports: bool = True) -> str:
    """A function as JSON for the payload."""
    return json.dumps(
        {
            "function": function.symbol,
            "module": function.module if imports else "",
            "text": function.text,
            "parameters": [asdict(each) for each in function.parameters],
            "seconds": seconds,
        }
    )


def behaviours_of(
    functions: Sequence[CutFunction],
    standings: Mapping[tuple[str, str], str],
    mode: str,
    answers: Mapping[int, str],
    failures: Mapping[int, str],
) -> tuple[Behaviour, ...]:
    """What the payload said of each function, those that could not be cut among them.

    Args:
        functions: What was cut, as for the plan.
        standings: By install and capability.
        mode: `interpret` or `gpu`.
        answers: By entry.
        failures: Why an entry has none.
    """
    found = []
    number = 0
    for function in functions:
        said: dict[str, Any] = {"why": f"it could not be cut: {function.refused}"}
        if function.text:
            said = read(answers[number]) if number in answers else {"why": failures.get(number, "it was not called")}
            number += 1
        own = {capability: each for (install, capability), each in standings.items() if install == function.install}
        found.append(behaviour_of(function, own, mode, said))
    return tuple(found)


def read(text: str) -> dict[str, Any]:
    """A child's answer; it ran the engine's code, so nothing of it is taken on trust."""
    try:
        answer = json.loads(text)
    except ValueError:
        answer = None
    return answer if isinstance(answer, dict) else {"why": "its child answered with something else than a result"}


def behaviour_of(
    function: CutFunction, standings: Mapping[str, str], mode: str, answer: Mapping[str, Any]
) -> Behaviour:
    """An answer as a record, with what it says of the verdicts that rest on the function."""
    rules = tuple(_rule(each) for each in _list(answer.get("shown")) if isinstance(each, dict))
    unlike = next(
        (
            str(each.get("why", ""))
            for each in _list(answer.get("shown"))
            if isinstance(each, dict) and not each.get("rule")
        ),
        "",
    )
    why = str(answer.get("why", "")) or (unlike if not any(rule.rule for rule in rules) else "")
    rules = tuple(rule for rule in rules if rule.rule in _KNOWN)
    how = str(answer.get("how", ""))
    return Behaviour(
        install=function.install,
        path=function.path,
        symbol=function.symbol,
        line=function.line,
        covers=function.covers,
        how=how if how in ("cut", "imported") else "",
        mode=mode,
        rules=rules,
        claims=tuple(claim(each, standings.get(each, ""), rules, why) for each in function.capabilities),
        taken=function.taken if how != "imported" else (),
        replaced=function.replaced if how != "imported" else (),
        why=why[:1000],
    )


def claim(capability: str, standing: str, rules: Iterable[ShownRule], why: str) -> Claim:
    """What the rules that a function was seen to follow say of a verdict that rests on it."""
    seen = [rule.rule for rule in rules]
    wanted = RULE_OF.get(capability, ())
    shown = [rule for rule in seen if rule in wanted]
    if not wanted:
        return Claim(capability, standing, "cannot_tell", "the check knows no law of this rule")
    if shown:
        is_said = standing in ("present", "partial")
        words = (
            f"it follows the rule: {shown[0]}"
            if is_said
            else f"it follows a rule that it is said not to have: {shown[0]}"
        )
        return Claim(capability, standing, "agrees" if is_said else "contradicts", words)
    if seen and not _has_other_branches(seen, wanted):
        return Claim(
            capability,
            standing,
            "contradicts",
            f"the only rule that it was seen to follow is another one: {', '.join(seen)}",
        )
    return Claim(
        capability,
        standing,
        "cannot_tell",
        why or f"seen was only {', '.join(seen)}: a setting that shows more was not found",
    )


def _has_other_branches(seen: Sequence[str], wanted: Sequence[str]) -> bool:
    """Whether the rule wanted may lie under a setting that was not found: a forced length hides behind a switch."""
    return any("forced" in rule for rule in wanted) or len(set(seen)) > 1


def _rule(each: Mapping[str, Any]) -> ShownRule:
    return ShownRule(
        rule=str(each.get("rule", ""))[:80],
        switches=_words(each.get("switches")),
        reading=_words(each.get("reading")),
        outputs=str(each.get("outputs", ""))[:300],
        cases=_count(each.get("sure")),
        draws=_count(each.get("soft")),
    )


def _list(value: object) -> list[Any]:
    return value[:64] if isinstance(value, list) else []


def _words(value: object) -> dict[str, str]:
    return {str(k)[:100]: str(v)[:200] for k, v in list(value.items())[:64]} if isinstance(value, dict) else {}


def _count(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else 0
