"""What a scan may take of a host: the last of its processor, one core, little memory, no file, and limited time."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from recon.errors import TimedOut, Unreachable
from recon.ports import Reply, Shell

PHASE_S = 60.0
"""Longest that one script of facts may take."""
HOST_S = 300.0
"""Longest that everything asked of one host may take, the judging here not counted."""
MEMORY_KIB = 200 * 1024
"""Address space of one process."""
CPU_S = 60
"""Processor time of one process."""
_TICK_S = 0.1
"""By which a wait may end before its time."""

PRELUDE = f"""\
{{
  me=$(exec sh -c 'echo $PPID')
  renice -n 19 -p "$me" || renice 19 -p "$me"
  ionice -c 3 -p "$me"
  cores=$(taskset -c -p "$me") && core=${{cores##*[!0-9]}} && [ -n "$core" ] && taskset -c -p "$core" "$me"
  ulimit -c 0
  ulimit -f 0
  ulimit -S -v {MEMORY_KIB}
  ulimit -S -t {CPU_S}
  umask 077
  LC_ALL=C; export LC_ALL
}} </dev/null >/dev/null 2>&1
"""
"""Sh that goes before every script for a host. Each line that the host does not know leaves the others in force.

`ulimit -f 0` lets no process write a byte into a file, `-c 0` leaves no core dump. Memory and time are soft limits: a
driver's own tool maps more address space than it uses, and may lift them for itself.
"""


@dataclass(frozen=True, slots=True)
class Limited:
    """A shell whose scripts begin with the prelude, and which is late when its host is."""

    inner: Shell
    budget_s: float
    ends: float
    """When the time of the host is over, by `clock`."""
    clock: Callable[[], float] = time.monotonic

    @property
    def name(self) -> str:
        """What the user calls the machine."""
        return self.inner.name

    def run(self, script: str, *, timeout_s: float = 30.0) -> Reply:
        """Run a script in what is left of the host's time.

        Raises:
            TimedOut: nothing is left.
            Unreachable: the machine did not answer, or not in time.
        """
        with self._timed(timeout_s) as left:
            return self.inner.run(PRELUDE + script, timeout_s=left)

    def stream(self, script: str, sink: Callable[[bytes], None], *, timeout_s: float, cap_bytes: int) -> Reply:
        """As `run`, standard output going to `sink` as it comes.

        Raises:
            TimedOut: nothing is left.
            Unreachable: the machine did not answer, or not in time.
        """
        with self._timed(timeout_s) as left:
            return self.inner.stream(PRELUDE + script, sink, timeout_s=left, cap_bytes=cap_bytes)

    @contextmanager
    def _timed(self, timeout_s: float) -> Iterator[float]:
        """Seconds that a script gets.

        Raises:
            TimedOut: the host's time is over, before it began or meanwhile; the user knows that limit, and no other.
        """
        left = self.ends - self.clock()
        if left <= 0:
            raise self._late()
        try:
            yield min(timeout_s, left)
        except Unreachable as error:
            if left < timeout_s and self.clock() >= self.ends - _TICK_S:
                raise self._late() from error
            raise

    def _late(self) -> TimedOut:
        return TimedOut(
            f"{self.name}: not done within {self.budget_s:g} s", "Give it more time with --host-timeout SECONDS."
        )


def limited(shell: Shell, budget_s: float = HOST_S, began: float | None = None) -> Limited:
    """A shell that is limited, its host's time counted from now or from an earlier moment of `time.monotonic`."""
    return Limited(shell, budget_s, (time.monotonic() if began is None else began) + budget_s)
