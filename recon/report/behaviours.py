"""What functions were seen to do, arranged for reading beside the verdicts that rest on them."""

from collections.abc import Iterable
from dataclasses import dataclass

from recon.records.behaviour import Behaviour, Claim
from recon.report.numbers import counted

AGREEMENTS = {"agrees": "agrees", "contradicts": "contradicts", "cannot_tell": "cannot tell"}


@dataclass(frozen=True, slots=True)
class Seen:
    """One function with the rules that it followed, in words."""

    install: str
    """Id of the tree that it was cut out of."""
    place: str
    """`path:line symbol`."""
    symbol: str
    rules: str
    """The rules seen, with the settings of switches; empty where none was."""
    verdicts: str
    """What that says of each verdict that rests on it."""
    contradicts: bool
    how: str
    """How it was called, on how many requests; or why nothing can be said."""


def seen(behaviours: Iterable[Behaviour]) -> tuple[Seen, ...]:
    """Functions as rows; those that contradict a verdict come first."""
    rows = [_seen(each) for each in behaviours]
    return tuple(sorted(rows, key=lambda row: not row.contradicts))


def _seen(one: Behaviour) -> Seen:
    return Seen(
        install=one.install,
        place=f"{one.path}:{one.line} {one.symbol}",
        symbol=one.symbol,
        rules="; ".join(f"{rule.rule}{_setting(rule.switches)}" for rule in one.rules),
        verdicts="; ".join(
            f"{each.capability}: {AGREEMENTS.get(each.agreement, each.agreement)}" for each in one.claims
        ),
        contradicts=any(each.agreement == "contradicts" for each in one.claims),
        how=_how(one),
    )


def _setting(switches: dict[str, str]) -> str:
    said = ", ".join(f"{name} {value}" for name, value in switches.items() if value not in ("None", "False"))
    return f" ({said})" if said else ""


def _how(one: Behaviour) -> str:
    if not one.rules:
        return one.why or "nothing can be said"
    where = "on the GPU" if one.mode == "gpu" else "in Triton's interpreter"
    cases, draws = max(rule.cases for rule in one.rules), sum(rule.draws for rule in one.rules)
    chance = f" and {counted(draws, 'draw')}" if draws else ""
    left = f"; {counted(len(one.replaced), 'thing')} replaced or left out" if one.replaced else ""
    contrary = "".join(f"; {words}" for words in _contrary(one.claims))
    return f"{one.how}, called {where} on {counted(cases, 'crafted request')}{chance}{left}{contrary}"


def _contrary(claims: Iterable[Claim]) -> list[str]:
    return [f"{each.capability}: {each.reason}" for each in claims if each.agreement != "agrees"]
