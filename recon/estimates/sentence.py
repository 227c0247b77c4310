"""An estimate in words: the decision in one sentence, what it rests on, and what would change it."""

from collections.abc import Iterable, Iterator, Sequence

from recon.estimates.rounds import NOT_TIMED
from recon.estimates.weighing import NONE, crossover
from recon.records.cost import Ground, Memory, Quantity, Round
from recon.records.estimate import Decision, Outlook
from recon.records.verdict import Standing

WHOSE = {
    "bundled": "kernels as good as the bundled ones",
    "engine": "kernels as engines have them",
    "given": "the times that were given",
    "floor": "times at the data sheet's floor",
    "floor_kept": "times at the data sheet's floor and a state kept for each node",
}
ORDER = ("given", "bundled", "engine", "floor", "floor_kept")
GIB = 1 << 30
_RUNS = {
    Standing.PRESENT: "{} can run one.",
    Standing.PARTIAL: "{} can run one in part.",
    Standing.ABSENT: "{} cannot run one without a patch.",
    Standing.NOT_APPLICABLE: "{} cannot run one without a patch.",
    Standing.UNKNOWN: "Whether {} can run one could not be told.",
}
"""Of an engine that is named, by whether it can."""


def headline(outlooks: Sequence[Outlook], runs: Standing | None) -> list[Outlook]:
    """The outlooks, by batch, that the decision is taken from.

    With the engine's kernels where it can run a tree; else with such as it would be given; floors where nothing was
    measured.
    """
    order = sorted(ORDER, key=lambda each: each != "engine") if runs in {Standing.PRESENT, Standing.PARTIAL} else ORDER
    columns = [[each for each in outlooks if each.kernels == kernels] for kernels in order]
    numbered = [column for column in columns if any(each.ratio for each in column)]
    return next(iter((*numbered, *filter(None, columns))), [])


def sentence(outlooks: Sequence[Outlook], runs: Standing | None, label: str) -> str:
    """The decision, of the first batch, and where it turns."""
    column = headline(outlooks, runs)
    if not column:
        return "Cannot tell: nothing was weighed."
    first = column[0]
    words = [_told(first)]
    turn = crossover(column)
    if turn:
        words.append(f"The sign turns between batch {turn[0]} and {turn[1]}.")
    if label and runs is not None and runs in _RUNS:
        words.append(_RUNS[runs].format(label))
    return " ".join(words)


def _told(outlook: Outlook) -> str:
    at = f"at batch {outlook.batch}"
    if outlook.decision is Decision.FIX_THE_DRAFTER_FIRST:
        return f"Fix the drafter first: {outlook.why}"
    if outlook.ratio is None:
        return f"Cannot tell {at}: {outlook.why.removesuffix('.')}."
    if outlook.ratio.ground is Ground.BOUND:
        return _bounded(outlook, at)
    given = outlook.kernels == "given"  # a round of one chain alone is known then
    gives = (
        f"{outlook.nodes} drafts in a tree ({outlook.builder}) give {_ratio(outlook.ratio)} the tokens per second of"
        f" the {'' if given else 'best '}chain ({outlook.chain} drafts), with {WHOSE[outlook.kernels]}"
    )
    within = f", for {outlook.holds}" if outlook.holds else ""
    within += "; shorter chains were not weighed" if given and outlook.chain > 1 else ""
    match outlook.decision:
        case Decision.WIN:
            would = "would pay" if outlook.kernels == "bundled" else "pays"
            return f"A tree {would} {at}: {gives}{within}."
        case Decision.LOSE:
            return f"Keep the chain {at}: {gives}{within}."
        case Decision.TOO_CLOSE:
            return f"Too close to call {at}: {gives}{within}."
        case _:
            return f"Cannot tell {at}: {gives}{within}; {outlook.why}."


def _bounded(outlook: Outlook, at: str) -> str:
    assert outlook.ratio is not None
    if outlook.decision is Decision.LOSE:
        within = f", for {outlook.holds}" if outlook.holds else ""
        return (
            f"Keep the chain {at}: a tree gives at most {outlook.ratio.high:.2f}x, by {WHOSE[outlook.kernels]}{within}."
        )
    return f"Cannot tell {at} without measuring: {outlook.why}."


def _ratio(ratio: Quantity) -> str:
    return f"{ratio.value:.2f}x ({ratio.low:.2f} to {ratio.high:.2f})"


def because(outlooks: Sequence[Outlook], memory: Memory | None) -> Iterator[str]:
    """What the sentence rests on: acceptance, rounds and their parts, every other outlook, and memory."""
    weighed = [each for each in outlooks if each.tree_tau and each.chain_tau]
    if weighed:
        yield from _acceptance(weighed[0])
    for outlook in outlooks:
        yield f"Batch {outlook.batch}, {WHOSE[outlook.kernels]}: {_line(outlook)}."
    yield from _ours(outlooks)
    for outlook in weighed[:1]:
        yield from (f"{_round(each)}." for each in (outlook.tree_round, outlook.chain_round) if each)
        if outlook.common_us and outlook.common_us.source != NONE.source:  # nothing is worth a word where it was given
            yield f"Added to both rounds: {_ms(outlook.common_us)}, {outlook.common_us.source}."
        if outlook.extra_us and outlook.extra_us.high:
            yield f"Added to the tree's: {_ms(outlook.extra_us)}, {outlook.extra_us.source}."
    if memory:
        yield from _memory(memory)


