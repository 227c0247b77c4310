"""From acceptance, times and verdicts to estimates: would a tree pay, by how much, and where does it turn?"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from recon.estimates import floors
from recon.estimates.acceptance import Acceptance, advice
from recon.estimates.cards import Card, card_of
from recon.estimates.decision import runs_a_tree
from recon.estimates.memory import memory
from recon.estimates.rounds import Kernels, Setting, incomplete, round_of
from recon.estimates.sentence import because, changes, headline, missing, sentence
from recon.estimates.times import Missing, Times
from recon.estimates.weighing import NONE, Case, RoundOf, Sides, crossover, refusal, sides, unweighed, weighed
from recon.records.cost import Ground, Memory, Quantity, Round
from recon.records.estimate import Decision, Estimate, Outlook
from recon.records.install import Install
from recon.records.model import Model

UNKNOWN_COMMON = Quantity(5_000.0, 0.0, 15_000.0, Ground.ASSUMED, "the draft, the host and what is not measured")
UNKNOWN_HOST = Quantity(2_500.0, 0.0, 5_000.0, Ground.ASSUMED, "waiting for the host in a tree's round")
"""Up to what was seen where the walk is on the CPU: 4.9 ms (27B, A6000)."""
FAR_OFF = 2
"""So many times a given round of the chain its measured parts may take, and still be taken for those of that round."""
EXTRA_BUDGETS = (7, 8, 15, 16, 23, 31, 32, 47, 63, 64, 95, 127, 128, 191, 255, 256)
"""Where root and drafts fill what kernels and graphs are made for, besides what an acceptance is known at."""

SIZES = (8, 16, 32, 64, 128, 256)
"""Drafts of the trees that are told of one by one."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked about, besides acceptance."""

    model: Model | None
    """None where rounds are given whole."""
    tp: int = 1
    weights: str = "bf16"
    kv: str = "bf16"
    state: str = ""
    """Empty for what the model's configuration tells, else float32."""
    sampled: bool = False
    batches: tuple[int, ...] = (1,)
    context: int = 8192
    budget: int = 0
    """0 for all that are worth a try."""
    engine: str = ""
    """Package of the engine that is meant; empty for any."""
    gpu: str = ""
    """Name of the card; empty for that of the times."""
    common: Quantity | None = None
    """Microseconds of a round that chain and tree have in common, beside what is measured; None if unknown."""
    extra: Quantity | None = None
    """Microseconds that building on the host and waiting for it adds to a tree's round; None if unknown."""
    chain_us: Quantity | None = None
    """A whole round of the longest chain, as it was seen in the engine; None if unknown."""
    tree_us: Quantity | None = None
    """The same of the tree."""


def outlooks(acceptance: Acceptance, asked: Asked, times: Times) -> tuple[Outlook, ...]:
    """By batch: with given rounds, or with the bundled kernels and the engine's, or from floors alone."""
    if asked.tree_us is not None and asked.chain_us is not None:
        return tuple(_given(acceptance, asked, batch) for batch in asked.batches)
    return tuple(found for batch in asked.batches for found in _at(acceptance, asked, times, batch))


def _by_size(acceptance: Acceptance, asked: Asked, times: Times) -> Iterator[Outlook]:
    """What trees of one size each would bring, where the best one was asked for."""
    tried = budgets_of(acceptance, asked) if asked.model and not asked.budget else []
    for nodes in (each for each in SIZES if each in tried):
        for outlook in outlooks(acceptance, replace(asked, budget=nodes), times):
            if outlook.ratio:
                yield replace(outlook, tree_round=None, chain_round=None)


def budgets_of(acceptance: Acceptance, asked: Asked) -> list[int]:
    """Drafts of the trees that are tried."""
    if asked.budget:
        return [asked.budget]
    known = list(acceptance.budgets)
    if len(known) > len(EXTRA_BUDGETS) * 2:
        known = [known[0], known[-1]]
    return sorted({*known, *(nodes for nodes in EXTRA_BUDGETS if known and known[0] <= nodes <= known[-1])})


def setting_of(asked: Asked, model: Model, batch: int) -> Setting:
    """What is run at a batch."""
    state = asked.state or model.state_dtype or "fp32"
    return Setting(model, asked.tp, asked.weights, asked.kv, state, asked.sampled, batch, asked.context, asked.engine)


