"""Cut functions in, behaviours out: each is called in a child of its own, and its answers are set against verdicts."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from types import MappingProxyType
from typing import Any

from recon.errors import ReconError
from recon.kernels.wire import ENGINE, SCHEMA_VERSION, Entry, Plan
from recon.probes.complaint import in_a_line
from recon.probes.run import ProbeResult
from recon.records.behaviour import Behaviour, Claim, ShownRule
from recon.records.cut import CutFunction
from recon.records.unknown import REST, Unknown

ROLE = "behaviour"
SECONDS = 120.0
"""What the search for one function's reading may take of its process's own time."""
PATIENCE_S = 900.0
"""How long a child may say nothing: it imports an engine, and searches."""
GRACE_S = 60.0
MOST_AGAIN = 4
"""How often another process goes on where one broke its device."""
MOST_CALL_BYTES = 20_000
"""Of what a child says about how a function is called."""
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


_WHEN_SURE: Mapping[str, tuple[str, ...]] = {
    "accept.linear.greedy": (*RULE_OF["accept.linear.stochastic"], *RULE_OF["accept.block"]),
    "accept.tree.greedy": RULE_OF["accept.tree.stochastic"],
}
"""Rules that are greedy where the target is sure of its tokens, which a partial standing says of them."""
_KNOWN = frozenset(rule for rules in RULE_OF.values() for rule in rules)


def behaved(
    functions: Sequence[CutFunction],
    mode: str,
    carry: Callable[[Plan], ProbeResult],
    *,
    gpu: str = "",
    allow_busy: bool = False,
    seconds: float = SECONDS,
) -> ProbeResult:
    """Have the payload call functions; where a call broke the device for its process, another one goes on behind it.

    Args:
        functions: What was cut.
        mode: `interpret` or `gpu`.
        carry: Carries a plan out.
        gpu: Index or UUID.
        allow_busy: Whether others may be on the GPU.
        seconds: What the search for one function's reading may take of its process's own time.
    """
    told: dict[str, Any] = {"gpu": gpu, "allow_busy": allow_busy, "seconds": seconds}
    result = carry(plan_behaviours(functions, mode, **told))
    answers = dict(result.answers)
    for _ in range(MOST_AGAIN):
        begun = {number: said for number, text in answers.items() if _count((said := read(text)).get("go_on"))}
        if not begun or result.stopped or not result.complete:
            break
        try:
            more = carry(plan_behaviours(functions, mode, begun=begun, **told))
        except ReconError as error:  # what was learned until then is kept
            short = Unknown(REST, mode, error.sentence)
            result = replace(result, complete=False, unknowns=(*result.unknowns, short))
            break
        for place, (number, said) in enumerate(begun.items()):
            answers[number] = json.dumps(_joined(said, read(more.answers[place]) if place in more.answers else {}))
        unknowns = (*result.unknowns, *(each for each in more.unknowns if each.what == REST))
        result = replace(result, complete=more.complete, stopped=more.stopped, unknowns=unknowns)
    return replace(result, answers=answers)


def _joined(said: dict[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """What two processes said of one function, the second of the settings behind those of the first."""
    shown = [*_list(said.get("shown")), *_list(more.get("shown"))]
    distinct = {each.get("rule"): each for each in reversed(shown) if isinstance(each, dict)}
    ruled = [each for rule, each in reversed(distinct.items()) if rule]
    whole = {**said, "shown": ruled or shown, "go_on": _count(more.get("go_on"))}
    return whole if not ruled else {**whole, "why": ""}


def plan_behaviours(
    functions: Sequence[CutFunction],
    mode: str,
    *,
    gpu: str = "",
    allow_busy: bool = False,
    seconds: float = SECONDS,
    begun: Mapping[int, Mapping[str, Any]] = MappingProxyType({}),
) -> Plan:
    """What the payload is to call: functions that could not be cut are left out.

    Args:
        functions: What was cut.
        mode: `interpret` or `gpu`.
        gpu: Index or UUID.
        allow_busy: Whether others may be on the GPU.
        seconds: What the search for one function's reading may take.
        begun: Answers of the only functions that are asked, by their numbers among those that could be cut: they are
            to go on where that process broke its device.
    """
    cuts = [function for function in functions if function.text]
    able = [cuts[number] for number in begun] if begun else cuts
    entries = tuple(
        Entry(number, ROLE, ROLE, ROLE, f"{ENGINE}{named(function)}", {}, number)
        for number, function in enumerate(able)
    )
    calls = [next(calls_of(said), None) for said in begun.values()] or [None] * len(able)
    begins = [_count(said.get("go_on")) for said in begun.values()] or [0] * len(able)
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
        subjects=tuple(
            subject_of(function, seconds=seconds, call=call, begin=begin)
            for function, call, begin in zip(able, calls, begins, strict=True)
        ),
    )


def calls_of(said: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """How a function was called where it showed rules: for the payload to read, and nobody else."""
    for shown in _list(said.get("shown")):
        call = shown.get("call") if isinstance(shown, dict) else None
        if isinstance(call, dict) and isinstance(call.get("rule"), str) and len(json.dumps(call)) <= MOST_CALL_BYTES:
            yield call


def named(function: CutFunction) -> str:
    """Its place in the engine, as people and measurements name it."""
    return f"{function.path}:{function.symbol}"


def subject_of(
    function: CutFunction,
    *,
    seconds: float = SECONDS,
    name: str = "",
    call: Mapping[str, object] | None = None,
    begin: int = 0,
) -> str:
    """A function as JSON for the payload.

    Args:
        function: What was cut.
        seconds: What the search for its reading may take.
        name: Its place in the engine, where it is to be timed.
        call: How it was found to be called, likewise, or where another process goes on.
        begin: The setting of switches at which it does.
    """
    return json.dumps(
        {
            "function": function.symbol,
            "module": function.module,
            "text": function.text,
            "parameters": [asdict(each) for each in function.parameters],
            "seconds": seconds,
            "name": name,
            "call": call,
            "begin": begin,
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
    except (ValueError, RecursionError):
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
    why = in_a_line(str(answer.get("why", "")) or (unlike if not any(rule.rule for rule in rules) else ""))
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
        why=why,
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
    when_sure = [rule for rule in seen if rule in _WHEN_SURE.get(capability, ())]
    if standing == "partial" and when_sure:
        words = f"where the target is sure of its tokens it accepts just them, by the rule: {when_sure[0]}"
        return Claim(capability, standing, "agrees", words)
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
