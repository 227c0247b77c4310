"""From options and saved runs to estimates: what is asked about, whose times count, and which engine is meant."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from recon.errors import NotFound, Usage

if TYPE_CHECKING:
    from recon.cli.session import Session
    from recon.estimates.acceptance import Acceptance
    from recon.estimates.prospect import Asked
    from recon.estimates.times import Times
    from recon.records.cost import Quantity
    from recon.records.estimate import Estimate
    from recon.records.host import Host
    from recon.records.install import Install
    from recon.records.measurement import Measurement
    from recon.report.view import Source

MOST_MS = 60_000.0
LEAST_MS = 0.001
"""Of a whole round: no launch takes less."""
BATCHES = 16
"""Batches that one call may ask about."""


@dataclass(frozen=True, slots=True)
class Costs:
    """What a person gives to tell times from; empty strings for what is not given."""

    model: str = ""
    tp: int = 1
    weights: str = "bf16"
    kv: str = "bf16"
    state: str = ""
    sampled: bool = False
    batch: str = "1"
    context: str = "8192"
    draft_ms: str = ""
    host_ms: str = ""
    linear_ms: str = ""
    tree_ms: str = ""
    gpu: str = ""
    probes: tuple[str, ...] = ()
    scan: str = ""

    @property
    def given(self) -> bool:
        """Whether there is anything to weigh acceptance against."""
        return bool(self.model or self.tree_ms)


@dataclass(frozen=True, slots=True)
class Weighed:
    """What was made of acceptance and times, and what it is about; empty where no times were weighed."""

    estimates: "tuple[Estimate, ...]" = ()
    """Those of installs that can run a tree first."""
    installs: "tuple[Install, ...]" = ()
    hosts: "tuple[Host, ...]" = ()


def supplied(found: "Acceptance", nodes: int, tau: float, builder: str, family: str = "") -> "Acceptance":
    """With the tokens per pass of one tree, as a person tells them.

    Raises:
        Usage: no budget is named, or a tree of it commits no such number.
    """
    from recon.cli.acceptance import builder_of
    from recon.estimates.families import is_of_blocks
    from recon.estimates.supplied import Supplied
    from recon.estimates.trees import called, too_small

    if not nodes:
        raise Usage("--tree-tau is of one tree, and its size is not named", "Add --budget N.")
    if not 1 <= tau <= nodes + 1:
        raise Usage(f"A tree of {nodes} drafts does not commit {tau:g} tokens", "tau counts the target's own token.")
    block = max(found.lengths, default=0) + 1
    if block > 1 and tau > block and is_of_blocks(family, builder):
        raise Usage(f"A tree of blocks of {block} tokens does not commit {tau:g}", "--block tells how long they are.")
    built = builder_of(builder) if builder != "sequoia" else None
    if built and (lacks := too_small(built, nodes)):
        raise Usage(lacks.removesuffix("."), "--budget is how many drafts that tree has.")
    return Supplied(found, nodes, tau, called(built) if built else builder or "as told")


def asked_of(costs: Costs, nodes: int) -> "Asked":
    """What is asked about, checked.

    Raises:
        Usage: a number is none, or things are lacking or do not go together.
        NotFound, Unreadable: there is no such model, or it cannot be read.
    """
    from recon.estimates.prospect import Asked
    from recon.probes.models import model_of

    if costs.tree_ms and not (costs.linear_ms and nodes):
        raise Usage("--tree-ms is a round of one tree, against one of the chain", "Add --budget N and --linear-ms MS.")
    batches = tuple(_count(word, "--batch") for word in costs.batch.split(","))
    if len(batches) > BATCHES:
        raise Usage(f"{len(batches)} batches are more than {BATCHES}")
    if len(batches) > 1 and (costs.linear_ms or costs.tree_ms):
        raise Usage("--linear-ms and --tree-ms are rounds of one batch", "Ask about one batch at a time.")
    model = model_of(costs.model) if costs.model else None
    if model:
        model.weights(costs.tp)
    return Asked(
        model=model,
        tp=costs.tp,
        weights=costs.weights,
        kv=costs.kv,
        state="" if costs.state == "auto" else costs.state,
        sampled=costs.sampled,
        batches=tuple(sorted(set(batches))),
        context=_count(costs.context, "--context"),
        budget=nodes,
        gpu=costs.gpu,
        common=_ms(costs.draft_ms, "--draft-ms", "the draft as given"),
        extra=_ms(costs.host_ms, "--host-ms", "the host's work on a tree as given"),
        chain_us=_ms(costs.linear_ms, "--linear-ms", "a round of the chain as given", LEAST_MS),
        tree_us=_ms(costs.tree_ms, "--tree-ms", "a round of the tree as given", LEAST_MS),
    )


def estimates_of(session: "Session", acceptance: "Acceptance", costs: Costs, nodes: int) -> "Weighed":
    """One estimate for each engine of the scan, a single one where none is meant; and what they are about.

    Raises:
        ReconError: as `asked_of`, and where a run that is named cannot be found or read.
    """
    from dataclasses import replace

    from recon.estimates.kinship import related
    from recon.estimates.prospect import estimates
    from recon.estimates.times import Times
    from recon.report.leading import ordered

    asked = asked_of(costs, nodes)
    scan = _scan(session, costs)
    host = _host(scan)
    probes = _probes(session, costs, scan) if asked.model else []
    measured = [each for source in probes for each in source.run.measurements if each.mode == "gpu"]
    of_card = _of_card(measured, asked.gpu)
    counted, note = related(of_card, host, named=bool(costs.probes))
    times = Times(counted)
    notes = filter(None, (note, _left_out(measured, of_card, asked.gpu), *_useless(times, of_card, counted, note)))
    if not counted and host and not asked.gpu:
        asked = replace(asked, gpu=next((gpu.name for gpu in host.gpus), ""))
    installs = scan.run.installs if scan else ()
    made = estimates(acceptance, asked, times, installs, tuple(notes))
    hosts = scan.run.hosts if scan else tuple(host for source in probes for host in source.run.hosts)
    return Weighed(ordered(made), installs, hosts)


def _scan(session: "Session", costs: Costs) -> "Source | None":
    """The scan that is named, else the newest; None where none is saved."""
    from recon.cli.saved import named_or_newest

    try:
        source = named_or_newest(costs.scan, "scan", "--scan")
    except NotFound:
        if costs.scan:
            raise
        return None
    _say(session, source)
    return source


def _probes(session: "Session", costs: Costs, scan: "Source | None") -> "list[Source]":
    from recon.cli.saved import named_or_newest, probe_beside

    if costs.probes:
        found = [named_or_newest(name, "probe", "--probe") for name in costs.probes]
    else:
        beside = probe_beside(scan.run.hosts if scan else ())[0] or probe_beside(())[0]
        found = [beside] if beside else []
    for source in found:
        _say(session, source)
    return found


def _say(session: "Session", source: "Source") -> None:
    from recon.cli.saved import described
    from recon.report.numbers import age

    session.note(described(source, age(source.run.started_at, session.started)))


def _host(scan: "Source | None") -> "Host | None":
    """The host of the first engine of a scan, where it has a GPU: trees alone say nothing of where they will run."""
    from recon.records.host import by_name

    if scan is None:
        return None
    known = by_name(scan.run.hosts)
    engines = [install.host for install in scan.run.installs if not install.engine.is_companion]
    host = next((known[name] for name in engines if name in known), None)
    return host if host and host.gpus else None


def _of_card(measurements: "Sequence[Measurement]", gpu: str) -> "list[Measurement]":
    """Those of the card that is named; all where none is."""
    from recon.estimates.cards import card_of

    if not gpu:
        return list(measurements)
    card = card_of(gpu)
    names = {each.device.name for each in measurements if each.device}
    alike = {name for name in names if name == gpu or (card is not None and card_of(name) == card)}
    return [each for each in measurements if each.device and each.device.name in alike]


def _left_out(measured: "Sequence[Measurement]", kept: "Sequence[Measurement]", gpu: str) -> str:
    """That times of other cards than the named one are not used; empty where there are none."""
    here = {each.device.name for each in kept if each.device}
    others = sorted({each.device.name for each in measured if each.device} - here)
    return f"Times taken on {', '.join(others)} are not used: --gpu names {gpu}." if gpu and others else ""


def _useless(
    times: "Times", of_card: "Sequence[Measurement]", counted: "Sequence[Measurement]", note: str
) -> "Iterator[str]":
    """That none of the measurements can be used, where nothing else says why there are no times."""
    if of_card and not times and (counted or not note):
        yield (
            f"None of {len(of_card)} measurements is used: a time must be above 0 and within its interval, name its"
            " GPU, and be of a kernel that agreed with its reference."
        )


def _count(word: str, option: str) -> int:
    """A number of tokens or requests: `8192`, `8k`.

    Raises:
        Usage: it is none.
    """
    found = re.fullmatch(r"([1-9][0-9]{0,6})(k?)", word.strip())
    if found is None:
        alone = "One at a time, for example" if "," in word else "For example"
        raise Usage(f"{option} {word!r} is no number from 1 to 9999999", f"{alone}: {option} 8, or {option} 8k")
    return int(found[1]) * (1024 if found[2] else 1)


def _ms(words: str, option: str, source: str, fewest: float = 0.0) -> "Quantity | None":
    """Milliseconds as microseconds: one number, or a range `LOW..HIGH`, none below `fewest`; None where none is given.

    Raises:
        Usage: it is neither.
    """
    from recon.records.cost import Ground, Quantity

    if not words:
        return None
    low, dots, high = words.partition("..")
    try:
        ends = float(low), float(high if dots else low)
    except ValueError:
        ends = (1.0, 0.0)
    if not fewest <= ends[0] <= ends[1] <= MOST_MS:
        raise Usage(
            f"{option} {words!r} is no time from {fewest:g} to {MOST_MS:g} milliseconds",
            f"For example: {option} 4.5, or {option} 2..6",
        )
    least, most = (1000 * each for each in ends)
    return Quantity((least + most) / 2, least, most, Ground.GIVEN, source)