def _ours(outlooks: Sequence[Outlook]) -> Iterator[str]:
    """Which parts of the engine's column are not the engine's."""
    theirs = [each for each in outlooks if each.kernels == "engine"]
    rounds = [made for each in theirs for made in (each.tree_round, each.chain_round) if made]
    parts = {
        f"{part.name} of the {made.shape}" for made in rounds for part in made.parts if NOT_TIMED in part.us.source
    }
    if parts:
        listed = ", ".join(sorted(parts))
        yield f"With the bundled kernels also in the engine's column, since none of its own was timed: {listed}."


def _acceptance(outlook: Outlook) -> Iterator[str]:
    assert outlook.tree_tau is not None
    assert outlook.chain_tau is not None
    yield f"Tokens per pass of the tree: {_tau(outlook.tree_tau)} ({outlook.tree_tau.source.removesuffix('.')})."
    yield f"Tokens per pass of the chain: {_tau(outlook.chain_tau)} ({outlook.chain_tau.source.removesuffix('.')})."


def _tau(tau: Quantity | None) -> str:
    if tau is None:
        return "no number of"
    return f"{tau.value:.3g}" + (f" ({tau.low:.3g} to {tau.high:.3g})" if tau.low != tau.high else "")


def _line(outlook: Outlook) -> str:
    if outlook.ratio is None:
        return f"no number, since {outlook.why.removesuffix('.')}"
    if outlook.ratio.ground is Ground.BOUND:
        return f"at most {outlook.ratio.high:.2f}x" + (f"; {outlook.why}" if outlook.why else "")
    return (
        f"{outlook.nodes} drafts against {outlook.chain}: {_ratio(outlook.ratio)}, {_WORDS[outlook.decision]}; the tree"
        f" wins from {_tau(outlook.break_even_tau)} tokens per pass on"
    )


_WORDS = {
    Decision.WIN: "a tree pays",
    Decision.LOSE: "keep the chain",
    Decision.TOO_CLOSE: "too close to call",
    Decision.CANNOT_TELL: "cannot tell",
    Decision.FIX_THE_DRAFTER_FIRST: "fix the drafter first",
}
_GROUNDS = {
    Ground.MEASURED: "measured",
    Ground.BETWEEN: "between measured cases",
    Ground.GIVEN: "given",
    Ground.BOUND: "at the data sheet's rates",
    Ground.ASSUMED: "assumed",
}


def _round(made: Round) -> str:
    parts = ", ".join(f"{part.name} {part.us.value / 1000:.3g} ({_GROUNDS[part.us.ground]})" for part in made.parts)
    of = f"{made.drafts} drafts in a {made.shape}"
    return f"A round of {of} takes {_ms(made.us)}" + (f": {parts}" if parts else f", {_GROUNDS[made.us.ground]}")


def _ms(us: Quantity) -> str:
    within = f" ({us.low / 1000:.3g} to {us.high / 1000:.3g})" if us.low != us.high else ""
    return f"{us.value / 1000:.3g} ms{within}"


def _memory(memory: Memory) -> Iterator[str]:
    if memory.state_bytes:
        each = memory.state_bytes + memory.window_bytes
        yield (
            f"A node keeps {each / (1 << 20):.3g} MiB of recurrent state and window for each sequence:"
            f" {memory.nodes * each / GIB:.3g} GiB for {memory.nodes} nodes, {memory.chain * each / GIB:.3g} GiB for a"
            f" chain of {memory.chain}; where states are computed again,"
            f" {memory.nodes * memory.replay_bytes / GIB:.2g} GiB."
        )
    if memory.sequences_chain:
        yield (
            f"Sequences of {memory.context:,} tokens that fit: {memory.sequences_chain} with the chain,"
            f" {memory.sequences_tree} with a state for each node, {memory.sequences_replayed} where states are"
            f" computed again ({memory.source})."
        )


def changes(outlooks: Sequence[Outlook], runs: Standing | None) -> Iterator[str]:
    """What would turn the decision."""
    outlook = next(iter(headline(outlooks, runs)), None)
    if outlook is None or outlook.ratio is None or outlook.tree_tau is None:
        return
    if outlook.break_even_tau and outlook.spare_us:
        side = "Fewer" if outlook.ratio.value > 1 else "More"
        even, now = _tau(outlook.break_even_tau), f"{outlook.tree_tau.value:.3g}"
        yield f"{side} tokens per pass of the tree than {even} would turn it; now it is {now}."
        more = "more" if outlook.spare_us.value > 0 else "less"
        yield f"A tree's round that takes {abs(outlook.spare_us.value) / 1000:.3g} ms {more} would turn it."


def missing(outlooks: Iterable[Outlook]) -> Iterator[str]:
    """What would make it firmer."""
    known = []
    for each in outlooks:
        if each.kernels != "given":
            known.append(each)
        elif each.chain > 1:
            yield "What rounds of shorter chains take: the best of them is the fair opponent, and may beat both."
    if not known:
        return
    if any(each.common_us and each.common_us.ground is Ground.ASSUMED for each in known):
        yield "How long a draft and the host take, --draft-ms, or what a whole round of the chain takes, --linear-ms."
    if any(each.kernels.startswith("floor") for each in known):
        yield "Times of this model's shapes on this GPU, or another of its model: recon probe-kernels --full --model."
    if not any(each.kernels == "engine" and each.ratio for each in known):
        yield "Times of the engine's own acceptance: recon probe-kernels --engine-baselines."
    if any(each.chain_tau.ground is Ground.ASSUMED for each in known if each.chain_tau):
        yield "How often each place of a chain is accepted: the server's metrics, or a trace."
