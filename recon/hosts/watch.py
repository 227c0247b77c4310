"""Deadlines on waits that have none, and a pulse that finds out whether a peer still answers."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def within(seconds: float, abort: Callable[[], None]) -> Iterator[None]:
    """Let a wait fail after so many seconds, by a call from another thread that breaks what is waited for.

    Raises:
        TimeoutError: that was necessary; whatever the wait raised is its context.
    """
    late = threading.Event()

    def end() -> None:
        late.set()
        abort()

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
    try:
        yield
    except Exception as error:
        if late.is_set():
            raise TimeoutError from error
        raise
    finally:
        timer.cancel()
    if late.is_set():
        raise TimeoutError


class Pulse:
    """Asks a peer now and then, and ends the connection when it has not answered for too long.

    Asking is a call that returns when the answer is here, or when the connection has ended.
    """

    def __init__(self, ask: Callable[[], object], abort: Callable[[], None], every_s: float, most: int) -> None:
        """Begin to ask.

        Args:
            ask: Asks and waits.
            abort: Ends the connection, from any thread.
            every_s: Pause between questions.
            most: Pauses without an answer after which the peer is dead.
        """
        self.limit_s = every_s * most
        self._ask, self._abort, self._every_s = ask, abort, every_s
        self._asked_at: float | None = None
        self._stop = threading.Event()
        self.dead = False
        threading.Thread(target=self._beat, name="recon-pulse", daemon=True).start()

    def silent(self) -> bool:
        """Whether an answer is overdue right now, if only by one pause."""
        asked = self._asked_at
        return self.dead or (asked is not None and time.monotonic() - asked >= self._every_s)

    def stop(self) -> None:
        """Ask no more."""
        self._stop.set()

    def _beat(self) -> None:
        while not self._stop.wait(self._every_s):
            self._asked_at = time.monotonic()
            # The first pause without an answer has passed before the question: what is left is the rest.
            timer = threading.Timer(max(self.limit_s - self._every_s, self._every_s), self._give_up)
            timer.daemon = True
            timer.start()
            try:
                self._ask()
            except Exception:  # noqa: BLE001 - whatever it is, the connection has ended
                return
            finally:
                timer.cancel()
            self._asked_at = None

    def _give_up(self) -> None:
        if not self._stop.is_set():
            self.dead = True
            self._abort()
