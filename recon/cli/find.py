"""`recon find`: what is called so, in the trees of a saved run."""

from enum import Enum
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Annotated

import typer

from recon.cli.session import Session, session_of
from recon.errors import Exit, Usage

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recon.cli.asking import Tree
    from recon.kept.parts import Mark
    from recon.records.install import Install


class FindKind(Enum):
    """What to look for."""

    FUNCTION = "function"
    CLASS = "class"
    KERNEL = "kernel"
    LAUNCH = "launch"
    OP = "op"
    REGISTRATION = "registration"
    ALL = "all"


def find(
    context: typer.Context,
    pattern: Annotated[
        str,
        typer.Argument(
            metavar="PATTERN", help="Part of a qualified or operator name, in any case; or a glob: '*tree*greedy*'."
        ),
    ],
    *,
    kind: Annotated[
        FindKind, typer.Option("--kind", metavar="KIND", help=f"One of {', '.join(each.value for each in FindKind)}.")
    ] = FindKind.ALL,
    run: Annotated[
        str, typer.Option("--run", metavar="RUN", help="A file, or a name of `recon runs list`; else the newest scan.")
    ] = "",
    install: Annotated[
        str, typer.Option("--install", metavar="ID", help="Only this install: its id or a part of it, e.g. vllm.")
    ] = "",
    limit: Annotated[int, typer.Option("--limit", min=1, help="At most so many of each install.")] = 40,
    json: Annotated[bool, typer.Option("--json", help="Print what is found as JSON.")] = False,
) -> None:
    """Find functions, classes, kernels, launches, operators and registrations by name: kind, place, name, what it is.

    Reads what the scan kept in the cache folder; the source need not be there any more. What fits best comes first.

    Exit codes: 0 done, also where nothing is called so, 2 no such run or install, or its tree is not kept any more:
    scan again, 3 not all of the trees are kept.
    """
    from recon.cli.asking import not_read, short_enough, trees
    from recon.cli.scan import leave
    from recon.kept.parts import KINDS

    if not pattern:
        raise Usage("an empty pattern fits everything", "Name a part of what you look for, or '*'.")
    short_enough(pattern)
    session = session_of(context)
    kinds = KINDS if kind is FindKind.ALL else (kind.value,)
    with trees(session, run, install) as asked:
        found = {tree.install.id: _found(tree, pattern, kinds) for tree in asked.found}
    if json:
        _print_json(session, found, limit)
    else:
        _print(session, found, limit)
        if not any(found.values()):
            session.note(f"nothing is called so in {', '.join(found)}")
    if sentence := not_read([tree.install for tree in asked.found]):
        session.note(f"{sentence}; what is called so there is not shown")
    leave(Exit.INCOMPLETE if asked.lost else Exit.OK)


def _found(tree: "Tree", pattern: str, kinds: tuple[str, ...]) -> "list[Mark]":
    """What the tree holds, then what it calls of other distributions."""
    held = tree.kept.found(pattern, kinds)
    if FindKind.OP.value not in kinds:
        return held
    places = {(mark.path, mark.line) for mark in held if mark.kind == FindKind.OP.value}
    return [*held, *(mark for mark in _elsewhere(tree.install, pattern) if (mark.path, mark.line) not in places)]


def _elsewhere(install: "Install", pattern: str) -> "Iterator[Mark]":
    """Functions of other distributions that keep an answer open, where the tree calls them."""
    from recon.kept.parts import Mark
    from recon.records.unknown import PACKAGE

    seen = set()
    for verdict in install.verdicts:
        asked = {each.where for each in verdict.searched.unread if each.what == PACKAGE}
        for name in sorted(each for each in asked if _fits(each, pattern)):
            for place in verdict.nearest:
                key = (name, place.path, place.line)
                if name in place.note.replace(",", "").split() and key not in seen:
                    seen.add(key)
                    what = "called here, defined in another distribution"
                    yield Mark(FindKind.OP.value, name, place.path, place.line, place.symbol, what)


def _fits(name: str, pattern: str) -> bool:
    """Whether a pattern fits a name, as it would one of the tree."""
    if any(each in pattern for each in "*?["):
        return any(fnmatchcase(each, pattern) for each in (name, name.rpartition(".")[2]))
    return pattern.lower() in name.lower()


def _print_json(session: Session, found: "dict[str, list[Mark]]", limit: int) -> None:
    import msgspec

    rows = [
        {"install": name, "found": len(marks), "rows": [mark._asdict() for mark in marks[:limit]]}
        for name, marks in found.items()
    ]
    session.data(msgspec.json.format(msgspec.json.encode(rows), indent=1).decode() + "\n")


def _print(session: Session, found: "dict[str, list[Mark]]", limit: int) -> None:
    from recon.cli.lines import aligned, tabbed
    from recon.report.text import visible

    for name, marks in found.items():
        rows = [(mark.kind, _at(mark), mark.name, mark.what) for mark in marks[:limit]]
        if session.screen and rows:
            session.data(f"{visible(name)}\n{aligned(rows, session.width)}")
        elif rows:
            session.data(tabbed((name, *row) for row in rows))
        if len(marks) > limit:
            session.note(f"{len(marks) - limit:,} more in {name}; --limit shows them")


def _at(mark: "Mark") -> str:
    return f"{mark.path}:{mark.line}" if mark.line else mark.path
