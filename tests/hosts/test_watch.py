"""Waits that end, pulses that stop, and handshakes that take turns."""

import threading
import time

import pytest

from recon.errors import TimedOut
from recon.hosts.throttle import AT_A_TIME, TRIES, Crowded, seat, tried
from recon.hosts.watch import Pulse, within


def test_a_wait_without_an_end_is_broken() -> None:
    broken = threading.Event()
    with pytest.raises(TimeoutError), within(0.05, broken.set):
        assert broken.wait(10)


def test_a_wait_that_ends_in_time_is_left_alone() -> None:
    broken = threading.Event()
    with within(0.2, broken.set):
        pass

    assert not broken.wait(0.4)


def test_an_error_of_its_own_passes_through() -> None:
    with pytest.raises(KeyError), within(10, lambda: None):
        raise KeyError


def test_a_pulse_that_is_not_answered_ends_the_connection() -> None:
    ended = threading.Event()
    started = time.monotonic()
    pulse = Pulse(lambda: ended.wait(30), ended.set, every_s=0.1, most=3)

    assert ended.wait(10)
    assert (True, True) == (pulse.dead, pulse.silent())
    assert 0.25 < time.monotonic() - started < 2


def test_a_pulse_that_is_answered_goes_on_and_stops_when_told() -> None:
    asked: list[float] = []
    ended = threading.Event()
    pulse = Pulse(lambda: asked.append(0), ended.set, every_s=0.02, most=2)
    while len(asked) < 5:
        time.sleep(0.01)
    pulse.stop()
    time.sleep(0.1)
    count = len(asked)
    time.sleep(0.1)

    assert (count, False, False) == (len(asked), pulse.dead, ended.is_set())


def test_no_more_than_eight_handshakes_are_made_at_a_time() -> None:
    at_once, most, guard = [0], [0], threading.Lock()

    def shake() -> None:
        with seat("GPU-of-this-test", 22, 30):
            with guard:
                at_once[0] += 1
                most[0] = max(most[0], at_once[0])
            time.sleep(0.02)
            with guard:
                at_once[0] -= 1

    threads = [threading.Thread(target=shake) for _ in range(30)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert AT_A_TIME == most[0]


def test_a_name_in_other_letters_is_the_same_host_and_a_seat_is_not_waited_for_for_ever() -> None:
    names = ["other-of-this-test", "OTHER-of-this-test"] * (AT_A_TIME // 2)
    held = [seat(name, 22, 1) for name in names]
    for each in held:
        each.__enter__()
    with pytest.raises(TimedOut, match="other handshakes"), seat("other-of-this-test", 22, 0.05):
        pass
    for each in held:
        each.__exit__(None, None, None)


def test_a_crowd_is_tried_four_times_with_pauses_that_grow() -> None:
    pauses: list[float] = []
    calls: list[int] = []

    def dial() -> None:
        calls.append(0)
        raise Crowded("no banner")

    with pytest.raises(Crowded):
        tried(dial, pauses.append)

    assert (TRIES, TRIES - 1) == (len(calls), len(pauses))
    assert [True, True, True] == [0.15 * 2**n <= pause <= 0.45 * 2**n for n, pause in enumerate(pauses)]