def _given(acceptance: Acceptance, asked: Asked, batch: int) -> Outlook:
    assert asked.chain_us is not None
    assert asked.tree_us is not None
    longest = max(acceptance.lengths, default=0)
    budgets = budgets_of(acceptance, asked)
    case = Case("given", batch, asked.context, NONE, NONE)

    def whole(us: Quantity, shape: str, of: int, drafts: int) -> Round | Missing:
        return Round(shape, drafts, us, ()) if drafts == of else Missing(f"the time of {drafts} drafts was not given")

    chain = partial(whole, asked.chain_us, "chain", longest)
    tree = partial(whole, asked.tree_us, "tree", budgets[-1] if budgets else 0)
    found = sides(acceptance, budgets, chain, tree)
    return weighed(found, case) if isinstance(found, Sides) else unweighed(case, found)


def _at(acceptance: Acceptance, asked: Asked, times: Times, batch: int) -> Iterator[Outlook]:
    if asked.model is None:
        yield unweighed(Case("bundled", batch, asked.context, NONE, NONE), Missing("no model was named"))
        return
    setting = setting_of(asked, asked.model, batch)
    lacking = None
    for kernels in Kernels if times else ():
        outlook = _with(acceptance, asked, times, setting, kernels)
        yield outlook
        lacking = lacking or (outlook if outlook.ratio is None else None)
    if not times or lacking:
        yield from _floors(acceptance, asked, times, setting)


def _with(acceptance: Acceptance, asked: Asked, times: Times, setting: Setting, kernels: Kernels) -> Outlook:
    chain: RoundOf = lambda drafts: round_of(times, setting, drafts, "chain", kernels)  # noqa: E731
    tree: RoundOf = lambda drafts: round_of(times, setting, drafts, "tree", kernels)  # noqa: E731
    common = _common(acceptance, asked, chain)
    extra = asked.extra or (NONE if kernels is Kernels.BUNDLED else UNKNOWN_HOST)
    known = common if isinstance(common, Quantity) else NONE
    case = Case(kernels.value, setting.batch, setting.context, known, extra)
    found = sides(acceptance, budgets_of(acceptance, asked), chain, tree)
    if not isinstance(found, Sides):
        return unweighed(case, found)
    return weighed(found, case) if isinstance(common, Quantity) else unweighed(case, common)


def _common(acceptance: Acceptance, asked: Asked, chain: RoundOf) -> Quantity | Missing:
    """What is given, or what a given round of the chain leaves beside the measured parts, or a range.

    A round far below its own parts is of something else, or was told in seconds: nothing follows from it.
    """
    if asked.chain_us is None:
        return asked.common or UNKNOWN_COMMON
    measured = chain(max(acceptance.lengths, default=0))
    if isinstance(measured, Missing):
        return asked.common or UNKNOWN_COMMON
    whole, parts = asked.chain_us, measured.us
    if whole.high * FAR_OFF < parts.low:
        why = f"{whole.source} takes far less than its measured parts, {parts.value / 1000:.3g} ms"
        return Missing(f"{why}, so it may be of another card, model or batch")
    source = f"what {whole.source} leaves beside the measured parts"
    if whole.high < parts.low:
        source = f"nothing: the measured parts of a chain's round take longer than {whole.source}"
    least, most = max(0.0, whole.low - parts.high), max(0.0, whole.high - parts.low)
    return Quantity(max(0.0, whole.value - parts.value), least, most, Ground.GIVEN, source)


def _floors(acceptance: Acceptance, asked: Asked, times: Times, setting: Setting) -> Iterator[Outlook]:
    card = card_of(asked.gpu or times.gpu)
    common, extra = asked.common or UNKNOWN_COMMON, asked.extra or NONE
    lacking = incomplete(setting.model)
    if card is None or lacking:
        if not times:
            why = (
                f"no time was measured that counts, and no data sheet of {asked.gpu!r} is here"
                if asked.gpu
                else _NO_CARD
            )
            case = Case("floor", setting.batch, setting.context, common, extra)
            yield unweighed(case, advice(acceptance) or lacking or Missing(why))
        return
    for kept in (False, True) if setting.model.linear_layers else (False,):
        case = Case("floor_kept" if kept else "floor", setting.batch, setting.context, common, extra)
        yield _bounded(acceptance, asked, setting, card, case, kept=kept)


