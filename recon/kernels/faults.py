"""What a driver reported of a GPU's faults: its Xid errors, as far as the kernel's log still holds and shows them."""

import re
import subprocess
from collections import Counter
from collections.abc import Sequence

READ_S = 5.0
NONE = "none"
OF_PROGRAMS = frozenset((13, 31, 43, 45))
"""Numbers that a fault in a program brings about: what a kernel of ours does to its own process is a result.

Source: NVIDIA, XID Errors: exceptions in the engine, page faults, channels that were stopped and cleaned up.
"""
_XID = re.compile(r"NVRM: Xid \((?:PCI:)?([0-9a-fA-F]{1,8}(?::[0-9a-fA-F]{1,2}){2})[0-9.]*\): (\d{1,4})\b")
_BUS = re.compile(r"([0-9a-fA-F]{1,8}):([0-9a-fA-F]{1,2}):([0-9a-fA-F]{1,2})")


def kernel_log() -> str | None:
    """The kernel's log; None where it may not be read: most systems show it to their administrator alone."""
    try:
        done = subprocess.run(["dmesg"], capture_output=True, check=False, timeout=READ_S, text=True, errors="replace")
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 and done.stdout else None  # no log of a kernel is empty


def xids_of(log: str | None, bus: str) -> tuple[int, ...] | None:
    """Numbers of the Xid errors of the GPU at a PCI address, the oldest first; None where that cannot be told.

    >>> xids_of("[9.1] NVRM: Xid (PCI:0000:81:00): 79, pid=7, GPU has fallen off the bus.", "00000000:81:00.0")
    (79,)
    """
    place = _place(bus)
    if log is None or place is None:
        return None
    return tuple(int(number) for address, number in _XID.findall(log) if _place(address) == place)


def words(xids: Sequence[int] | None) -> str:
    """How many there are of each number, as a state holds it; empty where they could not be read, which is not none.

    >>> words((13, 43, 13))
    '2 of 13, 1 of 43'
    """
    if xids is None:
        return ""
    return ", ".join(f"{count} of {number}" for number, count in sorted(Counter(xids).items())) or NONE


def beyond_programs(before: Sequence[int] | None, now: Sequence[int] | None) -> tuple[int, ...]:
    """Errors that came in between and that no program brings about."""
    if before is None or now is None:
        return ()
    new = Counter(now) - Counter(before)
    return tuple(sorted(number for number in new.elements() if number not in OF_PROGRAMS))


def _place(address: str) -> tuple[int, ...] | None:
    """Domain, bus and device of a PCI address, which programs write with more or fewer digits."""
    found = _BUS.match(address)
    return tuple(int(part, 16) for part in found.groups()) if found else None
