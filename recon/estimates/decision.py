"""Would a tree pay? What the verdicts and the measurements say, and what they cannot say.

The quantity that decides is tokens per pass of the tree over the chain, divided by time per pass of the tree over the
chain. Without an acceptance trace the first half is unknown, and a ratio of kernel times alone is a small part of the
second. So no tree is ever declared the winner here, nor the loser: what can be said is whether this install could run
a tree at all, what was measured, and what is missing.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from recon.estimates.knees import knees_of
from recon.estimates.ratios import disagrees, is_chain, ratios_of
from recon.records.estimate import Decision, Estimate, Ratio
from recon.records.host import Host, by_name
from recon.records.install import Install
from recon.records.measurement import Measurement
from recon.records.verdict import Standing, Verdict

ACCEPTANCE = (
    "How many tokens per pass the target accepts from this drafter's chain and from its tree: a trace, or the server's"
    " metrics. recon estimate --model weighs them against times."
)
STEP = "The time of a whole verification step in the engine, linear and tree: acceptance is a small part of it."
PROBE = "Times on this host's GPU: recon probe-kernels."


@dataclass(frozen=True, slots=True)
class Need:
    """Something that an engine must have to verify a draft tree; any one of the capabilities will do."""

    phrase: str
    capabilities: tuple[str, ...]


ACCEPT = Need("accept a tree", ("accept.tree.greedy", "accept.tree.stochastic"))
NEEDS = (
    ACCEPT,
    Need("build a tree from the drafts", ("tree.build.dynamic", "tree.build.static")),
    Need("mask the tree in the target's attention", ("attn.tree.verify",)),
    Need("give tree nodes positions by depth", ("pos.tree",)),
    Need("keep the KV of the accepted path", ("kv.path_compact",)),
)
STATE = Need("keep a recurrent state for each node, or compute it again", ("state.tree",))
"""What a model with recurrent layers needs besides."""

_ORDER = (Standing.PRESENT, Standing.PARTIAL, Standing.UNKNOWN, Standing.ABSENT, Standing.NOT_APPLICABLE)
_LACKS = (Standing.ABSENT, Standing.NOT_APPLICABLE)
_WORDS = {
    Standing.PRESENT: "yes",
    Standing.PARTIAL: "partly",
    Standing.UNKNOWN: "cannot tell",
    Standing.ABSENT: "no",
    Standing.NOT_APPLICABLE: "does not apply",
}


def decide(
    installs: Iterable[Install], hosts: Iterable[Host], measurements: Iterable[Measurement]
) -> tuple[Estimate, ...]:
    """One estimate for each engine; a single one without subject where kernels were timed and no engine was scanned.

    Kernel packages get none: they answer through the engine that calls them.
    """
    engines = [install for install in installs if not install.engine.is_companion]
    known = by_name(hosts)
    taken = tuple(measurements)
    if engines:
        return tuple(_of_install(install, known.get(install.host), taken) for install in engines)
    if any(measurement.mode == "gpu" for measurement in taken):
        return (_of_no_install(taken),)
    return ()


def counts_for(measurement: Measurement, host: Host | None) -> bool:
    """Whether a measurement may enter the decision for a host."""
    return measurement.device is not None and host is not None and host.counts(measurement.device.name)


def _of_install(install: Install, host: Host | None, measurements: tuple[Measurement, ...]) -> Estimate:
    verdicts = {verdict.capability: verdict for verdict in install.verdicts}
    mine = [measurement for measurement in measurements if counts_for(measurement, host)]
    ratios = ratios_of(mine)
    return Estimate(
        subject=install.id,
        decision=Decision.CANNOT_TELL,
        sentence=_sentence(install.label, verdicts),
        because=(*_stands(verdicts), *_timing(mine, measurements, host, ratios)),
        missing=_missing(verdicts, ratios),
        ratios=ratios,
        runs=runs_a_tree(verdicts),
        knees=knees_of(mine),
    )


def _of_no_install(measurements: tuple[Measurement, ...]) -> Estimate:
    ratios = ratios_of(measurements)
    return Estimate(
        subject="",
        decision=Decision.CANNOT_TELL,
        sentence="Cannot tell whether a tree would pay: kernels were timed, but no engine was scanned with them.",
        because=tuple(_disagreements(measurements)),
        missing=("Which engine is meant: recon scan, then recon report joins the two.", ACCEPTANCE, STEP),
        ratios=ratios,
        knees=knees_of(measurements),
    )


def runs_a_tree(verdicts: Mapping[str, Verdict], *, hybrid: bool = False) -> Standing:
    """Whether an install can run a draft tree: as little as the need that it meets least.

    A hybrid model has one need more: siblings in its recurrent layers.
    """
    standings = {_standing(verdicts, need) for need in (*NEEDS, *((STATE,) if hybrid else ()))}
    if standings & set(_LACKS):
        return Standing.ABSENT
    return next(each for each in (Standing.UNKNOWN, Standing.PARTIAL, Standing.PRESENT) if each in standings)


def _sentence(label: str, verdicts: Mapping[str, Verdict]) -> str:
    standings = {need.phrase: _standing(verdicts, need) for need in NEEDS}
    lacking = [phrase for phrase, standing in standings.items() if standing in _LACKS]
    undecided = [phrase for phrase, standing in standings.items() if standing is Standing.UNKNOWN]
    if ACCEPT.phrase in lacking:
        return f"{label} cannot run a draft tree without a patch: nothing in it accepts one."
    if lacking:
        return f"{label} cannot run a draft tree without a patch: it does not {_listed(lacking)}."
    if undecided:
        return f"Cannot tell whether {label} can run a draft tree: whether it can {undecided[0]} could not be decided."
    part = " in part" if Standing.PARTIAL in standings.values() else ""
    return f"{label} can run a draft tree{part}; whether one would pay cannot be told: its acceptance was not measured."


def best(verdicts: Mapping[str, Verdict], need: Need) -> Verdict | None:
    """The verdict that speaks best for a need; None where none of its capabilities was judged."""
    asked = [verdicts[capability] for capability in need.capabilities if capability in verdicts]
    return min(asked, key=lambda verdict: _ORDER.index(verdict.standing), default=None)


def _standing(verdicts: Mapping[str, Verdict], need: Need) -> Standing:
    verdict = best(verdicts, need)
    return verdict.standing if verdict else Standing.UNKNOWN


def _stands(verdicts: Mapping[str, Verdict]) -> list[str]:
    lines = []
    for need in NEEDS:
        verdict = best(verdicts, need)
        if verdict is None:
            lines.append(f"To {need.phrase}: cannot tell ({' and '.join(need.capabilities)} not judged).")
        else:
            lines.append(f"To {need.phrase}: {_WORDS[verdict.standing]} ({verdict.capability}). {verdict.reason}")
    return lines


def _timing(
    mine: list[Measurement], everything: tuple[Measurement, ...], host: Host | None, ratios: tuple[Ratio, ...]
) -> list[str]:
    lines = _disagreements(mine)
    linear = [each for each in ratios if is_chain(each.baseline)]
    if linear:
        lines.append(
            f"Kernel times of tree over linear were measured on {_listed(_distinct(r.device for r in linear))};"
            " alone they decide nothing."
        )
    others = _distinct(
        measurement.device.name
        for measurement in everything
        if measurement.device is not None and measurement.mode == "gpu" and not counts_for(measurement, host)
    )
    if others:
        here = _listed(_distinct(gpu.name for gpu in host.gpus)) if host and host.gpus else "no GPU that recon saw"
        lines.append(f"Times taken on {_listed(others)} are shown apart and not used: this host has {here}.")
    return lines


def _disagreements(measurements: Iterable[Measurement]) -> list[str]:
    wrong = _distinct(measurement.kernel for measurement in measurements if disagrees(measurement))
    return [f"{kernel} disagrees with its reference, so its time is not used." for kernel in wrong]


def _missing(verdicts: Mapping[str, Verdict], ratios: tuple[Ratio, ...]) -> tuple[str, ...]:
    open_ones = [need.phrase for need in NEEDS if _standing(verdicts, need) is Standing.UNKNOWN]
    return (
        *(f"Whether it can {phrase}." for phrase in open_ones),
        ACCEPTANCE,
        STEP,
        *(() if ratios else (PROBE,)),
    )


def _distinct(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))


def _listed(names: Iterable[str]) -> str:
    *head, last = list(names)
    return f"{', '.join(head)} and {last}" if head else last
