"""`recon estimate`: would a tree pay? Acceptance from what is known of a drafter, times from probes and data sheets."""

from enum import Enum
from typing import Annotated

import typer

from recon.cli.hosts import refuse_empty, refuse_idle
from recon.cli.scan import keep, leave
from recon.cli.session import session_of
from recon.errors import Exit, Usage

LARGEST = 4096
"""Drafts in a tree."""
_COSTS = (
    *("tp", "weights", "kv", "state", "sampled", "batch", "ctx", "draft_ms", "host_ms", "linear_ms"),
    *("gpu", "probe", "scan"),
)


class Weights(Enum):
    """What a model's numbers are held in."""

    BF16 = "bf16"
    FP8 = "fp8"


class State(Enum):
    """What recurrent states are held in."""

    AUTO = "auto"
    FP32 = "fp32"
    BF16 = "bf16"


def estimate(
    context: typer.Context,
    *,
    family: Annotated[
        str, typer.Option("--family", metavar="NAME", help="Family of the drafter: dflash, dflash2, eagle3.")
    ] = "",
    linear_tau: Annotated[
        float | None,
        typer.Option("--linear-tau", metavar="TAU", help="Tokens per pass of the chain, the target's own counted."),
    ] = None,
    trace: Annotated[
        str, typer.Option("--trace", metavar="FILE", help="An acceptance trace, to be replayed: see recon trace.")
    ] = "",
    metrics: Annotated[
        str,
        typer.Option("--metrics", metavar="FILE", help="What a server counted, saved to a file: see recon trace."),
    ] = "",
    ranks: Annotated[
        str,
        typer.Option("--ranks", metavar="FILE", help="How often each rank is right: of static trees, see recon trace."),
    ] = "",
    block: Annotated[
        int | None,
        typer.Option("--block", metavar="L", min=2, max=65, help="Tokens of a block: the longest chain, and one."),
    ] = None,
    base: Annotated[
        int,
        typer.Option(
            "--base", metavar="N", min=0, max=LARGEST, help="--linear-tau is of a tree of N drafts, not of a chain."
        ),
    ] = 0,
    budget: Annotated[
        str, typer.Option("--budget", metavar="N|best", help="Drafts in the tree, or best for what suits best.")
    ] = "best",
    builder: Annotated[
        str,
        typer.Option(
            "--builder", metavar="NAME", help="heap, spine+siblings, eagle(STEPS,TOPK), static(FILE) or sequoia."
        ),
    ] = "",
    tree_tau: Annotated[
        float | None,
        typer.Option("--tree-tau", metavar="TAU", help="Tokens per pass of the tree of --budget, where you know it."),
    ] = None,
    model: Annotated[
        str, typer.Option("--model", metavar="NAME|FILE", help="Weigh times too: of this preset, or config.json.")
    ] = "",
    tp: Annotated[int, typer.Option("--tp", min=1, max=1024, metavar="N", help="GPUs that share the model.")] = 1,
    weights: Annotated[Weights, typer.Option("--weights", help="What weights are held in.")] = Weights.BF16,
    kv: Annotated[Weights, typer.Option("--kv", help="What keys and values are held in.")] = Weights.BF16,
    state: Annotated[
        State, typer.Option("--state", help="What recurrent states are held in; auto as the configuration says.")
    ] = State.AUTO,
    sampled: Annotated[bool, typer.Option("--sampled", help="Drafts are accepted by chance, not greedily.")] = False,
    batch: Annotated[str, typer.Option("--batch", metavar="A,B,C", help="Requests that are served together.")] = "1",
    ctx: Annotated[
        str, typer.Option("--context", metavar="N", help="Tokens of each before the drafts, e.g. 8k.")
    ] = "8k",
    draft_ms: Annotated[
        str, typer.Option("--draft-ms", metavar="MS|LOW..HIGH", help="What chain and tree have in common: the draft.")
    ] = "",
    host_ms: Annotated[
        str, typer.Option("--host-ms", metavar="MS|LOW..HIGH", help="What the host adds to a tree's round alone.")
    ] = "",
    linear_ms: Annotated[
        str,
        typer.Option("--linear-ms", metavar="MS|LOW..HIGH", help="A whole round of the longest chain, at one batch."),
    ] = "",
    tree_ms: Annotated[
        str, typer.Option("--tree-ms", metavar="MS|LOW..HIGH", help="A whole round of the tree of --budget, likewise.")
    ] = "",
    gpu: Annotated[str, typer.Option("--gpu", metavar="NAME", help="The card that is meant, e.g. 'RTX 5090'.")] = "",
    probe: Annotated[
        list[str] | None,
        typer.Option("--probe", metavar="RUN", help="Times: a file, or a name of `recon runs list`; repeatable."),
    ] = None,
    scan: Annotated[
        str, typer.Option("--scan", metavar="RUN", help="The scan that tells whether an engine could run a tree.")
    ] = "",
    json: Annotated[bool, typer.Option("--json", help="Print the estimate as JSON.")] = False,
) -> None:
    """Tell whether a draft tree would pay: tokens per pass over time per round, against the best chain.

    Acceptance comes from a trace, a server's counts, or a mean and the drafter's family; alone it decides nothing.
    With --model, times come from the newest probe of this machine or of another GPU of its model, told twice: with
    kernels as good as the bundled ones, and with the engine's. Where nothing was measured, the data sheet of the card
    bounds them. With --linear-ms and --tree-ms, times are yours. What is not known is swept over a plausible range,
    and the sentence says for which it holds. A drafter that is hardly ever accepted is to be mended first. Where
    times are weighed the estimate is saved, with a number or without, and `recon report` begins with it.

    Exit codes: 0 done, 2 usage, or no such run, file or model, 3 no number is given.
    """
    from recon.cli.acceptance import Asked, acceptance_of
    from recon.cli.accepted import as_json, as_rows, tree_of
    from recon.cli.lines import folded
    from recon.cli.weighing import Costs, Weighed, estimates_of, supplied
    from recon.records.acceptance_length import Withheld
    from recon.report.leading import leading

    refuse_empty(context)
    session = session_of(context)
    nodes = _nodes(budget)
    found = acceptance_of(Asked(family, linear_tau, trace, metrics, block, base, builder, ranks), nodes)
    if tree_tau is not None:
        found = supplied(found, nodes, tree_tau, builder, family)
    known = (tp, weights.value, kv.value, state.value, sampled, batch, ctx)
    costs = Costs(model, *known, draft_ms, host_ms, linear_ms, tree_ms, gpu, tuple(probe or ()), scan)
    if not costs.given:
        refuse_idle(context, _COSTS, "is about times, and none are weighed", "Add --model NAME, or --tree-ms MS.")
    asked = estimates_of(session, found, costs, nodes) if costs.given else Weighed()
    weighed = asked.estimates
    best = next((each.nodes for estimate in weighed for each in estimate.outlooks if each.nodes), 0)
    tree = tree_of(found, nodes or best)
    first = leading(weighed, asked.installs, asked.hosts)
    told = as_json(found, tree, weighed) if json else as_rows(found, tree, weighed, first)
    session.data(folded(told, session.width, alone=True) if session.screen and not json else told)
    numbered = any(each.ratio for estimate in weighed for each in estimate.outlooks)
    if weighed:  # also one without a number: the report would else begin with what was said before
        from recon.pipeline import estimated

        keep(session, estimated(weighed, asked.hosts))
    lacks = isinstance(tree, Withheld) or (costs.given and not numbered)
    leave(Exit.INCOMPLETE if lacks else Exit.OK)


def _nodes(budget: str) -> int:
    from recon.estimates.families import BEST
    from recon.numbers import number

    nodes = BEST if budget == "best" else number(budget)
    if nodes is None or (nodes == BEST and budget != "best"):
        raise Usage(f"{budget!r} is no budget", "Give a number of drafts, or best.")
    if nodes > LARGEST:
        raise Usage(f"A tree of {nodes} drafts is larger than any", f"Trees have up to {LARGEST}.")
    return nodes
