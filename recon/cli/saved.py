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
from recon.runs.files import kind_of, load, newest, resolve


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
        kind: `scan` or `probe`.
        option: The option of the command that takes the name.

    Raises:
        NotFound: there is none.
        Unreadable: it cannot be read.
    """
    if name:
        return source_of(resolve(name, state_dir()))
    path = newest(state_dir(), kind, option=option)
    if path is None:
        command = "recon scan" if kind == "scan" else "recon probe-kernels"
        raise NotFound(f"no {kind} is saved", f"Run `{command}` first.")
    return source_of(path)


def unjudged(run: Run) -> str:
    """What an interrupted run holds and what it was stopped before, in a sentence; empty for a whole one."""
    if run.complete:
        return ""
    held = ", ".join(dict.fromkeys(map(label_of, run.installs))) or "no install"
    left = ", ".join(each.where for each in run.unknowns if each.what == TARGET)
    return visible(f"this run was interrupted: it holds {held}" + (f"; not judged: {left}" if left else ""))


def say_if_interrupted(session: Session, run: Run) -> None:
    """Say on standard error that a saved run is not whole, before an answer rests on it."""
    if sentence := unjudged(run):
        session.note(f"warning: {sentence}")


def probe_beside(hosts: tuple[Host, ...]) -> Source | None:
    """The newest probe of one of these hosts, known by its machine id or by a GPU."""
    for host in hosts:
        uuids = frozenset(gpu.uuid for gpu in host.gpus if gpu.uuid)
        path = newest(state_dir(), "probe", host.id, uuids, option="--probe")
        if path is not None:
            return source_of(path)
    return None
