"""`recon trace`: files from which acceptance is known."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recon.cli.session import path_of, session_of
from recon.errors import BadMetrics, Unreadable, Usage

if TYPE_CHECKING:
    from recon.estimates.counts import Counts
    from recon.estimates.formats import Format
    from recon.estimates.replay import Replay
    from recon.estimates.sources import Kind

app = typer.Typer(help="Describe, check, convert and write files that tell of acceptance.", no_args_is_help=True)

BUDGETS = (16, 32, 64, 128, 256)
"""Budgets at which a trace is asked whether it kept enough."""


@app.command("formats")
def formats(
    context: typer.Context, *, json: Annotated[bool, typer.Option("--json", help="Print them as JSON.")] = False
) -> None:
    """Say which files are read, what is in them, and what each tells and does not tell.

    Exit codes: 0 done.
    """
    import msgspec

    from recon.estimates.formats import FORMATS

    session = session_of(context)
    if json:
        session.data(msgspec.json.format(msgspec.json.encode(FORMATS), indent=1).decode() + "\n")
        return
    session.data("\n".join(_described(each, session.width if session.screen else sys.maxsize) for each in FORMATS))


def _described(each: "Format", width: int) -> str:
    """A format in its lines: examples as they are, what is said of them by the width of the screen."""
    from recon.cli.lines import folded

    begin = next((at for at, line in enumerate(each.holds) if line[0].isupper()), len(each.holds))
    what = folded(f"  {each.what}\n", width)
    means = folded(_indented(each.holds[begin:]), width)
    ends = folded(f"  Tells: {each.tells}\n  Silent on: {each.silent}\n", width, alone=True)
    return f"{each.kind.value}\n{what}{_indented(each.holds[:begin])}{means}{ends}"


@app.command("check")
def check(
    context: typer.Context,
    file: Annotated[str, typer.Argument(metavar="FILE", help="A trace, metrics, responses, or converted counts.")],
    *,
    json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
) -> None:
    """Say what a file is, whether it is in order, and what can be estimated from it.

    What is wrong is named with its line. All of a trace is read, and replayed.

    Exit codes: 0 in order, 2 no such file, 3 not in order.
    """
    import msgspec

    from recon.estimates.sources import Kind

    kind = _kind(file)
    findings = {Kind.TRACE: _of_trace, Kind.TABLE: _of_table}.get(kind, _of_counts)(file)
    if json:
        session_of(context).data(msgspec.json.format(msgspec.json.encode(findings), indent=1).decode() + "\n")
        return
    from recon.report.text import visible

    session_of(context).data("".join(f"{visible(line)}\n" for line in _told(findings)))


@app.command("convert")
def convert(
    context: typer.Context,
    file: Annotated[str, typer.Argument(metavar="FILE", help="Metrics or responses of a server, or a trace.")],
    *,
    since: Annotated[
        str, typer.Option("--since", metavar="FILE", help="Earlier metrics of the server; what they count is left out.")
    ] = "",
) -> None:
    """Print what was counted as one line of JSON, and nothing else of the file.

    Of metrics and responses these are rounds by accepted drafts, for `recon estimate --metrics`; of a trace it is how
    often each rank was right at each depth, for `recon estimate --ranks`.

    Exit codes: 0 done, 2 no such file, 3 it holds no counts.
    """
    from recon.cli.acceptance import counted, lines_of
    from recon.estimates import exposition
    from recon.estimates.saved_counts import encoded
    from recon.estimates.sources import Kind

    kind = _kind(file)
    if since:
        if {kind, _kind(since)} != {Kind.EXPOSITION}:
            raise Usage("--since is for metrics, and metrics before them", "Give two texts of Prometheus.")
        text = encoded(exposition.read(lines_of(file), lines_of(since)))
    else:
        text = _table(file) if kind is Kind.TRACE else encoded(counted(file, None))
    session_of(context).data(f"{text}\n")


@app.command("hook")
def hook(
    context: typer.Context,
    folder: Annotated[str, typer.Argument(metavar="FOLDER", help="Where the files go; made if it is not there.")],
) -> None:
    """Write a folder that makes vLLM or SGLang write an acceptance trace.

    It does so when it is on PYTHONPATH and RECON_TRACE names the trace. Nothing is installed, and nothing is
    overwritten. How to start the engine stands at the head of the file.

    Exit codes: 0 done, 2 a file is there already, 3 a file cannot be written.
    """
    from importlib.resources import files

    source = files("recon.recipes").joinpath("trace_hook.py").read_text(encoding="utf-8")
    entry = "recon-trace-hook = recon_trace_hook:plug_in\n"
    points = f"[vllm.general_plugins]\n{entry}[sglang.srt.plugins]\n{entry}"
    made = {
        "recon_trace_hook.py": source,
        "recon_trace_hook-1.dist-info/METADATA": "Metadata-Version: 2.1\nName: recon-trace-hook\nVersion: 1\n",
        "recon_trace_hook-1.dist-info/entry_points.txt": points,
    }
    place = path_of(folder)
    for name in made:
        if (place / name).exists():
            raise Usage(f"{place / name} is there already", "Nothing was written.")
    for name, text in made.items():
        _write(place / name, text)
        session_of(context).data(f"{place / name}\n")


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise Unreadable(f"cannot write {path}: {error.strerror or error}") from error


def _indented(lines: tuple[str, ...]) -> str:
    return "".join(f"    {line}\n" for line in lines)


def _kind(name: str) -> "Kind":
    from recon.cli.acceptance import lines_of
    from recon.estimates.sources import kind_of

    first = next((line for line in lines_of(name) if line.strip()), "")
    if not first:
        raise BadMetrics("The file is empty")
    return kind_of(first)


def _of_table(name: str) -> dict[str, object]:
    """How large a table is, and what can be known from it.

    Raises:
        BadTable: It is not in order.
    """
    from recon.cli.acceptance import lines_of
    from recon.estimates.saved_table import decoded

    table = decoded("".join(lines_of(name)), 1)
    deep, wide = len(table.spine), len(table.spine[0])
    below = "" if table.off else ", with nothing below other tokens than the best"
    supports = [
        f"chains of 1 to {deep} drafts",
        f"static trees up to {deep} deep and {wide} wide{below}",
        "no intervals",
    ]
    return {"kind": "table", "depths": deep, "ranks": wide, "supports": supports}


def _table(name: str) -> str:
    """How often each rank of a trace was right.

    Raises:
        BadTrace: It is not in order, or its rows tell nothing of other tokens than the best.
    """
    from recon.cli.acceptance import lines_of
    from recon.errors import BadTrace
    from recon.estimates.replay import in_order
    from recon.estimates.saved_table import encoded
    from recon.estimates.table import counted
    from recon.estimates.trace import read

    header, positions = read(lines_of(name))
    if header.conditional:
        raise BadTrace("Each row of the trace was made for the best tokens before it", "A table would mix them up.")
    rows = in_order(header, positions)
    return encoded(counted(rows, header.length, header.width), f"a trace of {header.drafter or 'a drafter'}")


def _of_trace(name: str) -> dict[str, object]:
    """What a trace holds, and what can be known from it.

    Raises:
        BadTrace: It is not in order; with the number of the line.
    """
    from recon.cli.acceptance import lines_of
    from recon.estimates.replay import Replay
    from recon.estimates.trace import read
    from recon.estimates.trees import Heap

    header, positions = read(lines_of(name))
    replay = Replay(header, positions, Heap(), BUDGETS[-1])
    requests = [tokens for tokens, _ in replay.linear_rounds(0)]
    return {
        "kind": "trace",
        "header": header,
        "requests": len(requests),
        "positions": sum(requests),
        "supports": list(_supports_of_trace(replay, len(requests))),
    }


def _supports_of_trace(replay: "Replay", requests: int) -> Iterator[str]:
    from recon.estimates.replay import FEWEST, FEWEST_ROUNDS
    from recon.records.acceptance_length import AcceptanceLength

    header = replay.header
    yield f"chains of 1 to {header.length} drafts"
    known = [nodes for nodes in BUDGETS if isinstance(replay.length(nodes), AcceptanceLength)]
    exact = [nodes for nodes in known if not replay.unseen(nodes)]
    if header.conditional:
        yield "no trees: each row was made for the best tokens before it"
    elif not known:
        yield f"no best-first tree of {BUDGETS[0]} drafts: more than {header.width} tokens of a position are wanted"
    else:
        sure = f", exactly up to {exact[-1]}" if exact and exact[-1] != known[-1] else ", exactly" if exact else ""
        yield f"best-first trees of up to {known[-1]} drafts, of {BUDGETS[-1]} that were tried{sure}"
    many = sum(passes for _, passes in replay.linear_rounds(header.length)) >= FEWEST_ROUNDS
    few = f"{FEWEST_ROUNDS} rounds" if requests >= FEWEST else f"{FEWEST} requests"
    yield "intervals" if requests >= FEWEST and many else f"no intervals: fewer than {few}"


def _of_counts(name: str) -> dict[str, object]:
    """What counts hold, and what can be known from them.

    Raises:
        BadMetrics: They are not in order; with the number of the line.
    """
    from recon.cli.acceptance import counted

    counts = counted(name, None)
    return {
        "kind": "counts",
        "counts": counts,
        "requests": len(counts.requests),
        "supports": list(_supports_of_counts(counts)),
    }


def _supports_of_counts(counts: "Counts") -> Iterator[str]:
    from recon.estimates.replay import FEWEST, FEWEST_ROUNDS

    if counts.cut:
        yield "one mean, of chains of different lengths: no other length, and no trees"
        return
    if not counts.reached:
        yield "one mean: no other length; trees by the law of the drafter's family"
        return
    yield f"chains of 1 to {counts.length} drafts"
    yield "trees by the model of rounds (dflash), else by the law of the drafter's family; builders are theirs"
    if counts.rounds < FEWEST_ROUNDS:
        yield f"no numbers: fewer than {FEWEST_ROUNDS} rounds"
    elif len(counts.requests) < FEWEST:
        yield f"intervals as if rounds were independent, the narrowest: fewer than {FEWEST} requests told apart"
    else:
        yield "intervals"


def _told(findings: dict[str, object]) -> Iterator[str]:
    from recon.estimates.counts import Counts
    from recon.estimates.trace import Header
    from recon.report.numbers import counted, significant

    header, counts = findings.get("header"), findings.get("counts")
    if isinstance(header, Header):
        yield (
            f"A trace: {findings['positions']:,} positions of {findings['requests']:,} requests, {header.length} drafts"
            f" a round, {header.width} tokens kept, temperature {header.temperature:g}."
        )
        known = (("drafter", header.drafter), ("model", header.model), ("engine", header.engine))
        yield "".join(f"{name} {value}  " for name, value in known if value).strip()
    if "ranks" in findings:
        yield f"A table of ranks: {findings['depths']} depths, {findings['ranks']} ranks."
    if isinstance(counts, Counts):
        rounds = counted(counts.rounds, "round") if counts.reached else "a mean"
        yield f"Counts ({counts.source}): {rounds}, {significant(counts.mean)} tokens per pass."
        if counts.reached:
            shares = " ".join(significant(share) for share in counts.survival)
            yield f"Accepted at least 1, 2, ... drafts: {shares}"
        yield from counts.notes
    supports = findings["supports"]
    assert isinstance(supports, list)
    yield "What can be told from it:"
    yield from (f"  {each}" for each in supports)
