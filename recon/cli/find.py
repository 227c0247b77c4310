"""`recon find`: what is called so, in the trees of a saved run."""

from enum import Enum
from typing import TYPE_CHECKING, Annotated

import typer

from recon.cli.session import Session, session_of
from recon.errors import Exit, Usage

if TYPE_CHECKING:
    from recon.kept.parts import Mark


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
    from recon.cli.asking import short_enough, trees
    from recon.cli.scan import leave
    from recon.kept.parts import KINDS

    if not pattern:
        raise Usage("an empty pattern fits everything", "Name a part of what you look for, or '*'.")
    short_enough(pattern)
    session = session_of(context)
    kinds = KINDS if kind is FindKind.ALL else (kind.value,)
    with trees(session, run, install) as asked:
        found = {tree.install.id: tree.kept.found(pattern, kinds) for tree in asked.found}
    if json:
        _print_json(session, found, limit)
    else:
        _print(session, found, limit)
        if not any(found.values()):
            session.note(f"nothing is called so in {', '.join(found)}")
    leave(Exit.INCOMPLETE if asked.lost else Exit.OK)


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
