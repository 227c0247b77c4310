"""Policies: what a user demands of verdicts, read from a few words, and where a run falls short of it.

    --fail-on STANDING[,STANDING][:PATTERN[,PATTERN]]     no such standing may be among these
    --require [STANDING[,STANDING]|REACH:]PATTERN[,PATTERN]   each of these has one of the standings, or reaches so far

A pattern is the id of a capability, in which `*` stands for anything. Engines are judged; kernel packages answer
through the engine that calls them.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from difflib import get_close_matches
from fnmatch import fnmatchcase

from recon.errors import NotFound, Usage
from recon.records.install import Install
from recon.records.policy import PolicyFailure
from recon.records.run import Run
from recon.records.verdict import Reach, Standing, Verdict

FAIL_ON = "fail-on"
REQUIRE = "require"
_EXAMPLE = {FAIL_ON: "--fail-on absent:accept.tree.*", REQUIRE: "--require accept.tree.greedy"}
_ON_SCREENS = {"yes": "present", "partly": "partial", "no": "absent", "connected": "wired", "cannot tell": "unknown"}
_REACHES = tuple(Reach)


@dataclass(frozen=True, slots=True)
class Rule:
    """One demand."""

    kind: str
    """`fail-on` or `require`."""
    demand: str
    """As it was said, e.g. `--require accept.tree.greedy`."""
    standings: frozenset[Standing]
    reach: Reach | None
    """How far present and partial code must be connected at least; None asks for no reach."""
    patterns: tuple[str, ...]

    def asks(self, capability: str) -> bool:
        """Whether it is about a capability."""
        return any(fnmatchcase(capability, pattern) for pattern in self.patterns)

    def is_met(self, verdict: Verdict) -> bool:
        """Whether a verdict, or the user's own word on it, is as demanded."""
        if self.kind == FAIL_ON:
            return verdict.demanded not in self.standings
        if self.reach is None or verdict.own_word:  # a user's word says nothing of reach, and is taken whole
            return verdict.demanded in self.standings
        far = verdict.reach is not None and _REACHES.index(verdict.reach) >= _REACHES.index(self.reach)
        return verdict.standing in self.standings and far


def rule_of(kind: str, words: str, said: str = "") -> Rule:
    """A demand from its words.

    Args:
        kind: FAIL_ON or REQUIRE.
        words: In the grammar above.
        said: What stands before the words when it is told; '' for the option of that name.

    Raises:
        Usage: they are none.
    """
    demand = f"{said or f'--{kind}'} {words}"
    before, colon, after = words.partition(":")
    if not colon and kind == REQUIRE:
        before, after = "present", before
    patterns = _listed(after) if colon or kind == REQUIRE else ("*",)
    choices = _listed(before)
    if not patterns or not choices:
        raise Usage(f"{demand} is no demand: something is missing", f"For example: {_EXAMPLE[kind]}")
    if kind == REQUIRE and len(choices) == 1 and choices[0] in {each.value for each in Reach}:
        return Rule(kind, demand, frozenset({Standing.PRESENT}), Reach(choices[0]), patterns)
    return Rule(kind, demand, frozenset(_standing(each, demand, _EXAMPLE[kind]) for each in choices), None, patterns)


def standings_of(words: str, option: str) -> frozenset[Standing]:
    """Standings from their words, with commas between them.

    Args:
        words: As typed.
        option: Where they were typed, e.g. `--show`.

    Raises:
        Usage: one is none, or there is none.
    """
    listed = _listed(words)
    if not listed:
        raise Usage(f"{option} {words} names no standing", f"For example: {option} absent,unknown")
    return frozenset(_standing(each, f"{option} {words}", f"{option} absent,unknown") for each in listed)


def refuse_unknown(rules: Iterable[Rule], capabilities: Iterable[str]) -> None:
    """Refuse demands about nothing: a slip of the pen must not hold for ever.

    Raises:
        NotFound: a pattern names none of the capabilities.
    """
    known = list(capabilities)
    for rule in rules:
        for pattern in rule.patterns:
            if not any(fnmatchcase(each, pattern) for each in known):
                near = get_close_matches(pattern, known, n=1)
                hint = f"Did you mean {near[0]}?" if near else "`recon explain` lists them."
                raise NotFound(f"{rule.demand}: no capability is called {pattern!r}", hint)


def failures_of(run: Run, rules: Iterable[Rule], label: Callable[[Install], str]) -> tuple[PolicyFailure, ...]:
    """Where the engines of a run fall short, in the order of the rules.

    Args:
        run: What was learned.
        rules: What is demanded.
        label: An install as people call it.
    """
    return tuple(
        failure
        for rule in rules
        for install in asked(run)
        for capability in (each.id for each in run.capabilities if rule.asks(each.id))
        for failure in _failures(rule, install, capability, label)
    )


def held_by_word(run: Run, rules: Iterable[Rule], label: Callable[[Install], str]) -> tuple[str, ...]:
    """Demands that are met by a user's own word alone, each in a sentence: what is excused is never silent."""
    excused = [
        (rule, install, verdict, verdict.own_word)
        for rule in rules
        for install in asked(run)
        for verdict in install.verdicts
        if verdict.own_word and rule.asks(verdict.capability)
        if rule.is_met(verdict) and not rule.is_met(replace(verdict, own_word=None))
    ]
    return tuple(
        f"{label(install)}: {verdict.capability} {_found(verdict)}; {rule.demand} is met by your word ({word.origin}): "
        f"{word.reason}"
        for rule, install, verdict, word in excused
    )


def asked(run: Run) -> tuple[Install, ...]:
    """The installs that policies are about: the engines."""
    return tuple(each for each in run.installs if not each.engine.is_companion)


def _failures(
    rule: Rule, install: Install, capability: str, label: Callable[[Install], str]
) -> Iterator[PolicyFailure]:
    verdict = next((each for each in install.verdicts if each.capability == capability), None)
    if verdict is not None and rule.is_met(verdict):
        return
    if verdict is None:
        if rule.kind == FAIL_ON:
            return
        found = "was not judged"
    else:
        found = _found(verdict)
    said = f"{label(install)}: {capability} {found} ({rule.demand})"
    standing = verdict.demanded if verdict is not None else None
    yield PolicyFailure(rule.kind, rule.demand, install.id, capability, standing, said + _why(verdict))


def _found(verdict: Verdict) -> str:
    if verdict.own_word:
        return f"is {verdict.demanded.value} by your word, and {verdict.standing.value} by what was seen"
    reach = f", {verdict.reach.value}" if verdict.reach else ""
    return f"is {verdict.standing.value}{reach}"


def _why(verdict: Verdict | None) -> str:
    """The reason, and the place that speaks for it."""
    if verdict is None:
        return ""
    why = verdict.own_word.reason if verdict.own_word else verdict.reason
    place = next(iter((*verdict.evidence, *verdict.nearest)), None)
    near = "" if verdict.evidence else "nearest "
    return f": {why}" + (f" [{near}{place.path}:{place.line}]" if place else "")


def _listed(words: str) -> tuple[str, ...]:
    return tuple(filter(None, (each.strip() for each in words.split(","))))


def _standing(word: str, said: str, example: str) -> Standing:
    try:
        return Standing(word)
    except ValueError:
        known = [each.value for each in Standing]
        near = _ON_SCREENS.get(word) or next(iter(get_close_matches(word, known, n=1)), "")
        hint = f"Did you mean {near}?" if near else f"They are {', '.join(known)}; for example: {example}"
        raise Usage(f"{said}: {word!r} is no standing", hint) from None
