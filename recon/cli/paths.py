"""`recon paths`: how one place of a tree leads to another, in a saved run."""

import re
from difflib import get_close_matches
from typing import TYPE_CHECKING, Annotated

import typer

from recon.cli.session import Session, session_of
from recon.errors import Exit, NotFound, ReconError, Unreadable, Usage

if TYPE_CHECKING:
    from recon.cli.asking import Tree, Trees

_PATHS = 3
_REACHED = 40


def paths(
    context: typer.Context,
    source: Annotated[
        str,
        typer.Argument(
            metavar="[FROM]", help="Where paths begin: Class.method, path.py:line, path.py::symbol, or the end of one."
        ),
    ] = "",
    target: Annotated[str, typer.Argument(metavar="[TO]", help="Where they end, named likewise.")] = "",
    *,
    begin: Annotated[
        str, typer.Option("--from", metavar="FROM", help="Instead of the first word; alone: what FROM reaches.")
    ] = "",
    end: Annotated[
        str,
        typer.Option("--to", metavar="TO", help="Instead of the second word; alone: paths from the engine's steps."),
    ] = "",
    run: Annotated[
        str, typer.Option("--run", metavar="RUN", help="A file, or a name of `recon runs list`; else the newest scan.")
    ] = "",
    install: Annotated[
        str, typer.Option("--install", metavar="ID", help="Only this install: its id or a part of it, e.g. vllm.")
    ] = "",
    limit: Annotated[
        int, typer.Option("--limit", min=0, help="At most so many paths, or definitions reached; 0 means 3, or 40.")
    ] = 0,
    json: Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")] = False,
) -> None:
    """Show the ways from one place to another, each call with its dispatch, how sure it is, and its place.

    The surest and shortest way comes first. A class stands for its methods. A word that may mean several definitions is
    answered with these, and none is chosen. That there is no path is an answer too: with what was searched.

    Exit codes: 0 done, also without a path, 2 no such run, install or symbol, or several, or the tree is not kept any
    more: scan again, 3 not all of the trees are kept, or a place lies where the scan could not read.
    """
    from recon.cli.answers import answer, as_rows, candidates, lines
    from recon.cli.asking import short_enough, trees
    from recon.cli.scan import leave

    session = session_of(context)
    start, stop = _one(source, begin, "FROM"), _one(target, end, "TO")
    words = [word for word in (start, stop) if word]
    if not words:
        raise Usage("name a place: FROM, TO, or both", "For example: recon paths --to RejectionSampler.forward")
    short_enough(*words)
    with trees(session, run, install) as asked:
        knowing = [tree for tree in asked.found if all(tree.kept.named(word) for word in words)]
        if not knowing:
            raise _unknown(asked, words)
        unclear = candidates((tree, word) for tree in knowing for word in words if len(tree.kept.named(word)) > 1)
        if unclear:
            _show_candidates(session, unclear, as_json=json)
            leave(Exit.USAGE)
        found = [answer(tree, start, stop, limit or (_PATHS if stop else _REACHED)) for tree in knowing]
    if json:
        _print_json(session, as_rows(found))
    else:
        session.data("".join(line for each in found for line in lines(each, session.width if session.screen else 0)))
        for each in found:
            if not (session.screen or each.paths or each.reached):
                session.note(f"{each.install}: {each.title}")
    leave(Exit.INCOMPLETE if asked.lost else Exit.OK)


def _one(word: str, option: str, name: str) -> str:
    if word and option:
        raise Usage(f"{name} is named twice: {word} and {option}")
    return word or option


def _unknown(answering: "Trees", words: list[str]) -> ReconError:
    """The word that no tree knows, with what comes near; or that no one tree knows both."""
    from recon.cli.asking import not_read
    from recon.kept.kept import file_of

    asked = answering.found
    for word in words:
        if not any(tree.kept.named(word) for tree in asked):
            names = ", ".join(tree.install.id for tree in asked)
            sentence = not_read([tree.install for tree in asked])
            beside = f" {sentence[:1].upper()}{sentence[1:]}." if sentence else ""
            if file := file_of(word):
                return _not_readable(answering, file) or _no_place(asked, word, file, names, beside)
            near = get_close_matches(word, {each for tree in asked for each in tree.kept.near(word)}, cutoff=0.0)
            hint = f"Near it are: {', '.join(near)}." if near else _beyond(asked, word)
            return NotFound(f"no definition {word!r} in {names}", f"{hint}{beside}")
    return NotFound(f"{words[0]!r} and {words[1]!r} lie in different trees", "A path stays in one tree.")


def _not_readable(answering: "Trees", file: str) -> Unreadable | None:
    """That a file lies where the scan could not read, and how it could; None where it does not."""
    from recon.cli.asking import again, might_hold, unread_in

    if any(tree.kept.named(file) for tree in answering.found):
        return None
    for tree in answering.found:
        for each in unread_in(tree.install):
            if might_hold(each, file):
                then = again([tree.install], answering.run)
                return Unreadable(
                    f"{each.where} was not readable in that scan, so nothing is known of {file} in {tree.install.id}",
                    f"{each.why}. Then {then[:1].lower()}{then[1:]}",
                )
    return None


def _no_place(asked: "tuple[Tree, ...]", word: str, file: str, names: str, beside: str) -> NotFound:
    """The file that no tree has, or what its files of that name have instead."""
    modules = {one.path: one for tree in asked for one in tree.kept.named(file)}
    if not modules:
        return NotFound(
            f"no file {file} in {names}", f"Paths are counted from the folder that holds the package.{beside}"
        )
    lengths = ", ".join(f"{path} has {one.end_line:,} lines" for path, one in list(modules.items())[:_PATHS])
    return NotFound(f"no definition {word!r} in {names}", f"{lengths}.")


def _beyond(asked: "tuple[Tree, ...]", word: str) -> str:
    """What may help with a word that means no definition and comes near none."""
    last = re.split(r"[./:]+", word)[-1]
    if last and any(tree.kept.found(last) for tree in asked):
        return f"`recon find {last}` shows what has it in its name."
    return "Nothing here has it in its name either: what another distribution defines is found in a scan of that one."


def _show_candidates(session: Session, rows: list[dict[str, object]], *, as_json: bool) -> None:
    for word in dict.fromkeys(str(row["word"]) for row in rows):
        several = sum(row["word"] == word for row in rows)
        session.note(f"error: {word!r} may mean {several:,} definitions; name one by its place, as path.py:line")
    if as_json:
        _print_json(session, {"error": {"kind": "ambiguous", "candidates": rows}})
        return
    from recon.cli.lines import aligned, tabbed

    shown = [(str(row["word"]), str(row["kind"]), f"{row['path']}:{row['line']}", str(row["symbol"])) for row in rows]
    session.data(aligned(shown, session.width, place=2) if session.screen else tabbed(shown))


def _print_json(session: Session, rows: object) -> None:
    import msgspec

    session.data(msgspec.json.format(msgspec.json.encode(rows), indent=1).decode() + "\n")
