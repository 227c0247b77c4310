"""Several hosts side by side."""

import threading
import time
from collections.abc import Iterator

from recon.errors import Fault, ReconError, Unreachable
from recon.hosts.abreast import LEAVING_S, Job, abreast
from recon.ports import Progress, Silent


class Heard:
    """A progress that remembers what it was told."""

    def __init__(self) -> None:
        self.said: list[object] = []

    def start(self, task: str, total: int | None) -> None:
        self.said.append((task, total))

    def advance(self, amount: int = 1, note: str = "") -> None:
        self.said.append(amount)

    def finish(self, note: str = "") -> None:
        self.said.append(note)


def test_an_error_ends_its_own_job_alone() -> None:
    def dead(progress: Progress) -> Iterator[int]:
        yield 1
        raise Unreachable("b is down")

    def fine(progress: Progress) -> Iterator[int]:
        yield from (1, 2)

    given: dict[str, list[int | ReconError]] = {"a": [], "b": []}
    for name, each in abreast([Job("a", fine), Job("b", dead)], Silent()):
        given[name].append(each)

    assert [1, 2] == given["a"]
    assert [1, "b is down"] == [str(each) if isinstance(each, ReconError) else each for each in given["b"]]


def test_they_work_at_the_same_time() -> None:
    meet = threading.Barrier(3, timeout=5)

    def work(progress: Progress) -> Iterator[int]:
        yield meet.wait()

    assert {0, 1, 2} == {each for _, each in abreast([Job(name, work) for name in "abc"], Silent())}


def test_no_more_than_so_many_at_a_time() -> None:
    running, most = [0], [0]
    lock = threading.Lock()

    def work(progress: Progress) -> Iterator[int]:
        with lock:
            running[0] += 1
            most[0] = max(most[0], running[0])
        time.sleep(0.02)
        with lock:
            running[0] -= 1
        yield 1

    assert 7 == len(list(abreast([Job(str(number), work) for number in range(7)], Silent(), most=2)))
    assert 2 == most[0]


def test_a_fault_ends_its_own_job_alone() -> None:
    """It is named with its place, and what was raised goes along."""

    def broken(progress: Progress) -> Iterator[int]:
        yield from [1 // 0]

    def fine(progress: Progress) -> Iterator[int]:
        yield from (1, 2)

    given = list(abreast([Job("a", broken), Job("b", fine)], Silent()))
    faults = [each for name, each in given if name == "a"]

    assert [1, 2] == [each for name, each in given if name == "b"]
    assert [True] == [isinstance(each, Fault) and isinstance(each.error, ZeroDivisionError) for each in faults]
    assert "ZeroDivisionError: integer division or modulo by zero (test_abreast.py:" in str(faults[0])


def test_progress_names_the_host_and_follows_one_task() -> None:
    def work(progress: Progress) -> Iterator[int]:
        progress.start("reading", 2)
        progress.advance(2)
        progress.finish()
        yield 1
        progress.advance()  # of no task: others spoke meanwhile

    heard = Heard()
    list(abreast([Job("gpu07", work)], heard))

    assert [("gpu07: reading", 2), 2, "", 0] == heard.said


def test_who_leaves_stops_the_others() -> None:
    """Those that wait for a host are made to fail, those that work hear of it from their progress."""
    wait, ended = threading.Event(), threading.Event()

    def endless(progress: Progress) -> Iterator[int]:
        yield 1
        try:
            wait.wait(20)
            for _ in range(10_000):
                progress.advance()
                time.sleep(0.001)
        finally:
            ended.set()

    given = abreast([Job("a", endless, wait.set)], Silent())
    next(given)
    given.close()

    assert ended.wait(5)


def test_how_complete_it_is_is_said_where_the_work_ends() -> None:
    def work(progress: Progress) -> Iterator[int]:
        del progress
        yield 1

    heard = Heard()
    list(abreast([Job(name, work, summary=lambda: "transfer done; 1 folder unread") for name in ("a", "b")], heard))

    assert ["transfer done; 1 folder unread"] * 2 == [each for each in heard.said if isinstance(each, str)]


def test_threads_that_do_not_stop_are_waited_for_together() -> None:
    """Not one after the other: a scan of many hosts that is stopped ends soon."""
    going = threading.Event()

    def stubborn(_: Progress) -> Iterator[int]:
        yield 1
        going.wait(60)

    given = abreast([Job(str(number), stubborn) for number in range(8)], Silent())
    next(given)
    began = time.monotonic()
    given.close()
    took = time.monotonic() - began
    going.set()

    assert took < 3 * LEAVING_S
