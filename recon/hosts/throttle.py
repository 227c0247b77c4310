"""How many handshakes at a time one host or bastion gets, and when a refused one is tried again.

sshd's usual MaxStartups, 10:30:100, drops three of ten connections beyond ten that have not logged in yet.
"""

import random
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from recon.errors import TimedOut, Unreachable

AT_A_TIME = 8
TRIES = 4
"""The first and three more."""
_FIRST_PAUSE_S = 0.3

T = TypeVar("T")
_seats: defaultdict[tuple[str, int], threading.BoundedSemaphore] = defaultdict(
    lambda: threading.BoundedSemaphore(AT_A_TIME)
)
_guard = threading.Lock()


class Crowded(Exception):
    """A server hung up before it said anything, as one does that has too many guests; says how, in a few words."""


@contextmanager
def seat(host: str, port: int, timeout_s: float) -> Iterator[None]:
    """One of the handshakes that a server gets at a time, in this process.

    Raises:
        TimedOut: none became free.
    """
    with _guard:
        seats = _seats[host.lower(), port]
    if not seats.acquire(timeout=timeout_s):
        raise TimedOut(f"{host}: {AT_A_TIME} other handshakes with it did not end within {timeout_s:g} s")
    try:
        yield
    finally:
        seats.release()


def tried(dial: Callable[[], T], pause: Callable[[float], None] = time.sleep) -> T:
    """What `dial` gives; where it finds a crowd, it is tried again after pauses that double and are never alike.

    Raises:
        Crowded: every time.
    """
    for attempt in range(TRIES - 1):
        try:
            return dial()
        except Crowded:
            pause(_FIRST_PAUSE_S * 2**attempt * random.uniform(0.5, 1.5))  # noqa: S311 - no secret
    return dial()


def crowded(name: str, crowd: Crowded) -> Unreachable:
    """The error for a crowd that did not thin out."""
    return Unreachable(
        f"{name}: it hangs up before it says anything, {TRIES} times ({crowd})",
        "Too many connections that have not logged in yet (MaxStartups), or addresses that it lets not in.",
    )
