"""Finding saved runs: the ones that a command names, or the newest that belong together."""

from pathlib import Path

from recon.cli.session import state_dir
from recon.errors import NotFound
from recon.records.host import Host
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


def named_or_newest(name: str, kind: str) -> Source:
    """The run of that name, else the newest of its kind.

    Raises:
        NotFound: there is none.
    """
    if name:
        return source_of(resolve(name, state_dir()))
    path = newest(state_dir(), kind)
    if path is None:
        command = "recon scan" if kind == "scan" else "recon probe-kernels"
        raise NotFound(f"no {kind} is saved", f"Run `{command}` first.")
    return source_of(path)


def probe_beside(hosts: tuple[Host, ...]) -> Source | None:
    """The newest probe of one of these hosts, known by its machine id or by a GPU."""
    for host in hosts:
        uuids = frozenset(gpu.uuid for gpu in host.gpus if gpu.uuid)
        path = newest(state_dir(), "probe", host.id, uuids)
        if path is not None:
            return source_of(path)
    return None
