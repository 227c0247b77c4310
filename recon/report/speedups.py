"""What a tree brings over the best chain, as a map: a row for each kind of kernels, a column for each batch."""

from dataclasses import dataclass

from recon.records.cost import Ground
from recon.records.estimate import Decision, Estimate, Outlook
from recon.report.findings import label_of
from recon.report.numbers import ratio, ratios
from recon.report.view import View
from recon.report.words import DECISIONS

KERNELS = {
    "bundled": "kernels as good as recon's own",
    "engine": "kernels as engines have them",
    "given": "times that were given",
    "floor": "the data sheet's floor",
    "floor_kept": "the data sheet's floor, a state kept for each node",
}
_STYLES = {Decision.WIN: "yes", Decision.LOSE: "no", Decision.TOO_CLOSE: "partly"}


@dataclass(frozen=True, slots=True)
class Cell:
    """One batch with one kind of kernels."""

    style: str
    """Class of its colour; its word says the same."""
    told: str
    """The ratio with its interval, or a bound on it; empty where there is none."""
    word: str
    also: tuple[str, ...]
    """Between which two, tokens per pass to break even, for which unknown times it holds, and what is lacking."""


@dataclass(frozen=True, slots=True)
class Point:
    """One batch with trees of one size."""

    batch: int
    nodes: int
    """Drafts; 0 for the size that is best there."""
    says: str
    """What was weighed there, by kernels, in one line."""


@dataclass(frozen=True, slots=True)
class Speedups:
    """The map of one estimate."""

    label: str
    batches: tuple[int, ...]
    rows: tuple[tuple[str, tuple[Cell | None, ...]], ...]
    """Kernels and context, and a cell for each batch."""
    points: tuple[Point, ...]
    """To be looked up one by one."""


def points_of(estimate: Estimate) -> tuple[Point, ...]:
    """Every batch and size that was weighed; none where there is nothing to choose from."""
    found: dict[tuple[int, int], list[Outlook]] = {}
    for nodes, outlook in (
        *((0, each) for each in estimate.outlooks),
        *((each.nodes, each) for each in estimate.sizes),
    ):
        found.setdefault((outlook.batch, nodes), []).append(outlook)
    if len(found) < 2 or not any(each.ratio for some in found.values() for each in some):
        return ()
    return tuple(Point(*key, "; ".join(map(_said, some))) for key, some in sorted(found.items()))


def _said(outlook: Outlook) -> str:
    cell = _cell(outlook)
    told = f"{cell.told} {cell.word}".strip()
    return f"{KERNELS.get(outlook.kernels, outlook.kernels)}: {', '.join((told, *cell.also))}"


def speedups_of(view: View) -> tuple[Speedups, ...]:
    """The map of each estimate in which a tree was weighed against a chain."""
    labels = {install.id: label_of(install) for install in view.run.installs}
    return tuple(
        _map(labels.get(each.subject, ""), each)
        for each in view.run.estimates
        if any(outlook.ratio for outlook in each.outlooks)
    )


def _map(label: str, estimate: Estimate) -> Speedups:
    rows: dict[str, dict[int, Outlook]] = {}
    for each in estimate.outlooks:
        name = f"{KERNELS.get(each.kernels, each.kernels)}, context {each.context}"
        rows.setdefault(name, {})[each.batch] = each
    batches = tuple(sorted({batch for some in rows.values() for batch in some}))
    return Speedups(
        label,
        batches,
        tuple(
            (name, tuple(_cell(some[batch]) if batch in some else None for batch in batches))
            for name, some in rows.items()
        ),
        points_of(estimate),
    )


def _cell(outlook: Outlook) -> Cell:
    told, also = "", []
    if outlook.ratio:
        bound = outlook.ratio.ground is Ground.BOUND
        told = f"at most {ratio(outlook.ratio.high)}" if bound else ratio(outlook.ratio.value)
        also += [] if bound else [ratios(outlook.ratio.low, outlook.ratio.high)]
        also.append(f"tree of {outlook.nodes}, chain of {outlook.chain}")
    if outlook.break_even_tau:
        also.append(f"breaks even at {outlook.break_even_tau.value:.2f} tokens a pass")
    also += [each for each in (outlook.holds and f"for {outlook.holds}", outlook.why) if each]
    return Cell(_STYLES.get(outlook.decision, "unknown"), told, DECISIONS[outlook.decision], tuple(also))
