"""Questions that saved runs alone do not answer: the installs of a run, each with what was kept of its tree."""

import shlex
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from recon.cli.saved import say_if_interrupted, unjudged
from recon.cli.session import Session, cache_dir, state_dir
from recon.errors import NotFound
from recon.kept.kept import Kept, Lost, opened
from recon.records.install import Install
from recon.records.run import Run
from recon.runs.files import load, newest, resolve


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


@contextmanager
def trees(session: Session, run: str, install: str) -> Iterator[Trees]:
    """The trees that a question is about, open while it is answered.

    Args:
        session: Told of trees that are not kept any more.
        run: A run file or its name; '' for the newest scan.
        install: Id of an install or a part of it; '' for all.

    Raises:
        NotFound: there is no such run or install, or no tree of it is kept.
    """
    saved = run_of(run)
    say_if_interrupted(session, saved)
    again = f"scan again: {shlex.join(('recon', *saved.command))}"
    chosen = installs_of(saved, install)
    found: list[Tree] = []
    with ExitStack() as stack:
        for each in chosen:
            try:
                found.append(Tree(each, stack.enter_context(opened(cache_dir(), each.source_digest))))
            except Lost:
                if len(chosen) == 1:
                    raise NotFound(f"no graph of {each.id} is kept any more; {again}") from None
                session.note(f"no graph of {each.id} is kept any more; {again}")
        if not found:
            raise NotFound(f"no graph of these {len(chosen)} installs is kept any more; {again}")
        try:
            yield Trees(tuple(found), len(chosen) - len(found))
        except Lost:
            raise NotFound(f"what was kept of these trees is damaged; {again}") from None


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
