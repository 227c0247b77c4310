"""Questions that saved runs alone do not answer: the installs of a run, each with what was kept of its tree."""

import re
import shlex
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from recon.cli.saved import say_if_interrupted, unjudged
from recon.cli.session import Session, cache_dir, state_dir
from recon.errors import NotFound, Usage
from recon.kept.kept import LONGEST, Kept, Lost, opened
from recon.records.host import by_name
from recon.records.install import Install
from recon.records.run import Run
from recon.records.unknown import FILES, FOLDER, Unknown
from recon.runs.files import load, newest, resolve

LOCALHOST = "localhost"
_MOST_NAMED = 5
"""Places that were not read that a note names; of more, the number."""
_RELEASE = re.compile(
    r"(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*?)-(?P<version>\d[A-Za-z0-9.!+]*?)(?:-.*)?(?:\.whl|\.tar\.gz|\.zip)\Z"
)
"""File name of a release."""


@dataclass(frozen=True, slots=True)
class Tree:
    """One install that can be asked."""

    install: Install
    kept: Kept


@dataclass(frozen=True, slots=True)
class Trees:
    """The installs of a run that can be asked, and how many cannot."""

    found: tuple[Tree, ...]
    lost: int
    run: Run


@contextmanager
def trees(session: Session, run: str, install: str) -> Iterator[Trees]:
    """The trees that a question is about, open while it is answered.

    Args:
        session: Told of trees that are not kept any more.
        run: A run file or its name; '' for the newest scan.
        install: Id of an install or a part of it; '' for all.

    Raises:
        NotFound: there is no such run or install, or no tree of it is kept.
        Unreadable: the run cannot be read.
    """
    saved = run_of(run)
    say_if_interrupted(session, saved)
    chosen = installs_of(saved, install)
    found: list[Tree] = []
    with ExitStack() as stack:
        for each in chosen:
            try:
                found.append(Tree(each, stack.enter_context(opened(cache_dir(), each.source_digest))))
            except Lost as lost:
                error = _lost(lost, [each], saved)
                if len(chosen) == 1:
                    raise error from None
                session.note(f"{error.message}; {error.hint}")
        if not found:
            raise NotFound(f"no graph of these {len(chosen)} installs is kept here", again(chosen, saved))
        try:
            yield Trees(tuple(found), len(chosen) - len(found), saved)
        except Lost as lost:
            raise _lost(lost, [each.install for each in found], saved) from None


def _lost(lost: Lost, installs: Sequence[Install], run: Run) -> NotFound:
    names = ", ".join(each.id for each in installs)
    what = f"the graph that is kept of {names} is damaged" if lost.is_damaged else f"no graph of {names} is kept here"
    return NotFound(what, again(installs, run))


def again(installs: Sequence[Install], run: Run) -> str:
    """The command that scans some installs anew, made of what is recorded of them: of nobody's command line."""
    words = list(dict.fromkeys(_target(each, run) for each in installs))
    if not all(words):
        return "Scan it again, from where it came: recon scan."
    return f"scan again: {shlex.join(('recon', 'scan', *(word for target in words for word in target)))}"


def _target(install: Install, run: Run) -> tuple[str, ...]:
    """The option that names an install to `recon scan`; () where none does."""
    if install.provenance.kind == "release":
        release = _RELEASE.match(install.location.rpartition("/")[2])
        return ("--release", f"{release['name'].replace('_', '-')}=={release['version']}") if release else ()
    host = by_name(run.hosts).get(install.host)
    if host is None or host.name == LOCALHOST:
        return ("--path", install.location)
    return ("--host", host.name) if host.transport else ()


def unread_in(install: Install) -> tuple[Unknown, ...]:
    """Folders and files of an install that its scan could not read: nothing is known of what lies there."""
    unread = (each for verdict in install.verdicts for each in verdict.searched.unread)
    return tuple(dict.fromkeys(each for each in unread if each.what in FILES))


def not_read(installs: Sequence[Install]) -> str:
    """What of some installs was not read, in a sentence; '' where all was."""
    places = [f"{install.id}:{each.where}" for install in installs for each in unread_in(install)]
    more = f" and {len(places) - _MOST_NAMED:,} more" if len(places) > _MOST_NAMED else ""
    return f"not read in that scan: {', '.join(places[:_MOST_NAMED])}{more}" if places else ""


def might_hold(unread: Unknown, file: str) -> bool:
    """Whether a file, named from any of its folders on, is one that was not read, or lies in a folder that was not.

    >>> closed = Unknown(FOLDER, "vllm/v1/sample", "Permission denied")
    >>> [might_hold(closed, each) for each in ("v1/sample/x.py", "sample/ops/x.py", "vllm/v1/x.py", "x.py")]
    [True, True, False, False]
    """
    there, named = unread.where.split("/"), file.removeprefix("./").split("/")
    if unread.what != FOLDER:
        return there[-len(named) :] == named
    return any(there[-length:] == named[:length] for length in range(1, min(len(there), len(named) - 1) + 1))


def short_enough(*words: str) -> None:
    """Check words that are looked for.

    Raises:
        Usage: one is longer than any name.
    """
    for word in words:
        if len(word) > LONGEST:
            raise Usage(
                f"a word of {len(word):,} characters is longer than any name", f"At most {LONGEST:,} are looked for."
            )


def run_of(name: str) -> Run:
    """The run of that name, else the newest scan.

    Raises:
        NotFound: there is none.
    """
    path = resolve(name, state_dir()) if name else newest(state_dir(), "scan")
    if path is None:
        raise NotFound("no scan is saved", "Run `recon scan` first.")
    return load(path)


def installs_of(run: Run, wanted: str) -> list[Install]:
    """The installs of a run whose id is, or holds, a word.

    Raises:
        NotFound: there is none.
    """
    exact = [each for each in run.installs if each.id == wanted]
    chosen = exact or [each for each in run.installs if wanted in each.id]
    if not chosen:
        ids = ", ".join(each.id for each in run.installs) or "none"
        what = f"no install {wanted!r} in this run" if wanted else "this run holds no install"
        sentence = unjudged(run)
        raise NotFound(what, f"Installs: {ids}." + (f" {sentence[:1].upper()}{sentence[1:]}." if sentence else ""))
    return chosen
