"""The NVIDIA GPUs of a machine, as its driver describes them."""

import csv
import re

from recon.facts.fact import BOUNDED, Fact, FactUnreadable
from recon.facts.gather import cause_in
from recon.facts.texts import cleaned
from recon.numbers import number
from recon.ports import Reply
from recon.records.host import Gpu

COLUMNS = ("index", "uuid", "name", "compute_cap", "memory.total", "driver_version")
DEADLINE_S = 10
"""nvidia-smi is known to hang on a sick driver."""
HANGS = f"nvidia-smi did not answer within {DEADLINE_S} s"
LATE = (124, 137)
"""What `timeout` reports: the program was ended, or had to be killed."""
MIB = 1 << 20

COMMAND = f"""{BOUNDED}
ulimit -S -v unlimited 2>/dev/null  # the driver maps more address space than it uses
PATH=$PATH:/usr/lib/wsl/lib:/usr/local/nvidia/bin
command -v nvidia-smi >/dev/null 2>&1 || exit 0
bounded {DEADLINE_S} nvidia-smi --query-gpu={",".join(COLUMNS)} --format=csv,noheader,nounits
"""


def parse(reply: Reply) -> tuple[Gpu, ...]:
    """Read the CSV of `nvidia-smi --query-gpu`; no rows means no GPU.

    Raises:
        FactUnreadable: nvidia-smi failed or hung, or a row has other columns than COLUMNS.

    >>> parse(Reply("0, GPU-7f3a, NVIDIA H100 80GB HBM3, 9.0, 81559, 570.86.15", "", 0))[0].capability
    (9, 0)
    """
    if reply.status in LATE:
        raise FactUnreadable(HANGS)
    if "No devices were found" in reply.stdout + reply.stderr:
        return ()
    if reply.status:
        said = cause_in(reply) or cause_in(Reply("", reply.stdout, 0))
        raise FactUnreadable(f"nvidia-smi ended with status {reply.status}: {said}")
    rows = csv.reader(reply.stdout.splitlines(), skipinitialspace=True)
    try:
        return tuple(_gpu(row) for row in rows if row)
    except (csv.Error, ValueError) as error:
        raise FactUnreadable(f"nvidia-smi answered no table: {error}") from None


def _gpu(row: list[str]) -> Gpu:
    """One row of the CSV.

    Raises:
        FactUnreadable: it does not have COLUMNS.
    """
    if len(row) != len(COLUMNS):
        raise FactUnreadable(f"nvidia-smi answered {len(row)} columns, not {len(COLUMNS)}: {','.join(row)[:80]}")
    index, uuid, name, capability, memory, driver = map(cleaned, row)
    version = re.fullmatch(r"(\d{1,3})\.(\d{1,3})", capability)
    place = number(index, 4)
    if place is None or version is None:
        raise FactUnreadable(f"nvidia-smi answered a row that is no GPU: {', '.join(row)[:80]}")
    return Gpu(
        place,
        uuid,
        name,
        (int(version[1]), int(version[2])),
        # GPUs that share the memory of the machine (GB10, Jetson) say `[N/A]`: they have none of their own.
        (number(memory, 9) or 0) * MIB,
        driver,
    )


GPUS = Fact(name="gpus", command=COMMAND, parse=parse)
