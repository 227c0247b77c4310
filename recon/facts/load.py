"""How busy a machine is."""

import re
from dataclasses import dataclass

from recon.facts.fact import Fact, FactUnreadable
from recon.ports import Reply

COMMAND = """\
if [ -r /proc/loadavg ]; then head -n 1 /proc/loadavg; else sysctl -n vm.loadavg; fi
getconf _NPROCESSORS_ONLN 2>/dev/null || nproc
"""


@dataclass(frozen=True, slots=True)
class Load:
    """Processes that ran or wanted to, over the last minute."""

    processes: float
    cores: int

    @property
    def per_core(self) -> float:
        """Above 1, work waits."""
        return self.processes / self.cores


def parse(reply: Reply) -> Load:
    r"""Read the load of the last minute and the number of cores.

    Raises:
        FactUnreadable: one of them is missing.

    >>> parse(Reply("3.91 5.14 8.90 1/520 4242\n2\n", "", 0)).per_core
    1.955
    """
    lines = reply.stdout.splitlines()
    load = re.match(r"[{ ]*(\d{1,6}\.\d+)\b", lines[0]) if lines else None
    cores = lines[-1].strip() if len(lines) > 1 else ""
    if load is None or not re.fullmatch(r"[1-9]\d{0,4}", cores):
        raise FactUnreadable(f"the load could not be read (status {reply.status})")
    return Load(float(load[1]), int(cores))


LOAD = Fact(name="load", command=COMMAND, parse=parse)
