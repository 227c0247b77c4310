"""Finding saved runs: the ones that a command names, or the newest that belong together."""

from pathlib import Path

from recon.cli.session import Session, state_dir
from recon.errors import NotFound
from recon.records.host import Host
from recon.records.run import Run
from recon.records.unknown import TARGET
from recon.report.findings import label_of
from recon.report.text import visible
from recon.report.view import Source
from recon.runs.files import Saved, kind_of, load, newest, resolve, shortfall


def source_of(path: Path) -> Source:
    """A saved run with its name.

    Raises:
        NotFound: there is no such file.
        Unreadable: it is no run file.
    """
    run = load(path)
    return Source(kind_of(run), path.name, run)


def named_or_newest(name: str, kind: str, option: str = "--run") -> Source:
    """The run of that name, else the newest of its kind.

    Args:
        name: A file, a saved run or a part of its name; '' for the newest.
        kind: `scan`, `probe` or `estimate`.
        option: The option of the command that takes the name.

    Raises:
        NotFound: there is none.
        Unreadable: it cannot be read.
    """
    if name:
        return source_of(resolve(name, state_dir()))
    path = newest(state_dir(), kind, option=option)
    if path is None:
        command = {"scan": "recon scan", "probe": "recon probe-kernels"}.get(kind, "recon estimate --model")
        raise NotFound(f"no {kind} is saved", f"Run `{command}` first.")
    return source_of(path)


def unjudged(run: Run) -> str:
    """What an interrupted run holds and what it was stopped before, in a sentence; empty for a whole one."""
    if run.complete:
        return ""
    if kind_of(run) == "probe":
        why = shortfall(run)
        return visible(f"this probe is not whole: {len(run.measurements):,} measurements" + f"; {why}" * bool(why))
    held = ", ".join(dict.fromkeys(map(label_of, run.installs))) or "no install"
    left = ", ".join(each.where for each in run.unknowns if each.what == TARGET)
    return visible(f"this run was interrupted: it holds {held}" + (f"; not judged: {left}" if left else ""))


def say_if_interrupted(session: Session, run: Run) -> None:
    """Say on standard error that a saved run is not whole, before an answer rests on it."""
    if sentence := unjudged(run):
        session.note(f"warning: {sentence}")


def probe_beside(hosts: tuple[Host, ...], unread: list[Saved] | None = None) -> tuple[Source | None, Source | None]:
    """The newest probe of one of these hosts that holds times, and a newer one that holds none.

    Hosts are known by their machine ids or by a GPU; without hosts, any probe counts. Where none holds times, the
    newest is taken, and there is no other.

    Args:
        hosts: Of the scan.
        unread: Takes files that may be the newest and cannot be read; an older one is then taken.

    Raises:
        Unreadable: one that may be the newest cannot be read, and `unread` was not given.
    """
    machines = [(host.id, frozenset(gpu.uuid for gpu in host.gpus if gpu.uuid)) for host in hosts]
    for machine in machines or [("", frozenset[str]())]:
        last = newest(state_dir(), "probe", *machine, option="--probe", unread=unread)
        if last is None:
            continue
        timed = newest(state_dir(), "probe", *machine, option="--probe", timed=True, unread=unread)
        if timed is None or timed == last:
            return source_of(last), None
        return source_of(timed), source_of(last)
    return None, None


def estimate_beside(run: Run, unread: list[Saved]) -> Source | None:
    """The newest estimate of one of the engines of a run, or of its times where it has none; None where there is none.

    Files that may be the newest and cannot be read are added to `unread`.
    """
    subjects = {each.subject for each in run.estimates}
    for host in run.hosts:
        gpus = frozenset(gpu.uuid for gpu in host.gpus if gpu.uuid)
        path = newest(state_dir(), "estimate", host.id, gpus, option="--estimate", unread=unread)
        source = source_of(path) if path else None
        if source and subjects & {each.subject for each in source.run.estimates}:
            return source
    return None


MODES = {
    "gpu": "timed on a GPU",
    "interpret": "checked in the interpreter",
    "compile": "built by the compiler",
}


def described(source: Source, age: str) -> str:
    """A run that a page rests on, in a line: how old it is, how a probe looked at kernels, and what it lacks."""
    modes = [words for mode, words in MODES.items() if any(each.mode == mode for each in source.run.measurements)]
    return ", ".join(filter(None, (f"{source.kind}: {source.name}", age, *modes, unjudged(source.run))))