_NO_CARD = "no time was measured that counts, and no card was named (--gpu)"


def _bounded(acceptance: Acceptance, asked: Asked, setting: Setting, card: Card, case: Case, *, kept: bool) -> Outlook:
    chain: RoundOf = lambda drafts: floors.floor_round(setting, card, drafts, "chain", kept=kept)  # noqa: E731
    tree: RoundOf = lambda drafts: floors.floor_round(setting, card, drafts, "tree", kept=kept)  # noqa: E731
    found = sides(acceptance, budgets_of(acceptance, asked), chain, tree)
    if not isinstance(found, Sides):
        return unweighed(case, found)
    least = floors.floor_round(setting, card, max(acceptance.lengths), "chain", kept=False).us.value
    if asked.chain_us and asked.chain_us.high < least:
        why = f"{asked.chain_us.source} takes less than the {least / 1000:.3g} ms of the data sheet's floor"
        return unweighed(case, Missing(f"{why}, so it may be of another card, model or batch"))
    return floors.bounded(found, case, asked.chain_us.high if asked.chain_us else 0.0)


def memory_of(asked: Asked, found: Sequence[Outlook], times: Times) -> Memory | None:
    """What the best tree of the first batch that was weighed takes."""
    outlook = next((each for each in found if each.nodes), None)
    if asked.model is None or outlook is None:
        return None
    card = card_of(asked.gpu or times.gpu)
    setting = setting_of(asked, asked.model, outlook.batch)
    return memory(
        asked.model,
        state=setting.state,
        kv=setting.kv,
        weights=setting.weights,
        tp=asked.tp,
        context=asked.context,
        nodes=outlook.nodes,
        chain=outlook.chain,
        device_bytes=times.memory_bytes or (card.memory_bytes if card else 0),
    )


def estimates(
    acceptance: Acceptance, asked: Asked, times: Times, installs: Sequence[Install], notes: Sequence[str] = ()
) -> tuple[Estimate, ...]:
    """One estimate for each engine, the first for the first; a single one without subject where none was scanned.

    Args:
        acceptance: Of the drafter.
        asked: What is asked about.
        times: What was measured and counts.
        installs: What was scanned; kernel packages answer through the engine that calls them.
        notes: Sentences about where times come from.
    """
    refused = refusal(acceptance, budgets_of(acceptance, asked))
    engines = [install for install in installs if not install.engine.is_companion]
    names = dict.fromkeys(install.engine.value for install in engines) or {"": None}
    found = {name: outlooks(acceptance, replace(asked, engine=name), times) for name in names}
    sizes = {name: tuple(_by_size(acceptance, replace(asked, engine=name), times)) for name in names}
    takes = memory_of(asked, next(iter(found.values())), times)
    made = tuple(
        replace(
            _estimate(found[install.engine.value if install else ""], takes, install, asked, notes),
            sizes=sizes[install.engine.value if install else ""],
        )
        for install in engines or (None,)
    )
    if refused is None:
        return made
    return tuple(replace(each, because=(), missing=tuple(filter(None, (refused.hint,)))) for each in made)


def _estimate(
    found: Sequence[Outlook], takes: Memory | None, install: Install | None, asked: Asked, notes: Sequence[str]
) -> Estimate:
    verdicts = {verdict.capability: verdict for verdict in install.verdicts} if install else {}
    hybrid = bool(asked.model and asked.model.linear_layers)
    runs = runs_a_tree(verdicts, hybrid=hybrid) if install else None
    label = install.label if install else ""
    column = headline(found, runs)
    lead = next(iter(column), None)
    return Estimate(
        subject=install.id if install else "",
        decision=lead.decision if lead else Decision.CANNOT_TELL,
        sentence=sentence(found, runs, label),
        because=(*notes, *because(found, takes), *changes(found, runs)),
        missing=tuple(missing(found)),
        ratios=(),
        runs=runs,
        outlooks=tuple(found),
        memory=takes,
        turns=crossover(column) or (),
    )
