"""From what a person gives (a mean, a file of counts, a trace) to what is known of acceptance."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING

from recon.cli.session import path_of
from recon.errors import NotFound, Unreadable, Usage

if TYPE_CHECKING:
    from recon.estimates.acceptance import Acceptance
    from recon.estimates.counts import Counts
    from recon.estimates.trees import Builder

_PACKED = (b"\x1f\x8b", b"PK\x03\x04", b"\x28\xb5\x2f\xfd", b"BZh", b"\xfd7zX")
"""How files of gzip, zip, zstd, bzip2 and xz begin."""
MOST = 256
"""Budget up to which trees are looked at unless a larger one is asked for."""
BUILDERS = "heap, spine+siblings, eagle(STEPS,TOPK), static(FILE), sequoia"


@dataclass(frozen=True, slots=True)
class Asked:
    """What a person gives to tell acceptance from."""

    family: str = ""
    linear_tau: float | None = None
    trace: str = ""
    metrics: str = ""
    block: int | None = None
    base: int = 0
    builder: str = ""
    ranks: str = ""


def acceptance_of(asked: Asked, nodes: int) -> "Acceptance":
    """What is known of acceptance, for trees of `nodes` drafts and of others; 0 where no budget is asked for.

    Raises:
        Usage: Nothing is given, or things that do not go together.
        ReconError: As the readers of files say.
    """
    sources = {
        "--linear-tau": asked.linear_tau is not None,
        "--trace": asked.trace,
        "--metrics": asked.metrics,
        "--ranks": asked.ranks,
    }
    given = [name for name, value in sources.items() if value]
    if len(given) != 1:
        raise Usage(
            f"{' and '.join(given)} tell of the same thing" if given else "Nothing is given to tell acceptance from",
            "Give one of --trace, --metrics, --ranks and --linear-tau.",
        )
    if asked.builder == "sequoia" and not ((asked.trace or asked.ranks) and nodes):
        raise Usage("sequoia makes one tree for one budget", "Give --budget N, and --trace or --ranks.")
    if asked.trace:
        if asked.block is not None or asked.base:
            raise Usage("A trace says itself how long its blocks are", "Leave --block and --base out.")
        return replayed(asked.trace, nodes if asked.builder == "sequoia" else max(nodes, MOST), asked.builder)
    block = asked.block or 16
    if asked.ranks:
        return tabled(asked.ranks, max(nodes, MOST), asked.builder, block, nodes)
    counts = counted(asked.metrics, asked.block) if asked.linear_tau is None else told(asked.linear_tau, block)
    if not counts.length and not counts.cut:
        raise Usage(f"{asked.metrics} does not say how long its chains are", "Add --block: their drafts, and one.")
    return of_counts(counts, asked.family, max(nodes, MOST), builder_of(asked.builder), asked.base)


def lines_of(name: str) -> Iterator[str]:
    """Lines of a text file, one at a time; one that is too long comes in pieces, which no reader takes for a line.

    Raises:
        NotFound: There is no such file.
        Unreadable: It is there and cannot be read.
    """
    from recon.estimates.trace import LINE

    path = path_of(name)
    if path.is_dir():
        raise NotFound(f"{path} is a folder", "Name a file.")
    try:
        with path.open("rb") as content:
            _refuse_coded(path, content.peek(4)[:4])
            file = TextIOWrapper(content, encoding="utf-8-sig", errors="replace")
            while line := file.readline(LINE + 2):
                yield line
    except FileNotFoundError:
        raise NotFound(f"There is no file {path}") from None
    except OSError as error:
        raise Unreadable(f"{path} cannot be read: {error.strerror or error}") from error


def _refuse_coded(path: Path, beginning: bytes) -> None:
    """Raise where a file is no text, or none in UTF-8, by how it begins."""
    if beginning.startswith(_PACKED):
        raise Unreadable(f"{path} is compressed", "Unpack it first.")
    if beginning.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in beginning:
        raise Unreadable(f"{path} is text in UTF-16, or none at all", "Save it as UTF-8.")


def told(tau: float, block: int) -> "Counts":
    """A mean that a person gives.

    Raises:
        Usage: Blocks of this many tokens do not give it.
    """
    from recon.estimates.counts import Counts

    if not 1 <= tau <= block:
        raise Usage(f"{tau:g} tokens per pass do not come from blocks of {block}", "tau counts the target's own token.")
    return Counts("as told", block - 1, 0, (), tau)


def counted(name: str, block: int | None) -> "Counts":
    """Counts out of a file; `block` tells how long chains were where the file does not, or is longer than it shows.

    Raises:
        Usage: The file has longer chains than that.
        BadMetrics, NotFound, Unreadable: As its readers say.
    """
    from recon.estimates.sources import counts_of

    counts = counts_of(lines_of(name))
    if block is None or counts.cut:
        return counts
    if block - 1 < counts.length:
        raise Usage(f"{name} tells of chains of {counts.length} drafts, and --block of {block - 1}")
    if block < counts.mean:
        raise Usage(f"{name} tells of {counts.mean:g} tokens per pass, which blocks of {block} do not give")
    more = (0,) * (block - 1 - counts.length) if counts.reached else ()
    return replace(counts, length=block - 1, reached=counts.reached + more)


def of_counts(counts: "Counts", family: str, most: int, builder: "Builder | None", base: int = 0) -> "Acceptance":
    """By the model of rounds that differ where it knows family and chains, else by the law of the family."""
    from recon.estimates.acceptance import ByLaw, ByModel
    from recon.estimates.dynamic import LARGEST
    from recon.estimates.families import plain
    from recon.records.acceptance_length import Withheld

    if counts.reached and not base:
        model = ByModel(counts, family, min(most, LARGEST), builder)
        if model.budgets:
            return model
        refused = model.tree(1)
        if isinstance(refused, Withheld) and plain(family) == "dflash" and not refused.mend:
            counts = replace(counts, notes=(*counts.notes, f"Rounds were not drawn: {refused.reason}"))
    return ByLaw(counts, family, counts.length + 1, base, builder)


def tabled(name: str, most: int, builder: str, block: int, nodes: int) -> "Acceptance":
    """Out of a table of ranks; `block` tells how deep it is where it is a list of rates alike at all depths.

    Raises:
        Usage: The builder is none, or makes no tree of that size.
        BadTable, NotFound, Unreadable: As its readers say.
    """
    from recon.estimates.acceptance import ByTable
    from recon.estimates.saved_table import LARGEST, decoded

    rates = decoded("".join(_at_most(name, LARGEST)), block - 1)
    if builder != "sequoia":
        return ByTable(rates, most, builder_of(builder))
    if len(set(rates.spine)) > 1:
        raise Usage("sequoia takes rates that are alike at all depths", "Leave --builder out for the best static tree.")
    return ByTable(rates, most, _sequoia_of(rates.spine[0], nodes, len(rates.spine)))


def replayed(name: str, most: int, builder: str) -> "Acceptance":
    """A trace, replayed for trees of up to `most` drafts; sequoia's tree is made of the trace itself, for that budget.

    Raises:
        Usage: The builder is none, or makes no tree of that size.
        BadTrace, NotFound, Unreadable: As its readers say.
    """
    from recon.estimates.acceptance import ByReplay
    from recon.estimates.replay import Replay
    from recon.estimates.trace import read
    from recon.estimates.trees import Heap, Static

    own = builder == "sequoia"
    built = _sequoia(name, most) if own else builder_of(builder) or Heap()
    most = max(most, len(built.paths)) if isinstance(built, Static) else most
    header, positions = read(_trace_lines(name))
    notes = ("The tree was made of the trace that it is replayed on, which flatters it a little.",) if own else ()
    return ByReplay(Replay(header, positions, built, most), notes)


def _sequoia(name: str, nodes: int) -> "Builder":
    from recon.estimates.table import rates_by_rank
    from recon.estimates.trace import read

    header, positions = read(_trace_lines(name))
    return _sequoia_of(rates_by_rank(positions, header.width), nodes, header.length)


def _sequoia_of(rates: tuple[float, ...], nodes: int, deepest: int) -> "Builder":
    from recon.estimates.sequoia import MOST as LARGEST
    from recon.estimates.sequoia import Sequoia

    if nodes > LARGEST:
        raise Usage(f"sequoia makes trees of up to {LARGEST} nodes, not {nodes}")
    return Sequoia(rates, nodes, deepest=deepest, widest=16).tree(nodes)


def _trace_lines(name: str) -> Iterator[str]:
    from recon.estimates.sources import refuse_others

    for number, line in enumerate(lines_of(name)):
        if not number:
            refuse_others(line)
        yield line


def builder_of(words: str) -> "Builder | None":
    """The builder that a person names; None where none is named.

    >>> builder_of("eagle(6, 10)").name
    'eagle(steps=6, topk=10)'

    Raises:
        Usage: It is none, or its tree is none.
    """
    from recon.estimates.trees import Eagle, Heap, Spine, static

    eagle = re.fullmatch(r"eagle\((?:steps=)?(\d{1,2}), *(?:topk=)?(\d{1,3})\)", words)
    if eagle and int(eagle[1]) and int(eagle[2]):
        return Eagle(int(eagle[1]), int(eagle[2]))
    if words.startswith("static(") and words.endswith(")"):
        name = words[len("static(") : -1]
        return static("".join(_at_most(name, 1 << 20)), f"static({path_of(name).name})")
    known = {"": None, "heap": Heap(), "spine+siblings": Spine(), "spine": Spine()}
    if words not in known:
        raise Usage(f"{words!r} is no builder of trees", f"Known are {BUILDERS}.")
    return known[words]


def _at_most(name: str, characters: int) -> Iterator[str]:
    for line in lines_of(name):
        characters -= len(line)
        if characters < 0:
            raise Usage(f"{name} is too long for a tree or a table")
        yield line
