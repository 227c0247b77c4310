"""Hosts, their GPUs and their Python environments."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Gpu:
    """One GPU of a host, as the driver or torch describes it."""

    index: int
    uuid: str
    name: str
    capability: tuple[int, int]
    """Compute capability, e.g. (9, 0)."""
    memory_bytes: int
    driver: str


@dataclass(frozen=True, slots=True)
class PythonEnv:
    """One Python environment: where packages are imported from."""

    prefix: str
    kind: str
    """`system`, `venv`, `conda`, `uv` or `user`."""
    version: str
    """e.g. `3.12`; empty if unknown."""
    site_packages: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Host:
    """A machine whose trees or GPUs were looked at."""

    id: str
    """machine-id where there is one, else the name."""
    name: str
    """What the user typed; `localhost` for this machine, `releases` for trees that no machine holds."""
    platform: str
    """`uname -srm`; empty if unknown."""
    gpus: tuple[Gpu, ...]
    environments: tuple[PythonEnv, ...]
    transport: str = ""
    """How it was reached and why so, e.g. `paramiko` or `openssh: the key is a security key`; empty if it was not."""

    notes: tuple[str, ...] = ()
    """What its user may want to know of it, e.g. that its login shell prints something of its own."""

    def counts(self, gpu: str) -> bool:
        """Whether times taken on a GPU of this model say something about this host.

        They do where it has such a GPU. Releases lie on no machine, so any GPU counts that was named for them.
        """
        return self.name == "releases" or gpu in {each.name for each in self.gpus}


def by_name(hosts: Iterable[Host]) -> dict[str, Host]:
    """Hosts by what installs and measurements call them: their names, and the ids that are nobody's name.

    An id is the machine's own word. It must not stand for another machine, whose name the user typed.
    """
    known = tuple(hosts)
    return {host.id: host for host in known} | {host.name: host for host in known}
